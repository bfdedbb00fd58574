"""Limits of all arrays, of all known parts and of the check of schedules: a program beyond them is refused at once."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.base.source import Label, Span, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.schedule.mapping.slots import issue_slots
from tabla.templates.targets import Device, Target, targets
from tabla.templates.template import Template, limits

MOST_CYCLES = 1 << 27
"""The most cycles of one statement. A schedule is checked cycle by cycle, and this many cycles fill a gigabyte."""
LARGEST_PLACE = 1 << 23
"""The most words that one tensor may take in one memory. No FPGA has more."""


_SMALL = 1 << 20
"""Bits that the largest part certainly holds. The records of the parts are read only for a program that needs more."""


def least_bits(graph: Graph, format: Format) -> int:
    """Return a number of bits that every array needs for a graph: of its models, and of the words of one sample.

    Each of them lies in some memory at least once. What else lies there, such as constants, copies, further samples and
    microcode, is not counted.
    """
    read = {name for statement in graph.statements for name in statement.sources}
    kept = [t for t in graph.tensors.values() if t.role in ("input", "label", "model") and t.name in read]
    return sum(tensor.size for tensor in kept) * format.width


def known_parts(own: str | None = None) -> list[tuple[Target, Device]]:
    """Return all parts of our records and of the file `own`, with their families."""
    return [(target, device) for target in targets(own).values() for device in target.devices]


def refuse_without_part(
    graph: Graph, format: Format, own: str | None = None, named: Sequence[tuple[Target, Device]] = ()
) -> None:
    """Raise `TablaError` for a program whose models and sample no known part holds, or none of those that are `named`.

    The known parts are those of our records and of the file `own`. If one of them has a size that is not known, nothing
    is refused. This is told before anything is scheduled; :mod:`tabla.build.cost.capacity` counts what the schedule
    needs.
    """
    need = least_bits(graph, format)
    if need <= _SMALL and not named:
        return
    parts = [(target.memory_bits(device), device.part) for target, device in named or known_parts(own)]
    known = [(bits, part) for bits, part in parts if bits is not None]
    if len(known) < len(parts) or need <= max(known)[0]:
        return
    most, part = max(known)
    what = f"the largest known part, {part}, holds" if not named else f"the {part} holds"
    raise TablaError(
        f"the models and one sample of '{graph.name}' are {need:,} bits; {what} {most:,} in all its memories",
        *largest_tensor(graph),
        hint="make the tensors smaller, or use a narrower --format; --force goes on for a larger part",
    )


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
