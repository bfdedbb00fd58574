"""The kinds of values that options take: each reads texts of the command line, checks values of Python, and is written.

A kind says the same words about a wrong value, whether it comes from the command line or from Python. A wrong text or
value is a `TablaTypeError` or a `TablaValueError`.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tabla.base.parameters import (
    SIZE,
    Whole,
    check_function,
    checked_mapping,
    checked_names,
    checked_number,
    checked_path,
    checked_shape,
    checked_text,
    checked_truth,
    checked_whole,
    read_number,
)
from tabla.base.source import TablaTypeError, TablaValueError


class Kind(Protocol):
    """A kind of values.

    `takes` says how often the option may be given on the command line, and how its values are put together: ``one``
    value; a ``switch`` without a value; ``names``, whose lists are joined; ``pairs`` of a name and a value; or
    ``lists`` of such pairs.
    """

    @property
    def takes(self) -> str:
        """One of ``one``, ``switch``, ``names``, ``pairs`` and ``lists``."""

    @property
    def range(self) -> str:
        """The values that there are, for the reference; empty if there is nothing to say."""

    def read(self, text: str) -> Any:
        """Return the value that a text of the command line is, or one of its pairs. A wrong one is a `TablaError`."""

    def checked(self, name: str, value: object) -> Any:
        """Return a value of the parameter `name` as it is used. A wrong one is a `TablaError`."""

    def written(self, value: Any) -> list[str]:
        """Return the texts that give this value on the command line, one for each time that the option is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeNumber:
    """A whole number of at least `low`, and at most `high` if there is one.

    `shown` is the range in words where the machine has a narrower one, which it checks itself.
    """

    low: int
    high: int | None = None
    shown: str = ""
    takes: str = "one"

    @property
    def rule(self) -> Whole:
        """The rule of the range."""
        return Whole(low=self.low, high=self.high)

    @property
    def range(self) -> str:
        """The range in words."""
        return self.shown or (f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}")

    def read(self, text: str) -> int:
        """Read a whole number."""
        return self.rule.read(text)

    def checked(self, name: str, value: object) -> int:
        """Return an int."""
        return checked_whole(name, value, self.rule)

    def written(self, value: int) -> list[str]:
        """Return the digits."""
        return [str(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RealNumber:
    """A finite number, which stays the text that it is written with."""

    takes: str = "one"
    range: str = "a finite number"

    def read(self, text: str) -> str:
        """Return the text, if it is a number."""
        return read_number(text)

    def checked(self, name: str, value: object) -> str:
        """Return a number, or its text, as a program writes it."""
        return checked_number(name, value)

    def written(self, value: str) -> list[str]:
        """Return the text."""
        return [str(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Any text. `example` is the cure of a value that is none; `range` says which texts have a meaning."""

    example: str
    range: str = ""
    takes: str = "one"

    def read(self, text: str) -> str:
        """Return the text."""
        return text

    def checked(self, name: str, value: object) -> str:
        """Return the text."""
        return checked_text(name, value, self.example)

    def written(self, value: str) -> list[str]:
        """Return the text."""
        return [value]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileName:
    """The path of a file or a folder."""

    range: str = ""
    takes: str = "one"

    def read(self, text: str) -> str:
        """Return the text."""
        return text

    def checked(self, name: str, value: object) -> str:
        """Return the path as text."""
        return checked_path(name, value)

    def written(self, value: str) -> list[str]:
        """Return the path."""
        return [str(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the texts `values`. `what` is what errors call it. With `later`, Python checks it where it is used."""

    values: tuple[str, ...]
    what: str
    later: bool = False
    takes: str = "one"

    @property
    def range(self) -> str:
        """The texts."""
        return ", ".join(self.values)

    def read(self, text: str) -> str:
        """Return the text. The parser of the command line refuses others."""
        return text

    def checked(self, name: str, value: object) -> str:
        """Return the text."""
        # The last one is an example that differs from the default.
        text = checked_text(name, value, self.values[-1])
        if text not in self.values and not self.later:
            raise TablaValueError(f"there is no {self.what} '{text}'", hint=f"use {' or '.join(self.values)}")
        return text

    def written(self, value: str) -> list[str]:
        """Return the text."""
        return [value]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberChoice:
    """One of the whole numbers `values`, which ascend. Python refuses here what lies outside of them."""

    values: tuple[int, ...]
    takes: str = "one"

    @property
    def range(self) -> str:
        """The numbers."""
        return ", ".join(map(str, self.values))

    def read(self, text: str) -> int:
        """Read a whole number. The parser of the command line refuses others than `values`."""
        return Whole(low=0).read(text)

    def checked(self, name: str, value: object) -> int:
        """Return an int from the first to the last of `values`."""
        return checked_whole(name, value, Whole(low=self.values[0], high=self.values[-1]))

    def written(self, value: int) -> list[str]:
        """Return the digits."""
        return [str(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """True or False; on the command line the option itself is True."""

    takes: str = "switch"
    range: str = ""

    def read(self, text: str) -> bool:
        """Refuse a text: the option has no value."""
        raise TablaValueError(f"'{text}' is one word too many", hint="give the option without a value")

    def checked(self, name: str, value: object) -> bool:
        """Return a truth value."""
        return checked_truth(name, value)

    def written(self, value: bool) -> list[str]:
        """Return an empty text, or nothing for False."""
        return [""] if value else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Several names. The command line takes ``A,B,C``, and lists that are given one after the other are joined."""

    takes: str = "names"
    range: str = ""

    def read(self, text: str) -> list[str]:
        """Read the names of ``A,B,C``."""
        found = [name.strip() for name in text.split(",")]
        if not all(found):
            raise TablaValueError(f"'{text}' is not a list of names")
        return found

    def checked(self, name: str, value: object) -> tuple[str, ...]:
        """Return the names as a tuple."""
        return checked_names(name, value)

    def written(self, value: tuple[str, ...]) -> list[str]:
        """Return one list."""
        return [",".join(value)] if value else []


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOrMoreNames(Names):
    """One name as a text, or several."""

    example: str

    def checked(self, name: str, value: object) -> tuple[str, ...]:
        """Return the names as a tuple."""
        return checked_listed(name, value, self.example)


def checked_listed(name: str, value: object, example: str) -> tuple[str, ...]:
    """Return one name or several as a tuple. Anything else is a `TablaTypeError`, whose cure is the `example`."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence):
        raise TablaTypeError(f"{name}: {value!r} is no list of names", hint=f"write {example}")
    return tuple(map(str, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Values by name: on the command line pairs of NAME=VALUE, one each time, and in Python a mapping.

    `pair` reads the text of a pair, `value` checks one value of the mapping by its name, and `text` writes one.
    `example` is the cure of what is no mapping.
    """

    pair: Callable[[str], tuple[str, Any]]
    value: Callable[[str, Any], Any]
    text: Callable[[Any], str] = str
    example: str
    range: str = ""
    takes: str = "pairs"

    def read(self, text: str) -> tuple[str, Any]:
        """Read one pair."""
        return self.pair(text)

    def checked(self, name: str, value: object) -> Mapping[str, Any]:
        """Return the mapping with its values as they are used."""
        found = checked_mapping(name, value, self.example)
        return {key: self.value(f"{name}['{key}']", each) for key, each in found.items()}

    def written(self, value: Mapping[str, Any]) -> list[str]:
        """Return a text for each pair."""
        return [f"{name}={self.text(each)}" for name, each in value.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """Any object of Python, which `check` returns as it is used. If it `reads`, a text is one, too."""

    check: Callable[[str, Any], Any]
    reads: bool = False
    takes: str = "one"
    range: str = ""

    def read(self, text: str) -> Any:
        """Return the text, or refuse it."""
        if self.reads:
            return text
        raise TablaValueError(f"'{text}' has no meaning on the command line")

    def checked(self, name: str, value: object) -> Any:
        """Return the value."""
        return self.check(name, value)

    def written(self, value: object) -> list[str]:
        """Return the text, or nothing for what has none."""
        return [str(value)] if self.reads and isinstance(value, str | Path) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class ArraysOrFile:
    """Arrays by name, or the path of their file. `example` is the cure of anything else."""

    example: str
    takes: str = "one"
    range: str = ""

    def read(self, text: str) -> str:
        """Return the path."""
        return text

    def checked(self, name: str, value: object) -> Any:
        """Return the path or the mapping as it is."""
        return value if isinstance(value, str | Path) else checked_mapping(name, value, self.example)

    def written(self, value: object) -> list[str]:
        """Return the path. Arrays have no text."""
        return [str(value)] if isinstance(value, str | Path) else []


def checked_function(name: str, value: Any) -> Any:
    """Return a function that takes lines of text, or None."""
    check_function(name, value)
    return value


def _definition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"\w+'?", name, re.ASCII) or not value:
        raise TablaValueError(f"'{text}' is not NAME=VALUE")
    return name, value


def _size(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise TablaValueError(f"'{text}' is not NAME=NUMBER")
    return name, SIZE.read(value)


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    # The name may be any that ONNX has, such as input.1. `NAME=` is the shape of a single value.
    name, equals, value = text.rpartition("=")
    if not equals or not name or "=" in name:
        raise TablaValueError(f"'{text}' is not NAME=SIZE,SIZE,...")
    return name, tuple(SIZE.read(each) for each in value.split(",")) if value else ()


def _argument(text: str) -> tuple[str, object]:
    # The value is a Python literal, such as 2, (3, 3), True or 'same'. Any other text is a string.
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise TablaValueError(f"'{text}' is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _columns(text: str) -> tuple[str, list[str]]:
    # A column whose name has a comma is written in double quotes.
    name, equals, value = text.partition("=")
    found = [column.strip() for column in next(csv.reader([value], skipinitialspace=True), [])]
    if not equals or not name or not found or not all(found):
        raise TablaValueError(f"'{text}' is not NAME=COLUMN,COLUMN,...")
    return name, found


def _columns_text(columns: Sequence[str]) -> str:
    return ",".join(f'"{column}"' if "," in column else column for column in columns)


def _one_or_more(name: str, value: Any) -> tuple[str, ...]:
    return checked_listed(name, value, "['sepal', 'petal']")


DEFINITIONS = Pairs(
    pair=_definition,
    # The text of a definition is whatever stands for $name, and need not be a number.
    value=lambda name, value: value if isinstance(value, str) else checked_number(name, value),
    example="{'m': 10}",
)
"""The values of constants and variables: texts or numbers."""
SIZES = Pairs(pair=_size, value=lambda name, value: checked_whole(name, value, SIZE), example="{'N': 64}")
"""Sizes by name, each 1 or more."""
SHAPES = Pairs(pair=_shape, value=checked_shape, text=lambda shape: ",".join(map(str, shape)), example="{'I': (8, 3)}")
"""Shapes by the names of tensors. A single number is the shape of a vector."""
ARGUMENTS = Pairs(pair=_argument, value=lambda name, value: value, example="{'s': 2}")
"""Values of any kind by the names of parameters."""
COLUMNS = Pairs(
    takes="lists",
    pair=_columns,
    value=_one_or_more,
    text=_columns_text,
    example="{'x': ['sepal', 'petal'], 'y': 'species'}",
)
"""The columns of a table by the names of inputs and labels."""
