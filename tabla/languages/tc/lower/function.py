"""A checked function of Tensor Comprehensions becomes a graph. Calls are inlined.

What the graph cannot say is refused with its place: ``docs/decisions/0010-tc.md`` lists it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Extreme, Graph, Index, Linear, Operation, Product, Read, Term
from tabla.languages.kernel.builder import GraphBuilder
from tabla.languages.kernel.scaled import times
from tabla.languages.tc.constraints import Interval
from tabla.languages.tc.lower.domains import pieces_of
from tabla.languages.tc.lower.expressions import Expressions
from tabla.languages.tc.lower.means import overwriting
from tabla.languages.tc.lower.points import Box, Points
from tabla.languages.tc.lower.words import Held, refuse
from tabla.languages.tc.program import Function
from tabla.languages.tc.ranges import Called, Inference, infer
from tabla.languages.tc.statement_ranges import Domain


def lower(
    function: Function,
    sizes: Mapping[str, int],
    *,
    number_format: Format,
    name: str = "program",
    keep: Sequence[str] = (),
    results: Sequence[str] = (),
) -> Graph:
    """Return the graph of a function for given sizes. The inputs `keep` stay on chip, and `results` are returned too.

    Raises `TablaError` for sizes that make a range empty, for constants that `number_format` cannot hold, and for what
    the machine cannot do.
    """
    ranges: dict[str, Index] = {}
    builder = GraphBuilder(number_format, ranges)
    inference = infer(function, sizes)
    held: dict[str, Held] = {}
    for given in function.inputs:
        tensor = function.tensors[given]
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
        self.multiples: set[str] = set()
        self.calls = 0

    def take_initial(self) -> None:
        """Let the tensors that the caller passes to accumulate into come in under the names under which they go out."""
        for step in self.inference.steps:
            if not isinstance(step, Domain) or step.statement.target in self.held:
                continue
            tensor = self.inference.function.tensors[step.statement.target]
            if tensor.initial:
                name, box = tensor.name, _box(tuple(step.intervals[index] for index in step.statement.indices))
                shape = tuple(high - low for low, high in box)
                base = tuple(low for low, _ in box)
                self.builder.tensor(name, shape, "input", origin=name, span=tensor.span, base=base)
                self.held[name] = Held(tensor=name, base=base)
                self.boxes[name], self.versions[name] = [box], 1

    def run(self) -> None:
        """Append the statements of the function to the graph, in the order of the text."""
        for step in self.inference.steps:
            match step:
                case Domain():
                    self._assign(step)
                case Called():
                    self._call(step)

    def _assign(self, step: Domain) -> None:
        statement = step.statement
        tensor = self.inference.function.tensors[statement.target]
        pieces = pieces_of(step, self.inference.sizes)
        known = self.held.get(tensor.name)
        place = self._place(step)
        for points in pieces:
            self.ranges.update(points.box)
            expressions = Expressions(self.builder, points, self.held, self.multiples)
            expressions.owner = place.tensor
            earlier: Read | None = None
            if statement.reduction is not None and not statement.initialise:
                assert known is not None
                earlier = Read(tensor=known.tensor, subscripts=_at(points, known))
            if points.partial and (earlier is not None or statement.reduction not in (None, "+")):
                hint = "give the output indices ranges of sizes"
                refuse("what the range leaves out does not run on the machine yet", statement.span, hint)
            operation = self._multiple(step, place, self._operation(points, expressions, earlier), expressions)
            write, own = _at(points, place), points.indices
            self.builder.emit(place.tensor, write, own, operation, statement.span, points.constraints)
        self.held[tensor.name] = place

    def _multiple(self, step: Domain, place: Held, operation: Operation, expressions: Expressions) -> Operation:
        """Return a sum as its multiple by a constant, if only the multiple is used."""
        found = overwriting(self.inference.steps, step)
        if found is None or not isinstance(operation, Linear) or not _covers(_written(found[0]), _written(step)):
            return operation
        later, factor, inverse = found
        points = pieces_of(later, self.inference.sizes)
        constant = Expressions(self.builder, points[0], self.held).constant(factor)
        if not constant or any(each.partial for each in points):
            return operation
        if not self.builder.scales(constant, operation.terms, divides=inverse):
            return operation
        self.multiples.add(place.tensor)
        value = 1 / constant if inverse else constant
        parts = expressions.parts(factor.span)
        return replace(operation, terms=times(operation.terms, value, factor.span, parts, inverse=inverse))

    def _operation(self, points: Points, expressions: Expressions, earlier: Read | None) -> Operation:
        """Return what a statement computes. `earlier` is the element that it updates."""
        statement, reduce = points.step.statement, points.summed
        tensor = self.inference.function.tensors[statement.target]
        values = expressions.integers if tensor.scalar.integral else expressions
        shift = -self.builder.number_format.fraction if tensor.scalar.integral else 0
        # From the identity on, one value is that value.
        plain = earlier is None and not reduce
        match None if plain else statement.reduction:
            case None | "+":
                terms = tuple(replace(term, reduce=reduce) for term in values.sum_of(points.value))
                before = () if earlier is None else (Term(factors=(earlier,)),)
                return Linear(terms=(*before, *terms) or (Term(factors=(Constant(value=Fraction(0)),)),))
            case "*" if reduce:
                return Product(operand=values.word(points.value), reduce=reduce, initial=earlier, shift=shift)
            case "*":
                assert earlier is not None
                return Linear(terms=(Term(factors=(values.word(points.value), earlier)),), shift=shift)
            case "min" | "max" as op if reduce:
                return Extreme(op=op, operands=(values.word(points.value),), reduce=reduce, initial=earlier)
            case "min" | "max" as op:
                assert earlier is not None
                return Extreme(op=op, operands=(values.word(points.value), earlier))

    def _place(self, step: Domain) -> Held:
        """Return where a statement writes: beside what is defined already or, where it covers all of that, into a new
        version.
        """
        name, span, box = step.statement.target, step.statement.span, _written(step)
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
        base = tuple(a for a, _ in bounds)
        self.builder.tensor(unique, shape, "value", origin=name, span=span, filled=self._gaps(step), base=base)
        return Held(tensor=unique, base=base)

    def _gaps(self, step: Domain) -> bool:
        """Return whether the statements that write a tensor from here on, up to its next version, leave
        elements out.
        """
        boxes: list[Box] = []
        for later in self.inference.steps[self.inference.steps.index(step) :]:
            if not isinstance(later, Domain) or later.statement.target != step.statement.target:
                continue
            box = _written(later)
            if any(_meet(box, other) for other in boxes):
                break
            if any(piece.partial for piece in pieces_of(later, self.inference.sizes)):
                return True
            boxes.append(box)
        whole = _box(self.inference.bounds[step.statement.target])
        return sum(map(_volume, boxes)) < _volume(whole)

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


def _at(points: Points, held: Held) -> tuple[Affine, ...]:
    """The element of the target at a point."""
    affines = (points.places[name] for name in points.step.statement.indices)
    return tuple(
        Affine(constant=affine.constant - base, coefficients=affine.coefficients)
        for affine, base in zip(affines, held.base, strict=True)
    )


def _written(step: Domain) -> Box:
    return _box(tuple(step.intervals[name] for name in step.statement.indices))


def _volume(box: Box) -> int:
    return prod(high - low for low, high in box)


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
