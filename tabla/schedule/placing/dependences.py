"""Dependences: which task needs the words of which other task, and how many cycles must lie between them.

Dependences follow from footprints, word by word, so a task may begin before the task whose words it reads has ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx
import numpy as np

from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.strand import Cycles
from tabla.schedule.strands.tasks import NEVER, Footprint, MemoryKey, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependences:
    """The footprints of a list of tasks, by place.

    `models` are the places that updates overwrite. `writers` and `readers` have the tasks, by number, that write and
    read words of each place. `makers` has the task that makes each tensor. `united` keeps what `_last_of` found,
    and `gaps` what `_gap` found, by the identities of footprints that the tasks hold.
    """

    tasks: Sequence[Task]
    models: frozenset[MemoryKey]
    writers: Mapping[MemoryKey, Sequence[int]]
    readers: Mapping[MemoryKey, Sequence[int]]
    makers: Mapping[str, int]
    united: dict[int, _United] = field(default_factory=dict, repr=False, compare=False)
    gaps: dict[tuple[int, int], int | None] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(tasks: Sequence[Task], models: frozenset[MemoryKey]) -> Dependences:
        """Collect the footprints of all tasks, and of their fed variants."""
        writers: dict[MemoryKey, list[int]] = {}
        readers: dict[MemoryKey, list[int]] = {}
        for n, task in enumerate(tasks):
            for footprint in task.writes:
                writers.setdefault(footprint.key, []).append(n)
            for variant in (task, task.fed):
                for footprint in variant.reads if variant else ():
                    if n not in readers.setdefault(footprint.key, []):
                        readers[footprint.key].append(n)
        makers = {t: n for n, task in enumerate(tasks) for t in task.produces}
        return Dependences(tasks=tasks, models=models, writers=writers, readers=readers, makers=makers)

    def order(self, *, waves: bool = False) -> nx.DiGraph[int]:
        """Return the graph of tasks in which an edge leads from each task to those that must come after it.

        With `waves` an edge is left out where the later task reads no word that the earlier one writes.
        """
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self.tasks)))
        for key, writers in self.writers.items():
            for w in writers:
                for r in self.readers.get(key, ()):
                    if w == r or self.partners(key, r) or not self._earlier(key, w, r):
                        continue
                    if not waves or self._meet(key, w, r):
                        graph.add_edge(*((r, w) if key in self.models else (w, r)))
        for n, task in enumerate(self.tasks):
            if task.wants and (maker := self.makers.get(task.wants)) not in (None, n):
                graph.add_edge(maker, n)
        return graph

    def partners(self, key: MemoryKey, reader: int) -> bool:
        """Say whether a task that reads a model also updates it.

        Such tasks need no order: each reads the words that it updates itself, and the snapshot pass has replaced all
        other reads.
        """
        return key in self.models and reader in self.writers[key]

    def after_writes(self, n: int, footprint: Footprint, placed: Mapping[int, Placed]) -> int:
        """Return the first cycle in which task `n` may begin, so that it reads words after they were written."""
        if footprint.key in self.models:
            return 0
        # With waves some writers are not placed yet; task `n` reads none of their words.
        after = 0
        for w in self.writers.get(footprint.key, ()):
            if w != n and w in placed and self._earlier(footprint.key, w, n):
                after = max(after, self._cleared(placed[w].start, placed[w].task.writes, footprint))
        return after

    def after_reads(self, n: int, footprint: Footprint, placed: Mapping[int, Placed]) -> int:
        """Return the first cycle in which task `n` may begin, so that it overwrites a model after its last reads."""
        if footprint.key not in self.models:
            return 0
        readers = [r for r in self.readers.get(footprint.key, ()) if r != n and r in placed]
        others = [r for r in readers if not self.partners(footprint.key, r)]
        return max((self._cleared(placed[r].start, placed[r].task.reads, footprint) for r in others), default=0)

    def _meet(self, key: MemoryKey, writer: int, reader: int) -> bool:
        """Say whether a reader reads a word that a writer writes."""
        variants = [v for v in (self.tasks[reader], self.tasks[reader].fed) if v is not None]
        reads = [footprint for variant in variants for footprint in variant.reads if footprint.key == key]
        return any(self._gap(self.tasks[writer].writes, r) is not None for r in reads)

    def _earlier(self, key: MemoryKey, writer: int, reader: int) -> bool:
        """Say whether a task reads the words of a writer, or overwrites them.

        If several statements write one tensor, a statement reads the words of those before it. Models, moves and
        results are read whatever their order in the list.
        """
        both = self.tasks[writer].statement, self.tasks[reader].statement
        return key in self.models or min(both) < 0 or both[0] < both[1]

    def _cleared(self, start: int, footprints: Sequence[Footprint], after: Footprint) -> int:
        """Return the first cycle in which a task may begin if its footprint `after` must follow those of another task,
        which begins in the cycle `start`.
        """
        gap = self._gap(footprints, after)
        return 0 if gap is None else max(0, start + gap + 1)

    def _gap(self, footprints: Sequence[Footprint], after: Footprint) -> int | None:
        """Return the most cycles from the first touch of a word by `after` to its last touch by footprints of the same
        place. The result is None if they share no word.
        """
        key = id(footprints), id(after)
        if key not in self.gaps:
            last = self._last_of(footprints).get(after.key)
            # A word that one of them does not touch gives a number far below all cycles.
            gap = NEVER if last is None else int((last - after.first).max())
            self.gaps[key] = gap if gap > NEVER // 2 else None
        return self.gaps[key]

    def _last_of(self, footprints: Sequence[Footprint]) -> Mapping[MemoryKey, Cycles]:
        """Return the last cycle in which any of the footprints of a task touches each word, by place.

        A body of many operations has a footprint for each of them, and each footprint is as long as its place.
        """
        found = self.united.get(id(footprints))
        if found is None:
            last: dict[MemoryKey, Cycles] = {}
            for footprint in footprints:
                known = last.get(footprint.key)
                last[footprint.key] = footprint.last if known is None else np.maximum(known, footprint.last)
            found = self.united[id(footprints)] = _United(footprints, last)
        return found.last


@dataclass(frozen=True, slots=True)
class _United:
    """The footprints of a task, and the last cycles by place.

    The footprints are held here so that their identities stay unique.
    """

    footprints: Sequence[Footprint]
    last: Mapping[MemoryKey, Cycles]
