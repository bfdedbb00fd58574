"""Spots and places: where the words of a tensor lie in the array.

A tensor may lie at several spots, of three kinds:

* `root`: the tensor lies row-major in a memory of the root.
* `lane`: one axis is spread over lanes. Its element e lies in lane ``e mod P``, row ``e div P``. Each lane holds, for
  its rows, all elements of the other axes. In an array with several sequencers an axis may be spread over the lanes of
  some of them; P is then the number of these lanes, and the first of them counts as lane 0.
* `every`: each lane holds the whole tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["root", "lane", "every"]
Bank = Literal["data", "memory", "model", "interim"]
"""A memory: `data`, `model` or `interim` of the lanes, `data` or `memory` of the root."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The lanes [first, first + lanes), which belong to whole, adjacent sequencers; 0 lanes stand for all lanes."""

    first: int = 0
    lanes: int = 0

    def __str__(self) -> str:
        return f" of lanes {self.first} to {self.first + self.lanes - 1}" if self.lanes else ""


ALL = Span()


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """Where a tensor may lie, without an address.

    `axis` and `span` are those of a `lane` spot: the spread axis, and the lanes. For other kinds the axis is -1.
    """

    kind: Kind
    axis: int = -1
    span: Span = ALL

    def __str__(self) -> str:
        return f"lane[{self.axis}]{self.span}" if self.kind == "lane" else self.kind


ROOT = Spot("root")
EVERY = Spot("every")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A tensor at a spot, with its addresses.

    `banks` are the memories that hold the tensor; it begins at address `base` in each of them. `shape` is the shape of
    the tensor, and `pes` is the number of lanes of the spot. With `guard` bits it is the home of a wide model.
    """

    tensor: str
    spot: Spot
    shape: tuple[int, ...]
    pes: int
    banks: tuple[Bank, ...]
    base: int = 0
    guard: int = 0

    @property
    def rows(self) -> int:
        """The number of rows of the spread axis in one lane; 1 for other kinds of spots."""
        return -(-self.shape[self.spot.axis] // self.pes) if self.spot.kind == "lane" else 1

    @property
    def strides(self) -> tuple[int, ...]:
        """The address stride of each axis; along the spread axis it is the stride from row to row."""
        spread = self.spot.axis if self.spot.kind == "lane" else -1
        extents = [self.rows if d == spread else n for d, n in enumerate(self.shape)]
        strides, total = [0] * len(extents), 1
        # The spread axis is innermost, so that the rows of one vector have adjacent addresses.
        order = sorted(range(len(extents)), key=lambda d: (d == spread, d))
        for d in reversed(order):
            strides[d] = total
            total *= extents[d]
        return tuple(strides)

    @property
    def words(self) -> int:
        """The number of words that the place takes in each of its memories."""
        total = 1
        for d, n in enumerate(self.shape):
            total *= self.rows if self.spot.kind == "lane" and d == self.spot.axis else n
        return total
