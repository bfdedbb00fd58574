"""Tensor Comprehensions: text -> checked functions."""

from __future__ import annotations

from tabla.base.faults import Faults
from tabla.base.source import Source, TablaError
from tabla.languages.tc.check import UnitCheck
from tabla.languages.tc.parser import read
from tabla.languages.tc.program import Function, Unit
from tabla.languages.tc.ranges import Inference, infer
from tabla.languages.tc.ranges_text import ranges_text

__all__ = ["Function", "Inference", "Unit", "infer", "parse", "ranges_text"]


def parse(source: Source) -> Unit:
    """Read a text, check it, and infer its ranges for all sizes.

    Raises one `TablaError`, the first in the order of the text, with the others in its `more`.
    """
    faults = Faults()
    definitions = read(source, faults)
    unit = UnitCheck(definitions, faults).run()
    for function in unit.functions.values():
        try:
            infer(function)
        except TablaError as fault:
            for one in (fault, *fault.more):
                faults.include(TablaError(one.message, *one.labels, hint=one.hint, notes=one.notes))
    faults.raise_any()
    return unit
