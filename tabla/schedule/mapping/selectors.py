"""Constants of ones and zeros with which tap groups choose the words that they pass on and those that they keep.

The sum of a word times 1 and other words times 0 is that word. Where the axis of the groups is cut, each group has its
own ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.graph.graph import Affine, Graph, Read, Statement, Tensor
from tabla.schedule.mapping.partition import Axis
from tabla.schedule.mapping.row_axes import Rows

GROUP, PART, EACH, ROW = "rows.group", "rows.part", "rows.each", "rows.row"
"""The indices of statements that read selectors: the group that computes, the group whose words a sum takes, the group
whose words come to all groups, and the row.
"""
_SELECTORS = "rows."
_OWN = f"{_SELECTORS}own"


def cut_axes(graph: Graph) -> frozenset[Axis]:
    """Return the axes of a graph's selectors that must be cut between the groups."""
    names = (name for name in graph.tensors if _is_selector(graph, name))
    return frozenset((name, 1 if name.startswith(_OWN) else 0) for name in names)


def selects(statement: Statement, graph: Graph) -> bool:
    """Say whether a statement reads a selector. None of its products is one of the program then."""
    return any(_is_selector(graph, name) for name in statement.sources)


def _is_selector(graph: Graph, name: str) -> bool:
    # A program may have a value rows.t1, but no constant of such a name.
    return name.startswith(_SELECTORS) and graph.tensors[name].role == "constant"


@dataclass(eq=False)
class Selectors:
    """The selectors that were asked for, of so many `groups`. `one` is the word of the number 1."""

    groups: int
    one: int
    tensors: dict[str, Tensor] = field(default_factory=dict)
    words: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def beside(self, shift: int) -> Read:
        """Return the word that is 1 if the part of a sum is the group that lies `shift` groups behind the own one."""
        return self._read(f"beside{shift:+d}", np.eye(self.groups, k=shift, dtype=np.bool_), (GROUP, PART))

    def own(self) -> Read:
        """Return the word that is 1 if a group's words are those that come to all groups."""
        return self._read("own", np.eye(self.groups, dtype=np.bool_), (EACH, PART))

    def existing(self, extent: int, rows: Rows, first: int, count: int) -> Read:
        """Return what `own` returns for rows that a tensor has, and 0 for others.

        The tensor has `extent` rows in all. The `count` rows begin with the row `first` of a group.
        """
        own = np.eye(self.groups, dtype=np.bool_)[:, :, None]
        held = own & self._held(extent, rows, first, count)
        return self._read(f"own.{extent}.{rows.rows}.{first}.{count}", held, (EACH, PART, ROW))

    def inside(self, extent: int, rows: Rows, first: int, count: int) -> Read:
        """Return the word that is 1 for rows that the tensor has, and 0 for others.

        The tensor has `extent` rows in all. The `count` rows begin with the row `first` of a group.
        """
        held = self._held(extent, rows, first, count)
        return self._read(f"inside.{extent}.{rows.rows}.{first:+d}.{count}", held, (GROUP, ROW))

    def _held(self, extent: int, rows: Rows, first: int, count: int) -> NDArray[np.bool_]:
        """Return, for each group and each of `count` rows from its row `first` on, whether the tensor has the row."""
        row = np.arange(self.groups)[:, None] * rows.rows + first + np.arange(count)
        found: NDArray[np.bool_] = (row >= 0) & (row < extent)
        return found

    def _read(self, name: str, ones: NDArray[np.bool_], indices: tuple[str, ...]) -> Read:
        name = f"{_SELECTORS}{name}"
        self.tensors[name] = Tensor(name=name, shape=ones.shape, role="constant")
        self.words[name] = ones * np.int64(self.one)
        return Read(tensor=name, subscripts=tuple(Affine.index(index) for index in indices))
