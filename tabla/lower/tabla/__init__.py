"""A checked program of the TABLA language becomes a graph."""

from __future__ import annotations

from tabla.lower.tabla.program import lower

__all__ = ["lower"]
