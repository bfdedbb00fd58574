"""Elementwise expressions of Tile as sums of products of words, with the rounding points of decision 0002."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NoReturn

from tabla.ir import graph
from tabla.ir.graph import (
    Affine,
    Compare,
    CompareOp,
    Constant,
    Divide,
    Function,
    FunctionName,
    Index,
    Linear,
    Operand,
    Operation,
    Read,
    Term,
)
from tabla.lang.tile.elementwise import WHOLE
from tabla.lang.tile.program import Elementwise, Node, Number, Operator, Ordinal
from tabla.lower.builder import GraphBuilder, Sum, negated
from tabla.lower.tile.bits import Bits
from tabla.lower.tile.curves import HYPERBOLIC, MADE, Curves
from tabla.lower.whole import Part, ceil, floor, half_even, quotient, toward_zero
from tabla.source import Label, Span, TablaError

Subscripts = tuple[Affine, ...]

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
COMPARISONS: Mapping[Operator, CompareOp] = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
MOST_FACTORS = 16
_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))


class Expressions:
    """The elements of nodes as words. `held` are the nodes that have a tensor of their own."""

    def __init__(self, builder: GraphBuilder, held: Mapping[Node, str]) -> None:
        self.builder, self.held = builder, held
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
            return (Term(factors=(Constant(value=value, span=node.span),)),) if value else ()
        if not isinstance(node, Elementwise) or (inside and node in self.held):
            return (Term(factors=(self.element(node, at),)),)
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
            case "maximum":
                return self._extreme("max", *parts)
            case "minimum":
                return self._extreme("min", *parts)
            case "absolute":
                word = self.word(*parts[0])
                below = self._part(Compare(op="<", left=word, right=_ZERO), node.span)
                twice = Term(factors=(below, word), sign=-1)
                return (Term(factors=(word,)), twice, twice)
            case "cast" if node.kind == "float" or node.kind == node.inputs[0].kind or _widens(node):
                return self.sum_of(*parts[0])
            case "cast" if makes_whole(node):
                word = toward_zero(self.word(*parts[0]), self._parts(node.span), self.builder.number_format.fraction)
                return (Term(factors=(word,)),)
            case "divide" if node.kind == "integer":
                left, right = (self.word(*part) for part in parts)
                word = quotient(left, right, self._parts(node.span), self.builder.number_format.fraction)
                return (Term(factors=(word,)),)
            case "round":
                return half_even(self.word(*parts[0]), self._parts(node.span), self.builder.number_format.fraction)
            case "power":
                return self._power(node, *parts)
            case operator if operator in WHOLE:
                return self._whole(node, parts)
            case operator if operator in MADE:
                if operator in HYPERBOLIC and not self.builder.number_format.fraction:
                    hint = "choose a format with fraction bits, such as q12.4"
                    refuse(f"{operator} needs fraction bits, {self.builder.number_format} has none", node.span, hint)
                curves = Curves(self._parts(node.span), self.builder.number_format)
                return curves.of(operator, self.word(*parts[0]))
            case "floor" | "ceil":
                to_whole = floor if node.operator == "floor" else ceil
                word = to_whole(self.word(*parts[0]), self._parts(node.span), self.builder.number_format.fraction)
                return (Term(factors=(word,)),)
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
        bits = Bits(self._parts(node.span), number_format)
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
        return (Term(factors=(word, Constant(value=Fraction(1 << int(places)), span=node.span))),)

    def operation(self, node: Elementwise, at: Subscripts) -> Operation:
        """Return the operation that defines an element."""
        parts = [(operand, stretched(operand, at)) for operand in node.inputs]
        match node.operator:
            case "divide" if node.kind == "float":
                return Divide(left=self.word(*parts[0]), right=self.word(*parts[1]))
            case operator if operator in COMPARISONS:
                left, right = (self.word(*part) for part in parts)
                return Compare(op=COMPARISONS[operator], left=left, right=right)
            case operator if operator in FUNCTIONS:
                return Function(name=FUNCTIONS[operator], operand=self.word(*parts[0]))
            case "cast" if node.kind == "boolean":
                return Compare(op="!=", left=self.word(*parts[0]), right=_ZERO)
            case _:
                terms = self.sum_of(node, at, inside=False)
                return Linear(terms=terms or (Term(factors=(_ZERO,)),))

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
        sign = 1
        factors: list[Operand] = []
        for terms in (one, other):
            if len(terms) == 1 and len(terms[0].factors) == 1:
                sign *= terms[0].sign
                factors.append(terms[0].factors[0])
            else:
                factors.append(self._part(Linear(terms=terms), span))
        kept = tuple(factor for factor in factors if not (isinstance(factor, Constant) and factor.value == 1))
        return (Term(factors=kept or (_ONE,), sign=sign),)

    def _choice(self, condition: Operand, chosen: Operand, other: Operand, *, span: Span | None, test: Node) -> Sum:
        """``c ? a : b`` as ``c*a - c*b + b``, c being 0 or 1."""
        if test.kind != "boolean":
            condition = self._part(Compare(op="!=", left=condition, right=_ZERO), span)
        terms = (
            Term(factors=(condition, chosen)),
            Term(factors=(condition, other), sign=-1),
            Term(factors=(other,)),
        )
        return tuple(t for t in terms if not any(isinstance(f, Constant) and f.value == 0 for f in t.factors))

    def _extreme(self, op: graph.ExtremeOp, left: tuple[Node, Subscripts], right: tuple[Node, Subscripts]) -> Sum:
        for (limit, _), other in ((left, right), (right, left)):
            if self._idle(op, constant(limit)):
                return self.sum_of(*other)
        operands = (self.word(*left), self.word(*right))
        test = Compare(op=">" if op == "max" else "<", left=operands[0], right=operands[1])
        condition = self._part(test, left[0].span)
        return self._choice(condition, *operands, span=None, test=_BOOLEAN)

    def _idle(self, op: graph.ExtremeOp, limit: Fraction | None) -> bool:
        """Return whether no word reaches a limit, so that it changes none: ``min(A, 1000)`` where words end at 32."""
        return (
            limit is not None
            and not self.builder.number_format.holds(limit)
            and (limit > 0 if op == "min" else limit < 0)
        )

    def _power(self, node: Elementwise, base: tuple[Node, Subscripts], exponent: tuple[Node, Subscripts]) -> Sum:
        """Whole powers by repeated multiplication, a half by the root, the rest by ``exp(b * log a)``."""
        value = constant(exponent[0])
        if value is not None and value == Fraction(1, 2):
            root = Function(name="sqrt", operand=self.word(*base))
            return (Term(factors=(self._part(root, node.span),)),)
        if value is not None and value.denominator == 1 and abs(value) <= MOST_FACTORS:
            return self._whole_power(base, int(value), node.span)
        logarithm = self._part(Function(name="log", operand=self.word(*base)), node.span)
        product = self._times((Term(factors=(logarithm,)),), self.sum_of(*exponent), node.span)
        power = Function(name="exp", operand=self._word(product, node.span))
        return (Term(factors=(self._part(power, node.span),)),)

    def _whole_power(self, base: tuple[Node, Subscripts], exponent: int, span: Span | None) -> Sum:
        terms: Sum = (Term(factors=(_ONE,)),)
        if exponent:
            word: Sum = (Term(factors=(self.word(*base),)),)
            terms = word
            for _ in range(abs(exponent) - 1):
                terms = self._times(terms, word, span)
        if exponent < 0:
            divide = Divide(left=_ONE, right=self._word(terms, span))
            terms = (Term(factors=(self._part(divide, span),)),)
        return terms

    def _parts(self, span: Span | None) -> Part:
        return lambda operation: self._part(operation, span)

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


def stretched(node: Node, at: Subscripts) -> Subscripts:
    """Return the subscripts of a broadcast operand: they are aligned at the right, and are 0 where the operand's extent
    is 1.
    """
    own = at[len(at) - len(node.shape) :]
    return tuple(Affine() if extent == 1 else each for each, extent in zip(own, node.shape, strict=True))


_FOLD: Mapping[Operator, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
}
_REAL: Mapping[Operator, Callable[[float], float]] = {
    "exponential": math.exp,
    "logarithm": math.log,
    "square_root": math.sqrt,
    "hyperbolic_tangent": math.tanh,
    "sine": math.sin,
    "cosine": math.cos,
    "tangent": math.tan,
    "arc_sine": math.asin,
    "arc_cosine": math.acos,
    "arc_tangent": math.atan,
    "hyperbolic_sine": math.sinh,
    "hyperbolic_cosine": math.cosh,
    "error_function": math.erf,
    "complementary_error_function": math.erfc,
    "floor": lambda value: float(math.floor(value)),
    "ceil": lambda value: float(math.ceil(value)),
}


def constant(node: Node) -> Fraction | None:
    """Return the exact number that a node made of numbers alone has, with functions in float64. Return None for any
    other node.
    """
    match node:
        case Number(value=value):
            return value
        case Elementwise(operator=operator, inputs=inputs) if not node.shape:
            values = [constant(operand) for operand in inputs]
            if any(value is None for value in values):
                return None
            known = [value for value in values if value is not None]
            if operator in _FOLD:
                return _FOLD[operator](known[0], known[1])
            if operator == "negate":
                return -known[0]
            if operator == "divide" and node.kind == "float" and known[1]:
                return known[0] / known[1]
            try:
                return Fraction(_REAL[operator](float(known[0]))) if operator in _REAL else None
            except (ValueError, OverflowError):
                return None
        case _:
            return None


def refuse(message: str, span: Span | None, hint: str = "tabla eval --float has everything") -> NoReturn:
    """Raise a fault for a part of the program that the graph cannot express."""
    raise TablaError(message, *([Label(span)] if span is not None else []), hint=hint)
