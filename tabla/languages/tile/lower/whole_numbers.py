"""Positions that the format cannot hold as real words (decision 22).

They are integers of the machine, where the word n is the integer n. Coordinates that are no real words are such
integers, and so are the integers that are made of them or compared with them. All other integers of a program are real
words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from tabla.base.source import Span
from tabla.graph import graph
from tabla.graph.format import Format
from tabla.graph.graph import Constant, Divide, Linear, Operand, Read, Term
from tabla.graph.whole import Part, integer, modulus, negated, toward_zero
from tabla.languages.kernel.lower.builder import GraphBuilder, Sum
from tabla.languages.kernel.lower.functions import MOST_FACTORS, idle
from tabla.languages.tile.lower.known import Subscripts, constant, refuse, stretched
from tabla.languages.tile.program import (
    Contraction,
    Elementwise,
    Input,
    Node,
    Operator,
    Ordinal,
    Program,
    Reshape,
    Values,
)

_COMPARISONS: frozenset[Operator] = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


def positions_of(program: Program, number_format: Format) -> frozenset[Node]:
    """Return the tensors of a program whose words are integers."""
    nodes = program.nodes()
    last = number_format.highest >> number_format.fraction
    found: set[Node] = {node for node in nodes if isinstance(node, Ordinal) and node.shape[node.axis] - 1 > last}
    if program.steps or not found:
        return frozenset()
    before = -1
    while before != len(found):
        before = len(found)
        for node in nodes:
            found.update(_made_of(node, found))
            found.update(_beside(node, found))
    taken: dict[Node, list[Node]] = {}
    for node in nodes:
        for operand in node.operands:
            taken.setdefault(operand, []).append(node)
    for given in program.inputs:
        # A parameter that has other uses is a real tensor.
        if all(_is_position(given, user, found) for user in taken.get(given, [None])):
            found.add(given)
    return frozenset(found)


def _values(node: Node) -> Sequence[Node]:
    """The operands that become values of a node, and not its conditions."""
    match node:
        case Elementwise(operator="select", inputs=inputs):
            return inputs[1:]
        case Elementwise(operator=operator) if operator in _COMPARISONS:
            return ()
        case Contraction(combination="condition", sources=sources):
            return (sources[2].node,)
        case _:
            return node.operands


def _compared(node: Node) -> Sequence[Node]:
    """The operands that a node compares."""
    match node:
        case Elementwise(operator=operator, inputs=inputs) if operator in _COMPARISONS:
            return inputs
        case Contraction(combination="condition", sources=sources):
            return (sources[0].node, sources[1].node)
        case _:
            return ()


def _made_of(node: Node, found: Iterable[Node]) -> Iterable[Node]:
    if node.kind == "integer" and any(operand in found for operand in _values(node)):
        yield node
    if node in found and not (isinstance(node, Elementwise) and node.operator == "cast"):
        yield from (operand for operand in _values(node) if _can_be(operand))


def _beside(node: Node, found: Iterable[Node]) -> Iterable[Node]:
    compared = _compared(node)
    if any(operand in found for operand in compared):
        yield from (operand for operand in compared if _can_be(operand))


def _can_be(node: Node) -> bool:
    return node.kind == "integer" and isinstance(node, Contraction | Elementwise | Ordinal | Reshape | Values)


def _is_position(given: Input, user: Node | None, found: Iterable[Node]) -> bool:
    """Return whether a node uses a parameter as a position."""
    match user:
        case Elementwise(operator="cast", kind="integer"):
            return user in found
        case Elementwise() | Contraction():
            compared = _compared(user)
            return given in compared and given not in _values(user) and any(each in found for each in compared)
        case _:
            return False


class RealWords(Protocol):
    """Elements of nodes as real words. `held` are the nodes that have a tensor of their own."""

    builder: GraphBuilder
    held: Mapping[Node, str]
    positions: frozenset[Node]

    def element(self, node: Node, at: Subscripts) -> Operand:
        """Return an element of a node that is held, a number, or a coordinate, as one operand."""

    def word(self, node: Node, at: Subscripts) -> Operand:
        """Return an element as one word, a temporary where it is more."""

    def condition(self, node: Node, at: Subscripts) -> Operand:
        """Return 1 where an element is not 0, else 0, as one word."""

    def parts(self, span: Span | None) -> Part:
        """Return what makes temporaries at a place."""


class WholeNumbers:
    """Elements of nodes as integers of the machine."""

    def __init__(self, real: RealWords) -> None:
        self._real, self._format = real, real.builder.number_format
        self.one = Constant(value=Fraction(1, self._format.one))

    def element(self, node: Node, at: Subscripts, part: Part) -> Operand:
        """Return an element of a node that is held, a number, or a coordinate, as one operand."""
        real = self._real.element(node, at)
        match real:
            case Constant(value=value):
                return Constant(value=value * self.one.value, span=real.span)
            case graph.Ordinal():
                return graph.Ordinal(value=real.value, fraction=self._format.fraction, span=real.span)
            case _ if node in self._real.positions:
                return real
            case _:
                return integer(real, part, self._format.fraction)

    def real(self, word: Operand, part: Part) -> Read:
        """Return the real word of an integer. It saturates."""
        one = Constant(value=Fraction(1))
        return part(Linear(terms=(Term(factors=(word, one)),), shift=-self._format.fraction))

    def sum_of(self, node: Node, at: Subscripts, *, inside: bool = True) -> Sum:
        """Return an element as signed terms. `inside` is False for the node that is being defined."""
        part = self._real.parts(node.span)
        if constant(node) is not None or not isinstance(node, Elementwise) or (inside and node in self._real.held):
            return (Term(factors=(self.element(node, at, part),)),)
        if node not in self._real.positions:
            return (Term(factors=(integer(self._real.word(node, at), part, self._format.fraction),)),)
        parts = [(operand, stretched(operand, at)) for operand in node.inputs]
        match node.operator:
            case "add":
                return self.sum_of(*parts[0]) + self.sum_of(*parts[1])
            case "subtract":
                return self.sum_of(*parts[0]) + negated(self.sum_of(*parts[1]))
            case "negate":
                return negated(self.sum_of(*parts[0]))
            case "select":
                condition, chosen, other = self._real.condition(*parts[0]), self.word(*parts[1]), self.word(*parts[2])
                return (
                    Term(factors=(condition, chosen)),
                    Term(factors=(condition, other), sign=-1),
                    Term(factors=(other,)),
                )
            case "multiply":
                product = Term(factors=(self.word(*parts[0]), self.word(*parts[1])))
                return (Term(factors=(self._scaled(product, part),)),)
            case "power" if (exponent := constant(node.inputs[1])) is not None and 0 < exponent <= MOST_FACTORS:
                word = own = self.word(*parts[0])
                for _ in range(int(exponent) - 1):
                    word = self._scaled(Term(factors=(word, own)), part)
                return (Term(factors=(word,)),)
            case "maximum" | "minimum":
                op: graph.ExtremeOp = "max" if node.operator == "maximum" else "min"
                for limit, reached in (parts, parts[::-1]):
                    number = constant(limit[0])
                    if idle(op, None if number is None else number * self.one.value, self._format):
                        return self.sum_of(*reached)
                operands = (self.word(*parts[0]), self.word(*parts[1]))
                return (Term(factors=(part(graph.Extreme(op=op, operands=operands)),)),)
            case "absolute":
                word = self.word(*parts[0])
                extreme = graph.Extreme(
                    op="max", operands=(word, part(Linear(terms=(Term(factors=(word,), sign=-1),))))
                )
                return (Term(factors=(part(extreme),)),)
            case "divide" | "remainder":
                left, right = self.word(*parts[0]), self.word(*parts[1])
                if node.operator == "remainder":
                    right = modulus(left, right, part, self._format)
                quotient = part(Divide(left=left, right=right, fraction=self._format.fraction))
                if node.operator == "divide":
                    return (Term(factors=(quotient,)),)
                multiple = self._scaled(Term(factors=(quotient, right)), part)
                return (Term(factors=(left,)), Term(factors=(multiple,), sign=-1))
            case "cast" if node.inputs[0].kind == "float" and node.inputs[0] not in self._real.positions:
                whole = toward_zero(self._real.word(*parts[0]), part, self._format.fraction)
                return (Term(factors=(integer(whole, part, self._format.fraction),)),)
            case "cast":
                return self.sum_of(*parts[0])
            case _:
                last = self._format.highest >> self._format.fraction
                hint = f"choose a format with more integer bits: the numbers of {self._format} end at {last}"
                refuse(f"{node.operator} of positions that {self._format} cannot hold does not run", node.span, hint)

    def word(self, node: Node, at: Subscripts) -> Operand:
        """Return an element as one word, a temporary where it is more."""
        terms = self.sum_of(node, at)
        if len(terms) == 1 and len(terms[0].factors) == 1 and terms[0].sign == 1:
            return terms[0].factors[0]
        return self._real.parts(node.span)(Linear(terms=terms))

    def _scaled(self, product: Term, part: Part) -> Read:
        return part(Linear(terms=(product,), shift=-self._format.fraction))
