"""What the body of one strand can hold: the operations that a unit issues for one turn of its innermost loop."""

from __future__ import annotations

from tabla.graph.graph import Extreme, Linear, Statement

MOST_SLOTS = 64
"""The most operations in the body of a strand. A longer sum is unrolled at the root."""
FEW_SHIFTS = 4
"""The most shifts of sums that the operations of a small array can name, with the shift 0."""
MOST_SHIFTS = 32
"""The most shifts of sums in one program, with the shift 0. Those of wide models count as others."""


def common_reduction(statement: Statement) -> bool:
    """Say whether one strand can hold a statement.

    All terms of its sum must be summed over the same indices, or over none, and they must fit into one body.
    """
    if isinstance(statement.operation, Extreme):
        return len(statement.operation.operands) < MOST_SLOTS
    if not isinstance(statement.operation, Linear):
        return True
    sets = {frozenset(t.reduce) for t in statement.operation.terms if t.reduce}
    return len(sets) <= 1 and len(statement.operation.terms) <= MOST_SLOTS
