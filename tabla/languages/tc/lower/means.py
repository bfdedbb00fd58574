"""Means in two statements: ``m(c) +=! X(n, c)`` and then ``m(c) = m(c) / N``.

Nobody sees the sum, because the second statement overwrites it. Where the format cannot hold N, the first statement
therefore computes the mean, which is rounded once and does not saturate (decision 22).
"""

from __future__ import annotations

from collections.abc import Sequence

from tabla.languages.tc.program import Binary, Read, Value, walk
from tabla.languages.tc.ranges import Called
from tabla.languages.tc.statement_ranges import Domain


def overwriting(steps: Sequence[Domain | Called], step: Domain) -> tuple[Domain, Value, bool] | None:
    """Return the statement that overwrites the sum of `step` by an expression with a multiple of it, or None.

    Beside the statement stand the factor of the multiple, and whether it is a divisor. The result is None if the sum is
    read in any other way.
    """
    statement = step.statement
    if statement.reduction != "+" or not statement.initialise or statement.value.scalar.integral:
        return None
    for later in steps[steps.index(step) + 1 :]:
        if isinstance(later, Called):
            if statement.target in (*later.statement.arguments, *later.statement.targets):
                return None
            continue
        reads = [value for value in walk(later.statement.value) if _reads(value, statement.target)]
        if later.statement.target != statement.target and not reads:
            continue
        if later.statement.target != statement.target or later.statement.reduction is not None or len(reads) != 1:
            return None
        for value in walk(later.statement.value):
            match value:
                case Binary(operator="/" | "*" as operator, left=left, right=right) if left is reads[0]:
                    return later, right, operator == "/"
                case Binary(operator="*", left=left, right=right) if right is reads[0]:
                    return later, left, False
        return None
    return None


def _reads(value: Value, tensor: str) -> bool:
    return isinstance(value, Read) and value.tensor == tensor
