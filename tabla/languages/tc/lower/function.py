"""A checked function of Tensor Comprehensions becomes a graph. Calls are inlined.

What the graph cannot say is refused with its place: ``docs/decisions/0010-tc.md`` lists it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from tabla.base.source import Span
from tabla.graph.constraints import possible
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Extreme, Graph, Index, Linear, Operand, Operation, Product, Read, Term
from tabla.languages.kernel.boxes import Box, covers, difference, hull, meets, volume
from tabla.languages.kernel.lower.builder import GraphBuilder
from tabla.languages.kernel.lower.scaled import times
from tabla.languages.tc import program
from tabla.languages.tc.lower.domains import left_out, pieces_of
from tabla.languages.tc.lower.expressions import Expressions
from tabla.languages.tc.lower.means import overwriting
from tabla.languages.tc.lower.points import Points, box_of, written
from tabla.languages.tc.lower.versions import Versions
from tabla.languages.tc.lower.words import Held
from tabla.languages.tc.program import Function, walk
from tabla.languages.tc.ranges import Called, Inference, infer
from tabla.languages.tc.statement_ranges import Domain


def lower_function(
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
    lowering = _Lowering(builder, ranges, inference, "")
    for given in function.inputs:
        tensor, box = function.tensors[given], box_of(inference.bounds[given])
        shape = tuple(high for _, high in box)
        builder.tensor(given, shape, "model" if given in keep else "input", origin=given, span=tensor.span)
        lowering.versions.give(given, Held(tensor=given, base=(0,) * len(shape)), box)
    lowering.take_initial()
    lowering.run()
    shown = dict.fromkeys((*function.results, *results))
    held = tuple((result, lowering.versions.whole(result, function.tensors[result].span).tensor) for result in shown)
    graph = builder.graph(name, {}, held)
    return replace(graph, notes=(*function.notes, *graph.notes))


class _Lowering:
    """The statements of one function, inlined where `prefix` names the call."""

    def __init__(self, builder: GraphBuilder, ranges: dict[str, Index], inference: Inference, prefix: str) -> None:
        self.builder, self.ranges, self.inference, self.prefix = builder, ranges, inference, prefix
        bounds = {name: box_of(intervals) for name, intervals in inference.bounds.items()}
        self.versions = Versions(builder, bounds, prefix)
        self.multiples: set[str] = set()
        self.calls = 0

    def take_initial(self) -> None:
        """Let the tensors that the caller passes to accumulate into come in under the names under which they go out."""
        for step in self.inference.steps:
            if not isinstance(step, Domain) or step.statement.target in self.versions:
                continue
            tensor = self.inference.function.tensors[step.statement.target]
            if tensor.initial:
                name, box = tensor.name, written(step)
                shape, base = tuple(high - low for low, high in box), tuple(low for low, _ in box)
                self.builder.tensor(name, shape, "input", origin=name, span=tensor.span, base=base)
                self.versions.give(name, Held(tensor=name, base=base), box)

    def run(self) -> None:
        """Append the statements of the function to the graph, in the order of the text."""
        for step in self.inference.steps:
            match step:
                case Domain():
                    self._assign(step)
                case Called():
                    self._call(step)

    def _assign(self, step: Domain) -> None:
        statement, pieces = step.statement, pieces_of(step, self.inference.sizes)
        if _begins(step) and any(_reads(points, statement.target) for points in pieces):
            # The value reads what the statement starts from.
            self.versions.restart(statement.target, self._identity(step), statement.span)
        # Reads come first: they may bring together what the statement then writes anew.
        held = [self._read(points) for points in pieces]
        self.versions.widen(statement.target, written(step))
        before, updates = self._before(step), statement.reduction is not None and not _begins(step)
        place = self._place(step, pieces)
        if before is None and all(_empty(points) for points in pieces):
            # No condition ever holds, and a tensor needs a statement.
            self.versions.fill(statement.target, written(step), Fraction(0), statement.span)
            return
        for points, known in zip(pieces, held, strict=True):
            self.ranges.update(points.box)
            expressions = Expressions(self.builder, points, known, self.multiples)
            expressions.owner = place.tensor
            earlier: Operand | None = None
            if updates and before is not None:
                earlier = Read(tensor=before.tensor, subscripts=_at(points, before), span=statement.span)
            elif updates:
                earlier = Constant(value=Fraction(0), span=statement.span)
            operation = self._multiple(step, place, self._operation(points, expressions, earlier), expressions)
            write, own = _at(points, place), points.indices
            self.builder.emit(place.tensor, write, own, operation, statement.span, points.constraints)
        self._rest(step, place, before)

    def _read(self, points: Points) -> dict[str, Held]:
        """Return a tensor of the graph for each tensor that a value reads, with all elements that it reads."""
        boxes: dict[str, list[Box | None]] = {}
        for read in walk(points.value):
            if isinstance(read, program.Read):
                box = points.reached(read)
                inside = box is not None and covers(self.versions.box(read.tensor), box)
                boxes.setdefault(read.tensor, []).append(box if inside else None)
        return {name: self._reached(name, taken, points.step.statement.span) for name, taken in boxes.items()}

    def _reached(self, name: str, boxes: Sequence[Box | None], span: Span) -> Held:
        """Return a tensor of the graph that holds all of `boxes`. None stands for elements that data choose, or that
        conditions keep inside.
        """
        known = [box for box in boxes if box is not None]
        if len(known) < len(boxes):
            return self.versions.whole(name, span)
        return self.versions.reach(name, reduce(hull, known), span)

    def _before(self, step: Domain) -> Held | None:
        """Return where the elements are that a statement updates, or leaves as they are; None where it needs none, or
        where they are all 0.
        """
        statement, box = step.statement, written(step)
        if _begins(step) or not self.versions.meets(statement.target, box):
            return None
        if statement.reduction is None and not left_out(step, self.inference.sizes):
            return None
        return self.versions.reach(statement.target, box, statement.span)

    def _place(self, step: Domain, pieces: Sequence[Points]) -> Held:
        """Return where a statement writes: into a new tensor, or beside what a tensor holds already."""
        statement, box = step.statement, written(step)
        name, partial = statement.target, any(points.partial for points in pieces)
        if _begins(step) or self.versions.covered(name, box):
            return self.versions.anew(name, box, statement.span, filled=self._gaps(step))
        return self.versions.over(name, box, statement.span, partial=partial)

    def _rest(self, step: Domain, place: Held, before: Held | None) -> None:
        """Write the elements that a statement leaves out, where they are not 0: they stay as they were, or are the
        identity of the reduction.
        """
        statement, span = step.statement, step.statement.span
        begins = _begins(step)
        identity = self._identity(step) if begins else Fraction(0)
        if before is None and not identity:
            return
        for points in left_out(step, self.inference.sizes):
            word: Operand = Constant(value=identity, span=span)
            if before is not None:
                word = Read(tensor=before.tensor, subscripts=_at(points, before), span=span)
            operation = Linear(terms=(Term(factors=(word,)),))
            self.builder.emit(place.tensor, _at(points, place), points.indices, operation, span, points.constraints)
        if begins:
            for box in difference(self.versions.box(statement.target), written(step)):
                self.versions.fill(statement.target, box, identity, span)

    def _identity(self, step: Domain) -> Fraction:
        """Return what a reduction starts from, as the real number of its word."""
        number, scalar = self.builder.number_format, self.inference.function.tensors[step.statement.target].scalar
        match step.statement.reduction:
            case "*":
                return Fraction(1, number.one if scalar.integral else 1)
            case "min" | "max" as op if scalar.kind == "bool":
                return Fraction(op == "min")
            case "min":
                return Fraction(number.highest, number.one)
            case "max":
                return Fraction(number.lowest, number.one)
            case _:
                return Fraction(0)

    def _multiple(self, step: Domain, place: Held, operation: Operation, expressions: Expressions) -> Operation:
        """Return a sum as its multiple by a constant, if only the multiple is used."""
        found = overwriting(self.inference.steps, step)
        if found is None or not isinstance(operation, Linear) or not covers(written(found[0]), written(step)):
            return operation
        later, factor, inverse = found
        points = pieces_of(later, self.inference.sizes)
        constant = Expressions(self.builder, points[0], {}).constant(factor)
        if not constant or any(each.partial for each in points):
            return operation
        if not self.builder.scales(constant, operation.terms, divides=inverse):
            return operation
        self.multiples.add(place.tensor)
        value = 1 / constant if inverse else constant
        parts = expressions.parts(factor.span)
        return replace(operation, terms=times(operation.terms, value, factor.span, parts, inverse=inverse))

    def _operation(self, points: Points, expressions: Expressions, earlier: Operand | None) -> Operation:
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
                before = () if earlier is None or isinstance(earlier, Constant) else (Term(factors=(earlier,)),)
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

    def _gaps(self, step: Domain) -> bool:
        """Return whether the statements that write a tensor from here on, up to its next version, leave
        elements out.
        """
        boxes: list[Box] = []
        for later in self.inference.steps[self.inference.steps.index(step) :]:
            if not isinstance(later, Domain) or later.statement.target != step.statement.target:
                continue
            box = written(later)
            if any(meets(box, other) for other in boxes):
                break
            if any(piece.partial for piece in pieces_of(later, self.inference.sizes)):
                return True
            boxes.append(box)
        whole = box_of(self.inference.bounds[step.statement.target])
        return sum(map(volume, boxes)) < volume(whole)

    def _call(self, step: Called) -> None:
        call = step.statement
        self.calls += 1
        inner = _Lowering(self.builder, self.ranges, step.inference, f"{self.prefix}{call.function.name}.{self.calls}.")
        for parameter, argument in zip(call.function.inputs, call.arguments, strict=True):
            held, ranges = self.versions.whole(argument, call.span), self.versions.box(argument)
            # Inside, the indices of an argument start at 0.
            base = tuple(base - low for base, (low, _) in zip(held.base, ranges, strict=True))
            box = box_of(step.inference.bounds[parameter])
            inner.versions.give(parameter, Held(tensor=held.tensor, base=base), box)
        inner.run()
        for result, target in zip(call.function.results, call.targets, strict=True):
            held, box = inner.versions.whole(result, call.span), box_of(self.inference.bounds[target])
            self.versions.give(target, Held(tensor=held.tensor, base=(0,) * len(box)), box)


def _at(points: Points, held: Held) -> tuple[Affine, ...]:
    """The element of the target at a point."""
    affines = (points.places[name] for name in points.step.statement.indices)
    return tuple(affine - base for affine, base in zip(affines, held.base, strict=True))


def _empty(points: Points) -> bool:
    return bool(points.constraints) and not possible(points.constraints, points.all)


def _begins(step: Domain) -> bool:
    """Return whether a statement starts all of its tensor from the identity of its reduction."""
    return step.statement.reduction is not None and step.statement.initialise


def _reads(points: Points, tensor: str) -> bool:
    return any(isinstance(value, program.Read) and value.tensor == tensor for value in walk(points.value))
