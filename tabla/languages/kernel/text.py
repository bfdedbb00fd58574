"""A kernel as text, which the parser of :mod:`tabla.languages.kernel.parser` reads as the same kernel."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.signatures import ATOM, SIGNATURES, UNARY
from tabla.languages.kernel.tree import Apply, Expression, Gather, Kernel, Limit, Number, Position, Read, Reduce, spine


def kernel_text(kernel: Kernel) -> str:
    """Return the declarations, the statements, the updates and the results of a kernel, one on each line."""
    lines = [f"{each.role} {each.name}{_listed(each.shape)}: {each.type};" for each in kernel.tensors.values()]
    for statement in kernel.statements:
        over = f" for {_over(statement.indices, statement.conditions)}" if statement.indices else ""
        lines.append(f"{statement.target}{_listed(statement.write)} = {expression_text(statement.value)}{over};")
    lines += [f"update {each.model} -= {_real(each.rate)[0]} * {each.gradient};" for each in kernel.updates]
    if kernel.results:
        lines.append(f"return {', '.join(kernel.results)};")
    return "".join(f"{line}\n" for line in lines)


def expression_text(expression: Expression) -> str:
    """Return an expression as text, without parentheses that it does not need."""
    return _rendered(expression)[0]


def _rendered(expression: Expression) -> tuple[str, int]:
    """Return an expression as text, and how tightly it holds together."""
    first, chain = spine(expression)
    text, tightness = _leaf(first)
    for call in chain:
        text, tightness = _called(call, text, tightness)
    return text, tightness


def _leaf(expression: Expression) -> tuple[str, int]:
    match expression:
        case Number(value=value, type="real"):
            return _real(value)
        case Number(value=value):
            return str(value), ATOM
        case Position(index=index):
            return index, ATOM
        case Read(tensor=tensor, subscripts=subscripts):
            return f"{tensor}{_listed(subscripts)}", ATOM
        case Gather(tensor=tensor, subscripts=subscripts):
            parts = (str(each) if isinstance(each, Affine) else expression_text(each) for each in subscripts)
            return f"{tensor}[{', '.join(parts)}]", ATOM
        case Limit(end=end, type=kind):
            return f"{end}({kind})", ATOM
        case Reduce(reduction=reduction, indices=indices, body=body, conditions=conditions):
            return f"{reduction}[{_over(indices, conditions)}]({expression_text(body)})", ATOM
        case Apply():
            return f"{expression.function}()", ATOM


def _called(call: Apply, first: str, tightness: int) -> tuple[str, int]:
    """Return the text of a function whose first argument has the text `first`, which holds together so tightly."""
    signature = SIGNATURES[call.function]
    if not signature.sign:
        return f"{call.function}({', '.join([first, *map(expression_text, call.arguments[1:])])})", ATOM
    own = signature.tightness
    left = first if tightness >= own else f"({first})"
    if signature.arity == 1:
        # A minus directly before a number belongs to the number.
        return f"{signature.sign}({first})" if isinstance(call.arguments[0], Number) else f"{signature.sign}{left}", own
    right, other = _rendered(call.arguments[1])
    return f"{left} {signature.sign} {right if other > own else f'({right})'}", own


def _real(value: Fraction) -> tuple[str, int]:
    """Return a real number: a decimal with a point, or ``fraction(1, 3)`` where there is no such decimal."""
    power = value.denominator.bit_length()
    if 10**power % value.denominator:
        return f"fraction({value.numerator}, {value.denominator})", ATOM
    digits = str(abs(value.numerator) * 10**power // value.denominator).rjust(power + 1, "0")
    whole, part = digits[:-power] if power else digits, digits[-power:].rstrip("0") if power else ""
    return f"{'-' if value < 0 else ''}{whole}.{part or '0'}", UNARY if value < 0 else ATOM


def _over(indices: Sequence[Index], conditions: Sequence[Affine]) -> str:
    ranges = ", ".join(f"{index.name} in {index.low}:{index.high}" for index in indices)
    return f"{ranges} where {', '.join(f'{each} >= 0' for each in conditions)}" if conditions else ranges


def _listed(parts: Sequence[int | Affine]) -> str:
    return f"[{', '.join(map(str, parts))}]" if parts else ""
