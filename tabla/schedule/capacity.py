"""What no array of ours can hold or finish is refused before anything is scheduled."""

from __future__ import annotations

from tabla.ir.graph import Graph
from tabla.mapping.search import work
from tabla.source import Label, Span, TablaError
from tabla.templates.template import Template, limits

MOST_CYCLES = 1 << 27
"""Of one statement; a schedule is held against its laws cycle by cycle, and this many fill a gigabyte."""


def refuse_excess(graph: Graph, template: Template) -> None:
    """`TablaError` for a tensor larger than all memories of the largest array, and for a statement without an end."""
    most = limits().pes * limits().memory_words
    for tensor in graph.tensors.values():
        if tensor.size > most:
            message = f"'{tensor.origin or tensor.name}' has {tensor.size:,} elements, the largest array holds {most:,}"
            raise TablaError(message, *_at(tensor.span), hint="make it smaller, or compile a part of it for each call")
    for statement in graph.statements:
        if work(statement) > MOST_CYCLES * template.pes:
            name = graph.tensors[statement.target].origin or statement.target
            message = f"'{name}' takes {work(statement):,} operations a sample, {template.pes} PEs do"
            hint = "make its extents smaller, or compile a part of it for each call"
            raise TablaError(f"{message} {MOST_CYCLES * template.pes:,} at most", *_at(statement.span), hint=hint)


def _at(span: Span | None) -> tuple[Label, ...]:
    return () if span is None else (Label(span),)
