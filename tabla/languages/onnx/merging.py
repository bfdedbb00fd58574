"""A BatchNormalization behind a layer with weights becomes part of these weights, so that the machine computes nothing
for it.

The weights that result are new arrays, with names of their own. A file of models may have been made by a program in
which the layer learns and is therefore not merged; :meth:`Merged.apply` makes the new arrays of what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.languages.onnx.model import DEFAULT, Model, Node
from tabla.languages.onnx.values import Known, Tensor, Value

Reals = NDArray[np.float64]
NORMALISATION = "BatchNormalization"
_EPSILON = 1e-5


def figures(arrays: Sequence[NDArray[Any]], epsilon: float) -> tuple[Reals, Reals]:
    """Return the factors and the addends that a normalisation is, from its scale, bias, mean and variance."""
    scale, bias, mean, variance = (array.astype(np.float64) for array in arrays)
    with np.errstate(all="ignore"):  # whoever takes the figures looks whether they are finite
        factors = scale / np.sqrt(variance + epsilon)
        return factors, bias - mean * factors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Merged:
    """A layer with the normalisation behind it.

    `parts` are the names that the kernel, the bias, the factors and the addends have where the layer is not merged, and
    `arrays` their values; the bias counts `beta` times. The outputs are along `axis` of the kernel. `weights` and
    `bias` are the names of what results. All names are those of the program.
    """

    parts: tuple[str, str, str, str]
    arrays: tuple[Reals, Reals, Reals, Reals] = field(repr=False)
    axis: int
    beta: float
    weights: str
    bias: str

    def apply(self, given: Mapping[str, Reals]) -> dict[str, Reals]:
        """Return arrays of models with those of the layer merged, if there are some. A part that is missing is that of
        the model.
        """
        if not set(self.parts).intersection(given) or {self.weights, self.bias}.intersection(given):
            return dict(given)
        parts = [np.asarray(given.get(name, own)) for name, own in zip(self.parts, self.arrays, strict=True)]
        sizes = [part.size == own.size for part, own in zip(parts, self.arrays, strict=True)]
        if parts[0].shape != self.arrays[0].shape or not all(sizes):
            return dict(given)
        kernel, bias = _merged(
            *(part.reshape(own.shape) for part, own in zip(parts, self.arrays, strict=True)),
            axis=self.axis,
            beta=self.beta,
        )
        left = {name: array for name, array in given.items() if name not in self.parts}
        return {**left, self.weights: kernel, self.bias: bias}


def merge_all(merged: Collection[Merged], given: Mapping[str, Reals]) -> dict[str, Reals]:
    """Return arrays of models with those of all merged layers merged."""
    found = dict(given)
    for each in merged:
        found = each.apply(found)
    return found


def _merged(
    kernel: Reals, bias: Reals, factors: Reals, addends: Reals, *, axis: int, beta: float
) -> tuple[Reals, Reals]:
    extents = [1] * kernel.ndim
    extents[axis] = -1
    return kernel * factors.reshape(extents), beta * bias.reshape(-1) * factors.reshape(-1) + addends.reshape(-1)


def merge(
    model: Model,
    node: Node,
    given: Sequence[Value | None],
    values: Mapping[str, Value],
    learned: Collection[str],
    new: Callable[[str, NDArray[Any]], Known],
    name_of: Callable[[str], str],
) -> tuple[Node, list[Value | None], Node, Merged] | None:
    """Return a layer that has the normalisation behind it merged, its operands, the normalisation, and what was merged.

    Return None if there is nothing to merge: the result of `node` goes elsewhere, too, or something is not known or
    learns, or other nodes read the weights or the bias. `given` are the operands of `node`, and `values` those of the
    model. `new` makes an array, and `name_of` gives the program's name of one.
    """
    behind = _sole_reader(model, node)
    kernel = given[1] if len(given) > 1 else None
    if behind is None or not isinstance(kernel, Known) or _shared(model, given[1:]):
        return None
    known = [kernel, *given[2:], *(values.get(name) for name in behind.inputs[1:])]
    if any(each is not None and (not isinstance(each, Known) or each.name in learned) for each in known):
        return None
    normal = [each.array for name in behind.inputs[1:] if isinstance(each := values.get(name), Known)]
    axis = _axis(node, given, kernel.array.ndim)
    if axis is None or len(normal) != 4 or any(array.shape != (kernel.array.shape[axis],) for array in normal):
        return None
    bias = _bias(given, kernel.array.shape[axis])
    if bias is None:
        return None
    factors, addends = figures(normal, float(behind.attributes.get("epsilon", _EPSILON)))  # type: ignore[arg-type]
    arrays = (kernel.array.astype(np.float64), bias, factors, addends)
    beta = float(node.attributes.get("beta", 1.0)) if node.operator == "Gemm" else 1.0  # type: ignore[arg-type]
    weights, offsets = _merged(*arrays, axis=axis, beta=beta)
    if not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
        return None
    output = behind.outputs[0]
    made = new(f"{output}.weights", weights), new(f"{output}.bias", offsets)
    own = given[2] if len(given) > 2 else None
    parts = (
        name_of(kernel.name), name_of(own.name) if isinstance(own, Known) else "",
        name_of(f"{output}.factors"), name_of(f"{output}.addends"),
    )  # fmt: skip
    merged = Merged(parts=parts, arrays=arrays, axis=axis, beta=beta, weights=made[0].name, bias=made[1].name)
    return _layer(node, output), [given[0], *made], behind, merged


def _sole_reader(model: Model, node: Node) -> Node | None:
    """Return the normalisation by known figures that alone reads a node's result, or None."""
    if (node.domain, node.operator) not in {(DEFAULT, name) for name in ("Conv", "Gemm", "MatMul")}:
        return None
    result = node.outputs[0]
    readers = [each for each in model.nodes if result in each.inputs]
    if len(readers) != 1 or result in model.outputs:
        return None
    (behind,) = readers
    plain = behind.operator == NORMALISATION and behind.domain == DEFAULT and behind.inputs[0] == result
    known = not behind.attributes.get("training_mode") and behind.attributes.get("spatial", 1) == 1
    return behind if plain and known and len(behind.inputs) == 5 and not any(behind.outputs[1:]) else None


def _shared(model: Model, operands: Sequence[Value | None]) -> bool:
    """Say whether somebody else reads one of the operands, and then wants it as it is in a file of models."""
    names = [each.name for each in operands if isinstance(each, Known)]
    return any(sum(each.inputs.count(name) for each in model.nodes) + (name in model.outputs) > 1 for name in names)


def _axis(node: Node, given: Sequence[Value | None], rank: int) -> int | None:
    """Return the axis of the kernel along which the outputs are, if that is the axis of the channels, else None."""
    value = given[0]
    if not isinstance(value, Tensor) or not value.batched:
        return None
    if node.operator == "Conv":
        return 0 if value.rank == rank else None
    if value.rank != 2 or rank != 2 or node.attributes.get("transA"):
        return None
    return 0 if node.operator == "Gemm" and node.attributes.get("transB") else 1


def _bias(given: Sequence[Value | None], outputs: int) -> Reals | None:
    """Return what a layer adds to its outputs, or a zero; None if that is no number for each of them."""
    own = given[2] if len(given) > 2 else None
    if not isinstance(own, Known):
        return np.zeros(1)
    array = own.array.astype(np.float64)
    return None if array.size not in (1, outputs) or (array.size > 1 and array.shape[-1] != outputs) else array


def _layer(node: Node, output: str) -> Node:
    """Return the layer with three operands, whose result is that of the normalisation."""
    attributes = {name: value for name, value in node.attributes.items() if name != "beta"}
    kind = "Conv" if node.operator == "Conv" else "Gemm"
    inputs = (node.inputs[0], f"{output}.weights", f"{output}.bias")
    return replace(node, operator=kind, inputs=inputs, outputs=(output,), attributes=attributes)
