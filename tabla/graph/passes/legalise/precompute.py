"""Precomputation: values that depend on indices alone become constants, which are loaded with the models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.independent import independent, tables
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import with_statements, with_tensors


def known_words(graph: Graph, fmt: Format) -> Mapping[str, NDArray[np.int64]] | None:
    """Return the words of all values that depend on indices alone.

    Return None if one of their statements overflows or leaves the domain of a function: all of them then stay in the
    graph, so that the machine counts the event.
    """
    names = tables(graph)
    numbers = independent(graph)
    alone = with_statements(graph, (s for s in graph.statements if s.id in numbers))
    tensors = {statement.target: graph.tensors[statement.target] for statement in alone.statements}
    found = evaluate_fixed(replace(with_tensors(alone, tensors), updates={}, results=()), fmt, {})
    if found.counts.overflows or found.counts.domain_errors:
        return None
    return {name: found.values[name] for name in names}


@graph_pass(
    "precompute",
    "make constants of the values that depend on indices alone",
    condition=Condition(text="a value depends on indices alone", holds=lambda graph: bool(tables(graph))),
)
def precompute(graph: Graph, fmt: Format) -> Graph:
    """Evaluate the statements that depend on indices alone, and replace them by constants."""
    words = known_words(graph, fmt)
    if not words:
        return graph
    rest = with_statements(graph, (s for s in graph.statements if s.target not in words))
    constants = {name: replace(graph.tensors[name], role="constant", filled=False) for name in words}
    return replace(rest, tensors={**graph.tensors, **constants}, words={**graph.words, **words}, fraction=fmt.fraction)
