"""From what a user gives to samples: files, arrays, data frames, and pairs of inputs and labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.arrays import NOTES, Arrays, read_arrays, real_array, refuse_strangers
from tabla.base.npz import RESERVED
from tabla.base.origin import Origin
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.base.table import SUFFIXES, Columns, Frame, Table, frame_table, read_table
from tabla.build.arrays import Samples, check_counts
from tabla.build.parameters import checked_mapping, checked_truth
from tabla.learn.data.preparation import Preparation, Raw, Shapes, fitted, separated
from tabla.learn.data.split import Divided, Split, divided, shuffled

Data = Mapping[str, ArrayLike] | str | Path
"""Arrays by name, or the path of their file."""
Given = Data | tuple[ArrayLike, ArrayLike] | Frame
"""Data with samples may also be a pair of the inputs and the labels, or a data frame."""
MOST_SAMPLES = 1 << 62
EXAMPLE = "{'x': ..., 'y': ...}"


def reals(given: Data, what: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of real numbers that the parameter `what` gives, or the file that it names.

    The texts that lie beside models stay texts.
    """
    if isinstance(given, str | Path):
        return read_arrays(Path(given))
    checked_mapping(what, given, EXAMPLE)
    return {
        name: np.asarray(array, dtype=str)
        if name.endswith(NOTES) or name.startswith(RESERVED)
        else real_array(array, f"'{name}'")
        for name, array in given.items()
    }


def given_models(
    weights: Data | None, merge: Callable[[Raw], dict[str, NDArray[Any]]], shapes: Shapes
) -> tuple[dict[str, NDArray[Any]], Preparation]:
    """Return the models that the parameter `weights` gives, if any, and the preparation of data that lies beside them.

    `merge` makes the arrays of a file those of the program, which has models of the `shapes`. Another array is a
    `TablaError`.
    """
    if weights is None:
        return {}, Preparation()
    arrays, stored = separated(reals(weights, "weights"))
    models = merge(arrays)
    refuse_strangers(models, shapes, "the set of weights")
    return models, stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How a user wants data to be read.

    `inputs` and `labels` are the shapes that the program declares. `columns` are the columns of a table that each of
    them takes, `classes` the labels whose columns name classes, and `standardise` the tensors to standardise.
    """

    inputs: Shapes = field(repr=False)
    labels: Shapes = field(repr=False)
    columns: Mapping[str, tuple[str, ...]] | None = None
    classes: tuple[str, ...] = ()
    standardise: tuple[str, ...] = ()

    @property
    def shapes(self) -> Shapes:
        """The shapes of inputs and labels."""
        return {**self.inputs, **self.labels}

    def read(
        self, data: Given, what: str, stored: Preparation
    ) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]], Origin]:
        """Return the arrays of `data` by the names of the program, before any preparation, their columns and origin.

        `what` names the parameter, and `stored` is the preparation beside the models that the data is for. The columns
        are those of a table that were named, here or when the models were learnt.
        """
        columns: dict[str, tuple[str, ...]] = {}
        origin = Origin(name=f"'{data}'") if isinstance(data, str | Path) else Origin()
        texts = {*self.classes, *stored.classes}
        if isinstance(data, tuple):
            data = self._pair(data, what)
        if isinstance(data, Frame) or (isinstance(data, str | Path) and Path(data).suffix in SUFFIXES):
            table = frame_table(data) if isinstance(data, Frame) else read_table(Path(data))
            found, columns = self._of_table(table, stored)
            origin = table.samples
        elif isinstance(data, str | Path):
            if self.columns is not None:
                hint = "leave --columns out, or give a .csv file"
                raise TablaError(f"'{data}' is no table, so it has no columns", hint=hint)
            found = read_arrays(Path(data), texts=texts)
        else:
            checked_mapping(what, data, EXAMPLE)
            if self.columns is not None:
                hint = "leave columns out, or give a data frame or a .csv file"
                raise TablaError(f"{what}: arrays have no columns", hint=hint)
            found = {
                name: np.asarray(array)
                if name in texts or name.endswith(NOTES) or name.startswith(RESERVED)
                else real_array(array, f"'{name}'")
                for name, array in data.items()
            }
        for name, array in found.items():
            shape = self.labels.get(name)
            if shape == () and array.ndim == 2 and array.shape[1] == 1:
                found[name] = array[:, 0]  # a data frame of one column is such an array
            elif shape and name in texts and array.ndim > 1:
                found[name] = real_array(array, f"'{name}'")  # the labels are numbers already
        return found, columns, origin

    def _pair(self, pair: tuple[ArrayLike, ...], what: str) -> dict[str, ArrayLike]:
        if len(pair) != 2:
            raise TablaValueError(f"{what}: a tuple of {len(pair)} arrays is not (inputs, labels)", hint="write (X, y)")
        if len(self.inputs) != 1 or len(self.labels) != 1:
            names = ", ".join([*self.inputs, *self.labels])
            raise TablaValueError(
                f"{what}: (X, y) is for programs with one input and one label", hint=f"give arrays by name: {names}"
            )
        return {**dict.fromkeys(self.inputs, pair[0]), **dict.fromkeys(self.labels, pair[1])}

    def _of_table(
        self, table: Table, stored: Preparation
    ) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]]]:
        named: Columns = self.columns or {}
        if self.columns is None:
            named = {name: each for name, each in stored.columns.items() if set(each) <= set(table.header)}
        columns = table.resolved(named)
        return table.arrays(columns or None, {*self.classes, *stored.classes}, self.shapes), columns


def _checked_names(what: str, names: str | Sequence[str], example: str) -> tuple[str, ...]:
    """Return one name or several as a tuple. Anything else is a `TablaTypeError`."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Sequence):
        raise TablaTypeError(f"{what}: {names!r} is no list of names", hint=f"write {example}")
    return tuple(map(str, names))


def request_of(
    inputs: Shapes,
    labels: Shapes,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    classes: str | Sequence[str] = (),
    standardise: bool = False,
    standardise_labels: bool = False,
) -> Request:
    """Check what a user wants. A name that the program does not have is a `TablaError`."""
    shapes, known = {**inputs, **labels}, ", ".join([*inputs, *labels])
    checked_truth("standardise", standardise)
    checked_truth("standardise_labels", standardise_labels)
    if columns is not None:
        checked_mapping("columns", columns, "{'x': ['sepal', 'petal'], 'y': 'species'}")
        for name in columns:
            if name not in shapes:
                raise TablaValueError(f"--columns: the program has no input or label '{name}'", hint=f"it has {known}")
    chosen = _checked_names("classes", classes, "['y']")
    for name, each in (columns or {}).items():
        _checked_names(f"columns['{name}']", each, "['sepal', 'petal']")
    for name in chosen:
        if name not in labels:
            raise TablaValueError(
                f"--classes: the program has no label '{name}'", hint=f"its labels are {', '.join(labels) or 'none'}"
            )
    return Request(
        inputs=inputs,
        labels=labels,
        columns=None
        if columns is None
        else {name: (each,) if isinstance(each, str) else tuple(map(str, each)) for name, each in columns.items()},
        classes=chosen,
        standardise=(*(inputs if standardise else ()), *(labels if standardise_labels else ())),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """Samples as the program takes them, in parts; what was done to them; and the names that the data had."""

    parts: Divided
    preparation: Preparation
    names: frozenset[str]


def prepared(
    request: Request,
    data: Given,
    test: Given | None,
    *,
    stored: Preparation,
    split: Split | None,
    first: int | None,
    shuffle: int | None,
    stack: Callable[[Arrays, int | None], Samples],
    needs_test: bool = True,
) -> Prepared:
    """Read data, divide it, and prepare all parts as the training part alone says.

    `stack` makes samples of arrays, at most the `first` ones. `shuffle` is the seed of a new order of the training
    part. Without `needs_test`, the split may take a validation part alone.
    """
    raw, columns, origin = request.read(data, "data", stored)
    refuse_strangers(raw, request.shapes, "the data")
    preparation = replace(stored, columns={**stored.columns, **columns})
    if request.classes or request.standardise:
        count = min(_count(raw, request), first or MOST_SAMPLES)
        if not count:
            raise TablaError("the data holds no sample")
        rows = np.arange(count) if split is None else split.indices(count).training
        preparation = fitted(
            preparation, raw, rows, request.shapes, classes=request.classes, standardise=request.standardise
        )
    _hint_at_classes(raw, request, preparation)
    samples = replace(stack(preparation.apply(raw, request.shapes, origin.place), first), origin=origin)
    tested = None if test is None else _test_samples(request, test, preparation, stack)
    parts = divided(samples, split, tested, needs_test=needs_test)
    if shuffle is not None:
        parts = replace(parts, training=shuffled(parts.training, shuffle))
    return Prepared(parts=parts, preparation=preparation, names=frozenset(raw))


def _test_samples(
    request: Request, test: Given, preparation: Preparation, stack: Callable[[Arrays, int | None], Samples]
) -> Samples:
    """Return the samples of a test part of its own. Data that does not fit the program is a `TablaError`."""
    raw, _, origin = request.read(test, "test", preparation)
    refuse_strangers(raw, request.shapes, "the test data")
    try:
        return replace(stack(preparation.apply(raw, request.shapes, origin.place), None), origin=origin)
    except TablaError as fault:
        raise TablaError(f"--test: {fault.message}", hint=fault.hint) from None


def _count(raw: Raw, request: Request) -> int:
    """Return the number of samples in arrays. Arrays that disagree are a `TablaError`."""
    counts = {
        name: len(array)
        for name, array in raw.items()
        if array.ndim == len(request.shapes[name]) + 1 or (name in request.classes and array.ndim == 1)
    }
    check_counts(counts)
    return min(counts.values(), default=1)


def _hint_at_classes(raw: Raw, request: Request, preparation: Preparation) -> None:
    """Raise `TablaError` for numbers of classes where the program takes rows with a single 1, and name the cure."""
    for name, shape in request.labels.items():
        if name in raw and name not in preparation.classes and len(shape) == 1 and raw[name].ndim == 1:
            whole = np.array_equal(raw[name], np.round(raw[name]))
            if whole and len(raw[name]) != shape[0]:
                raise TablaError(
                    f"'{name}' has shape {raw[name].shape} in the data, but the program declares '{name}[{shape[0]}]'",
                    hint=f"if its numbers are classes, add --classes {name}",
                )
