"""Values that an output has before its statement: ``O.init(P)`` and ``O.use_default(P)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.languages.tile.domain import covers
from tabla.languages.tile.elementwise import apply
from tabla.languages.tile.places import refuse
from tabla.languages.tile.program import Access, Constraint, Contraction, Name, Node, Number, Operator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Start:
    """The values of an output before its statement.

    Where `joins`, the statement aggregates into them. Otherwise only the elements that nothing is written to keep them.
    """

    values: Node
    joins: bool
    span: Span | None


def started(node: Contraction, start: Start) -> Node:
    """Return the output of a contraction that has values before it."""
    if len(start.values.shape) > len(node.shape) or any(
        extent not in (1, size)
        for extent, size in zip(reversed(start.values.shape), reversed(node.shape), strict=False)
    ):
        refuse(
            f"values of shape {start.values.shape} for an output of shape {node.shape}",
            "sizes are aligned at the right, and are equal or 1",
            start.span,
        )
    unnamed = replace(node, name=Name())
    return replace(_joined(unnamed, start), name=node.name)


def _joined(node: Contraction, start: Start) -> Node:
    def made(operator: Operator, *operands: Node) -> Node:
        return apply(operator, operands, node.span)

    value: Node = node
    if start.joins and node.aggregation == "sum":
        return made("add", node, start.values)
    if start.joins and node.aggregation != "assign":
        joins: dict[str, Operator] = {"product": "multiply", "max": "maximum", "min": "minimum"}
        value = made(joins[node.aggregation], node, start.values)
    return value if covers(node) else made("select", _written(node), value, start.values)


def _written(node: Contraction) -> Contraction:
    """Where the statement writes: 1 at each element that valid index values lead to."""
    one = Number(shape=(), kind="boolean", value=Fraction(1))
    return replace(
        node,
        kind="boolean",
        name=Name(),
        aggregation="max",
        combination="none",
        sources=(Access(node=one, subscripts=()),),
        constraints=(*node.constraints, *_reads(node.sources)),
    )


def _reads(sources: Sequence[Access]) -> list[Constraint]:
    """The bounds of what is read, as constraints."""
    return [
        Constraint(subscript=subscript, bound=extent)
        for source in sources
        for subscript, extent in zip(source.subscripts, source.node.shape, strict=True)
    ]
