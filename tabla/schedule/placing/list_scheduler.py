"""List scheduling of tasks.

A task is ready when every task that it depends on has its cycle. Of the ready tasks, the one with the longest path of
tasks behind it goes first, and gets the earliest cycle at which its words and its units are there. Ties are broken by
the position in the list of tasks.

Units, the bus and the output of the function unit are reserved as intervals. A scalar or a short vector at the root is
forwarded from the result register or the function register when the cycle fits, which saves the way through the root's
memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from tabla.schedule.placing.dependences import Dependences
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.reservations import Hold, Reservations
from tabla.schedule.strands.tasks import ForwardableOperand, MemoryKey, Task
from tabla.templates.template import timing


def list_schedule(
    tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
) -> list[Placed] | None:
    """Give every task its cycle, as :class:`tabla.schedule.placing.placed.Scheduler` asks for."""
    order = Order.of(tasks, models, sequencers=sequencers, waves=waves)
    return None if order is None else ListScheduler(order, sequencers=sequencers).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A list of tasks, their dependences, and the `sequence` in which they get their cycles, by number.

    Of the tasks whose turn may come, the one with the longest path of tasks behind it goes first. With `waves`, tasks
    are ordered by the number of tasks that must come before them instead. A part of a statement then goes before the
    next part of the statement whose words it takes.
    """

    tasks: tuple[Task, ...]
    dependences: Dependences
    sequence: tuple[int, ...]

    @staticmethod
    def of(tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool) -> Order | None:
        """Return the order of tasks.

        The result is None if copies of whole tensors wait for each other, or if two strands of one task want the same
        unit in the same cycle.
        """
        if any(task.clashes(sequencers) for task in tasks):
            return None
        dependences = Dependences.of(list(tasks), models)
        graph = dependences.order(waves=waves)
        if not nx.is_directed_acyclic_graph(graph):
            return None
        ranks = _ranks(graph, tasks)
        # The parts of one statement keep their order, whatever words each of them takes.
        pairs = itertools.pairwise(tasks)
        graph.add_edges_from((n, n + 1) for n, (a, b) in enumerate(pairs) if a.statement == b.statement >= 0)
        urgency = _waves(graph) if waves else {n: -rank for n, rank in ranks.items()}
        return Order(tasks=tuple(tasks), dependences=dependences, sequence=_sequence(graph, urgency))


class ListScheduler:
    """The scheduling of an order of tasks, on an array with so many sequencers."""

    def __init__(self, order: Order, *, sequencers: int) -> None:
        self.tasks = order.tasks
        self.sequence = order.sequence
        self.sequencers = sequencers
        self.dependences = order.dependences
        self.reserved = Reservations(sequencers=sequencers)
        self.placed: dict[int, Placed] = {}
        # By tensor: the placed tasks that show words of the tensor in a register of the root.
        self.showing: dict[str, list[Placed]] = {}

    def run(self) -> list[Placed] | None:
        """Give every task its cycle."""
        for n in self.sequence:
            self._place(n)
        return [self.placed[n] for n in range(len(self.tasks))]

    # ---- one task

    def _place(self, n: int) -> None:
        """Give task `n` the cycle with which it ends earliest, and reserve what it takes.

        A task that wants a scalar on the bus may take one that stands there, or bring its own.
        """
        task = self.tasks[n]
        best = self._chosen([p for v in (task, task.fed) if v is not None and (p := self._earliest(n, v)) is not None])
        self.placed[n] = best
        for shown in best.task.shown:
            self.showing.setdefault(shown.tensor, []).append(best)
        task, start = best.task, best.start
        if task.wants:
            hold = self._hold(task, start)
            assert hold is not None
            hold.last = max(hold.last, start + task.wants_cycles[1])
        self.reserved.take_task(task, start)

    def _chosen(self, found: list[Placed]) -> Placed:
        """Return the placement with which a task ends earliest."""
        return min(found, key=lambda p: p.start + p.task.length)

    def _earliest(self, n: int, task: Task) -> Placed | None:
        """Return task `n` at its earliest cycle, forwarding operands where that is earlier.

        `task` is task `n` itself or its variant with a broadcast of its own. The result is None if the scalar that the
        task wants never stands on the bus.
        """
        forwardable = {operand.footprint: operand for operand in task.forwardable}
        # `fixed` is the first cycle that all other words allow; `bounds` has, by position of a forwardable operand,
        # the first cycle in which its words can be read from memory.
        fixed, bounds = 0, {}
        for position, footprint in enumerate(task.reads):
            bound = self.dependences.after_writes(n, footprint, self.placed)
            if position in forwardable and bound > 0:
                bounds[position] = bound
            else:
                fixed = max(fixed, bound)
        fixed = max([fixed, *(self.dependences.after_reads(n, footprint, self.placed) for footprint in task.writes)])
        plain = self._fit(task, max([fixed, *bounds.values()]))
        candidates = [Placed(task, plain)] if plain is not None else []
        for position in sorted(bounds):
            forwarded = self._forwarded(task, fixed, bounds, forwardable, position)
            if forwarded is not None:
                candidates.append(forwarded)
        return min(candidates, key=lambda p: (p.start, len(p.forwards)), default=None)

    def _forwarded(
        self,
        task: Task,
        fixed: int,
        bounds: dict[int, int],
        forwardable: dict[int, ForwardableOperand],
        position: int,
    ) -> Placed | None:
        """Return a task at the cycle at which one operand is forwarded; None if there is no such cycle.

        `position` names the operand. Every other operand whose words are not in memory by then is forwarded too.
        """
        shown = self._shown(forwardable[position])
        for register, cycle in shown:
            start = cycle - forwardable[position].cycle
            if start < fixed:
                continue
            forwards = []
            fine = True
            for other, bound in sorted(bounds.items()):
                if bound <= start:
                    continue
                operand = forwardable[other]
                match = [r for r, c in self._shown(operand) if c == start + operand.cycle]
                if match:
                    forwards.append((operand, match[0]))
                else:
                    fine = False
            if fine and register and self._fit(task, start) == start:
                return Placed(task, start, tuple(forwards))
        return None

    def _shown(self, operand: ForwardableOperand) -> list[tuple[str, int]]:
        """Return the registers that show the words of an operand, each with the cycle of the first word.

        The earliest cycle comes first. An addend (operand `c`) may show later than a factor, in the register's `late`
        form, because the datapath adds after it has multiplied.
        """
        found = [
            (shown.register, shown.show + maker.start + wait)
            for maker in self.showing.get(operand.tensor, ())
            for shown in maker.task.shown
            if shown.tensor == operand.tensor and (wait := shown.wait(operand.words, operand.interval)) is not None
        ]
        if operand.operand == "c":
            early = timing().late_operand - timing().operand
            found += [(f"late_{register}", cycle - early) for register, cycle in found]
        return sorted(found, key=lambda source: source[1])

    def _hold(self, task: Task, start: int) -> Hold | None:
        """Return the hold of the bus by the scalar that a task wants, if the scalar can stay until the task is done."""
        first, last = start + task.wants_cycles[0], start + task.wants_cycles[1]
        for hold in self.reserved.bus:
            if hold.tensor == task.wants and hold.first <= first:
                if not any(h is not hold and hold.first <= h.last and h.first <= last for h in self.reserved.bus):
                    return hold
        return None

    def _fit(self, task: Task, start: int) -> int | None:
        """Return the first cycle, from `start` on, at which the units, the bus and the wanted scalar allow a task."""
        while (first := self.reserved.first_free(task, start)) is not None:
            if not task.wants or self._hold(task, first) is not None:
                return first
            later = (h.first - task.wants_cycles[0] for h in self.reserved.bus if h.tensor == task.wants)
            following = min((t for t in later if t > first), default=None)
            if following is None:
                return None
            start = following
        return None


def _sequence(graph: nx.DiGraph[int], urgency: Map[int, int]) -> tuple[int, ...]:
    """Return the tasks in an order in which none comes before a task that must come before it."""
    found: list[int] = []
    waiting = {n: graph.in_degree(n) for n in graph}
    ready = sorted((n for n, d in waiting.items() if d == 0), key=lambda n: (urgency[n], n))
    while ready:
        n = ready.pop(0)
        found.append(n)
        for after in graph.successors(n):
            waiting[after] -= 1
            if waiting[after] == 0:
                ready.append(after)
        ready.sort(key=lambda n: (urgency[n], n))
    return tuple(found)


def _ranks(graph: nx.DiGraph[int], tasks: Sequence[Task]) -> dict[int, int]:
    """Return, for each task, the length in cycles of the longest path of tasks that begins with it."""
    rank: dict[int, int] = {}
    for n in reversed(list(nx.lexicographical_topological_sort(graph))):
        rank[n] = tasks[n].length + max((rank[s] for s in graph.successors(n)), default=0)
    return rank


def _waves(graph: nx.DiGraph[int]) -> dict[int, int]:
    """Return, for each task, the length in tasks of the longest chain of tasks that must come before it."""
    return {n: wave for wave, tasks in enumerate(nx.topological_generations(graph)) for n in tasks}
