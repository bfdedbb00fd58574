"""A checked function of Tensor Comprehensions becomes a graph."""

from __future__ import annotations

from tabla.lower.tc.function import lower

__all__ = ["lower"]
