"""Values that are known before any sample comes are constants: computed here, loaded with the models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabla.ir.evaluate import evaluate_fixed
from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.independent import independent, tables
from tabla.ir.rewrite import with_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A graph without the statements that make such values, and their words by tensor."""

    graph: Graph
    words: Mapping[str, NDArray[np.int64]]


def known(graph: Graph, fmt: Format) -> Known:
    """Evaluate what depends on indices alone; what overflows or leaves a domain stays, so that it is counted."""
    names = tables(graph)
    if not names:
        return Known(graph=graph, words={})
    numbers = independent(graph)
    alone = with_statements(graph, (s for s in graph.statements if s.id in numbers))
    tensors = {statement.target: graph.tensors[statement.target] for statement in alone.statements}
    found = evaluate_fixed(replace(alone, tensors=tensors, updates={}, results=()), fmt, {})
    if found.counts.overflows or found.counts.domain_errors:
        return Known(graph=graph, words={})
    rest = with_statements(graph, (s for s in graph.statements if s.target not in names))
    constants = {name: replace(graph.tensors[name], role="constant", filled=False) for name in names}
    return Known(
        graph=replace(rest, tensors={**graph.tensors, **constants}), words={name: found.values[name] for name in names}
    )
