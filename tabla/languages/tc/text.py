"""A checked function as text: every conversion written, operators in parentheses. It reads as the same function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tabla.languages.tc.program import (
    Apply,
    Assign,
    Binary,
    CallStatement,
    Choice,
    Constant,
    Convert,
    Extent,
    Function,
    Index,
    Read,
    SizeVariable,
    Tensor,
    Unary,
    Value,
    walk,
)


def function_text(function: Function) -> str:
    """Return the functions that `function` calls, and then the function itself, one statement per line."""
    return "\n".join(_definition(each) for each in (*_called(function), function))


def _called(function: Function) -> tuple[Function, ...]:
    found: dict[str, Function] = {}
    for statement in function.statements:
        if isinstance(statement, CallStatement):
            found |= {each.name: each for each in (*_called(statement.function), statement.function)}
    return tuple(found.values())


def _definition(function: Function) -> str:
    inputs = ", ".join(_declared(function.tensors[name]) for name in function.inputs)
    lines = [f"def {function.name}({inputs}) -> ({', '.join(function.results)}) {{"]
    for statement in function.statements:
        match statement:
            case Assign():
                lines.append(f"  {_assignment(statement)}")
            case CallStatement(targets=targets, function=called, arguments=arguments):
                lines.append(f"  {', '.join(targets)} = {called.name}({', '.join(arguments)})")
            case _:
                assert_never(statement)
    return "\n".join([*lines, "}", ""])


def _declared(tensor: Tensor) -> str:
    dimensions = f"({', '.join(map(str, tensor.dimensions))})" if tensor.dimensions else ""
    return f"{tensor.scalar}{dimensions} {tensor.name}"


def _assignment(statement: Assign) -> str:
    indices = f"({', '.join(statement.indices)})" if statement.indices else ""
    operator = f"{statement.reduction or ''}={'!' if statement.initialise and statement.reduction else ''}"
    conditions = ", ".join(_conditions(statement))
    where = f" where {conditions}" if conditions else ""
    return f"{statement.target}{indices} {operator} {value_text(statement.value)}{where}"


def _conditions(statement: Assign) -> Iterator[str]:
    for each in statement.ranges:
        yield f"{each.index} in {value_text(each.low)}:{value_text(each.high)}"
    for guard in statement.guards:
        yield from (f"exists {value_text(read)}" for read in _reads(guard))


def _reads(value: Value) -> Iterator[Read]:
    return (part for part in walk(value) if isinstance(part, Read))


def value_text(value: Value) -> str:
    """Return a value as text. What is composed stands in parentheses."""
    match value:
        case Constant(value=number, scalar=scalar):
            return str(number) if scalar.integral else repr(float(number))
        case SizeVariable(name=name) | Index(name=name):
            return name
        case Extent(tensor=tensor, axis=axis):
            return f"{tensor}.{axis}"
        case Read(tensor=tensor, subscripts=()):
            return tensor
        case Read(tensor=tensor, subscripts=subscripts):
            return f"{tensor}({', '.join(map(value_text, subscripts))})"
        case Convert(operand=operand, scalar=scalar):
            return f"{scalar}({value_text(operand)})"
        case Unary(operator=operator, operand=operand):
            return f"({operator}{value_text(operand)})"
        case Binary(operator=operator, left=left, right=right):
            return f"({value_text(left)} {operator} {value_text(right)})"
        case Choice(condition=condition, chosen=chosen, other=other):
            return f"({value_text(condition)} ? {value_text(chosen)} : {value_text(other)})"
        case Apply(function=function, arguments=arguments):
            return f"{function}({', '.join(map(value_text, arguments))})"
        case _:
            assert_never(value)
