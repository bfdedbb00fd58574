"""Values of Tensor Comprehensions as sums of products of words, with the rounding points of decision 0002.

A read that a condition chooses only where it is inside goes to a padded copy, a tensor with zeros around it. A choice
computes both of its values, and a read outside its tensor would be one of them. The copy has an element wherever the
statement's reads of the tensor reach. Which word it has outside the tensor does not matter, because no choice takes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS
from tabla.graph.constraints import ends
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Function,
    FunctionName,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Term,
)
from tabla.languages.kernel.boxes import Box, axes, volume
from tabla.languages.kernel.lower.builder import GraphBuilder, Sum, negated
from tabla.languages.kernel.lower.choices import factor_of, undivided
from tabla.languages.kernel.lower.functions import Functions
from tabla.languages.kernel.lower.scaled import times
from tabla.languages.tc import program
from tabla.languages.tc.lower.integers import Integers, reads_integers
from tabla.languages.tc.lower.points import Points
from tabla.languages.tc.lower.words import Held, Words, refuse
from tabla.languages.tc.program import Value, walk

MOST_PADDING = 4
"""A copy has at most so many times the elements of its tensor. Reads that reach further become gathers."""


def reach(points: Points, tensor: str) -> Box:
    """Return the ranges of the subscripts that the value's affine reads of a tensor have at some point, axis by axis,
    with those of the tensor itself.
    """
    found = list(points.bounds(tensor))
    for read in walk(points.value):
        if isinstance(read, program.Read) and read.tensor == tensor:
            for axis, subscript in enumerate(read.subscripts):
                affine = points.affine(subscript)
                taken = None if affine is None else ends(affine, points.constraints, points.all)
                if taken is not None:
                    low, high = found[axis]
                    found[axis] = (min(low, taken[0]), max(high, taken[1] + 1))
    return tuple(found)


def padded(builder: GraphBuilder, owner: str, held: Held, inside: Box, wide: Box, span: Span) -> Held | None:
    """Copy the elements of a tensor that have the subscripts `inside`, and return a copy with all those of `wide`.

    Return None if the copy would be too large.
    """
    if volume(wide) > MOST_PADDING * volume(inside):
        return None
    indices, at = axes(inside)
    copy = Read(tensor=held.tensor, subscripts=_less(at, held.base), span=span)
    name, base = builder.temporary(owner), tuple(low for low, _ in wide)
    builder.tensor(name, tuple(high - low for low, high in wide), "value", origin=owner, span=span, filled=True)
    builder.emit(name, _less(at, base), indices, Linear(terms=(Term(factors=(copy,)),)), span)
    return Held(tensor=name, base=base)


_FUNCTIONS: Mapping[str, FunctionName] = {
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "sin": "sin",
    "cos": "cos",
    "erf": "erf",
}
_ONE = Constant(value=Fraction(1))
_FACTOR = "power.factor"
"""The index over the factors of a power; no index of a program has such a name."""


class Expressions(Words):
    """The real values of one statement. A tensor in `multiples` holds a multiple of its sum."""

    def __init__(
        self, builder: GraphBuilder, points: Points, held: Mapping[str, Held], multiples: Set[str] = frozenset()
    ) -> None:
        super().__init__(builder, points, held)
        self.multiples = multiples
        self.integers = Integers(self)
        self.copies: dict[str, Held | None] = {}

    def sum_of(self, value: Value) -> Sum:
        """Return a real value as signed terms, each a word or a product of two words."""
        if (constant := self.constant(value)) is not None:
            return (Term(factors=(Constant(value=constant, span=value.span),)),) if constant else ()
        if value.scalar.integral and (ordinal := self.points.affine(value)) is not None:
            return (Term(factors=(Ordinal(value=ordinal, span=value.span),)),)
        match value:
            case program.Binary(operator="+", left=left, right=right):
                return self.sum_of(left) + self.sum_of(right)
            case program.Binary(operator="-", left=left, right=right):
                return self.sum_of(left) + negated(self.sum_of(right))
            case program.Unary(operator="-", operand=operand):
                return negated(self.sum_of(operand))
            case program.Binary(operator="*", left=left, right=right):
                return self._scaled(left, right) or self._scaled(right, left) or self._product(value)
            case program.Binary(operator="/", left=left, right=right) if not value.scalar.integral and (
                scaled := self._scaled(left, right, inverse=True)
            ):
                return scaled
            case program.Binary(operator="/", left=left, right=right) if not value.scalar.integral:
                return self._quotient(left, right, value.span)
            case program.Binary(operator="%", left=left, right=right) if not value.scalar.integral:
                return self.integers.remainder(self.word(left), self.word(right), value.span)
            case program.Convert(operand=operand, scalar=scalar) if scalar.kind == "float":
                return self.sum_of(operand)
            case program.Choice():
                return self.chosen(value, self.word)
            case program.Apply(function="min" | "fmin"):
                return self.extreme("min", value, self.sum_of)
            case program.Apply(function="max" | "fmax"):
                return self.extreme("max", value, self.sum_of)
            case program.Apply(function=name, arguments=arguments) if name in COMPOSED_FUNCTIONS:
                functions = self._functions(value.span)
                words = map(self.word, arguments)
                return undivided(COMPOSED_FUNCTIONS[name].words(functions.part, functions.number_format, *words))
            case program.Apply(function="pow", arguments=(base, exponent)):
                return self._power(base, exponent, value.span)
            case program.Apply(function="fabs", arguments=(operand,)):
                word = self.word(operand)
                below = self.part(Compare(op="<", left=word, right=Constant(value=Fraction(0))), value.span)
                twice = Term(factors=(below, word), sign=-1)
                return undivided((Term(factors=(word,)), twice, twice))
            case program.Binary(operator="&&", left=left, right=right):
                a = self.word(left)
                with self.under(left, True):
                    b = self.word(right)
                return (Term(factors=(a, b)),)
            case program.Binary(operator="||", left=left, right=right):
                a = self.word(left)
                with self.under(left, False):
                    b = self.word(right)
                return undivided((Term(factors=(a,)), Term(factors=(b,)), Term(factors=(a, b), sign=-1)))
            case program.Unary(operator="!", operand=operand):
                return (Term(factors=(_ONE,)), *negated(self.sum_of(operand)))
            case _:
                return (Term(factors=(self._operand(value),)),)

    def word(self, value: Value) -> Operand:
        return self.joined(self.sum_of(value), value.span)

    def _operand(self, value: Value) -> Operand:
        match value:
            case program.Read() if value.scalar.integral:
                return self.integers.as_real(self.read(value), value.span)
            case program.Read():
                return self.read(value)
            case program.Convert(operand=operand, scalar=scalar) if scalar.integral and operand.scalar.kind == "float":
                return self.integers.as_real(self.integers.word(value), value.span)
            case program.Convert(operand=operand, scalar=scalar) if scalar.integral:
                return self.word(operand)
            case program.Binary(operator="/" | "%") if value.scalar.integral:
                return self.integers.as_real(self.integers.word(value), value.span)
            case program.Binary(operator="<" | "<=" | ">" | ">=" | "==" | "!=" as op, left=left, right=right):
                if value.common.integral and (reads_integers(left) or reads_integers(right)):
                    return self.integers.compared(value)
                compare = Compare(op=op, left=self.word(left), right=self.word(right))
                return self.part(compare, value.span)
            case program.Apply(function="rsqrt", arguments=(operand,)):
                root = self.part(Function(name="sqrt", operand=self.word(operand)), value.span)
                return self.part(Divide(left=_ONE, right=root), value.span)
            case program.Apply(function="hypot", arguments=(one, other)):
                a, b = self.word(one), self.word(other)
                squares = Linear(terms=(Term(factors=(a, a)), Term(factors=(b, b))))
                return self.part(Function(name="sqrt", operand=self.part(squares, value.span)), value.span)
            case program.Apply(function=function, arguments=(operand,)) if function in _FUNCTIONS:
                return self.part(Function(name=_FUNCTIONS[function], operand=self.word(operand)), value.span)
            case program.Apply(function=function):
                refuse(f"'{function}' does not run on the machine", value.span, "tabla eval --float has every function")
            case _:
                refuse(
                    "this integer arithmetic does not run on the machine yet",
                    value.span,
                    "sums of indices and sizes, and floats, do",
                )

    def read(self, read: program.Read) -> Read:
        affines = [affine for affine in map(self.points.affine, read.subscripts) if affine is not None]
        if len(affines) < len(read.subscripts):
            return self.integers.gathered(read)
        held: Held | None = self.held[read.tensor]
        assert held is not None
        pairs = zip(affines, self.points.bounds(read.tensor), strict=True)
        if not all(self.points.inside(affine, between) for affine, between in pairs):
            held = self._padded(read)
            if held is None:
                return self.integers.gathered(read)
        return Read(tensor=held.tensor, subscripts=_less(affines, held.base), span=read.span)

    def _padded(self, read: program.Read) -> Held | None:
        """Return a copy of the tensor with all elements that this statement reads; None if it would be too large."""
        name = read.tensor
        if name not in self.copies:
            inside, wide = self.points.bounds(name), reach(self.points, name)
            self.copies[name] = padded(self.builder, self.owner, self.held[name], inside, wide, read.span)
        return self.copies[name]

    def _scaled(self, value: Value, by: Value, *, inverse: bool = False) -> Sum | None:
        """Return a value times a constant that the format cannot hold, or over it with `inverse`.

        The result is None for other constants, unless the value's tensor holds the multiple already.
        """
        constant = self.constant(by)
        if not constant:
            return None
        if isinstance(value, program.Read) and self.held[value.tensor].tensor in self.multiples:
            return self.sum_of(value)
        if not self.builder.outside(constant):
            return None
        factor = 1 / constant if inverse else constant
        return times(self.sum_of(value), factor, by.span, self.parts(by.span), inverse=inverse)

    def _product(self, product: program.Binary) -> Sum:
        left, right = product.left, product.right
        one, other = self.sum_of(left), self.sum_of(right)
        if not one or not other:
            return ()
        for terms, by in ((one, right), (other, left)):
            constant = self.constant(by)
            if constant is not None and not product.scalar.integral and self.builder.scales(constant, terms):
                return times(terms, constant, by.span, self.parts(by.span))
        sign = 1
        factors: list[Operand] = []
        for terms, value in ((one, left), (other, right)):
            if len(terms) == 1 and len(terms[0].factors) == 1:
                sign *= terms[0].sign
                factors.append(terms[0].factors[0])
            else:
                outside, inside = factor_of(terms)
                sign *= outside
                factors.append(self.part(Linear(terms=inside), value.span))
        kept = tuple(factor for factor in factors if not (isinstance(factor, Constant) and factor.value == 1))
        return (Term(factors=kept or (_ONE,), sign=sign),)

    def _quotient(self, left: Value, right: Value, span: Span) -> Sum:
        """Return a real quotient. What is divided by a constant is not rounded before."""
        terms, divisor = self.sum_of(left), self.constant(right)
        if divisor and self.builder.scales(divisor, terms, divides=True):
            return times(terms, 1 / divisor, right.span, self.parts(span), inverse=True)
        operation = Divide(left=self.joined(terms, left.span), right=self.word(right))
        return (Term(factors=(self.part(operation, span),)),)

    def _power(self, base: Value, exponent: Value, span: Span) -> Sum:
        """Return a power by a constant as every notation makes it, and any other one as ``exp(b * log a)``."""
        number = self.constant(exponent)
        if number is not None:
            return self._functions(span).power(self.sum_of(base), number, exponent.span)
        if (whole := _whole(exponent)) is not None:
            return (Term(factors=(self._index_power(base, whole, span),)),)
        logarithm = self.part(Function(name="log", operand=self.word(base)), span)
        product = self.part(Linear(terms=(Term(factors=(self.word(exponent), logarithm)),)), span)
        return (Term(factors=(self.part(Function(name="exp", operand=product), span),)),)

    def _functions(self, span: Span) -> Functions:
        """Return what makes functions of temporaries at a place."""
        return Functions(part=lambda operation: self.part(operation, span), number_format=self.builder.number_format)

    def _index_power(self, base: Value, exponent: Value, span: Span) -> Read:
        """A power by an index: a product over as many factors as it says, each step rounded."""
        affine = self.points.affine(exponent)
        low, high = affine.bounds(self.points.box) if affine is not None else (-1, -1)
        if affine is None or low < 0:
            what = "data" if affine is None else "an index that may be negative"
            hint = "exp(x * log(a)) does for a > 0; tabla eval --float has all powers"
            refuse(f"a power whose exponent is {what} does not run on the machine", span, hint)
        self.builder.ranges[_FACTOR] = Index(name=_FACTOR, low=0, high=max(high, 1))
        operation = Product(operand=self.word(base), reduce=(_FACTOR,))
        taken = affine - Affine.of(**{_FACTOR: 1}) - 1
        constraints = (*self.points.constraints, taken)
        return self.builder.part(self.owner, operation, self.points.all, span, constraints, tied=affine.names)


def _less(affines: Sequence[Affine], base: Sequence[int]) -> tuple[Affine, ...]:
    """Affine forms, each less a number."""
    return tuple(affine - low for affine, low in zip(affines, base, strict=True))


def _whole(value: Value) -> Value | None:
    """The integer that a value is, written as a float or not; None if it is none."""
    if value.scalar.integral:
        return value
    return _whole(value.operand) if isinstance(value, program.Convert) else None
