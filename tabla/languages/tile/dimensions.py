"""Sizes of tensors as values: `TensorDim`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

from tabla.languages.tile.places import here, refuse

MOST_NAMES = 1024
"""The most sizes or indices that one call makes."""


class TensorDim:
    """The size of a dimension, which ``Tensor.bind_dims`` sets. ``+ - * //`` and the sign ``-`` make further sizes.

    Every shape is known when a function is compiled, so a bound size is as good as an integer: in ``range``, in ``if``,
    and as a number in elementwise expressions. An unbound size may be calculated with, but its value may not be looked
    at.
    """

    __slots__ = ("_name", "_rule", "_size")
    __array_ufunc__ = None

    def __init__(self, size: int | str | None = None) -> None:
        """Make a size. A text is its name, and an integer its value."""
        self._size = None if size is None or isinstance(size, str) else size_of(size)
        self._rule: Callable[[], int] | None = None
        self._name = size if isinstance(size, str) else None

    def learn_name(self, name: str) -> None:
        """Take the name of the variable that holds it."""
        self._name = self._name or name

    def bind(self, size: int, what: str) -> None:
        """Take a size, or check it against the size that is there already. `what` names the dimension in messages."""
        if self._size is None and self._rule is None:
            self._size = size
        elif self.size != size:
            here()  # learns names
            name = f"'{self._name}' " if self._name else ""
            refuse(f"{what} is {size}, but {name}is {self.size} already", "the sizes of the shapes given must agree")

    @property
    def size(self) -> int:
        """The integer. Raises `TablaError` while it is unbound."""
        if self._size is None and self._rule is not None:
            self._size = self._rule()
        if self._size is None:
            here()  # learns names
            name = f"the dimension '{self._name}'" if self._name else "a dimension"
            refuse(f"{name} is used before it has a size", "call bind_dims on an input first")
        return self._size

    def follow(self, rule: Callable[[], int]) -> None:
        """Get the size from a rule, when it is asked for."""
        self._rule = rule

    def _derive(self, rule: Callable[[], int]) -> TensorDim:
        made = TensorDim()
        made.follow(rule)
        return made

    def _join(self, other: object, operation: Callable[[int, int], int], swapped: bool = False) -> Any:
        if not isinstance(other, TensorDim | Integral):
            return NotImplemented
        left, right = (other, self) if swapped else (self, other)
        return self._derive(lambda: operation(size_of(left), size_of(right)))

    def __add__(self, other: object) -> Any:
        return self._join(other, lambda a, b: a + b)

    def __radd__(self, other: object) -> Any:
        return self._join(other, lambda a, b: a + b, swapped=True)

    def __sub__(self, other: object) -> Any:
        return self._join(other, lambda a, b: a - b)

    def __rsub__(self, other: object) -> Any:
        return self._join(other, lambda a, b: a - b, swapped=True)

    def __mul__(self, other: object) -> Any:
        return self._join(other, lambda a, b: a * b)

    def __rmul__(self, other: object) -> Any:
        return self._join(other, lambda a, b: a * b, swapped=True)

    def __floordiv__(self, other: object) -> Any:
        return self._join(other, _quotient)

    def __rfloordiv__(self, other: object) -> Any:
        return self._join(other, _quotient, swapped=True)

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, TensorDim | Integral):
            refuse("sizes are whole numbers, '/' would not be", "write '//'")
        return NotImplemented

    def __rtruediv__(self, other: object) -> Any:
        return self.__truediv__(other)

    def __neg__(self) -> TensorDim:
        return self._derive(lambda: -self.size)

    def __pos__(self) -> TensorDim:
        return self

    def __index__(self) -> int:
        return self.size

    def __int__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return self.size != 0

    def __eq__(self, other: object) -> Any:
        return self.size == size_of(other) if isinstance(other, TensorDim | Integral) else NotImplemented

    def __lt__(self, other: object) -> Any:
        return self.size < size_of(other) if isinstance(other, TensorDim | Integral) else NotImplemented

    def __le__(self, other: object) -> Any:
        return self.size <= size_of(other) if isinstance(other, TensorDim | Integral) else NotImplemented

    def __gt__(self, other: object) -> Any:
        return self.size > size_of(other) if isinstance(other, TensorDim | Integral) else NotImplemented

    def __ge__(self, other: object) -> Any:
        return self.size >= size_of(other) if isinstance(other, TensorDim | Integral) else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"TensorDim({'' if self._size is None else self._size})"


def TensorDims(*names: int | str) -> tuple[TensorDim, ...]:
    """Return sizes at once: as many as an integer says, or one for each name."""
    return tuple(TensorDim(name) for name in names_given(names, "TensorDims"))


def names_given(names: Sequence[int | str], function: str) -> list[str | None]:
    """Return the names that a function of several got: ``function(2)``, ``function("N", "M")`` or
    ``function("N M")``.
    """
    match names:
        case [int(count)] if not isinstance(count, bool) and count > MOST_NAMES:
            refuse(f"{function} makes at most {MOST_NAMES} at once", "a tensor has fewer axes than that")
        case [int(count)] if not isinstance(count, bool) and count >= 0:
            return [None] * count
        case [_, *_] if all(isinstance(name, str) for name in names):
            return [part for name in names for part in str(name).replace(",", " ").split()]
        case _:
            refuse(f"{function} takes a number or names", f"write {function}(2) or {function}('A', 'B')")


def _quotient(left: int, right: int) -> int:
    if right == 0:
        refuse("a size is divided by zero", "divide by a size or an integer that is not 0")
    return left // right


def truncated(left: TensorDim | int, right: TensorDim | int) -> TensorDim:
    """Return the quotient of two sizes, rounded toward zero as in C. ``//`` of Python rounds down."""
    made = TensorDim()
    made.follow(lambda: _toward_zero(size_of(left), size_of(right)))
    return made


def _toward_zero(left: int, right: int) -> int:
    quotient = _quotient(abs(left), abs(right))
    return quotient if (left < 0) == (right < 0) else -quotient


def size_of(size: object) -> int:
    """Return the integer of a size or of an integer."""
    if isinstance(size, TensorDim):
        return size.size
    if isinstance(size, Integral) and not isinstance(size, bool):
        return int(size)
    refuse(f"{size!r} is not a size", "sizes are TensorDims and integers")


def axis_of(axis: object) -> int:
    """Return the integer of an axis. What is no integer is a `TablaError`."""
    if not isinstance(axis, TensorDim | Integral):
        refuse(f"the axis {axis!r} is no integer", "count the axes from 0")
    return int(axis)
