"""What is explored: the points of a space, and the tasks that give their figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tabla.base.source import TablaError
from tabla.templates.template import limits

MOST_POINTS = 2000
"""The most points of a space. Each of them takes about a second of a processor."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Point:
    """An array with `pes` PEs, in the number format `format`, with `guard` guard bits and steps of `minibatch` samples.

    `guard` is -1 where the user asks for no number.
    """

    pes: int
    format: str
    guard: int = -1
    minibatch: int = 1

    @property
    def name(self) -> str:
        """The point in a few words, for messages."""
        guard = f", {self.guard} guard bits" if self.guard > 0 else ""
        step = f", minibatch {self.minibatch}" if self.minibatch > 1 else ""
        return f"{self.pes} PEs, {self.format}{guard}{step}"

    @property
    def words(self) -> Point:
        """The point that stands for all points with the same words, because the array does not change them."""
        return Point(pes=0, format=self.format, guard=self.guard, minibatch=self.minibatch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All combinations of numbers of PEs, of number formats with their guard bits, and of minibatches."""

    pes: tuple[int, ...]
    formats: tuple[tuple[str, int], ...]
    minibatches: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        if len(self) > MOST_POINTS:
            raise TablaError(
                f"this is an exploration of {len(self):,} points, and {MOST_POINTS:,} are the most",
                hint="name fewer numbers of PEs, formats or minibatches",
            )
        if max(self.pes) > limits().pes:
            raise TablaError(f"pes: {max(self.pes):,} PEs are not supported", hint=f"ask for 1 to {limits().pes}")

    def __len__(self) -> int:
        return len(self.pes) * len(self.formats) * len(self.minibatches)

    def points(self) -> Iterator[Point]:
        """Yield the points in the order of the table."""
        for (number, guard), minibatch, pes in product(self.formats, self.minibatches, self.pes):
            yield Point(pes=pes, format=number, guard=guard, minibatch=minibatch)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Task:
    """A piece of work for a worker.

    `kind` is ``build`` (cycles and estimates of a point), ``learn`` (the validation metric of all points with the same
    words) or ``synth`` (area and clock by Yosys and nextpnr on `part`, with its speed grade). `effort` is that of the
    search for a schedule. The search knows the part `made_for`, as with ``--part``, unless that is empty.
    """

    kind: str
    point: Point
    effort: int = 0
    part: str = ""
    made_for: str = ""

    @property
    def key(self) -> str:
        """The name of the task in the file of records."""
        point = self.point
        where = (f" {self.part}" if self.part else "") + (f" for {self.made_for}" if self.made_for else "")
        return f"{self.kind} {point.pes} {point.format} {point.guard} {point.minibatch} {self.effort}{where}"
