"""The TABLA language: text -> checked syntax tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from tabla.lang.faults import Faults
from tabla.lang.tabla.check import Checker
from tabla.lang.tabla.parser import read
from tabla.lang.tabla.program import Program
from tabla.source import Source

__all__ = ["Program", "parse"]


def parse(
    source: Source,
    defines: Mapping[str, str] = MappingProxyType({}),
    *,
    defined_elsewhere: Collection[str] = (),
) -> Program:
    """Read and check a TABLA text.

    `defines` replace constants wherever the text sets them (``{"m": "20"}``); ``mu`` may be defined in every
    program with gradients. A definition that nothing uses is a fault, unless its name is in
    `defined_elsewhere` (the preprocessor used it). Raises one `TablaError`, the first in the order of the
    text; the other faults of the same run are in its `more`.
    """
    faults = Faults()
    items = read(source, faults)
    return Checker(source, items, defines, faults).run(defined_elsewhere)
