"""Faults for a Verilog text: one operator, constant or condition is changed.

Declarations, start values, ports and comments stay as they are, so that every fault is one of behaviour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

_EXCHANGED = {
    " + ": " - ",
    " - ": " + ",
    " & ": " | ",
    " | ": " & ",
    " ^ ": " | ",
    " == ": " != ",
    " != ": " == ",
    " < ": " >= ",
    " > ": " <= ",
    " >= ": " < ",
    " >>> ": " << ",
    " << ": " >> ",
}
_OPERATOR = re.compile("|".join(map(re.escape, sorted(_EXCHANGED, key=len, reverse=True))))
_INVERTED = re.compile(r"~(?=\w)")
_CONSTANT = re.compile(r"\b(\d+)'([bh])([0-9a-f]+)\b")
_CONDITION = re.compile(r"\bif \((.*)\)")
_CHOICE = re.compile(r"(\S+) \? (\S+) : (\S+?)(?=[;,)])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A changed line of a text: its number from 1, the line before and after, and the whole text."""

    line: int
    before: str
    after: str
    text: str


def _behaviour(lines: list[str]) -> Iterator[int]:
    """Yield the numbers, from 0, of the lines that say what a module does."""
    start_values = False
    for number, line in enumerate(lines):
        words = line.strip()
        start_values = start_values or words.startswith("initial")
        if start_values:
            start_values = words != "end"
        elif words and not words.startswith(("//", "(*", "module", "input", "output", "always", "reg ", "`")):
            yield number


def _changes(line: str) -> Iterator[str]:
    """Yield every version of a line with one thing changed."""
    # In a nonblocking assignment the first "<=" is no comparison; " <= " is never exchanged.
    for found in _OPERATOR.finditer(line):
        yield line[: found.start()] + _EXCHANGED[found.group()] + line[found.end() :]
    for found in _INVERTED.finditer(line):
        yield line[: found.start()] + line[found.end() :]
    for found in _CONSTANT.finditer(line):
        bits, base, digits = found.groups()
        value = int(digits, 2 if base == "b" else 16) ^ 1
        yield f"{line[: found.start()]}{bits}'{base}{value:{'b' if base == 'b' else 'x'}}{line[found.end() :]}"
    for found in _CONDITION.finditer(line):
        yield f"{line[: found.start(1)]}!({found[1]}){line[found.end(1) :]}"
    for found in _CHOICE.finditer(line):
        yield f"{line[: found.start()]}{found[1]} ? {found[3]} : {found[2]}{line[found.end() :]}"


def mutants(text: str, count: int, seed: int) -> list[Mutant]:
    """Return so many faults, drawn evenly from all that the text can have."""
    lines = text.split("\n")
    every = [(number, after) for number in _behaviour(lines) for after in _changes(lines[number])]
    chosen = Random(seed).sample(every, count)
    return [
        Mutant(
            line=number + 1,
            before=lines[number].strip(),
            after=after.strip(),
            text="\n".join([*lines[:number], after, *lines[number + 1 :]]),
        )
        for number, after in chosen
    ]
