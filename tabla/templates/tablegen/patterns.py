"""Patterns of ``!match`` and ``!instances``: extended regular expressions of POSIX, as Python's.

Both kinds of expressions agree but for escapes, named classes of characters and what Python alone has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from tabla.base.source import TablaError

# The classes of POSIX for ASCII (IEEE Std 1003.1, section 9.3.5).
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_BRACKETS = re.compile(r"\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]")
_CLASS = re.compile(r"\[:([a-z]+):\]")
_REPEATED_TWICE = re.compile(r"[*+?}][*+?{]")


def matches(pattern: str, texts: Iterable[str], fault: Callable[[str], TablaError]) -> list[bool]:
    """Return for each text whether the pattern occurs in the text. `fault` makes the error of a wrong pattern."""
    try:
        search = _compiled(pattern).search
    except (re.error, ValueError, OverflowError) as error:
        raise fault(f"invalid regular expression '{pattern}': {error}") from None
    return [search(text) is not None for text in texts]


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Raises `re.error` or ValueError if the pattern makes no sense."""
    if not pattern:
        raise ValueError("it is empty")
    pieces: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        brackets = _BRACKETS.match(pattern, position) if character == "[" else None
        if brackets is not None:
            pieces.append(_set_of_characters(brackets.group()))
            position = brackets.end()
        elif character == "\\":
            if position + 1 == len(pattern):
                raise ValueError("a backslash at the end")
            following = pattern[position + 1]
            # A digit means the text of a group; every other character stands for itself.
            pieces.append(f"(?:\\{following})" if following in "123456789" else re.escape(following))
            position += 2
        else:
            if pattern.startswith("(?", position) or _REPEATED_TWICE.match(pattern, position):
                raise ValueError(f"nothing stands before the repetition in '{pattern[position : position + 2]}'")
            # POSIX: the end is the end of the text, and a dot is any character.
            pieces.append({"$": r"\Z", "^": r"\A"}.get(character, character))
            position += 1
    return re.compile("".join(pieces), re.DOTALL)


def _set_of_characters(brackets: str) -> str:
    """Python's form of ``[...]``, in which POSIX knows no escapes."""
    start = 2 if brackets.startswith("[^") else 1
    inside: list[str] = []
    position = start
    while position < len(brackets) - 1:
        named = _CLASS.match(brackets, position)
        if named is not None:
            if named.group(1) not in _CLASSES:
                raise ValueError(f"there is no class of characters '{named.group(1)}'")
            inside.append(_CLASSES[named.group(1)])
            position = named.end()
            continue
        character = brackets[position]
        inside.append(character if character == "-" else re.escape(character))
        position += 1
    return f"{brackets[:start]}{''.join(inside)}]"
