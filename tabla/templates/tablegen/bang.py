"""Bang operators as they are written: argument counts, types, and the variables that loops bind.

What an operator is stands in the table of `operators`. This module says, for each form of that table, what the
programmer may write and where a fault points; the reference tool often names the token *after* the argument at
fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tabla.templates.tablegen import syntax
from tabla.templates.tablegen.evaluator import Evaluator
from tabla.templates.tablegen.literals import ListValue
from tabla.templates.tablegen.operation import Operation, Operator
from tabla.templates.tablegen.operators import CLOSED_RANGE, COND, ELEMENT, LISTCONCAT, OPERATORS, SLICE
from tabla.templates.tablegen.record import Field, Record, RecordType
from tabla.templates.tablegen.types import DAG, INT, STRING, ListType, Type
from tabla.templates.tablegen.values import TypedValue, UnsetValue, Value

Reader: TypeAlias = "Callable[[Evaluator, syntax.Bang, Operator, Record | None, Type | None], Value]"


def evaluate(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    """Return the value of ``!operator<type>(arguments)``."""
    keeper = evaluator.keeper
    previous, keeper.current = keeper.current, node.at
    operator = OPERATORS[node.operator]
    value = _READERS[operator.form](evaluator, node, operator, record, wanted)
    keeper.current = previous
    return value


def check_count(evaluator: Evaluator, node: syntax.Bang, least: int, most: int, record: Record | None = None) -> None:
    """Refuse too few or too many arguments, at the token where the reference tool notices."""
    arguments = node.arguments
    if least <= len(arguments) <= most:
        return
    if OPERATORS[node.operator].form not in ("loop", "fold"):
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


def _one(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    name, type = operator.name, operator.result
    if name == "cast":
        type = _operator_type(evaluator, node)
    elif name == "getdagop":
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
    if name in ("size", "empty"):
        if not isinstance(operand, TypedValue) or not (
            isinstance(operand.type, ListType) or operand.type in (STRING, DAG)
        ):
            raise evaluator.fault(f"expected string, list, or dag type argument in !{name}", after)
    elif name in ("head", "tail"):
        type = _list_operand(evaluator, name, operand, after)
    check_count(evaluator, node, 1, 1)
    assert type is not None
    return _made(evaluator, operator, type, record, operand)


def _made(
    evaluator: Evaluator,
    operator: Operator,
    type: Type,
    record: Record | None,
    *operands: Value,
    wanted: Type | None = None,
    variables: tuple[str, ...] = (),
) -> Value:
    """The operation with its operands, computed as far as they are known."""
    operation = evaluator.pool.unique(Operation, operator, type, wanted, variables, *operands)
    return operation.fold(record, evaluator.pool)


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


def _isa(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    type = _operator_type(evaluator, node)
    check_count(evaluator, node, 1, 1)
    operand = evaluator.evaluate(node.arguments[0], record)
    return _made(evaluator, operator, INT, record, operand, wanted=type)


def _three(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 3, 3, record)
    name, arguments = operator.name, node.arguments
    if name == "dag":
        wanted = None
    first = evaluator.evaluate(arguments[0], record)
    second = evaluator.evaluate(arguments[1], record, wanted)
    third = evaluator.evaluate(arguments[2], record, wanted)
    after = node.end + 1
    type: Type | None
    if name == "dag":
        _check_dag(evaluator, node, second, third)
        type = DAG
    elif name == "if":
        type = _branch_type(evaluator, "!if", [second, third], after)
    elif isinstance(third, TypedValue):
        type = third.type
    else:
        raise evaluator.fault("could not get type for !subst", after)
    return _made(evaluator, operator, type, record, first, second, third)


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


def _text(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 2, 3, record)
    values = [evaluator.evaluate(argument, record) for argument in node.arguments]
    if len(values) == 2:
        values.append(evaluator.pool.integer((1 << 63) - 1 if operator.name == "substr" else 0))
    type, types = (STRING, (STRING, INT, INT)) if operator.name == "substr" else (INT, (STRING, STRING, INT))
    if wanted is not None and not type.converts_to(wanted):
        raise evaluator.fault(f"expected value of type '{wanted}', got '{type}'", node.arguments[-1].at)
    places = (node.end + 1, node.arguments[1].at, node.end + 1)
    for value, expected, place in zip(values, types, places, strict=True):
        if isinstance(value, TypedValue) and value.type is not expected:
            raise evaluator.fault(f"expected {expected}, got type '{value.type}'", place)
    return _made(evaluator, operator, type, record, *values)


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


def _loop(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 1, 99)
    pool, name = evaluator.pool, operator.name
    variable = _variable(evaluator, node, 0, record)
    check_count(evaluator, node, 2, 99)
    items = evaluator.evaluate(node.arguments[1], record)
    check_count(evaluator, node, 3, 3)
    # Both kinds of fault are noticed after the comma that follows the list.
    after_comma = node.arguments[1].end + 2
    if not isinstance(items, TypedValue):
        raise evaluator.fault(f"could not get type of !{name} list or dag", after_comma)
    body_type: Type | None = None
    over_dag = items.type is DAG
    if isinstance(items.type, ListType):
        element: Type = items.type.element
        if wanted is not None:
            if not isinstance(wanted, ListType):
                raise evaluator.fault(f"expected value of type '{wanted}', but got list type", node.at)
            body_type = wanted.element if name == "foreach" else INT
    elif over_dag and name == "foreach":
        element = DAG
        if wanted is not None and wanted is not DAG:
            raise evaluator.fault(f"expected value of type '{wanted}', but got dag type", node.at)
    else:
        allowed = "list or dag" if name == "foreach" else "list"
        raise evaluator.fault(f"!{name} must have a {allowed} argument", after_comma)
    with bound(evaluator, record, {variable: element}) as inner:
        body = evaluator.evaluate(node.arguments[2], inner, body_type)
    type: Type = element if over_dag else items.type
    if name == "foreach" and not over_dag:
        if not isinstance(body, TypedValue):
            raise evaluator.fault("could not get type of !foreach result expression", node.end + 1)
        type = pool.list_type(body.type)
    elif name == "filter":
        type = pool.list_type(element)
    return _made(evaluator, operator, type, record, items, body, variables=(variable,))


def _fold(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    check_no_type(evaluator, node)
    check_count(evaluator, node, 1, 99)
    arguments = node.arguments
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
    return _made(evaluator, operator, start.type, record, start, items, body, variables=(accumulator, element))


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
    result = _made(evaluator, COND, type, record, *conditions, *values)
    keeper.current = previous
    return result


def _several(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    name, result = operator.name, operator.result
    check_no_type(evaluator, node)
    if result is not None and wanted is not None and not result.converts_to(wanted):
        raise evaluator.fault(f"expected value of type '{wanted}', got '{result}'", node.at)
    if not node.arguments:
        raise evaluator.fault(f"!{name} needs two operands", node.end)
    values, last_type = _arguments(evaluator, node, operator, record, wanted)
    if name == "listconcat":
        result = last_type
    elif name == "listsplat":
        result = evaluator.pool.list_type(values[0].type)
    assert result is not None
    operands: list[Value] = list(values)
    if operator.associative:
        while len(operands) > 2:
            right = operands.pop()
            operands[-1] = _made(evaluator, operator, result, record, operands[-1], right)
    if len(operands) != 2:
        raise evaluator.fault(f"expected two operands to !{name}", node.at)
    return _made(evaluator, operator, result, record, *operands)


def _arguments(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> tuple[list[TypedValue], Type | None]:
    """The operands and the type that the last of them set for any that would follow."""
    pool, name = evaluator.pool, operator.name
    expected: Type | None = {"listconcat": wanted, "strconcat": STRING, "con": DAG, "setdagop": DAG}.get(name)
    if operator.arithmetic is not None:
        expected = INT
    values: list[TypedValue] = []
    for argument in node.arguments:
        value = evaluator.evaluate(argument, record, expected)
        if not isinstance(value, TypedValue):
            raise evaluator.fault(f"expected value to be a typed value, got '{value.text()}'", node.at)
        values.append(value)
        if expected is None:
            expected = _first_type(evaluator, node, name, values, wanted, argument.at)
        else:
            common = pool.common_type(expected, value.type)
            if common is None:
                raise evaluator.fault(f"expected value of type '{expected}', got '{value.type}'", argument.at)
            if operator.arithmetic is None:
                expected = common
        if name == "setdagop":
            # After the dag comes a record, of any class.
            expected = pool.record_type(())
    return values, expected


def _first_type(
    evaluator: Evaluator,
    node: syntax.Bang,
    name: str,
    values: list[TypedValue],
    wanted: Type | None,
    at: int,
) -> Type | None:
    """Check an operand whose type was open; what the next one must be (None leaves it open again)."""
    pool, found = evaluator.pool, values[-1].type
    if name == "listconcat":
        if not isinstance(found, ListType):
            raise evaluator.fault(f"expected a list, got value of type '{found}'", at)
        return found
    if name == "listsplat":
        if len(values) == 1 and wanted is not None:
            if not isinstance(wanted, ListType):
                raise evaluator.fault(f"expected output type to be a list, got type '{wanted}'", node.at)
            if not pool.list_type(found).converts_to(wanted):
                raise evaluator.fault(
                    f"expected first arg type to be '{found}', got value of type '{wanted.element}'", node.at
                )
        if len(values) == 2 and found is not INT:
            raise evaluator.fault(f"expected second parameter to be an int, got value of type '{found}'", at)
        return None
    if name == "interleave":
        if len(values) == 1 and not (found is pool.list_type(STRING) or found.converts_to(pool.list_type(INT))):
            raise evaluator.fault(f"expected list of string, int, bits, or bit; got value of type '{found}'", at)
        if len(values) == 2 and found is not STRING:
            raise evaluator.fault(f"expected second argument to be a string, got value of type '{found}'", at)
        return None
    comparable = found.converts_to(INT) or found.converts_to(STRING)
    if name in ("eq", "ne"):
        comparable = comparable or found.converts_to(pool.record_type(()))
    if not comparable:
        raise evaluator.fault(f"values of type '{found}' cannot be compared with !{name}", at)
    return found


def _listed(
    evaluator: Evaluator, node: syntax.Bang, operator: Operator, record: Record | None, wanted: Type | None
) -> Value:
    pool, name, least, most = evaluator.pool, operator.name, operator.least, operator.most
    if not least <= len(node.arguments) <= most:
        count = f"{least}" if least == most else f"{least} to {most}"
        raise evaluator.fault(f"!{name} takes {count} argument{'s' * (most > 1)}", node.end)
    given = _given_type(evaluator, node, operator)
    operands = [evaluator.evaluate(argument, record) for argument in node.arguments]
    for index, operand in enumerate(operands):
        _check_operand(evaluator, node, operator, index, operand)
    result = operator.result
    if name == "getdagarg":
        result = given
    elif name == "range":
        result = pool.list_type(INT)
        operands = _range_operands(evaluator, record, operands)
    elif name == "instances":
        assert given is not None
        result = pool.list_type(given)
        operands = operands or [pool.string(".*")]
    elif result is None:
        result = operands[0].type
        if name == "listflatten" and isinstance(result, ListType) and isinstance(result.element, ListType):
            result = result.element
    assert result is not None
    if operator.suits_its_place and wanted is not None and not result.converts_to(wanted):
        raise evaluator.fault(f"expected value of type '{wanted}', got '{result}'", node.at)
    return _made(evaluator, operator, result, record, *operands, wanted=given)


def _given_type(evaluator: Evaluator, node: syntax.Bang, operator: Operator) -> Type | None:
    if not operator.typed:
        check_no_type(evaluator, node)
        return None
    if node.type is None:
        raise evaluator.fault(f"!{operator.name} needs a type: !{operator.name}<type>(...)", node.at + 1)
    type = evaluator.type_of(node.type)
    if operator.looks_up and not isinstance(type, RecordType):
        raise evaluator.fault(f"type for !{operator.name} must be a record type", node.type.at)
    return type


def _check_operand(evaluator: Evaluator, node: syntax.Bang, operator: Operator, index: int, operand: Value) -> None:
    expected, at = operator.operands[index], node.arguments[index].at
    if isinstance(operand, TypedValue):
        # A count may be a list only if it is all that is written.
        is_count = operator.name != "range" or len(node.arguments) == 1
        fits = expected.fits(operand.type) if is_count else operand.type.converts_to(INT)
        if not fits:
            what = expected.what if is_count else "an int"
            raise evaluator.fault(
                f"argument {index + 1} of !{operator.name} must be {what}, got type '{operand.type}'", at
            )
    elif not expected.may_be_unset:
        raise evaluator.fault(f"argument {index + 1} of !{operator.name} has no type", at)


def _range_operands(evaluator: Evaluator, record: Record | None, operands: list[Value]) -> list[Value]:
    """The start, the end and the step of a ``!range``, of which the last two may be left out."""
    pool = evaluator.pool
    if isinstance(operands[0].type, ListType):
        operands = [_made(evaluator, OPERATORS["size"], INT, record, operands[0])]
    if len(operands) == 1:
        operands = [pool.integer(0), *operands]
    return operands if len(operands) == 3 else [*operands, pool.integer(1)]


def select_elements(evaluator: Evaluator, node: syntax.ElementSelection, base: Value, record: Record | None) -> Value:
    """Return ``base[...]`` as a value that may wait: one element, or a list of the elements that ranges name."""
    pool = evaluator.pool
    if not isinstance(base, TypedValue) or not isinstance(base.type, ListType):
        raise evaluator.fault("invalid range for list slice", node.open)
    numbers = pool.list_type(INT)
    indices: Value | None = None
    for piece in node.pieces:
        ends = [piece.first] if piece.last is None else [piece.first, piece.last]
        values = [evaluator.evaluate(end, record) for end in ends]
        for end, value in zip(ends, values, strict=True):
            if not isinstance(value, TypedValue) or value.type is not INT:
                raise evaluator.fault("expected integer or bitrange", end.end + 1)
        if len(node.pieces) == 1 and len(values) == 1 and not node.trailing_comma:
            return _made(evaluator, ELEMENT, base.type.element, record, base, values[0])
        more = pool.list(values, INT)
        named = more if len(values) == 1 else _made(evaluator, CLOSED_RANGE, numbers, record, *values)
        indices = named if indices is None else _joined_indices(evaluator, indices, named, record)
    assert indices is not None, "the grammar asks for a piece"
    return _made(evaluator, SLICE, base.type, record, base, indices)


def _joined_indices(evaluator: Evaluator, left: Value, right: Value, record: Record | None) -> Value:
    """Both lists of indices. Lists of known indices that stand side by side are one list, also while others wait."""
    numbers = evaluator.pool.list_type(INT)
    if isinstance(left, Operation) and left.operator is LISTCONCAT and isinstance(right, ListValue):
        before, last = left.operands
        if isinstance(last, ListValue):
            right = _made(evaluator, LISTCONCAT, numbers, record, last, right)
            left = before
    return _made(evaluator, LISTCONCAT, numbers, record, left, right)


_READERS: dict[str, Reader] = {
    "one": _one,
    "several": _several,
    "three": _three,
    "text": _text,
    "loop": _loop,
    "fold": _fold,
    "isa": _isa,
    "listed": _listed,
}
