"""Scans: running sums, extremes and products.

In a scan (also called prefix sum), each output takes all points that the output before it takes, and the next points.
Example: ``y[i] = sum[j](x[j])`` where ``j <= i``. Such an output needs one addition, not a sum of its own, because
what was added before stays in the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tabla.graph.body import common_reduction
from tabla.graph.graph import Constant, Extreme, Index, Linear, Operand, Ordinal, Product, Read, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Which points each output of a scan takes: those with ``sign * summed <= sign * index + offset``.

    `index` is the output index and `summed` the summed one. `sign` is 1 if the outputs take more points from the first
    to the last, and -1 if they do so from the last to the first. A *step* t is ``sign * index``, and a *point* s is
    ``sign * summed``. Both count up, and step t takes all points up to ``t + offset``.
    """

    index: Index
    summed: Index
    sign: int
    offset: int

    @property
    def steps(self) -> range:
        """The steps, in order."""
        return _counted(self.index, self.sign)

    @property
    def points(self) -> range:
        """All points, in order; some may be taken by no step."""
        return _counted(self.summed, self.sign)

    @property
    def first(self) -> range:
        """The points that step `begin` takes, if there is such a step."""
        return range(self.points.start, min(self.points.stop, self.begin + self.offset + 1))

    @property
    def begin(self) -> int:
        """The first step that takes a point; the end of the steps if no step takes one."""
        return min(max(self.points.start - self.offset, self.steps.start), self.steps.stop)

    @property
    def done(self) -> int:
        """The first step after `begin` that takes no more points than the step before; the end if there is none."""
        least = min(self.begin + 1, self.steps.stop)
        return min(max(self.points.stop - self.offset, least), self.steps.stop)

    @property
    def taken(self) -> int:
        """The number of points that some step takes."""
        return max(0, min(self.points.stop, self.steps.stop + self.offset) - self.points.start)


def _counted(index: Index, sign: int) -> range:
    return range(index.low, index.high) if sign > 0 else range(1 - index.high, 1 - index.low)


def scan_of(statement: Statement) -> Scan | None:
    """Return how a statement is a scan; None if it is none.

    In a scan the only constraint ties one summed index to one output index. Nothing that is summed depends on that
    output index, and a word that is added beside the sum is the same for all outputs of a row.
    """
    if len(statement.constraints) != 1 or len(statement.reduced) != 1 or statement.crosses:
        return None
    constraint, (summed,) = statement.constraints[0], statement.reduced
    indices = [index for index in statement.indices if index.name in constraint.names]
    if len(indices) != 1 or set(constraint.names) != {indices[0].name, summed.name} or indices[0].extent < 2:
        return None
    (index,) = indices
    sign = constraint.coefficient(index.name)
    if sign not in (1, -1) or constraint.coefficient(summed.name) != -sign:
        return None
    if isinstance(statement.operation, Product) and sign < 0:
        # Each step of a product is rounded, from the first point on: the last output cannot be made first.
        return None
    if not _can_scan(statement, index.name) or any(index.name in _names(o) for o in statement.operands):
        return None
    found = Scan(index=index, summed=summed, sign=sign, offset=constraint.constant)
    return found if found.taken else None


def scan_count(statement: Statement) -> int:
    """Count the scans of a statement: the rows of outputs that each begin with an empty accumulator.

    The count is 0 if the statement is no scan, or if one strand cannot hold it.
    """
    found = scan_of(statement)
    if found is None or not common_reduction(statement):
        return 0
    return prod(index.extent for index in statement.indices) // found.index.extent


def _can_scan(statement: Statement, index: str) -> bool:
    """Say whether one accumulator can hold a scan: every term is summed alike, beside at most one start value."""
    match statement.operation:
        case Linear(terms=terms, test=None):
            alone = [term for term in terms if not term.reduce]
            plain = all(len(term.factors) == 1 and term.sign > 0 for term in alone)
            return len(alone) <= 1 and plain and len(alone) < len(terms)
        case Extreme(reduce=reduce) | Product(reduce=reduce):
            return bool(reduce)
        case _:
            return False


def _names(operand: Operand) -> tuple[str, ...]:
    match operand:
        case Read(subscripts=subscripts):
            return tuple(name for subscript in subscripts for name in subscript.names)
        case Ordinal(value=value):
            return value.names
        case Constant():
            return ()
