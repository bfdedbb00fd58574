"""What is read of an ONNX model, or of an estimator of scikit-learn: a checked list of typed nodes.

The list does not depend on the package onnx. It is in the order in which the nodes are computed, and each node has a
line in the listing that ``--emit ast`` prints and to which errors point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Source, Span
from tabla.languages.tile.program import Kind

Attribute = int | float | str | tuple[Any, ...] | NDArray[Any] | None
"""The value of an attribute; None stands for a value that no operator here takes, such as a graph."""
DEFAULT = ""
"""The domain of the operators of ONNX itself."""
MACHINE_LEARNING = "ai.onnx.ml"
"""The domain of the operators that scikit-learn's models become."""
_MOST_NUMBERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An input of a model. `shape` has None for an extent that the model leaves open."""

    name: str
    shape: tuple[int | None, ...]
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """One operator. An empty input or output is one that the node leaves out. `span` is its line in the listing."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    domain: str = DEFAULT
    name: str = ""
    span: Span | None = field(default=None, repr=False)

    def text(self) -> str:
        """Return the node as a line: outputs, operator, inputs, attributes, and its name."""
        attributes = "".join(f" {name}={shown(value)}" for name, value in self.attributes.items())
        name = f"  # {self.name}" if self.name else ""
        outputs = ", ".join(output or "_" for output in self.outputs)
        return f"{outputs} = {self.operator}({', '.join(given or '_' for given in self.inputs)}){attributes}{name}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A model. `arrays` are its initialisers by name, and `opset` the version of the operators of ONNX itself.

    `source` is the listing of the nodes, one a line, under the name of the model's file.
    """

    name: str
    inputs: tuple[Given, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    arrays: Mapping[str, NDArray[Any]] = field(repr=False)
    opset: int
    source: Source = field(repr=False)

    @staticmethod
    def make(
        name: str,
        inputs: Sequence[Given],
        outputs: Sequence[str],
        nodes: Sequence[Node],
        arrays: Mapping[str, NDArray[Any]],
        *,
        opset: int,
        file: str,
    ) -> Model:
        """Build a model from its parts, and give each node its line in the listing."""
        lines = [node.text().replace("\n", " ").replace("\r", " ") for node in nodes]
        source = Source.from_text("".join(f"{line}\n" for line in lines), file)
        placed, start = [], 0
        for node, line in zip(nodes, lines, strict=True):
            end = start + len(line)
            # The name behind the node is no part of what errors underline.
            inner = end - (len(node.name) + 4 if node.name else 0)
            placed.append(replace(node, span=Span(source=source, start=start, end=inner)))
            start = end + 1
        return Model(
            name=name,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            nodes=tuple(placed),
            arrays=dict(arrays),
            opset=opset,
            source=source,
        )

    def text(self) -> str:
        """Return the inputs, the nodes and the outputs, one a line."""
        lines = [f"input {given.name}{_shape(given.shape)}" for given in self.inputs]
        lines += [f"array {name}{_shape(array.shape)}" for name, array in self.arrays.items()]
        lines += self.source.text.splitlines()
        lines += [f"output {name}" for name in self.outputs]
        return "".join(f"{line}\n" for line in lines)


def _shape(shape: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if extent is None else str(extent) for extent in shape)}]"


def shown(value: Attribute) -> str:
    """Return the value of an attribute as messages show it; of a long one, its first numbers."""
    match value:
        case None:
            return "..."
        case float():
            return f"{value:g}"
        case np.ndarray():
            return f"array{_shape(value.shape)}"
        case tuple():
            parts = [shown(each) for each in value[:_MOST_NUMBERS]]
            return f"[{', '.join(parts)}{f', ... {len(value)} in all' if len(value) > len(parts) else ''}]"
        case _:
            return str(value)
