"""A traced program as text, in its own notation: sizes are numbers, every tensor has a name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from tabla.graph.composed_functions import BY_OPERATOR
from tabla.languages.kernel.intervals import Rational
from tabla.languages.tile.elementwise import WHOLE
from tabla.languages.tile.program import (
    Access,
    Aggregation,
    Contraction,
    Elementwise,
    Input,
    Kind,
    Node,
    Number,
    Operator,
    Ordinal,
    Program,
    Reshape,
    Subscript,
    Values,
)

_STATEMENTS: Mapping[Aggregation, str] = {"sum": "+=", "product": "*=", "max": ">=", "min": "<=", "assign": "="}
_INFIX: Mapping[Operator, str] = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    **WHOLE,
}
_CALLS: Mapping[str, str] = {
    "power": "pow",
    "absolute": "abs",
    "square_root": "sqrt",
    "exponential": "exp",
    "logarithm": "log",
    "sine": "sin",
    "cosine": "cos",
    "hyperbolic_tangent": "tanh",
    "error_function": "erf",
    "maximum": "max",
    "minimum": "min",
    **{operator: composed.name for operator, composed in BY_OPERATOR.items()},
    "round": "round",
}


def program_text(program: Program) -> str:
    """Return the statements in order, one per line, each with its shape. The text reads as the same function."""
    names = names_of(program)
    lines = [f"def {program.name}({', '.join(given.parameter for given in program.inputs)}):"]
    lines += [f"    {given.parameter}.bind_dims({_listed(given.shape)})" for given in program.inputs]
    for node in program.nodes():
        if not isinstance(node, Input | Number):
            lines += [f"    {line}" for line in _statement(node, names)]
    for step in program.steps:
        lines.append(f"    update({names[step.weights]}, {names[step.gradient]}, {_number(step.rate)})")
    if program.outputs:
        lines.append(f"    return {', '.join(_operand(node, names) for node in program.outputs)}")
    return "\n".join(lines) + "\n"


def names_of(program: Program) -> dict[Node, str]:
    """Return a unique name for every tensor: what the user's function calls it, ``out0`` for a result, else ``T``."""
    names: dict[Node, str] = {given: given.parameter for given in program.inputs}
    taken = set(names.values())
    for node in program.nodes():
        if node in names or isinstance(node, Number):
            continue
        wanted = node.name.text
        if wanted is None:
            wanted = next((name for name, output in program.results() if output is node), "T")
        number, found = 1, wanted
        while found in taken:
            number, found = number + 1, f"{wanted}.{number + 1}"
        taken.add(found)
        names[node] = found
    return names


def _statement(node: Node, names: Mapping[Node, str]) -> list[str]:
    name = names[node]
    match node:
        case Contraction():
            output = f"{name} = TensorOutput({_listed(node.shape)})"
            body = f"{name}[{_subscripts(node.write)}] {_STATEMENTS[node.aggregation]} {_sources(node, names)}"
            constraints = [f"{name}.add_constraint({_subscript(c.subscript)} < {c.bound})" for c in node.constraints]
            return [output, body, *constraints]
        case Elementwise():
            return [f"{name} = {_elementwise(node, names)}"]
        case Values():
            return [f"{name} = ident({_array(node)})"]
        case Ordinal():
            return [f"{name} = index([{_listed(node.shape)}], {node.axis})"]
        case Reshape():
            return [f"{name} = reshape({_operand(node.operand, names)}, [{_listed(node.shape)}])"]
        case _:
            raise AssertionError(f"no statement for {node}")


def _elementwise(node: Elementwise, names: Mapping[Node, str]) -> str:
    parts = [_operand(operand, names) for operand in node.inputs]
    if node.operator in _INFIX and len(parts) == 2:
        return f" {_INFIX[node.operator]} ".join(parts)
    if node.operator == "negate":
        return f"-{parts[0]}"
    if node.operator == "bit_not":
        return f"~{parts[0]}"
    if node.operator == "cast":
        parts.append(f'"{node.kind}"')
    return f"{_CALLS.get(node.operator, node.operator)}({', '.join(parts)})"


def _sources(node: Contraction, names: Mapping[Node, str]) -> str:
    parts = [_access(source, names) for source in node.sources]
    match node.combination:
        case "condition":
            return f"cond({', '.join(parts)})"
        case combination:
            return (" + " if combination == "add" else " * ").join(parts)


def _access(source: Access, names: Mapping[Node, str]) -> str:
    if isinstance(source.node, Number):
        return _number(source.node.value)
    return f"{names[source.node]}[{_subscripts(source.subscripts)}]"


def _operand(node: Node, names: Mapping[Node, str]) -> str:
    return _number(node.value) if isinstance(node, Number) else names[node]


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    decimal = f"{float(value):.12g}"
    return decimal if Fraction(decimal) == value else repr(float(value))


def _array(node: Values) -> str:
    """Nested lists, of which the innermost runs along the last axis."""
    parts = [_value(value, node.kind) for value in node.values]
    for extent in reversed(node.shape):
        parts = [f"[{', '.join(parts[at : at + extent])}]" for at in range(0, len(parts), extent)]
    return parts[0]


def _value(value: Fraction, kind: Kind) -> str:
    """A number that Python reads as one of its kind."""
    match kind:
        case "boolean":
            return str(bool(value))
        case "integer":
            return str(value)
        case "float":
            return repr(float(value))


def _listed(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))


def _subscripts(subscripts: tuple[Subscript, ...]) -> str:
    return ", ".join(map(_subscript, subscripts)) or "()"


def _subscript(subscript: Subscript) -> str:
    """Quotients as one quotient of the whole: the same values are valid, because each part divides exactly."""
    value = subscript.value
    scale = lcm(value.constant.denominator, *(factor.denominator for _, factor in value.factors))
    if scale == 1:
        return _affine(value)
    scaled = Rational.make(value.constant * scale, {name: factor * scale for name, factor in value.factors})
    return f"({_affine(scaled)}) // {scale}"


def _affine(value: Rational) -> str:
    parts: list[str] = []
    for name, factor in value.factors:
        body = name if abs(factor) == 1 else f"{abs(factor)} * {name}"
        parts.append(f" {'-' if factor < 0 else '+'} {body}" if parts else f"{'-' if factor < 0 else ''}{body}")
    if value.constant or not parts:
        sign = "-" if value.constant < 0 else "+"
        parts.append(f" {sign} {abs(value.constant)}" if parts else str(value.constant))
    return "".join(parts)
