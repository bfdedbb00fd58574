"""A traced Tile program becomes a graph."""

from __future__ import annotations

from tabla.lower.tile.program import lower

__all__ = ["lower"]
