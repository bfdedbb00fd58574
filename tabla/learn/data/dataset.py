"""The data of a run: read once, and handed to whatever learns, tests, evaluates or explores."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.arrays import NOTES, Arrays, no_arrays, npz_arrays, real_array, refuse_strangers
from tabla.base.npz import RESERVED, read_npz
from tabla.base.origin import Origin
from tabla.base.parameters import checked_mapping
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.base.table import SUFFIXES, Columns, Frame, Table, frame_table, read_table
from tabla.build.arrays import Samples, check_counts, shapes_of
from tabla.build.stages import Stages
from tabla.learn.data.gathered import ERROR, Gathered, Gathering
from tabla.learn.data.options import DataOptions
from tabla.learn.data.preparation import Preparation, Raw, Shapes, fitted
from tabla.learn.data.source import EXAMPLE, DataSource
from tabla.learn.data.split import Divided, divided, permutation, shuffled
from tabla.learn.data.summary import Summary, arrays_summary, table_summary
from tabla.learn.data.treated import Treated

MOST_SAMPLES = 1 << 62
Named = dict[str, NDArray[Any]]
Stack = Callable[[Arrays, int | None], Samples]
"""Makes samples of arrays, at most the first ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensors:
    """The shapes of the inputs and the labels that a program declares, by name.

    `integers` are inputs that hold whole numbers, such as the rows of a table.
    """

    inputs: Shapes
    labels: Shapes
    integers: frozenset[str] = frozenset()

    @property
    def shapes(self) -> Shapes:
        """The shapes of inputs and labels."""
        return {**self.inputs, **self.labels}


def tensors_of(build: Stages) -> Tensors:
    """Return the inputs and labels that the program of a build declares."""
    return Tensors(
        inputs=shapes_of(build.sample, "input"), labels=shapes_of(build.sample, "label"), integers=build.integers
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """Samples as the program takes them, in parts; what was done to them; and the names that the data had."""

    parts: Divided
    preparation: Preparation
    names: frozenset[str]
    treated: Treated = field(default_factory=Treated)


@dataclass(frozen=True, eq=False)
class Data(DataOptions):
    """Samples with what is said about them: their columns and classes, their preparation, and what is held out.

    ``Data("x.csv", columns={"x": "*", "y": "species"}, classes="y", split=0.2)`` can be given to everything that takes
    data: :func:`tabla.compile`, :func:`tabla.formats`, :func:`tabla.explore`, and the methods of a build. The source is
    the path of an .npz or .csv file, arrays by name, a data frame, or a pair ``(X, y)`` of the input and the label. It
    is read once, when its content is first asked for.

    What is fitted to data is fitted to the samples that are learnt from, and to no others. The samples of each part
    are the same in every run. A notebook shows the data as the table of `summary`.
    """

    source: DataSource

    # Data is what it was made of, and not what its options say: two files with the same options are two data.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.source, Data):
            raise TablaTypeError("source: this is data already", hint="dataclasses.replace changes its options")
        if self.split is not None:
            _ = self.shares  # a wrong one is refused here

    def __repr__(self) -> str:
        shown = repr(str(self.source)) if self.path is not None else f"<{type(self.source).__name__}>"
        return f"Data({', '.join([shown, *(f'{name}={value!r}' for name, value in self._short_options())])})"

    def _short_options(self) -> Iterator[tuple[str, Any]]:
        for name, value in self.given().items():
            yield name, value if name != "test" or isinstance(value, str | Path | Data) else type(value).__name__

    @staticmethod
    def of_source(source: DataSource | Data, options: DataOptions) -> Data:
        """Return a source with options as data. Data that has its options already takes no others."""
        if not isinstance(source, Data):
            return Data(source, **{each.name: getattr(options, each.name) for each in fields(DataOptions)})
        if given := options.given():
            name = next(iter(given))
            raise TablaTypeError(f"{name}: the data has its own options", hint=f"write tabla.Data(..., {name}=...)")
        return source

    def changed(self, **options: Any) -> Data:
        """Return the same data with other options. What was read is not read again."""
        other = replace(self, **options)
        if not options.keys() & {"source", "no_header"}:
            other.__dict__.update({name: vars(self)[name] for name in ("table", "file") if name in vars(self)})
        return other

    def to_score(self) -> Data:
        """Return the data that models are scored on: with its test part, or without one all samples."""
        held_out = self.test is not None or (self.shares is not None and self.shares.test > 0)
        return self if held_out else self.changed(split=None, split_seed=None, shuffle=None)

    @property
    def path(self) -> Path | None:
        """The path of the file; None for data that is no file."""
        return Path(self.source) if isinstance(self.source, str | Path) else None

    @cached_property
    def table(self) -> Table | None:
        """The table; None for arrays. A file that is no table is a `TablaError`."""
        if isinstance(self.source, Frame):
            return frame_table(self.source)
        is_table = self.path is not None and self.path.suffix in SUFFIXES
        if self.no_header and not is_table:
            raise TablaError("--no-header is for a table in a file", hint="leave it out, or give a .csv file")
        return read_table(self.path, header=not self.no_header) if self.path is not None and is_table else None

    @cached_property
    def file(self) -> Named:
        """The arrays of the file as they are. A file that holds none is a `TablaError`."""
        assert self.path is not None
        if self.path.suffix != ".npz":
            raise no_arrays(self.path)
        return dict(read_npz(self.path))

    def pair(self, *, held_out: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the input ``x`` and the label ``y`` of the training part, before any preparation, for estimators.

        With `held_out` they are those of the test part, or of all samples if there is none. Data with other names, and
        standardised data, are a `TablaError`: estimators standardise themselves.
        """
        if self.standardise or self.standardise_labels:
            hint = "leave it out of the data, and give the estimator standardise=True"
            raise TablaValueError("standardise: estimators standardise their data themselves", hint=hint)
        own_test, found = self._test_data(), self._own_pair()
        if held_out and own_test is not None:
            arrays = own_test._own_pair(found.preparation).arrays
            return arrays["x"], arrays["y"]
        inputs, labels = found.arrays["x"], found.arrays["y"]
        check_counts({"x": len(inputs), "y": len(labels)})
        count = min(len(labels), self.samples or MOST_SAMPLES)
        if held_out:
            tested = self.shares is not None and self.shares.test > 0
            rows = self.shares.indices(count).test if self.shares is not None and tested else np.arange(count)
        else:
            rows = self._training_rows(count)
            rows = rows if self.shuffle is None else rows[permutation(len(rows), self.shuffle)]
        return inputs[rows], labels[rows]

    def _training_rows(self, count: int) -> NDArray[np.int64]:
        """Return the positions of the training part among so many samples, in their order."""
        return np.arange(count) if self.shares is None else self.shares.indices(count).training

    def _own_pair(self, stored: Preparation | None = None) -> Gathered:
        if isinstance(self.source, tuple) and len(self.source) == 2 and self.missing in (None, ERROR):
            inputs, labels = map(np.asarray, self.source)
            return Gathered(arrays={"x": inputs, "y": labels}, preparation=Preparation(), origin=Origin())
        texts = isinstance(self.source, Mapping) and np.asarray(self.source.get("y", 0.0)).dtype.kind in "OUS"
        data = self.changed(classes=("y",)) if texts else self
        found = data.arrays(Tensors(inputs={}, labels={"y": ()}), stored=stored, fits=stored is None)
        if found.arrays.keys() != {"x", "y"}:
            raise TablaValueError(
                f"an estimator takes an input 'x' and a label 'y', and the data has {', '.join(found.arrays)}",
                hint="name them, as in tabla.Data(..., columns={'x': '*', 'y': 'species'})",
            )
        return found

    @property
    def fingerprint(self) -> str:
        """A text that is the same for data with the same options and the same arrays. What files hold is not in it."""
        options = {each.name: getattr(self, each.name) for each in fields(DataOptions)}
        return repr([_fingerprint(each) for each in (*sorted(options.items()), self.source)])

    def summary(self) -> Summary:
        """Return what the data holds: its columns or arrays, their numbers or classes, and the size of each part."""
        own_test = self._test_data()
        tested = None if own_test is None else own_test.summary().samples
        if self.table is not None:
            return table_summary(self.table, self, tested)
        if self.columns is not None:
            raise TablaError("only a table has columns", hint="leave columns out, or give a data frame or a .csv file")
        if self.path is not None:
            return arrays_summary(str(self.path), self.file, self, tested)
        given: Any = self.source
        if isinstance(given, tuple):
            given = _pair(given, Tensors(inputs={"X": ()}, labels={"y": ()}), "data")
        checked_mapping("data", given, EXAMPLE)
        found = {name: _array(array, f"'{name}'") for name, array in given.items()}
        return arrays_summary("arrays", found, self, tested)

    def _repr_html_(self) -> str:
        """Return the summary as HTML, which a notebook shows."""
        return self.summary().html()

    def arrays(
        self,
        tensors: Tensors,
        what: str = "data",
        stored: Preparation | None = None,
        *,
        fits: bool = True,
        whole: bool = False,
    ) -> Gathered:
        """Return the arrays by the names of a program, before they are standardised.

        `what` names the parameter in errors, and `stored` is the preparation beside the models that the data is for.
        With `fits`, the categories of texts and the means for missing values are fitted to the training part if they
        are not stored. Samples that are `whole` keep their gaps where others are left out, and need no labels.
        """
        stored = stored or Preparation()
        texts = {*self.classes, *stored.classes}
        gathering = Gathering(
            inputs=tensors.inputs,
            labels=tensors.labels,
            texts=texts,
            stored=stored,
            missing=self.missing or stored.missing or ERROR,
            unknown=self.unknown or "zeros",
            categories={column: tuple(known) for column, known in self.categories.items()},
            samples=self.samples or MOST_SAMPLES,
            training_rows=self._training_rows,
            fits=fits,
            whole=whole,
            integers=tensors.integers,
        )
        if self.table is not None:
            table = self._as_learnt(self.table, stored)
            gathered = gathering.of_table(table, table.resolved(self._named_columns(table, stored, tensors.labels)))
        else:
            gathered = gathering.of_arrays(*self._plain_arrays(tensors, what, texts, gathering.missing))
        found = gathered.arrays
        for name, array in found.items():
            shape = tensors.labels.get(name)
            if shape == () and array.ndim == 2 and array.shape[1] == 1:
                found[name] = array[:, 0]  # a data frame of one column is such an array
            elif shape and name in texts and array.ndim > 1:
                found[name] = real_array(array, f"'{name}'")  # the labels are numbers already
        return gathered

    def _plain_arrays(self, tensors: Tensors, what: str, texts: set[str], missing: str) -> tuple[Named, Origin]:
        """Return the arrays of a file or of Python, which are no table, and where they are."""
        if self.categories:
            hint = "give a data frame or a .csv file, or leave --categories out"
            raise TablaError("only the columns of a table have categories", hint=hint)
        if self.path is None:
            return self._given_arrays(tensors, what, texts, gaps=missing != ERROR), Origin()
        if self.columns is not None:
            hint = "leave --columns out, or give a .csv file"
            raise TablaError(f"'{self.source}' is no table, so it has no columns", hint=hint)
        return npz_arrays(self.file, self.path, texts, gaps=missing != ERROR), Origin(name=f"'{self.source}'")

    def _as_learnt(self, table: Table, stored: Preparation) -> Table:
        """Return a table, or if it has no header, and the models were learnt from one without, the table without it."""
        names = {column for columns in stored.columns.values() for column in columns}
        if table.headless and names and self.path is not None and all(re.fullmatch(r"c\d+", name) for name in names):
            return read_table(self.path, header=False)
        return table

    def _named_columns(self, table: Table, stored: Preparation, labels: Collection[str]) -> Columns:
        if self.columns is not None:
            return {name: tuple(each) for name, each in self.columns.items()}
        for name, columns in stored.columns.items():
            missing = [column for column in columns if column not in table.header]
            if missing and len(missing) < len(columns) and name not in labels:
                raise table.no_column(missing[0], f", from which '{name}' was learnt")
        return {name: each for name, each in stored.columns.items() if set(each) <= set(table.header)}

    def _given_arrays(self, tensors: Tensors, what: str, texts: set[str], *, gaps: bool) -> Named:
        given: Any = self.source
        if isinstance(given, tuple):
            given = _pair(given, tensors, what)
        checked_mapping(what, given, EXAMPLE)
        if self.columns is not None:
            hint = "leave columns out, or give a data frame or a .csv file"
            raise TablaError(f"{what}: arrays have no columns", hint=hint)
        return {
            name: np.asarray(array)
            if name in texts or name.endswith(NOTES) or name.startswith(RESERVED)
            else real_array(array, f"'{name}'", gaps=gaps)
            for name, array in given.items()
        }

    def prepared(
        self, tensors: Tensors, stored: Preparation, stack: Stack, *, needs_test: bool = True, fits: bool = True
    ) -> Prepared:
        """Divide the samples, and prepare all parts as the training part alone says, or as is `stored` beside models.

        Without `needs_test`, the split may take a validation part alone. `fits` is that of `arrays`. Data that does not
        fit the tensors of a program is a `TablaError`.
        """
        self._check_names(tensors)
        split = self.shares
        gathered = self.arrays(tensors, "data", stored, fits=fits)
        raw = gathered.arrays
        refuse_strangers(raw, tensors.shapes, "the data")
        preparation = self.fitted(tensors, raw, gathered.preparation)
        _hint_at_classes(raw, tensors.labels, preparation)
        samples = stacked_samples(gathered, preparation, tensors.shapes, stack, self.samples)
        tested, test_treated = self._test_part(tensors, preparation, stack)
        parts = divided(samples, split, tested, needs_test=needs_test)
        if self.shuffle is not None:
            parts = replace(parts, training=shuffled(parts.training, self.shuffle))
        treated = gathered.treated + test_treated
        return Prepared(parts=parts, preparation=preparation, names=frozenset(raw), treated=treated)

    def fitted(self, tensors: Tensors, raw: Raw, stored: Preparation) -> Preparation:
        """Return the preparation of arrays: what is `stored` beside models, and the rest fitted to the training part.

        Arrays without a sample, and classes that do not fit their label, are a `TablaError`.
        """
        standardised = self._standardised(tensors)
        if not self.classes and not standardised:
            return stored
        count = min(_count(raw, tensors, self.classes), self.samples or MOST_SAMPLES)
        if not count:
            raise TablaError("the data holds no sample", hint="give one row or more")
        return fitted(
            stored, raw, self._training_rows(count), tensors.shapes, classes=self.classes, standardise=standardised
        )

    def _standardised(self, tensors: Tensors) -> tuple[str, ...]:
        inputs = [name for name in tensors.inputs if name not in tensors.integers] if self.standardise else ()
        return (*inputs, *(tensors.labels if self.standardise_labels else ()))

    def _check_names(self, tensors: Tensors) -> None:
        """Raise `TablaError` for a name among the columns or the classes that the program does not have."""
        for name in self.columns or {}:
            if name not in tensors.shapes:
                known = ", ".join([*tensors.inputs, *tensors.labels])
                raise TablaValueError(f"--columns: the program has no input or label '{name}'", hint=f"it has {known}")
        for name in self.classes:
            if name not in tensors.labels:
                known = ", ".join(tensors.labels) or "none"
                raise TablaValueError(f"--classes: the program has no label '{name}'", hint=f"its labels are {known}")

    def _test_data(self) -> Data | None:
        """Return the test part of its own as data, read as the rest is, if there is one."""
        if self.test is None or isinstance(self.test, Data):
            return self.test
        named = ("columns", "classes", "categories", "missing", "unknown", "no_header")
        return Data(self.test, **{name: getattr(self, name) for name in named})

    def _test_part(self, tensors: Tensors, preparation: Preparation, stack: Stack) -> tuple[Samples | None, Treated]:
        """Return the samples of a test part of its own, and what was done to its cells. Data that does not fit the
        program is a `TablaError`.
        """
        own = self._test_data()
        if own is None:
            return None, Treated()
        gathered = own.arrays(tensors, "test", preparation, fits=False)
        refuse_strangers(gathered.arrays, tensors.shapes, "the test data")
        try:
            return stacked_samples(gathered, preparation, tensors.shapes, stack, None), gathered.treated
        except TablaError as fault:
            raise TablaError(f"--test: {fault.message}", hint=fault.hint) from None


def stacked_samples(
    gathered: Gathered, preparation: Preparation, shapes: Shapes, stack: Stack, first: int | None
) -> Samples:
    """Return at most the `first` samples of arrays as the program takes them, which know where they come from."""
    raw = gathered.arrays
    samples = stack(preparation.apply(raw, shapes, gathered.origin.place), first)
    scaled = preparation.means.keys() & raw.keys() & shapes.keys()
    before = {name: raw[name] for name in scaled if raw[name].ndim == len(shapes[name]) + 1}
    return replace(samples, origin=replace(gathered.origin, before=before))


def _fingerprint(value: Any) -> str:
    match value:
        case str() | Path():
            return "a file"
        case (str() as name, given):
            return str(name) + (_fingerprint(given) if name == "test" else repr(given))
        case tuple():
            return " ".join(map(_fingerprint, value))
        case Mapping():
            return " ".join(f"{name} {_fingerprint(array)}" for name, array in sorted(value.items()))
        case Frame():
            return " ".join(f"{name} {_fingerprint(value[name])}" for name in value.columns)
        case None:
            return ""
    array = np.asarray(value)
    content = repr(array.tolist()).encode() if array.dtype.kind == "O" else np.ascontiguousarray(array).tobytes()
    return f"{array.dtype} {array.shape} {hashlib.sha256(content).hexdigest()}"


def _array(values: Any, what: str) -> NDArray[Any]:
    """Return an array of any type. Rows of different lengths are a `TablaError`."""
    try:
        return np.asarray(values)
    except ValueError:
        return real_array(values, what)


def _pair(pair: tuple[ArrayLike, ...], tensors: Tensors, what: str) -> dict[str, ArrayLike]:
    if len(pair) != 2:
        raise TablaValueError(f"{what}: a tuple of {len(pair)} arrays is not (inputs, labels)", hint="write (X, y)")
    if len(tensors.inputs) != 1 or len(tensors.labels) != 1:
        names = ", ".join([*tensors.inputs, *tensors.labels])
        raise TablaValueError(
            f"{what}: (X, y) is for programs with one input and one label", hint=f"give arrays by name: {names}"
        )
    return {**dict.fromkeys(tensors.inputs, pair[0]), **dict.fromkeys(tensors.labels, pair[1])}


def _count(raw: Raw, tensors: Tensors, classes: Collection[str]) -> int:
    """Return the number of samples in arrays. Arrays that disagree are a `TablaError`."""
    counts = {
        name: len(array)
        for name, array in raw.items()
        if name in tensors.shapes
        and (array.ndim == len(tensors.shapes[name]) + 1 or (name in classes and array.ndim == 1))
    }
    check_counts(counts)
    return min(counts.values(), default=1)


def _hint_at_classes(raw: Raw, labels: Shapes, preparation: Preparation) -> None:
    """Raise `TablaError` for numbers of classes where the program takes rows with a single 1, and name the cure."""
    for name, shape in labels.items():
        if name in raw and name not in preparation.classes and len(shape) == 1 and raw[name].ndim == 1:
            whole = np.array_equal(raw[name], np.round(raw[name]))
            if whole and len(raw[name]) != shape[0]:
                raise TablaError(
                    f"'{name}' has shape {raw[name].shape} in the data, but the program declares '{name}[{shape[0]}]'",
                    hint=f"if its numbers are classes, add --classes {name}",
                )
