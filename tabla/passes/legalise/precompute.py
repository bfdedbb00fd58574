"""Precomputation: values that depend on indices alone become constants, which are loaded with the models."""

from __future__ import annotations

from dataclasses import replace

from tabla.ir.evaluate import evaluate_fixed
from tabla.ir.format import Format
from tabla.ir.independent import independent, tables
from tabla.ir.legal import Legal
from tabla.ir.rewrite import with_statements


def precompute(legal: Legal, fmt: Format) -> Legal:
    """Evaluate the statements that depend on indices alone, and replace them by constants.

    If one of these statements overflows or leaves the domain of a function, all of them stay in the graph, so that the
    machine counts the event.
    """
    graph = legal.graph
    names = tables(graph)
    if not names:
        return legal
    numbers = independent(graph)
    alone = with_statements(graph, (s for s in graph.statements if s.id in numbers))
    tensors = {statement.target: graph.tensors[statement.target] for statement in alone.statements}
    found = evaluate_fixed(replace(alone, tensors=tensors, updates={}, results=()), fmt, {})
    if found.counts.overflows or found.counts.domain_errors:
        return legal
    rest = with_statements(graph, (s for s in graph.statements if s.target not in names))
    constants = {name: replace(graph.tensors[name], role="constant", filled=False) for name in names}
    return Legal(
        graph=replace(rest, tensors={**graph.tensors, **constants}),
        words={**legal.words, **{name: found.values[name] for name in names}},
    )
