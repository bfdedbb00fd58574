"""Copy forwarding: a statement that reads a copy reads the original instead.

Constants and ordinals count as originals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tabla.graph.format import Format
from tabla.graph.graph import Affine, Graph, Operand, Read, Statement
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import copied, operand_at, with_operands, with_operation, with_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """``tensor[write] = original``, from the only statement that writes the tensor."""

    write: tuple[Affine, ...]
    original: Operand
    lows: Mapping[str, int]


@graph_pass("forward-copies", "read the original in place of a copy")
def forward_copies(graph: Graph, fmt: Format) -> Graph:
    """Replace reads of values that one statement copies, and replace such results. The copies themselves stay for
    `drop_dead`.
    """
    writers: dict[str, list[Statement]] = {}
    for statement in graph.statements:
        writers.setdefault(statement.target, []).append(statement)
    copies: dict[str, _Copy] = {}
    changed = []
    for statement in graph.statements:
        operation = with_operands(statement.operation, lambda operand: _forwarded(operand, copies))
        made = with_operation(statement, operation)
        changed.append(made)
        original = copied(made.operation)
        partial = made.constraints or graph.tensors[made.target].filled
        if original is not None and not partial and len(writers[made.target]) == 1:
            lows = {index.name: index.low for index in made.indices}
            copies[made.target] = _Copy(write=made.write, original=original, lows=lows)
    return replace(with_statements(graph, changed), results=_results(graph, copies))


def _results(graph: Graph, copies: Mapping[str, _Copy]) -> tuple[tuple[str, str], ...]:
    """Let a result that copies a whole value be that value, unless the value is a result already."""
    taken = {tensor for _, tensor in graph.results}
    results = []
    for shown, tensor in graph.results:
        original = copies[tensor].original if tensor in copies else None
        if isinstance(original, Read) and original.tensor not in taken:
            source, copy = graph.tensors[original.tensor], graph.tensors[tensor]
            alike = (source.role, source.shape) == (copy.role, copy.shape) == ("value", copy.shape)
            if alike and not source.filled and original.subscripts == copies[tensor].write:
                tensor = original.tensor
                taken.add(tensor)
        results.append((shown, tensor))
    return tuple(results)


def _forwarded(operand: Operand, copies: Mapping[str, _Copy]) -> Operand:
    """Return the operand that a read of a copy reads in the end. Any other operand stays as it is."""
    if not isinstance(operand, Read) or operand.tensor not in copies:
        return operand
    copy = copies[operand.tensor]
    values = _solved(copy, operand.subscripts)
    return operand if values is None else operand_at(copy.original, values)


def _solved(copy: _Copy, subscripts: tuple[Affine, ...]) -> dict[str, Affine] | None:
    """Return the copy's indices for which it writes the element at `subscripts`, or None if they are no
    affine forms.
    """
    # An index that is not in the write runs over one value only.
    values = {name: Affine(constant=low) for name, low in copy.lows.items()}
    solved: set[str] = set()
    for write, subscript in zip(copy.write, subscripts, strict=True):
        match write.coefficients:
            case ():
                continue
            case ((name, factor),):
                if name in solved:
                    # A diagonal: both subscripts give the same value where the element was written.
                    continue
                if any(c % factor for _, c in subscript.coefficients):
                    return None
                # Only written elements are read, so with the coefficients the constant divides too.
                quotients = {other: c // factor for other, c in subscript.coefficients}
                values[name] = Affine.make((subscript.constant - write.constant) // factor, quotients)
                solved.add(name)
            case _:
                return None
    return values
