"""What the reads of a statement demand of its indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tabla.base.source import Span
from tabla.languages.tc import program
from tabla.languages.tc.conditions import Path, guarded_reads
from tabla.languages.tc.program import Assign, Value
from tabla.languages.tc.scalars import INT32
from tabla.languages.tc.sizes import Size, floor, maximum, minimum, operate
from tabla.languages.tc.subscripts import Extents, Linear, Quotient, Subscript, subscript_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The integers [low, high)."""

    low: Size
    high: Size

    @property
    def extent(self) -> Size:
        """How many integers the interval has."""
        return self.high - self.low

    def hull(self, other: Interval) -> Interval:
        """Return the smallest interval around both."""
        return Interval(low=minimum(self.low, other.low), high=maximum(self.high, other.high))

    def __str__(self) -> str:
        return f"[{self.low}, {self.high})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """``low <= linear <= high``, which the subscript at `span` demands wherever the read is made.

    `path` are the conditions under which it is made. `inside` is what the subscript itself stays in.
    """

    linear: Linear
    low: Size
    high: Size
    tensor: str
    axis: int
    inside: Interval
    subscript: Value
    path: Path = ()
    span: Span = field(compare=False, repr=False)

    def over(self, solved: Mapping[str, Interval]) -> tuple[Size, Size]:
        """Return the smallest and the largest value of the part in solved indices, the constant included."""
        return extremes(self.linear, solved)


def extremes(linear: Linear, solved: Mapping[str, Interval]) -> tuple[Size, Size]:
    """Return the smallest and the largest value over the box of `solved`. Other indices are left out."""
    low = high = linear.constant
    for name, c in linear.coefficients.items():
        if name not in solved:
            continue
        ends = (c * solved[name].low, c * (solved[name].high - 1))
        match sign(c):
            case 1:
                low, high = low + ends[0], high + ends[1]
            case -1:
                low, high = low + ends[1], high + ends[0]
            case _:
                low, high = low + minimum(*ends), high + maximum(*ends)
    return low, high


def sign(size: Size) -> int:
    """Return 1 or -1 where the sign is known, and else 0. A size that may be 0 counts as either."""
    least, most = size.least(), (-size).least()
    if least is not None and least >= 0:
        return 1
    return -1 if most is not None and most >= 0 else 0


def constraints_of(
    statement: Assign,
    bounds: Mapping[str, tuple[Interval, ...]],
    extents: Extents,
    sizes: Mapping[str, Size],
) -> Iterator[Constraint]:
    """Return a constraint for each affine subscript of each read, and of a left side that is read too."""
    values: tuple[Value, ...] = (statement.value, *statement.guards)
    for read, path in (pair for value in values for pair in guarded_reads(value)):
        for axis, (subscript, interval) in enumerate(zip(read.subscripts, bounds[read.tensor], strict=True)):
            found = subscript_of(subscript, extents, sizes)
            if found is not None:
                linear, low, high = _linear(found, interval.low, interval.high - 1)
                yield Constraint(
                    linear=linear,
                    low=low,
                    high=high,
                    tensor=read.tensor,
                    axis=axis,
                    inside=interval,
                    subscript=subscript,
                    path=path,
                    span=subscript.span,
                )
    if statement.reduction is not None and statement.target in bounds:
        for axis, (name, interval) in enumerate(zip(statement.indices, bounds[statement.target], strict=True)):
            span = statement.places[name]
            yield Constraint(
                linear=Linear(constant=Size.number(0), coefficients={name: Size.number(1)}),
                low=interval.low,
                high=interval.high - 1,
                tensor=statement.target,
                axis=axis,
                inside=interval,
                subscript=program.Index(name=name, scalar=INT32, span=span),
                span=span,
            )


def _linear(subscript: Subscript, low: Size, high: Size) -> tuple[Linear, Size, Size]:
    """The affine sum inside, and between what it must lie so that the subscript lies in [low, high].

    Division is read as rounding down: below zero, where it rounds toward zero, `low` is met by fewer
    values than it might be, and `high` is made to fit.
    """
    while isinstance(subscript, Quotient):
        low, high = low - subscript.offset, high - subscript.offset
        if subscript.scale < 0:
            low, high = -high, -low
        scale, divisor = Size.number(abs(subscript.scale)), subscript.divisor
        low, high = floor(low + scale - 1, scale), floor(high, scale)
        least, most = high.least(), (-high).least()
        if least is not None and least >= 0:
            reach = Size.number(divisor - 1)
        elif most is not None and most > 0:
            reach = Size.number(0)
        else:
            reach = operate("<=", Size.number(0), high) * (divisor - 1)
        low, high = low * divisor, high * divisor + reach
        subscript = subscript.inner
    return subscript, low, high
