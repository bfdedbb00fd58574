"""Results that leave as they are made: no slot of the root fetches them again, and no memory need hold them."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.ir.graph import Affine, Graph
from tabla.mapping.places import ROOT, Place
from tabla.schedule.loops import Loop, address
from tabla.schedule.strands import Address


def shown_as(graph: Graph, tensor: str) -> str:
    """The name under which a tensor that one statement writes is returned once; "" otherwise."""
    shown = [name for name, result in graph.results if result == tensor]
    return shown[0] if len(shown) == 1 and sum(1 for _ in graph.writers(tensor)) == 1 else ""


def row_major(at: Address, counts: Sequence[int], size: int) -> bool:
    """Whether a loop nest goes through the addresses [0, size) in order."""
    step = 1
    for stride, count in zip(reversed(at.strides), reversed(counts), strict=True):
        if count > 1 and stride != step:
            return False
        step *= count
    return at.base == 0 and step == size


def in_order(graph: Graph, tensor: str, write: Sequence[Affine], loops: Sequence[Loop]) -> bool:
    """Whether a statement makes the whole tensor in the order in which results leave."""
    record = graph.tensors[tensor]
    flat = Place(tensor=tensor, spot=ROOT, shape=record.shape, pes=1, banks=("memory",))
    return row_major(address(flat, write, loops), [loop.count for loop in loops], record.size)
