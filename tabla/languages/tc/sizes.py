"""Exact arithmetic on sizes: polynomials in size variables and in operations that cannot be simplified further.

Every size variable is at least 1. Where all sizes are numbers, so is every result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Operator = Literal["floor", "trunc", "%", "min", "max", "?", "<", "<=", "==", "!="]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation that is no polynomial: a quotient (rounded down, or toward zero), a remainder, a choice."""

    operator: Operator
    operands: tuple[Size, ...]

    def __str__(self) -> str:
        parts = [str(operand) for operand in self.operands]
        match self.operator:
            case "min" | "max":
                return f"{self.operator}({', '.join(parts)})"
            case "?":
                return f"({parts[0]} ? {parts[1]} : {parts[2]})"
            case "floor" | "trunc" | "%":
                sign = "%" if self.operator == "%" else "/"
                return f"{_factor(self.operands[0])}{sign}{_factor(self.operands[1], divisor=True)}"
            case _:
                return f"({parts[0]} {self.operator} {parts[1]})"


Atom = str | Operation
Monomial = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """A sum of integer multiples of products of atoms, in the order of appearance. Equal sums are equal."""

    terms: tuple[tuple[Monomial, int], ...] = ()
    key: frozenset[tuple[frozenset[tuple[Atom, int]], int]] = field(default=frozenset(), repr=False)

    @staticmethod
    def make(terms: Mapping[Monomial, int]) -> Size:
        """Return the sum of some terms. Terms that are zero vanish."""
        kept = tuple((monomial, c) for monomial, c in terms.items() if c)
        key = frozenset((frozenset((atom, m.count(atom)) for atom in m), c) for m, c in kept)
        return Size(kept, key)

    @staticmethod
    def number(value: int) -> Size:
        """Return an integer as a size."""
        return Size.make({(): value})

    @staticmethod
    def atom(atom: Atom) -> Size:
        """Return a size variable or an operation as a size."""
        return Size.make({(atom,): 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __add__(self, other: Size | int) -> Size:
        other = _size(other)
        terms = dict(self.terms)
        for monomial, c in other.terms:
            same = next((m for m in terms if _same(m, monomial)), monomial)
            terms[same] = terms.get(same, 0) + c
        return Size.make(terms)

    def __neg__(self) -> Size:
        return Size.make({monomial: -c for monomial, c in self.terms})

    def __sub__(self, other: Size | int) -> Size:
        return self + -_size(other)

    def __mul__(self, other: Size | int) -> Size:
        other = _size(other)
        product = Size.number(0)
        for monomial, c in self.terms:
            for factor, d in other.terms:
                product = product + Size.make({(*monomial, *factor): c * d})
        return product

    @property
    def value(self) -> int | None:
        """The number that the size is, or None when it depends on a size variable."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def at(self, sizes: Mapping[str, int]) -> int:
        """Return the value where every size variable has one."""
        found = self.substitute({name: Size.number(value) for name, value in sizes.items()}).value
        if found is None:
            raise KeyError(f"a size variable of {self} has no value")
        return found

    def substitute(self, sizes: Mapping[str, Size]) -> Size:
        """Return the size with size variables replaced."""
        total = Size.number(0)
        for monomial, c in self.terms:
            product = Size.number(c)
            for atom in monomial:
                if isinstance(atom, str):
                    product = product * sizes.get(atom, Size.atom(atom))
                else:
                    product = product * operate(atom.operator, *(o.substitute(sizes) for o in atom.operands))
            total = total + product
        return total

    def least(self) -> int | None:
        """Return a number that the size is never below, or None when none is known."""
        return _bound(self)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        variable = [(m, c) for m, c in self.terms if m]
        constant = [(m, c) for m, c in self.terms if not m]
        up, down = [t for t in variable if t[1] > 0], [t for t in variable if t[1] < 0]
        # 11-N reads better than -N+11.
        ordered = up + down + constant if up or (constant and constant[0][1] < 0) else constant + down
        text = ""
        for monomial, c in ordered:
            factors = [str(atom) for atom in monomial]
            if abs(c) != 1 or not factors:
                factors.insert(0, str(abs(c)))
            # A quotient as a later factor would bind to the product before it.
            body = "*".join(f"({f})" if "/" in f and len(factors) > 1 else f for f in factors)
            text += ("-" if c < 0 else "+" if text else "") + body
        return text


def operate(operator: Operator, *operands: Size) -> Size:
    """Return the result of an operation, simplified as far as sizes of at least 1 allow.

    Division by a number that is 0 is a `ZeroDivisionError`.
    """
    values = [operand.value for operand in operands]
    numbers = [value for value in values if value is not None]
    if len(numbers) == len(operands):
        return Size.number(_ON_NUMBERS[operator](*numbers))
    match operator:
        case "min" | "max":
            return _extreme(operator, operands[0], operands[1])
        case "floor" | "trunc":
            return _quotient(operator, operands[0], operands[1])
        case "?" if values[0] is not None:
            return operands[1] if values[0] else operands[2]
        case _:
            return Size.atom(Operation(operator=operator, operands=operands))


def minimum(one: Size, other: Size) -> Size:
    """Return the smaller size."""
    return operate("min", one, other)


def maximum(one: Size, other: Size) -> Size:
    """Return the larger size."""
    return operate("max", one, other)


def floor(dividend: Size, divisor: Size) -> Size:
    """Return the quotient, rounded down."""
    return operate("floor", dividend, divisor)


def _trunc(a: int, b: int) -> int:
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


_ON_NUMBERS: dict[Operator, Callable[..., int]] = {
    "floor": lambda a, b: a // b,
    "trunc": _trunc,
    "%": lambda a, b: a - b * _trunc(a, b),
    "min": min,
    "max": max,
    "?": lambda c, a, b: a if c else b,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}


def _extreme(operator: Literal["min", "max"], one: Size, other: Size) -> Size:
    least, most = (one - other).least(), (other - one).least()
    if least is not None and least >= 0:
        return other if operator == "min" else one
    if most is not None and most >= 0:
        return one if operator == "min" else other
    operands = tuple(dict.fromkeys((*_members(operator, one), *_members(operator, other))))
    return Size.atom(Operation(operator=operator, operands=operands))


def _members(operator: str, size: Size) -> tuple[Size, ...]:
    if len(size.terms) == 1:
        (monomial, c) = size.terms[0]
        if c == 1 and len(monomial) == 1 and isinstance(monomial[0], Operation) and monomial[0].operator == operator:
            return monomial[0].operands
    return (size,)


def _quotient(operator: Literal["floor", "trunc"], dividend: Size, divisor: Size) -> Size:
    if divisor.value == 0:
        raise ZeroDivisionError
    if divisor.value == 1:
        return dividend
    if operator == "trunc" and _positive(divisor):
        least = dividend.least()
        operator = "floor" if least is not None and least >= 0 else "trunc"
    if operator == "trunc":
        exact = _exact(dividend, divisor)
        return exact if exact is not None else Size.atom(Operation(operator="trunc", operands=(dividend, divisor)))
    if (small := _small_quotient(dividend, divisor)) is not None:
        return small
    # What divides exactly is taken out, whatever remains is rounded down.
    whole, rest = Size.number(0), Size.number(0)
    for monomial, c in dividend.terms:
        term = Size.make({monomial: c})
        exact = _exact(term, divisor)
        if exact is None:
            rest = rest + term
        else:
            whole = whole + exact
    if not rest.terms:
        return whole
    if (small := _small_quotient(rest, divisor)) is not None:
        return whole + small
    return whole + Size.atom(Operation(operator="floor", operands=(rest, divisor)))


def _small_quotient(dividend: Size, divisor: Size) -> Size | None:
    """The quotient rounded down where it is known to be 0 or -1."""
    for quotient in (0, -1):
        rest = dividend - divisor * quotient
        least, limit = rest.least(), (divisor - 1 - rest).least()
        if least is not None and least >= 0 and limit is not None and limit >= 0:
            return Size.number(quotient)
    return None


def _exact(dividend: Size, divisor: Size) -> Size | None:
    """The quotient without a remainder, for a divisor of one term."""
    if len(divisor.terms) != 1:
        return Size.number(1) if dividend == divisor else None
    factors, d = divisor.terms[0]
    terms: dict[Monomial, int] = {}
    for monomial, c in dividend.terms:
        left = list(monomial)
        for factor in factors:
            if factor not in left:
                return None
            left.remove(factor)
        if c % d:
            return None
        terms[tuple(left)] = c // d
    return Size.make(terms)


def _positive(size: Size) -> bool:
    least = size.least()
    return least is not None and least > 0


def _bound(size: Size) -> int | None:
    """A lower bound: quotients of one divisor are compared in pairs, everything else by its own bounds."""
    terms = dict(size.terms)
    total = 0
    quotients = [(m[0], c) for m, c in terms.items() if len(m) == 1 and isinstance(m[0], Operation)]
    for one, c in quotients:
        for other, d in quotients:
            paired = (one,) in terms and (other,) in terms and c > 0 > d and one != other
            if not (paired and isinstance(one, Operation) and isinstance(other, Operation)):
                continue
            divisor = one.operands[-1].value
            if one.operator != "floor" or other.operator != "floor" or one.operands[1] != other.operands[1]:
                continue
            apart = (one.operands[0] - other.operands[0]).least()
            if apart is None or divisor is None or divisor < 1 or c != -d:
                continue
            # floor(a/d) - floor(b/d) >= floor((a-b)/d)
            total += c * (apart // divisor)
            del terms[(one,)], terms[(other,)]
    ends = [_term_bound(monomial, c) for monomial, c in terms.items()]
    if all(end is not None for end in ends):
        return total + sum(end for end in ends if end is not None)
    return _bound_by_cases(size)


def _bound_by_cases(size: Size) -> int | None:
    """A term ``-min(a, b)`` is at least -a and at least -b, ``max`` likewise: any operand will do."""
    for monomial, c in size.terms:
        if len(monomial) == 1 and isinstance(monomial[0], Operation) and monomial[0].operator in ("min", "max"):
            loose = (monomial[0].operator == "min") == (c < 0)
            rest = size - Size.make({monomial: c})
            found = [(rest + operand * c).least() for operand in monomial[0].operands]
            known = [end for end in found if end is not None]
            if loose and known:
                return max(known)
            if not loose and len(known) == len(found):
                return min(known)
    return None


def _term_bound(monomial: Monomial, c: int) -> int | None:
    low, high = 1, 1
    if len(monomial) == 1:
        end = _atom_bounds(monomial[0])[c < 0]
        return None if end is None else c * end
    for atom in monomial:
        ends = _atom_bounds(atom)
        if ends[0] is None or ends[0] < 0:
            return None
        low *= ends[0]
        if c < 0:
            if ends[1] is None:
                return None
            high *= ends[1]
    return c * (low if c > 0 else high)


def _atom_bounds(atom: Atom) -> tuple[int | None, int | None]:
    if isinstance(atom, str):
        return 1, None
    lows = [operand.least() for operand in atom.operands]
    highs = [_negated((-operand).least()) for operand in atom.operands]
    match atom.operator:
        case "floor":
            divisor = atom.operands[1].value
            if divisor is None or divisor < 1:
                # Dividing what is not negative by what is at least 1 keeps it so.
                good = lows[0] is not None and lows[0] >= 0 and lows[1] is not None and lows[1] >= 1
                return (0, highs[0]) if good else (None, None)
            low, high = lows[0], highs[0]
            return (None if low is None else low // divisor), (None if high is None else high // divisor)
        case "min":
            low_all = None if None in lows else min(low for low in lows if low is not None)
            return low_all, min((high for high in highs if high is not None), default=None)
        case "max":
            high_all = None if None in highs else max(high for high in highs if high is not None)
            return max((low for low in lows if low is not None), default=None), high_all
        case "%":
            divisor = atom.operands[1].value
            if divisor is None or divisor == 0 or lows[0] is None or lows[0] < 0:
                return None, None
            return 0, abs(divisor) - 1
        case "<" | "<=" | "==" | "!=":
            return 0, 1
        case _:
            return None, None


def _negated(value: int | None) -> int | None:
    return None if value is None else -value


def _size(value: Size | int) -> Size:
    return value if isinstance(value, Size) else Size.number(value)


def _same(one: Monomial, other: Monomial) -> bool:
    return one == other or (len(one) == len(other) and sorted(map(repr, one)) == sorted(map(repr, other)))


def _factor(size: Size, *, divisor: bool = False) -> str:
    """A size as an operand of / or %."""
    single = len(size.terms) == 1 and (not divisor or len(size.terms[0][0]) + (size.terms[0][1] != 1) <= 1)
    text = str(size)
    return text if single and not text.startswith("-") and "/" not in text and "%" not in text else f"({text})"
