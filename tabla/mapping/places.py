"""Places: where a tensor's words lie in the array.

A tensor may have several places. `root`: row-major in a root memory. `lane`: one axis is spread over lanes,
element e of it in lane ``e mod P``, row ``e div P``; the other axes and the rows lie in each lane's memory. Arrays with
several sequencers also spread over the lanes of some of them: P is then their number, and lanes count from the first.
`every`: each lane holds all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["root", "lane", "every"]
Bank = Literal["data", "memory", "model", "interim"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Lanes [first, first + lanes), those of whole sequencers side by side; 0 lanes stand for the whole array."""

    first: int = 0
    lanes: int = 0

    def __str__(self) -> str:
        return f" of lanes {self.first} to {self.first + self.lanes - 1}" if self.lanes else ""


ALL = Span()


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A kind of place without an address: the kind, and of `lane` the spread axis (-1 otherwise) and the lanes."""

    kind: Kind
    axis: int = -1
    span: Span = ALL

    def __str__(self) -> str:
        return f"lane[{self.axis}]{self.span}" if self.kind == "lane" else self.kind


ROOT = Spot("root")
EVERY = Spot("every")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A tensor at a spot: `banks` that hold it at the same address `base` (root: `data` or `memory`).

    `pes` counts the lanes of the spot's span.
    """

    tensor: str
    spot: Spot
    shape: tuple[int, ...]
    pes: int
    banks: tuple[Bank, ...]
    base: int = 0

    @property
    def rows(self) -> int:
        """Rows of the spread axis in one lane (1 for other kinds)."""
        return -(-self.shape[self.spot.axis] // self.pes) if self.spot.kind == "lane" else 1

    @property
    def strides(self) -> tuple[int, ...]:
        """Address stride of each axis; the spread axis counts rows."""
        spread = self.spot.axis if self.spot.kind == "lane" else -1
        extents = [self.rows if d == spread else n for d, n in enumerate(self.shape)]
        strides, total = [0] * len(extents), 1
        # The spread axis innermost: rows of one vector lie side by side.
        order = sorted(range(len(extents)), key=lambda d: (d == spread, d))
        for d in reversed(order):
            strides[d] = total
            total *= extents[d]
        return tuple(strides)

    @property
    def words(self) -> int:
        """Words of one memory that it takes."""
        total = 1
        for d, n in enumerate(self.shape):
            total *= self.rows if self.spot.kind == "lane" and d == self.spot.axis else n
        return total
