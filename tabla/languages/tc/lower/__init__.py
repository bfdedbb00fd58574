"""A checked function of Tensor Comprehensions becomes a graph."""

from __future__ import annotations

from tabla.languages.tc.lower.program import lower

__all__ = ["lower"]
