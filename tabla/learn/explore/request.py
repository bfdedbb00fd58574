"""What a user asks of an exploration, as ``tabla explore`` and `tabla.explore` take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tabla.base.source import TablaError, TablaTypeError
from tabla.build.options import Options
from tabla.build.parameters import (
    EPOCHS,
    NOTHING,
    check_function,
    checked_names,
    checked_numbers,
    checked_path,
    checked_text,
    checked_truth,
    optional_whole,
)
from tabla.build.stages import Stages
from tabla.build.synth.nextpnr import chosen_grade
from tabla.graph.format import Format
from tabla.learn.auto_format import for_learning, is_automatic
from tabla.learn.explore.candidate import Part
from tabla.learn.explore.cluster import Cluster
from tabla.learn.explore.local import Local
from tabla.learn.explore.question import FAMILY, Question
from tabla.learn.explore.records import check_folder
from tabla.learn.explore.result import Exploration
from tabla.learn.explore.run import Workers, explore_space
from tabla.learn.explore.space import Space
from tabla.learn.formats import METRICS, check_data
from tabla.learn.train import learning_start
from tabla.schedule.mapping.capacity import refuse_without_part
from tabla.templates.targets import target

PES, FORMAT, PART = (4, 8, 16, 32, 64), "q6.10", "LFE5U-85F:6"
"""What is explored if the user names nothing else."""
SPLIT = "0.2,0.2"
"""The shares of the test part and of the validation part, if the user gives data and names none."""
_ADD_DATA = "add --data FILE, or data=FILE in Python"
TIMEOUT, SEEDS = 600, 3
_SETTINGS = (
    *("split", "split_seed", "shuffle", "standardise", "standardise_labels", "weights", "seed", "samples"),
    *("columns", "classes"),
)
"""The parameters that :func:`tabla.learn.train.learning_start` takes, too."""


def explore(
    source: str | Path,
    *,
    pes: int | Sequence[int] = PES,
    format: str | Sequence[str] = FORMAT,
    model_guard: int | Sequence[int] | None = None,
    minibatch: int | Sequence[int] = 1,
    part: str | Sequence[str] = PART,
    data: str | Path | None = None,
    split: str | float | Sequence[float] | None = None,
    split_seed: int | None = None,
    metric: str | None = None,
    epochs: int | None = None,
    predict: str | None = None,
    weights: str | Path | None = None,
    seed: int | None = None,
    samples: int | None = None,
    shuffle: int | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    classes: str | Sequence[str] = (),
    standardise: bool = False,
    standardise_labels: bool = False,
    defines: Mapping[str, str | float] = NOTHING,
    learning_rate: str | float | None = None,
    stream_words: int | None = None,
    sequencers: int | None = None,
    inputs: str | Path | None = None,
    keep: Sequence[str] = (),
    sizes: Mapping[str, int] = NOTHING,
    shapes: Mapping[str, Sequence[int]] = NOTHING,
    arguments: Mapping[str, object] = NOTHING,
    synth: bool = False,
    seeds: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    timeout: int | None = None,
    output: str | Path | None = None,
    remark: Callable[[str], None] | None = None,
) -> Exploration:
    """Compare arrays and number formats of a program by samples per second, area and accuracy.

    Each combination of numbers of PEs (`pes`), number formats (`format`), guard bits (`model_guard`) and samples per
    step (`minibatch`) is a point; each of the four is one value or several. `part` names FPGAs with their speed grades.
    With the file `data` every format learns for `epochs` passes (default 10), and is scored on the validation part of
    `split` (default ``(0.2, 0.2)``, which leaves a fifth of the samples for a test). `split` and the parameters from
    `split_seed` to `standardise_labels` are those of :func:`tabla.formats`, and a `format` may then be ``"auto16"``.
    The parameters from `defines` to `arguments` are those of :func:`tabla.compile`, the same in all points.

    `synth` confirms the front with Yosys and nextpnr, with `seeds` tries each (default 3). `workers` is the number of
    processes, 1 if nothing is said; a script that asks for more keeps its own work below
    ``if __name__ == "__main__":``. `scheduler` is the address of a Dask cluster, and `timeout` the seconds after which
    another of its workers tries a point (default 600). `output` is a folder for the page and for all figures as they
    are made: an exploration that was interrupted goes on from them. `remark` takes lines about workers that are
    late, and about a split that was not asked for.

    The source is a file, because workers read it: ``"model.t"``, ``"kernel.tc:name"``, ``"layer.py:function"`` or
    ``"model.onnx"``. It is a `TablaError` if every point is refused.
    """
    if not isinstance(source, str | Path):
        raise TablaTypeError("an exploration takes the name of a file", hint="write source='layer.py:function'")
    if scheduler is not None:
        checked_text("scheduler", scheduler, "tcp://host:8786")
    check_function("remark", remark)
    checked_truth("synth", synth)
    split = _shares(split, data, remark)
    options = Options(
        defines=defines,
        learning_rate=learning_rate,
        stream_words=stream_words,
        sequencers=sequencers,
        inputs=None if inputs is None else checked_path("inputs", inputs),
        keep=checked_names("keep", keep),
        sizes=sizes,
        shapes=shapes,
        arguments=arguments,
    )
    about_data = {
        "split": split,
        "split_seed": split_seed,
        "shuffle": shuffle,
        "standardise": standardise,
        "standardise_labels": standardise_labels,
        "weights": None if weights is None else checked_path("weights", weights),
        "samples": samples,
        "columns": columns,
        "classes": classes,
        "epochs": optional_whole("epochs", epochs),
        "seed": seed,
        "predict": predict,
        "metric": metric,
    }
    tries = _tries(optional_whole("seeds", seeds), synth)
    # A fault of the program is told before any work; whether sequencers divide the PEs is a question of each point.
    Stages.of(str(source), replace(options, sequencers=None))
    question = Question(
        source=str(source),
        options=options,
        data=None if data is None else checked_path("data", data),
        learning=_learning(str(source), options, data, about_data),
        seeds=tries,
    )
    parts = list(dict.fromkeys(_part(text) for text in _several("part", part)))
    each = () if model_guard is None else _each(model_guard)
    guards = checked_numbers("model_guard", each, "guards") if each else ()
    space = Space(
        pes=checked_numbers("pes", _each(pes), "pes"),
        formats=_formats(question, _several("format", format), guards),
        minibatches=checked_numbers("minibatch", _each(minibatch), "minibatch"),
    )
    _refuse_too_large(question, space, parts)
    if any(is_automatic(replace(question.options, format=name)) for name in _several("format", format)):
        question = replace(question, options=replace(question.options, saturate=True))
    folder = None if output is None else Path(checked_path("output", output))
    if folder is not None:
        check_folder(folder)
    who = _workers(optional_whole("workers", workers), scheduler, optional_whole("timeout", timeout), remark)
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
        made = Stages.of(question.source, replace(question.options, format=name, sequencers=None))
        try:
            graph = made.graph
        except TablaError:
            continue
        with made.reading.text.pointing_back():
            named = [(family, part.device) for part in parts]
            refuse_without_part(graph, made.format, question.options.templates, named)
        return


def _each(values: Any) -> Any:
    """Return one value as a tuple, and several as they are."""
    return values if isinstance(values, Iterable) and not isinstance(values, str) else (values,)


def _several(name: str, values: str | Sequence[str]) -> tuple[str, ...]:
    found = checked_names(name, (values,) if isinstance(values, str) else values)
    if not found:
        raise TablaError(f"{name}: there is none", hint="leave it out")
    return tuple(dict.fromkeys(found))


def _shares(split: Any, data: object, remark: Callable[[str], None] | None) -> Any:
    """Return the split of the data. The one that nobody asked for is told."""
    if split is not None or data is None:
        return split
    if remark is not None:
        remark(f"split        {SPLIT}: a fifth of the samples is left for a test, and a fifth scores the formats")
    return SPLIT


def _tries(seeds: int | None, synthesise: bool) -> int:
    if seeds is not None and not synthesise:
        raise TablaError(
            "seeds: they are the tries of a synthesis, and there is none", hint="add --synth, or synth=True in Python"
        )
    return seeds or SEEDS


def _learning(source: str, options: Options, data: object, about_data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of :func:`tabla.learn.formats.learnt`. Some of them without data are a `TablaError`."""
    given = [name for name, value in about_data.items() if value is not None and value is not False and value != ()]
    if data is None:
        if given:
            names = ", ".join(name.replace("_", " ") for name in given)
            raise TablaError(f"there is no data for: {names}", hint=_ADD_DATA)
        return {}
    if about_data["metric"] not in (None, *METRICS):
        raise TablaError(
            f"formats cannot be compared by the metric '{about_data['metric']}'", hint="use accuracy or r2"
        )
    settings = {name: about_data[name] for name in _SETTINGS} | {"seed": about_data["seed"] or 0}
    # What no format could learn from is told at once, and not for each of them.
    check_data(source, options, checked_path("data", data), **settings)
    passes = about_data["epochs"] or EPOCHS
    return {**settings, "epochs": passes, "predict": about_data["predict"], "metric": about_data["metric"]}


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
    about = {name: question.learning[name] for name in _SETTINGS}
    # The format depends on no array, so sequencers that the array of the default PEs does not have refuse nothing.
    return for_learning(
        partial(Stages.of, question.source),
        replace(options, sequencers=None),
        lambda wide: learning_start(wide, data, needs_test=False, **about),
        question.learning["epochs"],
        question.learning["predict"],
    )[0]


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
