"""Statements in words as text: exact sums, one rounding, and the counts, as in :mod:`tabla.graph.fixed_kernels`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from tabla.graph import function_words
from tabla.graph.accumulate import Sum, Summand
from tabla.graph.compiled.statements import Statements
from tabla.graph.compiled.text import UnsupportedError
from tabla.graph.constraints import applying
from tabla.graph.fixed_kernels import WordNumbers, own_word
from tabla.graph.format import Format
from tabla.graph.function_tables import exponent_bits, turn_bits
from tabla.graph.functions import FUNCTIONS, table
from tabla.graph.graph import (
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Index,
    Linear,
    Ordinal,
    Product,
    Read,
    Statement,
    Term,
)

_ROOM = 1 << 62
_LIMB = 32
_TABLE = ("base", "slope", "curve", "exponent")
_MASK = (1 << _LIMB) - 1


@dataclass(slots=True)
class Words(Statements[int]):
    """Writes statements on words of a format. `scales` are the variables of the shifts by which sums are rounded."""

    format: Format = field(kw_only=True)
    scales: dict[int, str] = field(default_factory=dict)
    guards: dict[int, str] = field(default_factory=dict)

    @property
    def _numbers(self) -> WordNumbers:
        return WordNumbers(format=self.format)

    def constant(self, operand: Constant) -> str:
        """Return a variable with the word of a constant."""
        return self.text.number(self._numbers.constant(operand), "constant")

    def ordinal(self, operand: Ordinal) -> str:
        """Return the word of an affine value. One outside the format is the user's fault, as `FixedPlan.of` says."""
        scale = self.text.number(self.format.one >> operand.fraction, "unit")
        return f"(({self.text.affine(operand.value)}) * {scale})"

    def read(self, read: Read) -> str:
        """Return a word. A stored read gives the whole integer of a wide model."""
        return self.element(read.tensor, read.subscripts) if read.stored else Statements.read(self, read)

    def seen(self, tensor: str, element: str) -> str:
        """Return the word that readers see: of a wide model, the integer without its guard bits."""
        guard = self.tensor(tensor).guard if self.tensor(tensor).role == "model" else 0
        if not guard:
            return element
        if guard not in self.guards:
            self.guards[guard] = self.text.number(guard, "guard")
        return f"({element} >> {self.guards[guard]})"

    def scale(self, shift: int) -> str:
        """Return the variable of the shift by which a sum of products is rounded."""
        if shift not in self.scales:
            self.scales[shift] = self.text.number(self.format.fraction + shift, "shift")
        return self.scales[shift]

    def rounding(self, operation: Linear) -> str:
        """Return the variable of the shift that brings the sum to its result, which may have guard bits."""
        return self.scale(operation.shift - operation.guard)

    def linear(self, statement: Statement, operation: Linear) -> None:
        """Write a sum: one by one, in rows, or in two limbs where 64 bits do not hold it."""
        own = own_word(self.graph.owner(statement.target), statement, operation)
        terms = [term for place, term in enumerate(operation.terms) if place != own]
        constants = [t for t in terms if not statement.constraints and all(isinstance(f, Constant) for f in t.factors)]
        moving = [t for t in terms if t not in constants]
        weight = sum(self._weight(statement, operation, t) for t in constants)
        largest = Sum(changes=tuple(self._bound(statement, operation, t) for t in terms), kept=None, shift=0)
        shift = self.format.fraction + operation.shift - operation.guard
        whole = largest.largest(0) + (-self.format.limits(operation.guard)[0] << shift) + ((1 << shift) >> 1)
        self.text.line("over, still = 0, 0" if own is not None else "over = 0")
        if whole < _ROOM << 1:
            row = self.row_index(statement, moving)
            if row is None:
                self._one_by_one(statement, operation, moving, weight, own)
            else:
                self._in_rows(statement, operation, moving, weight, own, row)
        else:
            self._in_limbs(statement, operation, moving, weight, own)
        if operation.test is None:
            self.text.line(f"overflows[{statement.id}] += over")
        if own is not None:
            self.text.line("events[0] += still")

    def _weight(self, statement: Statement, operation: Linear, term: Term) -> int:
        """What a term of constants alone adds to a sum."""
        box = statement.box
        words = [self._numbers.constant(f) for f in term.factors if isinstance(f, Constant)]
        scale = self._numbers.scale(len(term.factors), operation.shift)
        return term.sign * scale * prod(words) * prod(box[name].extent for name in term.reduce)

    def _bound(self, statement: Statement, operation: Linear, term: Term) -> Summand:
        """A term as the evaluation in numpy bounds it."""
        box = statement.box
        weight = self._numbers.scale(len(term.factors), operation.shift)
        limits = tuple(self._numbers.limit(factor, box) for factor in term.factors)
        return Summand(weight=weight, products=prod(box[name].extent for name in term.reduce), limits=limits)

    def _product(self, operation: Linear, term: Term) -> str:
        if len(term.factors) == 2:
            return " * ".join(map(self.operand, term.factors))
        return f"({self.operand(term.factors[0])} << {self.scale(operation.shift)})"

    def _add(
        self, statement: Statement, operation: Linear, terms: Sequence[Term], total: str, row: Index | None = None
    ) -> None:
        """Add terms to a variable, or to an element of the row that runs innermost."""
        for term in terms:
            with self.summed(statement, term.reduce):
                if row is None:
                    self.text.line(f"{total} {'+' if term.sign > 0 else '-'}= {self._product(operation, term)}")
                else:
                    with self.holding(statement, term.factors, [row.name]), self.text.loops([row]):
                        self.text.line(f"{total} {'+' if term.sign > 0 else '-'}= {self._product(operation, term)}")

    def _start(self, operation: Linear, weight: int, own: int | None) -> str:
        """What a sum starts from: its constants, and half a unit unless a word is still to be added."""
        parts = [] if own is not None else [f"(1 << {self.rounding(operation)} >> 1)"]
        if any(all(isinstance(f, Constant) for f in t.factors) for t in operation.terms) and weight:
            parts.append(self.text.number(weight, "constant"))
        return " + ".join(parts) or "0"

    def _one_by_one(
        self, statement: Statement, operation: Linear, terms: Sequence[Term], weight: int, own: int | None
    ) -> None:
        """Sum after sum, each in a variable."""
        start = self._start(operation, weight, own)
        outer, inner = statement.indices[:-1], statement.indices[-1:]
        plain = [f for t in operation.terms if not t.reduce for f in t.factors]
        with (
            self.text.loops(outer),
            self.holding(statement, plain, [index.name for index in inner]),
            self.text.loops(inner),
            self.text.where(applying(statement.constraints, statement.indices)),
        ):
            self.text.line(f"total = {start}")
            self._add(statement, operation, terms, "total")
            self._finish(statement, operation, "total", own)

    def _in_rows(
        self,
        statement: Statement,
        operation: Linear,
        terms: Sequence[Term],
        weight: int,
        own: int | None,
        row: Index,
    ) -> None:
        """All sums along an output index at a time, in an array."""
        place, start = self.in_row(row), self._start(operation, weight, own)
        with self.text.loops([index for index in statement.indices if index != row]):
            with self.text.loops([row]):
                self.text.line(f"{place} = {start}")
            self._add(statement, operation, terms, place, row)
            with self.text.loops([row]):
                self._finish(statement, operation, place, own)

    def _finish(self, statement: Statement, operation: Linear, total: str, own: int | None) -> None:
        """Round a sum of 64 bits."""
        shift = self.rounding(operation)
        if own is None:
            self.text.line(f"exact = {total} >> {shift}")
        else:
            self.text.line(f"before = {self.operand(operation.terms[own].factors[0])}")
            self.text.line(f"exact = ((before << {shift}) + {total} + (1 << {shift} >> 1)) >> {shift}")
        self._store(statement, operation, None if own is None else f"{total} != 0")

    def _store(self, statement: Statement, operation: Linear, changed: str | None) -> None:
        """Saturate the rounded sum `exact`, count, and write it. A sum with a test becomes 1 or 0."""
        target = self.target(statement)
        if operation.test is not None:
            self.text.line(f"{target} = one if exact {operation.test} 0 else 0")
            return
        ends = ("lowest", "highest")
        if operation.guard:
            low, high = self.format.limits(operation.guard)
            ends = (self.text.number(low, "lowest_stored"), self.text.number(high, "highest_stored"))
        self.text.line(f"word = min(max(exact, {ends[0]}), {ends[1]})")
        self.text.line("over += word != exact")
        if changed is not None:
            self.text.line(f"still += ({changed}) & (word == before)")
        self.text.line(f"{target} = word")

    def _in_limbs(
        self, statement: Statement, operation: Linear, terms: Sequence[Term], weight: int, own: int | None
    ) -> None:
        """Sums as ``high * 2^32 + low``, normalised before they are rounded: products are at most 62 bits long."""
        unit = self.format.fraction + operation.shift
        shift = unit - operation.guard
        count = sum(self._bound(statement, operation, t).products for t in operation.terms)
        long = max(0, unit - _LIMB)
        if (1 << 31 << long) * (count + 1) + abs(weight >> _LIMB) >= _ROOM or count << _LIMB >= _ROOM:
            raise UnsupportedError(f"the sums of '{statement.target}' need more than two limbs")
        half = (1 << shift) >> 1
        limbs = [self.text.number(weight >> _LIMB, "constant"), self.text.number(weight & _MASK, "constant")]
        halves = [self.text.number(half >> _LIMB, "half"), self.text.number(half & _MASK, "half")]
        with (
            self.text.loops(statement.indices),
            self.text.where(applying(statement.constraints, statement.indices)),
        ):
            self.text.line(f"high, low = {', '.join(limbs)}")
            for term in terms:
                with self.summed(statement, term.reduce):
                    self._add_limbs(operation, term, unit)
            changed = None
            if own is not None:
                self._normalise()
                self.text.line("changed = (high != 0) | (low != 0)")
                self.text.line(f"before = {self.operand(operation.terms[own].factors[0])}")
                self._add_shifted("before", 1, shift, self.rounding(operation))
                changed = "changed"
            self.text.line(f"high, low = high + {halves[0]}, low + {halves[1]}")
            self._normalise()
            self.text.line(f"exact = {self.unit('rounded')}(high, low, {self.rounding(operation)})")
            self._store(statement, operation, changed)

    def _normalise(self) -> None:
        self.text.line(f"high, low = high + (low >> {_LIMB}), low & {_MASK:#x}")

    def _add_limbs(self, operation: Linear, term: Term, shift: int) -> None:
        if len(term.factors) == 1:
            self._add_shifted(self.operand(term.factors[0]), term.sign, shift, self.scale(operation.shift))
            return
        self._add_product(f"{'-' if term.sign < 0 else ''}({self._product(operation, term)})")

    def _add_shifted(self, word: str, sign: int, shift: int, scale: str) -> None:
        if shift >= _LIMB:
            self.text.line(f"high {'+' if sign > 0 else '-'}= {word} << ({scale} - {_LIMB})")
        else:
            self._add_product(f"{'-' if sign < 0 else ''}({word} << {scale})")

    def _add_product(self, product: str) -> None:
        self.text.line(f"product = {product}")
        self.text.line(f"high, low = high + (product >> {_LIMB}), low + (product & {_MASK:#x})")

    def compare(self, statement: Statement, operation: Compare) -> None:
        """Write a comparison, which gives 1 or 0."""
        left, right = self.operand(operation.left), self.operand(operation.right)
        self.text.line(f"{self.target(statement)} = one if {left} {operation.op} {right} else 0")

    def function(self, statement: Statement, operation: Function) -> None:
        """Write a function of the function unit."""
        name, word = operation.name, self.operand(operation.operand)
        descriptor = FUNCTIONS[name]
        made = table(name, self.format)
        if descriptor.kind == "sqrt":
            self._counted(statement, f"{self.unit('square_root')}({word}, fraction)")
            return
        base, slope, curve, exponent = (self.text.names.of("table", f"{name}_{part}") for part in _TABLE)
        self.tables |= {base: made.base, slope: made.slope, curve: made.curve}
        fields = [(made.shift, "shift"), (made.guard, "guard")]
        head = f"{word}, {base}, {slope}, {curve}"
        if descriptor.words is function_words.direct:
            numbers = self._parameters(name, [*fields, (made.reach, "reach")])
            self.text.line(f"{self.target(statement)} = {self.unit('direct')}({head}, {numbers}, lowest, highest)")
        elif descriptor.words is function_words.circular:
            point = self.format.fraction + turn_bits(self.format)
            fields += [(made.fraction_bits, "bits"), (made.constant, "constant"), (point, "point")]
            numbers = self._parameters(name, fields)
            self.text.line(f"{self.target(statement)} = {self.unit('circular')}({head}, {numbers}, lowest, highest)")
        elif descriptor.words is function_words.exponential:
            below = self.format.fraction + exponent_bits(self.format)
            fields += [(made.fraction_bits, "bits"), (made.constant, "constant"), (below, "below")]
            numbers = self._parameters(name, fields)
            integer = self.text.number(self.format.integer, "integer")
            call = f"{self.unit('exponential')}({head}, {numbers}, fraction, lowest, highest, {integer})"
            self._counted(statement, call)
        elif descriptor.words is function_words.logarithm:
            self.tables[exponent] = made.exponent
            numbers = self._parameters(name, [*fields, (made.fraction_bits, "bits"), (self.format.width, "width")])
            call = f"{self.unit('logarithm')}({head}, {exponent}, {numbers}, lowest, highest)"
            self._counted(statement, call)
        else:
            raise UnsupportedError(f"the function '{name}' is known in numpy only")

    def _parameters(self, name: str, values: Sequence[tuple[int, str]]) -> str:
        return ", ".join(self.text.number(value, f"{name}_{what}") for value, what in values)

    def _counted(self, statement: Statement, call: str) -> None:
        """Write a word that may have saturated, or come from outside a domain."""
        self.text.line(f"{self.target(statement)}, over, outside = {call}")
        self.text.line(f"overflows[{statement.id}] += over")
        self.text.line(f"domain_errors[{statement.id}] += outside")

    def divide(self, statement: Statement, operation: Divide) -> None:
        """Write a quotient of two operands."""
        operands = f"{self.operand(operation.left)}, {self.operand(operation.right)}"
        if operation.fraction is None:
            self._counted(statement, f"{self.unit('divide')}({operands}, fraction, lowest, highest)")
        else:
            self._counted(statement, f"{self.unit('quotient')}({operands}, lowest, highest)")

    def product(self, statement: Statement, operation: Product) -> None:
        """Write a product, rounded at each step."""
        shift = self.scale(operation.shift)
        begin = f"1 << {shift}" if operation.initial is None else self.operand(operation.initial)
        self.text.line(f"word, over = {begin}, 0")
        with self.summed(statement, operation.reduce):
            factor = self.operand(operation.operand)
            self.text.line(f"exact = (word * {factor} + (1 << {shift} >> 1)) >> {shift}")
            self.text.line("word = min(max(exact, lowest), highest)")
            self.text.line("over += word != exact")
        self.text.line(f"{self.target(statement)} = word")
        self.text.line(f"overflows[{statement.id}] += over")

    def extreme(self, statement: Statement, operation: Extreme) -> None:
        """Write the largest or smallest of words."""
        neutral = "lowest" if operation.op == "max" else "highest"
        self.text.line(f"word = {neutral if operation.initial is None else self.operand(operation.initial)}")
        with self.summed(statement, operation.reduce):
            for operand in operation.operands:
                self.text.line(f"word = {operation.op}(word, {self.operand(operand)})")
        self.text.line(f"{self.target(statement)} = word")
