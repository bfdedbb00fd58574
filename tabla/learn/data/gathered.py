"""The arrays of a program, gathered from a table or from arrays: texts become categories, and gaps are dealt with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.cells import is_gap, meaning_of
from tabla.base.origin import Origin
from tabla.base.source import TablaError
from tabla.base.table import Columns, Places, Table
from tabla.learn.data.categories import (
    Categories,
    declared_fault,
    elements,
    encoded,
    fitted_categories,
    numbered,
    refuse_strange_columns,
    spans,
)
from tabla.learn.data.preparation import Preparation, Shapes
from tabla.learn.data.treated import Treated

Named = dict[str, NDArray[Any]]
ERROR, MEAN, DROP = "error", "mean", "drop"
"""What is done about missing values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """Arrays by the names of a program, before they are standardised, with a leading axis of samples.

    `preparation` is the one that was stored, with the columns, the categories and the fillings of these arrays.
    `origin` says where the samples are. `treated` counts what was done to cells. Of samples that keep their gaps,
    `gaps` says which ones have some; it is None if no sample may have any.
    """

    arrays: Named
    preparation: Preparation
    origin: Origin
    treated: Treated = field(default_factory=Treated)
    gaps: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathering:
    """How arrays are gathered for a program with inputs and labels of some shapes.

    The inputs `integers` are whole numbers. A category is the number of a row there, and not a column of 0 and 1.
    `texts` are the names that stand for classes. `missing` and `unknown` are the options of these names, and
    `categories` those that the user asks for, by column. `samples` is the number of samples that are used at most, and
    `training_rows` are the positions of the training part among a number of samples. What is not `stored` beside models
    is fitted to that part, if this `fits`. Samples that are `whole` keep their gaps, and have no labels.
    """

    inputs: Shapes
    labels: Shapes
    texts: Collection[str]
    stored: Preparation
    missing: str
    unknown: str
    categories: Categories
    samples: int
    training_rows: Callable[[int], NDArray[np.int64]]
    fits: bool
    whole: bool
    integers: frozenset[str] = frozenset()

    def of_table(self, table: Table, columns: Columns) -> Gathered:
        """Return the arrays of a table, whose `columns` were named, or else are those of the header."""
        found = table.places(columns or None, self.texts).items()
        places = {name: each for name, each in found if not (self.whole and name in self.labels)}
        taken = {column for name, each in places.items() if not self._is_label(name) for column in each.columns}
        refuse_strange_columns(self.categories, table, taken)
        mirrors = self._mirrors(places)
        labels = {name for name in places if self._is_label(name)} - mirrors.keys()
        table, left_out, rows = self._without_gaps(table, places, labels)
        used = np.arange(min(len(table), self.samples))
        training = self.training_rows(len(used)) if len(used) else used
        inputs = [name for name in places if name not in labels]
        arrays: Named = {}
        known, unknown = dict(self.stored.categories), Counter[str]()
        for name, each in places.items():
            if name in mirrors:
                continue
            if name not in labels:
                # Rows of a model have names, so those of a held-out part say nothing about the part.
                fitted_to = used if name in self.integers else training
                categories = self._categories(table, name, each, fitted_to)
                known |= {name: categories} if any(categories.values()) else {}
                arrays[name] = self._input(table, name, each, categories, unknown)
            elif name in self.texts:
                arrays[name] = table.labels(each.columns[0])
            else:
                self._refuse_no_labels(table, name, each)
                numbers = np.stack([table.numbers(column) for column in each.columns], axis=1)
                arrays[name] = numbers.reshape(len(table), *self._shape(name, each))
        for name, of in mirrors.items():
            known |= {name: known[of]} if of in known else {}
            arrays[name] = self._as_declared(name, arrays[of], known.get(of, {}))
        named = {name: tuple(table.header[column] for column in each.columns) for name, each in places.items()}
        names = {
            **named,
            **{name: elements(known[name]) for name in named if name in known and name not in self.integers},
        }
        preparation = replace(
            self.stored,
            categories=known,
            columns={**self.stored.columns, **(dict(named) if columns else {})},
        )
        origin = replace(table.samples, elements=names)
        return self._filled(
            arrays, inputs, preparation, origin, training, Treated(rows=rows, left_out=left_out, unknown=unknown)
        )

    def of_arrays(self, arrays: Named, origin: Origin) -> Gathered:
        """Return arrays without their gaps. Those of other names, and those of a single sample, stay as they are."""
        shapes = {**self.inputs, **self.labels}
        stacked = {
            name: array
            for name, array in arrays.items()
            if (name in self.texts and array.ndim == 1)
            or (name in shapes and array.ndim == len(shapes[name]) + 1)
            or (not self.inputs and name not in shapes and array.ndim > 0)
        }
        plain = {name: array for name, array in arrays.items() if not (self.whole and name in self.labels)}
        counts = {len(array) for name, array in stacked.items() if name in plain}
        if self.missing == ERROR or len(counts) != 1:  # arrays that disagree are refused later
            return Gathered(arrays=plain, preparation=self.stored, origin=origin)
        (rows,) = counts
        gaps = {name: _gaps(array) for name, array in stacked.items() if name in plain}
        kept = self._kept(gaps, rows, [name for name in gaps if self._is_label(name)])
        if len(kept) < rows:
            plain |= {name: plain[name][kept] for name in gaps}
            numbers = range(1, rows + 1) if origin.numbers is None else origin.numbers
            origin = replace(origin, numbers=[numbers[row] for row in kept])
        training = self.training_rows(min(len(kept), self.samples))
        names = [name for name in gaps if not self._is_label(name)]
        return self._filled(plain, names, self.stored, origin, training, Treated(rows=rows, left_out=rows - len(kept)))

    def _refuse_no_labels(self, table: Table, name: str, places: Places) -> None:
        """Raise `TablaError` for a label that is missing, or that is a text, with the options that help there."""
        for column in places.columns:
            missing = table.gaps(column)
            if missing.any():
                cure = "--missing drop leaves such rows out; or write the label"
                raise table.missing(int(missing.argmax()), column, what="the label", cure=cure)
            if table.holds_texts(column, np.arange(len(table))) and meaning_of(table.cells[column][0]) is None:
                raise TablaError(
                    f"{table.place(0, column)}: '{table.cells[column][0]}' is not a number",
                    hint=f"if the column names classes, add --classes {name}; otherwise write numbers",
                )

    def _is_label(self, name: str) -> bool:
        return name in self.labels or name in self.texts

    def _without_gaps(
        self, table: Table, places: Mapping[str, Places], labels: Collection[str]
    ) -> tuple[Table, int, int]:
        """Return a table without the rows that are left out, how many these are, and how many there were."""
        if self.missing == ERROR:
            return table, 0, len(table)
        gaps = {
            name: np.any([self._gaps(table, name, column) for column in each.columns], axis=0)
            for name, each in places.items()
        }
        kept = self._kept(gaps, len(table), labels)
        left_out = len(table) - len(kept)
        return table.taken(kept) if left_out else table, left_out, len(table)

    def _kept(self, gaps: Mapping[str, NDArray[np.bool_]], rows: int, labels: Collection[str]) -> NDArray[np.int64]:
        """Return the positions of the samples that are kept: a sample without its label cannot be learnt from."""
        if self.whole:
            return np.arange(rows)
        left_out = np.zeros(rows, np.bool_)
        for name in labels:
            if rows and name in gaps and gaps[name].all():
                raise TablaError(f"every value of the label '{name}' is missing", hint="write the labels to learn from")
        for name, missing in gaps.items():
            if self.missing == DROP or name in labels:
                left_out |= missing
        if rows and left_out.all():
            raise TablaError("every row of the data has a missing value", hint="--missing mean fills those of inputs")
        return np.flatnonzero(~left_out)

    def _gaps(self, table: Table, name: str, column: int) -> NDArray[np.bool_]:
        """Return which cells of a column are missing. A text that the user names as a category is none of them."""
        header = table.header[column]
        known = {*self.categories.get(header, ()), *self.stored.categories.get(name, {}).get(header, ())}
        missing = table.gaps(column)
        return missing & ~np.array([str(cell) in known for cell in table.cells[column]], np.bool_) if known else missing

    def _categories(self, table: Table, name: str, places: Places, rows: NDArray[np.int64]) -> Categories:
        """Return the categories of the columns of an input: those beside models, or those of some rows."""
        if (stored := self.stored.categories.get(name)) is not None:
            return stored
        headers = [table.header[column] for column in places.columns]
        if not self.fits or name in self.stored.columns or name in self.stored.means:
            return dict.fromkeys(headers, ())
        found: dict[str, tuple[str, ...]] = {}
        for header, column in zip(headers, places.columns, strict=True):
            asked = self.categories.get(header)
            if asked:
                found[header] = tuple(asked)
            elif asked is not None or table.holds_texts(column, rows):
                missing = self._gaps(table, name, column)
                meant = asked is not None or name in self.integers
                found[header] = fitted_categories(table, column, rows, missing, asked=meant)
            else:
                found[header] = ()
        return found

    def _input(
        self, table: Table, name: str, places: Places, categories: Categories, unknown: Counter[str]
    ) -> NDArray[np.float64]:
        """Return the array of an input. Unknown categories are counted by column in `unknown`."""
        keeps, parts = self.missing != ERROR, []
        for column in places.columns:
            header = table.header[column]
            if known := categories.get(header):
                missing = self._gaps(table, name, column)
                if name in self.integers:
                    parts.append(numbered(table, column, known, missing, gaps=keeps))
                    continue
                part = encoded(table, column, known, missing, gaps=keeps, unknown=self.unknown)
                unknown.update({header: part.unknown} if part.unknown else {})
                parts.append(part.values)
            else:
                parts.append(table.numbers(column, gaps=keeps)[:, None])
        flat = np.concatenate(parts, axis=1)
        if not any(categories.values()) or name in self.integers:
            return flat.reshape(len(table), *self._shape(name, places))
        return self._as_declared(name, flat, categories)

    def _as_declared(self, name: str, array: NDArray[np.float64], categories: Categories) -> NDArray[np.float64]:
        """Return an array in the shape that the program declares. One that does not fit is a `TablaError`."""
        flat = array.reshape(len(array), -1)
        declared = {**self.inputs, **self.labels}.get(name, (flat.shape[1],))
        if prod(declared) != flat.shape[1]:
            raise declared_fault(name, categories, declared)
        return flat.reshape(len(array), *declared)

    def _mirrors(self, places: Mapping[str, Places]) -> dict[str, str]:
        """Return the labels that take the columns of an input, as those of an autoencoder do, each with that input."""
        inputs = {each.columns: name for name, each in places.items() if not self._is_label(name)}
        labels = {name: each for name, each in places.items() if name in self.labels and name not in self.texts}
        return {name: inputs[each.columns] for name, each in labels.items() if each.columns in inputs}

    def _shape(self, name: str, places: Places) -> tuple[int, ...]:
        """Return the shape of columns of numbers: that of the header, or the one that the program declares."""
        if places.shape is not None:
            return places.shape
        count = len(places.columns)
        shape = {**self.inputs, **self.labels}.get(name, (count,))
        if prod(shape) != count:
            declared = name + "".join(f"[{size}]" for size in shape)
            cure = f"name {prod(shape)} columns for '{name}', or change the program"
            if count == 1:
                cure += f"; if the column names classes, add --classes {name}"
            raise TablaError(f"'{name}' takes {count} of the columns, but the program declares '{declared}'", hint=cure)
        return shape

    def _filled(
        self,
        arrays: Named,
        inputs: Iterable[str],
        preparation: Preparation,
        origin: Origin,
        training: NDArray[np.int64],
        treated: Treated,
    ) -> Gathered:
        """Return arrays whose gaps are filled, if the option says so. `inputs` are the names that may have some."""
        if self.missing == DROP:
            preparation = replace(preparation, dropping=preparation.dropping | set(inputs))
        elif self.missing == MEAN:
            fills, filled = dict(preparation.fills), Counter[str]()
            for name in inputs:
                if name not in fills:
                    fills[name] = self._fill(name, arrays[name][training], preparation, origin)
                gaps = np.isnan(arrays[name])
                filled.update(dict(_by_column(name, gaps, self._one_hot(preparation, name), origin)))
                arrays[name] = np.where(gaps, fills[name], arrays[name])
            preparation, treated = replace(preparation, fills=fills), replace(treated, filled=dict(filled))
        left: NDArray[np.bool_] | None = None
        if self.whole and self.missing == DROP and (names := [name for name in inputs if arrays[name].ndim]):
            left = np.any([_gaps(arrays[name]) for name in names], axis=0)
        return Gathered(arrays=arrays, preparation=preparation, origin=origin, treated=treated, gaps=left)

    def _fill(
        self, name: str, rows: NDArray[np.float64], preparation: Preparation, origin: Origin
    ) -> NDArray[np.float64]:
        """Return what stands for missing elements of an input: means, and the most frequent category of a column."""
        if not self.fits:
            raise TablaError(
                f"the models do not keep what stands for missing values of '{name}'",
                hint="learn them with --missing mean; or leave such rows out with --missing drop",
            )
        shape = rows.shape[1:]
        flat = rows.reshape(len(rows), -1)
        known = ~np.isnan(flat)
        if not known.any(axis=0).all():
            element = int(np.argmin(known.any(axis=0)))
            listed = origin.elements.get(name, ())
            what = f"column '{listed[element]}'" if listed else f"element {element} of '{name}'"
            raise TablaError(f"{what} has no value in the training part", hint="leave it out of the data")
        if name in self.integers:
            common = [np.unique(column[~np.isnan(column)], return_counts=True) for column in flat.T]
            return np.array([numbers[np.argmax(counts)] for numbers, counts in common]).reshape(shape)
        means = np.where(known, flat, 0).sum(axis=0) / known.sum(axis=0)
        categories = self._one_hot(preparation, name)
        for column, span in spans(categories):
            if categories[column]:
                means[span] = np.arange(span.stop - span.start) == int(np.argmax(means[span]))
        return np.asarray(means.reshape(shape))

    def _one_hot(self, preparation: Preparation, name: str) -> Categories:
        """Return the categories of an input that are columns of 0 and 1."""
        return {} if name in self.integers else preparation.categories.get(name, {})


def _gaps(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each sample whether a value of it is missing."""
    flat = array.reshape(len(array), -1) if len(array) else array.reshape(0, 1)
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(flat).any(axis=1))
    if array.dtype.kind in "biu":
        return np.zeros(len(array), np.bool_)
    return np.array([any(map(is_gap, row)) for row in flat], np.bool_)


def _by_column(name: str, gaps: NDArray[np.bool_], one_hot: Categories, origin: Origin) -> Iterator[tuple[str, int]]:
    """Yield the columns with the number of their missing cells, or the name of an input that has no columns."""
    flat = gaps.reshape(len(gaps), -1)
    if name not in origin.elements:
        if count := int(flat.sum()):
            yield name, count
        return
    # All elements of a category are missing at once.
    categories = one_hot or dict.fromkeys(origin.elements[name], ())
    for column, span in spans(categories):
        if count := int(flat[:, span.start].sum()):
            yield column, count
