"""Block instructions as statements: what each computes, over the modes of its memrefs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from tabla.base.source import Label, Span, TablaError
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.tree import Expression, Number, Read, Reduce
from tabla.languages.tinytc.views import Mode, NeedsConstant, View, size_of, whole_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """A range that modes of several memrefs share: an index for each part, as fine as the finest of the modes."""

    mode: Mode
    indices: tuple[Index, ...]

    @property
    def parts(self) -> tuple[Affine, ...]:
        """The parts of the subscript."""
        return tuple(Affine.index(index.name) for index in self.indices)

    @property
    def whole(self) -> Affine:
        """The subscript."""
        return whole_of(self.mode, self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block instruction with its operands: ``target := alpha * (...) + beta * target``."""

    name: str
    modifiers: tuple[str, ...]
    alpha: Expression
    sources: tuple[View, ...]
    mode: int | None
    beta: Expression
    target: View
    span: Span
    number: int

    def statement(self) -> tuple[tuple[Affine, ...], tuple[Index, ...], Expression]:
        """Return what is written where, over which indices. Shapes that do not fit are a `TablaError`."""
        match self.name:
            case "gemm":
                axes, value = self._gemm()
            case "gemv":
                axes, value = self._gemv()
            case "ger":
                axes, value = self._ger()
            case "sum":
                axes, value = self._sum()
            case "cumsum":
                axes, value = self._cumsum()
            case "hadamard":
                axes, value = self._hadamard()
            case _:
                axes, value = self._axpby()
        write = _at(self.target, axes)
        value = _scaled(self.alpha, value)
        if not _is(self.beta, 0):
            old = Read(tensor=self.target.base, subscripts=write, span=self.span)
            value = apply("add", value, _scaled(self.beta, old), span=self.span)
        return write, tuple(index for axis in axes for index in axis.indices), value

    def _turned(self, count: int) -> list[bool]:
        """Return for each of so many operands whether it is transposed."""
        if len(self.modifiers) > count or any(each not in ("n", "t") for each in self.modifiers):
            said = ".".join((self.name, *self.modifiers))
            self._refuse(f"'{said}' has modifiers that it does not take", f"{self.name} takes {count} of .n and .t")
        turned = [each == "t" for each in self.modifiers]
        return turned + [False] * (count - len(turned))

    def _gemm(self) -> tuple[list[_Axis], Expression]:
        turns = self._turned(2)
        self._orders(2, 2, 2)
        a, b = (tuple(reversed(view.modes)) if t else view.modes for view, t in zip(self.sources, turns, strict=True))
        i = self._axis("i", a[0], self.target.modes[0])
        j = self._axis("j", b[1], self.target.modes[1])
        k = self._axis("k", a[1], b[0])
        left = self._read(0, (k, i) if turns[0] else (i, k))
        right = self._read(1, (j, k) if turns[1] else (k, j))
        return [i, j], self._summed([k], apply("multiply", left, right, span=self.span))

    def _gemv(self) -> tuple[list[_Axis], Expression]:
        (turned,) = self._turned(1)
        self._orders(2, 1, 1)
        a = tuple(reversed(self.sources[0].modes)) if turned else self.sources[0].modes
        i, k = self._axis("i", a[0], self.target.modes[0]), self._axis("k", a[1], self.sources[1].modes[0])
        left = self._read(0, (k, i) if turned else (i, k))
        return [i], self._summed([k], apply("multiply", left, self._read(1, (k,)), span=self.span))

    def _ger(self) -> tuple[list[_Axis], Expression]:
        self._turned(0)
        self._orders(1, 1, 2)
        i = self._axis("i", self.sources[0].modes[0], self.target.modes[0])
        j = self._axis("j", self.sources[1].modes[0], self.target.modes[1])
        return [i, j], apply("multiply", self._read(0, (i,)), self._read(1, (j,)), span=self.span)

    def _sum(self) -> tuple[list[_Axis], Expression]:
        (turned,) = self._turned(1)
        order = len(self.target.modes)
        if order > 1 or len(self.sources[0].modes) != order + 1:
            self._refuse(
                "the orders of the memrefs do not fit", "sum takes a matrix and a vector, or a vector and one element"
            )
        modes = self.sources[0].modes
        if not order:
            k = self._axis("k", modes[0])
            return [], self._summed([k], self._read(0, (k,)))
        rows, columns = reversed(modes) if turned else modes
        i, k = self._axis("i", rows, self.target.modes[0]), self._axis("k", columns)
        return [i], self._summed([k], self._read(0, (k, i) if turned else (i, k)))

    def _cumsum(self) -> tuple[list[_Axis], Expression]:
        self._turned(0)
        axes = self._alike()
        assert self.mode is not None
        if not 0 <= self.mode < len(axes):
            self._refuse(f"there is no mode {self.mode}", f"the memref has {len(axes)} modes, from 0 on")
        axis = axes[self.mode]
        if len(axis.mode) > 1:
            raise NeedsConstant
        (index,) = axis.indices
        inner = _Axis(mode=axis.mode, indices=(Index(name=f"k.{self.number}", low=0, high=index.high),))
        before = axis.whole - inner.whole
        read = self._read(0, [inner if number == self.mode else each for number, each in enumerate(axes)])
        reduce = Reduce(reduction="sum", indices=inner.indices, body=read, conditions=(before,), span=self.span)
        return axes, reduce

    def _hadamard(self) -> tuple[list[_Axis], Expression]:
        self._turned(0)
        if not 1 <= len(self.target.modes) <= 2:
            self._refuse("the order of the memref does not fit", "hadamard takes vectors and matrices")
        axes = self._alike()
        return axes, apply("multiply", self._read(0, axes), self._read(1, axes), span=self.span)

    def _axpby(self) -> tuple[list[_Axis], Expression]:
        (turned,) = self._turned(1)
        if len(self.target.modes) > 2 or len(self.sources[0].modes) != len(self.target.modes):
            self._refuse("the orders of the memrefs do not fit", "axpby takes elements, vectors and matrices")
        if not turned or len(self.target.modes) < 2:
            axes = self._alike()
            return axes, self._read(0, axes)
        a = self.sources[0].modes
        i, j = self._axis("i", a[1], self.target.modes[0]), self._axis("j", a[0], self.target.modes[1])
        return [i, j], self._read(0, (j, i))

    def _alike(self) -> list[_Axis]:
        """Return the axes of memrefs of one shape."""
        if any(len(view.modes) != len(self.target.modes) for view in self.sources):
            self._refuse("the memrefs have different orders", "their shapes are the same")
        modes = zip(*(view.modes for view in (*self.sources, self.target)), strict=True)
        return [self._axis(f"i{number}", *each) for number, each in enumerate(modes)]

    def _orders(self, *orders: int) -> None:
        found = [len(view.modes) for view in (*self.sources, self.target)]
        if found != list(orders):
            self._refuse(f"the memrefs have the orders {_joined(found)}", f"{self.name} takes {_joined(orders)}")

    def _axis(self, name: str, *modes: Mode) -> _Axis:
        sizes = {size_of(mode) for mode in modes}
        if len(sizes) > 1:
            self._refuse(f"modes of {_joined(sorted(sizes))} elements meet", "the shapes fit each other")
        finest = max(modes, key=len)
        for mode in modes:
            if len(mode) > 1 and [digit.size for digit in mode] != [digit.size for digit in finest]:
                raise NeedsConstant
        names = [name] if len(finest) == 1 else [f"{name}{chr(ord('a') + number)}" for number in range(len(finest))]
        indices = tuple(
            Index(name=f"{part}.{self.number}", low=0, high=digit.size)
            for part, digit in zip(names, finest, strict=True)
        )
        return _Axis(mode=finest, indices=indices)

    def _read(self, source: int, axes: Sequence[_Axis]) -> Expression:
        view = self.sources[source]
        return Read(tensor=view.base, subscripts=_at(view, axes), span=self.span)

    def _summed(self, axes: Sequence[_Axis], body: Expression) -> Expression:
        indices = tuple(index for axis in axes for index in axis.indices)
        return Reduce(reduction="sum", indices=indices, body=body, span=self.span)

    def _refuse(self, message: str, hint: str) -> NoReturn:
        raise TablaError(message, Label(self.span), hint=hint)


def _at(view: View, axes: Sequence[_Axis]) -> tuple[Affine, ...]:
    """Return the subscripts of a memref at the subscripts of axes."""
    parts = zip(view.modes, axes, strict=True)
    return view.by_digits([axis.parts if len(mode) == len(axis.mode) else (axis.whole,) for mode, axis in parts])


def _joined(numbers: Iterable[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} and {last}" if others else last


def _is(value: Expression, number: int) -> bool:
    return isinstance(value, Number) and value.value == Fraction(number)


def _scaled(factor: Expression, value: Expression) -> Expression:
    return value if _is(factor, 1) else apply("multiply", factor, value)
