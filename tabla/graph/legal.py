"""A graph that the machine can run, with the words of its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.graph.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Legal:
    """A graph on its way to the machine.

    `words` holds, for each tensor of the role `constant`, its words as integers of the build's format, in the tensor's
    shape. When all passes of :mod:`tabla.graph.passes.legalise` have run, every operand of `graph` is a read, apart
    from the constant 1 as a factor, and no address is computed from more than one table.
    """

    graph: Graph
    words: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, compare=False, repr=False)
