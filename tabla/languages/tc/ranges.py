"""Range inference: the largest box of indices such that no affine read leaves its tensor.

Indices of ``where i in a:b`` come first. Then follow rounds. In each round, every index that is the only unsolved one
of some constraints is solved: it gets the largest interval that meets them all, over the whole ranges of the indices
solved before. What is solved in a round counts from the next round on, so the order of indices does not matter. A
constraint that no index was solved from is proved, or it becomes a precondition on the sizes.

A read under a condition must stay inside its tensor where the condition holds. What the condition itself ensures, the
read does not demand of any index, as long as the ranges follow from other reads
(``docs/decisions/0021-guards.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tabla.base.faults import Faults
from tabla.base.source import Label, Span, TablaError
from tabla.languages.tc.constraints import Interval
from tabla.languages.tc.program import Assign, CallStatement, Extent, Function, Read, Value, walk
from tabla.languages.tc.sizes import Size
from tabla.languages.tc.statement_ranges import Bounds, Domain, Precondition, StatementRanges, broken


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
        numbers = all(self._dimension(name).value is not None for name in self.function.sizes)
        try:
            domain = StatementRanges(statement, dict(self.bounds), self.sizes, numbers).run()
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


def _from_zero(extent: Size) -> Interval:
    return Interval(low=Size.number(0), high=extent)


def _equal(one: Size, other: Size, because: str, span: Span) -> list[Precondition]:
    if one == other:
        return []
    wanted = Precondition(smaller=one, larger=other, because=because, equal=True, span=span)
    apart = [end for end in ((one - other).least(), (other - one).least()) if end is not None]
    if any(end > 0 for end in apart):
        raise broken(wanted)
    return [wanted]
