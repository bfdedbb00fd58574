"""What the values of an ONNX model are while it is translated: tensors of the machine, known arrays, or labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.languages.tile.program import Node, Shape

LARGEST = 1 << 23
"""The elements that a tensor may have: the memories of the largest array of templates/ have no more words. A front end
cannot read the records, so a test holds both against each other.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tensor:
    """A tensor that is computed for each sample.

    `node` has its elements. If it is `batched`, the first axis of ONNX's tensor is that of the samples, which `node`
    does not have.
    """

    node: Node
    batched: bool

    @property
    def shape(self) -> Shape:
        """The extents without the axis of samples."""
        return self.node.shape

    @property
    def rank(self) -> int:
        """The number of axes in ONNX, with that of the samples."""
        return len(self.shape) + self.batched


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """An array that is known before any sample: an initialiser, or what the model computes of initialisers alone.

    `name` is that of the initialiser or the value.
    """

    name: str
    array: NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """Labels of classes. The machine computes `position`, and the host looks it up in `labels`."""

    position: Tensor
    labels: NDArray[np.generic]


Value = Tensor | Known | Labels
