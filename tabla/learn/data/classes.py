"""Classes: what labels say that are classes, and how often each was taken for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals
from tabla.base.source import TablaError

Confusion = tuple[tuple[int, ...], ...]
MOST_CLASSES = 100
"""A confusion matrix is made for at most so many classes; a larger one could not be read."""
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")


def class_name(value: object) -> str:
    """Return the name of a class: a whole number without a fraction or zeros in front, and any text as it is.

    A missing value, as pandas has it, is a `TablaError`.
    """
    empty = value is None or type(value).__name__ == "NAType"
    missing = empty or (isinstance(value, (float, np.floating)) and value != value)
    text = "" if missing else str(value).strip()
    if not text:
        raise TablaError("a label is missing: it names no class", hint="remove the sample, or write its class")
    return str(int(text.partition(".")[0])) if _WHOLE.fullmatch(text) else text


def sorted_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in order: by their numbers if all of them are whole numbers, and else as texts."""
    found = tuple(names)
    numbers = all(_WHOLE.fullmatch(text) for text in found)
    return tuple(sorted(found, key=lambda text: (int(text), "") if numbers else (0, text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The classes of labels.

    Without a `threshold`, each label is a row with a single 1, and the place of its largest element is the class. With
    a `threshold` there are the two classes `low` and 1: an element of at least the threshold means 1. `count` is the
    number of classes, and `given` are the names that the user has for them, if any.
    """

    count: int
    low: float = 0.0
    threshold: float | None = None
    given: tuple[str, ...] | None = None

    @staticmethod
    def of(labels: Reals, *, margin: bool = False) -> Classes | None:
        """Return the classes of labels, which have a leading axis of samples; None if the labels are no classes.

        With a `margin`, labels that are all 1 are of the classes -1 and 1, and otherwise of 0 and 1.

        Rows with a single 1, and 0 or -1 elsewhere, name one of several classes. Other labels of 0 and 1, or of -1 and
        1, name one of two.
        """
        values = set(np.unique(labels).tolist())
        if not (values <= {0.0, 1.0} or values <= {-1.0, 1.0}):
            return None
        rows = labels.reshape(len(labels), -1)
        if rows.shape[1] > 1 and ((rows == 1).sum(axis=1) == 1).all():
            return Classes(count=rows.shape[1])
        zero = values <= {0.0, 1.0} and not (margin and values <= {-1.0, 1.0})
        return Classes(count=2, low=0.0 if zero else -1.0, threshold=0.5 if zero else 0.0)

    def numbers(self, values: Reals) -> NDArray[np.int64]:
        """Return the numbers of the classes, from 0, that predictions or labels mean.

        There is one for each row, or with a threshold one for each element.
        """
        if self.threshold is None:
            return np.asarray(values.reshape(len(values), -1).argmax(axis=1), np.int64)
        return np.asarray(values >= self.threshold, np.int64).reshape(-1)

    def names(self) -> tuple[str, ...]:
        """Return the names of the classes: the user's, else the numbers from 0, or the two values of the labels."""
        if self.given is not None:
            return self.given
        return tuple(map(str, range(self.count))) if self.threshold is None else (f"{self.low:g}", "1")

    def confusion(self, predicted: Reals, labels: Reals) -> Confusion:
        """Return how often each class, which selects the row, was taken for each, which selects the column."""
        pairs = self.numbers(labels) * self.count + self.numbers(predicted)
        table = np.bincount(pairs, minlength=self.count**2).reshape(self.count, self.count)
        return tuple(tuple(row) for row in table.tolist())

    def check(self, labels: Reals, part: str, place_of: Callable[[int], str]) -> None:
        """Raise `TablaError` at the first label of a part of the data that is none of the classes.

        `place_of` says how a sample is called.
        """
        rows = labels.reshape(len(labels), -1)
        if self.threshold is None:
            known = ((rows == 1).sum(axis=1) == 1) & np.isin(rows, (-1.0, 0.0, 1.0)).all(axis=1)
            cure = "give rows with a single 1, as the training part has"
        else:
            known = np.isin(rows, (self.low, 1.0)).all(axis=1)
            cure = f"give labels of {self.low:g} and 1, as the training part has"
        if not known.all():
            first = int(np.flatnonzero(~known)[0])
            raise TablaError(
                f"the label of {place_of(first)}, in the {part} part, is no class of the training part",
                hint=f"{cure}, or use --metric mse",
            )


def confusion_lines(table: Confusion, names: tuple[str, ...], width: int | None = None) -> list[str]:
    """Return a confusion matrix as text, with the names of the classes beside its rows and above its columns.

    Where that is wider than `width` columns, numbers stand above the columns, and beside the names.
    """
    counts = [len(str(count)) for row in table for count in row]
    heads, each = names, max(5, *counts, *map(len, names)) + 1
    if width is not None and 2 + max(map(len, names)) + each * len(names) > width:
        heads = tuple(str(number) for number in range(1, len(names) + 1))
        names = tuple(f"{name} {head}" for name, head in zip(names, heads, strict=True))
        each = max(*counts, *map(len, heads)) + 2
    margin = max(map(len, names))
    lines = [f"  {'':<{margin}}" + "".join(f"{head:>{each}}" for head in heads)]
    for name, row in zip(names, table, strict=True):
        lines.append(f"  {name:>{margin}}" + "".join(f"{count:>{each}}" for count in row))
    return lines
