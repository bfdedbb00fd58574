"""Bang operators of two operands. Longer argument lists are nested calls."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable
from typing import Any

from tabla.templates.tablegen.literals import DagValue, IntValue, ListValue, StringValue
from tabla.templates.tablegen.record import RecordReference
from tabla.templates.tablegen.types import INT, STRING, ListType, Type
from tabla.templates.tablegen.values import (
    UNSET_VALUE,
    Owner,
    PendingValue,
    Pool,
    Resolver,
    TypedValue,
    UnsetValue,
    Value,
)

_UNSIGNED = (1 << 64) - 1

# Shift counts are taken modulo 64, as the machines do that run the reference tool.
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": python_operator.add,
    "sub": python_operator.sub,
    "mul": python_operator.mul,
    "and": python_operator.and_,
    "or": python_operator.or_,
    "xor": python_operator.xor,
    "shl": lambda left, right: left << (right & 63),
    "sra": lambda left, right: left >> (right & 63),
    "srl": lambda left, right: (left & _UNSIGNED) >> (right & 63),
}

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": python_operator.eq,
    "ne": python_operator.ne,
    "lt": python_operator.lt,
    "le": python_operator.le,
    "gt": python_operator.gt,
    "ge": python_operator.ge,
}

# A list of this many elements is a mistake, and would take the machine down before anyone could read about it.
_MAX_SPLAT = 1 << 24


class BinaryOperation(PendingValue):
    """``!operator(left, right)``"""

    __slots__ = ("left", "operator", "right")

    def __init__(self, operator: str, left: Value, right: Value, type: Type) -> None:
        super().__init__(type, left.ground and right.ground)
        self.operator = operator
        self.left = left
        self.right = right

    def text(self) -> str:
        return f"!{self.operator}({self.left.text()}, {self.right.text()})"

    def resolve(self, resolver: Resolver) -> Value:
        left, right = self.left, self.right
        if not left.ground:
            left = left.resolve(resolver)
        if not right.ground:
            right = right.resolve(resolver)
        if left is self.left and right is self.right:
            return self
        if type(left) is IntValue and type(right) is IntValue and self.operator in ARITHMETIC:
            return resolver.pool.integer(ARITHMETIC[self.operator](left.value, right.value))
        operation = resolver.pool.unique(BinaryOperation, self.operator, left, right, self.type)
        return operation.fold(resolver.record, resolver.pool)

    def fold(self, record: Owner | None, pool: Pool) -> Value:
        """Return the result, or the operation itself if an operand is not known yet."""
        name, left, right = self.operator, self.left, self.right
        arithmetic = ARITHMETIC.get(name)
        if arithmetic is not None:
            first, second = left.convert(INT, pool), right.convert(INT, pool)
            if isinstance(first, IntValue) and isinstance(second, IntValue):
                return pool.integer(arithmetic(first.value, second.value))
            return self
        if name in COMPARISONS:
            return self._compare(pool)
        match name:
            case "strconcat":
                if isinstance(left, StringValue) and isinstance(right, StringValue):
                    return pool.string(left.value + right.value, is_code=left.is_code or right.is_code)
            case "listconcat":
                if isinstance(left, ListValue) and isinstance(right, ListValue):
                    return pool.list(left.items + right.items, left.element_type)
            case "con":
                return self._concatenate_dags(record, pool)
            case "setdagop":
                if isinstance(left, DagValue) and isinstance(right, RecordReference):
                    return pool.dag(right, None, left.arguments, left.names)
            case "listsplat":
                if isinstance(left, TypedValue) and isinstance(right, IntValue):
                    if not 0 <= right.value <= _MAX_SPLAT:
                        raise pool.fault(f"!listsplat cannot repeat a value {right.value} times", record)
                    return pool.list([left] * right.value, left.type)
            case "interleave":
                return self._interleave(pool)
        return self

    def _compare(self, pool: Pool) -> Value:
        left, right = self.left, self.right
        compare = COMPARISONS[self.operator]
        first, second = left.convert(INT, pool), right.convert(INT, pool)
        if isinstance(first, IntValue) and isinstance(second, IntValue):
            return pool.bit(compare(first.value, second.value))
        if isinstance(left, StringValue) and isinstance(right, StringValue):
            return pool.bit(compare(left.value, right.value))
        if self.operator in ("eq", "ne") and isinstance(left, RecordReference) and isinstance(right, RecordReference):
            return pool.bit((left is right) == (self.operator == "eq"))
        return self

    def _concatenate_dags(self, record: Owner | None, pool: Pool) -> Value:
        left, right = self.left, self.right
        if not isinstance(left, DagValue) or not isinstance(right, DagValue):
            return self
        known = [one.operator for one in (left, right) if isinstance(one.operator, RecordReference)]
        unset = [one.operator for one in (left, right) if isinstance(one.operator, UnsetValue)]
        if len(known) + len(unset) < 2:
            return self
        if len(known) == 2 and known[0] is not known[1]:
            raise pool.fault(f"concatenated dag operators do not match: '{left.text()}' vs. '{right.text()}'", record)
        return pool.dag(
            known[0] if known else UNSET_VALUE, None, left.arguments + right.arguments, left.names + right.names
        )

    def _interleave(self, pool: Pool) -> Value:
        left, right = self.left, self.right
        if not isinstance(left, ListValue) or not isinstance(right, StringValue):
            return self
        if left.element_type is STRING:
            strings = [item for item in left.items if isinstance(item, StringValue)]
            if len(strings) < len(left.items):
                return self
            # The first element has no say in whether the result is code.
            return pool.string(
                right.value.join([one.value for one in strings]), is_code=any(one.is_code for one in strings[1:])
            )
        numbers = [item.convert(INT, pool) for item in left.items]
        if not all(isinstance(number, IntValue) for number in numbers):
            return self
        return pool.string(right.value.join([number.text() for number in numbers if number is not None]))


def concatenate_strings(left: Value, right: Value, pool: Pool) -> Value:
    """Return ``left # right`` of strings."""
    if isinstance(left, StringValue) and isinstance(right, StringValue):
        return pool.string(left.value + right.value, is_code=left.is_code or right.is_code)
    return pool.unique(BinaryOperation, "strconcat", left, right, STRING)


def concatenate_lists(left: TypedValue, right: Value, pool: Pool) -> Value:
    """Return ``left # right`` of lists."""
    if isinstance(left, ListValue) and isinstance(right, ListValue):
        return pool.list(left.items + right.items, left.element_type)
    assert isinstance(left.type, ListType)
    return pool.unique(BinaryOperation, "listconcat", left, right, left.type)
