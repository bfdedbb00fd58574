"""Views of memrefs: how a subscript of each mode of a view leads to a subscript of each axis of the memref."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import prod

from tabla.graph.graph import Affine


class NeedsConstant(Exception):
    """A subscript that is not affine in an index, and is a number where the index is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digit:
    """A part of a mode's subscript: the name that stands for it in a view, and how many values it has."""

    name: str
    size: int


Mode = tuple[Digit, ...]
"""The parts of a mode, the fastest first. Modes that were fused have several; others have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A memref as a name of the program sees it.

    `base` is the tensor, and `subscripts` those of its axes, in the names of the `modes`.
    """

    base: str
    modes: tuple[Mode, ...]
    subscripts: tuple[Affine, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each mode."""
        return tuple(size_of(mode) for mode in self.modes)

    def at(self, subscripts: Sequence[Affine]) -> tuple[Affine, ...]:
        """Return the subscripts of the memref for one subscript of each mode.

        Raises `NeedsConstant` for a subscript of a fused mode that is no number.
        """
        values: dict[str, Affine] = {}
        for mode, subscript in zip(self.modes, subscripts, strict=True):
            values |= zip((digit.name for digit in mode), parts_of(mode, subscript), strict=True)
        return tuple(form.substituted(values) for form in self.subscripts)

    def by_digits(self, digits: Sequence[Sequence[Affine]]) -> tuple[Affine, ...]:
        """Return the subscripts of the memref for the parts of each mode."""
        values: dict[str, Affine] = {}
        for mode, parts in zip(self.modes, digits, strict=True):
            values |= zip((digit.name for digit in mode), parts, strict=True)
        return tuple(form.substituted(values) for form in self.subscripts)


def size_of(mode: Mode) -> int:
    """Return how many values the subscript of a mode has."""
    return prod(digit.size for digit in mode)


def parts_of(mode: Mode, subscript: Affine) -> list[Affine]:
    """Return the parts of a subscript."""
    if len(mode) == 1:
        return [subscript]
    if subscript.coefficients:
        raise NeedsConstant
    left, parts = subscript.constant, []
    for digit in mode:
        parts.append(Affine.of(left % digit.size))
        left //= digit.size
    return parts


def whole_of(mode: Mode, parts: Sequence[Affine]) -> Affine:
    """Return the subscript that has these parts."""
    whole, stride = Affine.of(), 1
    for digit, part in zip(mode, parts, strict=True):
        whole, stride = whole + part * stride, stride * digit.size
    return whole


class Views:
    """Makes views, with names of their own for the parts of modes."""

    def __init__(self) -> None:
        self._names: Iterator[str] = (f"mode'{number}" for number in count())

    def _digit(self, size: int) -> Digit:
        return Digit(name=next(self._names), size=size)

    def whole(self, base: str, shape: Sequence[int]) -> View:
        """Return the view of a whole memref."""
        digits = [self._digit(size) for size in shape]
        subscripts = tuple(Affine.index(digit.name) for digit in digits)
        return View(base=base, modes=tuple((digit,) for digit in digits), subscripts=subscripts)

    def part(self, view: View, slices: Sequence[tuple[Affine, int]]) -> View:
        """Return a part of a view: for each mode an offset and a size, which is 0 where the mode is left out.

        Raises `NeedsConstant` for a part of a fused mode that is neither one place nor all of it.
        """
        values: dict[str, Affine] = {}
        modes: list[Mode] = []
        for mode, (offset, size) in zip(view.modes, slices, strict=True):
            if not size:
                values |= zip((digit.name for digit in mode), parts_of(mode, offset), strict=True)
            elif len(mode) == 1:
                fresh = self._digit(size)
                values[mode[0].name] = offset + Affine.index(fresh.name)
                modes.append((fresh,))
            elif size == size_of(mode) and offset == Affine.of():
                modes.append(mode)
            else:
                raise NeedsConstant
        return View(
            base=view.base,
            modes=tuple(modes),
            subscripts=tuple(form.substituted(values) for form in view.subscripts),
        )

    def expanded(self, view: View, mode: int, shape: Sequence[int]) -> View:
        """Return a view in which a mode is several. Raises `NeedsConstant` if they cut a fused mode elsewhere."""
        old = view.modes[mode]
        if len(old) > 1:
            modes = list(_regrouped(old, shape))
            return replace(view, modes=(*view.modes[:mode], *modes, *view.modes[mode + 1 :]))
        digits = [self._digit(size) for size in shape]
        whole = whole_of(tuple(digits), [Affine.index(digit.name) for digit in digits])
        return View(
            base=view.base,
            modes=(*view.modes[:mode], *((digit,) for digit in digits), *view.modes[mode + 1 :]),
            subscripts=tuple(form.substituted({old[0].name: whole}) for form in view.subscripts),
        )

    def fused(self, view: View, first: int, last: int) -> View:
        """Return a view in which neighbouring modes are one."""
        mode = tuple(digit for part in view.modes[first : last + 1] for digit in part)
        return replace(view, modes=(*view.modes[:first], mode, *view.modes[last + 1 :]))


def _regrouped(mode: Mode, shape: Sequence[int]) -> Iterator[Mode]:
    digits = list(mode)
    for size in shape:
        part: list[Digit] = []
        while digits and prod(digit.size for digit in part) < size:
            part.append(digits.pop(0))
        if prod(digit.size for digit in part) != size:
            raise NeedsConstant
        yield tuple(part) or ((Digit(name="", size=1),))
