"""What a compile-time variable can stand for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from tabla.base.source import Label, Span, TablaError

LEAST, GREATEST = -(2**63), 2**63 - 1


class Kind(Enum):
    """The kinds of value; the text is the first word of a line of ``--values``."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STRING = "string"
    ARRAY = "array"
    DICTIONARY = "dictionary"
    TYPE = "type"

    @property
    def phrase(self) -> str:
        """The kind with its article, for messages."""
        return _PHRASES[self]


_PHRASES = {
    Kind.BOOL: "a boolean",
    Kind.INT: "an integer",
    Kind.FLOAT: "a float",
    Kind.STRING: "a string",
    Kind.ARRAY: "an array",
    Kind.DICTIONARY: "a dictionary",
    Kind.TYPE: "a type",
}

ATTRIBUTES = frozenset({Kind.BOOL, Kind.INT, Kind.STRING, Kind.ARRAY, Kind.DICTIONARY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a variable stands for. `text` takes the place of a use, `shown` is what ``--values`` prints, and `number` is
    that of an integer.
    """

    kind: Kind
    text: str
    shown: str
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """``$name = value`` and the place of the name."""

    name: str
    value: Value
    span: Span

    def __str__(self) -> str:
        return f"{self.value.kind.value} ${self.name} = {self.value.shown}"


class WrongKind(TablaError):
    """A compile-time variable of one kind where another is needed."""


def integer(number: int, span: Span) -> Value:
    """Return an integer of 64 bits. A larger number is a fault at `span`."""
    if not LEAST <= number <= GREATEST:
        raise TablaError(
            "the integer is outside 64 bits",
            Label(span),
            hint=f"integers run from {LEAST} to {GREATEST}",
        )
    return Value(kind=Kind.INT, text=str(number), shown=str(number), number=number)


def require(definition: Definition, kinds: Collection[Kind], expected: str, use: Span) -> Value:
    """Return the value of a definition that is used where only `kinds` fit. Another kind is a fault that says
    `expected`.
    """
    value = definition.value
    if value.kind not in kinds:
        raise WrongKind(
            f"expected {expected}, but '${definition.name}' is {value.kind.phrase}",
            Label(use),
            Label(definition.span, "defined here"),
            hint=f"define ${definition.name} as {expected}, or use another name here",
        )
    return value
