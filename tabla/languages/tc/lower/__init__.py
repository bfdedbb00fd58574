"""A checked function of Tensor Comprehensions becomes a graph."""

from __future__ import annotations

from tabla.languages.tc.lower.function import lower

__all__ = ["lower"]
