"""Tensor Comprehensions: text -> checked functions."""

from __future__ import annotations

from tabla.lang.tabla.faults import Faults
from tabla.lang.tc.check import UnitCheck
from tabla.lang.tc.parser import read
from tabla.lang.tc.program import Function, Unit
from tabla.source import Source

__all__ = ["Function", "Unit", "parse"]


def parse(source: Source) -> Unit:
    """Read and check a text. Raises one `TablaError`, the first in the order of the text, the others in its `more`."""
    faults = Faults()
    definitions = read(source, faults)
    return UnitCheck(definitions, faults).run()
