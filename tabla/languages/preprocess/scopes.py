"""Which compile-time variables are defined where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabla.base.faults import did_you_mean
from tabla.base.source import Label, Span, TablaError
from tabla.languages.preprocess.scanner import written
from tabla.languages.preprocess.values import Definition

MOST_CHARACTERS = 2_000_000
"""The most characters of a text, and of all that stands for the names that it uses."""


class TooLong(TablaError):
    """A text, or what stands for its names, that is longer than `MOST_CHARACTERS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisoned:
    """A name whose definition is at fault. A use of it is no fault, because the definition has been reported."""

    name: str
    span: Span


class AlreadyReported(Exception):
    """A use of a name whose definition is at fault."""


class Scopes:
    """The open regions, the global one first, each with its definitions."""

    def __init__(self, given: Mapping[str, Definition | TablaError]) -> None:
        self._given = dict(given)
        self._open: list[dict[str, Definition | Poisoned]] = [{}]
        self._closed: dict[str, Span] = {}
        self._handed = 0
        # Names of the command line that the text uses or offers a default for.
        self.used: set[str] = set()

    def enter(self) -> None:
        """Open a region in braces: definitions from here on end with it."""
        self._open.append({})

    def leave(self) -> None:
        """Close a region, and forget its names. Closing a region that is not open is left to the notation."""
        if len(self._open) > 1:
            self._closed |= {name: definition.span for name, definition in self._open.pop().items()}

    def define(self, definition: Definition) -> None:
        """Add to the innermost region. A name that is visible already is a fault at both places."""
        if (earlier := self._seen(definition.name)) is not None:
            same = definition.name in self._open[-1]
            raise TablaError(
                f"'${definition.name}' is defined twice" if same else f"'${definition.name}' hides an outer definition",
                Label(definition.span, "again here"),
                Label(earlier.span, "first here"),
                hint="choose another name: it is defined once in a region and the regions inside it",
            )
        if definition.name in self._given:
            self.used.add(definition.name)
            given = self._given[definition.name]
            places = (Label(given.span, "first here"),) if isinstance(given, Definition) else given.labels[:1]
            raise TablaError(
                f"'${definition.name}' is defined on the command line and in the text",
                Label(definition.span, "again here"),
                *places,
                hint=f"write '${definition.name} ?= ...' for a value that the command line may replace",
            )
        self._open[-1][definition.name] = definition

    def poison(self, name: Span) -> None:
        """Note a definition at fault, unless the name has another meaning already."""
        text = written(name)[1:]
        if text not in self._given and self._seen(text) is None:
            self._open[-1][text] = Poisoned(name=text, span=name)

    def offered(self, name: str) -> bool:
        """Return whether the command line has a value in place of a default. If it has, the name counts as used."""
        if name not in self._given or self._seen(name) is not None:
            return False
        self.used.add(name)
        given = self._given[name]
        if isinstance(given, TablaError):
            raise given
        return True

    def find(self, use: Span) -> Definition:
        """Return the definition that a use means. A name without a definition is a fault. If the definition is at
        fault, raise `AlreadyReported`.
        """
        name = written(use)[1:]
        found = self._seen(name)
        if isinstance(found, Poisoned):
            raise AlreadyReported
        if found is not None:
            return self._handed_out(found, use)
        if name in self._given:
            self.used.add(name)
            given = self._given[name]
            if isinstance(given, TablaError):
                raise given
            return self._handed_out(given, use)
        if name in self._closed:
            raise TablaError(
                f"'${name}' is not defined here",
                Label(use),
                Label(self._closed[name], "defined in a region that has closed"),
                hint="define it before that region opens to use it in both places",
            )
        near = did_you_mean(f"${name}", [f"${known}" for known in self.visible()])
        raise TablaError(
            f"'${name}' is used but not defined before",
            Label(use),
            hint=near or f"define it before this place, '${name} = ...', or with -D {name}=...",
        )

    def _handed_out(self, found: Definition, use: Span) -> Definition:
        """Count the characters that stand for uses: values of values double with every line, and soon fill
        any memory.
        """
        self._handed += len(found.value.text)
        if self._handed > MOST_CHARACTERS:
            raise TooLong(
                f"what '$' names stand for has more than {MOST_CHARACTERS:,} characters in all",
                Label(use),
                hint="does a value contain another one again and again?",
            )
        return found

    def visible(self) -> frozenset[str]:
        """Return every name that may be used now."""
        return frozenset(self._given).union(*self._open)

    def _seen(self, name: str) -> Definition | Poisoned | None:
        return next((region[name] for region in self._open if name in region), None)
