"""Colour in messages: the words ``error:``, ``warning:``, ``note:`` and ``hint:``, places, and carets.

Six sequences of the terminal are all that is needed, so there is no library for it. Whether there is colour follows the
conventions of https://no-color.org and https://force-color.org.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

_END = "\x1b[0m"
_WORDS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m", "hint": "\x1b[1;32m"}
_PLACE, _CARET = "\x1b[34m", "\x1b[1;31m"
_WORD = re.compile(r"(error|warning|note|hint):")
_ARROW = re.compile(r" --> .*")
_QUOTED = re.compile(r"( *[0-9]* \|)(.*)", re.DOTALL)
_CARETS = re.compile(r"(\s*)(\^+.*)", re.DOTALL)


def has_colour(stream: TextIO) -> bool:
    """Return whether messages to a stream have colour: a terminal, unless NO_COLOR or ``TERM=dumb`` forbids it.

    FORCE_COLOR asks for colour in pipes and files as well. An empty variable counts as one that is not set.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    # The old console of Windows shows the sequences themselves. Its new terminal names itself.
    able = os.environ.get("TERM") != "dumb" if os.name != "nt" else "WT_SESSION" in os.environ
    return able and stream.isatty()


def painted(text: str, stream: TextIO) -> str:
    """Return a message with colour, if the stream that it is for has any."""
    return "\n".join(map(_line, text.split("\n"))) if has_colour(stream) else text


def _line(line: str) -> str:
    if found := _WORD.match(line):
        return f"{_WORDS[found[1]]}{found[0]}{_END}{line[found.end() :]}"
    if _ARROW.fullmatch(line):
        return f"{_PLACE}{line}{_END}"
    if found := _QUOTED.fullmatch(line):
        rest = found[2]
        # Only the line below the quoted one has no number.
        if not found[1].strip(" |") and (carets := _CARETS.fullmatch(rest)):
            rest = f"{carets[1]}{_CARET}{carets[2]}{_END}"
        return f"{_PLACE}{found[1]}{_END}{rest}"
    return line
