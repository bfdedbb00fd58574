"""A scheduler from outside the package: the one that docs/extend/scheduler.md adds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tabla
from tabla.schedule.check import ScheduleFault
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.placed import Placed, Scheduler
from tabla.schedule.strands.tasks import MemoryKey, Task
from tabla.templates.template import template_for
from tests.extend.pages import snippets, write_files
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph


@pytest.fixture
def one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scheduler]:
    """The scheduler of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_files("scheduler.md", tmp_path)
    import one_by_one

    yield one_by_one.one_by_one
    del sys.modules["one_by_one"]


def test_the_page_runs(one_by_one: Scheduler) -> None:
    (snippet,) = snippets("scheduler.md")
    exec(compile(snippet, "scheduler.md", "exec"), {})


def test_it_computes_the_right_words(one_by_one: Scheduler) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(programs(), st.sampled_from([1, 2, 4]), st.integers(0, 99))
    def check(text: str, pes: int, seed: int) -> None:
        template = template_for(pes).with_roots(1).with_sequencers(1)
        schedule = schedule_graph(shaped_graph(text), template, Q6_10, EFFORTS[0], one_by_one)
        agree_on(schedule, samples=3, seed=seed)

    check()


def test_a_scheduler_with_a_fault_is_refused(one_by_one: Scheduler, tmp_path: Path) -> None:
    """One cycle early is enough."""
    text = "model_input x[8]; model_output y; model w[8]; gradient g[8] -> w; iterator i[0:8];"
    (tmp_path / "line.t").write_text(text + "e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];\n")

    def hasty(
        tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
    ) -> list[Placed] | None:
        placed = one_by_one(tasks, models, sequencers=sequencers, waves=waves)
        return placed and [Placed(each.task, 0) for each in placed]

    with pytest.raises(ScheduleFault):
        tabla.compile(str(tmp_path / "line.t"), pes=4, scheduler=hasty)
