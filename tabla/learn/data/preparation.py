"""What is done to data before a program takes it: standardising, and numbers for the names of classes.

Both are fitted to the training part alone, kept beside the models, and used again whenever data meets these models.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals, refuse_strangers, unreserved
from tabla.base.source import TablaError
from tabla.graph.prediction import Prediction
from tabla.learn.data.categories import spans
from tabla.learn.data.classes import class_name, sorted_names
from tabla.learn.data.source import ArraySource, reals

Raw = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]
_OTHER = "use the file that tabla train -o wrote for this program"
_LEARN = "learn from samples of that class, too (another --split-seed may do)"
_KINDS = ("mean", "deviation", "classes", "columns", "categories", "fill", "dropping")
"""The ends of the names of what lies beside models."""
_TRUTH = {"False": "0", "True": "1"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preparation:
    """The preparation of the data of some models, by the names of inputs and labels.

    An array with a mean and a deviation becomes ``(array - mean) / deviation``, element by element. `classes` are the
    names of the classes of a label, in order. `columns` are the columns of a table that a tensor takes. `finished` are
    the labels whose classes come from a finished model, and from no training part. `categories` are those of an input
    by its columns, in their order; a column of numbers has none. What `fills` the missing elements of an input are the
    means of the training part, and ones for the most frequent categories. `dropping` are the inputs whose samples are
    left out if an element is missing.
    """

    means: Mapping[str, Reals] = field(default_factory=dict)
    deviations: Mapping[str, Reals] = field(default_factory=dict)
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    finished: frozenset[str] = frozenset()
    categories: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    fills: Mapping[str, Reals] = field(default_factory=dict)
    dropping: frozenset[str] = frozenset()

    @property
    def missing(self) -> str | None:
        """What was done about missing values, as the option says it; None if there could be none."""
        return "mean" if self.fills else "drop" if self.dropping else None

    def stored(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that are kept beside the models. No tensor of a program has a dot in its name."""
        found: dict[str, NDArray[Any]] = {}
        for kind, arrays in (("mean", self.means), ("deviation", self.deviations), ("fill", self.fills)):
            found |= {f"{name}.{kind}": array for name, array in arrays.items()}
        for name, columns in self.categories.items():
            pairs = [(column, each) for column, known in columns.items() for each in known or ("",)]
            found[f"{name}.categories"] = np.array(pairs, dtype=str)
        found |= {f"{name}.dropping": np.array(1.0) for name in sorted(self.dropping)}
        for kind, texts in (("classes", self.classes), ("columns", self.columns)):
            found |= {f"{name}.{kind}": np.array(names, dtype=str) for name, names in texts.items()}
        return found

    def before(self, other: Preparation) -> Preparation:
        """Return this preparation, with that of `other` for the names that it does not have."""
        return Preparation(
            means={**other.means, **self.means},
            deviations={**other.deviations, **self.deviations},
            classes={**other.classes, **self.classes},
            columns={**other.columns, **self.columns},
            finished=self.finished | (other.finished - self.classes.keys()),
            categories={**other.categories, **self.categories},
            fills={**other.fills, **self.fills},
            dropping=self.dropping | other.dropping,
        )

    def apply(self, arrays: Raw, shapes: Shapes, place_of: Callable[[int], str]) -> dict[str, NDArray[Any]]:
        """Return arrays as the program takes them. `place_of` says how errors call a sample.

        `shapes` are the shapes that the program declares. Labels that have numbers for their classes already stay as
        they are. Where the classes are 0 and 1, False and True stand for them. A class that is none of `classes` is a
        `TablaError`.
        """
        self._check(shapes)
        found = dict(arrays)
        for name in self.means.keys() & arrays.keys() & shapes.keys():
            shape = shapes[name]
            if arrays[name].shape[arrays[name].ndim - len(shape) :] == shape:  # any other shape is refused later
                found[name] = (arrays[name] - self.means[name]) / self.deviations[name]
        for name in self.classes.keys() & arrays.keys() & shapes.keys():
            if _names_classes(arrays[name], shapes[name]):
                found[name] = self._numbers(name, arrays[name], shapes[name], place_of)
        return found

    def _check(self, shapes: Shapes) -> None:
        """Raise `TablaError` if what lies beside models is for tensors of other shapes."""
        for kind, arrays in (("mean", self.means), ("deviation", self.deviations), ("fill", self.fills)):
            for name in sorted(arrays.keys() & shapes.keys()):
                if arrays[name].shape != shapes[name]:
                    raise TablaError(
                        f"'{name}.{kind}' beside the models has shape {arrays[name].shape}, but the program declares"
                        f" '{_declared(name, shapes[name])}'",
                        hint=_OTHER,
                    )
        for name in sorted(self.deviations):
            if not (self.deviations[name] > 0).all():
                raise TablaError(f"'{name}.deviation' beside the models is not above 0", hint=_OTHER)
        for name in sorted(self.classes.keys() & shapes.keys()):
            if len(self.classes[name]) != _room(shapes[name]):
                raise TablaError(
                    f"there are {len(self.classes[name])} classes of '{name}' beside the models, but the program"
                    f" declares '{_declared(name, shapes[name])}'",
                    hint=_OTHER,
                )

    def check_prediction(self, prediction: Prediction) -> None:
        """Raise `TablaError` if labels become 0 and 1, and the program multiplies its prediction by -1 and 1."""
        if prediction.margin and prediction.label in self.classes:
            raise TablaError(
                f"the program multiplies '{prediction.name}' by labels of -1 and 1, and --classes makes them 0 and 1",
                hint=f"leave --classes out, and write -1 and 1 for '{prediction.label}' into the data",
            )

    def _numbers(self, name: str, array: NDArray[Any], shape: tuple[int, ...], place_of: Callable[[int], str]) -> Reals:
        places = {known: number for number, known in enumerate(self.classes[name])}
        # A model that learnt from truth values has the classes 0 and 1.
        truth = _TRUTH if places.keys() == {"0", "1"} else {}
        numbers = np.empty(array.size, dtype=np.int64)
        for sample, value in enumerate(array.reshape(-1)):
            found = class_name(value)
            found = truth.get(found, found)
            if found not in places:
                finished = name in self.finished
                cure = "leave that sample out" if finished else _LEARN
                raise TablaError(
                    f"{place_of(sample)} has the class '{found}', which the {'model' if finished else 'training part'}"
                    " does not have",
                    hint=f"the classes of '{name}' are {', '.join(places)}; correct the label, or {cure}",
                )
            numbers[sample] = places[found]
        encoded = np.eye(len(places))[numbers] if shape else numbers.astype(np.float64)
        return np.asarray(encoded.reshape(*array.shape, *shape), dtype=np.float64)


def separated(arrays: Raw) -> tuple[dict[str, NDArray[Any]], Preparation]:
    """Divide the arrays of a file of models into the models and the preparation of their data.

    Arrays with reserved names are left out (:mod:`tabla.learn.data.recipe`).

    A mean without a deviation, or the other way about, is a `TablaError`.
    """
    kinds: dict[str, dict[str, NDArray[Any]]] = {kind: {} for kind in _KINDS}
    plain: dict[str, NDArray[Any]] = {}
    for key, array in unreserved(arrays).items():
        name, _, kind = key.rpartition(".")
        if name and kind in kinds:
            kinds[kind][name] = array
        else:
            plain[key] = array
    for name in sorted(kinds["mean"].keys() ^ kinds["deviation"].keys()):
        lacks = "mean" if name in kinds["deviation"] else "deviation"
        raise TablaError(f"'{name}.{lacks}' is missing beside the models", hint=_OTHER)
    return plain, Preparation(
        means=kinds["mean"],
        deviations=kinds["deviation"],
        classes={name: tuple(map(str, array.reshape(-1))) for name, array in kinds["classes"].items()},
        columns={name: tuple(map(str, array.reshape(-1))) for name, array in kinds["columns"].items()},
        categories={name: _categories(name, array) for name, array in kinds["categories"].items()},
        fills=kinds["fill"],
        dropping=frozenset(kinds["dropping"]),
    )


def _categories(name: str, pairs: NDArray[Any]) -> dict[str, tuple[str, ...]]:
    """Return the categories of an input, by column, from the pairs of a column and a category beside the models."""
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise TablaError(f"'{name}.categories' beside the models are no pairs of a column and a category", hint=_OTHER)
    found: dict[str, tuple[str, ...]] = {}
    for column, category in pairs.tolist():
        found[str(column)] = (*found.get(str(column), ()), *([str(category)] if category else []))
    return found


def given_models(
    weights: ArraySource | None, merge: Callable[[Raw], dict[str, NDArray[Any]]], shapes: Shapes
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


def fitted(
    given: Preparation,
    arrays: Raw,
    rows: NDArray[np.int64],
    shapes: Shapes,
    *,
    classes: Collection[str],
    standardise: Collection[str],
) -> Preparation:
    """Return a preparation that is fitted to the samples `rows` of `arrays`, which are the training part.

    What is `given` already, beside models to start from, stays. The labels `classes` get numbers for their classes in
    sorted order, and the tensors `standardise` a mean of 0 and a standard deviation of 1; an element that is the same
    in all samples is only moved to 0, and one that stands for a category stays 0 or 1. Classes that do not fit the
    label are a `TablaError`.
    """
    means, deviations = dict(given.means), dict(given.deviations)
    for name in standardise:
        if name in arrays and name not in means and arrays[name].ndim == len(shapes[name]) + 1:
            # The deviation of equal numbers is not exactly 0 if their mean is rounded.
            same = np.ptp(arrays[name][rows], axis=0) == 0
            kept = _kept(given, name, shapes[name])
            means[name] = np.where(kept, 0.0, arrays[name][rows].mean(axis=0))
            deviations[name] = np.where(same | kept, 1.0, arrays[name][rows].std(axis=0))
    named = dict(given.classes)
    for name in classes:
        if name in arrays and name not in named and _names_classes(arrays[name], shapes[name]):
            each = arrays[name].reshape(-1)
            if len(rows) and rows.max() >= len(each):
                hint = "give each sample its class"
                raise TablaError(f"'{name}' names {len(each)} classes, but there are more samples", hint=hint)
            named[name] = _sorted_classes(name, each[rows], shapes[name])
    return replace(given, means=means, deviations=deviations, classes=named)


def _kept(given: Preparation, name: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which elements of a tensor are not standardised: those that stand for a category."""
    marks, categories = np.zeros(shape, np.bool_), given.categories.get(name, {})
    for column, span in spans(categories):
        marks.reshape(-1)[span] = bool(categories[column])
    return marks


def _names_classes(array: NDArray[Any], shape: tuple[int, ...]) -> bool:
    """Return whether an array has one class for each sample, and no numbers in the shape of the label."""
    return array.ndim <= 1 if shape else True


def _room(shape: tuple[int, ...]) -> int:
    """Return how many classes a label has room for: two in a scalar, one in each element of a vector, else none."""
    return 2 if not shape else shape[0] if len(shape) == 1 else 0


def _declared(name: str, shape: tuple[int, ...]) -> str:
    return name + "".join(f"[{size}]" for size in shape)


def _sorted_classes(name: str, values: NDArray[Any], shape: tuple[int, ...]) -> tuple[str, ...]:
    names = sorted_names({class_name(value) for value in values})
    room, declared = _room(shape), _declared(name, shape)
    if len(names) != room:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise TablaError(
            f"the training part has {len(names)} {'class' if len(names) == 1 else 'classes'} of '{name}' ({shown}),"
            f" but the program declares '{declared}'",
            hint=f"declare '{name}[{len(names)}]'"
            + (", or give samples of every class (another --split-seed may do)" if len(names) < room else "")
            if len(names) > 1
            else "give samples of every class; another --split-seed may do",
        )
    return names
