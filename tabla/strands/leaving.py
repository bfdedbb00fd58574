"""Results that leave as they are made: no slot of the root fetches them again, and no memory need hold them.

They leave in the order in which they are made, whatever it is; the host knows which word is which element.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.ir.body import common_reduction
from tabla.ir.graph import Affine, Gather, Graph, Linear, Product, Statement
from tabla.mapping.fit import Fit
from tabla.mapping.places import ROOT, Place
from tabla.strands.loops import Loop, address
from tabla.strands.strand import Address
from tabla.templates.template import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """Elements of a tensor, counted in its row-major order, as a loop nest goes through them."""

    at: Address
    counts: tuple[int, ...]

    @property
    def elements(self) -> NDArray[np.int64]:
        """All of them, in order."""
        total = np.array([self.at.base], dtype=np.int64)
        for count, stride in zip(self.counts, self.at.strides, strict=True):
            total = np.add.outer(total, stride * np.arange(count, dtype=np.int64)).reshape(-1)
        return total

    def row_major(self, size: int) -> bool:
        """Whether it goes through the elements [0, size) in order."""
        step = 1
        for stride, count in zip(reversed(self.at.strides), reversed(self.counts), strict=True):
            if count > 1 and stride != step:
                return False
            step *= count
        return self.at.base == 0 and step == size


def words_per_write(graph: Graph, template: Template) -> int:
    """Words that one operation sends out: one for each root, where each has a part of the results."""
    return template.roots if any(graph.tensors[tensor].split >= 0 for _, tensor in graph.results) else 1


def shown_as(graph: Graph, tensor: str) -> str:
    """The name under which a tensor that one statement writes is returned once; "" otherwise."""
    shown = [name for name, result in graph.results if result == tensor]
    return shown[0] if len(shown) == 1 and sum(1 for _ in graph.writers(tensor)) == 1 else ""


def departing(graph: Graph, fits: Sequence[Fit]) -> Mapping[str, str]:
    """Results that the root makes whole and word by word, by tensor: under what name they are returned.

    Several statements may make one, each its own elements.
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
    """The elements that a statement makes, in the order of its loops."""
    flat = Place(tensor=tensor, spot=ROOT, shape=graph.tensors[tensor].shape, pes=1, banks=("memory",))
    return Nest(at=address(flat, write, loops), counts=tuple(loop.count for loop in loops))


def elements(nests: Collection[Nest], size: int) -> NDArray[np.int64]:
    """Elements in the order in which they leave; no nest: row-major, all of them."""
    return np.concatenate([each.elements for each in nests]) if nests else np.arange(size, dtype=np.int64)


def _points(statement: Statement) -> int:
    points = 1
    for index in statement.indices:
        points *= index.extent
    return points


def _word_by_word(statement: Statement, fit: Fit) -> bool:
    """Whether one strand of the root makes each of its words once."""
    if statement.constraints and not isinstance(statement.operation, Product):
        return fit.way == "root"
    match statement.operation:
        case Product():
            return False
        case Gather():
            return True
        case Linear():
            return fit.way == "tree" or (fit.way == "root" and common_reduction(statement))
        case _:
            return fit.way in ("tree", "root")
