"""Limits that no array, and no check of a schedule, can exceed: a program beyond them is refused at once."""

from __future__ import annotations

from tabla.ir.graph import Graph
from tabla.mapping.slots import issue_slots
from tabla.source import Label, Span, TablaError
from tabla.templates.template import Template, limits

MOST_CYCLES = 1 << 27
"""The most cycles of one statement. A schedule is checked cycle by cycle, and this many cycles fill a gigabyte."""
LARGEST_PLACE = 1 << 23
"""The most words that one tensor may take in one memory. No FPGA has more."""


def refuse_excess(graph: Graph, template: Template) -> None:
    """Raise `TablaError` for a tensor that no array can hold, and for a statement that takes too many cycles.

    A tensor is too large if it has more elements than all memories of the largest array have words.
    """
    most = limits().pes * limits().memory_words
    for tensor in graph.tensors.values():
        if tensor.size > most:
            message = f"'{tensor.origin or tensor.name}' has {tensor.size:,} elements, the largest array holds {most:,}"
            raise TablaError(message, *_at(tensor.span), hint="make it smaller, or compile a part of it for each call")
    for statement in graph.statements:
        if issue_slots(statement) > MOST_CYCLES * template.pes:
            name = graph.tensors[statement.target].origin or statement.target
            message = f"'{name}' takes {issue_slots(statement):,} operations a sample, {template.pes} PEs do"
            hint = "make its extents smaller, or compile a part of it for each call"
            raise TablaError(f"{message} {MOST_CYCLES * template.pes:,} at most", *_at(statement.span), hint=hint)


def largest_tensor(graph: Graph) -> tuple[Label, ...]:
    """Point at the tensor with the most elements, if its place in the text is known."""
    largest = max(graph.tensors.values(), key=lambda t: t.size)
    return (Label(largest.span, "the largest tensor"),) if largest.span else ()


def _at(span: Span | None) -> tuple[Label, ...]:
    return () if span is None else (Label(span),)
