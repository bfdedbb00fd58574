"""The ranges of the indices of one statement, and what the sizes must meet so that its reads stay inside.

Conditions may keep a read inside its tensor. That is proved here, for sizes that are symbols or numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tabla.base.source import Label, Span, TablaError
from tabla.languages.tc.conditions import Conjunction, conjunctions
from tabla.languages.tc.constraints import Constraint, Interval, constraints_of, extremes, sign
from tabla.languages.tc.made_reads import Outside, first_outside
from tabla.languages.tc.program import Assign
from tabla.languages.tc.sizes import Size, floor, maximum, minimum
from tabla.languages.tc.subscripts import Linear, linear_of

MOST_COMBINED = 3
"""The most conditions that are added up in one proof."""


def implied(form: Linear, conjunction: Conjunction, solved: Mapping[str, Interval]) -> bool:
    """Return whether a form is known to be at least 0 wherever all forms of a conjunction are.

    Indices that are not solved may have any value. The proof subtracts multiples of the conjunction's forms and bounds
    what remains over the ranges of the solved indices, so it finds what conditions of programs need, and not all that
    is true.
    """
    box = narrowed(conjunction, solved)
    if box is None:
        return True
    for rest in _rests(form, conjunction.forms):
        if rest.coefficients.keys() <= solved.keys():
            least = extremes(rest, box)[0].least()
            if least is not None and least >= 0:
                return True
    return False


def narrowed(conjunction: Conjunction, solved: Mapping[str, Interval]) -> Mapping[str, Interval] | None:
    """Return the ranges of the solved indices without the ends that conditions on one index exclude.

    Return None where it is known that the conjunction holds nowhere.
    """
    box = dict(solved)
    for form in conjunction.forms:
        if not form.coefficients:
            most = (-form.constant).least()
            if most is not None and most > 0:
                return None
        if len(form.coefficients) != 1:
            continue
        ((name, factor),) = form.coefficients.items()
        if name not in box:
            continue
        old = box[name]
        if sign(factor) > 0:
            low = floor(-form.constant + factor - 1, factor)
            box[name] = Interval(low=maximum(old.low, low), high=old.high)
        elif sign(factor) < 0:
            high = floor(form.constant, -factor) + 1
            box[name] = Interval(low=old.low, high=minimum(old.high, high))
        emptiness = (box[name].low - box[name].high).least()
        if emptiness is not None and emptiness >= 0:
            return None
    return box


def certain(conjunction: Conjunction, solved: Mapping[str, Interval]) -> Mapping[str, Interval] | None:
    """Return the box of points at which a read under the conjunction may be made, whatever the data.

    Return None where the points are no box, or where there may be none.
    """
    box = narrowed(conjunction, solved)
    if box is None or not conjunction.exact:
        return None
    for form in conjunction.forms:
        least = form.constant.least()
        if len(form.coefficients) > 1 or (not form.coefficients and (least is None or least < 0)):
            return None
        if any(not sign(factor) for factor in form.coefficients.values()):
            return None
    extents = [interval.extent.least() for interval in box.values()]
    return box if all(extent is not None and extent >= 1 for extent in extents) else None


def _rests(form: Linear, given: Sequence[Linear]) -> Iterator[Linear]:
    """Yield the form less sums of given forms; a given form alone is also subtracted several times."""
    yield form
    for one in given:
        for times in _multiples(form, one):
            yield form.plus(one, Size.number(-times))
    for count in range(2, MOST_COMBINED + 1):
        for several in combinations(given, count):
            rest = form
            for one in several:
                rest = rest.plus(one, Size.number(-1))
            yield rest


def _multiples(form: Linear, given: Linear) -> list[int]:
    """How many times to subtract a form so that an index vanishes."""
    found = {1}
    for name, size in given.coefficients.items():
        own = form.coefficients.get(name)
        divisor, dividend = size.value, None if own is None else own.value
        if divisor and dividend and dividend % divisor == 0 and dividend // divisor > 0:
            found.add(dividend // divisor)
    return sorted(found)


Bounds = Mapping[str, tuple[Interval, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """``smaller <= larger``, or both equal, which the sizes must meet. `because` says what for."""

    smaller: Size
    larger: Size
    because: str
    equal: bool = False
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.smaller} {'=' if self.equal else '<='} {self.larger}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The ranges of the indices of one statement, and the bounds of all tensors before it.

    An index whose range depends on other indices has its hull in `intervals` and its two ends in `dependent`.
    """

    statement: Assign
    intervals: Mapping[str, Interval]
    dependent: Mapping[str, tuple[Linear, Linear]]
    preconditions: tuple[Precondition, ...]
    before: Bounds


class StatementRanges:
    """Infers the ranges of one statement.

    `numbers` says that all sizes are numbers, so that guarded reads can be checked point by point.
    """

    def __init__(self, statement: Assign, before: Bounds, sizes: Mapping[str, Size], numbers: bool) -> None:
        self.statement, self.before, self.sizes, self.numbers = statement, before, sizes, numbers
        self.solved: dict[str, Interval] = {}
        self.dependent: dict[str, tuple[Linear, Linear]] = {}
        self.unsolved = [*statement.indices, *statement.reduced]
        self.required: list[Precondition] = []

    def run(self) -> Domain:
        ranged = self._given_ranges()
        constraints = list(constraints_of(self.statement, self.before, self._extent, self.sizes))
        while True:
            constraints = self._settle(constraints)
            if not self.unsolved:
                break
            found, used = self._round(ranged, constraints, guarded=True)
            if not found:
                found, used = self._round(ranged, constraints, guarded=False)
            if not found:
                raise self._unsolvable()
            self.solved |= found
            self.unsolved = [name for name in self.unsolved if name not in found]
            constraints = [c for at, c in enumerate(constraints) if at not in used]
        order = [*self.statement.indices, *self.statement.reduced]
        return Domain(
            statement=self.statement,
            intervals={name: self.solved[name] for name in order},
            dependent=self.dependent,
            preconditions=tuple(dict.fromkeys(self.required)),
            before=self.before,
        )

    def _round(
        self, ranged: Mapping[str, tuple[Linear, Linear]], constraints: list[Constraint], *, guarded: bool
    ) -> tuple[dict[str, Interval], set[int]]:
        """Return the ranges that a round solves, and the numbers of the constraints from which it solves them.

        With `guarded`, the ends of constraints that conditions imply are left out.
        """
        found = self._hulls(ranged)
        used: set[int] = set()
        ends = [self._demanded(c) if guarded else (True, True) for c in constraints]
        for name in self.unsolved:
            if name in ranged:
                continue
            own = {
                at: ends[at]
                for at, c in enumerate(constraints)
                if any(ends[at]) and self._free(c) == {name} and sign(_factor(c, name))
            }
            interval = self._solve(name, [(constraints[at], *demanded) for at, demanded in own.items()])
            if interval is not None:
                found[name] = interval
                used.update(own)
        return found, used

    def _demanded(self, constraint: Constraint) -> tuple[bool, bool]:
        """Return whether a read demands the low and the high end of a constraint: an implied end is not demanded."""
        if not constraint.path:
            return True, True
        made = conjunctions(constraint.path, self._extent, self.sizes)
        low, high = (
            all(implied(form, conjunction, self.solved) for conjunction in made)
            for form in (constraint.linear.above(constraint.low), constraint.linear.below(constraint.high))
        )
        return not low, not high

    def _extent(self, tensor: str, axis: int) -> Size:
        return self.before[tensor][axis].extent

    def _free(self, constraint: Constraint) -> set[str]:
        return {name for name in constraint.linear.coefficients if name not in self.solved}

    def _given_ranges(self) -> dict[str, tuple[Linear, Linear]]:
        ranged: dict[str, tuple[Linear, Linear]] = {}
        for given in self.statement.ranges:
            ends = [linear_of(end, self._extent, self.sizes) for end in (given.low, given.high)]
            for end, value in zip(ends, (given.low, given.high), strict=True):
                if end is None:
                    hint = "add and subtract sizes, integers and indices, with integer factors"
                    raise TablaError("this end of a range is not affine", Label(value.span), hint=hint)
            assert ends[0] is not None and ends[1] is not None
            ranged[given.index] = (ends[0], ends[1])
            if ends[0].coefficients or ends[1].coefficients:
                self.dependent[given.index] = ranged[given.index]
            else:
                self.solved[given.index] = self._filled(given.index, ends[0].constant, ends[1].constant, given.span)
        self.unsolved = [name for name in self.unsolved if name not in self.solved]
        return ranged

    def _hulls(self, ranged: Mapping[str, tuple[Linear, Linear]]) -> dict[str, Interval]:
        """Return the hulls of the given ranges whose other indices are solved by now."""
        found: dict[str, Interval] = {}
        for name in self.unsolved:
            if name in ranged:
                low, high = ranged[name]
                if {*low.coefficients, *high.coefficients} <= self.solved.keys():
                    ends = extremes(low, self.solved)[0], extremes(high, self.solved)[1]
                    found[name] = self._filled(name, *ends, self.statement.places[name])
        return found

    def _solve(self, name: str, constraints: list[tuple[Constraint, bool, bool]]) -> Interval | None:
        """Return the largest interval that meets the low and the high ends of constraints; None if it has no end."""
        lows: list[Size] = []
        highs: list[Size] = []
        for constraint, has_low, has_high in constraints:
            factor = _factor(constraint, name)
            rest_low, rest_high = constraint.over(self.solved)
            above, below = constraint.high - rest_high, constraint.low - rest_low
            if sign(factor) < 0:
                # a * i <= above and a * i >= below, both divided by a negative number.
                above, below, factor = -below, -above, -factor
                has_low, has_high = has_high, has_low
            if has_high:
                highs.append(floor(above, factor) + 1)
            if has_low:
                lows.append(floor(below + factor - 1, factor))
        if not lows or not highs:
            return None
        low, high = lows[0], highs[0]
        for other in lows[1:]:
            low = maximum(low, other)
        for other in highs[1:]:
            high = minimum(high, other)
        return self._filled(name, low, high, constraints[0][0].span)

    def _filled(self, name: str, low: Size, high: Size, span: Span) -> Interval:
        emptiness = (low - high).least()
        if emptiness is not None and emptiness >= 0:
            raise TablaError(
                f"the range of '{name}' is empty: [{low}, {high})",
                Label(span),
                hint="no value of it keeps every read inside its tensor, or its where clause ends before it begins",
            )
        return Interval(low=low, high=high)

    def _settle(self, constraints: list[Constraint]) -> list[Constraint]:
        """Prove or note the constraints without unsolved indices, those of guarded reads last. The others remain."""
        remaining: list[Constraint] = []
        for constraint in constraints:
            if self._free(constraint) or (constraint.path and self.unsolved):
                # Conditions may mention indices that the read does not.
                remaining.append(constraint)
                continue
            if constraint.path:
                self._settle_guarded(constraint)
                continue
            because = f"subscript {constraint.axis} of '{constraint.tensor}' stays inside"
            low, high = constraint.over(self.solved)
            try:
                self.required += _at_most(high + 1, constraint.high + 1, because, constraint.span)
                self.required += _at_most(constraint.low, low, because, constraint.span)
            except TablaError as fault:
                raise self._goes_on(constraint, fault) from None
        return remaining

    def _goes_on(self, constraint: Constraint, fault: TablaError) -> TablaError:
        """Return a fault with another cure if the statement goes on from elements of its own tensor."""
        name = constraint.tensor
        if name != self.statement.target or self.statement.reduction is None or self.statement.initialise:
            return fault
        hint = (
            f"the statements before write '{name}' over {constraint.inside} there, and '+=' goes on from that; "
            f"let the first of them write more of it, or narrow the range by a where clause"
        ).replace("'+='", f"'{self.statement.reduction}='")
        return TablaError(fault.message, *fault.labels, hint=hint)

    def _settle_guarded(self, constraint: Constraint) -> None:
        """Prove or note a constraint where the conditions of its read hold.

        A fault is raised if it fails somewhere for all sizes. What cannot be decided without the sizes is left until
        they are numbers.
        """
        demanded = self._demanded(constraint)
        if not any(demanded):
            return
        box = {name: (i.low.value, i.high.value) for name, i in self.solved.items()}
        known = {name: (low, high) for name, (low, high) in box.items() if low is not None and high is not None}
        if self.numbers and len(known) == len(box):
            outside = first_outside(constraint, known, self._extent, self.sizes)
            if outside is not None:
                raise _made_outside(constraint, outside)
            return
        for conjunction in conjunctions(constraint.path, self._extent, self.sizes):
            sure = certain(conjunction, self.solved)
            if sure is None:
                continue
            low, high = extremes(constraint.linear, sure)
            if demanded[0]:
                outside = Outside(position=low, point={}, needed=constraint.linear.above(constraint.low))
                self._require(constraint, outside, constraint.low, low)
            if demanded[1]:
                outside = Outside(position=high, point={}, needed=constraint.linear.below(constraint.high))
                self._require(constraint, outside, high + 1, constraint.high + 1)

    def _require(self, constraint: Constraint, outside: Outside, smaller: Size, larger: Size) -> None:
        """Note that a guarded read stays inside only if `smaller <= larger`; otherwise it is made at `outside`."""
        because = f"subscript {constraint.axis} of '{constraint.tensor}' stays inside"
        try:
            self.required += _at_most(smaller, larger, because, constraint.span)
        except TablaError as fault:
            affine = linear_of(constraint.subscript, self._extent, self.sizes) is not None
            raise (_made_outside(constraint, outside) if affine else fault) from None

    def _unsolvable(self) -> TablaError:
        names = [name for name in self.statement.indices if name in self.unsolved] or self.unsolved
        names = names[:1] if len(names) == 1 else names
        listed = " and ".join(f"'{name}'" for name in names)
        labels = [Label(self.statement.places[name]) for name in names]
        return TablaError(
            f"cannot infer the range of {listed}",
            *labels,
            hint=f"use a where clause: where {', '.join(f'{name} in 0:N' for name in names)}",
        )


def _factor(constraint: Constraint, name: str) -> Size:
    return constraint.linear.coefficients[name]


def _at_most(smaller: Size, larger: Size, because: str, span: Span) -> list[Precondition]:
    """Return the precondition that one size is at most another, or nothing where that is proved.

    Raises `TablaError` where it fails for all sizes.
    """
    wanted = Precondition(smaller=smaller, larger=larger, because=because, span=span)
    holds, fails = (larger - smaller).least(), (smaller - larger).least()
    if holds is not None and holds >= 0:
        return []
    if fails is not None and fails > 0:
        raise broken(wanted)
    return [wanted]


def broken(precondition: Precondition) -> TablaError:
    """Return the fault of a precondition that does not hold for any sizes."""
    return TablaError(
        f"{precondition} does not hold: {precondition.because} only then",
        Label(precondition.span),
        hint="change the sizes, or narrow the ranges by a where clause",
    )


def _made_outside(constraint: Constraint, outside: Outside) -> TablaError:
    at = " and ".join(f"{name} = {value}" for name, value in outside.point.items())
    return TablaError(
        f"'{constraint.tensor}' is read at {outside.position} in dimension {constraint.axis}, which runs over "
        f"{constraint.inside}{f', where {at}' if at else ''}",
        Label(constraint.span),
        hint=f"{_cure(outside.needed)}: its condition leaves out too little",
    )


def _cure(needed: Linear) -> str:
    return f"read it only where {_comparison(needed)}" if needed.coefficients else "change the sizes"


def _comparison(form: Linear) -> str:
    """Return the text of ``form >= 0`` as a comparison of the indices with a size."""
    indices = Linear(constant=Size.number(0), coefficients=form.coefficients)
    first = next(iter(form.coefficients.values()), Size.number(0))
    if sign(first) < 0:
        return f"{indices.below(Size.number(0)).written()} < {form.constant + 1}"
    return f"{indices.written()} >= {-form.constant}"
