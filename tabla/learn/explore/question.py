"""What all points of an exploration have in common, and how a worker answers one task of it."""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tabla._version import VERSION
from tabla.base.source import Source, TablaError
from tabla.build.cost import estimate
from tabla.build.inference import stages_of
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.languages import split
from tabla.languages.onnx import external_files
from tabla.learn.data.dataset import Data
from tabla.learn.explore.space import Point, Task
from tabla.learn.formats import learnt
from tabla.learn.options import LearnOptions
from tabla.templates.records import included
from tabla.templates.targets import target

FAMILY = "ecp5"
"""The family of FPGAs that the estimates are for."""
Record = dict[str, Any]
"""The figures of a task by name, as JSON has them; `refused` and `cure` stand for those of a point that is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProgram:
    """The text of a program that a file of models keeps, and the path of that file, which commands take for it."""

    text: Source
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A program, its options and its data. `options` are those of every point but for what the points name.

    `source` is the program as the commands take it, or the one that a file of models keeps. `data` and `learning` are
    those of :func:`tabla.learn.formats.learnt`. `files` has the content of each file by its name, where a worker on
    another machine could not read it.
    """

    source: str | KeptProgram
    options: Options
    data: Data | None = None
    learning: LearnOptions = field(default_factory=LearnOptions)
    seeds: int = 3
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def packed(self) -> Question:
        """Return the question with the content of all its files, for workers on other machines."""
        return replace(self, files={str(path): _content(path) for path in self._paths()})

    @property
    def name(self) -> str:
        """The name of the program, without the folder and the suffix of its file."""
        file = self.program if isinstance(self.program, str) else self.program.name
        return Path(file.rpartition(":")[0] or file).stem

    @property
    def file(self) -> str:
        """The program as a command takes it."""
        return self.source if isinstance(self.source, str) else self.source.file

    @property
    def program(self) -> str | Source:
        """The program as a build takes it."""
        return self.source if isinstance(self.source, str) else self.source.text

    @property
    def sum(self) -> str:
        """A text that is the same for questions whose points have the same figures: not in another release."""
        parts = [
            VERSION,
            repr(replace(self.options, inputs=None, templates=None)),
            self.source if isinstance(self.source, str) else self.source.text.text,
            "" if self.data is None else self.data.fingerprint,
            repr(replace(self.learning, weights=None)),
        ]
        parts += [hashlib.sha256(_content(path)).hexdigest() for path in self._paths()]
        return hashlib.sha256("\0".join([*parts, str(self.seeds)]).encode()).hexdigest()[:32]

    def _paths(self) -> Iterator[Path]:
        """Yield the files that are named, and those that they name: weights of a model of ONNX, included records."""
        named = list(self._named())
        yield from named
        if named and named[0].suffix.lower() == ".onnx" and named[0].is_file():
            yield from external_files(named[0])
        if self.options.templates is not None:
            yield from included(str(self.options.templates))

    def _named(self) -> Iterator[Path]:
        data = () if self.data is None else (self.data.source, self.data.test)
        file = split(self.source)[0] if isinstance(self.source, str) else None
        named = (file, self.options.inputs, self.options.templates, *data, self.learning.weights)
        yield from (Path(name) for name in named if isinstance(name, str | Path))

    @contextmanager
    def unpacked(self) -> Iterator[Question]:
        """Give the question with files that can be read here, until the ``with`` block ends."""
        if not self.files:
            yield self
            return
        with tempfile.TemporaryDirectory(prefix="tabla-explore-") as name:
            places = {path: _place(Path(path), tuple(self._named()), Path(name)) for path in self.files}
            for path, content in self.files.items():
                places[path].parent.mkdir(parents=True, exist_ok=True)
                places[path].write_bytes(content)

            def here(path: Any) -> Any:
                return str(places[str(Path(path))]) if isinstance(path, str | Path) else path

            source = self.source
            if isinstance(source, str):
                file = split(source)[0]
                source = here(file) + source[len(str(file)) :]
            options = replace(self.options, inputs=here(self.options.inputs), templates=here(self.options.templates))
            learning = replace(self.learning, weights=here(self.learning.weights))
            data = self.data
            if data is not None:
                data = replace(data, source=here(data.source), test=here(data.test))
            yield replace(self, source=source, options=options, data=data, learning=learning, files={})

    def built(self, task: Task) -> Stages:
        """Return the build of a task."""
        asked = replace(self.at(task.point), effort=task.effort, pes=task.point.pes, part=task.made_for or None)
        return stages_of(self.program, asked)

    def at(self, point: Point) -> Options:
        """Return the options of a point, without the number of its PEs."""
        guard = None if point.guard < 0 else point.guard
        return replace(self.options, format=point.format, model_guard=guard, minibatch=point.minibatch)


def _place(path: Path, named: Sequence[Path], folder: Path) -> Path:
    """Return where a file is unpacked: files of one folder stay together, because some name others beside them."""
    homes = list(dict.fromkeys(each.parent for each in named))
    number = next((n for n, home in enumerate(homes) if path.is_relative_to(home)), len(homes))
    return folder / str(number) / (path.relative_to(homes[number]) if number < len(homes) else path.name)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise TablaError(f"cannot read '{path}'", hint="check the path") from None


def answer(question: Question, task: Task) -> Record:
    """Return the figures of a task. A point that the tool refuses has its reason and its cure instead."""
    with question.unpacked() as here:
        try:
            match task.kind:
                case "learn":
                    return _learnt(here, task)
                case "synth":
                    return _synthesised(here, task)
                case _:
                    return _built(here, task)
        except TablaError as fault:
            return {"refused": fault.message, "cure": fault.hint or ""}


def _built(question: Question, task: Task) -> Record:
    made = question.built(task)
    schedule, report = made.schedule, made.report()
    return {
        "cycles": report.cycles,
        "latency": schedule.latency,
        "ratio": report.ratio,
        "roots": schedule.template.roots,
        "sequencers": schedule.template.sequencers,
        **estimate(made.image).as_json(),
    }


def _learnt(question: Question, task: Task) -> Record:
    assert question.data is not None
    # A format is judged by what the whole program learns in it.
    learning = replace(question.at(task.point), infer=False)
    name, score, found = learnt(question.program, learning, question.data, question.learning)
    metric = score.metric if math.isfinite(score.metric) else None
    return {"metric": metric, "metric_name": name, "overflows": found.overflows}


def _synthesised(question: Question, task: Task) -> Record:
    from tabla.build.synth.nextpnr import best, place_and_route
    from tabla.build.synth.yosys import synthesise_flat

    made, family = question.built(task), target(FAMILY)
    name, _, grade = task.part.partition(":")
    netlist = synthesise_flat(made.verilog, made.module, family)
    runs = [place_and_route(netlist, family.device(name), int(grade), seed=n + 1) for n in range(question.seeds)]
    clock = best(runs).clock
    return {"resources": dict(netlist.taken), "megahertz": round(clock.claimed, 1) if clock else None}
