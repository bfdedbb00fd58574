"""How many beats and words must pass the borders of the machine for each sample.

Every element of an input or a label that some statement reads has to arrive, and arrives as one word of a beat. Lane
number l takes one word of each beat, and a root takes a word that a lane takes as well (decision 3, 3.7), so that a
beat brings no more than ``min(words of the beat, PEs)`` different words, whatever the mapping. One beat arrives a
cycle. A beat of results has at most one word of each root and as many words as a beat of the stream that the user asked
for; without such a request it has one word. One beat leaves a cycle.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tabla.graph.constraints import coordinates, values
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Gather, Gathered, Graph, Index, Read, Statement
from tabla.graph.windows import ramp
from tabla.templates.template import Template, limits

MOST_POINTS = 1 << 22
"""A read with more points than this, whose subscripts share indices, counts no word: that keeps the bound quick."""

Mask = NDArray[np.bool_]


def beats(graph: Graph, template: Template, format: Format) -> int:
    """The fewest beats in which the words of a sample can arrive."""
    widest = template.stream_words or limits().stream_words
    return -(-words_in(graph, format) // min(widest, template.pes))


def words_in(graph: Graph, format: Format) -> int:
    """Elements of inputs and labels that some statement reads."""
    seen: dict[str, Mask] = {
        name: np.zeros(tensor.shape, dtype=np.bool_)
        for name, tensor in graph.tensors.items()
        if tensor.role in ("input", "label")
    }
    for statement in graph.statements:
        for read in statement.reads:
            if read.tensor in seen:
                _mark(seen[read.tensor], statement, read)
        if isinstance(statement.operation, Gather) and statement.operation.tensor in seen:
            _mark_gathered(seen[statement.operation.tensor], statement, statement.operation, graph, format)
    return sum(int(np.count_nonzero(mask)) for mask in seen.values())


def words_out(graph: Graph) -> int:
    """Elements of results; a tensor that is returned under two names counts once."""
    return sum(graph.tensors[tensor].size for tensor in {tensor for _, tensor in graph.results})


def widest_out(template: Template) -> int:
    """The most words of a beat of results. An array whose number of roots is left open counts as one with one root."""
    return max(1, min(template.stream_words, template.roots))


def beats_out(graph: Graph, template: Template) -> int:
    """The fewest beats in which the results of a sample can leave."""
    return -(-words_out(graph) // widest_out(template))


def _mark(mask: Mask, statement: Statement, read: Read) -> None:
    """Mark the elements that a read meets: all of them, or fewer where counting them would take long."""
    constraints, indices = statement.constraints, list(statement.box.values())
    names = [name for subscript in read.subscripts for name in subscript.names]
    if not constraints and len(names) == len(set(names)):
        mask[np.ix_(*(_reached(subscript, statement.box) for subscript in read.subscripts))] = True
        return
    tied = {name for constraint in constraints for name in constraint.names}
    if math.prod(index.extent for index in indices if index.name in tied | set(names)) > MOST_POINTS:
        return
    # All constraints are asked for, also those of sums that do not take this operand: what is missed only lowers the
    # bound.
    at = coordinates(constraints, indices, names)
    if at is not None:
        mask[tuple(values(subscript, at) for subscript in read.subscripts)] = True


def _mark_gathered(mask: Mask, statement: Statement, gather: Gather, graph: Graph, format: Format) -> None:
    """Mark the elements that data may choose; nothing where the positions are not a sample's own words."""
    axes = []
    for subscript, extent in zip(gather.subscripts, mask.shape, strict=True):
        if isinstance(subscript, Affine):
            axes.append(_reached(subscript, statement.box))
        elif graph.tensors[subscript.table.tensor].role in ("input", "label"):
            axes.append(np.arange(min(extent, _highest(subscript, statement, format) + 1)))
        else:
            return
    names = [name for s in gather.subscripts for name in (s if isinstance(s, Affine) else s.offset).names]
    if not statement.constraints and len(names) == len(set(names)):
        mask[np.ix_(*axes)] = True


def _highest(subscript: Gathered, statement: Statement, format: Format) -> int:
    """The highest position that words of the format can name at every point of the statement."""
    return max(-1, format.highest + subscript.offset.bounds(statement.box)[0])


def _reached(subscript: Affine, box: dict[str, Index]) -> NDArray[np.int64]:
    """The different values of a subscript over a box."""
    return np.unique(ramp(subscript, [box[name] for name in subscript.names]))
