"""``!calc(...)``: integers of 64 bits in reverse Polish notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from tabla.base.source import Label, Span, TablaError
from tabla.languages.preprocess.scanner import Scanner, written
from tabla.languages.preprocess.scopes import Scopes
from tabla.languages.preprocess.values import GREATEST, LEAST, Kind, Value, integer, require

_OPEN, _CLOSE = re.compile(r"\("), re.compile(r"\)")
_WORD = re.compile(r"[+-]?[0-9][\w.]*(?:(?<=[eE])[+-]\d+)?|[-+*/%^]|!?[\w.]+|[^\s$)]")
_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)")
_FLOAT = re.compile(
    r"[+-]?(?:[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+\.|0[xX][0-9a-fA-F.]+(?:[pP][+-]?[0-9]+)?|inf|nan)"
)
_SHAPE = "operands come before their operator: !calc($a 1 -) is $a - 1"
_OPERATORS = "the operators are + - * / % ^ min max"


def parse_integer(text: str) -> int | None:
    """Return the number that `text` writes in decimal, hexadecimal (0x) or binary (0b), else None."""
    if not _INTEGER.fullmatch(text):
        return None
    sign, digits = (-1 if text[0] == "-" else 1), text.lstrip("+-").lower()
    if digits.startswith(("0x", "0b")):
        return sign * int(digits[2:], 16 if digits[1] == "x" else 2)
    # Python refuses int() of thousands of digits; past twenty, any number is outside 64 bits anyway.
    digits = digits.lstrip("0") or "0"
    return sign * (int(digits) if len(digits) <= 20 else 2**64)


def _quotient(a: int, b: int) -> int:
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


def _power(a: int, b: int) -> int:
    if abs(a) > 1 and b > 63:
        # Past 63 doublings the sign and the parity do not matter: it is outside 64 bits.
        return GREATEST + 1
    return a**b if b <= 63 else (a if b % 2 else a * a)


_MEANING: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": _remainder,
    "^": _power,
    "min": min,
    "max": max,
}


def calculate(scanner: Scanner, scopes: Scopes, keyword: Span) -> Value:
    """Read ``(...)`` after ``!calc`` and work it out. Whatever is wrong in it is a `TablaError`."""
    opened = scanner.expect(_OPEN, "'('", "a calculation stands in parentheses: !calc($a 1 +)")
    stack: list[tuple[int, Span]] = []
    while (closed := scanner.take(_CLOSE)) is None:
        use = scanner.name()
        if use is not None:
            definition = scopes.find(use)
            stack.append((require(definition, (Kind.INT,), "an integer", use).number, use))
            continue
        word = scanner.take(_WORD)
        if word is None:
            raise scanner.unexpected("')'", "close it with ')'", Label(opened, "opened here"))
        text = written(word)
        if text in _MEANING:
            stack.append((_apply(text, word, stack), word))
        elif (number := parse_integer(text)) is not None:
            stack.append((integer(number, word).number, word))
        else:
            raise _unknown(text, word, scopes.visible())
    if not stack:
        raise TablaError("the calculation is empty", Label(keyword.to(closed)), hint=_SHAPE)
    if len(stack) > 1:
        raise TablaError(
            f"{len(stack)} operands are left over, one should be the result",
            Label(stack[-1][1], "the last of them"),
            hint=f"put an operator after its operands; {_OPERATORS}",
        )
    return integer(stack[0][0], keyword.to(closed))


def _apply(operator: str, span: Span, stack: list[tuple[int, Span]]) -> int:
    if len(stack) < 2:
        count = "one" if stack else "none"
        raise TablaError(f"'{operator}' needs two operands, there is {count}", Label(span), hint=_SHAPE)
    (right, right_span), (left, left_span) = stack.pop(), stack.pop()
    if operator in "/%" and right == 0:
        hint = "divide by something else"
        raise TablaError("division by zero", Label(span), Label(right_span, "this is 0"), hint=hint)
    if operator == "^" and right < 0:
        raise TablaError(
            f"the exponent {right} is negative",
            Label(span),
            Label(right_span, f"this is {right}"),
            hint="an exponent is 0 or more; there are only integers here",
        )
    result = _MEANING[operator](left, right)
    if not LEAST <= result <= GREATEST:
        raise TablaError(
            f"'{operator}' gives a number outside 64 bits",
            Label(span),
            Label(left_span, f"this is {left}"),
            Label(right_span, f"this is {right}"),
            hint=f"integers run from {LEAST} to {GREATEST}",
        )
    return result


def _unknown(text: str, span: Span, visible: Collection[str]) -> TablaError:
    if text.startswith("!"):
        hint = "give the inner one a name: $a = !calc(...)"
        return TablaError("a calculation stands in no other", Label(span), hint=hint)
    if text in ("true", "false"):
        return TablaError(f"expected an integer, not the boolean '{text}'", Label(span), hint="write 1 or 0")
    if _FLOAT.fullmatch(text):
        hint = "there are only integers here"
        return TablaError(f"expected an integer, not the float '{text}'", Label(span), hint=hint)
    named = text.isidentifier() and text.isascii() and not text.startswith("_")
    hint = f"a compile-time variable is written '${text}'" if named else _OPERATORS
    if named and text not in visible:
        hint = f"{hint}; {_OPERATORS}"
    return TablaError(f"unknown word '{text}'", Label(span), hint=hint)
