"""Bang operators as they are written: argument counts, types, and the variables that loops bind.

What an operator computes is in `unary`, `binary`, `ternary` and `operations`. This module says what the programmer may
write and where a fault points; the reference tool often names the token *after* the argument at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tabla.templates.tablegen import bang_binary, bang_newer, syntax
from tabla.templates.tablegen.evaluator import Evaluator
from tabla.templates.tablegen.literals import ListValue
from tabla.templates.tablegen.operations import CondOperation, FoldOperation, IsAOperation
from tabla.templates.tablegen.record import Field, Record, RecordType
from tabla.templates.tablegen.ternary import LoopOperation, TernaryOperation
from tabla.templates.tablegen.types import DAG, INT, STRING, ListType, Type
from tabla.templates.tablegen.unary import UnaryOperation
from tabla.templates.tablegen.values import TypedValue, UnsetValue, Value

_LOOPS = frozenset({"foreach", "filter", "foldl"})

Handler: TypeAlias = "Callable[[Evaluator, syntax.Bang, Record | None, Type | None], Value]"


def evaluate(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    """Return the value of ``!operator<type>(arguments)``."""
    keeper = evaluator.keeper
    previous, keeper.current = keeper.current, node.at
    handler = _HANDLERS.get(node.operator)
    if handler is not None:
        value = handler(evaluator, node, record, wanted)
    elif node.operator in bang_binary.OPERATORS:
        value = bang_binary.evaluate(evaluator, node, record, wanted)
    else:
        value = bang_newer.evaluate(evaluator, node, record, wanted)
    keeper.current = previous
    return value


def check_count(evaluator: Evaluator, node: syntax.Bang, least: int, most: int, record: Record | None = None) -> None:
    """Refuse too few or too many arguments, at the token where the reference tool notices."""
    arguments = node.arguments
    if least <= len(arguments) <= most:
        return
    if node.operator not in _LOOPS:
        # Faults inside the arguments come first; those of loops would miss the variable.
        for argument in arguments[:most]:
            evaluator.evaluate(argument, record)
    if len(arguments) > most:
        raise evaluator.fault(f"!{node.operator} takes at most {most} arguments", arguments[most].at - 1)
    raise evaluator.fault(f"!{node.operator} takes at least {least} arguments", node.end)


def check_no_type(evaluator: Evaluator, node: syntax.Bang) -> None:
    """Refuse ``<type>`` after an operator that has none."""
    if node.type is not None:
        raise evaluator.fault(f"!{node.operator} has no type in angle brackets", node.at + 1)


def _operator_type(evaluator: Evaluator, node: syntax.Bang) -> Type:
    if node.type is None:
        raise evaluator.fault(f"!{node.operator} needs a type: !{node.operator}<type>(...)", node.at + 1)
    if node.type.kind == "code":
        raise evaluator.fault("the 'code' type is not allowed in bang operators; use 'string'", node.type.at)
    return evaluator.type_of(node.type)


def _unary(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    operator = "getdagop" if node.operator == "getop" else node.operator
    type: Type | None = INT if operator in ("not", "size", "empty") else None
    if operator == "cast":
        type = _operator_type(evaluator, node)
    elif operator == "getdagop":
        type = evaluator.pool.record_type(())
        if node.type is not None:
            type = _operator_type(evaluator, node)
            if not isinstance(type, RecordType):
                raise evaluator.fault("type for !getdagop must be a record type", node.type.end + 2)
    else:
        check_no_type(evaluator, node)
    check_count(evaluator, node, 1, 99)
    argument = node.arguments[0]
    operand = evaluator.evaluate(argument, record)
    after = argument.end + 1
    if operator in ("size", "empty"):
        if not isinstance(operand, TypedValue) or not (
            isinstance(operand.type, ListType) or operand.type in (STRING, DAG)
        ):
            raise evaluator.fault(f"expected string, list, or dag type argument in !{operator}", after)
    elif operator in ("head", "tail"):
        type = _list_operand(evaluator, operator, operand, after)
    check_count(evaluator, node, 1, 1)
    assert type is not None
    return evaluator.pool.unique(UnaryOperation, operator, operand, type).fold(record, evaluator.pool)


def _list_operand(evaluator: Evaluator, operator: str, operand: Value, after: int) -> Type:
    if not isinstance(operand, TypedValue) or not isinstance(operand.type, ListType):
        raise evaluator.fault(f"expected list type argument in !{operator}", after)
    if not isinstance(operand, ListValue):
        return operand.type.element if operator == "head" else operand.type
    if not operand.items:
        raise evaluator.fault(f"empty list argument in !{operator}", after)
    first = operand.items[0]
    if not isinstance(first, TypedValue):
        raise evaluator.fault(f"untyped list element in !{operator}", after)
    return first.type if operator == "head" else evaluator.pool.list_type(first.type)


def _isa(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    type = _operator_type(evaluator, node)
    check_count(evaluator, node, 1, 1)
    operand = evaluator.evaluate(node.arguments[0], record)
    return evaluator.pool.unique(IsAOperation, type, operand).fold(evaluator.pool)


def _ternary(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 3, 3, record)
    operator, arguments = node.operator, node.arguments
    if operator == "dag":
        wanted = None
    first = evaluator.evaluate(arguments[0], record)
    second = evaluator.evaluate(arguments[1], record, wanted)
    third = evaluator.evaluate(arguments[2], record, wanted)
    after = node.end + 1
    type: Type | None
    if operator == "dag":
        _check_dag(evaluator, node, second, third)
        type = DAG
    elif operator == "if":
        type = _branch_type(evaluator, "!if", [second, third], after)
    elif isinstance(third, TypedValue):
        type = third.type
    else:
        raise evaluator.fault("could not get type for !subst", after)
    operation = evaluator.pool.unique(TernaryOperation, operator, first, second, third, type)
    return operation.fold(record, evaluator.pool)


def _check_dag(evaluator: Evaluator, node: syntax.Bang, children: Value, names: Value) -> None:
    at_children, at_names = node.arguments[1].at, node.arguments[2].at
    if isinstance(children, TypedValue):
        if not isinstance(children.type, ListType):
            raise evaluator.fault(f"expected list of children, got type '{children.type}'", at_children)
    elif not isinstance(children, UnsetValue):
        raise evaluator.fault("could not determine type of the child list in !dag", at_children)
    if isinstance(names, TypedValue):
        if names.type is not evaluator.pool.list_type(STRING):
            raise evaluator.fault(f"expected list<string>, got type '{names.type}'", at_names)
    elif isinstance(children, UnsetValue):
        raise evaluator.fault("cannot have both unset children and unset names in !dag", at_children)


def _branch_type(evaluator: Evaluator, operator: str, values: list[Value], after: int) -> Type:
    type: Type | None = None
    for value in values:
        if not isinstance(value, TypedValue):
            continue
        if type is None:
            type = value.type
            continue
        common = evaluator.pool.common_type(type, value.type)
        if common is None:
            raise evaluator.fault(f"inconsistent types '{type}' and '{value.type}' for {operator}", after)
        type = common
    if type is None:
        raise evaluator.fault(f"could not get type for {operator}", after)
    return type


def _substring(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 2, 3, record)
    pool, operator = evaluator.pool, node.operator
    values = [evaluator.evaluate(argument, record) for argument in node.arguments]
    if len(values) == 2:
        values.append(pool.integer((1 << 63) - 1 if operator == "substr" else 0))
    type, types = (STRING, (STRING, INT, INT)) if operator == "substr" else (INT, (STRING, STRING, INT))
    if wanted is not None and not type.converts_to(wanted):
        raise evaluator.fault(f"expected value of type '{wanted}', got '{type}'", node.arguments[-1].at)
    places = (node.end + 1, node.arguments[1].at, node.end + 1)
    for value, expected, place in zip(values, types, places, strict=True):
        if isinstance(value, TypedValue) and value.type is not expected:
            raise evaluator.fault(f"expected {expected}, got type '{value.type}'", place)
    return pool.unique(TernaryOperation, operator, values[0], values[1], values[2], type).fold(record, pool)


@contextmanager
def bound(evaluator: Evaluator, record: Record | None, variables: dict[str, Type]) -> Iterator[Record]:
    """Give the record loop variables as fields inside the block. Without a record, one is made up for them."""
    if record is None:
        record = Record(evaluator.pool.string(".parse"), (), evaluator.pool, anonymous=False, is_class=False)
    for name, type in variables.items():
        record.fields[name] = Field(name, type, 0)
    try:
        yield record
    finally:
        for name in variables:
            record.fields.pop(name, None)


def _variable(evaluator: Evaluator, node: syntax.Bang, index: int, record: Record | None) -> str:
    argument = node.arguments[index]
    if not isinstance(argument, syntax.Name):
        raise evaluator.fault(f"argument {index + 1} of !{node.operator} must be an identifier", argument.at)
    if record is not None and argument.text in record.fields:
        raise evaluator.fault(f"variable '{argument.text}' of !{node.operator} is already defined", argument.at)
    return argument.text


def _loop(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 1, 99)
    pool, operator = evaluator.pool, node.operator
    variable = _variable(evaluator, node, 0, record)
    check_count(evaluator, node, 2, 99)
    items = evaluator.evaluate(node.arguments[1], record)
    check_count(evaluator, node, 3, 3)
    # Both kinds of fault are noticed after the comma that follows the list.
    after_comma = node.arguments[1].end + 2
    if not isinstance(items, TypedValue):
        raise evaluator.fault(f"could not get type of !{operator} list or dag", after_comma)
    body_type: Type | None = None
    over_dag = items.type is DAG
    if isinstance(items.type, ListType):
        element: Type = items.type.element
        if wanted is not None:
            if not isinstance(wanted, ListType):
                raise evaluator.fault(f"expected value of type '{wanted}', but got list type", node.at)
            body_type = wanted.element if operator == "foreach" else INT
    elif over_dag and operator == "foreach":
        element = DAG
        if wanted is not None and wanted is not DAG:
            raise evaluator.fault(f"expected value of type '{wanted}', but got dag type", node.at)
    else:
        allowed = "list or dag" if operator == "foreach" else "list"
        raise evaluator.fault(f"!{operator} must have a {allowed} argument", after_comma)
    with bound(evaluator, record, {variable: element}) as inner:
        body = evaluator.evaluate(node.arguments[2], inner, body_type)
    type: Type = element if over_dag else items.type
    if operator == "foreach" and not over_dag:
        if not isinstance(body, TypedValue):
            raise evaluator.fault("could not get type of !foreach result expression", node.end + 1)
        type = pool.list_type(body.type)
    elif operator == "filter":
        type = pool.list_type(element)
    return pool.unique(LoopOperation, operator, variable, items, body, type).fold(record, pool)


def _foldl(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 1, 99)
    pool, arguments = evaluator.pool, node.arguments
    start = evaluator.evaluate(arguments[0], record)
    check_count(evaluator, node, 2, 99)
    if not isinstance(start, TypedValue):
        raise evaluator.fault(f"could not get type of !foldl start: '{start.text()}'", arguments[0].end + 1)
    items = evaluator.evaluate(arguments[1], record)
    if not isinstance(items, TypedValue) or not isinstance(items.type, ListType):
        raise evaluator.fault("!foldl list must be a list", arguments[1].end + 1)
    check_count(evaluator, node, 5, 5)
    accumulator = _variable(evaluator, node, 2, record)
    element = _variable(evaluator, node, 3, record)
    with bound(evaluator, record, {accumulator: start.type, element: items.type.element}) as inner:
        body = evaluator.evaluate(arguments[4], inner)
    if not isinstance(body, TypedValue):
        raise evaluator.fault("could not get type of !foldl expression", node.end)
    if body.type is not start.type:
        raise evaluator.fault(
            f"!foldl expression must be of same type as start ({start.type}), but is of type {body.type}", node.end
        )
    operation = pool.unique(FoldOperation, start, items, accumulator, element, body, start.type)
    return operation.fold(record, pool)


def evaluate_cond(evaluator: Evaluator, node: syntax.Cond, record: Record | None, wanted: Type | None) -> Value:
    """Return the value of ``!cond(condition : value, ...)``."""
    keeper = evaluator.keeper
    previous, keeper.current = keeper.current, node.at
    if not node.clauses:
        raise evaluator.fault("there should be at least 1 'condition : value' in !cond", node.end + 1)
    conditions: list[Value] = []
    values: list[Value] = []
    for condition, value in node.clauses:
        conditions.append(evaluator.evaluate(condition, record))
        values.append(evaluator.evaluate(value, record, wanted))
    type = _branch_type(evaluator, "!cond", values, node.end + 1)
    operation = evaluator.pool.unique(CondOperation, tuple(conditions), tuple(values), type)
    result = operation.fold(record, evaluator.pool)
    keeper.current = previous
    return result


_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("not", "head", "tail", "size", "empty", "cast", "getdagop", "getop"), _unary),
    **dict.fromkeys(("dag", "if", "subst"), _ternary),
    **dict.fromkeys(("substr", "find"), _substring),
    **dict.fromkeys(("foreach", "filter"), _loop),
    "isa": _isa,
    "foldl": _foldl,
}
