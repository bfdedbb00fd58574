"""The plain scheduler: tasks in their order, each as soon as the words and units that it needs allow.

It forwards nothing from register to register and looks at no task twice. Its schedules of the examples are longer than
those of the list scheduler, which shows what the list scheduler gains. Neither scheduler is optimal: of random programs
the plain one schedules about one in thirty in fewer cycles. Tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from tabla.schedule.placing.dependences import Dependences
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.reservations import Reservations
from tabla.schedule.strands.tasks import MemoryKey, Task


def plain_schedule(
    tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
) -> list[Placed] | None:
    """Place every task (:class:`tabla.schedule.placing.placed.Scheduler`).

    A task whose lanes want a scalar from the bus always brings it there itself. `waves` is ignored.
    """
    if any(task.clashes(sequencers) for task in tasks):
        return None
    fed = [task.fed or task for task in tasks]
    dependences = Dependences.of(fed, models)
    order = dependences.order()
    if not nx.is_directed_acyclic_graph(order):
        return None
    reserved, placed = Reservations(sequencers=sequencers), dict[int, Placed]()
    for n in nx.lexicographical_topological_sort(order):
        task = fed[n]
        bounds = [dependences.after_writes(n, footprint, placed) for footprint in task.reads]
        bounds += [dependences.after_reads(n, footprint, placed) for footprint in task.writes]
        start = reserved.first_free(task, max([0, *bounds]))
        assert start is not None, "behind all that is taken, everything is free"
        reserved.take_task(task, start)
        placed[n] = Placed(task, start)
    return [placed[n] for n in range(len(tasks))]
