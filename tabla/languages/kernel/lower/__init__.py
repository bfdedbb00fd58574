"""A kernel becomes a graph, with the words and the roundings of a number format."""

from __future__ import annotations

from tabla.languages.kernel.lower.program import lower

__all__ = ["lower"]
