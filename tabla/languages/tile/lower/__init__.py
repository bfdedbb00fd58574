"""A traced Tile program becomes a graph."""

from __future__ import annotations

from tabla.languages.tile.lower.program import lower

__all__ = ["lower"]
