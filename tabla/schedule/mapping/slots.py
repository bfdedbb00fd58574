"""How many issue slots a statement takes: the cycles for which one multiplier would be busy with it."""

from __future__ import annotations

from math import prod

from tabla.graph.graph import Extreme, Linear, Product, Scatter, Statement, landing_box
from tabla.graph.scan import scan_count
from tabla.schedule.mapping.fit import Fit
from tabla.templates.template import timing


def issue_slots(statement: Statement) -> int:
    """Count the issue slots of a statement at one multiplier, all terms together."""
    if statement.constraints:
        return _scan_slots(statement)
    points = prod(index.extent for index in (*statement.indices, *statement.reduced))
    operation = statement.operation
    if isinstance(operation, Extreme):
        return points * len(operation.operands)
    if isinstance(operation, Scatter):
        boxes = (landing_box(statement, landing) for landing in operation.landings)
        return sum(prod(index.extent for index in box) for box in boxes)
    terms = getattr(operation, "terms", ())
    products = max(1, sum(1 for t in terms if len(t.factors) == 2))
    return points * products


def _scan_slots(statement: Statement) -> int:
    """Count the issue slots of a scan: one for each output and each word that the output adds or compares."""
    operation = statement.operation
    if isinstance(operation, Product):
        steps = prod(index.extent for index in statement.reduced)
        return max(scan_count(statement), timing().result) * steps + prod(index.extent for index in statement.indices)
    each = sum(1 for t in operation.terms if t.reduce) if isinstance(operation, Linear) else len(statement.operands)
    return prod(index.extent for index in statement.indices) * each


def lane_slots(statement: Statement, fit: Fit, lanes: int) -> float:
    """Count the issue slots of each lane if the index of a fit runs over so many lanes."""
    extent = statement.box[fit.index].extent
    return issue_slots(statement) / extent * -(-(extent + fit.offset % lanes) // lanes)
