"""What values the parameters of Python functions and the options of the command line may have.

Python functions check their parameters with the functions ``checked_...``. The fields of the records of options have
kinds (:mod:`tabla.base.kinds`), which use the same functions, so that the command line and Python say the same words
about a wrong value. A wrong type is a `TablaTypeError` and a value out of range a `TablaValueError`.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from pathlib import Path

import numpy as np

from tabla.base.source import TablaTypeError, TablaValueError

# The numbers of the TABLA language, with a sign.
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number of at least `low`, and at most `high` if there is one."""

    low: int
    high: int | None = None

    def read(self, text: str) -> int:
        """Return the number that a text of the command line is."""
        try:
            number = int(text)
        except ValueError:
            raise TablaValueError(f"'{text}' is not a whole number", hint=self._hint) from None
        return self._inside(number)

    def of(self, value: object) -> int:
        """Return a value of Python as an int. Numbers of numpy are taken, truth values and texts are not."""
        hint = self._hint
        try:
            if isinstance(value, bool):
                raise TypeError
            return self._inside(operator.index(value))  # type: ignore[arg-type]
        except TypeError:
            if isinstance(value, str | float) and re.fullmatch(r"\s*\d+(\.0)?\s*", str(value)):
                hint = f"write {int(float(value))}"
        raise TablaTypeError(f"{_shown(value)} is not a whole number", hint=hint)

    @property
    def _hint(self) -> str:
        return f"use {self.low} or more" if self.high is None else f"use {self.low} to {self.high}"

    def _inside(self, number: int) -> int:
        hint = self._hint
        if number < self.low:
            raise TablaValueError(f"{number} is less than {self.low}", hint=hint)
        if self.high is not None and number > self.high:
            raise TablaValueError(f"{number} is more than {self.high}", hint=hint)
        return number


SIZE = Whole(low=1)
"""The size of a tensor along one axis."""


def checked_whole(name: str, value: object, rule: Whole) -> int:
    """Return the value of the parameter `name`, checked by a rule."""
    try:
        return rule.of(value)
    except (TablaTypeError, TablaValueError) as fault:
        raise type(fault)(f"{name}: {fault.message}", hint=fault.hint) from None


def checked_numbers(name: str, values: object, rule: Whole) -> tuple[int, ...]:
    """Return whole numbers in ascending order, each one once, checked by a rule. There is at least one."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TablaTypeError(f"{name}: {_shown(values)} are not whole numbers", hint=f"write {name}=(8, 16)")
    found = sorted({checked_whole(name, value, rule) for value in values})
    if not found:
        raise TablaValueError(f"{name}: there is none", hint=f"write {name}=(8, 16)")
    return tuple(found)


def optional_whole(name: str, value: object, rule: Whole) -> int | None:
    """Return the value of the parameter `name` as `checked_whole` does, or None for None."""
    return None if value is None else checked_whole(name, value, rule)


def checked_truth(name: str, value: object) -> bool:
    """Return a truth value of Python or numpy. A text such as ``"no"`` would count as True."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TablaTypeError(f"{name}: {_shown(value)} is not a truth value", hint="use True or False")


def check_function(name: str, value: object) -> None:
    """Raise `TablaTypeError` for a parameter that takes lines of text, and is neither a function nor None."""
    if value is not None and not callable(value):
        raise TablaTypeError(f"{name}: this is not a function", hint=f"write {name}=print")


def read_number(text: str) -> str:
    """Return a text of the command line as it is. Raises `TablaValueError` if it is not a finite number."""
    if not _NUMBER.fullmatch(text):
        raise TablaValueError(f"'{text}' is not a number", hint="write a number such as 0.1")
    return text


def checked_number(name: str, value: object) -> str:
    """Return a finite number, or its text, as a program writes it: without an exponent unless it was given as text."""
    hint = f"use a number, such as {name}=0.1"
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise TablaValueError(f"{name}: '{value}' is not a number", hint=hint)
        return value
    if isinstance(value, Decimal | Fraction) and value == value:
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TablaTypeError(f"{name}: {_shown(value)} is not a number", hint=hint)
    number = int(value) if isinstance(value, int) else float(value)
    if isinstance(number, float) and not (float("-inf") < number < float("inf")):
        raise TablaValueError(f"{name}: {number} is not a finite number", hint=hint)
    return f"{Decimal(repr(number)):f}"


def checked_text(name: str, value: object, example: str) -> str:
    """Return a text. Any other value is a `TablaTypeError`, whose cure is the `example`."""
    if not isinstance(value, str):
        raise TablaTypeError(f"{name}: {_shown(value)} is not a text", hint=f"write {name}='{example}'")
    return value


def checked_path(name: str, value: object) -> str:
    """Return the path of a file as text."""
    if not isinstance(value, str | os.PathLike):
        raise TablaTypeError(f"{name}: {_shown(value)} is not the path of a file", hint="give a text or a Path")
    if "\0" in os.fspath(value):
        raise TablaValueError(f"{name}: {value!r} cannot name a file", hint="leave the zero byte out")
    return str(Path(value))


def checked_names(name: str, value: object) -> tuple[str, ...]:
    """Return names as a tuple. A single text is a `TablaTypeError`, because each of its letters would be a name."""
    if isinstance(value, str):
        raise TablaTypeError(f"{name} is '{value}', not names", hint=f"write {name}=('{value}',)")
    if not isinstance(value, Sequence | set | frozenset) or not all(isinstance(each, str) for each in value):
        raise TablaTypeError(f"{name}: {_shown(value)} are not names", hint=f"write {name}=('a', 'b')")
    return tuple(value) if isinstance(value, Sequence) else tuple(sorted(value))


def checked_mapping(name: str, value: object, example: str) -> Mapping[str, object]:
    """Return a mapping whose keys are names. `example` is the cure of anything else."""
    if not isinstance(value, Mapping):
        raise TablaTypeError(f"{name}: {_shown(value)} does not map names to values", hint=f"write {name}={example}")
    for key in value:
        if not isinstance(key, str):
            raise TablaTypeError(f"{name}: {_shown(key)} is not a name", hint=f"write {name}={example}")
    return value


def checked_shape(name: str, value: object) -> tuple[int, ...]:
    """Return a shape, the sizes of a tensor; a single number is the shape of a vector."""
    sizes = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(checked_whole(name, each, SIZE) for each in sizes)


def _shown(value: object) -> str:
    """Return a value as an error message shows it, in at most one line."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a value of type {type(value).__name__}"
