"""Tile: functions of tensors in Python -> programs of contractions and elementwise operators."""

from __future__ import annotations

from tabla.languages.tile.program import Program
from tabla.languages.tile.trace import load, trace

__all__ = ["Program", "load", "trace"]
