"""What the fields of an operation say: its symbols, the lanes that it drives and those that its guard leaves active."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.check.runs import address_of
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Operation, Strand
from tabla.templates.instructions import LANE_KINDS, kind_of, operation_format

Active = NDArray[np.bool_]


def symbol(operation: Operation, unit: str, name: str) -> str:
    """Return the symbol of a field. A field that the operation does not name has its first choice."""
    value = operation.field(name)
    if isinstance(value, str):
        return value
    choices = next(f.choices for f in operation_format(unit).fields if f.name == name)
    return choices[value]


def lanes_of(schedule: Schedule, unit: str) -> slice:
    """Return the lanes of each group that a unit drives. A root counts as one lane."""
    kind = kind_of(unit)
    if kind not in LANE_KINDS:
        return slice(0, 1)
    if unit == kind:
        return slice(0, schedule.template.lanes)
    each = schedule.template.lanes_per_sequencer
    number = int(unit.removeprefix(f"{kind}_"))
    return slice(number * each, (number + 1) * each)


def guarded(strand: Strand, operation: Operation, iterations: slice, lanes: slice) -> Active | None:
    """Return which of some lanes are active in each iteration, or None if all of them always are."""
    low, high = (strand.values(address_of(operation, name, strand))[iterations] for name in ("low", "high"))
    if low.size and low.max() <= lanes.start and high.min() >= lanes.stop:
        return None
    numbers = np.arange(lanes.start, lanes.stop, dtype=np.int64)
    found: Active = np.logical_and(low[:, None] <= numbers, numbers < high[:, None])
    return found
