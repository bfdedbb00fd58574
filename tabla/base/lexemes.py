"""What the lexers of the notations share: tokens with their places, rules for names and numbers, stray characters."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Protocol

import ply.lex as ply_lex  # type: ignore[import-untyped]

from tabla.base.faults import Faults
from tabla.base.source import Label, Source, Span, TablaError

MOST_DIGITS = 400
"""Numbers past this many digits hold in no format. Python itself refuses ``int()`` of 4300 digits."""
MOST_TOKENS = 100_000
"""The most words, numbers and signs of a program. A program grows with what it says and not with its sizes, so a longer
one is a slip or a trap."""

MOST_STRAYS = 1000
"""The most runs of characters that begin no token, after which reading ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexeme:
    """The characters of one token and where they stand."""

    text: str
    span: Span


class Token(Protocol):
    """What PLY hands to its rules; after `tokens_of` the value is a `Lexeme`."""

    type: str
    value: Any
    lexpos: int
    lexer: Any


def tokens_of(rules: ModuleType, source: Source, faults: Faults) -> tuple[list[Token], list[int]]:
    """Return all tokens of `source`, in order, by the lexer that the module `rules` describes as PLY wants it.

    What is not a token is noted in `faults` and skipped; the second list says where the skipped characters stood. More
    than `MOST_TOKENS` tokens are a `TablaError`.
    """
    lexer = _lexer(rules).clone()
    lexer.source, lexer.faults, lexer.strays = source, faults, []
    lexer.input(source.text)
    found: list[Token] = []
    while (token := lexer.token()) is not None:
        # The lexer's own position is the end, also where a fault replaced the text.
        span = Span(source=source, start=token.lexpos, end=lexer.lexpos)
        token.value = Lexeme(text=token.value, span=span)
        found.append(token)
        if len(found) > MOST_TOKENS:
            message = f"the program is too long: it has more than {MOST_TOKENS:,} words, numbers and signs"
            raise TablaError(message, Label(span, "here"), hint="let indices run instead of writing every element")
    return found, lexer.strays


def require_docstrings() -> None:
    """Raise `TablaError` where Python has left out the docstrings, in which PLY finds the rules of its grammars."""
    if sys.flags.optimize > 1:
        raise TablaError(
            "python -OO leaves out the docstrings, which hold the grammars", hint="use python -O, or PYTHONOPTIMIZE=1"
        )


@cache
def _lexer(rules: ModuleType) -> Any:
    require_docstrings()
    return ply_lex.lex(module=rules, reflags=int(re.VERBOSE), errorlog=ply_lex.NullLogger())


def span_of(t: Token, length: int | None = None) -> Span:
    """Return the place of a token that is being read, or of so many characters from its first one."""
    return Span(source=t.lexer.source, start=t.lexpos, end=t.lexpos + (len(t.value) if length is None else length))


def check_name(t: Token, letters: str) -> None:
    """Note a fault for a name with letters past ASCII; `letters` says what a name may have."""
    if not t.value.isascii():
        t.lexer.faults.add(f"'{shortened(t.value)}' is not a name", span_of(t), hint=letters)


def is_too_long(number: str) -> bool:
    """Return whether a decimal number has more digits, or an exponent further from 0, than any format holds."""
    _, _, exponent = number.lower().rstrip("f").partition("e")
    # The length is looked at before int() does, which refuses thousands of digits.
    return len(number) > MOST_DIGITS or len(exponent) > 6 or abs(int(exponent or "0")) > MOST_DIGITS


def note_long(t: Token, stands_for: str) -> None:
    """Note a fault for a number with too many digits. Reading goes on as if it were `stands_for`."""
    t.lexer.faults.add(f"the number '{shortened(t.value)}' is too long", span_of(t), hint="no type can hold it")
    t.value = stands_for


def skip_stray(t: Token, strays: re.Pattern[str], cure: Callable[[str], str | None]) -> None:
    """Note and skip characters that begin no token: a run that `strays` matches, else one character.

    `cure` says, for their text, what to write instead.
    """
    lexer = t.lexer
    run = strays.match(lexer.lexdata, lexer.lexpos)
    text = run.group() if run else lexer.lexdata[lexer.lexpos]
    span = Span(source=lexer.source, start=lexer.lexpos, end=lexer.lexpos + len(text))
    if len(lexer.strays) > MOST_STRAYS:
        raise TablaError(f"more than {MOST_STRAYS:,} runs of stray characters", Label(span), hint="is this a program?")
    kind = "character" if len(text) == 1 else "characters"
    lexer.strays.append(span.start)
    lexer.faults.add(f"stray {kind} {_quoted(text)}", span, hint=cure(text))
    lexer.skip(len(text))


def shortened(text: str) -> str:
    """Return `text` as a message shows it: a long one is cut."""
    return text if len(text) <= 24 else f"{text[:20]}..."


def _quoted(text: str) -> str:
    shown = shortened(text)
    mark = '"' if "'" in shown else "'"
    return f"{mark}{shown}{mark}" if shown.isprintable() else " ".join(f"U+{ord(c):04X}" for c in shown)
