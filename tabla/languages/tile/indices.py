"""Index variables, the linear expressions of them that subscript tensors, and constraints on those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, NoReturn

from tabla.base.source import Span
from tabla.languages.tile.dimensions import TensorDim, names_given, size_of
from tabla.languages.tile.places import here, refuse


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndexConstraint:
    """``0 <= expression < bound``, for ``add_constraint``."""

    expression: IndexExpression
    bound: int
    span: Span | None

    def __bool__(self) -> bool:
        refuse("a constraint is neither true nor false", "hand it over: O.add_constraint(j < 2)", self.span)


class IndexExpression:
    """A sum of index variables with whole factors, sizes and integers; ``//`` divides exactly."""

    __slots__ = ("_constant", "_factors", "_whole")
    __array_ufunc__ = None

    def __init__(
        self,
        constant: Fraction,
        factors: Mapping[TensorIndex, Fraction],
        whole: tuple[IndexExpression, ...] = (),
    ) -> None:
        self._constant = constant
        self._factors = {index: factor for index, factor in factors.items() if factor}
        self._whole = whole

    @property
    def constant(self) -> Fraction:
        """The part that does not depend on index variables."""
        return self._constant

    @property
    def factors(self) -> Mapping[TensorIndex, Fraction]:
        """The factors of the index variables, none of them zero."""
        return self._factors

    @property
    def whole(self) -> tuple[IndexExpression, ...]:
        """The quotients inside it. Index values for which one of them is not an integer are not valid."""
        return self._whole

    def _sum(self, other: object, sign: int, own_sign: int = 1) -> Any:
        if not isinstance(other, IndexExpression | TensorDim | Integral):
            return NotImplemented
        right = expression_of(other)
        factors = {index: own_sign * factor for index, factor in self.factors.items()}
        for index, factor in right.factors.items():
            factors[index] = factors.get(index, Fraction(0)) + sign * factor
        return IndexExpression(own_sign * self.constant + sign * right.constant, factors, (*self.whole, *right.whole))

    def __add__(self, other: object) -> Any:
        return self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self._sum(other, -1)

    def __rsub__(self, other: object) -> Any:
        return self._sum(other, 1, -1)

    def __neg__(self) -> IndexExpression:
        return self._scaled(Fraction(-1))

    def __pos__(self) -> IndexExpression:
        return self

    def _scaled(self, by: Fraction) -> IndexExpression:
        factors = {index: by * factor for index, factor in self.factors.items()}
        return IndexExpression(by * self.constant, factors, self.whole)

    def __mul__(self, other: object) -> Any:
        if isinstance(other, IndexExpression):
            refuse("a product of two index variables is not linear", "subscripts are sums of indices times sizes")
        if isinstance(other, float):
            refuse("an index variable is multiplied by a fraction", "use whole factors, and '//' to divide")
        return self._scaled(Fraction(size_of(other))) if isinstance(other, TensorDim | Integral) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Any:
        if isinstance(other, IndexExpression):
            refuse("a quotient of two index variables is not linear", "divide by sizes and integers")
        if not isinstance(other, TensorDim | Integral):
            return NotImplemented
        divisor = size_of(other)
        if divisor == 0:
            refuse("an index is divided by zero", "divide by a size or an integer that is not 0")
        quotient = self._scaled(Fraction(1, divisor))
        return IndexExpression(quotient.constant, quotient.factors, (*self.whole, quotient))

    def __rfloordiv__(self, other: object) -> NoReturn:
        refuse("an index variable is a divisor", "subscripts are sums of indices times sizes")

    def __truediv__(self, other: object) -> NoReturn:
        refuse("'/' of an index variable is not an index", "write '//': it divides exactly")

    __rtruediv__ = __truediv__

    def __mod__(self, other: object) -> NoReturn:
        refuse("a remainder of an index variable is not linear", "write i = n * q + r with two index variables")

    def __lt__(self, other: object) -> Any:
        if isinstance(other, IndexExpression):
            refuse(
                "the bound of a constraint depends on an index variable",
                "write 0 <= e as e < N with an N never reached: k <= i is i - k < N",
            )
        if not isinstance(other, TensorDim | Integral):
            return NotImplemented
        return IndexConstraint(expression=self, bound=size_of(other), span=here())

    def __le__(self, other: object) -> NoReturn:
        _refuse_comparison("<=")

    def __gt__(self, other: object) -> NoReturn:
        _refuse_comparison(">")

    def __ge__(self, other: object) -> NoReturn:
        _refuse_comparison(">=")

    def __eq__(self, other: object) -> NoReturn:
        _refuse_comparison("==")

    def __ne__(self, other: object) -> NoReturn:
        _refuse_comparison("!=")

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> NoReturn:
        refuse("an index variable has no one value", "it runs over all valid values; use add_constraint")

    def __index__(self) -> NoReturn:
        refuse("an index variable has no one value", "it runs over all valid values")


class TensorIndex(IndexExpression):
    """An integer that runs over all valid values, within one statement."""

    __slots__ = ("_name",)

    def __init__(self, name: str | None = None) -> None:
        self._name = name

    def learn_name(self, name: str) -> None:
        """Take the name of the variable that holds it."""
        self._name = self._name or name

    @property
    def name(self) -> str | None:
        """What the user's function calls it."""
        return self._name

    @property
    def constant(self) -> Fraction:
        return Fraction(0)

    @property
    def factors(self) -> Mapping[TensorIndex, Fraction]:
        return {self: Fraction(1)}

    @property
    def whole(self) -> tuple[IndexExpression, ...]:
        return ()

    def __repr__(self) -> str:
        return f"TensorIndex({self._name or ''})"


def TensorIndexes(*names: int | str) -> tuple[TensorIndex, ...]:
    """Return index variables at once: as many as an integer says, or one for each name."""
    return tuple(TensorIndex(name) for name in names_given(names, "TensorIndexes"))


def expression_of(value: object, span: Span | None = None) -> IndexExpression:
    """Return a subscript, which is an index expression, a size or an integer, as an index expression."""
    if isinstance(value, IndexExpression):
        return value
    if isinstance(value, TensorDim | Integral) and not isinstance(value, bool):
        return IndexExpression(Fraction(size_of(value)), {})
    if isinstance(value, slice):
        refuse("a slice is not a subscript", "use an index variable, and the output's size to cut", span)
    cure = "subscripts are sums of index variables, sizes and integers"
    refuse(f"{type(value).__name__} is not a subscript", cure, span)


def _refuse_comparison(operator: str) -> NoReturn:
    refuse(
        f"'{operator}' between indices is not a constraint",
        "constraints have the form e < C and mean 0 <= e < C: e <= C is e < C + 1, a <= b is b - a < C",
    )
