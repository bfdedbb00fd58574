"""Where a statement runs, in indices of the graph: a box, affine constraints, and indices that are split in two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, gcd

from tabla.ir.graph import Affine, Index
from tabla.lang.tc import program
from tabla.lang.tc.program import Value, walk
from tabla.lang.tc.ranges import Domain
from tabla.lang.tc.sizes import Size
from tabla.lang.tc.subscripts import Linear, linear_of

Box = tuple[tuple[int, int], ...]


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

    def affine(self, value: Value) -> Affine | None:
        """Return an integer value as an affine form of the graph's indices, or None where it is none on these points.
        """
        linear = linear_of(value, self.extent, self.sizes)
        if linear is not None:
            return self.placed(linear)
        match value:
            case program.Convert(operand=operand, scalar=scalar) if scalar.integral and operand.scalar.integral:
                return self.affine(operand)
            case program.Unary(operator="-", operand=operand):
                inner = self.affine(operand)
                return None if inner is None else _scaled(inner, -1)
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
            total = _sum(total, _scaled(self.places[name], size.value or 0))
        return total

    def _combined(self, operator: str, one: Affine, other: Affine) -> Affine | None:
        if operator in "+-":
            return _sum(one, _scaled(other, -1 if operator == "-" else 1))
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
        if self._never_negative(_sum(one, _scaled(other, -1))):
            return one if function == "max" else other
        if self._never_negative(_sum(other, _scaled(one, -1))):
            return other if function == "max" else one
        return None

    def _never_negative(self, affine: Affine) -> bool:
        """Whether the box says so, or one constraint does."""
        less = (Affine.of(0), *self.constraints)
        return any(_sum(affine, _scaled(constraint, -1)).bounds(self.box)[0] >= 0 for constraint in less)


def points_of(step: Domain, sizes: Mapping[str, Size]) -> Points:
    """Return the points of a statement.

    A condition that chooses between a value and 0 becomes a smaller box, or constraints. An index that the value
    divides becomes two indices.
    """
    statement = step.statement

    def index(name: str) -> Index:
        low, high = step.intervals[name].low.value, step.intervals[name].high.value
        assert low is not None and high is not None
        return Index(name=name, low=low, high=high)

    points = Points(
        step=step,
        sizes=sizes,
        value=statement.value,
        indices=tuple(index(name) for name in statement.indices),
        reduced=tuple(index(name) for name in statement.reduced),
        places={name: Affine.of(0, **{name: 1}) for name in (*statement.indices, *statement.reduced)},
    )
    ends = []
    for name, (low, high) in step.dependent.items():
        ends.append(_sum(points.places[name], _scaled(points.placed(low), -1)))
        ends.append(_sum(points.placed(high), _scaled(points.places[name], -1), Affine.of(-1)))
    return _split(_conditional(_narrowed(points, ends) or points))


def _narrowed(points: Points, constraints: Sequence[Affine]) -> Points | None:
    """Return the points that satisfy further constraints. A constraint on one index narrows its range, and the others
    stay. Return None if a constraint leaves no point.
    """
    box, kept = points.box, list(points.constraints)
    for constraint in constraints:
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
        box[name] = Index(name=name, low=low, high=high)
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


def _conditional(points: Points) -> Points:
    """Narrow the points of ``condition ? value : 0`` to those at which the condition holds, because the others are 0
    anyway.
    """
    statement, value = points.step.statement, points.value
    if statement.reduction not in (None, "+") or (statement.reduction and not statement.initialise):
        return points
    while isinstance(value, program.Convert) and value.scalar.kind == "float":
        value = value.operand
    if not isinstance(value, program.Choice) or not _zero(value.other):
        return points
    conditions = list(_conjuncts(value.condition))
    found: list[Affine] = []
    inside = points
    for condition in conditions:
        inside, ends = _congruent(inside, condition)
        found += ends
    for condition in conditions:
        constraints = _constraints(inside, condition)
        if constraints is None:
            return points
        found += constraints
    return _narrowed(replace(inside, value=value.chosen), found) or points


def _congruent(points: Points, condition: Value) -> tuple[Points, list[Affine]]:
    """Solve ``E % m == 0`` by other indices in which E is a multiple of m, as a stride that divides in a transposed
    convolution demands.

    The result also keeps these indices in their ranges. Where the condition has another form, nothing changes. A summed
    index r of E = s*r + c + sum(a*x), where s is 1 or -1, becomes m*p - s*(c + sum(a*x.inner)). Each x whose factor m
    does not divide becomes m*x.outer + x.inner.
    """
    form = _multiple(points, condition)
    if form is None:
        return points, []
    total, divisor = form
    tied = {name for constraint in points.constraints for name in constraint.names}
    split = [name for name, factor in total.coefficients if factor % divisor]
    summed = [name for name in split if name in points.summed and abs(total.coefficient(name)) == 1]
    if not summed or tied.intersection(split):
        return points, []
    eliminated = summed[0]
    sign, box, ends = total.coefficient(eliminated), points.box, []
    inner = {"": Affine.of(total.constant % divisor)}
    for name in split:
        if name == eliminated:
            continue
        old = box[name]
        pair = (
            Index(name=f"{name}.outer", low=old.low // divisor, high=-(-old.high // divisor)),
            Index(name=f"{name}.inner", low=0, high=divisor),
        )
        place = Affine.make(0, {pair[0].name: divisor, pair[1].name: 1})
        points = _placed_anew(points, name, pair, place)
        inner[name] = Affine.make(0, {pair[1].name: total.coefficient(name)})
        ends += _range(place, old, points)
    rest, old = _scaled(_sum(*inner.values()), sign), box[eliminated]
    low, high = rest.bounds(points.box)
    whole = Index(
        name=f"{eliminated}.whole", low=-(-(old.low + low) // divisor), high=(old.high - 1 + high) // divisor + 1
    )
    place = _sum(Affine.make(0, {whole.name: divisor}), _scaled(rest, -1))
    points = _placed_anew(points, eliminated, (whole,), place)
    return points, ends + _range(place, old, points)


def _multiple(points: Points, condition: Value) -> tuple[Affine, int] | None:
    """Return E and m of ``E % m == 0``, where E is affine and not a multiple of m already."""
    match condition:
        case program.Binary(operator="==", left=program.Binary(operator="%") as remainder, right=right):
            total, divisor, nought = (points.affine(v) for v in (remainder.left, remainder.right, right))
            if total is None or divisor is None or nought != Affine.of(0) or divisor.names or divisor.constant < 2:
                return None
            return total, divisor.constant
        case _:
            return None


def _placed_anew(points: Points, name: str, new: tuple[Index, ...], place: Affine) -> Points:
    """Return the points with an index replaced by other indices, of which it is an affine form."""

    def follow(affine: Affine) -> Affine:
        factor = affine.coefficient(name)
        others = Affine.make(affine.constant, {n: c for n, c in affine.coefficients if n != name})
        return _sum(others, _scaled(place, factor)) if factor else affine

    return replace(
        points,
        indices=_replaced(points.indices, name, new),
        reduced=_replaced(points.reduced, name, new),
        places={each: follow(affine) for each, affine in points.places.items()},
    )


def _range(place: Affine, index: Index, points: Points) -> list[Affine]:
    """Return the constraints that keep a form inside the range of the index that it replaces."""
    ends = [_sum(place, Affine.of(-index.low)), _sum(Affine.of(index.high - 1), _scaled(place, -1))]
    return [end for end in ends if end.bounds(points.box)[0] < 0]


def _zero(value: Value) -> bool:
    match value:
        case program.Constant(value=number):
            return number == 0
        case program.Convert(operand=operand):
            return _zero(operand)
        case _:
            return False


def _conjuncts(condition: Value) -> Iterator[Value]:
    match condition:
        case program.Binary(operator="&&", left=left, right=right):
            yield from _conjuncts(left)
            yield from _conjuncts(right)
        case _:
            yield condition


def _constraints(points: Points, condition: Value) -> list[Affine] | None:
    """Return an affine comparison of integers as forms that are at least 0 where it holds."""
    if not isinstance(condition, program.Binary) or not condition.common.integral:
        return None
    one, other = points.affine(condition.left), points.affine(condition.right)
    if one is None or other is None:
        return None
    more, less = _sum(one, _scaled(other, -1)), _sum(other, _scaled(one, -1))
    found = _ends(condition.operator, more, less)
    return None if found is None else [_tightened(each) for each in found]


def _tightened(affine: Affine) -> Affine:
    """Return the form, at least 0 where it was before, divided by the common divisor of its factors."""
    divisor = gcd(*(factor for _, factor in affine.coefficients)) or 1
    return Affine.make(affine.constant // divisor, {name: c // divisor for name, c in affine.coefficients})


def _ends(operator: str, more: Affine, less: Affine) -> list[Affine] | None:
    match operator:
        case ">=":
            return [more]
        case ">":
            return [_sum(more, Affine.of(-1))]
        case "<=":
            return [less]
        case "<":
            return [_sum(less, Affine.of(-1))]
        case "==":
            return [more, less]
        case _:
            return None


def _split(points: Points) -> Points:
    """Split indices that the value divides by a number into a quotient and a remainder, where the range is a whole
    multiple.
    """
    for name, divisor in _divisions(points).items():
        index = points.box.get(name)
        tied = any(name in constraint.names for constraint in points.constraints)
        if index is None or tied or index.low % divisor or index.extent % divisor or index.extent == divisor:
            continue
        low, high = index.low // divisor, index.high // divisor
        outer, inner = f"{name}.outer", f"{name}.inner"
        pair = (Index(name=outer, low=low, high=high), Index(name=inner, low=0, high=divisor))
        place = Affine.make(0, {outer: divisor, inner: 1})
        points = replace(
            points,
            indices=_replaced(points.indices, name, pair),
            reduced=_replaced(points.reduced, name, pair),
            places={**points.places, name: place},
        )
    return points


def _divisions(points: Points) -> dict[str, int]:
    """Return each index with the number by which the value divides sums that hold it. Indices with several such numbers
    are left out.
    """
    found: dict[str, set[int]] = {}
    for value in walk(points.value):
        match value:
            case program.Binary(operator="/" | "%", left=left, right=right) if value.scalar.integral:
                one, other = points.affine(left), points.affine(right)
                if one is not None and other is not None and not other.names and other.constant > 1:
                    for name, factor in one.coefficients:
                        if factor % other.constant:
                            found.setdefault(name, set()).add(other.constant)
    return {name: min(divisors) for name, divisors in found.items() if len(divisors) == 1}


def _replaced(indices: tuple[Index, ...], name: str, pair: tuple[Index, ...]) -> tuple[Index, ...]:
    return tuple(new for index in indices for new in (pair if index.name == name else (index,)))


def _scaled(affine: Affine, factor: int) -> Affine:
    return Affine.make(affine.constant * factor, {name: c * factor for name, c in affine.coefficients})


def _sum(*parts: Affine) -> Affine:
    total: dict[str, int] = {}
    for part in parts:
        for name, c in part.coefficients:
            total[name] = total.get(name, 0) + c
    return Affine.make(sum(part.constant for part in parts), total)
