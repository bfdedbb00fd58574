"""Frozen records as a text, and back. Nothing of the text is run, unlike a pickle.

The text is JSON. It is a list of nodes, each of which names its parts by their places before it, so parts that are the
same object are the same object again after reading. Reading makes dataclasses of this package and plain values, and
nothing else: a text can name a class, but not one from elsewhere and not a function.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

_PACKAGE = __package__.partition(".")[0] + "."


class NotPlain(TypeError):
    """A value has a part that is neither a plain value nor a dataclass of this package."""


def text_of(value: object) -> str:
    """Return a value as a text, which is the same for equal values that share their parts in the same way.

    A value is None, a bool, an int, a float, a str, a Fraction, a numpy array of numbers, a tuple, list, dict, set or
    frozenset of values, or a dataclass of this package whose fields are values. Raises `NotPlain` for any other part.
    """
    writer = _Writer()
    writer.place_of(value)
    return json.dumps({"classes": list(writer.classes), "nodes": writer.nodes}, separators=(",", ":"))


def value_of(text: str) -> Any:
    """Return the value whose text this is. Raises ValueError if it is the text of no value."""
    try:
        read = json.loads(text)
        classes = [_class(*each) for each in read["classes"]]
        made: list[Any] = []
        for node in read["nodes"]:
            made.append(_made(node, made, classes))
        return made[-1]
    # NumPy reads the name of a kind of number as Python does, so that one can be a fault of syntax.
    except (ArithmeticError, AttributeError, ImportError, LookupError, TypeError, RecursionError, SyntaxError) as fault:
        raise ValueError(f"no text of a record: {fault}") from fault


class _Writer:
    """The nodes of one text, from the parts to the whole."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.classes: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self._plain: dict[tuple[type, Any], int] = {}
        # The objects stay alive with their places, so no other object can get the same identity.
        self._places: dict[int, tuple[object, int]] = {}

    def place_of(self, value: object) -> int:
        """Return the number of the node of a value, which is written if it is new."""
        if type(value) in (type(None), bool, int, str):
            key = (type(value), value)
            if key not in self._plain:
                self._plain[key] = self._add(value)
            return self._plain[key]
        if id(value) not in self._places:
            self._places[id(value)] = value, self._add(self._node(value))
        return self._places[id(value)][1]

    def _add(self, node: Any) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _node(self, value: Any) -> list[Any]:
        match value:
            case float() if type(value) is float:
                return ["float", value.hex()]
            case Fraction():
                return ["fraction", str(value)]
            case np.ndarray() if value.dtype.kind in "biuf":
                content = base64.b64encode(value.tobytes()).decode("ascii")
                return ["array", value.dtype.str, list(value.shape), bool(value.flags.writeable), content]
            case tuple() | list() if type(value) in (tuple, list):
                return [type(value).__name__, *map(self.place_of, value)]
            case set() | frozenset() if type(value) in (set, frozenset):
                # The order of a set changes with the seed of hashes; that of its sorted texts does not.
                return [type(value).__name__, *map(self.place_of, sorted(value, key=text_of))]
            case dict() if type(value) is dict:
                return ["dict", *(self.place_of(part) for item in value.items() for part in item)]
            case _ if dataclasses.is_dataclass(value) and type(value).__module__.startswith(_PACKAGE):
                return self._record(value)
            case _:
                raise NotPlain(f"{type(value).__module__}.{type(value).__qualname__} has no text")

    def _record(self, value: Any) -> list[Any]:
        names = tuple(field.name for field in dataclasses.fields(value))
        kind = (type(value).__module__, type(value).__qualname__, names)
        number = self.classes.setdefault(kind, len(self.classes))
        return ["record", number, *(self.place_of(getattr(value, name)) for name in names)]


def _class(module: str, name: str, fields: list[str]) -> tuple[type, list[str]]:
    """Return a dataclass of this package by its name. Raises a LookupError for any other, or for other fields."""
    if not module.startswith(_PACKAGE):
        raise LookupError(f"{module} is no module of this package")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = vars(found)[part]
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise LookupError(f"{module}.{name} is no dataclass")
    if [field.name for field in dataclasses.fields(found)] != fields:
        raise LookupError(f"{module}.{name} has other fields")
    return found, fields


_COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


def _made(node: Any, made: list[Any], classes: list[tuple[type, list[str]]]) -> Any:
    """Return the value of a node whose parts are made already."""
    match node:
        case ["float", text]:
            return float.fromhex(text)
        case ["fraction", text]:
            return Fraction(text)
        case ["array", dtype, shape, writeable, content]:
            array = np.frombuffer(base64.b64decode(content), dtype=dtype).reshape(shape).copy()
            array.flags.writeable = writeable
            return array
        case ["dict", *parts]:
            return {made[key]: made[part] for key, part in zip(parts[::2], parts[1::2], strict=True)}
        case ["record", number, *parts]:
            kind, names = classes[number]
            # As a pickle does: the fields were checked when the record was made first.
            record = object.__new__(kind)
            for name, part in zip(names, parts, strict=True):
                object.__setattr__(record, name, made[part])
            return record
        case [kind, *parts]:
            return _COLLECTIONS[kind]([made[part] for part in parts])
        case _:
            return node
