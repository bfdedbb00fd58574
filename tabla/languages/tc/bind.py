"""Binds the sizes of a function to the shapes of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tabla.base.faults import Faults, did_you_mean
from tabla.base.source import Label, Span, TablaError
from tabla.languages.tc.program import Function, Tensor


def bind_sizes(
    function: Function,
    shapes: Mapping[str, tuple[int, ...]],
    given: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """Return the value of every size variable, from the shapes of inputs and from sizes given by name.

    Inputs without a shape are legal as long as every size has a value. One `TablaError` names all faults: a rank or a
    size that the signature does not have, a size with two values, and names that the function does not know.
    """
    faults = Faults()
    sizes: dict[str, tuple[int, str]] = {}
    for name, value in given.items():
        if name not in function.sizes:
            near = did_you_mean(name, function.sizes)
            hint = near or f"the sizes of '{function.name}' are {', '.join(function.sizes) or 'none'}"
            faults.add(f"'{function.name}' has no size '{name}'", function.span, hint=hint)
        elif value < 1:
            faults.add(f"the size {name} = {value} is not positive", function.span, hint="a size is at least 1")
        sizes[name] = (value, "given by name")
    for name, shape in shapes.items():
        tensor = function.tensors.get(name)
        if tensor is None or not (tensor.role == "input" or tensor.initial):
            near = did_you_mean(name, function.inputs)
            hint = near or f"the inputs of '{function.name}' are {', '.join(function.inputs) or 'none'}"
            faults.add(f"'{function.name}' has no input '{name}'", function.span, hint=hint)
        elif tensor.role == "input":
            _of_shape(tensor, shape, sizes, faults)
    places = _places(function)
    # An array of another rank is told; the sizes that it should have given are not missing besides.
    expected = {size for name in shapes if name in function.inputs for size in function.tensors[name].dimensions or ()}
    for name in function.sizes:
        if name not in sizes and name not in expected:
            hint = f"give --size {name}=..., or inputs that have it"
            faults.add(f"the size '{name}' has no value", places.get(name, function.span), hint=hint)
    faults.raise_any()
    return {name: sizes[name][0] for name in function.sizes}


def require_inputs(function: Function, names: Mapping[str, object]) -> None:
    """Check that every input that is read is among `names`, and so are the caller's tensors that ``+=`` adds to."""
    read = function.read
    for tensor in function.tensors.values():
        wanted = tensor.name in read if tensor.role == "input" else tensor.initial
        if wanted and tensor.name not in names:
            hint = f"pass an array named '{tensor.name}'"
            if tensor.initial:
                hint = f"{hint}, or start from the identity with '+=!'"
            raise TablaError(f"the input '{tensor.name}' is missing", Label(tensor.span), hint=hint)


def _of_shape(tensor: Tensor, shape: tuple[int, ...], sizes: dict[str, tuple[int, str]], faults: Faults) -> None:
    dimensions = tensor.dimensions or ()
    written = f"{tensor.scalar}({', '.join(map(str, dimensions))})"
    if len(shape) != len(dimensions):
        hint = f"'{tensor.name}' is {written}; the array has the shape {shape}"
        faults.add(f"'{tensor.name}' has {len(dimensions)} dimensions, {len(shape)} given", tensor.span, hint=hint)
        return
    for axis, (dimension, extent) in enumerate(zip(dimensions, shape, strict=True)):
        if extent < 1:
            hint = "an array has at least one element"
            faults.add(f"dimension {axis} of '{tensor.name}' is empty", tensor.span, hint=hint)
            continue
        if isinstance(dimension, int):
            if extent != dimension:
                message = f"dimension {axis} of '{tensor.name}' is {dimension}, {extent} given"
                faults.add(message, tensor.span, hint=f"'{tensor.name}' is {written}")
            continue
        known, origin = sizes.setdefault(dimension, (extent, f"dimension {axis} of '{tensor.name}'"))
        if known != extent:
            message = f"the size '{dimension}' is {known} ({origin}) and {extent} (dimension {axis} of '{tensor.name}')"
            faults.add(message, tensor.span, hint="arrays that share a size have it in common")


def _places(function: Function) -> dict[str, Span]:
    """Where each size stands first: at the tensor that has it."""
    places: dict[str, Span] = {}
    for name in function.inputs:
        for dimension in function.tensors[name].dimensions or ():
            if isinstance(dimension, str):
                places.setdefault(dimension, function.tensors[name].span)
    return places
