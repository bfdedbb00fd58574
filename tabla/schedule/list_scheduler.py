"""List scheduling of tasks: longest path first, each at its earliest cycle, ties by position.

Units, the bus and the function unit's output are reserved as intervals. Scalars and short vectors at the root are
forwarded from its result or function register when the cycle fits, which saves the way through its memory.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import networkx as nx
import numpy as np

from tabla.strands.strand import Strand
from tabla.strands.tasks import LATE, NEVER, Access, MemoryKey, Port, Task
from tabla.templates.template import timing

MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class Placed:
    """A task at a cycle; `forwards` are the ports that take a register instead of a memory word."""

    task: Task
    start: int
    forwards: tuple[tuple[Port, str], ...] = ()

    def strands(self) -> list[Strand]:
        """Its strands at their cycles, forwarded operands put in."""
        out = [s.at(s.start + self.start) for s in self.task.strands]
        for port, register in self.forwards:
            strand = out[port.strand]
            body = list(strand.body)
            body[port.slot] = replace(
                body[port.slot],
                fields={**body[port.slot].fields, port.port: register},
                addresses={k: v for k, v in body[port.slot].addresses.items() if k != port.port},
            )
            out[port.strand] = replace(strand, body=tuple(body))
        return out


@dataclass(slots=True)
class Hold:
    """Cycles [first, last] in which the bus carries one task's words; `tensor` if it is a scalar that may stay."""

    first: int
    last: int
    tensor: str


@dataclass(slots=True)
class Reservations:
    """What is taken: half-open intervals of units and of the function output, and the holds of the bus."""

    units: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    bus: list[Hold] = field(default_factory=list)

    def push(self, name: str, begin: int, end: int) -> int:
        """How far an interval must move to clear the first thing in its way; 0 if it is free."""
        # They are apart from each other, so their ends rise with their beginnings.
        taken = self.units.get(name, [])
        after = bisect_left(taken, (begin, begin))
        for b, e in taken[max(0, after - 1) : after + 1]:
            if b < end and begin < e:
                return e - begin
        return 0

    def push_bus(self, first: int, last: int) -> int:
        """The same for the bus."""
        return max((h.last + 1 - first for h in self.bus if h.first <= last and first <= h.last), default=0)

    def take(self, name: str, begin: int, end: int) -> None:
        """Reserve."""
        insort(self.units.setdefault(name, []), (begin, end))


class ListScheduler:
    """Schedules one list of tasks; `models` are the keys of places that updates overwrite.

    With `waves` parts of a statement go before the next part of the statement whose words they take: tasks are ordered
    by how many of both come before them, instead of by what comes after.
    """

    def __init__(
        self, tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int = 1, waves: bool = False
    ) -> None:
        self.tasks = list(tasks)
        self.waves = waves
        self.sequencers = sequencers
        self.models = models
        self.reserved = Reservations()
        self.placed: dict[int, Placed] = {}
        # The tasks that show words of a tensor in a register.
        self.showing: dict[str, list[Placed]] = {}
        self.writers: dict[MemoryKey, list[int]] = {}
        self.readers: dict[MemoryKey, list[int]] = {}
        for n, task in enumerate(self.tasks):
            for access in task.writes:
                self.writers.setdefault(access.key, []).append(n)
            for variant in (task, task.fed):
                for access in variant.reads if variant else ():
                    if n not in self.readers.setdefault(access.key, []):
                        self.readers[access.key].append(n)
        self.makers = {t: n for n, task in enumerate(self.tasks) for t in task.produces}

    def run(self) -> list[Placed] | None:
        """Place every task; in the order of the tasks. None if copies of whole tensors wait for each other, or
        strands of one task for the same unit.
        """
        if any(task.clashes(self.sequencers) for task in self.tasks):
            return None
        graph = self._order()
        if not nx.is_directed_acyclic_graph(graph):
            return None
        ranks = self._ranks(graph)
        # Parts of a statement come in their order, whatever each takes.
        pairs = itertools.pairwise(self.tasks)
        graph.add_edges_from((n, n + 1) for n, (a, b) in enumerate(pairs) if a.statement == b.statement >= 0)
        urgency = _waves(graph) if self.waves else {n: -rank for n, rank in ranks.items()}
        waiting = {n: graph.in_degree(n) for n in graph}
        ready = sorted((n for n, d in waiting.items() if d == 0), key=lambda n: (urgency[n], n))
        while ready:
            n = ready.pop(0)
            self._place(n)
            for after in graph.successors(n):
                waiting[after] -= 1
                if waiting[after] == 0:
                    ready.append(after)
            ready.sort(key=lambda n: (urgency[n], n))
        return [self.placed[n] for n in range(len(self.tasks))]

    def _order(self) -> nx.DiGraph[int]:
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self.tasks)))
        for key, writers in self.writers.items():
            for w in writers:
                for r in self.readers.get(key, ()):
                    if w == r or self._partners(key, r) or not self._earlier(key, w, r):
                        continue
                    if not self.waves or self._meet(key, w, r):
                        graph.add_edge(*((r, w) if key in self.models else (w, r)))
        for n, task in enumerate(self.tasks):
            if task.wants and (maker := self.makers.get(task.wants)) not in (None, n):
                graph.add_edge(maker, n)
        return graph

    def _meet(self, key: MemoryKey, writer: int, reader: int) -> bool:
        """Whether a reader reads a word that a writer writes."""
        variants = [v for v in (self.tasks[reader], self.tasks[reader].fed) if v is not None]
        reads = [access for variant in variants for access in variant.reads if access.key == key]
        writes = [access for access in self.tasks[writer].writes if access.key == key]
        return any(_both(w, r.first).any() for w in writes for r in reads)

    def _earlier(self, key: MemoryKey, writer: int, reader: int) -> bool:
        """Whether a reader can mean what a writer writes: of statements into one tensor only the earlier ones."""
        both = self.tasks[writer].statement, self.tasks[reader].statement
        return key in self.models or min(both) < 0 or both[0] < both[1]

    def _partners(self, key: MemoryKey, reader: int) -> bool:
        """Whether a reader of a model updates it too: such tasks touch different elements (snapshots see to it)."""
        return key in self.models and reader in self.writers[key]

    def _ranks(self, graph: nx.DiGraph[int]) -> dict[int, int]:
        rank: dict[int, int] = {}
        for n in reversed(list(nx.lexicographical_topological_sort(graph))):
            rank[n] = self.tasks[n].length + max((rank[s] for s in graph.successors(n)), default=0)
        return rank

    # ---- one task

    def _place(self, n: int) -> None:
        task = self.tasks[n]
        found = [p for v in (task, task.fed) if v is not None and (p := self._earliest(n, v)) is not None]
        best = min(found, key=lambda p: p.start + p.task.length)
        self.placed[n] = best
        for shown in best.task.shown:
            self.showing.setdefault(shown.tensor, []).append(best)
        task, start = best.task, best.start
        for strand in task.strands:
            for unit in strand.units(self.sequencers):
                self.reserved.take(unit, strand.start + start, strand.end + start)
        if task.function:
            self.reserved.take("function", task.function[0] + start, task.function[1] + start + 1)
        if task.wants:
            hold = self._hold(task, start)
            assert hold is not None
            hold.last = max(hold.last, start + task.wants_cycles[1])
        if task.bus:
            self.reserved.bus.append(Hold(task.bus[0] + start, task.bus[1] + start, task.holds))

    def _earliest(self, n: int, task: Task) -> Placed | None:
        at_port = {port.access: port for port in task.ports}
        fixed, by_port = 0, {}
        for position, access in enumerate(task.reads):
            bound = self._after_writes(n, access.key, access.first)
            if position in at_port and bound > 0:
                by_port[position] = bound
            else:
                fixed = max(fixed, bound)
        for access in task.writes:
            if access.key in self.models:
                for r in self.readers.get(access.key, ()):
                    if r != n and r in self.placed and not self._partners(access.key, r):
                        fixed = max(fixed, self._after_reads(r, access.key, access.first))
        plain = self._fit(task, max([fixed, *by_port.values()]))
        candidates = [Placed(task, plain)] if plain is not None else []
        for position in sorted(by_port):
            forwarded = self._forwarded(task, fixed, by_port, at_port, position)
            if forwarded is not None:
                candidates.append(forwarded)
        return min(candidates, key=lambda p: (p.start, len(p.forwards)), default=None)

    def _forwarded(
        self, task: Task, fixed: int, by_port: dict[int, int], at_port: dict[int, Port], position: int
    ) -> Placed | None:
        shown = self._shown(at_port[position])
        for register, cycle in shown:
            start = cycle - at_port[position].cycle
            if start < fixed:
                continue
            forwards = []
            fine = True
            for other, bound in sorted(by_port.items()):
                if bound <= start:
                    continue
                port = at_port[other]
                match = [r for r, c in self._shown(port) if c == start + port.cycle]
                if match:
                    forwards.append((port, match[0]))
                else:
                    fine = False
            if fine and register and self._fit(task, start) == start:
                return Placed(task, start, tuple(forwards))
        return None

    def _shown(self, port: Port) -> list[tuple[str, int]]:
        """(source, cycle) for which a port can have what it reads from a register, the words of a vector one by one;
        the earliest first. An addend can join late: it may show after the cycle in which other operands are wanted.
        """
        found = [
            (shown.register, shown.show + maker.start + wait)
            for maker in self.showing.get(port.tensor, ())
            for shown in maker.task.shown
            if shown.tensor == port.tensor and (wait := shown.wait(port.words, port.interval)) is not None
        ]
        if port.port == "c":
            early = timing().late_operand - timing().operand
            found += [(f"late_{register}", cycle - early) for register, cycle in found]
        return sorted(found, key=lambda source: source[1])

    def _after_writes(self, n: int, key: MemoryKey, first: np.ndarray) -> int:
        if key in self.models:
            return 0
        # In waves some are not placed yet: none of their words is read here.
        writers = [w for w in self.writers.get(key, ()) if w != n and w in self.placed and self._earlier(key, w, n)]
        return max((self._cleared(w, self.placed[w].task.writes, key, first) for w in writers), default=0)

    def _after_reads(self, r: int, key: MemoryKey, first: np.ndarray) -> int:
        return self._cleared(r, self.placed[r].task.reads, key, first)

    def _cleared(self, n: int, accesses: Sequence[Access], key: MemoryKey, first: np.ndarray) -> int:
        """From when on a task may run that touches words `first` in these cycles, after those of placed task n."""
        bound = 0
        for access in accesses:
            if access.key == key and (both := _both(access, first)).any():
                bound = max(bound, self.placed[n].start + int((access.last[both] + 1 - first[both]).max()))
        return bound

    def _hold(self, task: Task, start: int) -> Hold | None:
        """The hold of the wanted scalar that can serve the task at `start`."""
        first, last = start + task.wants_cycles[0], start + task.wants_cycles[1]
        for hold in self.reserved.bus:
            if hold.tensor == task.wants and hold.first <= first:
                if not any(h is not hold and hold.first <= h.last and h.first <= last for h in self.reserved.bus):
                    return hold
        return None

    def _fit(self, task: Task, start: int) -> int | None:
        """The first cycle from `start` on at which nothing is in the way."""
        for _ in range(MOST_STEPS):
            push = self._push(task, start)
            if push == 0 and task.wants:
                if self._hold(task, start) is None:
                    later = [h.first - task.wants_cycles[0] for h in self.reserved.bus if h.tensor == task.wants]
                    later = [t for t in later if t > start]
                    if not later:
                        return None
                    push = min(later) - start
            if push == 0:
                return start
            start += push
        raise AssertionError(f"no free cycle for {task.name}")

    def _push(self, task: Task, start: int) -> int:
        for strand in task.strands:
            for unit in strand.units(self.sequencers):
                if push := self.reserved.push(unit, strand.start + start, strand.end + start):
                    return push
        if task.function and (
            push := self.reserved.push("function", task.function[0] + start, task.function[1] + start + 1)
        ):
            return push
        if task.bus:
            return self.reserved.push_bus(task.bus[0] + start, task.bus[1] + start)
        return 0


def _both(access: Access, first: np.ndarray) -> np.ndarray:
    """The words that an access touches and that are touched again, `first` in these cycles."""
    return (access.last > NEVER) & (first < LATE)


def _waves(graph: nx.DiGraph[int]) -> dict[int, int]:
    """How many tasks come before each, one after the other."""
    return {n: wave for wave, tasks in enumerate(nx.topological_generations(graph)) for n in tasks}


def all_strands(placed: Iterable[Placed]) -> list[Strand]:
    """Every strand, by unit and start."""
    return sorted((s for p in placed for s in p.strands()), key=lambda s: (s.unit, s.start))
