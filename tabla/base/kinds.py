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
from typing import Any, ClassVar

from tabla.base.parameters import (
    SIZE,
    Whole,
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


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of values; this one takes every text as it is.

    `takes` says how often the option may be given on the command line, and how its values are put together: ``one``
    value; a ``switch`` without a value; ``names``, whose lists are joined; ``pairs`` of a name and a value; or
    ``lists`` of such pairs.
    """

    takes: str = "one"

    @property
    def range(self) -> str:
        """The values that there are, for the reference; empty if there is nothing to say."""
        return ""

    def read(self, text: str) -> Any:
        """Return the value that a text of the command line is, or one of its pairs. A wrong one is a `TablaError`."""
        return text

    def checked(self, name: str, value: object) -> Any:
        """Return a value of the parameter `name` as it is used. A wrong one is a `TablaError`."""
        return value

    def written(self, value: Any) -> list[str]:
        """Return the texts that give this value on the command line, one for each time that the option is given.

        What has no text, such as an array, gives none.
        """
        return [str(value)]


@dataclass(frozen=True, kw_only=True)
class WholeNumber(Kind):
    """A whole number of at least `low`, and at most `high` if there is one.

    `shown` is the range in words where the machine has a narrower one, which it checks itself.
    """

    low: int
    high: int | None = None
    shown: str = ""

    @property
    def rule(self) -> Whole:
        """The rule of the range."""
        return Whole(low=self.low, high=self.high)

    @property
    def range(self) -> str:
        return self.shown or (f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}")

    def read(self, text: str) -> int:
        return self.rule.read(text)

    def checked(self, name: str, value: object) -> int:
        return checked_whole(name, value, self.rule)


@dataclass(frozen=True, kw_only=True)
class RealNumber(Kind):
    """A finite number, which stays the text that it is written with."""

    @property
    def range(self) -> str:
        return "a finite number"

    def read(self, text: str) -> str:
        return read_number(text)

    def checked(self, name: str, value: object) -> str:
        return checked_number(name, value)


@dataclass(frozen=True, kw_only=True)
class Text(Kind):
    """Any text. `example` is the cure of a value that is none; `known` says which texts have a meaning."""

    example: str
    known: str = ""

    @property
    def range(self) -> str:
        return self.known

    def checked(self, name: str, value: object) -> str:
        return checked_text(name, value, self.example)


@dataclass(frozen=True, kw_only=True)
class ProgramName(Kind):
    """A name for files and modules: letters, digits, ``_``, ``-`` and ``.``, of which the first is no sign."""

    pattern: ClassVar[re.Pattern[str]] = re.compile(r"\w[\w.-]{0,99}")

    @property
    def range(self) -> str:
        return "letters, digits, '_', '-' and '.'"

    def read(self, text: str) -> str:
        return self.checked("name", text)

    def checked(self, name: str, value: object) -> str:
        if not isinstance(value, str) or self.pattern.fullmatch(value) is None:
            raise TablaValueError(f"{name}: {value!r} names no files", hint=f"a name has {self.range}, as in conv_2d")
        return value


@dataclass(frozen=True, kw_only=True)
class FileName(Kind):
    """The path of a file or a folder, as text."""

    def checked(self, name: str, value: object) -> str:
        return checked_path(name, value)


@dataclass(frozen=True, kw_only=True)
class Choice(Kind):
    """One of the texts `values`. `what` is what errors call it. With `later`, Python checks it where it is used."""

    values: tuple[str, ...]
    what: str
    later: bool = False

    @property
    def range(self) -> str:
        return ", ".join(self.values)

    def checked(self, name: str, value: object) -> str:
        # The last one is an example that differs from the default.
        text = checked_text(name, value, self.values[-1])
        if text not in self.values and not self.later:
            raise TablaValueError(f"there is no {self.what} '{text}'", hint=f"use {' or '.join(self.values)}")
        return text


@dataclass(frozen=True, kw_only=True)
class NumberChoice(Kind):
    """One of the whole numbers `values`, which ascend. Python refuses here what lies outside of them."""

    values: tuple[int, ...]

    @property
    def range(self) -> str:
        return ", ".join(map(str, self.values))

    def read(self, text: str) -> int:
        return Whole(low=0).read(text)

    def checked(self, name: str, value: object) -> int:
        return checked_whole(name, value, Whole(low=self.values[0], high=self.values[-1]))


@dataclass(frozen=True, kw_only=True)
class Switch(Kind):
    """True or False; on the command line the option itself is True."""

    takes: str = "switch"

    def read(self, text: str) -> bool:
        raise TablaValueError(f"'{text}' is one word too many", hint="give the option without a value")

    def checked(self, name: str, value: object) -> bool:
        return checked_truth(name, value)

    def written(self, value: bool) -> list[str]:
        return [""] if value else []


@dataclass(frozen=True, kw_only=True)
class Names(Kind):
    """Several names. The command line takes ``A,B,C``, and lists that are given one after the other are joined.

    With an `example`, Python also takes a single name as a text; the example is the cure of anything else.
    """

    takes: str = "names"
    example: str = ""

    def read(self, text: str) -> list[str]:
        found = [name.strip() for name in text.split(",")]
        if not all(found):
            raise TablaValueError(f"'{text}' is not a list of names", hint="write names with commas between them: A,B")
        return found

    def checked(self, name: str, value: object) -> tuple[str, ...]:
        return one_or_more(name, value, self.example) if self.example else checked_names(name, value)

    def written(self, value: tuple[str, ...]) -> list[str]:
        return [",".join(value)] if value else []


def one_or_more(name: str, value: object, example: str) -> tuple[str, ...]:
    """Return one name or several as a tuple. Anything else is a `TablaTypeError`, whose cure is the `example`."""
    if isinstance(value, str):
        return (value,)
    if value is None:
        return ()
    if not isinstance(value, Sequence):
        raise TablaTypeError(f"{name}: {value!r} is no list of names", hint=f"write {example}")
    return tuple(map(str, value))


@dataclass(frozen=True, kw_only=True)
class Pairs(Kind):
    """Values by name: on the command line pairs of NAME=VALUE, one each time, and in Python a mapping.

    `pair` reads the text of a pair, `value` checks one value of the mapping by its name, and `text` writes one.
    `example` is the cure of what is no mapping.
    """

    takes: str = "pairs"
    pair: Callable[[str], tuple[str, Any]]
    value: Callable[[str, Any], Any]
    text: Callable[[Any], str] = str
    example: str

    def read(self, text: str) -> tuple[str, Any]:
        return self.pair(text)

    def checked(self, name: str, value: object) -> Mapping[str, Any]:
        found = checked_mapping(name, value, self.example)
        return {key: self.value(f"{name}['{key}']", each) for key, each in found.items()}

    def written(self, value: Mapping[str, Any]) -> list[str]:
        return [f"{name}={self.text(each)}" for name, each in value.items()]


@dataclass(frozen=True, kw_only=True)
class Object(Kind):
    """Any object of Python, which `check` returns as it is used. If it `reads`, a text is one, too."""

    check: Callable[[str, Any], Any] = lambda name, value: value
    reads: bool = False

    def read(self, text: str) -> Any:
        if self.reads:
            return text
        raise TablaValueError(f"'{text}' has no meaning on the command line", hint="give it in Python")

    def checked(self, name: str, value: object) -> Any:
        return self.check(name, value)

    def written(self, value: object) -> list[str]:
        return [str(value)] if self.reads and isinstance(value, str | Path) else []


@dataclass(frozen=True, kw_only=True)
class ArraysOrFile(Kind):
    """Arrays by name, or the path of their file. `example` is the cure of anything else."""

    example: str

    def checked(self, name: str, value: object) -> Any:
        return value if isinstance(value, str | Path) else checked_mapping(name, value, self.example)

    def written(self, value: object) -> list[str]:
        return [str(value)] if isinstance(value, str | Path) else []


def _definition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"\w+'?", name, re.ASCII) or not value:
        raise TablaValueError(f"'{text}' is not NAME=VALUE", hint="write a name and its value: m=30")
    return name, value


def _size(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise TablaValueError(f"'{text}' is not NAME=NUMBER", hint="write a name and its size: N=64")
    return name, SIZE.read(value)


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    # The name may be any that ONNX has, such as input.1. `NAME=` is the shape of a single value.
    name, equals, value = text.rpartition("=")
    if not equals or not name or "=" in name:
        raise TablaValueError(f"'{text}' is not NAME=SIZE,SIZE,...", hint="write a name and its sizes: I=2,8,3")
    return name, tuple(SIZE.read(each) for each in value.split(",")) if value else ()


def _argument(text: str) -> tuple[str, object]:
    # The value is a Python literal, such as 2, (3, 3), True or 'same'. Any other text is a string.
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise TablaValueError(f"'{text}' is not NAME=VALUE", hint="write a name and its value: s=2")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _columns(text: str) -> tuple[str, list[str]]:
    # A column whose name has a comma is written in double quotes.
    name, equals, value = text.partition("=")
    found = [column.strip() for column in next(csv.reader([value], skipinitialspace=True), [])]
    if not equals or not name or not found or not all(found):
        raise TablaValueError(
            f"'{text}' is not NAME=COLUMN,COLUMN,...", hint="write a name and its columns: x=age,weight"
        )
    return name, found


def _columns_text(columns: Sequence[str]) -> str:
    return ",".join(f'"{column}"' if "," in column else column for column in columns)


@dataclass(frozen=True, kw_only=True)
class _Categories(Pairs):
    """Categories by column. Python also takes names of columns alone."""

    def checked(self, name: str, value: object) -> Mapping[str, Any]:
        if isinstance(value, str) or (isinstance(value, Sequence) and all(isinstance(each, str) for each in value)):
            value = dict.fromkeys(one_or_more(name, value, self.example), ())
        return super().checked(name, value)

    def written(self, value: Mapping[str, Any]) -> list[str]:
        return [f"{name}={_columns_text(each)}" if each else name for name, each in value.items()]


def _column(text: str) -> tuple[str, list[str]]:
    # A column alone leaves its categories to the data.
    return _columns(text) if "=" in text else (text, [])


def _one_or_more(name: str, value: Any) -> tuple[str, ...]:
    return one_or_more(name, value, "['sepal', 'petal']")


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
CATEGORIES = _Categories(
    takes="lists",
    pair=_column,
    value=_one_or_more,
    example="{'port': ['C', 'Q', 'S']}",
)
"""The categories of columns of a table by the names of the columns."""
