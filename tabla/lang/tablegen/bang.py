"""Bang operators as they are written: argument counts, types, and the variables that loops bind.

What an operator computes is in `unary`, `binary`, `ternary` and `operations`; here is what the programmer may
write, and where a fault points (the reference tool often names the token *after* the argument at fault).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from tabla.lang.tablegen import bang_binary, bang_newer, syntax
from tabla.lang.tablegen.literals import ListValue
from tabla.lang.tablegen.operations import CondOperation, FoldOperation, IsAOperation
from tabla.lang.tablegen.record import Field, Record
from tabla.lang.tablegen.ternary import LoopOperation, TernaryOperation
from tabla.lang.tablegen.types import DAG, INT, STRING, ListType, RecordType, Type
from tabla.lang.tablegen.unary import UnaryOperation
from tabla.lang.tablegen.values import TypedValue, UnsetValue, Value

if TYPE_CHECKING:
    from tabla.lang.tablegen.expressions import Expressions

_LOOPS = frozenset({"foreach", "filter", "foldl"})

Handler: TypeAlias = "Callable[[Expressions, syntax.Bang, Record | None, Type | None], Value]"


def evaluate(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    """The value of ``!operator<type>(arguments)``."""
    keeper = expressions.keeper
    previous, keeper.current = keeper.current, node.at
    handler = _HANDLERS.get(node.operator)
    if handler is not None:
        value = handler(expressions, node, record, wanted)
    elif node.operator in bang_binary.OPERATORS:
        value = bang_binary.evaluate(expressions, node, record, wanted)
    else:
        value = bang_newer.evaluate(expressions, node, record, wanted)
    keeper.current = previous
    return value


def check_count(
    expressions: Expressions, node: syntax.Bang, least: int, most: int, record: Record | None = None
) -> None:
    """Refuse too few or too many arguments, at the token where the reference tool notices."""
    arguments = node.arguments
    if least <= len(arguments) <= most:
        return
    if node.operator not in _LOOPS:
        # Faults inside the arguments come first; those of loops would miss the variable.
        for argument in arguments[:most]:
            expressions.evaluate(argument, record)
    if len(arguments) > most:
        raise expressions.fault(f"!{node.operator} takes at most {most} arguments", arguments[most].at - 1)
    raise expressions.fault(f"!{node.operator} takes at least {least} arguments", node.end)


def check_no_type(expressions: Expressions, node: syntax.Bang) -> None:
    """Refuse ``<type>`` after an operator that has none."""
    if node.type is not None:
        raise expressions.fault(f"!{node.operator} has no type in angle brackets", node.at + 1)


def _operator_type(expressions: Expressions, node: syntax.Bang) -> Type:
    if node.type is None:
        raise expressions.fault(f"!{node.operator} needs a type: !{node.operator}<type>(...)", node.at + 1)
    if node.type.kind == "code":
        raise expressions.fault("the 'code' type is not allowed in bang operators; use 'string'", node.type.at)
    return expressions.type_of(node.type)


def _unary(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    operator = "getdagop" if node.operator == "getop" else node.operator
    type: Type | None = INT if operator in ("not", "size", "empty") else None
    if operator == "cast":
        type = _operator_type(expressions, node)
    elif operator == "getdagop":
        type = expressions.pool.record_type(())
        if node.type is not None:
            type = _operator_type(expressions, node)
            if not isinstance(type, RecordType):
                raise expressions.fault("type for !getdagop must be a record type", node.type.end + 2)
    else:
        check_no_type(expressions, node)
    check_count(expressions, node, 1, 99)
    argument = node.arguments[0]
    operand = expressions.evaluate(argument, record)
    after = argument.end + 1
    if operator in ("size", "empty"):
        if not isinstance(operand, TypedValue) or not (
            isinstance(operand.type, ListType) or operand.type in (STRING, DAG)
        ):
            raise expressions.fault(f"expected string, list, or dag type argument in !{operator}", after)
    elif operator in ("head", "tail"):
        type = _list_operand(expressions, operator, operand, after)
    check_count(expressions, node, 1, 1)
    assert type is not None
    return expressions.pool.unique(UnaryOperation, operator, operand, type).fold(record, expressions.pool)


def _list_operand(expressions: Expressions, operator: str, operand: Value, after: int) -> Type:
    if not isinstance(operand, TypedValue) or not isinstance(operand.type, ListType):
        raise expressions.fault(f"expected list type argument in !{operator}", after)
    if not isinstance(operand, ListValue):
        return operand.type.element if operator == "head" else operand.type
    if not operand.items:
        raise expressions.fault(f"empty list argument in !{operator}", after)
    first = operand.items[0]
    if not isinstance(first, TypedValue):
        raise expressions.fault(f"untyped list element in !{operator}", after)
    return first.type if operator == "head" else expressions.pool.list_type(first.type)


def _isa(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    type = _operator_type(expressions, node)
    check_count(expressions, node, 1, 1)
    operand = expressions.evaluate(node.arguments[0], record)
    return expressions.pool.unique(IsAOperation, type, operand).fold(expressions.pool)


def _ternary(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(expressions, node)
    check_count(expressions, node, 3, 3, record)
    operator, arguments = node.operator, node.arguments
    if operator == "dag":
        wanted = None
    first = expressions.evaluate(arguments[0], record)
    second = expressions.evaluate(arguments[1], record, wanted)
    third = expressions.evaluate(arguments[2], record, wanted)
    after = node.end + 1
    type: Type | None
    if operator == "dag":
        _check_dag(expressions, node, second, third)
        type = DAG
    elif operator == "if":
        type = _branch_type(expressions, "!if", [second, third], after)
    elif isinstance(third, TypedValue):
        type = third.type
    else:
        raise expressions.fault("could not get type for !subst", after)
    operation = expressions.pool.unique(TernaryOperation, operator, first, second, third, type)
    return operation.fold(record, expressions.pool)


def _check_dag(expressions: Expressions, node: syntax.Bang, children: Value, names: Value) -> None:
    at_children, at_names = node.arguments[1].at, node.arguments[2].at
    if isinstance(children, TypedValue):
        if not isinstance(children.type, ListType):
            raise expressions.fault(f"expected list of children, got type '{children.type}'", at_children)
    elif not isinstance(children, UnsetValue):
        raise expressions.fault("could not determine type of the child list in !dag", at_children)
    if isinstance(names, TypedValue):
        if names.type is not expressions.pool.list_type(STRING):
            raise expressions.fault(f"expected list<string>, got type '{names.type}'", at_names)
    elif isinstance(children, UnsetValue):
        raise expressions.fault("cannot have both unset children and unset names in !dag", at_children)


def _branch_type(expressions: Expressions, operator: str, values: list[Value], after: int) -> Type:
    type: Type | None = None
    for value in values:
        if not isinstance(value, TypedValue):
            continue
        if type is None:
            type = value.type
            continue
        common = expressions.pool.common_type(type, value.type)
        if common is None:
            raise expressions.fault(f"inconsistent types '{type}' and '{value.type}' for {operator}", after)
        type = common
    if type is None:
        raise expressions.fault(f"could not get type for {operator}", after)
    return type


def _substring(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(expressions, node)
    check_count(expressions, node, 2, 3, record)
    pool, operator = expressions.pool, node.operator
    values = [expressions.evaluate(argument, record) for argument in node.arguments]
    if len(values) == 2:
        values.append(pool.integer((1 << 63) - 1 if operator == "substr" else 0))
    type, types = (STRING, (STRING, INT, INT)) if operator == "substr" else (INT, (STRING, STRING, INT))
    if wanted is not None and not type.converts_to(wanted):
        raise expressions.fault(f"expected value of type '{wanted}', got '{type}'", node.arguments[-1].at)
    places = (node.end + 1, node.arguments[1].at, node.end + 1)
    for value, expected, place in zip(values, types, places, strict=True):
        if isinstance(value, TypedValue) and value.type is not expected:
            raise expressions.fault(f"expected {expected}, got type '{value.type}'", place)
    return pool.unique(TernaryOperation, operator, values[0], values[1], values[2], type).fold(record, pool)


@contextmanager
def bound(expressions: Expressions, record: Record | None, variables: dict[str, Type]) -> Iterator[Record]:
    """The record with loop variables among its fields, or a record made up for them."""
    if record is None:
        keeper = expressions.keeper
        record = Record(expressions.pool.string(".parse"), (), keeper, anonymous=False, is_class=False)
    for name, type in variables.items():
        record.fields[name] = Field(name, type, 0)
    try:
        yield record
    finally:
        for name in variables:
            record.fields.pop(name, None)


def _variable(expressions: Expressions, node: syntax.Bang, index: int, record: Record | None) -> str:
    argument = node.arguments[index]
    if not isinstance(argument, syntax.Name):
        raise expressions.fault(f"argument {index + 1} of !{node.operator} must be an identifier", argument.at)
    if record is not None and argument.text in record.fields:
        raise expressions.fault(f"variable '{argument.text}' of !{node.operator} is already defined", argument.at)
    return argument.text


def _loop(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(expressions, node)
    check_count(expressions, node, 1, 99)
    pool, operator = expressions.pool, node.operator
    variable = _variable(expressions, node, 0, record)
    check_count(expressions, node, 2, 99)
    items = expressions.evaluate(node.arguments[1], record)
    check_count(expressions, node, 3, 3)
    # Both kinds of fault are noticed after the comma that follows the list.
    after_comma = node.arguments[1].end + 2
    if not isinstance(items, TypedValue):
        raise expressions.fault(f"could not get type of !{operator} list or dag", after_comma)
    body_type: Type | None = None
    over_dag = items.type is DAG
    if isinstance(items.type, ListType):
        element: Type = items.type.element
        if wanted is not None:
            if not isinstance(wanted, ListType):
                raise expressions.fault(f"expected value of type '{wanted}', but got list type", node.at)
            body_type = wanted.element if operator == "foreach" else INT
    elif over_dag and operator == "foreach":
        element = DAG
        if wanted is not None and wanted is not DAG:
            raise expressions.fault(f"expected value of type '{wanted}', but got dag type", node.at)
    else:
        allowed = "list or dag" if operator == "foreach" else "list"
        raise expressions.fault(f"!{operator} must have a {allowed} argument", after_comma)
    with bound(expressions, record, {variable: element}) as inner:
        body = expressions.evaluate(node.arguments[2], inner, body_type)
    type: Type = element if over_dag else items.type
    if operator == "foreach" and not over_dag:
        if not isinstance(body, TypedValue):
            raise expressions.fault("could not get type of !foreach result expression", node.end + 1)
        type = pool.list_type(body.type)
    elif operator == "filter":
        type = pool.list_type(element)
    return pool.unique(LoopOperation, operator, variable, items, body, type).fold(record, pool)


def _foldl(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    check_no_type(expressions, node)
    check_count(expressions, node, 1, 99)
    pool, arguments = expressions.pool, node.arguments
    start = expressions.evaluate(arguments[0], record)
    check_count(expressions, node, 2, 99)
    if not isinstance(start, TypedValue):
        raise expressions.fault(f"could not get type of !foldl start: '{start.text()}'", arguments[0].end + 1)
    items = expressions.evaluate(arguments[1], record)
    if not isinstance(items, TypedValue) or not isinstance(items.type, ListType):
        raise expressions.fault("!foldl list must be a list", arguments[1].end + 1)
    check_count(expressions, node, 5, 5)
    accumulator = _variable(expressions, node, 2, record)
    element = _variable(expressions, node, 3, record)
    with bound(expressions, record, {accumulator: start.type, element: items.type.element}) as inner:
        body = expressions.evaluate(arguments[4], inner)
    if not isinstance(body, TypedValue):
        raise expressions.fault("could not get type of !foldl expression", node.end)
    if body.type is not start.type:
        raise expressions.fault(
            f"!foldl expression must be of same type as start ({start.type}), but is of type {body.type}", node.end
        )
    operation = pool.unique(FoldOperation, start, items, accumulator, element, body, start.type)
    return operation.fold(record, pool)


def evaluate_cond(expressions: Expressions, node: syntax.Cond, record: Record | None, wanted: Type | None) -> Value:
    """The value of ``!cond(condition : value, ...)``."""
    keeper = expressions.keeper
    previous, keeper.current = keeper.current, node.at
    if not node.clauses:
        raise expressions.fault("there should be at least 1 'condition : value' in !cond", node.end + 1)
    conditions: list[Value] = []
    values: list[Value] = []
    for condition, value in node.clauses:
        conditions.append(expressions.evaluate(condition, record))
        values.append(expressions.evaluate(value, record, wanted))
    type = _branch_type(expressions, "!cond", values, node.end + 1)
    operation = expressions.pool.unique(CondOperation, tuple(conditions), tuple(values), type)
    result = operation.fold(record, expressions.pool)
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
