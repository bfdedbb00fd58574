"""What a user asks of an exploration, as ``tabla explore`` and `tabla.explore` take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tabla.base.kinds import WholeNumber
from tabla.base.options import rule_of, taking
from tabla.base.parameters import (
    Whole,
    check_function,
    checked_names,
    checked_numbers,
    checked_path,
    checked_text,
    checked_truth,
    optional_whole,
)
from tabla.base.source import TablaError, TablaTypeError
from tabla.build.inference import stages_of
from tabla.build.options import ArrayOptions, Options
from tabla.build.stages import Stages
from tabla.build.synth.nextpnr import chosen_grade
from tabla.graph.format import Format
from tabla.languages.options import ProgramOptions
from tabla.learn.auto_format import for_learning, is_automatic
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import SPLIT, DataOptions
from tabla.learn.data.source import DataSource
from tabla.learn.explore.candidate import Part
from tabla.learn.explore.cluster import Cluster
from tabla.learn.explore.local import Local
from tabla.learn.explore.question import FAMILY, KeptProgram, Question
from tabla.learn.explore.records import check_folder
from tabla.learn.explore.result import Exploration
from tabla.learn.explore.run import Workers, explore_space
from tabla.learn.explore.space import Space
from tabla.learn.formats import GUARD, check_data
from tabla.learn.inference import as_learnt
from tabla.learn.metrics import SCORES
from tabla.learn.options import LearnOptions
from tabla.schedule.mapping.capacity import refuse_without_part
from tabla.templates.targets import target

if TYPE_CHECKING:
    from tabla.learn.keywords import ExploreOptions

PES, FORMAT, PART = (4, 8, 16, 32, 64), "q6.10", "LFE5U-85F:6"
"""What is explored if the user names nothing else."""
_ADD_DATA = "add --data FILE, or data=FILE in Python"
TIMEOUT, SEEDS = 600, 3
WORKERS = WholeNumber(low=1, high=256)
"""How many processes an exploration may have."""
_AT_LEAST_ONE = Whole(low=1)


@taking(DataOptions, LearnOptions, ArrayOptions, ProgramOptions)
def explore(
    source: str | Path | KeptProgram,
    *,
    pes: int | Sequence[int] = PES,
    format: str | Sequence[str] = FORMAT,
    model_guard: int | Sequence[int] | None = None,
    minibatch: int | Sequence[int] = 1,
    part: str | Sequence[str] = PART,
    data: DataSource | Data | None = None,
    synth: bool = False,
    seeds: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    timeout: int | None = None,
    output: str | Path | None = None,
    remark: Callable[[str], None] | None = None,
    **options: Unpack[ExploreOptions],
) -> Exploration:
    """Compare arrays and number formats of a program by samples per second, area and accuracy.

    Each combination of numbers of PEs (`pes`), number formats (`format`), guard bits (`model_guard`) and samples per
    step (`minibatch`) is a point; each of the four is one value or several. `part` names FPGAs with their speed grades.
    With `data` every format learns for `epochs` passes (default 10), and is scored on the validation part of `split`
    (default ``(0.2, 0.2)``, which leaves a fifth of the samples for a test). A `format` may then be ``"auto16"``. The
    options of data and learning are those of :func:`tabla.formats`, and those of the program and the array are those of
    :func:`tabla.compile`, the same in all points.

    `synth` confirms the front with Yosys and nextpnr, with `seeds` tries each (default 3). `workers` is the number of
    processes, 1 if nothing is said; a script that asks for more keeps its own work below
    ``if __name__ == "__main__":``. `scheduler` is the address of a Dask cluster, and `timeout` the seconds after which
    another of its workers tries a point (default 600). `output` is a folder for the page and for all figures as they
    are made: an exploration that was interrupted goes on from them. `remark` takes lines about workers that are
    late, and about a split that was not asked for.

    The source is a file, because workers read it: ``"model.t"``, ``"kernel.tc:name"``, ``"layer.py:function"`` or
    ``"model.onnx"``. The command also gives the program that a file of models keeps. It is a `TablaError` if every
    point is refused.
    """
    if not isinstance(source, str | Path | KeptProgram):
        raise TablaTypeError("an exploration takes the name of a file", hint="write source='layer.py:function'")
    if scheduler is not None:
        checked_text("scheduler", scheduler, "tcp://host:8786")
    check_function("remark", remark)
    checked_truth("synth", synth)
    built, learning = Options.of(options), LearnOptions.of(options)
    built = replace(built, predicted=learning.predict if built.infer else None)
    if built.inputs is not None:
        built = replace(built, inputs=checked_path("inputs", built.inputs))
    if learning.weights is not None:
        checked_path("weights", learning.weights)
    given = None if data is None else _with_split(Data.of_source(data, DataOptions.of(options)), remark)
    if given is None:
        unused = replace(learning, predict=None, weights=None) if built.infer else learning
        _refuse_without_data({**DataOptions.of(options).given(), **unused.given()})
    tries = _tries(optional_whole("seeds", seeds, _AT_LEAST_ONE), synth)
    # A fault of the program is told before any work; whether sequencers divide the PEs is a question of each point.
    named = str(source) if isinstance(source, Path) else source
    question = Question(source=named, options=built, data=given, learning=learning, seeds=tries)
    first = stages_of(question.program, replace(built, sequencers=None))
    if built.infer and learning.weights is not None:
        question = replace(question, options=replace(built, predicted=as_learnt(first, learning).predict))
    if given is not None:
        _check_learning(question)
    parts = list(dict.fromkeys(_part(text) for text in _several("part", part)))
    each = () if model_guard is None else _each(model_guard)
    guards = checked_numbers("model_guard", each, GUARD) if each else ()
    space = Space(
        pes=checked_numbers("pes", _each(pes), rule_of(ArrayOptions, "pes")),
        formats=_formats(question, _several("format", format), guards),
        minibatches=checked_numbers("minibatch", _each(minibatch), rule_of(ProgramOptions, "minibatch")),
    )
    _refuse_too_large(question, space, parts)
    if any(is_automatic(replace(question.options, format=name)) for name in _several("format", format)):
        question = replace(question, options=replace(question.options, saturate=True))
    folder = None if output is None else Path(checked_path("output", output))
    if folder is not None:
        check_folder(folder)
    most = optional_whole("workers", workers, WORKERS.rule)
    who = _workers(most, scheduler, optional_whole("timeout", timeout, _AT_LEAST_ONE), remark)
    found = explore_space(question, space, parts, who, folder=folder, synthesise=synth)
    if folder is not None:
        found.write(folder)
    return found


def _refuse_too_large(question: Question, space: Space, parts: Sequence[Part]) -> None:
    """Raise `TablaError` for a program whose models and sample none of the parts holds, in any of the formats.

    A format in which the program cannot be compiled is a matter of its points.
    """
    if question.options.force:
        return
    family = target(FAMILY)
    for name in sorted({name for name, _ in space.formats}, key=lambda name: Format.parse(name).width):
        made = stages_of(question.program, replace(question.options, format=name, sequencers=None))
        try:
            graph = made.graph
        except TablaError:
            continue
        with made.reading.text.pointing_back():
            named = [(family, part.device) for part in parts]
            refuse_without_part(graph, made.format, question.options.records, named)
        return


def _each(values: Any) -> Any:
    """Return one value as a tuple, and several as they are."""
    return values if isinstance(values, Iterable) and not isinstance(values, str) else (values,)


def _several(name: str, values: str | Sequence[str]) -> tuple[str, ...]:
    found = checked_names(name, (values,) if isinstance(values, str) else values)
    if not found:
        raise TablaError(f"{name}: there is none", hint="leave it out")
    return tuple(dict.fromkeys(found))


def _with_split(data: Data, remark: Callable[[str], None] | None) -> Data:
    """Return data with a split. The one that nobody asked for is told."""
    if data.shares is not None:
        return data
    if data.test is not None:
        if remark is not None:
            remark(
                "split        0,0.2: the data has a test part of its own, and a fifth of the samples scores the formats"
            )
        return data.changed(split="0,0.2")
    if remark is not None:
        remark(f"split        {SPLIT}: a fifth of the samples is left for a test, and a fifth scores the formats")
    return data.changed(split=SPLIT)


def _tries(seeds: int | None, synthesise: bool) -> int:
    if seeds is not None and not synthesise:
        raise TablaError(
            "seeds: they are the tries of a synthesis, and there is none", hint="add --synth, or synth=True in Python"
        )
    return seeds or SEEDS


def _refuse_without_data(given: Mapping[str, object]) -> None:
    """Raise `TablaError` for options of data and learning without data."""
    if given:
        raise TablaError(f"there is no data for: {', '.join(name.replace('_', ' ') for name in given)}", hint=_ADD_DATA)


def _check_learning(question: Question) -> None:
    """Raise `TablaError` for a program and data that no format could learn from, before any format is tried."""
    learning = question.learning
    if learning.metric not in (None, *SCORES):
        raise TablaError(f"formats cannot be compared by the metric '{learning.metric}'", hint="use accuracy or r2")
    assert question.data is not None
    check_data(question.program, replace(question.options, infer=False), question.data, learning)


def _formats(question: Question, names: Sequence[str], guards: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """Return the number formats with their guard bits; -1 stands for those that the user leaves to the tool."""
    found: list[tuple[str, int]] = []
    for name in names:
        for guard in guards or (-1,):
            options = replace(question.options, format=name, model_guard=None if guard < 0 else guard)
            if is_automatic(options):
                options = _chosen(question, options)
                guard = options.model_guard or 0
            found.append((str(options.chosen_format()), guard))
    return tuple(dict.fromkeys(found))


def _chosen(question: Question, options: Options) -> Options:
    """Return the options with the format that the data choose, from the training part alone."""
    data = question.data
    if data is None:
        raise TablaError(
            f"format: {options.format} chooses by data, and there is none", hint=f"{_ADD_DATA}; or name a format"
        )
    # The format depends on no array, so sequencers that the array of the default PEs does not have refuse nothing.
    built = replace(options, sequencers=None, infer=False)
    return for_learning(partial(Stages.of, question.program), built, data, question.learning, needs_test=False)[0]


def _part(text: str) -> Part:
    """Return the part of ``LFE5U-85F:6``; without a grade its first one. An unknown one is a `TablaError`."""
    name, _, grade = text.partition(":")
    try:
        device = target(FAMILY).device(name)
    except TablaError as fault:
        raise TablaError(
            f"part: {fault.message}; areas are estimated for the {target(FAMILY).title} only", hint=fault.hint
        ) from None
    if grade and not grade.isdigit():
        raise TablaError(f"part: '{grade}' is not a speed grade", hint=f"write {PART}")
    return Part(device=device, grade=chosen_grade(device, int(grade) if grade else None))


def _workers(
    workers: int | None, scheduler: str | None, timeout: int | None, remark: Callable[[str], None] | None
) -> Workers:
    if scheduler is None:
        if timeout is not None:
            raise TablaError("timeout: only the workers of a cluster have one", hint="add the address of a scheduler")
        return Local(count=workers or 1)
    if workers is not None:
        raise TablaError(
            "workers are processes of this machine, and the scheduler has others", hint="leave one of the two out"
        )
    return Cluster(address=scheduler, patience=timeout or TIMEOUT, remark=remark)
