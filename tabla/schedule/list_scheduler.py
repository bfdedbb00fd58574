"""List scheduling of tasks: longest path first, each at its earliest cycle, ties by position.

Units, the bus and the function unit's output are reserved as intervals. Scalars and short vectors at the root are
forwarded from its result or function register when the cycle fits, which saves the way through its memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import networkx as nx

from tabla.schedule.dependences import Dependences
from tabla.schedule.placed import Placed
from tabla.schedule.reservations import Hold, Reservations
from tabla.strands.tasks import MemoryKey, Port, Task
from tabla.templates.template import timing

MOST_STEPS = 100_000


def list_schedule(
    tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
) -> list[Placed] | None:
    """Place every task (:class:`tabla.schedule.placed.Scheduler`)."""
    return _ListScheduler(tasks, models, sequencers=sequencers, waves=waves).run()


class _ListScheduler:
    """Schedules one list of tasks.

    With `waves` a part of a statement goes before the next part of the statement whose words it takes: tasks are then
    ordered by how many tasks come before them, not by the path that comes after them.
    """

    def __init__(self, tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool) -> None:
        self.tasks = list(tasks)
        self.waves = waves
        self.sequencers = sequencers
        self.dependences = Dependences.of(self.tasks, models)
        self.reserved = Reservations(sequencers=sequencers)
        self.placed: dict[int, Placed] = {}
        # The tasks that show words of a tensor in a register.
        self.showing: dict[str, list[Placed]] = {}

    def run(self) -> list[Placed] | None:
        """Place every task. None if copies of whole tensors wait for each other, or if strands of one task want one
        unit in the same cycle.
        """
        if any(task.clashes(self.sequencers) for task in self.tasks):
            return None
        graph = self.dependences.order(waves=self.waves)
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
        if task.wants:
            hold = self._hold(task, start)
            assert hold is not None
            hold.last = max(hold.last, start + task.wants_cycles[1])
        self.reserved.take_task(task, start)

    def _earliest(self, n: int, task: Task) -> Placed | None:
        at_port = {port.access: port for port in task.ports}
        fixed, by_port = 0, {}
        for position, access in enumerate(task.reads):
            bound = self.dependences.after_writes(n, access, self.placed)
            if position in at_port and bound > 0:
                by_port[position] = bound
            else:
                fixed = max(fixed, bound)
        fixed = max([fixed, *(self.dependences.after_reads(n, access, self.placed) for access in task.writes)])
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
            push = self.reserved.push_task(task, start)
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


def _waves(graph: nx.DiGraph[int]) -> dict[int, int]:
    """How many tasks come before each, one after the other."""
    return {n: wave for wave, tasks in enumerate(nx.topological_generations(graph)) for n in tasks}
