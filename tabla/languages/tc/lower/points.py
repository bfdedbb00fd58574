"""Where a statement runs, in indices of the graph: a box, affine constraints, and indices that are split in two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

from tabla.graph.boxes import Box
from tabla.graph.constraints import ends
from tabla.graph.graph import Affine, Index
from tabla.languages.tc import program
from tabla.languages.tc.constraints import Interval
from tabla.languages.tc.program import Value
from tabla.languages.tc.sizes import Size
from tabla.languages.tc.statement_ranges import Domain
from tabla.languages.tc.subscripts import Linear, linear_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The points of one statement, and the `value` to compute at them.

    `indices` are the output indices. `places` says what each index of the program is in indices of the graph. `partial`
    says that elements of the statement's own box are left out, and are zero.
    """

    step: Domain
    sizes: Mapping[str, Size] = field(repr=False)
    value: Value
    indices: tuple[Index, ...]
    reduced: tuple[Index, ...]
    places: Mapping[str, Affine]
    constraints: tuple[Affine, ...] = ()
    partial: bool = False

    @property
    def box(self) -> dict[str, Index]:
        """All indices by name."""
        return {index.name: index for index in (*self.indices, *self.reduced)}

    @property
    def all(self) -> tuple[Index, ...]:
        """All indices, the output ones first."""
        return (*self.indices, *self.reduced)

    @property
    def summed(self) -> tuple[str, ...]:
        """Names of the reduced indices."""
        return tuple(index.name for index in self.reduced)

    def extent(self, tensor: str, axis: int) -> Size:
        """Return the length of an axis of a tensor as it is before the statement."""
        return self.step.before[tensor][axis].extent

    def bounds(self, tensor: str) -> Box:
        """Return the ranges of the subscripts that a tensor has before the statement, axis by axis."""
        return box_of(self.step.before[tensor])

    def reached(self, read: program.Read) -> Box | None:
        """Return a box of all elements that a read takes, or None where its subscripts are no sums of indices."""
        found: list[tuple[int, int]] = []
        for subscript in read.subscripts:
            affine = self.affine(subscript)
            taken = None if affine is None else ends(affine, self.constraints, self.all)
            if taken is None:
                return None
            found.append((taken[0], taken[1] + 1))
        return tuple(found)

    def inside(self, affine: Affine, between: tuple[int, int]) -> bool:
        """Return whether a form lies in [low, high) at all points."""
        low, high = between
        least, most = affine.bounds(self.box)
        if low <= least and most < high:
            return True
        taken = ends(affine, self.constraints, self.all) if self.constraints else (least, most)
        return taken is None or (low <= taken[0] and taken[1] < high)

    def affine(self, value: Value) -> Affine | None:
        """Return an integer value as an affine form of the graph's indices, or None where it is none on these
        points.
        """
        linear = linear_of(value, self.extent, self.sizes)
        if linear is not None:
            return self.placed(linear)
        match value:
            case program.Convert(operand=operand, scalar=scalar) if scalar.integral and operand.scalar.integral:
                return self.affine(operand)
            case program.Unary(operator="-", operand=operand):
                inner = self.affine(operand)
                return None if inner is None else -inner
            case program.Binary(operator="+" | "-" | "/" | "%" as operator, left=left, right=right):
                one, other = self.affine(left), self.affine(right)
                return None if one is None or other is None else self._combined(operator, one, other)
            case program.Apply(function="min" | "max" as function, arguments=(left, right)):
                one, other = self.affine(left), self.affine(right)
                return None if one is None or other is None else self._chosen(function, one, other)
            case _:
                return None

    def placed(self, linear: Linear) -> Affine:
        """Return an affine form of the program's indices in indices of the graph."""
        total = Affine.of(linear.constant.value or 0)
        for name, size in linear.coefficients.items():
            total += self.places[name] * (size.value or 0)
        return total

    def _combined(self, operator: str, one: Affine, other: Affine) -> Affine | None:
        if operator in "+-":
            return one - other if operator == "-" else one + other
        divisor = other.constant
        if other.names or divisor < 1:
            return None
        if not one.constant % divisor and not any(c % divisor for _, c in one.coefficients):
            # Exact, whatever the sign.
            whole = {n: c // divisor for n, c in one.coefficients}
            return Affine.of(0) if operator == "%" else Affine.make(one.constant // divisor, whole)
        if one.bounds(self.box)[0] < 0:
            return None
        rest = Affine.make(one.constant % divisor, {n: c for n, c in one.coefficients if c % divisor})
        low, high = rest.bounds(self.box)
        if low < 0 or high >= divisor:
            return None
        if operator == "%":
            return rest
        whole = {n: c // divisor for n, c in one.coefficients if c % divisor == 0}
        return Affine.make(one.constant // divisor, whole)

    def _chosen(self, function: str, one: Affine, other: Affine) -> Affine | None:
        if self._never_negative(one - other):
            return one if function == "max" else other
        if self._never_negative(other - one):
            return other if function == "max" else one
        return None

    def _never_negative(self, affine: Affine) -> bool:
        """Whether the box says so, or one constraint does."""
        less = (Affine.of(0), *self.constraints)
        return any((affine - constraint).bounds(self.box)[0] >= 0 for constraint in less)


def box_of(intervals: Iterable[Interval]) -> Box:
    """Return intervals whose ends are numbers as a box."""
    found: list[tuple[int, int]] = []
    for interval in intervals:
        low, high = interval.low.value, interval.high.value
        assert low is not None and high is not None
        found.append((low, high))
    return tuple(found)


def written(step: Domain) -> Box:
    """Return the box of the elements that a statement writes."""
    return box_of([step.intervals[name] for name in step.statement.indices])


def narrowed(points: Points, constraints: Sequence[Affine]) -> Points | None:
    """Return the points that satisfy further constraints. A constraint on one index narrows its range, and the others
    stay. Return None if a constraint leaves no point.
    """
    box, kept = points.box, list(points.constraints)
    for constraint in constraints:
        # A condition of the text that ends a range says that this is meant, also where the range ends there anyway.
        ending = {name: replace(box[name], span=box[name].span or points.value.span) for name in constraint.names}
        if constraint.bounds(box)[0] == 0 and len(ending) == 1:
            box |= ending
        if constraint.bounds(box)[0] >= 0:
            continue
        if constraint.bounds(box)[1] < 0:
            return None
        if len(constraint.names) != 1:
            kept.append(constraint)
            continue
        ((name, factor),) = constraint.coefficients
        end = Fraction(-constraint.constant, factor)
        old = box[name]
        low, high = (max(old.low, ceil(end)), old.high) if factor > 0 else (old.low, min(old.high, floor(end) + 1))
        if low >= high:
            return None
        box[name] = replace(ending[name], low=low, high=high)
    outer = {index.name for index in points.indices}
    partial = points.partial or any(outer.issuperset(c.names) for c in kept)
    partial |= any(box[index.name] != index for index in points.indices)
    return replace(
        points,
        indices=tuple(box[index.name] for index in points.indices),
        reduced=tuple(box[index.name] for index in points.reduced),
        constraints=tuple(kept),
        partial=partial,
    )
