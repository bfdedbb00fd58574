"""The arrays of a build: samples and models of real numbers, their shapes, and their words.

Arrays of samples have one leading axis of samples; arrays of models have none. `Reals` are float64 numbers, `Words` are
the signed integers of the number format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Arrays, Reals
from tabla.base.origin import Origin
from tabla.base.source import TablaError
from tabla.build.stages import Stages
from tabla.graph.graph import Graph
from tabla.graph.passes.minibatch import as_samples, as_steps
from tabla.graph.words import OutsideRange, Words, sample_place

MOST_DRAWN = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """Inputs and labels by name, each with a leading axis of `count` samples.

    `stacked` says whether the arrays had that axis when they were read; otherwise they hold a single sample. `rows` are
    the positions that the samples have where they come from, the `origin`; without it they are in the same order there.
    """

    arrays: Arrays
    count: int
    stacked: bool
    origin: Origin = field(default_factory=Origin)
    rows: NDArray[np.int64] | None = None

    def place(self, sample: int) -> str:
        """Return how an error names a sample of these, which count from 0: by its place in the user's data."""
        return self.origin.place(sample if self.rows is None else int(self.rows[sample]))

    def taken(self, positions: NDArray[np.int64]) -> Samples:
        """Return the samples at some positions, in that order."""
        return replace(
            self,
            arrays={name: array[positions] for name, array in self.arrays.items()},
            count=len(positions),
            rows=positions if self.rows is None else self.rows[positions],
        )


def stack_samples(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]]) -> Samples:
    """Return the arrays that `shapes` names, each with a leading axis of samples.

    An array has either exactly its shape, which is one sample, or a leading axis of samples more. Arrays with that axis
    must agree in its length. An array that is missing or has another shape is a `TablaError`.
    """
    found: dict[str, Reals] = {}
    counts: dict[str, int] = {}
    for name, shape in shapes.items():
        if name not in arrays:
            raise TablaError(
                f"'{name}{_text(shape)}' is missing in the data", hint=f"the program reads {', '.join(sorted(shapes))}"
            )
        array = arrays[name]
        if array.shape == shape:
            found[name] = array[None]
        elif array.ndim == len(shape) + 1 and array.shape[1:] == shape:
            found[name], counts[name] = array, len(array)
        else:
            raise TablaError(
                f"'{name}' has shape {array.shape} in the data, but the program declares '{name}{_text(shape)}'",
                hint=f"give {shape} for one sample, or (samples, {', '.join(map(str, shape))})".replace(", )", ",)"),
            )
    check_counts(counts)
    single = sorted(found.keys() - counts.keys())
    if counts and single:
        hint = f"give '{single[0]}' a value for each sample"
        raise TablaError(f"'{single[0]}' has no axis of samples, but '{sorted(counts)[0]}' has one", hint=hint)
    count = next(iter(counts.values()), 1)
    if not count:
        raise TablaError("the data holds no sample", hint="give at least one")
    return Samples(arrays=found, count=count, stacked=bool(counts))


def check_counts(counts: Mapping[str, int]) -> None:
    """Raise `TablaError` if arrays, here by name, have different numbers of samples."""
    if len(set(counts.values())) > 1:
        a, b = sorted(counts, key=lambda n: (counts[n], n))[:: len(counts) - 1]
        hint = "give all arrays the same number of samples"
        raise TablaError(f"'{a}' has {counts[a]} samples and '{b}' has {counts[b]}", hint=hint)


def take_models(
    arrays: Arrays, shapes: Mapping[str, tuple[int, ...]], origin: str, *, cure: str | None = None
) -> dict[str, Reals]:
    """Return the initial value of every model in `shapes`.

    A model that is missing or has another shape is a `TablaError`; `origin` says there where the arrays came from, and
    `cure` what to do about a missing one.
    """
    for name, shape in shapes.items():
        if name not in arrays:
            message = f"the initial value of model '{name}{_text(shape)}' is missing in {origin}"
            raise TablaError(message, hint=cure or f"it has {', '.join(sorted(arrays)) or 'nothing'}")
        if arrays[name].shape != shape:
            raise TablaError(
                f"model '{name}' has shape {arrays[name].shape} in {origin},"
                f" but the program declares '{name}{_text(shape)}'",
                hint=f"give an array of shape {shape}; models have no axis of samples",
            )
    return {name: arrays[name] for name in shapes}


def initial_models(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Reals]:
    """Return models to start from, the same for the same `seed`.

    Scalars and vectors are zeros. Other tensors are uniform within ``sqrt(6 / (rows + columns))`` on both sides of 0,
    where `rows` is the first axis and `columns` the product of the others (Glorot and Bengio, 2010).
    """
    for name, shape in shapes.items():
        if prod(shape) > MOST_DRAWN:
            message = f"model '{name}{_text(shape)}' is too large: it has more than {MOST_DRAWN:,} numbers"
            raise TablaError(message, hint="use smaller sizes")
    chance = np.random.default_rng(seed)
    models: dict[str, Reals] = {}
    for name in sorted(shapes):
        shape = shapes[name]
        if len(shape) < 2:
            models[name] = np.zeros(shape)
        else:
            reach = float(np.sqrt(6 / (shape[0] + int(np.prod(shape[1:])))))
            models[name] = chance.uniform(-reach, reach, shape)
    return models


def shapes_of(graph: Graph, *roles: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all tensors that have one of the given roles, in the order of the program text.

    `roles` are those of :class:`tabla.graph.graph.Tensor`: ``input``, ``label``, ``model`` and so on.
    """
    return {t.name: t.shape for t in graph.tensors.values() if t.role in roles}


def samples_of(build: Stages, arrays: Arrays, first: int | None) -> Samples:
    """Return the inputs and labels of at most the `first` samples.

    An input or label that the program declares but never reads may be missing from `arrays`; it is filled with zeros.
    """
    read = {tensor for s in build.sample.statements for tensor in s.sources} | {t for _, t in build.sample.results}
    shapes = shapes_of(build.sample, "input", "label")
    given = {name: shape for name, shape in shapes.items() if name in read or name in arrays}
    samples = stack_samples(arrays, given)
    # The samples of a program without inputs are all alike, so any requested number of them will do.
    count = samples.count if not first else min(samples.count, first) if given else first
    found = {name: array[:count] for name, array in samples.arrays.items()}
    found |= {name: np.zeros((count, *shape)) for name, shape in shapes.items() if name not in given}
    return replace(samples, arrays=found, count=count)


def steps_of(build: Stages, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Reshape arrays from [samples, ...] to what the step graph takes.

    With minibatches of B samples that is [samples / B, B, ...]. Without minibatches the shape stays [samples, ...].
    """
    return as_steps(arrays, build.lowered.samples)


def without_steps(build: Stages, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Undo `steps_of`: reshape arrays from [steps, B, ...] back to [samples, ...]."""
    return as_samples(arrays, build.lowered.samples)


def sample_words(build: Stages, samples: Samples) -> dict[str, Words]:
    """Return the words of samples.

    A value that the format does not hold is a `TablaError` at its place in the data, or with the option ``saturate``
    the nearest word.
    """
    try:
        return words_of(build, held(build, samples.arrays)[0], samples.place)
    except OutsideRange as fault:
        name, (sample, *element) = fault.name, fault.place
        position = sample if samples.rows is None else int(samples.rows[sample])
        at = samples.origin.element(name, position, tuple(element))
        scales = name not in samples.origin.before and samples.origin.name
        own = "; --standardise scales inputs" if scales and name in shapes_of(build.sample, "input") else ""
        hint = f"{fault.hint}{own}; --saturate takes the nearest words"
        raise TablaError(f"{fault.what}{at}{fault.limits}", hint=hint) from None


def held(build: Stages, arrays: Arrays) -> tuple[Arrays, int]:
    """Return inputs and labels as the build takes them: with the option ``saturate``, inside the range of its format.

    The second value counts the numbers that were outside.
    """
    if not build.options.saturate:
        return arrays, 0
    found = {name: build.word_type(name).inside(array) for name, array in arrays.items()}
    return {name: array for name, (array, _) in found.items()}, sum(outside for _, outside in found.values())


def words_of(build: Stages, arrays: Arrays, place_of: Callable[[int], str] = sample_place) -> dict[str, Words]:
    """Return the words of arrays by name. `place_of` is that of :func:`tabla.graph.words.to_words`."""
    for name in sorted(arrays):  # fractions are told before numbers that are too large
        build.word_type(name).refuse_fractions(arrays[name])
    return {name: build.word_type(name).to_words(array, place_of) for name, array in arrays.items()}


def model_reals(build: Stages, words: Mapping[str, Words]) -> dict[str, Reals]:
    """Return the values of models from their words; those of wide models are stored integers."""
    return {name: build.word_type(name).to_reals(array) for name, array in words.items()}


def _text(subscripts: tuple[int, ...]) -> str:
    return "".join(f"[{k}]" for k in subscripts)
