"""Where the samples of the user are, so that an error can name one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the user has samples: in the file or the data frame `name`, or without a name in arrays.

    A sample is called `unit`. `numbers` are those of the samples, in order; without them they count from 1. `elements`
    are the columns of the elements of an array by its name, in row-major order. `before` are the arrays that were
    standardised, as the user has them; their samples are at the same positions.
    """

    name: str = ""
    unit: str = "sample"
    numbers: Sequence[int] | None = field(default=None, repr=False)
    elements: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    before: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    def place(self, position: int) -> str:
        """Return how an error names a sample. Its `position` counts from 0."""
        number = position + 1 if self.numbers is None else self.numbers[position]
        return f"{self.unit} {number}" + (f" of {self.name}" if self.name else "")

    def element(self, name: str, position: int, element: tuple[int, ...]) -> str:
        """Return what an error adds to the place of a sample for an element of the array `name`: its column, and its
        value before it was standardised. The text is empty if neither is known.
        """
        text, before = "", self.before.get(name)
        if columns := self.elements.get(name):
            shape = before.shape[1:] if before is not None else (len(columns),)
            flat = int(np.ravel_multi_index(element, shape)) if len(element) == len(shape) and element else 0
            text = f", column '{columns[flat]}'"
        if before is not None:
            text += f" ({before[(position, *element)]:g} before it was standardised)"
        return text
