"""Elementwise expressions of Tile as sums of products of words, with the rounding points of decision 0002."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph import graph
from tabla.graph.composed_functions import BY_OPERATOR
from tabla.graph.graph import (
    Compare,
    CompareOp,
    Constant,
    Divide,
    Extreme,
    Function,
    FunctionName,
    Index,
    Linear,
    Operand,
    Operation,
    Read,
    Term,
)
from tabla.graph.whole import Part, negated, quotient, toward_zero
from tabla.languages.kernel.lower import scaled
from tabla.languages.kernel.lower.builder import GraphBuilder, Sum
from tabla.languages.kernel.lower.choices import choice, factor_of, plain_term, undivided
from tabla.languages.kernel.lower.functions import Functions, idle, refuse_without_fraction
from tabla.languages.tile import program as tile
from tabla.languages.tile.elementwise import WHOLE
from tabla.languages.tile.lower.bits import Bits
from tabla.languages.tile.lower.known import Subscripts, constant, refuse, stretched
from tabla.languages.tile.lower.whole_numbers import WholeNumbers
from tabla.languages.tile.program import Contraction, Elementwise, Node, Number, Operator, Ordinal

FUNCTIONS: Mapping[Operator, FunctionName] = {
    "exponential": "exp",
    "logarithm": "log",
    "square_root": "sqrt",
    "hyperbolic_tangent": "tanh",
    "sigmoid": "sigmoid",
    "sine": "sin",
    "cosine": "cos",
    "error_function": "erf",
}
EXTREMES: Mapping[Operator, graph.ExtremeOp] = {"maximum": "max", "minimum": "min"}
COMPARISONS: Mapping[Operator, CompareOp] = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))


class Expressions:
    """The elements of nodes as words. `held` are the nodes that have a tensor of their own."""

    def __init__(
        self, builder: GraphBuilder, held: Mapping[Node, str], positions: frozenset[Node] = frozenset()
    ) -> None:
        self.builder, self.held, self.positions = builder, held, positions
        self.whole = WholeNumbers(self)
        self.scaled: dict[Node, Node] = {}
        """Multiples, each with its contraction, where the tensor of the contraction holds the multiple."""
        self.owner = ""
        self.indices: Sequence[Index] = ()

    def element(self, node: Node, at: Subscripts, span: Span | None = None) -> Operand:
        """Return an element of a node that is held, a number, or a coordinate, as one operand."""
        match node:
            case Number() | Elementwise() if (value := constant(node)) is not None:
                return Constant(value=value, span=node.span)
            case Ordinal() if node not in self.held:
                return graph.Ordinal(value=at[node.axis], span=span or node.span)
            case _:
                return Read(tensor=self.held[node], subscripts=at, span=span or node.span)

    def sum_of(self, node: Node, at: Subscripts, *, inside: bool = True) -> Sum:
        """Return an element as signed terms. `inside` is False for the node that is being defined."""
        if (value := constant(node)) is not None:
            kind = scaled.Factor if isinstance(node, tile.Factor) else Constant
            return (Term(factors=(kind(value=value, span=node.span),)),) if value else ()
        if node in self.positions and not inside:
            return self.whole.sum_of(node, at, inside=False)
        if node in self.positions and (node in self.held or not isinstance(node, Ordinal)):
            return (Term(factors=(self.whole.real(self.whole.word(node, at), self.parts(node.span)),)),)
        if not isinstance(node, Elementwise) or (inside and node in self.held):
            return (Term(factors=(self.element(node, at),)),)
        if node in self.scaled:
            return (Term(factors=(self.element(self.scaled[node], at),)),)
        parts = [(operand, stretched(operand, at)) for operand in node.inputs]
        match node.operator:
            case "add":
                return self.sum_of(*parts[0]) + self.sum_of(*parts[1])
            case "subtract":
                return self.sum_of(*parts[0]) + negated(self.sum_of(*parts[1]))
            case "negate":
                return negated(self.sum_of(*parts[0]))
            case "multiply":
                return self._product(*parts, span=node.span)
            case "select":
                return self._choice(*(self.word(*part) for part in parts), span=node.span, test=node.inputs[0])
            case operator if operator in EXTREMES:
                match self._extreme(EXTREMES[operator], *parts):
                    case Extreme() as extreme:
                        return (Term(factors=(self._part(extreme, node.span),)),)
                    case terms:
                        return terms
            case "absolute":
                word = self.word(*parts[0])
                below = self._part(Compare(op="<", left=word, right=_ZERO), node.span)
                twice = Term(factors=(below, word), sign=-1)
                return undivided((Term(factors=(word,)), twice, twice))
            case "cast" if node.kind == "float" or node.kind == node.inputs[0].kind or _widens(node):
                return self.sum_of(*parts[0])
            case "cast" if makes_whole(node):
                word = toward_zero(self.word(*parts[0]), self.parts(node.span), self.builder.number_format.fraction)
                return (Term(factors=(word,)),)
            case "divide" if node.kind == "float" and (divisor := self._outside(node.inputs[1])) is not None:
                place = node.inputs[1].span or node.span
                return scaled.times(self.sum_of(*parts[0]), 1 / divisor, place, self.summed_parts(place), inverse=True)
            case "divide" if node.kind == "float":
                match self._quotient(node, *parts):
                    case Divide() as divide:
                        return (Term(factors=(self._part(divide, node.span),)),)
                    case terms:
                        return terms
            case "divide" if node.kind == "integer":
                left, right = (self.word(*part) for part in parts)
                word = quotient(left, right, self.parts(node.span), self.builder.number_format.fraction)
                return (Term(factors=(word,)),)
            case "power":
                return self._power(node, *parts)
            case operator if operator in BY_OPERATOR:
                refuse_without_fraction(BY_OPERATOR[operator], self.builder.number_format, node.span)
                words = [self.word(*part) for part in parts]
                made = BY_OPERATOR[operator].words(self.parts(node.span), self.builder.number_format, *words)
                return undivided(made)
            case operator if operator in WHOLE:
                terms = self._whole(node, parts)
                return terms if operator == "shift_left" else undivided(terms)
            case _:
                return (Term(factors=(self._part(self.operation(node, at), node.span),)),)

    def _whole(self, node: Elementwise, parts: Sequence[tuple[Node, Subscripts]]) -> Sum:
        """Remainders, shifts and bits of integers, and the logic of booleans."""
        one, *others = (self.word(*part) for part in parts)
        number_format = self.builder.number_format
        for value in map(constant, node.inputs):
            if value is not None and not number_format.holds(value):
                end = Fraction(number_format.highest, number_format.one)
                hint = f"choose a format with more integer bits: the numbers of {number_format} end at {float(end):g}"
                refuse(f"{value} does not fit into {number_format}", node.span, hint)
        bits = Bits(self.parts(node.span), number_format)
        own: Sum = (Term(factors=(one,)),)
        match node.operator:
            case "bit_not":
                return (*((Term(factors=(_ONE,), sign=1 if node.kind == "boolean" else -1)),), *negated(own))
            case "remainder":
                return bits.remainder(one, others[0])
            case "shift_left" | "shift_right":
                return self._shift(node, one, bits)
        both = (Term(factors=(one, others[0])),) if node.kind == "boolean" else bits.conjunction(one, others[0])
        if node.operator == "bit_and":
            return both
        word = self._word(both, node.span)
        shared: Sum = (Term(factors=(word,), sign=-1),)
        either = (*own, Term(factors=(others[0],)), *shared)
        return either if node.operator == "bit_or" else (*either, *shared)

    def _shift(self, node: Elementwise, word: Operand, bits: Bits) -> Sum:
        places = constant(node.inputs[1])
        if places is None:
            message = "a shift by a tensor does not run on the machine"
            refuse(message, node.span, "shift by a number, or multiply with a tensor of powers of two")
        if node.operator == "shift_right":
            return bits.right(word, int(places))
        if not places:
            return (Term(factors=(word,)),)
        number_format = self.builder.number_format
        if not number_format.holds(1 << int(places)):
            hint = f"an integer of {number_format} has {number_format.integer} bits: choose a format with more of them"
            refuse(f"{1 << int(places)} does not fit {number_format}", node.span, hint)
        return (Term(factors=(word, Constant(value=Fraction(1 << int(places)), span=node.span))),)

    def operation(self, node: Elementwise, at: Subscripts) -> Operation:
        """Return the operation that defines an element."""
        parts = [(operand, stretched(operand, at)) for operand in node.inputs]
        match node.operator:
            case "divide" if node.kind == "float" and node not in self.scaled and self._outside(node.inputs[1]) is None:
                match self._quotient(node, *parts):
                    case Divide() as divide:
                        return divide
                    case terms:
                        return Linear(terms=terms)
            case operator if operator in COMPARISONS:
                words = self.whole.word if self.positions.intersection(node.inputs) else self.word
                left, right = (words(*part) for part in parts)
                return Compare(op=COMPARISONS[operator], left=left, right=right)
            case operator if operator in FUNCTIONS:
                return Function(name=FUNCTIONS[operator], operand=self.word(*parts[0]))
            case "cast" if node.kind == "boolean":
                return Compare(op="!=", left=self.word(*parts[0]), right=_ZERO)
            case operator if operator in EXTREMES and node not in self.positions:
                match self._extreme(EXTREMES[operator], *parts):
                    case Extreme() as extreme:
                        return extreme
                    case terms:
                        return Linear(terms=terms or (Term(factors=(_ZERO,)),))
            case _:
                terms = self.sum_of(node, at, inside=False)
                return Linear(terms=terms or (Term(factors=(_ZERO,)),))

    def factor(self, node: Node) -> tuple[Node, Fraction] | None:
        """Return operand and constant of a product or a quotient whose constant multiplies each term of the operand.

        It does so if the format cannot hold the constant, and if the operand is a sum. The constant of a quotient is
        the inverse of the divisor. The result is None for any other node.
        """
        match node:
            case Elementwise(operator="divide", kind="float", inputs=(operand, divisor)):
                value = self._scaling(divisor, operand)
                return None if value is None else (operand, 1 / value)
            case Elementwise(operator="multiply", inputs=(left, right)):
                for operand, other in ((left, right), (right, left)):
                    if (value := self._scaling(other, operand)) is not None:
                        return operand, value
        return None

    def _scaling(self, node: Node, operand: Node) -> Fraction | None:
        """Return the value of a constant that multiplies each term of an operand, or None."""
        value = constant(node)
        match operand:
            case Contraction(aggregation="sum", kind="float") if value and abs(value) != 1:
                return value
            case _:
                return self._outside(node)

    def _quotient(
        self, node: Elementwise, left: tuple[Node, Subscripts], right: tuple[Node, Subscripts]
    ) -> Divide | Sum:
        """Return a real quotient. What is divided by a constant is not rounded before."""
        terms, divisor = self.sum_of(*left), constant(right[0])
        if divisor and self.builder.scales(divisor, terms, divides=True):
            place = right[0].span or node.span
            return scaled.times(terms, 1 / divisor, place, self.summed_parts(place), inverse=True)
        return Divide(left=self._word(terms, left[0].span), right=self.word(*right))

    def _outside(self, node: Node) -> Fraction | None:
        """Return the value of a constant other than 0, if the format cannot hold it or if it is a factor."""
        value = constant(node)
        taken = isinstance(node, tile.Factor) or (value is not None and self.builder.outside(value))
        return value if value and taken else None

    def word(self, node: Node, at: Subscripts) -> Operand:
        """Return an element as one word, a temporary where it is more."""
        return self._word(self.sum_of(node, at), node.span)

    def _word(self, terms: Sum, span: Span | None) -> Operand:
        if not terms:
            return _ZERO
        if len(terms) == 1 and len(terms[0].factors) == 1 and terms[0].sign == 1:
            return terms[0].factors[0]
        return self._part(Linear(terms=terms), span)

    def _product(self, left: tuple[Node, Subscripts], right: tuple[Node, Subscripts], *, span: Span | None) -> Sum:
        return self._times(self.sum_of(*left), self.sum_of(*right), span)

    def _times(self, one: Sum, other: Sum, span: Span | None) -> Sum:
        if not one or not other:
            return ()
        for factor, rest in ((one, other), (other, one)):
            match factor:
                case (Term(factors=(Constant(value=value) as known,), sign=sign),) if isinstance(
                    known, scaled.Factor
                ) or self.builder.scales(value, rest):
                    return scaled.times(rest, sign * value, known.span or span, self.summed_parts(span))
        sign = 1
        factors: list[Operand] = []
        for terms in (one, other):
            if len(terms) == 1 and len(terms[0].factors) == 1:
                sign *= terms[0].sign
                factors.append(terms[0].factors[0])
            else:
                outside, inside = factor_of(terms)
                sign *= outside
                factors.append(self._part(Linear(terms=inside), span))
        kept = tuple(factor for factor in factors if not (isinstance(factor, Constant) and factor.value == 1))
        return (Term(factors=kept or (_ONE,), sign=sign),)

    def _choice(self, condition: Operand, chosen: Operand, other: Operand, *, span: Span | None, test: Node) -> Sum:
        """``c ? a : b`` as ``c*a - c*b + b``, c being 0 or 1."""
        condition = self._truth(condition, test, span)
        terms = map(plain_term, choice(condition, chosen, other))
        kept = (t for t in terms if not any(isinstance(f, Constant) and f.value == 0 for f in t.factors))
        return undivided(tuple(kept))

    def condition(self, node: Node, at: Subscripts) -> Operand:
        """Return 1 where an element is not 0, else 0, as one word."""
        return self._truth(self.word(node, at), node, node.span)

    def _truth(self, word: Operand, test: Node, span: Span | None) -> Operand:
        return word if test.kind == "boolean" else self._part(Compare(op="!=", left=word, right=_ZERO), span)

    def _extreme(
        self, op: graph.ExtremeOp, left: tuple[Node, Subscripts], right: tuple[Node, Subscripts]
    ) -> Extreme | Sum:
        """Return the larger or the smaller of two values; the terms of one where no word reaches the other."""
        for (limit, _), other in ((left, right), (right, left)):
            if idle(op, constant(limit), self.builder.number_format):
                return self.sum_of(*other)
        return Extreme(op=op, operands=(self.word(*left), self.word(*right)))

    def _power(self, node: Elementwise, base: tuple[Node, Subscripts], exponent: tuple[Node, Subscripts]) -> Sum:
        """Return a power by a constant as every notation makes it, and any other one as ``exp(b * log a)``."""
        value = constant(exponent[0])
        if value is not None:
            return self._functions(node.span).power(self.sum_of(*base), value, exponent[0].span or node.span)
        logarithm = self._part(Function(name="log", operand=self.word(*base)), node.span)
        product = self._times((Term(factors=(logarithm,)),), self.sum_of(*exponent), node.span)
        power = Function(name="exp", operand=self._word(product, node.span))
        return (Term(factors=(self._part(power, node.span),)),)

    def _functions(self, span: Span | None) -> Functions:
        """Return what makes functions of temporaries at a place."""
        return Functions(part=self.parts(span), number_format=self.builder.number_format)

    def parts(self, span: Span | None) -> Part:
        """Return what makes temporaries at a place."""
        return lambda operation: self._part(operation, span)

    def summed_parts(self, span: Span | None) -> scaled.SummedPart:
        """Return what makes temporaries at a place. No sum is inside of an expression."""
        return lambda operation, summed: self._part(operation, span)

    def _part(self, operation: Operation, span: Span | None) -> Read:
        return self.builder.part(self.owner, operation, self.indices, span)


def makes_whole(node: Elementwise) -> bool:
    """Return whether a node makes whole numbers of reals."""
    match node.operator:
        case "round" | "floor" | "ceil":
            return True
        case "cast":
            return node.kind == "integer" and node.inputs[0].kind == "float"
        case "bit_and" | "bit_or" | "bit_xor" | "shift_right":
            return node.kind == "integer"
        case _:
            return False


_BOOLEAN = Number(shape=(), kind="boolean", value=Fraction(1))


def _widens(node: Elementwise) -> bool:
    """From booleans to integers: 0 and 1 stay."""
    return node.kind == "integer" and node.inputs[0].kind == "boolean"
