"""One node while it is translated, as its operator sees it: operands, attributes, and the faults it can raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite, isinf, prod
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, Span, TablaError
from tabla.languages.onnx.model import Attribute, Node, shown
from tabla.languages.onnx.tiles import made, number, reshaped, spread, with_bias
from tabla.languages.onnx.values import Known, Labels, Tensor, Value
from tabla.languages.tile import program as tile

Results = Value | tuple[Value | None, ...]
Function = Callable[["Call"], Results]
REQUIRED = object()
"""Stands for the default of an attribute that must be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """How the nodes of one operator are translated. `attributes` are those that it knows, each with its default."""

    name: str
    domain: str
    function: Function
    attributes: Mapping[str, Any]


class Program(Protocol):
    """The program while it is made: the known arrays that become its models, and what the host does to its inputs."""

    def decided(self, output: str, scores: Tensor, probabilities: Tensor) -> None:
        """Note that a result is the probabilities of scores, element by element of the same shape."""

    def standardised(self, source: Tensor, mean: NDArray[Any], deviation: NDArray[Any]) -> Tensor | None:
        """Let the host standardise an input that nothing else reads. Return None where it cannot."""

    def weights(self, known: Known, shape: tile.Shape, span: Span | None) -> tile.Node:
        """Return an array in a shape: as a model, or as a number if it has one element."""

    def new(self, name: str, array: NDArray[Any]) -> Known:
        """Return an array that a node brings, under a name that no other value has."""

    def learned_in(self, node: tile.Node) -> str | None:
        """Return an initialiser that learns and that a tensor is made of, or None if it is made of none."""

    def inputs_in(self, node: tile.Node) -> Mapping[str, Tensor]:
        """Return the inputs of the model that a tensor is made of, by their names in ONNX."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Call:
    """A node with its operands.

    `sources` are the nodes by the names of their results. `opset` is the version of ONNX's operators. `program` is what
    the node adds to.
    """

    node: Node
    operator: Operator
    values: Sequence[Value | None]
    sources: Mapping[str, Node] = field(repr=False)
    opset: int
    program: Program = field(repr=False)

    @property
    def span(self) -> Span | None:
        """The line of the node in the listing of the model, at which errors point."""
        return self.node.span

    def refuse(self, message: str, hint: str) -> NoReturn:
        """Raise a fault of this node, which names its attributes."""
        refuse_node(self.node, message, hint)

    # Attributes

    def attribute(self, name: str) -> Any:
        """Return an attribute, or its default. One that is missing and has no default is a `TablaError`."""
        value = self.node.attributes.get(name, self.operator.attributes[name])
        if value is REQUIRED:
            self.refuse(f"the attribute '{name}' is missing", "export the model anew")
        if isinstance(value, float | tuple) and not _finite(value, limit=name in ("min", "max")):
            self.refuse(f"the attribute '{name}' has numbers that are not finite", "export the model anew")
        return value

    def integer(self, name: str) -> int:
        """Return an attribute as an integer."""
        return int(self.attribute(name))

    def choice(self, name: str, *allowed: Attribute) -> Any:
        """Return an attribute. A value that is none of `allowed` is a `TablaError`."""
        value = self.attribute(name)
        if value not in allowed:
            self.refuse(
                f"{name}={shown(value)} is not there", f"{name} may be {', '.join(shown(each) for each in allowed)}"
            )
        return value

    # Operands

    @property
    def count(self) -> int:
        """The number of operands that are given at the end of the node's list or before."""
        return max((at + 1 for at, value in enumerate(self.values) if value is not None), default=0)

    def given(self, at: int) -> Value | None:
        """Return an operand, or None if the node leaves it out."""
        return self.values[at] if at < len(self.values) else None

    def source(self, at: int) -> Node | None:
        """Return the node whose result an operand is; None for inputs and initialisers."""
        return self.sources.get(self.node.inputs[at])

    def operand(self, at: int) -> Value:
        """Return an operand that must be given."""
        value = self.given(at)
        if value is None:
            self.refuse(f"its operand {at} is missing", "export the model anew")
        return value

    def tensor(self, at: int) -> Tensor:
        """Return an operand as a tensor."""
        return self.as_tensor(self.operand(at))

    def as_tensor(self, value: Value) -> Tensor:
        """Return a value as a tensor. A known array becomes a model; labels are a `TablaError`."""
        match value:
            case Tensor():
                return value
            case Known():
                return Tensor(node=self.model(value), batched=False)
            case Labels():
                hint = "the host looks labels up: they can be results, and nothing is computed of them"
                self.refuse("one of its operands are labels of classes", hint)

    def sample(self, at: int, rank: int | None = None) -> Tensor:
        """Return an operand with an axis of samples, and `rank` axes in all if that is given."""
        value = self.tensor(at)
        if not value.batched or (rank is not None and value.rank != rank):
            axes = f" of {rank} axes" if rank is not None else ""
            own = f"{['', 'samples, '][value.batched]}{', '.join(map(str, value.shape))}"
            self.refuse(
                f"it takes a tensor{axes} whose first axis is that of the samples, and '{self.node.inputs[at]}' has the"
                f" shape [{own}]",
                "give the input of the model an axis of samples when it is exported, or say the shape of a sample:"
                " --shape NAME=3,8,8",
            )
        return value

    def model(self, known: Known, shape: tile.Shape | None = None) -> tile.Node:
        """Return a known array as a model, or as a number if it has one element."""
        return self.program.weights(known, known.array.shape if shape is None else shape, self.span)

    def known(self, at: int) -> Known:
        """Return an operand that must be known before any sample.

        An input of the model, a result of samples, and what learns are a `TablaError`.
        """
        value, name = self.operand(at), self.node.inputs[at]
        match value:
            case Known():
                return value
            case Tensor(node=node):
                inputs = self.program.inputs_in(node)
                learned = None if inputs else self.program.learned_in(node)
            case Labels():
                inputs, learned = {}, None
        if learned is not None:
            made = f"which is made of '{learned}', " if learned != name else ""
            self.refuse(f"it folds '{name}', {made}which therefore cannot learn", f"leave '{learned}' out of --train")
        comes = "an input of the model" if name in inputs else "computed for each sample"
        self.refuse(f"its operand '{name}' is {comes}, and must be known before", "make it an initialiser of the model")

    def integers(self, at: int) -> list[int] | None:
        """Return the integers of a known operand; None if it is left out."""
        if self.given(at) is None:
            return None
        array = self.known(at).array
        if array.dtype.kind not in "iu":
            self.refuse(f"its operand '{self.node.inputs[at]}' holds no integers", "make it int64")
        return [int(each) for each in array.reshape(-1)]

    def real(self, at: int, *, limit: bool = False) -> float | None:
        """Return the one number of a known operand; None if it is left out. A `limit` alone may be infinite."""
        if self.given(at) is None:
            return None
        array = self.known(at).array
        if array.size != 1:
            self.refuse(f"its operand '{self.node.inputs[at]}' has {array.size} numbers, not one", "give one number")
        if array.dtype.kind not in "biuf" or not _finite(value := float(array.reshape(-1)[0]), limit=limit):
            self.refuse(f"its operand '{self.node.inputs[at]}' is no finite number", "give a finite number")
        return value

    def refuse_integers(self, *values: Value) -> None:
        """Raise `TablaError` if an operand is of integers, whose quotients ONNX rounds towards 0."""
        for value in values:
            match value:
                case Tensor(node=node):
                    whole = node.kind == "integer"
                case Known(array=array):
                    whole = array.dtype.kind in "iu"
                case Labels():
                    whole = False
            if whole:
                self.refuse("it divides integers, and the machine would not round the quotients", "cast to float first")

    # Axes

    def one_by_one(self, *values: Value, cure: str = "") -> str:
        """Return the hint for an operator that would move, join or mix the samples of its operands.

        Such a model is exact if the axis of the samples is taken for one of a sample, with the extent 1, which
        ``--shape`` does. `cure` is what else the user may do.
        """
        options = {
            f"--shape {name}={','.join(map(str, (1, *given.shape)))}"
            for value in values
            if isinstance(value, Tensor) and value.batched
            for name, given in self.program.inputs_in(value.node).items()
            if given.batched
        }
        whole = f"{' '.join(sorted(options))} takes that axis for one of a sample, of extent 1" if options else ""
        return "; ".join(each for each in (cure or "samples are computed one by one", whole) if each)

    def axis(self, value: Tensor, axis: int) -> int:
        """Return an axis of ONNX's tensor as an axis of the node's. That of the samples is a `TablaError`."""
        if not -value.rank <= axis < value.rank:
            self.refuse(f"axis {axis} of a tensor of {value.rank} axes", f"use {-value.rank} to {value.rank - 1}")
        found = axis % value.rank - value.batched
        if found < 0:
            self.refuse(f"axis {axis} is that of the samples", self.one_by_one(value))
        return found

    def axes(self, value: Tensor, given: Sequence[int]) -> list[int]:
        """Return several axes, none of which may be given twice, as `axis` returns one."""
        return self._once(given, [self.axis(value, int(each)) for each in given])

    def places(self, given: Sequence[int], rank: int, of: str) -> list[int]:
        """Return several axes of ONNX's tensor, counted from the first one. `of` names the tensor in an error.

        An axis that the rank does not have, or that is given twice, is a `TablaError`.
        """
        if not all(-rank <= each < rank for each in given):
            self.refuse(
                f"axes {list(given)} of {of} of {rank} axes", f"use {-rank} to {rank - 1}, each of them at most once"
            )
        return self._once(given, [each % rank for each in given])

    def _once(self, given: Sequence[int], found: list[int]) -> list[int]:
        """Return the axes that were found for those that were given. One that is found twice is a `TablaError`."""
        if len(set(found)) < len(found):
            self.refuse(f"its axes {list(given)} name one of them twice", "name each of them at most once")
        return found

    # Results

    def elementwise(self, operator: tile.Operator, *values: Value | float) -> Tensor:
        """Apply an operator to every element. Operands broadcast as numpy broadcasts them, with the axis of samples."""
        nodes, batched = self.aligned(*values)
        return Tensor(node=made(operator, *nodes, span=self.span), batched=batched)

    def biased(self, total: Tensor, bias: Value) -> Tensor:
        """Add a layer's own bias to its sums. Each sum is rounded once, with the bias in it."""
        (left, right), batched = self.aligned(total, bias)
        return Tensor(node=with_bias(left, right, self.span), batched=batched)

    def aligned(self, *values: Value | float) -> tuple[list[tile.Node], bool]:
        """Return operands as nodes that broadcast together, and whether they have an axis of samples."""
        parts = [each if isinstance(each, int | float | Known) else self.as_tensor(each) for each in values]
        ranks = [_rank(each) for each in parts if not isinstance(each, int | float)]
        rank = max(ranks, default=0)
        batched = any(isinstance(each, Tensor) and each.batched for each in parts)
        shapes = [() if isinstance(each, int | float) else self._shape(each, rank, batched) for each in parts]
        self._check_broadcast(shapes)
        nodes = [self._part(each, shape) for each, shape in zip(parts, shapes, strict=True)]
        whole = np.broadcast_shapes(*shapes)
        if np.broadcast_shapes(*(node.shape for node in nodes)) != whole:
            # Only a constant of equal elements, which is one number now, had the extents that are missing.
            at = next(at for at, node in enumerate(nodes) if not isinstance(node, tile.Number))
            nodes[at] = spread(nodes[at], whole, self.span)
        return nodes, batched

    def _part(self, value: Known | Tensor | float, shape: tile.Shape) -> tile.Node:
        """Return an operand of an expression in a shape. A constant whose elements are all equal is one number."""
        match value:
            case Tensor(batched=True, node=node):
                return node
            case Tensor(node=node):
                return reshaped(node, shape, self.span)
            case Known(array=array) if (equal := _equal_elements(array)) is not None:
                return number(Fraction(equal), span=self.span)
            case Known():
                return self.model(value, shape)
            case _:
                return number(Fraction(value), span=self.span)

    def _shape(self, value: Known | Tensor, rank: int, batched: bool) -> tile.Shape:
        """Return the extents of an operand in an expression whose result has `rank` axes in ONNX."""
        if isinstance(value, Tensor) and value.batched:
            if value.rank != rank:
                self.refuse(
                    f"a tensor with an axis of samples and {value.rank} axes meets one of {rank}",
                    self.one_by_one(value, cure="the axis of the samples must be the first one of the result"),
                )
            return value.shape
        shape = value.array.shape if isinstance(value, Known) else value.shape
        if batched and len(shape) == rank:
            if shape[0] != 1:
                self.refuse(
                    f"an array whose first extent is {shape[0]} meets the axis of the samples",
                    "its first extent must be 1, so that all samples have the same",
                )
            shape = shape[1:]
        return shape

    def _check_broadcast(self, shapes: Sequence[tile.Shape]) -> None:
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            texts = " and ".join(str(list(shape)) for shape in shapes)
            self.refuse(f"shapes {texts} do not broadcast together", "aligned at the right, extents are equal or 1")

    def reshape(self, value: Tensor, shape: tile.Shape, *, batched: bool | None = None) -> Tensor:
        """Return the elements of a tensor in another shape of a sample."""
        if prod(shape) != prod(value.shape):
            self.refuse(f"{list(value.shape)} elements do not fill {list(shape)}", "the products must be equal")
        node = reshaped(value.node, shape, self.span)
        return Tensor(node=node, batched=value.batched if batched is None else batched)


def _finite(value: object, *, limit: bool) -> bool:
    """Return whether a number, or each real number of a list, is finite. A `limit` may be infinite."""
    if isinstance(value, tuple):
        return all(_finite(each, limit=limit) for each in value)
    return not isinstance(value, float) or isfinite(value) or (limit and isinf(value))


def _equal_elements(array: NDArray[np.generic]) -> float | int | None:
    """Return the number that all elements of an array are, and None if they differ or are no finite numbers."""
    if not array.size or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        return None
    first = array.reshape(-1)[0]
    return first.item() if (array == first).all() else None


def _rank(value: Known | Tensor) -> int:
    return value.array.ndim if isinstance(value, Known) else value.rank


def refuse_node(node: Node, message: str, hint: str) -> NoReturn:
    """Raise a fault at a node, whose text lists its attributes."""
    name = f" '{node.name}'" if node.name else ""
    raise TablaError(f"{node.operator}{name}: {message}", *([Label(node.span)] if node.span else []), hint=hint)
