"""From a program to a build, and what can be done with it. Read this file first.

``compile("model.t", pes=16)`` goes the whole way; :func:`build` reads and checks the text, and the rest is made when it
is asked for: text -> tree -> graph -> passes -> schedule -> program -> Verilog.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.notations import Reading, read
from tabla.options import Options
from tabla.passes.minibatch import minibatched
from tabla.passes.pipeline import shaped
from tabla.program.image import Image
from tabla.schedule.schedule import Schedule
from tabla.source import TablaError
from tabla.templates.template import Template

if TYPE_CHECKING:
    from tabla.bound import Bound
    from tabla.report.figures import BuildReport
    from tabla.runs import Simulation
    from tabla.synth import SynthesisReport
    from tabla.synth.board import Bitstream
    from tabla.training.record import Training

STAGES = ("ast", "graph", "mapping", "schedule", "program")


def compile(source: str | Path | Callable[..., Any], **options: Any) -> Build:
    """Compile a program for the array that `options` (the fields of `Options`) describe. Raises `TablaError`.

    `source` is ``model.t``, ``kernel.tc[:def]`` with ``sizes`` or ``inputs``, or a Tile function (also
    ``layer.py:function``) with ``shapes`` or ``inputs``, and ``arguments`` for its other parameters.
    """
    made = build(source, Options(**options))
    made.check()
    return made


def build(source: str | Path | Callable[..., Any], options: Options) -> Build:
    """Read and check a program; the graph and all behind it are made when they are needed."""
    template = options.chosen_template()
    number = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    reading = read(source, options)
    return Build(name=reading.name, options=options, reading=reading, template=template, format=number)


@dataclass(frozen=True, kw_only=True, eq=False)
class Build:
    """A program with everything that is made of it; each stage once, when it is first asked for."""

    name: str
    options: Options
    reading: Reading = field(repr=False)
    template: Template
    format: Format

    def format_of(self, name: str) -> Format:
        """What the words of an input or a result stand for: reals of the build's format, or integers."""
        if name in self.reading.integers:
            return Format(integer=self.format.width, fraction=0)
        return self.format

    def relowered(self, results: tuple[str, ...]) -> Graph:
        """What the text says of one sample, with `results` to return too."""
        with self.reading.text.pointing_back():
            return self.reading.lower(self.format, results)

    @cached_property
    def sample(self) -> Graph:
        """What the text says of one sample."""
        made = self.relowered(self.options.results)
        if self.options.minibatch > 1 and not made.updates:
            file, hint = self.reading.text.original.name, "leave --minibatch out: samples overlap anyway"
            raise TablaError(f"'{file}' has no gradient, so it takes no steps", hint=hint)
        return made

    @cached_property
    def lowered(self) -> Graph:
        """The same for a step of ``options.minibatch`` samples, word for word: the judge of the machine."""
        return minibatched(self.sample, self.options.minibatch)

    @cached_property
    def graph(self) -> Graph:
        """What is compiled: the same after the passes."""
        from tabla.report.notebook import drawn_graph

        return drawn_graph(shaped(self.lowered, self.format))

    @property
    def module(self) -> str:
        """The name of the Verilog module: the program's, made legal."""
        from tabla.report.names import legal

        return legal(self.name)

    @cached_property
    def verilog(self) -> str:
        """The accelerator."""
        from tabla.hw.emit import verilog

        return verilog(self.image, self.module)

    @cached_property
    def schedule(self) -> Schedule:
        """When every unit does what, checked. A program that does not fit is a `TablaError`."""
        from tabla.report.notebook import drawn_schedule
        from tabla.schedule.build import schedule_graph

        with self.reading.text.pointing_back():
            return drawn_schedule(schedule_graph(self.graph, self.template, self.format))

    @cached_property
    def bound(self) -> Bound:
        """Cycles that no schedule of the graph on the array of this build could beat: the quick bound."""
        from tabla.bound import quick

        return quick(self.graph, self.schedule.template, self.format)

    @cached_property
    def image(self) -> Image:
        """Microcode and parameters."""
        from tabla.program.encode import encode

        return encode(self.schedule)

    def check(self) -> None:
        """Go all the way to the program, for its faults."""
        _ = self.image

    def emit(self, stage: str) -> str:
        """A stage as text: one of `STAGES`."""
        match stage:
            case "ast":
                return self.reading.ast()
            case "graph":
                from tabla.ir.text import graph_text

                return graph_text(self.graph)
            case "mapping":
                return f"{self.schedule.mapping_text()}\n{self.report().costs.text()}"
            case "schedule":
                return self.schedule.text()
            case "program":
                from tabla.program.decode import disassemble

                return disassemble(self.image)
            case _:
                raise TablaError(f"there is no stage '{stage}'", hint=f"the stages are {', '.join(STAGES)}")

    def evaluate(self, inputs: Mapping[str, ArrayLike], **options: Any) -> dict[str, NDArray[np.float64]]:
        """Models after the last sample, and results, by the program's own meaning; `options` as in `runs.evaluate`."""
        from tabla.runs import evaluate

        return evaluate(self, inputs, **options)

    def simulate(self, inputs: Mapping[str, ArrayLike], **options: Any) -> Simulation:
        """The same on the simulated accelerator, with cycles counted; `options` as :func:`runs.simulate`."""
        from tabla.runs import simulate

        return simulate(self, inputs, **options)

    def __call__(self, *arrays: ArrayLike, **named: ArrayLike) -> Any:
        """Run the simulated accelerator on arrays, in the order of the program's inputs or by name.

        Gives the result, or a tuple of them; of a program that learns, its models by name after the step.
        """
        from tabla.runs import call

        return call(self, arrays, named)

    def _repr_html_(self) -> str:
        """What a notebook shows: the report."""
        from tabla.report.notebook import report_html

        return report_html(self.name, self.report())

    def train(self, data: Mapping[str, ArrayLike] | str | Path, *, epochs: int = 10, **options: Any) -> Training:
        """Learn on the simulated accelerator; `options` as :func:`runs.train`."""
        from tabla.runs import train

        return train(self, data, epochs=epochs, **options)

    def synthesise(self, target: str, *, place_and_route: bool = False, **options: Any) -> SynthesisReport:
        """Area on an FPGA, with `place_and_route` its clock too; `options` as in :func:`synth.synthesise`."""
        from tabla.hw.places import signal_places
        from tabla.synth import source_lines, synthesise

        places = signal_places(self.image, self.module) if place_and_route else {}
        return synthesise(
            self.verilog,
            self.module,
            target,
            place_and_route=place_and_route,
            cycles=self.schedule.cycles,
            lines=source_lines(self.verilog, f"{self.name}.v", self.module, places),
            **options,
        )

    def bitstream(self, board: str, *, templates: str | None = None, **options: Any) -> Bitstream:
        """The bitstream of a board, by name of its record; `options` as in :func:`synth.build_bitstream`.

        `templates` is a file with more records.
        """
        from tabla.synth.board import build_bitstream
        from tabla.templates.targets import board as find_board
        from tabla.templates.targets import target

        found = find_board(board, templates)
        return build_bitstream(self.image, self.module, self.verilog, found, target(found.target, templates), **options)

    def report(self) -> BuildReport:
        """Cycles, bound, words: what ``tabla gen`` prints and the manifest holds."""
        from tabla.report.figures import figures

        return figures(self.schedule, self.bound)

    def check_output(self, folder: str | Path) -> None:
        """Refuse early what `write` would refuse at its end."""
        from tabla.report.folder import check_replaceable

        check_replaceable(Path(folder))

    def write(self, folder: str | Path = "build") -> Path:
        """Write the output folder of ``tabla gen``, whole or not at all; returns it."""
        from tabla.artifacts import write

        return write(self, Path(folder))
