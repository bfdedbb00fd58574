"""The values that variables of a C++ function hold, and how a value becomes one of a declared type."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tabla.base.lexemes import shortened
from tabla.languages.tile.builder import Contraction
from tabla.languages.tile.contractions import Combined, Indexed
from tabla.languages.tile.dimensions import MOST_NAMES, TensorDim
from tabla.languages.tile.elementwise import node_of
from tabla.languages.tile.indices import IndexConstraint, IndexExpression, TensorIndex
from tabla.languages.tile.places import Nameable, refuse
from tabla.languages.tile.tensors import Tensor
from tabla.languages.tile_cpp.syntax import Type
from tabla.languages.tile_cpp.types import BITS, TYPES


class Vector(list[Any]):
    """A ``std::vector``: its elements, and the type of each, None where the elements say it."""

    def __init__(self, items: Iterable[Any] = (), type: Type | None = None) -> None:
        super().__init__(items)
        self.type = type


class Listed(list[Any]):
    """The values in braces, ``{a, b}``, which become a vector where they are given to one."""


def is_number(value: object) -> bool:
    """Return whether a value is a number of C++: whole, real, or a truth value."""
    return isinstance(value, bool | int | float)


def described(value: object) -> str:
    """Return what a value is, for messages."""
    match value:
        case None:
            return "a variable without a value"
        case Tensor():
            return "a tensor"
        case Indexed():
            return "an element of a tensor"
        case Combined():
            return "elements of tensors"
        case TensorDim():
            return "a size"
        case IndexExpression():
            return "an index variable"
        case IndexConstraint():
            return "a constraint"
        case bool():
            return "a truth value"
        case int():
            return "a whole number"
        case float():
            return "a real number"
        case str():
            return "a text"
        case list():
            return "a vector"
        case Contraction():
            return "a contraction that is being built"
        case _:
            return "a value of another kind"


def shown(type: Type) -> str:
    """Return a type as C++ writes it."""
    name = f"std::{type.name}" if type.name == "string" else type.name
    return "std::vector<" * type.vectors + name + ">" * type.vectors


def begun(type: Type) -> Any:
    """Return the value of a variable that is declared without one; None if it has none yet."""
    if type.vectors:
        return Vector(type=_element(type))
    match TYPES[type.name]:
        case "TensorDim":
            return TensorDim()
        case "TensorIndex":
            return TensorIndex()
        case "auto":
            refuse("'auto' needs a value", "write auto O = TensorOutput(N), or name the type", type.span)
        case "nothing":
            refuse("a variable of type 'void'", "name the type: Tensor, TensorDim, int, float", type.span)
        case _:
            return None


def constructed(type: Type, arguments: list[Any], *, braces: bool) -> Any:
    """Return ``type(arguments)``, or ``type{arguments}``."""
    if type.vectors:
        return _vector(type, arguments, braces=braces)
    match TYPES[type.name], arguments:
        case "TensorIndex", [str(name)]:
            return TensorIndex(name)
        case "TensorDim", [str(name)]:
            return TensorDim(name)
        case _, []:
            return begun(type)
        case _, [value]:
            return float(_cut(value)) if TYPES[type.name] == "real" else converted(value, type, cast=True)
        case _:
            refuse(f"'{shown(type)}' is made of one value, not of {len(arguments)}", "leave the others out")


def _vector(type: Type, arguments: list[Any], *, braces: bool) -> Vector:
    if braces:
        return converted(Listed(arguments), type)  # type: ignore[no-any-return]
    match arguments:
        case [list() as items]:
            return converted(items, type)  # type: ignore[no-any-return]
        case [int() | TensorDim() as count]:
            return Vector([begun(_element(type)) for _ in range(_count(count))], _element(type))
        case [int() | TensorDim() as count, value]:
            return Vector([converted(value, _element(type)) for _ in range(_count(count))], _element(type))
        case _:
            hint = f"write {shown(type)} X(2), or X{{A, B}}"
            refuse("a vector is made of its length, or of its elements in braces", hint)


def _count(count: int | TensorDim) -> int:
    length = int(count)
    if not 0 <= length <= MOST_NAMES:
        refuse(f"a vector of {length} elements", f"a vector has 0 to {MOST_NAMES} elements")
    return length


def _element(type: Type) -> Type:
    return Type(name=type.name, vectors=type.vectors - 1, span=type.span)


def converted(value: Any, type: Type, *, cast: bool = False) -> Any:
    """Return a value as one of a declared type. A `cast` also makes whole numbers of real ones, toward zero."""
    if value is None:
        refuse("a variable without a value", "give it one first")
    if type.vectors:
        if not isinstance(value, list):
            _mismatch(value, type)
        if type.reference and isinstance(value, Vector):
            return value
        return Vector([converted(item, _element(type)) for item in value], _element(type))
    match TYPES[type.name]:
        case "auto" if isinstance(value, Listed):
            refuse("'auto' of values in braces", "name the type: std::vector<TensorDim> X = {M, N}")
        case "auto":
            return value if type.reference else _copied(value)
        case "Tensor":
            return _tensor(value, type)
        case "TensorDim" if isinstance(value, TensorDim):
            return value
        case "TensorDim" if isinstance(value, int) and not isinstance(value, bool):
            return TensorDim(value)
        case "TensorIndex" if isinstance(value, IndexExpression):
            return value
        case "whole":
            return _whole(value, type, cast=cast)
        case "real" if is_number(value) or isinstance(value, TensorDim):
            return float(value if is_number(value) else value.size)
        case "truth" if is_number(value):
            return bool(value)
        case "text" if isinstance(value, str):
            return value
        case "nothing":
            refuse("a value of type 'void'", "name the type of what the function returns: Tensor", type.span)
        case _:
            _mismatch(value, type)


def _copied(value: Any) -> Any:
    """Return a vector with elements of its own; any other value as it is."""
    return Vector(map(_copied, value), value.type) if isinstance(value, Vector) else value


def _mismatch(value: Any, type: Type) -> Any:
    refuse(f"{described(value)} where the type is '{shown(type)}'", "write auto for the type of the value")


def _tensor(value: Any, type: Type) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Contraction):
        return value.build()
    if is_number(value) or isinstance(value, TensorDim):
        return Tensor(node_of(value))
    if isinstance(value, Indexed | Combined):
        refuse("an element is not a tensor", "elements stand in statements: O(i) += I(i, j)")
    return _mismatch(value, type)  # type: ignore[no-any-return]


def _whole(value: Any, type: Type, *, cast: bool) -> int:
    if isinstance(value, TensorDim):
        value = value.size
    if not is_number(value):
        _mismatch(value, type)
    if isinstance(value, float) and not cast and value != int(value):
        hint = f"write static_cast<{type.name}>(...) to cut what follows the point off"
        refuse(f"{value} in a variable of type '{type.name}', which holds whole numbers", hint)
    low, high = BITS[type.name]
    whole = int(_cut(value))
    if not low <= whole < high:
        hint = "it has no sign: use int" if low == 0 and whole < 0 else "use int64_t"
        if not -(1 << 63) <= whole < 1 << 64:
            hint = "whole numbers have 64 bits: keep it in a double"
        refuse(f"{shortened(str(whole))} does not fit in '{type.name}'", hint)
    return whole


def _cut(value: Any) -> Any:
    """Return a number that is finite."""
    if isinstance(value, TensorDim):
        return value.size
    if not is_number(value) or not math.isfinite(value):
        refuse(f"{described(value)} is not a finite number", "convert tensors as a whole: cast(I, DType::FLOAT32)")
    return value


def learn_name(value: object, name: str) -> None:
    """Let a value know what the function calls it. The elements of a vector are numbered."""
    match value:
        case Vector():
            for number, item in enumerate(value):
                learn_name(item, f"{name}{number}")
        case _ if hasattr(type(value), "learn_name"):
            named: Nameable = value  # type: ignore[assignment]
            named.learn_name(name)
        case _:
            pass
