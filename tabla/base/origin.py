"""Where the samples of the user are, so that an error can name one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the user has samples: in the file or the data frame `name`, or without a name in arrays.

    A sample is called `unit`. `numbers` are those of the samples, in order; without them they count from 1.
    """

    name: str = ""
    unit: str = "sample"
    numbers: Sequence[int] | None = field(default=None, repr=False)

    def place(self, position: int) -> str:
        """Return how an error names a sample. Its `position` counts from 0."""
        number = position + 1 if self.numbers is None else self.numbers[position]
        return f"{self.unit} {number}" + (f" of {self.name}" if self.name else "")
