"""Bang operators of two or more operands as they are written: the types of the arguments are checked one after the
other.
"""

from __future__ import annotations

from tabla.templates.tablegen import syntax
from tabla.templates.tablegen.binary import ARITHMETIC, COMPARISONS, BinaryOperation
from tabla.templates.tablegen.evaluator import Evaluator
from tabla.templates.tablegen.record import Record
from tabla.templates.tablegen.types import BIT, DAG, INT, STRING, ListType, Type
from tabla.templates.tablegen.values import TypedValue, Value

_NAMES = {"setop": "setdagop"}

OPERATORS = frozenset(
    {*ARITHMETIC, *COMPARISONS, "con", "setdagop", "setop", "listconcat", "listsplat", "strconcat", "interleave"}
)

# a op b op c means a op (b op c); the others take exactly two.
_ASSOCIATIVE = frozenset({"strconcat", "listconcat", "con", "add", "and", "or", "xor", "mul"})


def evaluate(evaluator: Evaluator, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    """Return the value of a call of one of `OPERATORS`."""
    pool = evaluator.pool
    operator = _NAMES.get(node.operator, node.operator)
    if node.type is not None:
        raise evaluator.fault(f"!{operator} has no type in angle brackets", node.at + 1)
    result = _result_type(operator)
    if result is not None and wanted is not None and not result.converts_to(wanted):
        raise evaluator.fault(f"expected value of type '{wanted}', got '{result}'", node.at)
    if not node.arguments:
        raise evaluator.fault(f"!{operator} needs two operands", node.end)
    values, last_type = _arguments(evaluator, node, operator, record, wanted)
    if operator == "listconcat":
        result = last_type
    elif operator == "listsplat":
        result = pool.list_type(values[0].type)
    assert result is not None
    operands: list[Value] = list(values)
    if operator in _ASSOCIATIVE:
        while len(operands) > 2:
            right = operands.pop()
            operands[-1] = pool.unique(BinaryOperation, operator, operands[-1], right, result).fold(record, pool)
    if len(operands) != 2:
        raise evaluator.fault(f"expected two operands to !{operator}", node.at)
    return pool.unique(BinaryOperation, operator, operands[0], operands[1], result).fold(record, pool)


def _result_type(operator: str) -> Type | None:
    if operator in ARITHMETIC:
        return INT
    if operator in COMPARISONS:
        return BIT
    if operator in ("con", "setdagop"):
        return DAG
    return STRING if operator in ("strconcat", "interleave") else None


def _arguments(
    evaluator: Evaluator, node: syntax.Bang, operator: str, record: Record | None, wanted: Type | None
) -> tuple[list[TypedValue], Type | None]:
    """The operands and the type that the last of them set for any that would follow."""
    pool = evaluator.pool
    expected: Type | None = {"listconcat": wanted, "strconcat": STRING, "con": DAG, "setdagop": DAG}.get(operator)
    if operator in ARITHMETIC:
        expected = INT
    values: list[TypedValue] = []
    for argument in node.arguments:
        value = evaluator.evaluate(argument, record, expected)
        if not isinstance(value, TypedValue):
            raise evaluator.fault(f"expected value to be a typed value, got '{value.text()}'", node.at)
        values.append(value)
        if expected is None:
            expected = _first_type(evaluator, node, operator, values, wanted, argument.at)
        else:
            common = pool.common_type(expected, value.type)
            if common is None:
                raise evaluator.fault(f"expected value of type '{expected}', got '{value.type}'", argument.at)
            if operator not in ARITHMETIC:
                expected = common
        if operator == "setdagop":
            # After the dag comes a record, of any class.
            expected = pool.record_type(())
    return values, expected


def _first_type(
    evaluator: Evaluator,
    node: syntax.Bang,
    operator: str,
    values: list[TypedValue],
    wanted: Type | None,
    at: int,
) -> Type | None:
    """Check an operand whose type was open; what the next one must be (None leaves it open again)."""
    pool, found = evaluator.pool, values[-1].type
    if operator == "listconcat":
        if not isinstance(found, ListType):
            raise evaluator.fault(f"expected a list, got value of type '{found}'", at)
        return found
    if operator == "listsplat":
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
    if operator == "interleave":
        if len(values) == 1 and not (found is pool.list_type(STRING) or found.converts_to(pool.list_type(INT))):
            raise evaluator.fault(f"expected list of string, int, bits, or bit; got value of type '{found}'", at)
        if len(values) == 2 and found is not STRING:
            raise evaluator.fault(f"expected second argument to be a string, got value of type '{found}'", at)
        return None
    comparable = found.converts_to(INT) or found.converts_to(STRING)
    if operator in ("eq", "ne"):
        comparable = comparable or found.converts_to(pool.record_type(()))
    if not comparable:
        raise evaluator.fault(f"values of type '{found}' cannot be compared with !{operator}", at)
    return found
