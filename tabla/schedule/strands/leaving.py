"""Results that leave as they are made.

The operation that writes such a result also sends it out. So no operation of the root fetches the result again, and no
memory need hold it if nobody else reads it. Results leave in the order in which they are made; the host knows which
word is which element.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.graph.body import common_reduction
from tabla.graph.graph import Affine, Gather, Graph, Linear, Product, Scatter, Statement
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.mapping.places import ROOT, Place
from tabla.schedule.strands.loops import Loop, address
from tabla.schedule.strands.strand import Address
from tabla.templates.template import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """Elements of a tensor in the order in which a loop nest goes through them.

    `at` gives the number of an element in the tensor's row-major order, and `counts` are the turns of the loops.
    """

    at: Address
    counts: tuple[int, ...]

    @property
    def elements(self) -> NDArray[np.int64]:
        """The numbers of the elements, in order."""
        total = np.array([self.at.base], dtype=np.int64)
        for count, stride in zip(self.counts, self.at.strides, strict=True):
            total = np.add.outer(total, stride * np.arange(count, dtype=np.int64)).reshape(-1)
        return total

    def row_major(self, size: int) -> bool:
        """Say whether the nest goes through the elements [0, size) in row-major order."""
        step = 1
        for stride, count in zip(reversed(self.at.strides), reversed(self.counts), strict=True):
            if count > 1 and stride != step:
                return False
            step *= count
        return self.at.base == 0 and step == size


def words_per_write(graph: Graph, template: Template) -> int:
    """Count the words that one write of the root sends out: one for each root if each has its part of some result."""
    return template.roots if any(graph.tensors[tensor].split >= 0 for _, tensor in graph.results) else 1


def shown_as(graph: Graph, tensor: str) -> str:
    """Return the name of the result that a tensor is, if one statement writes it and it is returned once; "" if not."""
    shown = [name for name, result in graph.results if result == tensor]
    return shown[0] if len(shown) == 1 and sum(1 for _ in graph.writers(tensor)) == 1 else ""


def departing(graph: Graph, fits: Sequence[Fit]) -> Mapping[str, str]:
    """Find the results that leave as the root makes them: by tensor, the name of the result.

    The root must make all elements of such a tensor, each once. Several statements may do so, each its own elements.
    """
    tensors = [tensor for _, tensor in graph.results]
    found = {}
    for shown, tensor in graph.results:
        writers = list(graph.writers(tensor))
        made = sum(_points(statement) for statement in writers)
        if writers and tensors.count(tensor) == 1 and made == graph.tensors[tensor].size:
            if all(_word_by_word(statement, fits[statement.id]) for statement in writers):
                found[tensor] = shown
    return found


def nest(graph: Graph, tensor: str, write: Sequence[Affine], loops: Sequence[Loop]) -> Nest:
    """Return the elements that a statement makes, in the order of its loops; `write` are the target's subscripts."""
    flat = Place(tensor=tensor, spot=ROOT, shape=graph.tensors[tensor].shape, pes=1, banks=("memory",))
    return Nest(at=address(flat, write, loops), counts=tuple(loop.count for loop in loops))


def elements(nests: Collection[Nest], size: int) -> NDArray[np.int64]:
    """Return the numbers of the elements in the order in which they leave; without a nest, all `size` in order."""
    return np.concatenate([each.elements for each in nests]) if nests else np.arange(size, dtype=np.int64)


def _points(statement: Statement) -> int:
    points = 1
    for index in statement.indices:
        points *= index.extent
    return points


def _word_by_word(statement: Statement, fit: Fit) -> bool:
    """Say whether the root makes each word of a statement once, in strands that can send it out."""
    if statement.constraints and not isinstance(statement.operation, Product):
        return fit.way == "root"
    match statement.operation:
        case Product() | Scatter():
            return False
        case Gather():
            return True
        case Linear():
            return fit.way == "tree" or (fit.way == "root" and common_reduction(statement))
        case _:
            return fit.way in ("tree", "root")
