"""A traced Tile program becomes a graph (``docs/decisions/0014-tile.md``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import assert_never

from tabla.base.source import Span
from tabla.graph.constraints import applying
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Extreme,
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Product,
    Read,
    Role,
    Term,
)
from tabla.languages.kernel.lower.builder import GraphBuilder, single
from tabla.languages.kernel.lower.scaled import times
from tabla.languages.tile.lower.expressions import Expressions
from tabla.languages.tile.lower.known import Subscripts, constant, refuse, stretched
from tabla.languages.tile.lower.projection import inhabited
from tabla.languages.tile.lower.refusals import refuse_deep, refuse_whole_numbers
from tabla.languages.tile.lower.region import Region, region_of
from tabla.languages.tile.lower.reshape import refinement
from tabla.languages.tile.lower.update import Updater, fused, rates_of
from tabla.languages.tile.lower.whole_numbers import positions_of
from tabla.languages.tile.lower.zeros import unwritten
from tabla.languages.tile.program import (
    Biased,
    Contraction,
    Elementwise,
    Input,
    Node,
    Number,
    Ordinal,
    Program,
    Reshape,
    Values,
)
from tabla.languages.tile.text import names_of

_ZERO = Constant(value=Fraction(0))


MOST_VALUES = 1024
"""The most numbers of an array that a program holds. Each of them is a statement of the graph."""


def lower(
    program: Program,
    *,
    number_format: Format,
    keep: Sequence[str] = (),
    results: Sequence[str] = (),
    name: str = "program",
    runtime_rate: bool = False,
) -> Graph:
    """Return the graph of a program. The tensors of `keep`, and those that learn, stay on chip as models.

    `results` are names of further tensors to return. With `runtime_rate` the learning rate is a word that hosts load
    (decision 23).

    Raises `TablaError` for constants that `number_format` cannot hold, and for what the graph cannot say.
    """
    return _Lowering(program, number_format, keep, results, runtime_rate).run(name)


class _Lowering:
    def __init__(
        self,
        program: Program,
        number_format: Format,
        keep: Sequence[str],
        results: Sequence[str],
        runtime_rate: bool,
    ) -> None:
        self.program, self.names, self.runtime_rate = program, names_of(program), runtime_rate
        self.asked = {node: name for node, name in self.names.items() if name in results}
        self.ranges: dict[str, Index] = {}
        self.builder = GraphBuilder(number_format, self.ranges)
        self.held: dict[Node, str] = {}
        self.multiples: dict[Node, tuple[Fraction, Node]] = {}
        self.sums: dict[Node, Contraction] = {}
        """The contractions that have no word of their own, by the sum with a bias that has it."""
        self.expressions = Expressions(self.builder, self.held, positions_of(program, number_format))
        learned = {step.weights for step in program.steps}
        labels = labels_of(program)
        for given in program.inputs:
            role: Role = "model" if given in learned or given.parameter in keep else "input"
            if role == "input" and given in labels:
                role = "label"
            self.held[given] = given.parameter
            self.builder.tensor(given.parameter, given.shape, role, origin=given.parameter, span=given.span)

    def run(self, name: str) -> Graph:
        """Return statements of all nodes that are words of their own, then the updates."""
        nodes = self.program.nodes()
        refuse_deep(nodes, [*self.program.outputs, *self.asked])
        refuse_whole_numbers(self.program, nodes)
        words = _words(self.program, nodes, set(self.asked))
        self._find_multiples(nodes)
        self._find_sums(nodes)
        words = words.union(self.sums).difference(self.sums.values())
        for node in nodes:
            if node in words:
                self._define(node, self.names[node])
        updates = {}
        rates = rates_of(self.program, self.builder, loaded=self.runtime_rate)
        for step, rate in zip(self.program.steps, rates, strict=True):
            updater = Updater(self.builder, self.expressions, step, rate)
            updates[step.weights.parameter] = updater.update()
        results = [(shown, self._result(shown, node)) for shown, node in self.program.results()]
        results += [(shown, self._result(shown, node)) for node, shown in self.asked.items()]
        loaded = rates[0].record if rates else None
        return self.builder.graph(name, updates, tuple(dict.fromkeys(results)), loaded)

    def _find_multiples(self, nodes: Sequence[Node]) -> None:
        """Note the sums of which only one multiple by a constant is used. Such a sum is not rounded before it is
        multiplied, so that a mean of many values does not saturate.
        """
        uses = self._uses(nodes)
        for node in nodes:
            match self.expressions.factor(node):
                case (Contraction(aggregation="sum" | "assign") as contraction, value) if uses[contraction] == 1:
                    self.expressions.scaled[node] = contraction
                    self.multiples[contraction] = value, node

    def _find_sums(self, nodes: Sequence[Node]) -> None:
        """Note the sums with a bias of which only the whole is used. The contraction is then not rounded alone.

        The statement of a contraction reaches all elements, or leaves gaps that further statements fill. Where only
        constraints say which elements it reaches, it keeps its word.
        """
        uses = self._uses(nodes)
        shown = {*self.program.outputs, *self.asked, self.program.predicted, *(s.gradient for s in self.program.steps)}
        for node in nodes:
            if not isinstance(node, Biased) or node.kind != "float":
                continue
            total, contraction = node.inputs[0], self.expressions.scaled.get(node.inputs[0], node.inputs[0])
            match contraction:
                case Contraction(aggregation="sum", shape=shape) if shape == node.shape:
                    alone = uses[total] == uses[contraction] == 1 and not shown.intersection((total, contraction))
                    if alone and contraction not in self.expressions.positions and _reached(contraction):
                        self.sums[node] = contraction

    def _uses(self, nodes: Sequence[Node]) -> Counter[Node]:
        """Return how often each node is read by others or returned."""
        return Counter([*(operand for node in nodes for operand in node.operands), *self.program.outputs, *self.asked])

    def _result(self, shown: str, node: Node) -> str:
        """Return the tensor of a result. A parameter or a number is copied into one."""
        if node in self.held and not isinstance(node, Input):
            return self.held[node]
        name = shown
        while name in self.held.values():
            name += "'"
        self.builder.tensor(name, node.shape, "value", origin=name, span=node.span)
        at, indices = _axes(node)
        self.expressions.owner, self.expressions.indices = name, indices
        terms = (Term(factors=(self._own_element(node, at),)),)
        self.builder.emit(name, at, indices, Linear(terms=terms), node.span)
        return name

    def _own_element(self, node: Node, at: Subscripts, span: Span | None = None) -> Operand:
        """Return an element as a word of the kind that the node's words are."""
        if node in self.expressions.positions:
            return self.expressions.whole.element(node, at, self.expressions.parts(node.span))
        return self.expressions.element(node, at, span)

    def _define(self, node: Node, name: str) -> None:
        self.expressions.owner = name
        match node:
            case Contraction():
                self._contract(node, name)
            case Biased() if node in self.sums:
                self._contract(self.sums[node], name, node)
            case Elementwise() | Ordinal():
                self._elementwise(node, name)
            case Reshape():
                self._reshape(node, name)
            case Values():
                self._values(node, name)
            case _:
                raise AssertionError(f"{node} has no statement")
        self.held[node] = name

    def _tensor(self, name: str, node: Node, *, filled: bool = False) -> None:
        self.builder.tensor(name, node.shape, "value", origin=name, span=node.span, filled=filled)

    def _elementwise(self, node: Elementwise | Ordinal, name: str) -> None:
        self._tensor(name, node)
        at, indices = _axes(node)
        self.expressions.owner, self.expressions.indices = name, indices
        if isinstance(node, Ordinal):
            operation: Linear = Linear(terms=(Term(factors=(self._own_element(node, at),)),))
            self.builder.emit(name, at, indices, operation, node.span)
        else:
            self.builder.emit(name, at, indices, self.expressions.operation(node, at), node.span)

    def _values(self, node: Values, name: str) -> None:
        """Write the numbers of an array one by one, or all at once where they are equal."""
        if node.size > MOST_VALUES:
            hint = "hand the array in as a parameter of the function, and name the parameter in --keep"
            refuse(f"an array of {node.size} numbers in a program has more than {MOST_VALUES}", node.span, hint)
        self._tensor(name, node)
        one = self.expressions.whole.one.value if node in self.expressions.positions else 1
        if len(set(node.values)) == 1:
            at, indices = _axes(node)
            writes = [(at, indices, node.values[0])]
        else:
            places = product(*map(range, node.shape))
            writes = [
                (tuple(Affine(constant=each) for each in place), (), value)
                for place, value in zip(places, node.values, strict=True)
            ]
        for write, box, value in writes:
            constant_word = Constant(value=value * one, span=node.span)
            self.builder.emit(name, write, box, Linear(terms=(Term(factors=(constant_word,)),)), node.span)

    def _reshape(self, node: Reshape, name: str) -> None:
        extents, read, write = refinement(node.operand.shape, node.shape)
        if extents is None:
            flat = Reshape(shape=(node.size,), kind=node.kind, operand=node.operand, span=node.span)
            self._reshape(flat, f"{name}.flat")
            self.held[flat] = f"{name}.flat"
            self._reshape(replace(node, operand=flat), name)
            return
        self._tensor(name, node)
        indices = tuple(Index(name=f"i{n}", low=0, high=extent) for n, extent in enumerate(extents))
        operand = self._own_element(node.operand, read, node.span)
        self.builder.emit(name, write, indices, Linear(terms=(Term(factors=(operand,)),)), node.span)

    def _contract(self, node: Contraction, name: str, whole: Biased | None = None) -> None:
        """Write the statements of a contraction, or of the `whole` sum of a contraction and its bias."""
        region = region_of(node)
        if region is None:
            self._tensor(name, node)
            at, indices = _axes(node)
            zero = Linear(terms=(Term(factors=(_ZERO,)),))
            self.builder.emit(name, at, indices, zero, node.span)
            return
        self.ranges.update({index.name: index for index in region.reduced})
        constraints, flagged = self._constraints(node, region)
        zeros = unwritten(replace(region, constraints=constraints), node.shape)
        self._tensor(name, node, filled=_partial(node, region, constraints) and zeros is None)
        operation = self._operation(node, region, constraints)
        if whole is not None:
            assert isinstance(operation, Linear)
            bias = self._bias(whole, region.write, region.indices)
            operation = replace(operation, terms=(*operation.terms, *bias))
        if flagged:
            operation = self._where_any(name, region, operation, node)
            constraints = applying(constraints, region.indices)
        self.builder.emit(name, region.write, region.indices, operation, node.span, constraints)
        for write, indices in zeros or ():
            alone = () if whole is None else self._bias(whole, write, indices)
            self.builder.emit(name, write, indices, Linear(terms=alone or (Term(factors=(_ZERO,)),)), node.span)

    def _bias(self, whole: Biased, at: Subscripts, indices: tuple[Index, ...]) -> tuple[Term, ...]:
        """Return the terms of a bias at the elements of a statement."""
        self.expressions.indices = indices
        bias = whole.inputs[1]
        return self.expressions.sum_of(bias, stretched(bias, at))

    def _constraints(self, node: Contraction, region: Region) -> tuple[tuple[Affine, ...], bool]:
        """Return the constraints of a contraction, and whether constraints cannot say which outputs have a valid point.

        At an output without valid points a sum is 0 as it is. Any other aggregation is not written there.
        """
        if node.aggregation in ("sum", "assign") or not region.constraints:
            return region.constraints, False
        outer = inhabited(region)
        return tuple(dict.fromkeys((*region.constraints, *(outer or ())))), outer is None

    def _where_any(self, name: str, region: Region, operation: Operation, node: Contraction) -> Linear:
        """Return the operation's word times a flag that is 1 where some point is valid and 0 where none is."""
        place = tuple(Affine.make(-index.low, {index.name: 1}) for index in region.indices)
        shape = tuple(index.extent for index in region.indices)
        if isinstance(operation, Extreme):
            # No word is beyond it; the evaluation in float64 has no infinity to multiply with 0.
            fmt = self.builder.number_format
            end = Fraction(fmt.lowest if operation.op == "max" else fmt.highest, fmt.one)
            operation = replace(operation, initial=Constant(value=end))
        one = Extreme(
            op="max", operands=(Constant(value=Fraction(1)),), reduce=tuple(index.name for index in region.reduced)
        )
        for part, each in ((f"{name}.words", operation), (f"{name}.any", one)):
            self.builder.tensor(part, shape, "value", origin=name, span=node.span, filled=True)
            self.builder.emit(part, place, region.indices, each, node.span, region.constraints)
        words, any_point = (Read(tensor=f"{name}.{part}", subscripts=place) for part in ("words", "any"))
        flag = self.builder.part(name, Compare(op=">", left=any_point, right=_ZERO), region.indices, node.span)
        return Linear(terms=(Term(factors=(flag, words)),))

    def _operation(self, node: Contraction, region: Region, constraints: tuple[Affine, ...]) -> Operation:
        summed = tuple(index.name for index in region.reduced)
        terms = self._terms(node, region, constraints)
        shift = -self.builder.number_format.fraction if self._multiplies_positions(node) else 0
        match node.aggregation:
            case "sum" | "assign":
                if node in self.multiples:
                    value, multiple = self.multiples[node]
                    parts = self.expressions.summed_parts(multiple.span)
                    terms = times(terms, value, multiple.span, parts, inverse=_divides(multiple))
                return Linear(terms=tuple(replace(term, reduce=summed) for term in terms), shift=shift)
            case "product":
                operand = self._word(node, terms, region, constraints)
                return Product(operand=operand, reduce=summed, shift=shift)
            case "max" | "min" as op:
                return Extreme(op=op, operands=(self._word(node, terms, region, constraints),), reduce=summed)
            case _:
                assert_never(node.aggregation)

    def _terms(self, node: Contraction, region: Region, constraints: tuple[Affine, ...]) -> tuple[Term, ...]:
        """Return what one set of index values contributes, as terms."""
        parts = self._parts(node, region, constraints)
        match node.combination:
            case "none":
                return (Term(factors=(parts[0],)),)
            case "add":
                return tuple(Term(factors=(part,)) for part in parts)
            case "multiply":
                kept = tuple(part for part in parts if not (isinstance(part, Constant) and part.value == 1))
                return (Term(factors=kept or (parts[0],)),)
            case "condition":
                equal = Compare(op="==", left=parts[0], right=parts[1])
                indices = (*region.indices, *region.reduced)
                test = self.builder.part(self.expressions.owner, equal, indices, node.span, constraints)
                return (Term(factors=(test, parts[2])),)
            case _:
                assert_never(node.combination)

    def _parts(self, node: Contraction, region: Region, constraints: tuple[Affine, ...]) -> list[Operand]:
        """Return the operands of a contraction. Positions are integers, unless the contraction computes real words."""
        positions, indices = self.expressions.positions, (*region.indices, *region.reduced)
        nodes = [source.node for source in node.sources]
        compared = node.combination == "condition" and bool(positions.intersection(nodes[:2]))
        # The first two parts of a condition are compared, and only the last one becomes a value.
        whole = [node in positions] * len(nodes)
        whole[:-1] = [compared] * 2 if len(nodes) == 3 else whole[:-1]

        def part(operation: Operation) -> Read:
            return self.builder.part(self.expressions.owner, operation, indices, node.span, constraints)

        parts: list[Operand] = []
        for source, at, as_integer in zip(node.sources, region.reads, whole, strict=True):
            word = self.expressions.element(source.node, at, source.span)
            if as_integer:
                word = self.expressions.whole.element(source.node, at, part)
            elif source.node in positions and isinstance(word, Read):
                word = self.expressions.whole.real(word, part)
            parts.append(word)
        return parts

    def _multiplies_positions(self, node: Contraction) -> bool:
        products = node.combination == "multiply" or node.aggregation == "product"
        return products and node in self.expressions.positions

    def _word(
        self, node: Contraction, terms: tuple[Term, ...], region: Region, constraints: tuple[Affine, ...]
    ) -> Operand:
        """Return a contribution as one word. A product or a sum is rounded first."""
        if len(terms) == 1 and (word := single(terms[0])) is not None:
            return word
        indices = (*region.indices, *region.reduced)
        return self.builder.part(self.expressions.owner, Linear(terms=terms), indices, node.span, constraints)


def _reached(node: Contraction) -> bool:
    """Return whether statements over boxes write all elements of a contraction."""
    region = region_of(node)
    if region is None:
        return False
    return not _partial(node, region, region.constraints) or unwritten(region, node.shape) is not None


def _partial(node: Contraction, region: Region, constraints: Sequence[Affine]) -> bool:
    """Return whether a contraction leaves elements that it does not write."""
    outer = {index.name for index in region.indices}
    return region.points < node.size or any(set(c.names) <= outer for c in constraints)


def _divides(node: Node) -> bool:
    return isinstance(node, Elementwise) and node.operator == "divide"


def _axes(node: Node) -> tuple[tuple[Affine, ...], tuple[Index, ...]]:
    """Return subscripts and indices over a whole tensor. An extent of 1 needs no index."""
    at: list[Affine] = []
    indices: list[Index] = []
    for axis, extent in enumerate(node.shape):
        if extent > 1:
            indices.append(Index(name=f"i{axis}", low=0, high=extent))
        at.append(Affine.make(0, {f"i{axis}": 1} if extent > 1 else {}))
    return tuple(at), tuple(indices)


def labels_of(program: Program) -> set[Input]:
    """Return the tensors that a program learns to predict: those that it names, or the parameters that it reads only
    element by element.
    """
    if not program.steps:
        return set()
    if program.labels is not None:
        return set(program.labels)
    labels = set(program.inputs) - {step.weights for step in program.steps}
    for node in program.nodes():
        if not isinstance(node, Elementwise):
            labels -= {operand for operand in node.operands if isinstance(operand, Input)}
    return labels


def _words(program: Program, nodes: Sequence[Node], asked: set[Node]) -> set[Node]:
    """Return the nodes that are tensors of the graph: contractions, what they read, results, and values that are used
    twice.
    """
    uses = Counter(operand for node in nodes for operand in node.operands)
    shown = asked.union(program.outputs)
    words = {node for node in shown if not isinstance(node, Input | Number)}
    words |= {program.predicted} if program.predicted is not None else set()
    words |= {step.gradient for step in program.steps if not fused(step.gradient, uses[step.gradient])}
    words |= {node for node in nodes if isinstance(node, Contraction | Reshape | Values)}
    words -= {step.gradient for step in program.steps if step.gradient not in shown} & {
        node for node in nodes if fused(node, uses[node])
    }
    for node in nodes:
        if not isinstance(node, Elementwise):
            words |= {operand for operand in node.operands if isinstance(operand, Elementwise)}
    words |= {node for node in nodes if isinstance(node, Elementwise) and uses[node] > 1}
    return {node for node in words if node in shown or constant(node) is None} - set(program.inputs)
