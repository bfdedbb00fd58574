"""The checked tree as text. It is TABLA again, with every size, range and constant as a number, and it parses to
itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from tabla.graph.graph import Affine
from tabla.languages.tabla.operators import Operator
from tabla.languages.tabla.program import (
    Assignment,
    Call,
    Constant,
    Expression,
    Group,
    Index,
    Kind,
    Lookup,
    Negation,
    Number,
    Operation,
    Program,
    Read,
    Subscript,
    chain,
)

# How tightly an expression holds together; an operand that holds less gets parentheses.
_COMPARISON, _SUM, _PRODUCT, _UNARY, _ATOM = range(5)
_TIGHTNESS = {
    Operator.ADD: _SUM,
    Operator.SUBTRACT: _SUM,
    Operator.MULTIPLY: _PRODUCT,
    Operator.DIVIDE: _PRODUCT,
}


def program_text(program: Program) -> str:
    """Return `program` as TABLA text, one statement per line."""
    links = {gradient.gradient: gradient.model for gradient in program.gradients}
    lines: list[str] = []
    for variable in program.variables:
        sizes = "".join(f"[{size}]" for size in variable.shape)
        if variable.kind is Kind.GRADIENT:
            lines.append(f"gradient {variable.name}{sizes} -> {links[variable.name]};")
        elif variable.kind is not Kind.TEMPORARY:
            lines.append(f"{variable.kind.value} {variable.name}{sizes};")
    # Links name their models, so that models come first whatever the order of mention.
    lines.sort(key=lambda line: line.startswith("gradient "))
    lines += [f"iterator {i.name}[{i.start}:{i.stop}];" for i in program.iterators]
    lines += [assignment_text(assignment) for assignment in program.assignments]
    return "".join(f"{line}\n" for line in lines)


def assignment_text(assignment: Assignment) -> str:
    """Return one statement as TABLA text."""
    return f"{assignment.target}{_brackets(assignment.subscripts)} = {expression_text(assignment.value)};"


def expression_text(expression: Expression) -> str:
    """Return one expression as TABLA text, without parentheses that it does not need."""
    return _render(expression)[0]


def _render(expression: Expression) -> tuple[str, int]:
    match expression:
        case Number(value=value):
            return _number(value)
        case Constant(name=name):
            return name, _ATOM
        case Index(iterator=iterator):
            return iterator.name, _ATOM
        case Read(name=name, subscripts=subscripts) | Lookup(name=name, subscripts=subscripts):
            return f"{name}{_brackets(subscripts)}", _ATOM
        case Negation(operand=operand):
            return f"-{_held(operand, _UNARY)}", _UNARY
        case Operation():
            first, operations = chain(expression)
            text, tightness = _render(first)
            for operation in operations:
                own = _TIGHTNESS.get(operation.operator, _COMPARISON)
                left = text if tightness >= own else f"({text})"
                text, tightness = f"{left} {operation.operator.value} {_held(operation.right, own + 1)}", own
            return text, tightness
        case Call(function=function, arguments=arguments):
            inside = ", ".join(expression_text(argument) for argument in arguments)
            return f"{function.value}({inside})", _ATOM
        case Group(function=function, iterators=iterators, body=body):
            over = "".join(f"[{iterator.name}]" for iterator in iterators)
            return f"{function.value}{over}({expression_text(body)})", _ATOM
        case _:
            assert_never(expression)


def _held(expression: Expression, tightness: int) -> str:
    text, own = _render(expression)
    return text if own >= tightness else f"({text})"


def _number(value: Fraction) -> tuple[str, int]:
    if value < 0:
        return f"-{_number(-value)[0]}", _UNARY
    if value.denominator == 1:
        return str(value), _ATOM
    # A decimal ends after n digits if 10^n is a multiple of the denominator.
    power = value.denominator.bit_length()
    if 10**power % value.denominator:
        return f"{value.numerator} / {value.denominator}", _PRODUCT
    digits = str(value.numerator * 10**power // value.denominator).rjust(power + 1, "0")
    return f"{digits[:-power]}.{digits[-power:].rstrip('0')}", _ATOM


def _brackets(subscripts: tuple[Subscript, ...]) -> str:
    return "".join(f"[{_subscript(subscript)}]" for subscript in subscripts)


def _subscript(subscript: Subscript) -> str:
    """Return a subscript with a blank around each sign."""
    if not isinstance(subscript, Affine):
        return expression_text(subscript)
    text = str(subscript)
    return text[0] + text[1:].replace("+", " + ").replace("-", " - ")
