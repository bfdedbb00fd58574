"""Python text as it is written: indented lines, names that do not clash, and the values that the text takes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tabla.graph.graph import Affine, Index

Number = TypeVar("Number", bound=float)


class UnsupportedError(Exception):
    """The compiled form cannot compute a graph exactly. The message says why; numpy takes the whole graph then."""


@dataclass(slots=True)
class Names:
    """Identifiers for the names of a program: `of` gives the same name for the same key, and never one name for two."""

    known: dict[tuple[str, str], str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def of(self, kind: str, name: str) -> str:
        """Return the identifier of something of a kind, made of its name."""
        if (kind, name) not in self.known:
            self.known[kind, name] = self.new(name)
        return self.known[kind, name]

    def new(self, wanted: str) -> str:
        """Return an identifier that nothing has yet: the wanted one, if it can be had."""
        plain = re.sub(r"\W", "_", wanted, flags=re.ASCII)
        plain = f"t{plain}" if not plain[:1].isalpha() else plain
        found, more = plain, 2
        while found in self.taken or keyword.iskeyword(found):
            found, more = f"{plain}_{more}", more + 1
        self.taken.add(found)
        return found


@dataclass(slots=True)
class Text(Generic[Number]):
    """The body of a function, line by line, and the values that are its arguments and not part of its text.

    `numbers` are constants and weights, so that formats share a text; `ends` are the ends of indices, so that sizes
    do. Each has a variable, which the head of the function sets.
    """

    names: Names
    depth: int = 1
    lines: list[str] = field(default_factory=list)
    numbers: dict[str, Number] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add a line, and indent what follows."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    @contextmanager
    def loops(self, indices: Sequence[Index]) -> Iterator[None]:
        """Loop over indices, the last one innermost."""
        for index in indices:
            low = f"{index.low}, " if index.low else ""
            self.line(f"for {self.index(index.name)} in range({low}{self.end(index)}):")
            self.depth += 1
        yield
        self.depth -= len(indices)

    @contextmanager
    def where(self, constraints: Sequence[Affine]) -> Iterator[None]:
        """Indent what follows under a condition, if there are constraints."""
        if constraints:
            with self.block(f"if {' and '.join(f'{self.affine(c)} >= 0' for c in constraints)}:"):
                yield
        else:
            yield

    def index(self, name: str) -> str:
        """Return the variable of an index."""
        return self.names.of("index", name)

    def end(self, index: Index) -> str:
        """Return the variable that holds where the range of an index ends."""
        key = f"{index.name} to {index.high}"
        if ("end", key) not in self.names.known:
            self.names.known["end", key] = self.names.new(f"{index.name}_end")
            self.ends[self.names.known["end", key]] = index.high
        return self.names.known["end", key]

    def number(self, value: Number, name: str = "number") -> str:
        """Return a variable that holds a value. Every call gives a variable of its own, so that texts do not depend on
        which values happen to be equal.
        """
        made = self.names.new(name)
        self.numbers[made] = value
        return made

    def affine(self, affine: Affine) -> str:
        """Return an affine form of the indices."""
        parts = ""
        for name, coefficient in affine.coefficients:
            sign = "-" if coefficient < 0 else "+"
            factor = "" if abs(coefficient) == 1 else f"{abs(coefficient)} * "
            parts += f" {sign} {factor}{self.index(name)}"
        if affine.constant or not parts:
            parts += f" {'-' if affine.constant < 0 else '+'} {abs(affine.constant)}"
        return f"-{parts[3:]}" if parts.startswith(" -") else parts[3:]
