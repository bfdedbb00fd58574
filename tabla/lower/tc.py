"""A checked function of Tensor Comprehensions becomes a graph; calls are inlined.

What today's graph cannot say is refused with its place: ``docs/decisions/0010-tc.md`` lists it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from tabla.ir.format import Format
from tabla.ir.graph import Affine, Constant, Graph, Index, Linear, Product, Read, Term
from tabla.lang.tc.constraints import Interval
from tabla.lang.tc.program import Function
from tabla.lang.tc.ranges import Called, Domain, Inference, infer
from tabla.lower.builder import GraphBuilder
from tabla.lower.tc_expressions import Expressions, Held, Sum, refuse
from tabla.source import Span

Box = tuple[tuple[int, int], ...]


def lower(
    function: Function,
    sizes: Mapping[str, int],
    *,
    number_format: Format,
    name: str = "program",
    keep: Sequence[str] = (),
    results: Sequence[str] = (),
) -> Graph:
    """The graph of a function for given sizes; the inputs `keep` stay on chip, `results` are returned too.

    Raises `TablaError` for sizes that make a range empty, for constants that `number_format` cannot hold, and for
    what the machine cannot do yet.
    """
    ranges: dict[str, Index] = {}
    builder = GraphBuilder(number_format, ranges)
    inference = infer(function, sizes)
    held: dict[str, Held] = {}
    for given in function.inputs:
        tensor = function.tensors[given]
        if tensor.scalar.integral:
            _refuse_integers(given, tensor.span)
        shape = tuple(high for _, high in _box(inference.bounds[given]))
        builder.tensor(given, shape, "model" if given in keep else "input", origin=given, span=tensor.span)
        held[given] = Held(tensor=given, base=(0,) * len(shape))
    lowering = _Lowering(builder, ranges, inference, held, "")
    lowering.take_initial()
    lowering.run()
    shown = dict.fromkeys((*function.results, *results))
    graph = builder.graph(name, {}, tuple((result, lowering.held[result].tensor) for result in shown))
    return replace(graph, notes=(*function.notes, *graph.notes))


class _Lowering:
    """The statements of one function, inlined where `prefix` names the call."""

    def __init__(
        self,
        builder: GraphBuilder,
        ranges: dict[str, Index],
        inference: Inference,
        held: Mapping[str, Held],
        prefix: str,
    ) -> None:
        self.builder, self.ranges, self.inference, self.prefix = builder, ranges, inference, prefix
        self.held = dict(held)
        self.boxes: dict[str, list[Box]] = {}
        self.versions: dict[str, int] = {}
        self.calls = 0

    def take_initial(self) -> None:
        """What the caller accumulates into comes in under the name under which it goes out."""
        for step in self.inference.steps:
            if not isinstance(step, Domain) or step.statement.target in self.held:
                continue
            tensor = self.inference.function.tensors[step.statement.target]
            if tensor.initial:
                name, box = tensor.name, _box(tuple(step.intervals[index] for index in step.statement.indices))
                shape = tuple(high - low for low, high in box)
                self.builder.tensor(name, shape, "input", origin=name, span=tensor.span)
                self.held[name] = Held(tensor=name, base=tuple(low for low, _ in box))
                self.boxes[name], self.versions[name] = [box], 1

    def run(self) -> None:
        """Append all statements."""
        for step in self.inference.steps:
            match step:
                case Domain():
                    self._assign(step)
                case Called():
                    self._call(step)

    def _assign(self, step: Domain) -> None:
        statement = step.statement
        tensor = self.inference.function.tensors[statement.target]
        if tensor.scalar.integral:
            _refuse_integers(tensor.name, statement.span)
        if step.dependent:
            name = next(iter(step.dependent))
            refuse(
                f"the range of '{name}' depends on another index",
                statement.places[name],
                "the machine runs over boxes yet: use a range of sizes, and a condition",
            )
        box = _box(tuple(step.intervals[name] for name in statement.indices))
        indices = {name: Index(name=name, low=a, high=b) for name, (a, b) in _named(step).items()}
        self.ranges.update(indices)
        expressions = Expressions(self.builder, step, self.held, self.inference.sizes)
        known = self.held.get(tensor.name)
        place = self._place(step, box)
        expressions.owner = place.tensor
        expressions.indices = tuple(indices.values())
        write = tuple(
            Affine.make(-base, {name: 1}) for name, base in zip(statement.indices, place.base, strict=True)
        )
        own = tuple(indices[name] for name in statement.indices)
        earlier: Sum = ()
        if statement.reduction is not None and not statement.initialise:
            assert known is not None
            at = tuple(Affine.make(-base, {name: 1}) for name, base in zip(statement.indices, known.base, strict=True))
            earlier = (Term(factors=(Read(tensor=known.tensor, subscripts=at),)),)
        plain = statement.initialise and not statement.reduced
        match None if plain else statement.reduction:
            case None | "+":
                terms = expressions.sum_of(statement.value)
                reduced = tuple(replace(term, reduce=statement.reduced) for term in terms)
                total = (*earlier, *reduced) or (Term(factors=(Constant(value=Fraction(0)),)),)
                self.builder.emit(place.tensor, write, own, Linear(terms=total), statement.span)
            case "*" if statement.reduced and not earlier:
                operand = expressions.word(statement.value)
                product = Product(operand=operand, reduce=statement.reduced)
                self.builder.emit(place.tensor, write, own, product, statement.span)
            case operator:
                hint = "the machine adds up, and multiplies from the identity; tabla eval --float has all reductions"
                refuse(f"the reduction '{operator}=' does not run on the machine yet", statement.span, hint)
        self.held[tensor.name] = place

    def _place(self, step: Domain, box: Box) -> Held:
        """Where a statement writes: beside what is defined already, or, over all of it, a new version."""
        name, span = step.statement.target, step.statement.span
        boxes = self.boxes.get(name, [])
        fresh = not any(_meet(box, other) for other in boxes)
        updates = step.statement.reduction is not None
        if boxes and fresh and not updates:
            self.boxes[name] = [*boxes, box]
            return self.held[name]
        if any(not _covers(box, other) for other in boxes):
            hint = "write the whole tensor again, or parts that do not overlap"
            refuse(f"this overwrites a part of '{name}'", span, hint)
        self.boxes[name] = [box]
        bounds = _box(self.inference.bounds[name])
        version = self.versions[name] = self.versions.get(name, 0) + 1
        unique = f"{self.prefix}{name}" if version == 1 else f"{self.prefix}{name}.{version}"
        shape = tuple(b - a for a, b in bounds)
        self.builder.tensor(unique, shape, "value", origin=name, span=span)
        return Held(tensor=unique, base=tuple(a for a, _ in bounds))

    def _call(self, step: Called) -> None:
        call = step.statement
        self.calls += 1
        prefix = f"{self.prefix}{call.function.name}.{self.calls}."
        passed: dict[str, Held] = {}
        for parameter, argument in zip(call.function.inputs, call.arguments, strict=True):
            held = self.held[argument]
            # Inside, the indices of an argument start at 0.
            boxes = self.boxes.get(argument, [((0, 0),) * len(held.base)])
            lows = (min(low for low, _ in ends) for ends in zip(*boxes, strict=True))
            base = tuple(base - low for base, low in zip(held.base, lows, strict=True))
            passed[parameter] = Held(tensor=held.tensor, base=base)
        inner = _Lowering(self.builder, self.ranges, step.inference, passed, prefix)
        inner.run()
        for result, target in zip(call.function.results, call.targets, strict=True):
            self.held[target] = Held(tensor=inner.held[result].tensor, base=(0,) * len(inner.held[result].base))
            self.boxes[target] = [_box(self.inference.bounds[target])]
            self.versions[target] = self.versions.get(target, 0) + 1


def _named(step: Domain) -> dict[str, tuple[int, int]]:
    names = [*step.statement.indices, *step.statement.reduced]
    return dict(zip(names, _box(tuple(step.intervals[name] for name in names)), strict=True))


def _box(intervals: tuple[Interval, ...]) -> Box:
    box: list[tuple[int, int]] = []
    for interval in intervals:
        low, high = interval.low.value, interval.high.value
        assert low is not None and high is not None
        box.append((low, high))
    return tuple(box)


def _meet(one: Box, other: Box) -> bool:
    return all(a < d and c < b for (a, b), (c, d) in zip(one, other, strict=True))


def _covers(one: Box, other: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(one, other, strict=True))


def _refuse_integers(name: str, span: Span) -> NoReturn:
    hint = "use float; tabla eval --float has all types"
    refuse(f"'{name}' holds integers, which do not run on the machine yet", span, hint)
