"""The TABLA language: text -> checked syntax tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from tabla.base.faults import Faults
from tabla.base.source import Source
from tabla.languages.tabla.check import Checker
from tabla.languages.tabla.parser import read
from tabla.languages.tabla.program import Program

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
