"""Faults that a compiler could make, planted into schedules that are right."""

from tests.schedule.planted import counted, places, values
from tests.schedule.planted.changes import FAULTS, Fault, operations, with_operation, with_strand

__all__ = ["FAULTS", "Fault", "counted", "operations", "places", "values", "with_operation", "with_strand"]
