"""Tasks that begin late: the unit that binds the initiation interval works for a shorter time, and every word
stays right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.build import started_late
from tabla.schedule.placing.list_scheduler import list_schedule
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.reservations import Reservations
from tabla.schedule.strands.tasks import MemoryKey, Task
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, agree, shaped_graph

MARGIN = """
mu = 0.1; model_input x[54]; model_output y; model w[54]; gradient g[54] -> w; iterator i[0:54];
h = sum[i](w[i] * x[i]); e = (y*h < 1) * (0 - y); g[i] = e * x[i];
"""
# The root has much to do for the label, and nothing waits for that before the sum of 30 products.
EARLY = """
mu = 0.25; model_input x[30]; model_output y; model w[30]; gradient g[30] -> w; iterator i[0:30];
a = y * y; b = a * y - y; h = sum[i](w[i] * x[i]); e = (h - y) * b; g[i] = e * x[i];
"""


def test_a_root_that_updates_does_not_wait_from_the_label_to_the_sum() -> None:
    """The root multiplies the label shortly before the sum ends, and updates 54 words after it.

    If it began with the label, it could not begin the next sample for 126 cycles. Two words for each feature and the
    label are 109 beats, which bind now.
    """
    schedule = agree(shaped_graph(MARGIN), template_for(1), Q6_10, samples=8)
    root = [s for s in schedule.strands if s.unit == "root_issue"]
    assert (schedule.cycles, schedule.beats, schedule.initiation_interval) == (109, 109, 83)
    assert max(s.end for s in root) - min(s.start for s in root) == 75


def early_and_late() -> tuple[list[Placed], list[Placed]]:
    """Return the tasks of `EARLY` as the list scheduler places them, and with those of the root begun late."""
    kept: list[tuple[list[Placed], list[Placed]]] = []

    def scheduler(
        tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
    ) -> list[Placed]:
        placed = list_schedule(tasks, models, sequencers=sequencers, waves=waves)
        assert placed is not None
        kept.append((placed, started_late(placed, "root_issue", models, sequencers)))
        return placed

    schedule_graph(shaped_graph(EARLY), template_for(2), Q6_10, EFFORTS[0], scheduler)
    return kept[-1]


def test_only_tasks_that_nothing_holds_move() -> None:
    early, late = early_and_late()
    moved = [n for n, (a, b) in enumerate(zip(early, late, strict=True)) if a.start != b.start]
    assert moved and all(late[n].start > early[n].start for n in moved)
    assert all(replace(b, start=a.start) == a for a, b in zip(early, late, strict=True))
    for n in moved:
        assert not (early[n].task.bus or early[n].task.shows or early[n].task.wants)
    # Whoever takes a word from a register keeps its distance.
    for n, placed in enumerate(early):
        for operand, _ in placed.forwards:
            maker = next(m for m, p in enumerate(early) if any(s.tensor == operand.tensor for s in p.task.shown))
            assert late[n].start - late[maker].start == placed.start - early[maker].start


def test_the_latest_start_is_that_of_trying_every_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = ([p.start for p in placed] for placed in early_and_late())

    def every_cycle(reserved: Reservations, group: Sequence[Placed], slack: int) -> int:
        steps = range(slack, -1, -1)
        return next(s for s in steps if all(reserved.push_task(p.task, p.start + s) == 0 for p in group) or not s)

    monkeypatch.setattr("tabla.schedule.placing.build._latest", every_cycle)
    assert [p.start for p in early_and_late()[1]] == late != early
