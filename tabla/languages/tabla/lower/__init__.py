"""A checked program of the TABLA language becomes a graph."""

from __future__ import annotations

from tabla.languages.tabla.lower.program import lower

__all__ = ["lower"]
