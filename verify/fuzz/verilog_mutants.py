"""Faults for a Verilog text: one operator, constant or condition is changed.

Declarations, start values, ports and comments stay as they are, so that every fault is one of behaviour.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from verify.fuzz.source_mutants import digest

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
    """A changed line of a text: its number from 1, its module, the line before and after, and the whole text.

    `number` counts the same change of equal lines of a module, from 1.
    """

    line: int
    module: str
    before: str
    after: str
    number: int = 1
    sound: Sequence[str] = field(repr=False)
    changed: str = field(repr=False)

    @property
    def key(self) -> str:
        """The name under which the verdict on the fault is kept."""
        return f"{self.module}: {self.before} -> {self.after} ({self.number})"

    @property
    def text(self) -> str:
        """The whole text with the fault."""
        return "\n".join([*self.sound[: self.line - 1], self.changed, *self.sound[self.line :]])


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
    """Return so many faults, drawn evenly from all that the text can have, by their digests."""
    every = list(_every(text))
    return sorted(every, key=lambda mutant: digest(seed, mutant.key))[:count]


def _every(text: str) -> Iterator[Mutant]:
    lines = text.split("\n")
    module, begins, seen = "", 0, Counter[tuple[str, str, str]]()
    for number in _behaviour(lines):
        while begins <= number:
            module = lines[begins].split()[1] if lines[begins].startswith("module ") else module
            begins += 1
        for after in _changes(lines[number]):
            change = module, lines[number].strip(), after.strip()
            seen[change] += 1
            yield Mutant(
                line=number + 1,
                module=module,
                before=change[1],
                after=change[2],
                number=seen[change],
                sound=lines,
                changed=after,
            )
