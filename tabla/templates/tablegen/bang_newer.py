"""Bang operators and slices that came after version 14 of the reference tool, as they are written."""

from __future__ import annotations

from tabla.templates.tablegen import syntax
from tabla.templates.tablegen.evaluator import Evaluator
from tabla.templates.tablegen.literals import IntValue
from tabla.templates.tablegen.newer import COMPUTE, NewerOperation
from tabla.templates.tablegen.record import Record, RecordType
from tabla.templates.tablegen.types import DAG, INT, STRING, ListType, Type
from tabla.templates.tablegen.values import TypedValue, UnsetValue, Value

# Least and most operands, and the result (None: it depends on the operands).
_SIGNATURES: dict[str, tuple[int, int, Type | None]] = {
    "exists": (1, 1, INT),
    "div": (2, 2, INT),
    "logtwo": (1, 1, INT),
    "listremove": (2, 2, None),
    "range": (1, 3, None),
    "tolower": (1, 1, STRING),
    "toupper": (1, 1, STRING),
    "repr": (1, 1, STRING),
    "getdagarg": (2, 2, None),
    "getdagname": (2, 2, STRING),
    "setdagarg": (3, 3, DAG),
    "setdagname": (3, 3, DAG),
}


def evaluate(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    """Return the value of a call of an operator of the newer language."""
    assert node.operator in COMPUTE, "the lexer knows the operators"
    pool, operator = evaluator.pool, node.operator
    least, most, result = _SIGNATURES[operator]
    if not least <= len(node.arguments) <= most:
        raise evaluator.fault(f"!{operator} takes {least} to {most} arguments", node.end)
    given = _given_type(evaluator, node)
    operands = [evaluator.evaluate(argument, record) for argument in node.arguments]
    for index, operand in enumerate(operands):
        _check(evaluator, node, index, operand)
    if operator == "getdagarg":
        result = given
        given = None
    elif operator == "range":
        result = pool.list_type(INT)
    elif operator == "listremove":
        assert isinstance(operands[0], TypedValue)
        result = operands[0].type
    assert result is not None
    if wanted is not None and not result.converts_to(wanted):
        raise evaluator.fault(f"expected value of type '{wanted}', got '{result}'", node.at)
    return pool.unique(NewerOperation, operator, result, given, *operands).fold(record, pool)


def _given_type(evaluator: Evaluator, node: syntax.Bang) -> Type | None:
    if node.operator not in ("exists", "getdagarg"):
        if node.type is not None:
            raise evaluator.fault(f"!{node.operator} has no type in angle brackets", node.at + 1)
        return None
    if node.type is None:
        raise evaluator.fault(f"!{node.operator} needs a type: !{node.operator}<type>(...)", node.at + 1)
    type = evaluator.type_of(node.type)
    if node.operator == "exists" and not isinstance(type, RecordType):
        raise evaluator.fault("type for !exists must be a record type", node.type.at)
    return type


def _check(evaluator: Evaluator, node: syntax.Bang, index: int, operand: Value) -> None:
    operator, at = node.operator, node.arguments[index].at
    if operator == "repr" or (operator == "setdagarg" and index == 2):
        return
    if isinstance(operand, UnsetValue) and operator == "setdagname" and index == 2:
        return
    if not isinstance(operand, TypedValue):
        raise evaluator.fault(f"argument {index + 1} of !{operator} has no type", at)
    type, dag_operator = operand.type, operator.startswith(("getdag", "setdag"))
    if dag_operator and index == 0:
        expected, fits = "a dag", type is DAG
    elif dag_operator and index == 1:
        expected, fits = "an index or a name", type is STRING or type.converts_to(INT)
    elif operator in ("exists", "tolower", "toupper", "setdagname"):
        expected, fits = "a string", type is STRING
    elif operator == "listremove":
        expected, fits = "a list", isinstance(type, ListType)
    elif operator == "range" and len(node.arguments) == 1:
        expected, fits = "a list or an int", isinstance(type, ListType) or type.converts_to(INT)
    else:
        expected, fits = "an int", type.converts_to(INT)
    if not fits:
        raise evaluator.fault(f"argument {index + 1} of !{operator} must be {expected}, got type '{type}'", at)


def select_elements(evaluator: Evaluator, node: syntax.ElementSelection, base: Value, record: Record | None) -> Value:
    """Return ``base[...]`` where a number is computed: one element, or a list of the elements that ranges name."""
    pool = evaluator.pool
    if not isinstance(base, TypedValue) or not isinstance(base.type, ListType):
        raise evaluator.fault("invalid range for list slice", node.open)
    bounds: list[list[Value]] = []
    for piece in node.pieces:
        ends = [piece.first] if piece.last is None else [piece.first, piece.last]
        values = [evaluator.evaluate(end, record) for end in ends]
        for end, value in zip(ends, values, strict=True):
            if not isinstance(value, TypedValue) or value.type is not INT:
                raise evaluator.fault("expected integer or bitrange", end.end + 1)
        if piece.joined and isinstance(values[1], IntValue):
            values[1] = pool.integer(values[1].value)
        bounds.append(values)
    if len(bounds) == 1 and len(bounds[0]) == 1 and not node.trailing_comma:
        element = pool.unique(NewerOperation, "element", base.type.element, None, base, bounds[0][0])
        return element.fold(record, pool)
    numbers = pool.list_type(INT)
    pieces = [
        pool.list(values, INT)
        if len(values) == 1
        else pool.unique(NewerOperation, "closed range", numbers, None, *values).fold(record, pool)
        for values in bounds
    ]
    return pool.unique(NewerOperation, "slice", base.type, None, base, *pieces).fold(record, pool)
