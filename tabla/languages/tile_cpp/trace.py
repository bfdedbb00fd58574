"""A function of a C++ file as a program of Tile, for given shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, Source, TablaError
from tabla.languages.tile.places import reading, refuse
from tabla.languages.tile.program import Input, Kind, Node, Program
from tabla.languages.tile.steps import collecting
from tabla.languages.tile.tensors import Tensor
from tabla.languages.tile.trace import distinct, input_of
from tabla.languages.tile_cpp.execute import Execution
from tabla.languages.tile_cpp.parser import read
from tabla.languages.tile_cpp.scopes import Scopes
from tabla.languages.tile_cpp.syntax import Function, Parameter
from tabla.languages.tile_cpp.types import TYPES
from tabla.languages.tile_cpp.values import Listed, described, shown
from tabla.languages.tile_cpp.words import speaking_cpp

_EXAMPLES = {"whole": "2", "real": "1.5", "truth": "1", "TensorDim": "2", "text": "same"}
"""A value for a parameter of each kind that an option can give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The functions of a file by their names, and the variables that they set without having declared them."""

    source: Source
    functions: Mapping[str, Function]
    implied: Mapping[str, tuple[Lexeme, ...]]

    def function(self, name: str | None) -> Function:
        """Return the function `name`, or the only one of the file."""
        known = [each.name.text for each in self.functions.values() if each.body is not None]
        where = self.source.name
        if name is None and len(known) == 1:
            (name,) = known
        hint = f"its functions are {', '.join(known)}" if known else "write one: Tensor layer(const Tensor& I) { ... }"
        if name is None:
            raise TablaError(f"'{where}' has {len(known) or 'no'} functions", hint=f"{hint}; name one: {where}:NAME")
        if name not in known:
            raise TablaError(f"'{where}' has no function '{name}'", hint=did_you_mean(name, known) or hint)
        return self.functions[name]


def load(source: Source) -> File:
    """Return the functions of a text. Everything that is wrong with their grammar and names is a `TablaError`."""
    faults = Faults()
    functions: dict[str, Function] = {}
    for function in read(source, faults):
        name = function.name
        known = functions.get(name.text)
        if known is not None and known.body is not None and function.body is not None:
            also = (Label(known.name.span, "the first one"),)
            hint = "give one of them another name: functions are known by their names alone"
            faults.add(f"there are two functions '{name.text}'", name.span, also=also, hint=hint)
        if known is None or function.body is not None:
            functions[name.text] = function
    implied: dict[str, tuple[Lexeme, ...]] = {}
    for called, function in functions.items():
        if function.body is not None:
            scopes = Scopes(functions, faults)
            scopes.check(function)
            implied[called] = tuple(scopes.implied)
    faults.raise_any()
    return File(source=source, functions=functions, implied=implied)


def trace(
    file: File,
    function: Function,
    shapes: Mapping[str, Sequence[int]],
    arguments: Mapping[str, Any] | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> Program:
    """Return the program of a function, given the `shapes` of its tensors by parameter and `arguments` for its other
    parameters.

    `kinds` says which tensors hold integers or booleans; the others hold floats. Raises `TablaError` for everything
    that the function does wrong, at its place.
    """
    arguments, kinds = arguments or {}, kinds or {}
    names = [parameter.name.text for parameter in function.parameters]
    for name in {**shapes, **arguments}:
        if name not in names:
            hint = did_you_mean(name, names) or f"there are {', '.join(names)}"
            refuse(f"'{function.name.text}' has no parameter '{name}'", hint, function.span)
    passed: dict[str, Any] = {}
    inputs: list[Input] = []
    for parameter in function.parameters:
        given = _given(function, parameter, shapes, arguments, kinds)
        if isinstance(given, Input):
            inputs.append(given)
            given = Tensor(given)
        if given is not None:
            passed[parameter.name.text] = given
    with speaking_cpp(), collecting() as steps, reading(function.span):
        returned = Execution(file.functions).call(function, passed)
        # A function that learns need not return anything.
        outputs = () if returned is None and steps else _outputs(returned, function)
        return Program(
            name=function.name.text,
            inputs=tuple(inputs),
            outputs=outputs,
            steps=distinct(steps),
            span=function.span,
        )


def _given(
    function: Function,
    parameter: Parameter,
    shapes: Mapping[str, Sequence[int]],
    arguments: Mapping[str, Any],
    kinds: Mapping[str, Kind],
) -> Any:
    """Return the value of a parameter, or its node if it is a tensor; None where its default value counts."""
    name, type, span = parameter.name.text, parameter.type, parameter.span
    tensor = TYPES[type.name] == "Tensor"
    if tensor and type.vectors:
        refuse(f"'{name}' is a vector of tensors", "write a parameter for each: const Tensor& A, const Tensor& B", span)
    if tensor and name in arguments:
        refuse(f"'{name}' is a tensor", f"give its shape: --shape {name}=2,8,3", span)
    if tensor and name in shapes:
        return input_of(name, shapes[name], kinds.get(name, "float"), span)
    if name in shapes and name not in arguments:
        hint = f"write --arg {name}=2" if not type.vectors else f"write --arg {name}=2,1"
        refuse(f"'{name}' is a '{shown(type)}' and has a shape", hint, span)
    if name in arguments:
        return _argument(arguments[name], parameter, type.vectors)
    if parameter.default is None:
        cure = f"the shape of the tensor: --shape {name}=2,8,3" if tensor else f"its value: --arg {name}=..."
        missing = "shape" if tensor else "value"
        refuse(f"'{name}' of '{function.name.text}' has no {missing}", f"give {cure}", span)
    return None


def _argument(value: Any, parameter: Parameter, vectors: int) -> Any:
    """Return a value of the options, or of Python, as a value of C++: for a parameter, or for an element of it that is
    inside of `vectors` vectors. One value is a vector of one."""
    name, type, span = parameter.name.text, parameter.type, parameter.span
    kind = TYPES[type.name]
    cure = f"write --arg {name}={_EXAMPLES.get(kind, '2')}" + (f",{_EXAMPLES.get(kind, '2')}" if type.vectors else "")
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # a number of numpy
    if vectors == 1 and isinstance(value, bool | int | float | str):
        value = [value]
    if isinstance(value, list | tuple) and (vectors or kind == "auto"):
        return Listed(_argument(item, parameter, vectors - 1) for item in value)
    if not isinstance(value, bool | int | float | str | list | tuple):
        refuse(f"--arg {name}: a {value.__class__.__name__} is no value of C++", cure, span)
    if isinstance(value, float) and not math.isfinite(value):
        refuse(f"--arg {name}: {value} is no finite number", f"{cure}, or another number of 64 bits", span)
    if kind == "truth" and value in ("true", "false"):
        return value == "true"
    given = Listed(value) if isinstance(value, list | tuple) else value
    if kind in _EXAMPLES and (given is not value or vectors or isinstance(value, str) is not (kind == "text")):
        refuse(f"{described(given)} where the type is '{shown(replace(type, vectors=vectors))}'", cure, span)
    if kind in ("whole", "TensorDim") and isinstance(value, float) and value != int(value):
        refuse(f"{value} where the type is '{type.name}', which holds whole numbers", cure, span)
    return value


def _outputs(returned: Any, function: Function) -> tuple[Node, ...]:
    items = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
    if not items:
        refuse(f"'{function.name.text}' returns nothing", "return a tensor, or several: return {A, B};")
    for item in items:
        if not isinstance(item, Tensor):
            what = "nothing" if item is None else described(item)
            refuse(f"'{function.name.text}' returns {what}", "return a tensor, or several: return {A, B};")
    return tuple(item.node for item in items)
