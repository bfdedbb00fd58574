"""Range inference: the largest box of indices such that no affine read leaves its tensor.

Indices of ``where i in a:b`` come first. Then follow rounds. In each round, every index that is the only unsolved one
of some constraints is solved: it gets the largest interval that meets them all, over the whole ranges of the indices
solved before. What is solved in a round counts from the next round on, so the order of indices does not matter. A
constraint that no index was solved from is proved, or it becomes a precondition on the sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tabla.lang.faults import Faults
from tabla.lang.tc.constraints import Constraint, Interval, constraints_of, extremes, sign
from tabla.lang.tc.program import Assign, CallStatement, Extent, Function, Read, Value, walk
from tabla.lang.tc.sizes import Size, floor, maximum, minimum
from tabla.lang.tc.subscripts import Linear, linear_of
from tabla.source import Label, Span, TablaError

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call, with the ranges of the called function for these arguments."""

    statement: CallStatement
    inference: Inference
    preconditions: tuple[Precondition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """All ranges of a function: a step for each statement, and the bounds of its tensors in the end."""

    function: Function
    sizes: Mapping[str, Size]
    steps: tuple[Domain | Called, ...]
    bounds: Bounds
    preconditions: tuple[Precondition, ...]


def infer(function: Function, sizes: Mapping[str, int] = MappingProxyType({})) -> Inference:
    """Return the ranges of a function, symbolic in the sizes that are not given.

    One `TablaError` names all faults: ranges that are empty or cannot be inferred, and reads that are outside their
    tensor for all sizes, or for the given ones.
    """
    faults = Faults()
    given = {name: Size.number(value) for name, value in sizes.items()}
    inference = _FunctionRanges(function, given, faults).run()
    faults.raise_any()
    return inference


class _FunctionRanges:
    def __init__(self, function: Function, sizes: Mapping[str, Size], faults: Faults) -> None:
        self.function, self.sizes, self.faults = function, sizes, faults
        self.bounds: dict[str, tuple[Interval, ...]] = {}
        self.steps: list[Domain | Called] = []
        self.required: list[Precondition] = []
        # Tensors whose bounds are unknown after a fault.
        self.lost: set[str] = set()

    def run(self) -> Inference:
        for name in self.function.inputs:
            dimensions = self.function.tensors[name].dimensions or ()
            self.bounds[name] = tuple(_from_zero(self._dimension(dimension)) for dimension in dimensions)
        for statement in self.function.statements:
            match statement:
                case Assign():
                    self._assign(statement)
                case CallStatement():
                    self._call(statement)
        self._annotations()
        return Inference(
            function=self.function,
            sizes={name: self._dimension(name) for name in self.function.sizes},
            steps=tuple(self.steps),
            bounds=self.bounds,
            preconditions=tuple(dict.fromkeys(self.required)),
        )

    def _dimension(self, dimension: str | int) -> Size:
        if isinstance(dimension, int):
            return Size.number(dimension)
        return self.sizes.get(dimension, Size.atom(dimension))

    def _assign(self, statement: Assign) -> None:
        ends = [end for given in statement.ranges for end in (given.low, given.high)]
        values: list[Value] = [statement.value, *statement.guards, *ends]
        read = {p.tensor for value in values for p in walk(value) if isinstance(p, Read | Extent)}
        if read & self.lost or (statement.reduction and statement.target in self.lost):
            self.lost.add(statement.target)
            return
        try:
            domain = _StatementRanges(statement, dict(self.bounds), self.sizes).run()
        except TablaError as fault:
            self.faults.include(fault)
            self.lost.add(statement.target)
            return
        self.steps.append(domain)
        self.required += domain.preconditions
        written = tuple(domain.intervals[name] for name in statement.indices)
        known = self.bounds.get(statement.target)
        if known is not None:
            written = tuple(one.hull(other) for one, other in zip(known, written, strict=True))
        self.bounds[statement.target] = written

    def _call(self, call: CallStatement) -> None:
        if self.lost & set(call.arguments):
            self.lost |= set(call.targets)
            return
        inside: dict[str, Size] = {}
        required: list[Precondition] = []
        try:
            for parameter, argument in zip(call.function.inputs, call.arguments, strict=True):
                dimensions = call.function.tensors[parameter].dimensions or ()
                for dimension, interval in zip(dimensions, self.bounds[argument], strict=True):
                    if isinstance(dimension, str) and dimension not in inside:
                        inside[dimension] = interval.extent
                        continue
                    wanted = Size.number(dimension) if isinstance(dimension, int) else inside[dimension]
                    because = f"'{argument}' has the size that '{call.function.name}' expects"
                    required += _equal(interval.extent, wanted, because, call.span)
        except TablaError as fault:
            self.faults.include(fault)
            self.lost |= set(call.targets)
            return
        inner = Faults()
        inference = _FunctionRanges(call.function, inside, inner).run()
        if inner:
            self.lost |= set(call.targets)
            try:
                inner.raise_any()
            except TablaError as fault:
                label = Label(call.span, "called here")
                self.faults.include(TablaError(fault.message, *fault.labels, label, hint=fault.hint))
            return
        required += inference.preconditions
        self.steps.append(Called(statement=call, inference=inference, preconditions=tuple(required)))
        self.required += required
        for result, target in zip(call.function.results, call.targets, strict=True):
            self.bounds[target] = tuple(_from_zero(interval.extent) for interval in inference.bounds[result])

    def _annotations(self) -> None:
        """The sizes that the type of a result names are those it has."""
        known = {*self.function.sizes}
        for name in self.function.results:
            tensor = self.function.tensors[name]
            if name in self.lost or tensor.dimensions is None:
                continue
            for dimension, interval in zip(tensor.dimensions, self.bounds[name], strict=True):
                if isinstance(dimension, int) or dimension in known:
                    because = f"'{name}' has the size that its type says"
                    try:
                        self.required += _equal(interval.extent, self._dimension(dimension), because, tensor.span)
                    except TablaError as fault:
                        self.faults.include(fault)


class _StatementRanges:
    def __init__(self, statement: Assign, before: Bounds, sizes: Mapping[str, Size]) -> None:
        self.statement, self.before, self.sizes = statement, before, sizes
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
            found = self._hulls(ranged)
            used: set[int] = set()
            for name in self.unsolved:
                if name in ranged:
                    continue
                own = [at for at, c in enumerate(constraints) if self._free(c) == {name} and sign(_factor(c, name))]
                if own:
                    found[name] = self._solve(name, [constraints[at] for at in own])
                    used.update(own)
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
        """The hulls of the given ranges whose other indices are solved by now."""
        found: dict[str, Interval] = {}
        for name in self.unsolved:
            if name in ranged:
                low, high = ranged[name]
                if {*low.coefficients, *high.coefficients} <= self.solved.keys():
                    ends = extremes(low, self.solved)[0], extremes(high, self.solved)[1]
                    found[name] = self._filled(name, *ends, self.statement.places[name])
        return found

    def _solve(self, name: str, constraints: list[Constraint]) -> Interval:
        lows: list[Size] = []
        highs: list[Size] = []
        for constraint in constraints:
            factor = _factor(constraint, name)
            rest_low, rest_high = constraint.over(self.solved)
            above, below = constraint.high - rest_high, constraint.low - rest_low
            if sign(factor) < 0:
                # a * i <= above and a * i >= below, both divided by a negative number.
                above, below, factor = -below, -above, -factor
            highs.append(floor(above, factor) + 1)
            lows.append(floor(below + factor - 1, factor))
        low, high = lows[0], highs[0]
        for other in lows[1:]:
            low = maximum(low, other)
        for other in highs[1:]:
            high = minimum(high, other)
        return self._filled(name, low, high, constraints[0].span)

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
        """Prove or note the constraints without unsolved indices; the others remain."""
        remaining: list[Constraint] = []
        for constraint in constraints:
            if self._free(constraint):
                remaining.append(constraint)
                continue
            low, high = constraint.over(self.solved)
            because = f"subscript {constraint.axis} of '{constraint.tensor}' stays inside"
            self.required += _at_most(high + 1, constraint.high + 1, because, constraint.span)
            self.required += _at_most(constraint.low, low, because, constraint.span)
        return remaining

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


def _from_zero(extent: Size) -> Interval:
    return Interval(low=Size.number(0), high=extent)


def _equal(one: Size, other: Size, because: str, span: Span) -> list[Precondition]:
    if one == other:
        return []
    wanted = Precondition(smaller=one, larger=other, because=because, equal=True, span=span)
    apart = [end for end in ((one - other).least(), (other - one).least()) if end is not None]
    if any(end > 0 for end in apart):
        raise _broken(wanted)
    return [wanted]


def _at_most(smaller: Size, larger: Size, because: str, span: Span) -> list[Precondition]:
    """Nothing where it is proved, a precondition where it depends on the sizes, a fault where it cannot be."""
    wanted = Precondition(smaller=smaller, larger=larger, because=because, span=span)
    holds, fails = (larger - smaller).least(), (smaller - larger).least()
    if holds is not None and holds >= 0:
        return []
    if fails is not None and fails > 0:
        raise _broken(wanted)
    return [wanted]


def _broken(precondition: Precondition) -> TablaError:
    return TablaError(
        f"{precondition} does not hold: {precondition.because} only then",
        Label(precondition.span),
        hint="change the sizes, or narrow the ranges by a where clause",
    )
