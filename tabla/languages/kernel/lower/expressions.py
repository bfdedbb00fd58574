"""Expressions of the kernel: sums are flattened into signed terms, all else becomes words (decision 0002)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import assert_never

from tabla.base.source import Span
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS
from tabla.graph.constraints import satisfied
from tabla.graph.graph import (
    Affine,
    Compare,
    CompareOp,
    Constant,
    Divide,
    Extreme,
    ExtremeOp,
    Function,
    Gather,
    Index,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Product,
    Read,
    Term,
)
from tabla.graph.rewrite import summed_names
from tabla.graph.whole import Part, integer, quotient, toward_zero
from tabla.languages.kernel import tree
from tabla.languages.kernel.constants import affine_of, constant_value
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.lower.bits import Bits, is_of_bits
from tabla.languages.kernel.lower.builder import GraphBuilder, single
from tabla.languages.kernel.lower.choices import choice, factor_of, undivided
from tabla.languages.kernel.lower.elements import Elements
from tabla.languages.kernel.lower.functions import Functions, idle, refuse_without_fraction
from tabla.languages.kernel.lower.integers import Integers
from tabla.languages.kernel.lower.scaled import SummedPart, times
from tabla.languages.kernel.lower.values import (
    COMPARISONS,
    EXTREMES,
    Sum,
    Value,
    Word,
    constant_of,
    inside,
    known_of,
    operand_of,
    span_of,
    starts,
)

_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))
_ONE_WORD = (Term(factors=(_ONE,)),)
"""Stands for the terms of a value that is a word already."""


class Expressions:
    """Lowers the expressions of one statement after the other."""

    def __init__(self, builder: GraphBuilder, elements: Elements, reals: Container[str] | None = None) -> None:
        """Lower into a builder. `reals` are the tensors of integers whose words are real numbers, as `lower` says."""
        self._builder, self._elements, self._reals = builder, elements, reals
        self._integers = Integers(self, builder.number_format)
        self._owner = ""
        # The indices around the expression at hand, outermost first.
        self._scope: list[Index] = []
        self._varying: set[int] = set()
        # The parts that are integers of the machine: elements that are, and what is made of them.
        self._counting: set[int] = set()
        # The indices of which not every value is a real word.
        self._far: set[str] = set()
        # The sum whose conditions are those of the statement.
        self._total: tree.Reduce | None = None
        self._conditions: tuple[Affine, ...] = ()

    def lower(
        self, expression: tree.Expression, owner: str, indices: Sequence[Index], conditions: tuple[Affine, ...] = ()
    ) -> Value:
        """Lower `expression`, the right side of a statement over `indices` where `conditions` hold.

        Temporaries are named after `owner`.
        """
        self._begin(owner, indices, expression)
        self._conditions = conditions
        counts = expression.type == "integer" and not self._is_real(owner)
        return self._integers.value(expression) if counts else self._value(expression)

    def counts(self, expression: tree.Expression) -> bool:
        """Return whether an integer value is an integer of the machine, and not a real word."""
        return self._reals is None or id(expression) in self._counting

    @property
    def prefers_reals(self) -> bool:
        """Whether integers are real words where the format holds them so."""
        return self._reals is not None

    def agrees(self, owner: str, indices: Sequence[Index], reduce: tree.Reduce) -> bool:
        """Return whether a reduction can be computed in the words that its tensor has."""
        if reduce.type != "integer" or not self._is_real(owner):
            return True
        self._begin(owner, indices, reduce)
        return id(reduce) not in self._counting

    def _is_real(self, tensor: str) -> bool:
        """Return whether the words of a tensor of integers are real numbers."""
        return self._reals is not None and tensor in self._reals

    def operation(self, value: Value) -> Operation:
        """Return what a statement computes to assign `value`."""
        if isinstance(value, Word):
            return value.operation
        zero = Term(factors=(Constant(value=Fraction(0)),))
        return Linear(terms=value.signed() or (zero,))

    def _begin(self, owner: str, indices: Sequence[Index], expression: tree.Expression) -> None:
        self._owner, self._scope, self._varying, self._counting = owner, list(indices), set(), set()
        self._far, self._total = set(), None
        self._mark_far(indices)
        self._mark(expression)

    def _mark_far(self, indices: Sequence[Index]) -> None:
        """Note the indices that are integers of the machine because the format does not hold them as real numbers."""
        holds = self._builder.number_format.holds
        if self.prefers_reals:
            self._far.update(n.name for n in indices if not holds(Fraction(n.low)) or not holds(Fraction(n.high - 1)))

    def _mark(self, expression: tree.Expression) -> bool:
        """Note which parts read anything; the others may be constants or ordinals."""
        match expression:
            case tree.Number():
                return False
            case tree.Position(index=index):
                if index in self._far:
                    self._counting.add(id(expression))
                return False
            case tree.Read():
                varies = True
            case tree.Gather():
                for subscript in expression.computed:
                    self._mark(subscript)
                varies = True
            case tree.Limit():
                varies = True
            case tree.Apply():
                first, chain = tree.spine(expression)
                varies = self._mark(first)
                for before, call in zip((first, *chain), chain, strict=False):
                    varies = any([self._mark(argument) for argument in call.arguments[1:]]) or varies
                    if varies:
                        self._varying.add(id(call))
                    given = call.arguments[1:] if call.function == "select" else (before, *call.arguments[1:])
                    if call.type == "integer" and any(id(argument) in self._counting for argument in given):
                        self._counting.add(id(call))
            case tree.Reduce(body=body):
                self._mark_far(expression.indices)
                self._mark(body)
                varies = True
            case _:
                assert_never(expression)
        if varies:
            self._varying.add(id(expression))
            if self._is_counted(expression):
                self._counting.add(id(expression))
        return varies

    def _is_counted(self, expression: tree.Expression) -> bool:
        """Return whether an element or a reduction is an integer of the machine."""
        match expression:
            case tree.Read(tensor=tensor, type="integer") | tree.Gather(tensor=tensor, type="integer"):
                return not self._is_real(tensor)
            case tree.Reduce(body=body, type="integer"):
                return self._reals is None or id(body) in self._counting
            case _:
                return False

    def _folded(self, expression: tree.Expression) -> Sum | None:
        """A constant, or an affine sum of indices, as one operand."""
        if id(expression) in self._varying:
            return None
        if (value := constant_value(expression)) is not None:
            return constant_of(value, expression.span)
        if (affine := affine_of(expression)) is None:
            return None
        if not affine.coefficients:
            return constant_of(Fraction(affine.constant), expression.span)
        return operand_of(Ordinal(value=affine, span=expression.span))

    def form(self, expression: tree.Expression) -> Affine | None:
        """Return an expression that reads nothing as a sum of indices, and None for any other one."""
        return None if id(expression) in self._varying else affine_of(expression)

    def real(self, expression: tree.Expression) -> Operand:
        """Return the word of a real number or of a truth value."""
        return self._word(self._value(expression), expression.span)

    def stored(self, expression: tree.Read | tree.Gather | tree.Reduce) -> Value:
        """Return an element, or a reduction, as the word that it is: an integer if it is of integers."""
        match expression:
            case tree.Read(tensor=name, subscripts=subscripts, span=span):
                return operand_of(self._elements.read(name, subscripts, span))
            case tree.Gather(tensor=name, subscripts=subscripts, span=span):
                places = (s if isinstance(s, Affine) else self._integers.position(s) for s in subscripts)
                gather = Gather(tensor=self._elements.whole(name), subscripts=tuple(places))
                return Word(operation=gather, span=span)
            case tree.Reduce():
                return self._reduce(expression)

    def counted(self, expression: tree.Read | tree.Gather | tree.Reduce) -> Value:
        """Return an element of integers, or a reduction of integers, as an integer of the machine."""
        match expression:
            case tree.Reduce():
                self._counting.add(id(expression))
                return self._reduce(expression)
            case _ if id(expression) in self._counting:
                return self.stored(expression)
            case _:
                word = self._word(self.stored(expression), expression.span)
                return operand_of(integer(word, self._made_at(expression.span), self._builder.number_format.fraction))

    def joined(self, value: Value, span: Span | None) -> Operand:
        """Return a value as one word."""
        return self._word(value, span)

    def temporary(self, operation: Operation, span: Span | None) -> Read:
        """Return a temporary that holds an operation."""
        return self._part(operation, span)

    def _value(self, expression: tree.Expression) -> Value:
        """Return an expression as a real number. A truth value is 1 or 0, and an integer is the real number that it is.

        Sums of integers are those of real numbers.
        """
        if (folded := self._folded(expression)) is not None:
            return folded
        match expression:
            case tree.Number(value=value):
                return constant_of(value, expression.span)
            case tree.Position(index=index):
                return operand_of(Ordinal(value=Affine.index(index), span=expression.span))
            case tree.Limit(end=end, span=span):
                number = self._builder.number_format
                return constant_of(Fraction(number.lowest if end == "lowest" else number.highest, number.one), span)
            case tree.Read() | tree.Gather() | tree.Reduce() if id(expression) in self._counting:
                return self._integers.as_real(self._word(self.stored(expression), expression.span), expression.span)
            case tree.Read() | tree.Gather() | tree.Reduce():
                return self.stored(expression)
            case tree.Apply():
                return self._chain(expression)
            case _:
                assert_never(expression)

    def _chain(self, expression: tree.Apply) -> Value:
        first, chain = tree.spine(expression)
        begin = 0
        left: Value | None = None
        for count in range(len(chain), 0, -1):
            if (left := self._whole(chain[count - 1])) is not None:
                return self._combined(left, chain[count:])
        # The longest beginning that folds does so as a whole: `i + 1 + x[i]` has one ordinal.
        steady = next((n for n, call in enumerate(chain) if id(call) in self._varying), len(chain))
        for count in range(steady, 0, -1):
            if (left := self._folded(chain[count - 1])) is not None:
                begin = count
                break
        return self._combined(left if left is not None else self._value(first), chain[begin:])

    def _combined(self, value: Value, chain: Sequence[tree.Apply]) -> Value:
        for call in chain:
            value = self._combine(call, [value, *map(self._value, call.arguments[1:])])
        return value

    def _whole(self, call: tree.Apply) -> Value | None:
        """Return what is computed of integers as such, and None for what is computed of real numbers."""
        span = call.span
        if call.type == "integer" and self._folded(call) is None:
            if not self.counts(call):
                return self._whole_real(call)
            if self.prefers_reals or call.function in ("divide", "remainder", "integer") or is_of_bits(call):
                return self._integers.as_real(self._integers.word(call), span)
        match call.function, call.arguments:
            case comparison, (left, right) if (
                comparison in COMPARISONS
                and left.type == "integer"
                and (id(left) in self._counting or id(right) in self._counting)
            ):
                return self._integers.compared(call)
            case "truth", (value,) if value.type == "integer" and self.counts(value):
                compared = Compare(op="!=", left=self._integers.word(value), right=_ZERO)
                return Word(operation=compared, span=span)
            case _:
                return None

    def _whole_real(self, call: tree.Apply) -> Value | None:
        """Return what is computed of whole numbers that are real words, and None for what any real numbers have."""
        span, fmt = call.span, self._builder.number_format
        part = self._made_at(span)
        match call.function, call.arguments:
            case "integer", (value,) if value.type == "truth":
                # A word of its own: whoever reads a copy of it reads the comparison.
                return operand_of(self.real(value))
            case "integer", (value,) if value.type == "integer" or not fmt.fraction:
                return self._value(value)
            case "integer", (value,):
                return operand_of(toward_zero(self.real(value), part, fmt.fraction))
            case "divide", (left, right):
                return operand_of(quotient(self.real(left), self.real(right), part, fmt.fraction))
            case "remainder", (left, right):
                return Sum(terms=undivided(Bits(part, fmt).remainder(self.real(left), self.real(right))))
            case _ if is_of_bits(call):
                return Sum(terms=Bits(part, fmt).applied(call, [self.real(each) for each in call.arguments]))
            case _:
                return None

    def _combine(self, call: tree.Apply, values: Sequence[Value]) -> Value:
        span = call.span
        match call.function, values:
            case "real", [value]:
                return value
            case "truth", [value]:
                if call.arguments[0].type == "truth":
                    return value
                return Word(operation=Compare(op="!=", left=self._word(value, span), right=_ZERO), span=span)
            case "negate", [value]:
                inner = self._sum(value)
                return replace(inner, negated=not inner.negated)
            case "add", [left, right]:
                return Sum(terms=(*self._sum(left).signed(), *self._sum(right).signed()))
            case "subtract", [left, right]:
                return Sum(terms=(*self._sum(left).signed(), *self._sum(right).signed(-1)))
            case "multiply", [left, right]:
                return self._multiply(left, right, span, scales=call.type == "real")
            case "divide", [left, right]:
                return self._divide(left, right, call)
            case "remainder", [left, right]:
                return self._integers.remainder(self._word(left, span), self._word(right, span), span)
            case comparison, [left, right] if comparison in COMPARISONS:
                compared = Compare(
                    op=COMPARISONS[comparison], left=self._word(left, span), right=self._word(right, span)
                )
                return Word(operation=compared, span=span)
            case _:
                return self._call(call, values)

    def _multiply(self, left: Value, right: Value, span: Span | None, *, scales: bool) -> Value:
        """Return a product. A constant multiplies each term of a sum only if it `scales`, as beside real numbers."""
        known = known_of(left), known_of(right)
        if 0 in known:
            return Sum()
        for constant, other in ((known[0], right), (known[1], left)):
            if constant is not None and scales and self._scales(constant, other):
                own = right if other is left else left
                place = span_of(own) or span
                return Sum(terms=times(self._sum(other).signed(), constant, place, self._parts(place)))
        (left_sign, left_word), (right_sign, right_word) = self._factor(left, span), self._factor(right, span)
        for constant, sign, word in ((known[0], right_sign, right_word), (known[1], left_sign, left_word)):
            if constant is not None and abs(constant) == 1:
                return Sum(terms=(Term(factors=(word,), sign=sign * int(constant)),))
        return Sum(terms=(Term(factors=(left_word, right_word), sign=left_sign * right_sign),))

    def _divide(self, left: Value, right: Value, call: tree.Apply) -> Value:
        divisor, place = known_of(right), call.arguments[1].span or call.span
        if divisor == 0:
            raise refused("division by zero", place, "divide by something else", "this is 0")
        if divisor is not None and self._scales(divisor, left, divides=True):
            terms = times(self._sum(left).signed(), 1 / divisor, place, self._parts(call.span), inverse=True)
            return Sum(terms=terms)
        word = self._word(left, call.span)
        if divisor is not None and abs(divisor) == 1:
            return Sum(terms=(Term(factors=(word,), sign=int(divisor)),))
        return Word(operation=Divide(left=word, right=self._word(right, call.span)), span=call.span)

    def _scales(self, constant: Fraction, value: Value, *, divides: bool = False) -> bool:
        """Return whether a constant multiplies each term of a value, or `divides` it."""
        terms = value.signed() if isinstance(value, Sum) else _ONE_WORD
        return self._builder.scales(constant, terms, divides=divides)

    def _call(self, call: tree.Apply, values: Sequence[Value]) -> Value:
        if (op := EXTREMES.get(call.function)) is not None:
            for argument, limit, other in zip(call.arguments, values, values[::-1], strict=True):
                if starts(argument, op) or idle(op, known_of(limit), self._builder.number_format):
                    return other
        if call.function == "power":
            return self._power(call, *values)
        words = [self._word(value, argument.span) for value, argument in zip(values, call.arguments, strict=True)]
        match call.function:
            case "abs":
                negative = self._compare("<", words[0], Constant(value=Fraction(0)), call.span)
                less = Term(factors=(negative, words[0]), sign=-1)
                return Sum(terms=undivided((Term(factors=(words[0],)), less, less)))
            case "min" | "max":
                return Word(operation=Extreme(op=EXTREMES[call.function], operands=tuple(words)), span=call.span)
            case "select":
                return Sum(terms=choice(*words))
            case "and":
                return Sum(terms=(Term(factors=(words[0], words[1])),))
            case "or":
                both = Term(factors=(words[0], words[1]), sign=-1)
                return Sum(terms=undivided((*(Term(factors=(word,)) for word in words), both)))
            case "not":
                return Sum(terms=(Term(factors=(_ONE,)), Term(factors=(words[0],), sign=-1)))
            case name if name in COMPOSED_FUNCTIONS:
                functions, composed = self._functions(call.span), COMPOSED_FUNCTIONS[name]
                refuse_without_fraction(composed, functions.number_format, call.span)
                return Sum(terms=undivided(composed.words(functions.part, functions.number_format, *words)))
            case function:
                return Word(operation=Function(name=function, operand=words[0]), span=call.span)

    def _functions(self, span: Span | None) -> Functions:
        """Return what makes functions of temporaries at a place."""
        return Functions(part=self._made_at(span), number_format=self._builder.number_format)

    def _made_at(self, span: Span | None) -> Part:
        """Return what makes temporaries at a place."""
        return lambda made: self._part(made, span)

    def _power(self, call: tree.Apply, base: Value, exponent: Value) -> Value:
        """Return a power by a constant as `Functions.power` makes it, and any other one as ``exp(b * log(a))``."""
        number, span = known_of(exponent), call.span
        if number is not None:
            return Sum(terms=self._functions(span).power(self._sum(base).signed(), number, call.arguments[1].span))
        logarithm = self._part(Function(name="log", operand=self._word(base, span)), span)
        product = self._part(Linear(terms=(Term(factors=(self._word(exponent, span), logarithm)),)), span)
        return Word(operation=Function(name="exp", operand=product), span=span)

    def _parts(self, span: Span | None) -> SummedPart:
        """Return what makes temporaries at a place, also under the indices of sums that are complete."""

        def part(operation: Operation, summed: tuple[str, ...]) -> Read:
            inner = [self._builder.ranges[name] for name in summed]
            return self._part(operation, span, inner)

        return part

    def _compare(self, op: CompareOp, left: Operand, right: Operand, span: Span | None) -> Operand:
        return self._part(Compare(op=op, left=left, right=right), span)

    def _part(self, operation: Operation, span: Span | None, inner: Sequence[Index] = ()) -> Read:
        """Compute an operation into a temporary at the points of the scope, and under `inner` indices."""
        summed = set(summed_names(operation))
        tied = {name for form in self._conditions if summed.intersection(form.names) for name in form.names} - summed
        return self._builder.part(self._owner, operation, (*self._scope, *inner), span, self._conditions, tied)

    def beside(
        self,
        expression: tree.Expression,
        total: tree.Reduce,
        owner: str,
        indices: Sequence[Index],
        conditions: tuple[Affine, ...],
    ) -> Operation:
        """Lower a value in which other terms are added to a sum under conditions, which are the statement's, too.

        Where no values meet the conditions of `total`, the other terms are the value.
        """
        self._begin(owner, indices, expression)
        self._conditions, self._total = conditions, total
        return self.operation(self._value(expression))

    def alone(
        self, reduce: tree.Reduce, owner: str, indices: Sequence[Index], conditions: tuple[Affine, ...]
    ) -> tuple[Operation, bool]:
        """Lower a reduction under conditions that is all of a statement, and return what the statement computes where
        the conditions of both hold.

        Return beside it whether there are points at which no values meet the conditions, so that a sum is 0 there.
        """
        self._begin(owner, indices, reduce)
        return self._restricted(reduce, conditions, counts=reduce.type == "integer" and not self._is_real(owner))

    def _restricted(self, reduce: tree.Reduce, around: tuple[Affine, ...], *, counts: bool) -> tuple[Operation, bool]:
        """Return a reduction under conditions beside those `around` it, and whether a condition leaves out points."""
        outer = len(self._scope)
        self._conditions = (*around, *reduce.conditions)
        self._builder.ranges.update({index.name: index for index in reduce.indices})
        names = {index.name for index in reduce.indices}
        tied = {name for condition in reduce.conditions for name in condition.names if name not in names}
        own = [index for index in self._scope if index.name in tied]
        operation = self._reduction(reduce, counts=counts)
        del self._scope[outer:]
        # Where a condition without the indices does not hold, nothing is written, and the sum is 0.
        apart = [form for form in reduce.conditions if not names.intersection(form.names)]
        gaps = isinstance(operation, Linear) and not satisfied(apart, own).all()
        self._conditions = around
        return operation, bool(gaps)

    def _reduction(self, reduce: tree.Reduce, *, counts: bool) -> Operation:
        """Return a reduction as an operation over its indices, which stay in the scope.

        If it `counts`, its words are integers of the machine.
        """
        self._scope += reduce.indices
        names, place = tuple(index.name for index in reduce.indices), reduce.body.span
        body = self._integers.value(reduce.body) if counts else self._value(reduce.body)
        match reduce.reduction:
            case "sum":
                terms = self._sum(body).signed()
                return self.operation(Sum(terms=tuple(replace(term, reduce=(*names, *term.reduce)) for term in terms)))
            case "product":
                shift = -self._builder.number_format.fraction if counts else 0
                return Product(operand=self._word(body, place), reduce=names, shift=shift)
            case "max" | "min":
                # Of no truth values none is true, and each is.
                known = Constant(value=Fraction(reduce.reduction == "min"))
                initial = known if reduce.type == "truth" and self._conditions else None
                operands = (self._word(body, place),)
                return Extreme(op=EXTREMES[reduce.reduction], operands=operands, reduce=names, initial=initial)
            case "norm":
                _, word = self._factor(body, place)
                return Linear(terms=(Term(factors=(word, word), reduce=names),))
            case _:
                assert_never(reduce.reduction)

    def _conditional(self, reduce: tree.Reduce) -> Value:
        """Lower a reduction under conditions: a word of its own, because conditions hold for a whole statement."""
        counts = id(reduce) in self._counting
        reduce = inside(reduce)
        around, names = self._conditions, {index.name for index in reduce.indices}
        tied = {name for condition in reduce.conditions for name in condition.names if name not in names}
        operation, gaps = self._restricted(reduce, around, counts=counts)
        if isinstance(operation, Extreme) and operation.initial is None and self._is_empty_somewhere(reduce, tied):
            operation = replace(operation, initial=self._end(operation.op))
        within = (*around, *reduce.conditions)
        word = self._builder.part(self._owner, operation, self._scope, reduce.span, within, tied, filled=gaps)
        if reduce.reduction == "norm":
            return Word(operation=Function(name="sqrt", operand=word), span=reduce.span)
        return operand_of(word)

    def _is_empty_somewhere(self, reduce: tree.Reduce, tied: Container[str]) -> bool:
        """Return whether no values meet the conditions of a reduction for some values of the indices around it."""
        own = [index for index in self._scope if index.name in tied]
        mask = satisfied(reduce.conditions, [*own, *reduce.indices])
        return not mask.any(axis=tuple(range(len(own), mask.ndim))).all()

    def _end(self, op: ExtremeOp) -> Constant:
        """Return the word that an extreme of no values is. The evaluation in float64 has no infinity to multiply."""
        fmt = self._builder.number_format
        return Constant(value=Fraction(fmt.lowest if op == "max" else fmt.highest, fmt.one))

    def _reduce(self, reduce: tree.Reduce) -> Value:
        if reduce is self._total:
            self._conditions = (*self._conditions, *reduce.conditions)
        elif reduce.conditions:
            return self._conditional(reduce)
        elif self._is_whole_power(reduce):
            count = prod(index.extent for index in reduce.indices)
            base = self._sum(self._value(reduce.body)).signed()
            return Sum(terms=self._functions(reduce.span).power(base, Fraction(count), reduce.span))
        outer = len(self._scope)
        self._builder.ranges.update({index.name: index for index in reduce.indices})
        operation = self._reduction(reduce, counts=id(reduce) in self._counting)
        del self._scope[outer:]
        match operation:
            case Linear(terms=terms) if reduce.reduction == "norm":
                total = self._word(Sum(terms=terms), reduce.span)
                return Word(operation=Function(name="sqrt", operand=total), span=reduce.span)
            case Linear(terms=terms):
                return Sum(terms=terms)
            case Product() | Extreme():
                return Word(operation=operation, span=reduce.span)
            case _:
                raise AssertionError(f"a reduction is no {operation}")

    def _is_whole_power(self, reduce: tree.Reduce) -> bool:
        """Return whether a reduction is a power of a whole number that is a real word: a product of equal values."""
        real = reduce.type == "integer" and id(reduce) not in self._counting
        return real and reduce.reduction == "product" and not _mentions(reduce)

    def _sum(self, value: Value) -> Sum:
        """`value` as a sum; an operation becomes a word of its own."""
        return value if isinstance(value, Sum) else operand_of(self._word(value, value.span))

    def _factor(self, value: Value, span: Span | None) -> tuple[int, Operand]:
        """`value` as a word with a sign: a minus in front of a factor is no operation."""
        if (known := known_of(value)) is not None:
            return 1, Constant(value=known, span=span_of(value) or span)
        if isinstance(value, Sum):
            if len(value.terms) == 1 and (operand := single(value.terms[0])) is not None:
                return value.signed()[0].sign, operand
            sign, terms = factor_of(value.signed())
            return sign, self._word(Sum(terms=terms), span)
        return 1, self._word(value, span)

    def _word(self, value: Value, span: Span | None) -> Operand:
        """`value` as a word, computed into a temporary if it is not one already."""
        if (known := known_of(value)) is not None:
            return Constant(value=known, span=span_of(value) or span)
        if isinstance(value, Sum):
            terms = value.signed()
            if len(terms) == 1 and terms[0].sign == 1 and (operand := single(terms[0])) is not None:
                return operand
        return self._part(self.operation(value), span)


def _mentions(reduce: tree.Reduce) -> bool:
    """Return whether the values of a reduction depend on its indices."""
    names = {index.name for index in reduce.indices}
    for part in tree.walk(reduce.body):
        match part:
            case tree.Position(index=name) if name in names:
                return True
            case tree.Read(subscripts=subscripts) | tree.Gather(subscripts=subscripts):
                if any(isinstance(each, Affine) and names.intersection(each.names) for each in subscripts):
                    return True
            case tree.Reduce(conditions=conditions):
                if any(names.intersection(each.names) for each in conditions):
                    return True
    return False
