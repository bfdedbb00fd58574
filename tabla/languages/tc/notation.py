"""``kernel.tc[:def]``: a function of tensors, for given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabla.base.arrays import refuse_strangers
from tabla.base.faults import did_you_mean
from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.unread_parts import Conventions
from tabla.languages.kernel.notation import reading_of
from tabla.languages.kernel.training import Learning, asked_of, learning
from tabla.languages.kernel.tree import Kernel
from tabla.languages.losses import LABEL
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import Preprocessed, preprocess
from tabla.languages.reading import Reading, Reals
from tabla.languages.tc import Function, Unit, parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate
from tabla.languages.tc.lower import lower
from tabla.languages.tc.lower.kernel import kernel_of
from tabla.languages.tc.text import function_text

Shapes = Mapping[str, tuple[int, ...]]


def read_tensor_comprehensions(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    """Read a function, the last one without `member`, and bind its sizes to those of `options` or to the shapes of its
    inputs.

    Options that make no sense for it are a `TablaError`.
    """
    asked = asked_of(options, str(path))
    if options.runtime_rate and asked is None:
        raise TablaError(f"--runtime-rate: '{path}' does not learn, so it has no rate", hint="leave it out")
    expanded, unit = read_unit(path, options)
    with expanded.pointing_back():
        function = unit.function(member)
        _refuse_unknown(function, options)
        sizes = sizes_of(function, options, () if asked is None else asked.train)
    keep = options.keep
    if asked is not None:
        return _learning(path, expanded, function, sizes, options, asked)

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        return lower(function, sizes, number_format=number_format, name=path.stem, keep=keep, results=results)

    def predicting() -> Kernel:
        with expanded.pointing_back():
            return kernel_of(function, sizes, name=path.stem, models=keep, results=options.results)

    def evaluated(arrays: Mapping[str, Reals], calls: int | None) -> dict[str, Reals]:
        with expanded.pointing_back():
            return _evaluate(function, arrays, sizes, keep, calls)

    return Reading(
        name=path.stem,
        text=expanded,
        ast=lambda: function_text(function),
        kernel=predicting,
        lower=lowered,
        evaluate_float=evaluated,
        integers=frozenset(name for name, tensor in function.tensors.items() if tensor.scalar.integral),
        conventions=Conventions(
            values=frozenset(function.tensors),
            stated_is_meant=True,
            outputs_have_sizes=False,
            unread="write 'where {index} in {low}:{high}' if that is meant",
            unlearnt="",
        ),
    )


def _learning(
    path: Path,
    expanded: Preprocessed,
    function: Function,
    sizes: Mapping[str, int],
    options: ProgramOptions,
    asked: Learning,
) -> Reading:
    """Return a function whose inputs learn: its kernel, with derivatives and updates."""
    with expanded.pointing_back():
        predicting = kernel_of(function, sizes, name=path.stem, models=(*options.keep, *asked.train))
        kernel = learning(predicting, asked)
    return reading_of(kernel, expanded, lambda: function_text(function), options)


def read_unit(path: Path, options: ProgramOptions) -> tuple[Preprocessed, Unit]:
    """Return the functions of a file, checked, and the text that they were read from."""
    expanded = preprocess(Source.from_path(path), options.written_defines)
    for name in options.defines:
        if name not in expanded.used:
            raise TablaError(f"-D {name}: '{path}' does not use ${name}", hint=f"a size is given by --size {name}=...")
    with expanded.pointing_back():
        return expanded, parse(expanded.source)


def sizes_of(function: Function, options: ProgramOptions, learnt: Sequence[str] = ()) -> dict[str, int]:
    """Return the value of every size, from `options` or from the shapes of the arrays that they name.

    The arrays of a function that learns have no axis of samples for the inputs that are `learnt`, and may have labels.
    """
    shapes = dict(options.input_shapes.shapes)
    if learnt and LABEL not in function.tensors:
        shapes.pop(LABEL, None)
    return bind_sizes(function, _one_call(function, shapes, (*options.keep, *learnt)), options.sizes)


def _refuse_unknown(function: Function, options: ProgramOptions) -> None:
    for name in options.keep:
        if name not in function.inputs:
            near = did_you_mean(name, function.inputs)
            hint = near or f"the inputs of '{function.name}' are {', '.join(function.inputs) or 'none'}"
            raise TablaError(f"--keep {name}: '{function.name}' has no such input", hint=hint)
    written = [name for name, tensor in function.tensors.items() if tensor.role != "input"]
    for name in options.results:
        if name not in written:
            hint = did_you_mean(name, written) or f"it computes {', '.join(written)}"
            raise TablaError(f"--result {name}: '{function.name}' does not compute it", hint=hint)


def _several(function: Function, shapes: Shapes, keep: Sequence[str]) -> bool:
    """Whether arrays of these shapes hold several calls: every streamed one has an axis more, in front."""
    ranks = {name: tensor.rank for name, tensor in function.tensors.items() if tensor.role == "input" or tensor.initial}
    streamed = [name for name in shapes if name in ranks and name not in keep]
    return bool(streamed) and all(len(shapes[name]) == ranks[name] + 1 for name in streamed)


def _one_call(function: Function, shapes: Shapes, keep: Sequence[str]) -> Shapes:
    """The shapes of one call."""
    if not _several(function, shapes, keep):
        return shapes
    whole = [name for name in shapes if name in keep or name not in function.tensors]
    return {name: shape if name in whole else shape[1:] for name, shape in shapes.items()}


def _evaluate(
    function: Function,
    arrays: Mapping[str, Reals],
    sizes: Mapping[str, int],
    keep: Sequence[str],
    calls: int | None,
) -> dict[str, Reals]:
    """The language's own evaluation, call by call."""
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    known = [name for name, tensor in function.tensors.items() if tensor.role == "input" or tensor.initial]
    refuse_strangers(arrays, known, "the input")
    if not _several(function, shapes, keep):
        return _reals(evaluate(function, arrays, sizes))
    streamed = [name for name in arrays if name not in keep]
    counts = {name: len(arrays[name]) for name in streamed}
    if len(set(counts.values())) > 1:
        one, other = sorted(counts, key=lambda name: (counts[name], name))[:: len(counts) - 1]
        raise TablaError(
            f"'{one}' has {counts[one]} samples and '{other}' has {counts[other]}",
            hint="give as many samples of each, and name what is the same for all samples with --keep",
        )
    count = min(counts[streamed[0]], calls or counts[streamed[0]])
    if not count:
        raise TablaError("the data holds no sample", hint="give arrays with one sample or more")
    each = [
        _reals(evaluate(function, {n: a[call] if n in counts else a for n, a in arrays.items()}, sizes))
        for call in range(count)
    ]
    return {name: np.stack([results[name] for results in each]) for name in each[0]}


def _reals(results: Mapping[str, np.ndarray[Any, np.dtype[Any]]]) -> dict[str, Reals]:
    return {name: np.asarray(array, dtype=np.float64) for name, array in results.items()}
