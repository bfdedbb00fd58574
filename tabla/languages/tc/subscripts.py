"""Values as affine sums: of indices with sizes as coefficients, or of sizes alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tabla.base.source import Label, TablaError
from tabla.languages.tc import program
from tabla.languages.tc.program import Value
from tabla.languages.tc.sizes import Size, operate

Extents = Callable[[str, int], Size]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """``constant + sum(coefficient * index)``. No coefficient is zero."""

    constant: Size
    coefficients: Mapping[str, Size]

    def plus(self, other: Linear, factor: Size) -> Linear:
        """Return the sum of this form and a multiple of another one."""
        total = dict(self.coefficients)
        for name, c in other.coefficients.items():
            total[name] = total.get(name, Size.number(0)) + factor * c
        kept = {name: c for name, c in total.items() if c.terms}
        return Linear(constant=self.constant + factor * other.constant, coefficients=kept)

    def above(self, size: Size) -> Linear:
        """Return the form less a size: at least 0 where the form is at least the size."""
        return Linear(constant=self.constant - size, coefficients=self.coefficients)

    def below(self, size: Size) -> Linear:
        """Return a size less the form: at least 0 where the form is at most the size."""
        return Linear(constant=size, coefficients={}).plus(self, Size.number(-1))

    def written(self) -> Size:
        """Return the form as a size, in which an index is an atom, as texts show it."""
        total = Size.number(0)
        for name, c in self.coefficients.items():
            total = total + Size.atom(name) * c
        return total + self.constant


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient:
    """``scale * (inner / divisor) + offset``. The divisor is a positive number."""

    inner: Linear | Quotient
    divisor: int
    scale: int
    offset: Size


Subscript = Linear | Quotient


def linear_of(value: Value, extents: Extents, sizes: Mapping[str, Size]) -> Linear | None:
    """Return the value as an affine sum of indices, or None where it is none."""
    found = subscript_of(value, extents, sizes)
    return found if isinstance(found, Linear) else None


def subscript_of(value: Value, extents: Extents, sizes: Mapping[str, Size]) -> Subscript | None:
    """Return the value in the form that range inference understands: an affine sum, or one that a positive number
    divides.
    """
    return _Reading(extents, sizes).read(value)


class _Reading:
    def __init__(self, extents: Extents, sizes: Mapping[str, Size]) -> None:
        self.extents, self.sizes = extents, sizes

    def read(self, value: Value) -> Subscript | None:
        match value:
            case program.Constant(value=number, scalar=scalar):
                return _constant(Size.number(int(number))) if scalar.integral else None
            case program.SizeVariable(name=name):
                return _constant(self.sizes.get(name, Size.atom(name)))
            case program.Extent(tensor=tensor, axis=axis):
                return _constant(self.extents(tensor, axis))
            case program.Index(name=name):
                return Linear(constant=Size.number(0), coefficients={name: Size.number(1)})
            case program.Convert(operand=operand, scalar=scalar):
                # A cast to a narrower integer wraps nothing that is an index: values are checked where they are used.
                return self.read(operand) if scalar.integral and operand.scalar.integral else None
            case program.Unary(operator="-", operand=operand):
                return _combine(_constant(Size.number(0)), self.read(operand), -1)
            case program.Binary():
                return self._binary(value)
            case program.Choice(condition=condition, chosen=chosen, other=other):
                return self._sizes("?", condition, chosen, other)
            case program.Apply(function="min" | "max" as function, arguments=arguments):
                return self._sizes(function, *arguments)
            case _:
                return None

    def _binary(self, value: program.Binary) -> Subscript | None:
        left, right = self.read(value.left), self.read(value.right)
        match value.operator:
            case "+":
                return _combine(left, right, 1)
            case "-":
                return _combine(left, right, -1)
            case "*":
                return _product(left, right)
            case "/" | "%" if isinstance(right, Linear) and right.constant.value == 0 and not right.coefficients:
                raise TablaError("division by zero", Label(value.span), hint="divide by something else")
            case "/":
                divided = _divided(left, right)
                return divided if divided is not None else self._sizes("trunc", value.left, value.right)
            case "%" | "<" | "<=" | "==" | "!=" as operator:
                return self._sizes(operator, value.left, value.right)
            case ">":
                return self._sizes("<", value.right, value.left)
            case ">=":
                return self._sizes("<=", value.right, value.left)
            case _:
                return None

    def _sizes(self, operator: object, *operands: Value) -> Subscript | None:
        found: list[Size] = []
        for operand in operands:
            linear = self.read(operand)
            if not isinstance(linear, Linear) or linear.coefficients:
                return None
            found.append(linear.constant)
        return _constant(operate(operator, *found))  # type: ignore[arg-type]


def _constant(size: Size) -> Linear:
    return Linear(constant=size, coefficients={})


def _combine(left: Subscript | None, right: Subscript | None, sign: int) -> Subscript | None:
    match left, right:
        case Linear(), Linear():
            return left.plus(right, Size.number(sign))
        case Quotient(), Linear(coefficients=none) if not none:
            offset = left.offset + right.constant * sign
            return Quotient(inner=left.inner, divisor=left.divisor, scale=left.scale, offset=offset)
        case Linear(coefficients=none), Quotient() if not none:
            offset = left.constant + right.offset * sign
            return Quotient(inner=right.inner, divisor=right.divisor, scale=sign * right.scale, offset=offset)
        case _:
            return None


def _product(left: Subscript | None, right: Subscript | None) -> Subscript | None:
    match left, right:
        case Linear(coefficients=none), Linear() if not none:
            return _constant(Size.number(0)).plus(right, left.constant)
        case Linear(), Linear(coefficients=none) if not none:
            return _constant(Size.number(0)).plus(left, right.constant)
        case (Quotient() as quotient, Linear(coefficients=none) as factor) | (
            Linear(coefficients=none) as factor,
            Quotient() as quotient,
        ) if not none and (number := factor.constant.value):
            return Quotient(
                inner=quotient.inner,
                divisor=quotient.divisor,
                scale=quotient.scale * number,
                offset=quotient.offset * number,
            )
        case _:
            return None


def _divided(left: Subscript | None, right: Subscript | None) -> Subscript | None:
    """An index expression over a positive number; of sizes alone the quotient is a size, not this."""
    if not isinstance(right, Linear) or right.coefficients or left is None:
        return None
    divisor = right.constant.value
    if divisor is None or divisor < 1 or (isinstance(left, Linear) and not left.coefficients):
        return None
    return Quotient(inner=left, divisor=divisor, scale=1, offset=Size.number(0))
