"""Tile: functions of tensors in Python -> programs of contractions and elementwise operators."""

from __future__ import annotations

from tabla.lang.tile.program import Program
from tabla.lang.tile.trace import load, trace

__all__ = ["Program", "load", "trace"]
