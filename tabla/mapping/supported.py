"""What a graph can say and the machine cannot compute yet: refused with its place, before any mapping."""

from __future__ import annotations

from tabla.ir.graph import Graph, Statement
from tabla.source import Label, TablaError


def check_supported(graph: Graph) -> None:
    """Raise `TablaError` for the first statement that the machine cannot compute."""
    for statement in graph.statements:
        if (what := _missing(statement)) is not None:
            labels = (Label(statement.span, "computed here"),) if statement.span else ()
            hint = "tabla eval computes it, in words or in float64"
            raise TablaError(f"{what} does not run on the machine yet", *labels, hint=hint)


def _missing(statement: Statement) -> str | None:
    if statement.constraints:
        return "a statement with constraints"
    return None
