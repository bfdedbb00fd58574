"""A kernel becomes a graph, with the words and the roundings of a number format.

The lowerings of the notations that are no kernels yet share its parts: the builder of graphs, constants that are held
against the format, the learning rate, powers and whole numbers.
"""

from __future__ import annotations

from tabla.languages.kernel.lower.program import lower

__all__ = ["lower"]
