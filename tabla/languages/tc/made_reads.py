"""Where guarded reads are made, point by point, once all sizes are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabla.languages.tc import program
from tabla.languages.tc.conditions import Path
from tabla.languages.tc.constraints import Constraint
from tabla.languages.tc.program import Value, parts, walk
from tabla.languages.tc.sizes import Size
from tabla.languages.tc.subscripts import Extents, Linear, linear_of

Array = np.ndarray[Any, np.dtype[Any]]
Truths = tuple[Array, Array]
"""Where a condition may be true, and where it may be false."""

_COMPARE: Mapping[str, np.ufunc] = {
    "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A read outside its tensor: the subscript's value, and the indices that it is made of, with their values.

    `needed` is the form that is negative there.
    """

    position: int | Size
    point: Mapping[str, int]
    needed: Linear


def first_outside(
    constraint: Constraint, box: Mapping[str, tuple[int, int]], extents: Extents, sizes: Mapping[str, Size]
) -> Outside | None:
    """Return the first point of a box at which a read may be made outside its tensor, or None."""
    path = _tied(constraint)
    names = [name for name in box if name in _names(constraint, path)]
    reads = _Reads({name: _axis(box[name], at, len(names)) for at, name in enumerate(names)}, extents, sizes)
    made, position = reads.made(path), reads.value(constraint.subscript)
    low, high = constraint.inside.low.value, constraint.inside.high.value
    assert position is not None and low is not None and high is not None
    for bad, needed in (
        (made & (position < low), constraint.linear.above(constraint.low)),
        (made & (position >= high), constraint.linear.below(constraint.high)),
    ):
        bad = np.broadcast_to(bad, [end - begin for begin, end in (box[name] for name in names)])
        if bad.any():
            at = tuple(int(step) for step in np.unravel_index(int(np.argmax(bad)), bad.shape))
            point = {name: box[name][0] + step for name, step in zip(names, at, strict=True)}
            point = {name: value for name, value in point.items() if name in _indices(constraint.subscript)}
            found = int(np.broadcast_to(position, bad.shape)[at])
            return Outside(position=found, point=point, needed=needed)
    return None


def _axis(ends: tuple[int, int], own: int, rank: int) -> Array:
    return np.arange(*ends).reshape([-1 if axis == own else 1 for axis in range(rank)])


def _tied(constraint: Constraint) -> Path:
    """The conditions that share indices with the read, directly or through other conditions."""
    names, chosen = _indices(constraint.subscript), list[bool]()
    path = tuple(each for condition, truth in constraint.path for each in _conjuncts(condition, truth))
    while True:
        now = [bool(names & _indices(condition)) or not _indices(condition) for condition, _ in path]
        if now == chosen:
            return tuple(each for each, kept in zip(path, chosen, strict=True) if kept)
        chosen = now
        for (condition, _), kept in zip(path, chosen, strict=True):
            names |= _indices(condition) if kept else set()


def _conjuncts(condition: Value, truth: bool) -> Path:
    match condition:
        case program.Unary(operator="!", operand=operand):
            return _conjuncts(operand, not truth)
        case program.Binary(operator="&&" | "||" as operator, left=left, right=right) if truth == (operator == "&&"):
            return (*_conjuncts(left, truth), *_conjuncts(right, truth))
        case _:
            return ((condition, truth),)


def _names(constraint: Constraint, path: Path) -> set[str]:
    return _indices(constraint.subscript).union(*(_indices(condition) for condition, _ in path))


def _indices(value: Value) -> set[str]:
    return {part.name for part in walk(value) if isinstance(part, program.Index)}


class _Reads:
    """Evaluates conditions over arrays of index values. A condition on data may be true or false at each point."""

    def __init__(self, indices: Mapping[str, Array], extents: Extents, sizes: Mapping[str, Size]) -> None:
        self.indices, self.extents, self.sizes = indices, extents, sizes

    def made(self, path: Path) -> Array:
        """Return the points at which all conditions of a path may have the truth values that lead to the read."""
        made: Array = np.asarray(True)
        for condition, truth in path:
            may = self._truths(condition)
            made = made & may[0 if truth else 1]
        return made

    def _form(self, linear: Linear) -> Array:
        total: Array = np.asarray(linear.constant.value)
        for name, factor in linear.coefficients.items():
            total = total + self.indices[name] * np.asarray(factor.value)
        return total

    def _truths(self, condition: Value) -> Truths:
        match condition:
            case program.Unary(operator="!", operand=operand):
                true, false = self._truths(operand)
                return false, true
            case program.Binary(operator="&&" | "||" as operator, left=left, right=right):
                one, other = self._truths(left), self._truths(right)
                if operator == "&&":
                    return one[0] & other[0], one[1] | other[1]
                return one[0] | other[0], one[1] & other[1]
            case program.Choice(condition=inner, chosen=chosen, other=other_):
                which, one, other = self._truths(inner), self._truths(chosen), self._truths(other_)
                true = (which[0] & one[0]) | (which[1] & other[0])
                return true, (which[0] & one[1]) | (which[1] & other[1])
            case program.Binary(operator=operator, common=common) if operator in _COMPARE and common.integral:
                left_, right_ = self.value(condition.left), self.value(condition.right)
                if left_ is not None and right_ is not None:
                    holds = np.asarray(_COMPARE[operator](left_, right_))
                    return holds, ~holds
        return np.asarray(True), np.asarray(True)

    def value(self, value: Value) -> Array | None:
        """Return the integers that a value has, or None where data, a real or a division by zero is part of it."""
        if not value.scalar.integral:
            return None
        linear = linear_of(value, self.extents, self.sizes)
        if linear is not None:
            return self._form(linear)
        operands = [self.value(part) for part in parts(value)]
        known = [operand for operand in operands if operand is not None]
        if isinstance(value, program.Choice) and operands[1] is not None and operands[2] is not None:
            true, false = self._truths(value.condition)
            return None if np.any(true & false) else np.where(true, operands[1], operands[2])
        if isinstance(value, program.Read) or not operands or len(known) < len(operands):
            return None
        match value:
            case program.Convert():
                return known[0]
            case program.Unary():
                return -known[0]
            case program.Apply(function="min" | "max" as function):
                return np.asarray((np.minimum if function == "min" else np.maximum)(*known))
            case program.Binary(operator=operator):
                return _combined(operator, *known)
            case _:
                return None


def _combined(operator: str, left: Array, right: Array) -> Array | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%" if not np.any(right == 0):
            quotient = np.abs(left) // np.abs(right) * np.sign(left) * np.sign(right)
            return quotient if operator == "/" else left - quotient * right
        case _:
            return None
