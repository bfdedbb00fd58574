"""What stands on the right of ``$name =``: a constant, an attribute, a type, an alias or a calculation."""

from __future__ import annotations

import math
import re

from tabla.base.source import Label, Span, TablaError
from tabla.languages.preprocess.calculator import calculate, parse_integer
from tabla.languages.preprocess.scanner import Scanner, written
from tabla.languages.preprocess.scopes import Scopes
from tabla.languages.preprocess.types import read_type
from tabla.languages.preprocess.values import ATTRIBUTES, Kind, Value, integer, require

_CALC = re.compile(r"!\s*calc\b")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F.]*(?:[pP][+-]?\w*)?|(?:\.[0-9]|[0-9])[\w.]*(?:(?<=[eE])[+-]\w*)?)")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:inf|nan)(?!\w)")
_BOOLEAN = re.compile(r"(?:true|false)(?!\w)")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_QUOTE = re.compile(r'"')
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSIGN, _COMMA = re.compile(r"="), re.compile(r",")
_LBRACKET, _RBRACKET = re.compile(r"\["), re.compile(r"\]")
_LBRACE, _RBRACE = re.compile(r"\{"), re.compile(r"\}")
_EXPECTED = "an attribute: a boolean, an integer, a string, an array or a dictionary"
_KEYED = "a dictionary is written {k = v, m = w}"
_DEEP = 100


def read_value(scanner: Scanner, scopes: Scopes) -> Value:
    """Read one right-hand side. A fault is a `TablaError` at the place that does not fit."""
    if (keyword := scanner.take(_CALC)) is not None:
        return calculate(scanner, scopes, keyword)
    if (use := scanner.name()) is not None:
        return scopes.find(use).value
    if (value := _constant(scanner) or _attribute(scanner, scopes)) is not None:
        return value
    scanner.skip()
    if (found := read_type(scanner, scopes)) is not None:
        return Value(kind=Kind.TYPE, text=found, shown=found)
    raise scanner.unexpected("a value", 'true, 3, 2.5, "text", [1, 2], {k = 1}, a type, $other or !calc(...)')


def _constant(scanner: Scanner) -> Value | None:
    if (span := scanner.take(_BOOLEAN)) is not None:
        return Value(kind=Kind.BOOL, text=written(span), shown=written(span))
    if (span := scanner.take(_NOT_FINITE)) is not None:
        text = written(span).removeprefix("+")
        return Value(kind=Kind.FLOAT, text=text, shown=repr(float(text)))
    if (span := scanner.take(_NUMBER)) is None:
        return None
    text = written(span)
    if (number := parse_integer(text)) is not None:
        return integer(number, span)
    if _DECIMAL.fullmatch(text):
        # The text itself, not its float64: a front end may read more digits of it.
        plain = text.removeprefix("+")
        value = Value(kind=Kind.FLOAT, text=plain, shown=repr(float(text)))
    elif _HEXADECIMAL.fullmatch(text):
        shown = _hexadecimal(text, span)
        value = Value(kind=Kind.FLOAT, text=shown, shown=shown)
    else:
        raise TablaError(f"'{text}' is not a number", Label(span), hint="write it as 3, -4, 2.5, 1e-3 or 0x1.8p3")
    if math.isinf(float(value.shown)):
        raise TablaError(f"the float '{text}' is too large", Label(span), hint="write inf for infinity")
    return value


def _hexadecimal(text: str, span: Span) -> str:
    try:
        return repr(float.fromhex(text))
    except OverflowError:
        raise TablaError(f"the float '{text}' is too large", Label(span), hint="write inf for infinity") from None


def _attribute(scanner: Scanner, scopes: Scopes, depth: int = 0) -> Value | None:
    """A string, an array or a dictionary."""
    if (span := scanner.take(_STRING)) is not None:
        return Value(kind=Kind.STRING, text=written(span), shown=written(span))
    if (span := scanner.take(_QUOTE)) is not None:
        hint = 'close it with " on the same line'
        raise TablaError("this string is never closed", Label(span, "opened here"), hint=hint)
    if (opened := scanner.take(_LBRACKET) or scanner.take(_LBRACE)) is None:
        return None
    if depth > _DEEP:
        hint = "give a part of it a name"
        raise TablaError(f"attributes are nested more than {_DEEP} deep", Label(opened), hint=hint)
    return (_array if written(opened) == "[" else _dictionary)(scanner, scopes, opened, depth)


def _array(scanner: Scanner, scopes: Scopes, opened: Span, depth: int) -> Value:
    elements: list[str] = []
    if scanner.take(_RBRACKET) is None:
        while True:
            elements.append(_element(scanner, scopes, depth).text)
            if scanner.take(_COMMA) is None:
                break
        scanner.expect(_RBRACKET, "',' or ']'", "close the array with ']'", Label(opened, "opened here"))
    text = f"[{', '.join(elements)}]"
    return Value(kind=Kind.ARRAY, text=text, shown=text)


def _dictionary(scanner: Scanner, scopes: Scopes, opened: Span, depth: int) -> Value:
    entries: dict[str, str] = {}
    places: dict[str, Span] = {}
    if scanner.take(_RBRACE) is None:
        while True:
            if (key := scanner.take(_WORD) or scanner.take(_STRING)) is None:
                raise scanner.unexpected("a key", _KEYED, Label(opened, "opened here"))
            name = written(key)
            if name in entries:
                again, first = Label(key, "again here"), Label(places[name], "first here")
                raise TablaError(f"the key '{name}' stands twice", again, first, hint="leave one of them out")
            scanner.expect(_ASSIGN, "'='", _KEYED)
            entries[name], places[name] = _element(scanner, scopes, depth).text, key
            if scanner.take(_COMMA) is None:
                break
        scanner.expect(_RBRACE, "',' or '}'", "close the dictionary with '}'", Label(opened, "opened here"))
    text = f"{{{', '.join(f'{key} = {value}' for key, value in entries.items())}}}"
    return Value(kind=Kind.DICTIONARY, text=text, shown=text)


def _element(scanner: Scanner, scopes: Scopes, depth: int) -> Value:
    if (use := scanner.name()) is not None:
        return require(scopes.find(use), ATTRIBUTES, _EXPECTED, use)
    if (keyword := scanner.take(_CALC)) is not None:
        hint = "give it a name before: $a = !calc(...)"
        raise TablaError("a calculation is a whole right-hand side", Label(keyword), hint=hint)
    start = scanner.position
    value = _constant(scanner) or _attribute(scanner, scopes, depth + 1)
    if value is None or value.kind not in ATTRIBUTES:
        scanner.position = start
        raise scanner.unexpected(_EXPECTED, "numbers with a point and types cannot stand inside an attribute")
    return value
