"""The table of the bang operators (reference, section 1.11, "Bang operators"), and what each of them computes.

The record of an operator says its name, the number and the types of its arguments, the function that computes it, and
how it prints while it waits. How the arguments are read is in `bang`.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable
from typing import Any

from tabla.templates.tablegen.literals import DagValue, IntValue, ListValue, StringValue, name_text
from tabla.templates.tablegen.operation import Compute, Form, Operand, Operation, Operator
from tabla.templates.tablegen.patterns import matches
from tabla.templates.tablegen.record import RecordReference, RecordType, record_text
from tabla.templates.tablegen.resolvers import MapResolver
from tabla.templates.tablegen.types import BIT, DAG, INT, STRING, ListType, Type
from tabla.templates.tablegen.values import UNSET_VALUE, Owner, Pool, TypedValue, UnsetValue, Value
from tabla.templates.tablegen.variables import AnonymousName, Variable, VariableBit, VariableElement

_UNSIGNED = (1 << 64) - 1

# A list of this many elements is a mistake, and would take the machine down before anyone could read about it.
_MAX_SPLAT = 1 << 24
_MAX_RANGE = 1 << 20

# From this version on `!isa` waits for an operand that may still turn out to be a record of the class.
_ISA_WAITS_SINCE = 22
# From this version on the operator of joined dags has the first name that one of them gives it.
_JOINED_DAGS_ARE_NAMED_SINCE = 22


# Numbers

# Shift counts are taken modulo 64, as the machines do that run the reference tool.
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
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

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": python_operator.eq,
    "ne": python_operator.ne,
    "lt": python_operator.lt,
    "le": python_operator.le,
    "gt": python_operator.gt,
    "ge": python_operator.ge,
}


def _calculate(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    numbers = operation.numbers(pool)
    assert operation.operator.arithmetic is not None
    return None if numbers is None else pool.integer(operation.operator.arithmetic(*numbers))


def _compare(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    left, right = operation.operands
    name = operation.operator.name
    compare, numbers = _COMPARISONS[name], operation.numbers(pool)
    if numbers is not None:
        return pool.bit(compare(*numbers))
    if isinstance(left, StringValue) and isinstance(right, StringValue):
        return pool.bit(compare(left.value, right.value))
    if name in ("eq", "ne") and isinstance(left, RecordReference) and isinstance(right, RecordReference):
        return pool.bit((left is right) == (name == "eq"))
    return None


def _not(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    numbers = operation.numbers(pool)
    return None if numbers is None else pool.integer(int(numbers[0] == 0))


def _divide(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
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


def _logarithm(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    numbers = operation.numbers(pool)
    if numbers is None:
        return None
    if numbers[0] <= 0:
        raise pool.fault(f"!logtwo is not defined for {numbers[0]}", record)
    return pool.integer(numbers[0].bit_length() - 1)


# Strings


def _join_strings(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    left, right = operation.operands
    if isinstance(left, StringValue) and isinstance(right, StringValue):
        return pool.string(left.value + right.value, is_code=left.is_code or right.is_code)
    return None


def _interleave(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    left, right = operation.operands
    if not isinstance(left, ListValue) or not isinstance(right, StringValue):
        return None
    if left.element_type is STRING:
        strings = [item for item in left.items if isinstance(item, StringValue)]
        if len(strings) < len(left.items):
            return None
        # The first element has no say in whether the result is code.
        is_code = any(one.is_code for one in strings[1:])
        return pool.string(right.value.join([one.value for one in strings]), is_code=is_code)
    numbers = [item.convert(INT, pool) for item in left.items]
    if not all(isinstance(number, IntValue) for number in numbers):
        return None
    return pool.string(right.value.join([number.text() for number in numbers if number is not None]))


def _substring(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    text, start, length = operation.operands
    if not (isinstance(text, StringValue) and isinstance(start, IntValue) and isinstance(length, IntValue)):
        return None
    _check_start("!substr", start.value, len(text.value), record, pool)
    if length.value < 0:
        raise pool.fault("!substr length must be nonnegative", record)
    return pool.string(text.value[start.value : start.value + length.value], is_code=text.is_code)


def _find(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    text, wanted, start = operation.operands
    if not (isinstance(text, StringValue) and isinstance(wanted, StringValue) and isinstance(start, IntValue)):
        return None
    _check_start("!find", start.value, len(text.value), record, pool)
    return pool.integer(text.value.find(wanted.value, start.value))


def _check_start(operator: str, start: int, size: int, record: Owner | None, pool: Pool) -> None:
    if not 0 <= start <= size:
        raise pool.fault(f"{operator} start position is out of range 0...{size}: {start}", record)


def _change_case(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (text,) = operation.operands
    if not isinstance(text, StringValue):
        return None
    # Letters outside ASCII stay as they are, as in the reference tool.
    change = str.lower if operation.operator.name == "tolower" else str.upper
    return pool.string("".join(change(one) if one.isascii() else one for one in text.value))


def _match(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    text, pattern = operation.operands
    if not isinstance(text, StringValue) or not isinstance(pattern, StringValue):
        return None
    return pool.bit(*matches(pattern.value, [text.value], lambda message: pool.fault(message, record)))


def _representation(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (value,) = operation.operands
    if isinstance(value, RecordReference):
        return pool.string(record_text(value.record))
    return pool.string(value.text()) if value.ground and value.is_concrete() else None


def _substitute(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    match operation.operands:
        case RecordReference() as old, RecordReference() as new, RecordReference() as where:
            return new if old.text() == where.text() else where
        case Variable() as old, Variable() as new, Variable() as where:
            return pool.unique(Variable, new.name if old.name == where.name else where.name, operation.type)
        case StringValue() as old, StringValue() as new, StringValue() as where:
            if not old.value:
                raise pool.fault("!subst of an empty string would never end", record)
            return pool.string(where.value.replace(old.value, new.value))
        case _:
            return None


# Lists


def _join_lists(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    left, right = operation.operands
    if isinstance(left, ListValue) and isinstance(right, ListValue):
        return pool.list(left.items + right.items, left.element_type)
    return None


def _splat(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    left, right = operation.operands
    if not isinstance(left, TypedValue) or not isinstance(right, IntValue):
        return None
    if not 0 <= right.value <= _MAX_SPLAT:
        raise pool.fault(f"!listsplat cannot repeat a value {right.value} times", record)
    return pool.list([left] * right.value, left.type)


def _flatten(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (items,) = operation.operands
    if not isinstance(items, ListValue):
        return None
    element = items.element_type
    if not isinstance(element, ListType):
        return items
    flat: list[Value] = []
    for item in items.items:
        if not isinstance(item, ListValue):
            return None
        flat.extend(item.items)
    return pool.list(flat, element.element)


def _ends(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (items,), name = operation.operands, operation.operator.name
    if not isinstance(items, ListValue):
        return None
    if not items.items:
        raise pool.fault(f"!{name} of an empty list", record)
    return items.items[0] if name == "head" else pool.list(items.items[1:], items.element_type)


def _size(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    match operation.operands[0]:
        case ListValue(items=items):
            size = len(items)
        case DagValue(arguments=arguments):
            size = len(arguments)
        case StringValue(value=value):
            # The reference tool counts bytes.
            size = len(value) if value.isascii() else len(value.encode())
        case _:
            return None
    return pool.integer(size if operation.operator.name == "size" else int(size == 0))


def _remove(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    items, unwanted = operation.operands
    if not isinstance(items, ListValue) or not isinstance(unwanted, ListValue):
        return None
    kept = [item for item in items.items if not any(_are_equal(item, one, pool) for one in unwanted.items)]
    return pool.list(kept, items.element_type)


def _are_equal(left: Value, right: Value, pool: Pool) -> bool:
    """Whether two values are known to be the same number, string or record. Nothing is known of a value that waits."""
    numbers = left.convert(INT, pool), right.convert(INT, pool)
    match numbers:
        case IntValue(value=one), IntValue(value=other):
            return one == other
    match left, right:
        case StringValue(value=text), StringValue(value=other_text):
            return text == other_text
        case RecordReference(), RecordReference():
            return left is right
        case _:
            return False


def _range(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    numbers = operation.numbers(pool)
    if numbers is None:
        return None
    if numbers[2] == 0:
        raise pool.fault("step of !range is zero", record)
    return _number_list(range(*numbers), record, pool)


def _closed_range(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    numbers = operation.numbers(pool)
    if numbers is None:
        return None
    first, last = numbers
    return _number_list(range(first, last + 1) if first <= last else range(first, last - 1, -1), record, pool)


def _number_list(numbers: range, record: Owner | None, pool: Pool) -> Value:
    if len(numbers) > _MAX_RANGE:
        raise pool.fault(f"a range of more than {_MAX_RANGE} numbers", record)
    return pool.list([pool.integer(number) for number in numbers], INT)


def _element(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    items, index = operation.operands
    if not isinstance(items, ListValue) or not isinstance(index, IntValue):
        return None
    # Out of range is no fault yet: nobody may need the value, as in a branch of an !if that is not taken.
    return items.items[index.value] if 0 <= index.value < len(items.items) else None


def _slice(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    items, indices = operation.operands
    if not isinstance(items, ListValue) or not isinstance(indices, ListValue):
        return None
    chosen: list[Value] = []
    for index in indices.items:
        if not isinstance(index, IntValue) or not 0 <= index.value < len(items.items):
            return None
        chosen.append(items.items[index.value])
    return pool.list(chosen, items.element_type)


def _elements(operation: Operation, pool: Pool) -> Value | None:
    """The slice as a list of elements, of which those out of range wait: so version 14 has it."""
    items, indices = operation.operands
    if not isinstance(items, TypedValue) or not isinstance(indices, ListValue):
        return None
    assert isinstance(items.type, ListType)
    known = [index.value for index in indices.items if isinstance(index, IntValue)]
    if len(known) < len(indices.items) or any(index < 0 for index in known):
        return None
    there = items.items if isinstance(items, ListValue) else ()
    elements = [there[index] if index < len(there) else pool.element_of(items, index) for index in known]
    return pool.list(elements, items.type.element)


# Dags


def _join_dags(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    left, right = operation.operands
    if not isinstance(left, DagValue) or not isinstance(right, DagValue):
        return None
    known = [one.operator for one in (left, right) if isinstance(one.operator, RecordReference)]
    unset = [one.operator for one in (left, right) if isinstance(one.operator, UnsetValue)]
    if len(known) + len(unset) < 2:
        return None
    if len(known) == 2 and known[0] is not known[1]:
        raise pool.fault(f"concatenated dag operators do not match: '{left.text()}' vs. '{right.text()}'", record)
    head = known[0] if known else UNSET_VALUE
    name = right.name if isinstance(left.name, UnsetValue) else left.name
    joined = left.arguments + right.arguments, left.names + right.names
    return pool.dag(head, name if pool.llvm >= _JOINED_DAGS_ARE_NAMED_SINCE else UNSET_VALUE, *joined)


def _make_dag(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    head, children, names = operation.operands
    if isinstance(children, ListValue):
        values = children.items
    elif isinstance(children, UnsetValue) and isinstance(names, ListValue):
        values = (UNSET_VALUE,) * len(names.items)
    else:
        return None
    if isinstance(names, UnsetValue):
        labels: tuple[Value, ...] = (UNSET_VALUE,) * len(values)
    elif isinstance(names, ListValue):
        labels = names.items
    else:
        return None
    if len(labels) != len(values) or not all(isinstance(one, StringValue | UnsetValue) for one in labels):
        return None
    return pool.dag(head, UNSET_VALUE, values, labels)


def _dag_operator(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (dag,) = operation.operands
    if not isinstance(dag, DagValue):
        return None
    found = dag.operator
    if not isinstance(found, RecordReference):
        raise pool.fault("expected record as operator", record)
    if not found.type.is_a(operation.type):
        raise pool.fault(f"expected type '{operation.type}', got '{found.type}' in: {operation.text()}", record)
    return found


def _set_dag_operator(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    dag, head = operation.operands
    if isinstance(dag, DagValue) and isinstance(head, RecordReference):
        return pool.dag(head, UNSET_VALUE, dag.arguments, dag.names)
    return None


def _dag_operator_name(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (dag,) = operation.operands
    return dag.name if isinstance(dag, DagValue) else None


def _set_dag_operator_name(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    dag, name = operation.operands
    if isinstance(dag, DagValue) and isinstance(name, StringValue):
        return pool.dag(dag.operator, name, dag.arguments, dag.names)
    return None


def _dag_index(dag: DagValue, key: Value, record: Owner | None, pool: Pool) -> int | None:
    """Which argument of a dag a number or a name means, or None if the key is not known yet."""
    if isinstance(key, StringValue):
        names = [name_text(name) for name in dag.names]
        if key.value not in names:
            raise pool.fault(f"the dag {dag.text()} has no argument named '{key.value}'", record)
        return names.index(key.value)
    if not isinstance(key, IntValue):
        return None
    if not 0 <= key.value < len(dag.arguments):
        raise pool.fault(f"index {key.value} is out of range 0...{len(dag.arguments) - 1}", record)
    return key.value


def _get_argument(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    dag, key = operation.operands
    index = _dag_index(dag, key, record, pool) if isinstance(dag, DagValue) else None
    if not isinstance(dag, DagValue) or index is None:
        return None
    if operation.operator.name == "getdagname":
        return dag.names[index]
    found = dag.arguments[index]
    # An argument of another type reads as unset.
    return found if found.type is not None and found.type.is_a(operation.type) else UNSET_VALUE


def _set_argument(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    dag, key, new = operation.operands
    index = _dag_index(dag, key, record, pool) if isinstance(dag, DagValue) else None
    if not isinstance(dag, DagValue) or index is None:
        return None
    arguments, names = list(dag.arguments), list(dag.names)
    if operation.operator.name == "setdagarg":
        arguments[index] = new
    elif isinstance(new, StringValue | UnsetValue):
        names[index] = new
    else:
        return None
    return pool.dag(dag.operator, dag.name, arguments, names)


# Conditions and loops


def _if(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    first, if_true, if_false = operation.operands
    condition = first.convert(INT, pool)
    if isinstance(condition, IntValue):
        return if_true if condition.value else if_false
    return None


def clauses(operation: Operation) -> list[tuple[Value, Value]]:
    """Return the conditions of a ``!cond`` with their values."""
    half = len(operation.operands) // 2
    return list(zip(operation.operands[:half], operation.operands[half:], strict=True))


def _cond(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    for condition, value in clauses(operation):
        known = condition.convert(INT, pool)
        if not isinstance(known, IntValue):
            return None
        if known.value:
            converted = value.convert(operation.type, pool)
            if converted is None:
                raise pool.fault(f"!cond value {value.text()} is not of type '{operation.type}'", record)
            return converted
    owner = f"{record.name_text()} " if record is not None else "this !cond "
    raise pool.fault(f"{owner}does not have any true condition in: {operation.text()}", record)


def _apply(operation: Operation, item: Value, record: Owner | None, pool: Pool) -> Value:
    body = operation.operands[1]
    if body.ground:
        return body
    resolver = MapResolver(pool, record)
    resolver.bind(operation.variables[0], item)
    return body.resolve(resolver)


def _foreach(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    items = operation.operands[0]
    if isinstance(items, DagValue):
        return _over_dag(operation, items, record, pool)
    if not isinstance(items, ListValue):
        return None
    assert isinstance(operation.type, ListType)
    return pool.list([_apply(operation, item, record, pool) for item in items.items], operation.type.element)


def _over_dag(operation: Operation, dag: DagValue, record: Owner | None, pool: Pool) -> Value:
    head = _apply(operation, dag.operator, record, pool)
    arguments = [
        _over_dag(operation, argument, record, pool)
        if isinstance(argument, DagValue)
        else _apply(operation, argument, record, pool)
        for argument in dag.arguments
    ]
    if head is dag.operator and all(new is old for new, old in zip(arguments, dag.arguments, strict=True)):
        return dag
    return pool.dag(head, UNSET_VALUE, arguments, dag.names)


def _filter(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    items = operation.operands[0]
    if not isinstance(items, ListValue):
        return None
    assert isinstance(operation.type, ListType)
    kept: list[Value] = []
    for item in items.items:
        wanted = _apply(operation, item, record, pool).convert(INT, pool)
        if not isinstance(wanted, IntValue):
            return None
        if wanted.value:
            kept.append(item)
    return pool.list(kept, operation.type.element)


def _fold(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    start, items, body = operation.operands
    if not isinstance(items, ListValue):
        return None
    result = start
    accumulator, element = operation.variables
    for item in items.items:
        resolver = MapResolver(pool, record)
        resolver.bind(accumulator, result)
        resolver.bind(element, item)
        result = body.resolve(resolver)
    return result


# Types and records


def _cast(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (operand,), target = operation.operands, operation.type
    if target is STRING:
        if isinstance(operand, StringValue):
            return operand
        if isinstance(operand, RecordReference):
            return pool.string(operand.text())
        number = operand.convert(INT, pool)
        if isinstance(number, IntValue):
            return pool.string(number.text())
    elif isinstance(target, RecordType) and isinstance(operand, StringValue):
        return _record_named(operation, operand, record, pool, final)
    return operand.convert(target, pool)


def _record_named(
    operation: Operation, name: StringValue, record: Owner | None, pool: Pool, final: bool
) -> Value | None:
    if record is None and not final:
        return None
    # A record may refer to itself, but its type is known only at the end.
    own_name = record.name if record is not None else None
    if record is not None and (
        name is own_name or (isinstance(own_name, AnonymousName) and name.value == own_name.text())
    ):
        if not final:
            return None
        found = record
    else:
        known = pool.definition(name.value)
        if known is None:
            if final:
                raise pool.fault(f"undefined reference to record: '{name.value}'", record)
            return None
        found = known
    reference = found.reference()
    if not reference.type.is_a(operation.type):
        raise pool.fault(f"expected type '{operation.type}', got '{reference.type}' in: {operation.text()}", record)
    return reference


def _isa(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (operand,), wanted = operation.operands, operation.wanted
    assert wanted is not None, "!isa has a type"
    if not isinstance(operand, TypedValue):
        return None
    if operand.type.converts_to(wanted):
        return pool.integer(1)
    if isinstance(wanted, RecordType) and not isinstance(operand, RecordReference):
        # It may still turn out to be a record of a class that is more special than the type says.
        settled = pool.llvm < _ISA_WAITS_SINCE or operand.is_concrete()
        if wanted.converts_to(operand.type) or not settled:
            return None
    return pool.integer(0)


def _isa_of_older(operation: Operation, pool: Pool) -> Value | None:
    """No, whatever the operand will be, if its type does not fit: so the versions before 22 have it."""
    (operand,), wanted = operation.operands, operation.wanted
    if isinstance(operand, TypedValue) and isinstance(wanted, RecordType) and not wanted.converts_to(operand.type):
        return pool.integer(int(operand.type.converts_to(wanted)))
    return None


def _exists(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (name,), wanted = operation.operands, operation.wanted
    assert wanted is not None, "!exists has a type"
    if not isinstance(name, StringValue):
        return None
    found = pool.definition(name.value)
    if found is not None:
        return pool.integer(int(found.type().is_a(wanted)))
    if not final:
        return None
    # Nothing comes after the last step: what is not there now will never be.
    own = record is not None and record.name_text() == name.value
    return pool.integer(int(own and record is not None and record.type().is_a(wanted)))


def _instances(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (pattern,), wanted = operation.operands, operation.wanted
    assert isinstance(wanted, RecordType), "!instances has a class"
    # A class lists the records that there are when a record of the class is finished.
    if not isinstance(pattern, StringValue) or (record is not None and not final):
        return None
    found = pool.instances(wanted)
    kept = matches(pattern.value, [one.name_text() for one in found], lambda message: pool.fault(message, record))
    return pool.list([one.reference() for one, keep in zip(found, kept, strict=True) if keep], wanted)


def _initialized(operation: Operation, record: Owner | None, pool: Pool, final: bool) -> Value | None:
    (value,) = operation.operands
    if isinstance(value, UnsetValue):
        return pool.integer(0)
    return pool.integer(1) if value.is_concrete() else None


# How operators print while they wait


def _cast_text(operation: Operation) -> str:
    return f"!cast<{operation.type}>({operation.operands[0].text()})"


def _loop_text(operation: Operation) -> str:
    items, body = operation.operands
    return f"!{operation.operator.name}({operation.variables[0]}, {items.text()}, {body.text()})"


def _fold_text(operation: Operation) -> str:
    start, items, body = [one.text() for one in operation.operands]
    return f"!foldl({start}, {items}, {', '.join(operation.variables)}, {body})"


def _cond_text(operation: Operation) -> str:
    return f"!cond({', '.join([f'{condition.text()}: {value.text()}' for condition, value in clauses(operation)])})"


def _element_text(operation: Operation) -> str:
    items, index = operation.operands
    return f"{items.text()}[{index.text()}]"


def _closed_range_text(operation: Operation) -> str:
    first, last = operation.operands
    return f"{first.text()}...{last.text()}"


# The table

_ANY = Operand(what="any value", fits=lambda type: True, may_be_unset=True)
_INT = Operand(what="an int", fits=lambda type: type.converts_to(INT))
_STRING = Operand(what="a string", fits=lambda type: type is STRING)
_NAME = Operand(what="a string", fits=lambda type: type is STRING, may_be_unset=True)
_LIST = Operand(what="a list", fits=lambda type: isinstance(type, ListType))
_COUNTED = Operand(what="a list or an int", fits=lambda type: isinstance(type, ListType) or type.converts_to(INT))
_DAG = Operand(what="a dag", fits=lambda type: type is DAG)
_KEY = Operand(what="an index or a name", fits=lambda type: type is STRING or type.converts_to(INT))


def _operator(name: str, form: Form, count: int, compute: Compute, **more: Any) -> Operator:
    return Operator(name=name, form=form, most=count, compute=compute, **{"least": count, **more})


def _listed(name: str, compute: Compute, *operands: Operand, **more: Any) -> Operator:
    return _operator(name, "listed", len(operands), compute, operands=operands, **more)


def _one(name: str, compute: Compute, result: Type | None = None, **more: Any) -> Operator:
    return _operator(name, "one", 1, compute, result=result, **more)


def _several(name: str, compute: Compute, result: Type | None = None, **more: Any) -> Operator:
    return _operator(name, "several", 2, compute, result=result, **more)


def _three(name: str, compute: Compute, form: Form = "three", **more: Any) -> Operator:
    return _operator(name, form, 3, compute, complete="by operands", **more)


_ABSORBING = {"and": 0, "or": -1}
_ASSOCIATIVE = ("add", "and", "or", "xor", "mul")

CAST = _one("cast", _cast, typed=True, looks_up=True, text=_cast_text)
STRCONCAT = _several("strconcat", _join_strings, STRING, associative=True)
LISTCONCAT = _several("listconcat", _join_lists, associative=True)
IF = _three("if", _if)
ISA = _operator("isa", "isa", 1, _isa, typed=True, otherwise=_isa_of_older, complete="never", names_its_bits=True)
COND = _operator("cond", "cond", 1, _cond, text=_cond_text, complete="by clauses", names_its_bits=True)

# What brackets after a list mean. These have no names that could be written.
ELEMENT = _listed("element", _element, _LIST, _INT, text=_element_text)
SLICE = _listed("slice", _slice, _LIST, _LIST, text=_element_text, otherwise=_elements)
CLOSED_RANGE = _listed("closed range", _closed_range, _INT, _INT, text=_closed_range_text)

_TABLE = (
    *(
        _several(
            name,
            _calculate,
            INT,
            arithmetic=function,
            associative=name in _ASSOCIATIVE,
            absorbing=_ABSORBING.get(name),
        )
        for name, function in _ARITHMETIC.items()
    ),
    *(_several(name, _compare, BIT) for name in _COMPARISONS),
    _one("not", _not, INT),
    _listed("div", _divide, _INT, _INT, result=INT),
    _listed("logtwo", _logarithm, _INT, result=INT),
    STRCONCAT,
    _several("interleave", _interleave, STRING),
    _three("substr", _substring, form="text"),
    _three("find", _find, form="text"),
    _three("subst", _substitute),
    _listed("tolower", _change_case, _ANY, result=STRING),
    _listed("toupper", _change_case, _ANY, result=STRING),
    _listed("match", _match, _STRING, _STRING, result=BIT),
    _listed("repr", _representation, _ANY, result=STRING),
    LISTCONCAT,
    _several("listsplat", _splat),
    _listed("listflatten", _flatten, _LIST, suits_its_place=False),
    _listed("listremove", _remove, _LIST, _LIST),
    _listed("range", _range, _COUNTED, _INT, _INT, least=1, suits_its_place=False),
    _one("head", _ends),
    _one("tail", _ends),
    _one("size", _size, INT),
    _one("empty", _size, INT),
    _several("con", _join_dags, DAG, associative=True),
    _three("dag", _make_dag),
    _one("getdagop", _dag_operator, typed=True),
    _several("setdagop", _set_dag_operator, DAG),
    _listed("getdagopname", _dag_operator_name, _DAG, result=STRING, suits_its_place=False),
    _listed("setdagopname", _set_dag_operator_name, _DAG, _STRING, result=DAG),
    _listed("getdagarg", _get_argument, _DAG, _KEY, typed=True),
    _listed("getdagname", _get_argument, _DAG, _KEY, result=STRING),
    _listed("setdagarg", _set_argument, _DAG, _KEY, _ANY, result=DAG),
    _listed("setdagname", _set_argument, _DAG, _KEY, _NAME, result=DAG),
    IF,
    COND,
    _three("foreach", _foreach, form="loop", text=_loop_text),
    _three("filter", _filter, form="loop", text=_loop_text),
    _operator("foldl", "fold", 5, _fold, text=_fold_text, complete="never", names_its_bits=True),
    CAST,
    ISA,
    _listed("exists", _exists, _STRING, result=INT, typed=True, looks_up=True),
    _listed("instances", _instances, _STRING, least=0, typed=True, looks_up=True, suits_its_place=False),
    _listed("initialized", _initialized, _ANY, result=INT),
)

OPERATORS: dict[str, Operator] = {one.name: one for one in _TABLE}
"""The operators by the names that programs write."""
# The older names.
OPERATORS |= {"getop": OPERATORS["getdagop"], "setop": OPERATORS["setdagop"]}


def joined_strings(left: Value, right: Value, pool: Pool) -> Value:
    """Return ``left # right`` of strings."""
    return pool.unique(Operation, STRCONCAT, STRING, None, (), left, right).fold(None, pool)


def joined_lists(left: TypedValue, right: Value, pool: Pool) -> Value:
    """Return ``left # right`` of lists."""
    return pool.unique(Operation, LISTCONCAT, left.type, None, (), left, right).fold(None, pool)


def missing_element(value: Value) -> str | None:
    """Return the text about a number that names no element of its list, if `value` waits for such an element."""
    items: Value
    if isinstance(value, ListValue):
        return next((text for text in map(missing_element, value.items) if text is not None), None)
    if isinstance(value, VariableElement):
        items, numbers = value.base, [value.index]
    elif isinstance(value, Operation) and value.operator in (ELEMENT, SLICE):
        items, indices = value.operands
        known = indices.items if isinstance(indices, ListValue) else (indices,)
        numbers = [index.value for index in known if isinstance(index, IntValue)]
    else:
        return None
    for number in numbers:
        if isinstance(items, ListValue) and not 0 <= number < len(items.items):
            return f"index {number} is out of range 0...{len(items.items) - 1}"
    return None


def failed_cast(value: Value) -> Operation | None:
    """Return the cast of a number that waits in a finished record, because the number does not fit the type."""
    pending = value.base if isinstance(value, VariableBit) else value
    if isinstance(pending, Operation) and pending.operator is CAST and isinstance(pending.operands[0], IntValue):
        return pending
    return None
