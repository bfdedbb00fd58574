"""Bang operators and slices that came after version 14 of the reference tool: what they compute.

They are one kind of value with a table of functions, because nothing else in the evaluator depends on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tabla.templates.tablegen.literals import DagValue, IntValue, ListValue, StringValue
from tabla.templates.tablegen.record import RecordReference, RecordType, record_text
from tabla.templates.tablegen.types import INT, Type
from tabla.templates.tablegen.values import UNSET_VALUE, Owner, PendingValue, Pool, Resolver, UnsetValue, Value

# None means "not known yet".
Compute: TypeAlias = "Callable[[NewerOperation, Owner | None, Pool], Value | None]"

_MAX_RANGE = 1 << 20


class NewerOperation(PendingValue):
    """``!operator(operands)``; `wanted` is the type in angle brackets of those that have one."""

    __slots__ = ("operands", "operator", "wanted")

    def __init__(self, operator: str, type: Type, wanted: Type | None, *operands: Value) -> None:
        super().__init__(type, operator != "exists" and all(operand.ground for operand in operands))
        self.operator = operator
        self.wanted = wanted
        self.operands = operands

    def text(self) -> str:
        wanted = f"<{self.wanted}>" if self.wanted is not None else ""
        return f"!{self.operator}{wanted}({', '.join([operand.text() for operand in self.operands])})"

    def resolve(self, resolver: Resolver) -> Value:
        operands = [operand.resolve(resolver) for operand in self.operands]
        pool = resolver.pool
        operation = pool.unique(NewerOperation, self.operator, self.type, self.wanted, *operands)
        if operation is self and not resolver.is_final:
            return self
        return operation.fold(resolver.record, pool, final=resolver.is_final)

    def fold(self, record: Owner | None, pool: Pool, *, final: bool = False) -> Value:
        """Return the result, or the operation itself if an operand is not known yet."""
        result = COMPUTE[self.operator](self, record, pool)
        if result is None and final and self.operator == "exists" and isinstance(self.operands[0], StringValue):
            # Nothing comes after the last step: what is not there now will never be.
            own = record is not None and record.name_text() == self.operands[0].value
            return pool.integer(int(own and record is not None and record.type().is_a(self._record_type())))
        return self if result is None else result

    def _record_type(self) -> Type:
        assert self.wanted is not None, "!exists has a type"
        return self.wanted

    def numbers(self, pool: Pool) -> list[int] | None:
        """Return the operands as numbers, or None until all of them are known."""
        known = [operand.convert(INT, pool) for operand in self.operands]
        return [one.value for one in known if isinstance(one, IntValue)] if _all_numbers(known) else None


def _all_numbers(values: list[Value | None]) -> bool:
    return all(isinstance(value, IntValue) for value in values)


def _exists(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    (name,) = operation.operands
    assert isinstance(operation.wanted, RecordType)
    if not isinstance(name, StringValue):
        return None
    found = pool.definition(name.value)
    return None if found is None else pool.integer(int(found.type().is_a(operation.wanted)))


def _divide(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    numbers = operation.numbers(pool)
    if numbers is None:
        return None
    left, right = numbers
    if right == 0:
        raise pool.fault("division by zero in !div", record)
    if (left, right) == (-(1 << 63), -1):
        raise pool.fault("!div overflows 64 bits", record)
    quotient = abs(left) // abs(right)
    return pool.integer(quotient if (left < 0) == (right < 0) else -quotient)


def _logarithm(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    numbers = operation.numbers(pool)
    if numbers is None:
        return None
    if numbers[0] <= 0:
        raise pool.fault(f"!logtwo is not defined for {numbers[0]}", record)
    return pool.integer(numbers[0].bit_length() - 1)


def _remove(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    items, unwanted = operation.operands
    if not isinstance(items, ListValue) or not isinstance(unwanted, ListValue):
        return None
    return pool.list([item for item in items.items if item not in unwanted.items], items.element_type)


def _range(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    if isinstance(operation.operands[0], ListValue):
        numbers: list[int] | None = [len(operation.operands[0].items)]
    else:
        numbers = operation.numbers(pool)
    if numbers is None:
        return None
    if len(numbers) == 3 and numbers[2] == 0:
        raise pool.fault("step of !range is zero", record)
    return _number_list(range(*numbers), record, pool)


def _closed_range(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    numbers = operation.numbers(pool)
    if numbers is None:
        return None
    first, last = numbers
    return _number_list(range(first, last + 1) if first <= last else range(first, last - 1, -1), record, pool)


def _number_list(numbers: range, record: Owner | None, pool: Pool) -> Value:
    if len(numbers) > _MAX_RANGE:
        raise pool.fault(f"a range of more than {_MAX_RANGE} numbers", record)
    return pool.list([pool.integer(number) for number in numbers], INT)


def _lower(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    (text,) = operation.operands
    if not isinstance(text, StringValue):
        return None
    # Letters outside ASCII stay as they are, as in the reference tool.
    change = str.lower if operation.operator == "tolower" else str.upper
    return pool.string("".join(change(one) if one.isascii() else one for one in text.value), is_code=text.is_code)


def _representation(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    (value,) = operation.operands
    if isinstance(value, RecordReference):
        return pool.string(record_text(value.record))
    return pool.string(value.text()) if value.ground and value.is_concrete() else None


def dag_index(dag: DagValue, key: Value, record: Owner | None, pool: Pool) -> int | None:
    """Return which argument of a dag a number or a name means, or None if the key is not known yet."""
    if isinstance(key, StringValue):
        if key.value not in dag.names:
            raise pool.fault(f"the dag {dag.text()} has no argument named '{key.value}'", record)
        return dag.names.index(key.value)
    if not isinstance(key, IntValue):
        return None
    if not 0 <= key.value < len(dag.arguments):
        raise pool.fault(f"index {key.value} is out of range 0...{len(dag.arguments) - 1}", record)
    return key.value


def _get_argument(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    dag, key = operation.operands
    if not isinstance(dag, DagValue):
        return None
    index = dag_index(dag, key, record, pool)
    if index is None:
        return None
    found = dag.arguments[index]
    # An argument of another type reads as unset.
    fits = found.type is not None and found.type.is_a(operation.type)
    return found if fits else UNSET_VALUE


def _get_name(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    dag, key = operation.operands
    if not isinstance(dag, DagValue):
        return None
    index = dag_index(dag, key, record, pool)
    if index is None:
        return None
    name = dag.names[index]
    return UNSET_VALUE if name is None else pool.string(name)


def _set_argument(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    dag, key, new = operation.operands
    if not isinstance(dag, DagValue):
        return None
    index = dag_index(dag, key, record, pool)
    if index is None:
        return None
    arguments, names = list(dag.arguments), list(dag.names)
    if operation.operator == "setdagarg":
        arguments[index] = new
    elif isinstance(new, StringValue | UnsetValue):
        names[index] = new.value if isinstance(new, StringValue) else None
    else:
        return None
    return pool.dag(dag.operator, dag.name, arguments, names)


def _element(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    items, index = operation.operands
    if not isinstance(items, ListValue) or not isinstance(index, IntValue):
        return None
    if not 0 <= index.value < len(items.items):
        raise pool.fault(f"index {index.value} is out of range 0...{len(items.items) - 1}", record)
    return items.items[index.value]


def _slice(operation: NewerOperation, record: Owner | None, pool: Pool) -> Value | None:
    items, *pieces = operation.operands
    if not isinstance(items, ListValue) or not all(isinstance(piece, ListValue) for piece in pieces):
        return None
    chosen: list[Value] = []
    for piece in pieces:
        assert isinstance(piece, ListValue)
        for index in piece.items:
            if not isinstance(index, IntValue):
                return None
            if not 0 <= index.value < len(items.items):
                raise pool.fault(f"index {index.value} is out of range 0...{len(items.items) - 1}", record)
            chosen.append(items.items[index.value])
    return pool.list(chosen, items.element_type)


COMPUTE: dict[str, Compute] = {
    "exists": _exists,
    "div": _divide,
    "logtwo": _logarithm,
    "listremove": _remove,
    "range": _range,
    "closed range": _closed_range,
    "tolower": _lower,
    "toupper": _lower,
    "repr": _representation,
    "getdagarg": _get_argument,
    "getdagname": _get_name,
    "setdagarg": _set_argument,
    "setdagname": _set_argument,
    "element": _element,
    "slice": _slice,
}
