"""The points of a statement in pieces: conditions on indices narrow them, and divided indices become two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import gcd

from tabla.graph.constraints import possible
from tabla.graph.graph import Affine, Index
from tabla.languages.tc import program
from tabla.languages.tc.conditions import clauses
from tabla.languages.tc.lower.points import Points, narrowed
from tabla.languages.tc.program import Value, walk
from tabla.languages.tc.sizes import Size
from tabla.languages.tc.statement_ranges import Domain

MOST_PIECES = 32
"""The most pieces of one statement. Conditions that make more choose between values instead."""


def pieces_of(step: Domain, sizes: Mapping[str, Size]) -> tuple[Points, ...]:
    """Return the points of a statement as disjoint pieces, each with a value of its own.

    A condition that chooses between a value and 0 becomes a smaller box, or constraints, because the other points are 0
    anyway. Where conditions keep reads inside their tensors, an assignment has a piece for each value that they choose.
    An index that the value divides becomes two indices.
    """
    pieces = _pieces(_conditional(stated(step, sizes)))
    return tuple(_split(piece) for piece in pieces)


def stated(step: Domain, sizes: Mapping[str, Size]) -> Points:
    """Return the points of a statement as one piece, with the value of the text."""
    points = _all(step, sizes)
    return narrowed(points, _dependent(points)) or points


def left_out(step: Domain, sizes: Mapping[str, Size]) -> tuple[Points, ...]:
    """Return the points of the outputs at which a statement computes nothing, because the range of one output index
    depends on another one. The points are disjoint pieces.
    """
    points = replace(_all(step, sizes), reduced=())
    forms = [form for form in _dependent(points) if points.box.keys() >= set(form.names)]
    found: list[Points] = []
    for at, form in enumerate(forms):
        piece = narrowed(points, [*forms[:at], form.fails])
        if piece is not None and possible(piece.constraints, piece.all):
            found.append(piece)
    return tuple(found)


def _dependent(points: Points) -> list[Affine]:
    """Return the ranges that depend on other indices, as forms that are at least 0 inside."""
    found: list[Affine] = []
    for name, (low, high) in points.step.dependent.items():
        found.append(points.places[name] - points.placed(low))
        found.append(points.placed(high) - points.places[name] - 1)
    return found


def _all(step: Domain, sizes: Mapping[str, Size]) -> Points:
    """Return the box around the points of a statement."""
    statement = step.statement
    stated = {given.index: given.span for given in statement.ranges}

    def index(name: str) -> Index:
        low, high = step.intervals[name].low.value, step.intervals[name].high.value
        assert low is not None and high is not None
        return Index(name=name, low=low, high=high, span=stated.get(name))

    return Points(
        step=step,
        sizes=sizes,
        value=statement.value,
        indices=tuple(index(name) for name in statement.indices),
        reduced=tuple(index(name) for name in statement.reduced),
        places={name: Affine.index(name) for name in (*statement.indices, *statement.reduced)},
    )


def leaves(points: Points) -> bool:
    """Return whether the value mentions, at some point, an element outside its tensor, under a condition."""
    for read in walk(points.value):
        if isinstance(read, program.Read):
            for subscript, between in zip(read.subscripts, points.bounds(read.tensor), strict=True):
                affine = points.affine(subscript)
                if affine is not None and not points.inside(affine, between):
                    return True
    return False


def _conditional(points: Points) -> Points:
    """Narrow the points of ``condition ? value : 0`` to those at which the condition holds, because the others are 0
    anyway.

    Other ways to write such a choice narrow the points only if reads need it.
    """
    statement = points.step.statement
    if statement.reduction not in (None, "+") or (statement.reduction and not statement.initialise):
        return points
    value = _bare(points.value)
    if isinstance(value, program.Choice) and _zero(value.other):
        points = _where(points, list(_conjuncts(value.condition)), value.chosen) or points
    while leaves(points):
        value = _bare(points.value)
        if not isinstance(value, program.Choice) or not (_zero(value.chosen) or _zero(value.other)):
            break
        truth = _zero(value.other)
        holds = clauses(value.condition, truth)
        if holds is None or len(holds) != 1:
            break
        inside = _where(points, list(holds[0]), value.chosen if truth else value.other)
        if inside is None:
            break
        points = inside
    return points


def _bare(value: Value) -> Value:
    """A value without conversions to reals around it."""
    while isinstance(value, program.Convert) and value.scalar.kind == "float":
        value = value.operand
    return value


def _where(points: Points, conditions: list[Value], value: Value) -> Points | None:
    """Return the points at which all conditions hold, with this value there.

    Return None if a condition is no affine comparison, or if no point is left.
    """
    found: list[Affine] = []
    inside = points
    for condition in conditions:
        inside, solved = _congruent(inside, condition)
        found += solved
    for condition in conditions:
        constraints = _constraints(inside, condition)
        if constraints is None:
            return None
        found += constraints
    return narrowed(replace(inside, value=value), found)


def _pieces(points: Points) -> tuple[Points, ...]:
    """Return a piece for each value that conditions choose, or all points as one piece where that is not possible, or
    not needed.
    """
    statement, choice = points.step.statement, _bare(points.value)
    alone = statement.reduction is None or (statement.initialise and not statement.reduced)
    if not alone or not isinstance(choice, program.Choice) or not leaves(points):
        return (points,)
    found: list[Points] = []
    for truth, value in ((True, choice.chosen), (False, choice.other)):
        alternatives = clauses(choice.condition, truth)
        if alternatives is None:
            return (points,)
        for alternative in alternatives:
            constraints = [_constraints(points, literal) for literal in alternative]
            if any(forms is None for forms in constraints):
                return (points,)
            forms = [form for own in constraints for form in own or ()]
            piece = narrowed(replace(points, value=value), forms)
            if piece is not None and possible(piece.constraints, piece.all):
                found += _pieces(replace(piece, partial=points.partial))
    return tuple(found) if 0 < len(found) <= MOST_PIECES else (points,)


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
    eliminated, before = summed[0], points
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
    rest, old = sum(inner.values(), Affine()) * sign, box[eliminated]
    low, high = rest.bounds(points.box)
    first, end = -(-(old.low + low) // divisor), (old.high - 1 + high) // divisor + 1
    if first >= end:  # no summed point has a multiple, and the condition is left as it is
        return before, []
    whole = Index(name=f"{eliminated}.whole", low=first, high=end)
    place = Affine.make(0, {whole.name: divisor}) - rest
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
        return others + place * factor if factor else affine

    return replace(
        points,
        indices=_replaced(points.indices, name, new),
        reduced=_replaced(points.reduced, name, new),
        places={each: follow(affine) for each, affine in points.places.items()},
    )


def _range(place: Affine, index: Index, points: Points) -> list[Affine]:
    """Return the constraints that keep a form inside the range of the index that it replaces."""
    ends = [place - index.low, -place + (index.high - 1)]
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
    more, less = one - other, other - one
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
            return [more - 1]
        case "<=":
            return [less]
        case "<":
            return [less - 1]
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
