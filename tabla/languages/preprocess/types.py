"""Types: a name, which ``<...>`` may follow. In shaped types it holds an element type and sizes. Types of Tensor
Comprehensions have their sizes in parentheses, ``float(8, N)``.
"""

from __future__ import annotations

import re

from tabla.base.source import Label, Span, TablaError
from tabla.languages.preprocess.scanner import Scanner, written
from tabla.languages.preprocess.scopes import Scopes
from tabla.languages.preprocess.values import Definition, Kind, WrongKind, require

SHAPED = frozenset({"memref", "group", "coopmatrix"})

_NAME = re.compile(r"[A-Za-z_]\w*")
# In f32x64 the sizes are glued to the element type; the trailing x belongs to the type in `index`.
_ELEMENT = re.compile(r"[A-Za-z_]\w*?(?=(?:x\d+)*(?:x(?=\s*[\d?$]))?(?!\w))")
_BY = re.compile(r"x(?!\w)|x(?=\d)")
_SIZE = re.compile(r"[+-]?\d+|\?")
_LESS, _GREATER, _COMMA = re.compile(r"<"), re.compile(r">"), re.compile(r",")
_LPAREN, _RPAREN = re.compile(r"\("), re.compile(r"\)")
_DIMENSION = re.compile(r"\d+|[A-Za-z_]\w*")
_PLAIN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.?]+|[^\s<>$;{}]')
_CALC = re.compile(r"!\s*calc\b")
_WRITTEN = "a shaped type is written memref<f32 x 64 x ?>"
_DEEP = 100


def read_type(scanner: Scanner, scopes: Scopes, *, depth: int = 0, element: bool = False) -> str | None:
    """Return the type that stands here, without spaces and with every ``$`` resolved, or None where there is none.

    `element` reads the element type of a shaped type, to whose name sizes may be glued.
    """
    name = scanner.take(_ELEMENT if element else _NAME)
    if name is None:
        return None
    if not element and not depth and (opened := scanner.take(_LPAREN)) is not None:
        return f"{written(name)}({_dimensions(scanner, scopes, opened)})"
    opened = scanner.take(_LESS)
    if opened is None:
        return written(name)
    if depth > _DEEP:
        raise TablaError(f"types are nested more than {_DEEP} deep", Label(opened), hint="give a part of it a name")
    inside = _shape(scanner, scopes, depth) if written(name) in SHAPED else ""
    inside += _anything(scanner, scopes, opened)
    return f"{written(name)}<{inside}>"


def _shape(scanner: Scanner, scopes: Scopes, depth: int) -> str:
    """``E x n x ?``, up to a comma or the end."""
    if (use := scanner.name()) is not None:
        parts = [require(scopes.find(use), (Kind.TYPE,), "a type", use).text]
    elif (found := read_type(scanner, scopes, depth=depth + 1, element=True)) is not None:
        parts = [found]
    else:
        _refuse_calculation(scanner)
        raise scanner.unexpected("a type", _WRITTEN)
    while scanner.take(_BY) is not None:
        parts.append(_size(scanner, scopes))
    scanner.skip()
    if not scanner.text.startswith((",", ">"), scanner.position):
        raise scanner.unexpected("'x', ',' or '>'", _WRITTEN)
    return "x".join(parts)


def _size(scanner: Scanner, scopes: Scopes) -> str:
    if (use := scanner.name()) is not None:
        definition = scopes.find(use)
        value = require(definition, (Kind.INT,), "a size, which is an integer", use)
        _refuse_negative(value.number, use, definition)
        return value.text
    if (size := scanner.take(_SIZE)) is None:
        _refuse_calculation(scanner)
        raise scanner.unexpected("a size: an integer or '?'", _WRITTEN)
    text = written(size)
    _refuse_negative(-1 if text.startswith("-") and text.strip("-0") else 0, size)
    return text if text == "?" else text.lstrip("+-").lstrip("0") or "0"


def _dimensions(scanner: Scanner, scopes: Scopes, opened: Span) -> str:
    """``8, N``, up to the parenthesis, which is passed: sizes, and names of sizes."""
    parts: list[str] = []
    while not parts or scanner.take(_COMMA) is not None:
        if (use := scanner.name()) is not None:
            definition = scopes.find(use)
            value = require(definition, (Kind.INT,), "a size, which is an integer", use)
            _refuse_negative(value.number, use, definition)
            parts.append(value.text)
        elif (size := scanner.take(_DIMENSION)) is not None:
            parts.append(written(size))
        else:
            _refuse_calculation(scanner)
            raise scanner.unexpected("a size: an integer or a name", "a type with sizes is written float(8, N)")
    scanner.expect(_RPAREN, "',' or ')'", "close the type with ')'", Label(opened, "opened here"))
    return ",".join(parts)


def _refuse_negative(number: int, span: Span, definition: Definition | None = None) -> None:
    if number < 0:
        also = () if definition is None else (Label(definition.span, "defined here"),)
        fault = TablaError if definition is None else WrongKind
        raise fault("a size is negative", Label(span), *also, hint="a size is 0 or more, or '?'")


def _refuse_calculation(scanner: Scanner) -> None:
    if (keyword := scanner.take(_CALC)) is not None:
        hint = "give it a name before: $n = !calc(...)"
        raise TablaError("a calculation is a whole right-hand side", Label(keyword), hint=hint)


def _anything(scanner: Scanner, scopes: Scopes, opened: Span) -> str:
    """Whatever stands up to the '>' that closes `opened`, which is passed."""
    parts: list[str] = []
    level = 0
    while True:
        _refuse_calculation(scanner)
        if (use := scanner.name()) is not None:
            parts.append(scopes.find(use).value.text)
        elif scanner.take(_LESS) is not None:
            level += 1
            parts.append("<")
        elif scanner.take(_GREATER) is not None:
            if not level:
                return "".join(parts)
            level -= 1
            parts.append(">")
        elif (word := scanner.take(_PLAIN)) is not None:
            parts.append(written(word))
        else:
            raise scanner.unexpected("'>'", "close the type with '>'", Label(opened, "opened here"))
