"""The ways in which a statement may be computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal["root", "lane", "tree"]
"""At the root, in lanes over an output index, or over lanes along a summed one, added by the tree."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A way, and the index over the lanes. In lanes without an index every lane makes all words for itself."""

    way: Way
    index: str = ""


EVERYWHERE = Choice("lane")

UNDIVIDED, APART = "", "apart from"
"""Names that stand in place of the index along which groups of lanes divide a statement.

`UNDIVIDED`: every group computes all of the statement. `APART`: some group computes none of it.
"""
