"""How a statement may be computed, as the bound sees it (DESIGN 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal["root", "lane", "tree"]
"""How a statement is computed: at the root, in lanes over an output index, or up the tree over a summed index."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How a statement is computed: at the root, in lanes over an output index, or up the tree over a summed one.

    In lanes with no index: every lane makes all words for itself.
    """

    way: Way
    index: str = ""


EVERYWHERE = Choice("lane")

UNDIVIDED, APART = "", "apart from"
"""In place of an index along which groups divide a statement: each does all of it; some group does none of it."""
