"""The costs of statements: every slot of the lanes is accounted for, and the most wasteful statement is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

from benchmarks.learning.problems import FOLDER, NAMES, Problem
from tabla.build.files.costs import Costs, costs
from tabla.build.files.schedule_page import schedule_page
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.graph.format import Format
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from tests.languages.tabla.random_programs import programs
from tests.schedule.test_random_programs import lowered

Q6_10 = Format(integer=6, fraction=10)


def costs_of(text: str, folder: Path, *, pes: int, minibatch: int = 1) -> Costs:
    file = folder / "program.t"
    file.write_text(text, encoding="utf-8")
    return costs(build(file, Options(pes=pes, minibatch=minibatch)).schedule)


@pytest.mark.parametrize(
    ("pes", "minibatch"),
    [(4, 1), (16, 3), pytest.param(4, 3, marks=pytest.mark.slow), pytest.param(16, 1, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("kind", NAMES)
def test_multiplies_are_those_of_the_program(kind: str, pes: int, minibatch: int) -> None:
    sizes = {"reco": (9, 7, 3), "backprop": (9, 7, 3)}.get(kind, (13,))
    problem = Problem(kind=kind, sizes=sizes, minibatch=minibatch)
    made = build(problem.file, replace(problem.options(pes), effort=1))
    found = costs(made.schedule)
    assert sum(cost.multiplies for cost in found.statements) == made.schedule.multiplies
    assert found.idle >= 0


@pytest.mark.slow
@pytest.mark.parametrize("pes", [16, 64])
def test_work_that_all_groups_repeat_counts_once(pes: int) -> None:
    problem = Problem(kind="backprop", sizes=(8, 16, 4))
    made = build(problem.file, problem.options(pes))
    assert made.report().roots > 1
    assert sum(cost.multiplies for cost in costs(made.schedule).statements) == made.schedule.multiplies


@settings(max_examples=40)
@given(programs(), st.sampled_from([1, 3, 4, 16]))
def test_every_slot_is_accounted_for(text: str, pes: int) -> None:
    schedule = schedule_graph(lowered(text, Q6_10), template_for(pes), Q6_10, EFFORTS[1])
    found = costs(schedule)
    issue = [s for s in schedule.strands if s.unit == "lane_issue"]
    assert sum(cost.cycles for cost in found.statements) == sum(s.length for s in issue) <= schedule.initiation_interval
    for cost in found.statements:
        assert min(cost.other, cost.unfilled, cost.waiting) >= 0
        assert cost.slots == cost.cycles * pes
        if cost.way not in ("root", "reduced"):  # in these ways the root multiplies, too
            assert cost.multiplies + cost.other + cost.unfilled + cost.waiting >= cost.slots
        assert cost.text in found.text()


def test_rows_that_do_not_fill_the_lanes_are_named(tmp_path: Path) -> None:
    text = (FOLDER / "linear.t").read_text(encoding="utf-8").replace("features = 55", "features = 17")
    found = costs_of(text, tmp_path, pes=16)
    worst = found.most_wasteful
    assert worst is not None and worst.name.startswith("s0 h")
    assert (worst.way, worst.cycles, worst.slots, worst.multiplies, worst.unfilled) == ("reduced", 2, 32, 17, 15)
    reason = "the tree adds the lanes' sums, one word a cycle; the statement's rows fill 53 % of the lanes"
    assert worst.reason == reason
    assert worst.line == 13
    assert found.headline.endswith("line 13 wastes the most of their slots, 3.0 %: h = sum[i](w[i] * x[i])")


def test_full_rows_waste_nothing(tmp_path: Path) -> None:
    text = (FOLDER / "linear.t").read_text(encoding="utf-8").replace("features = 55", "features = 32")
    found = costs_of(text, tmp_path, pes=16)
    assert all(cost.wasted == 0 for cost in found.statements)
    assert "wastes" not in found.text()


WAYS = """
model_input x[8], s; model w[8][8];
gradient g[8][8] -> w;
iterator i[0:8]; iterator j[0:8];
h[j] = sum[i](w[j][i] * x[i]);
d[i] = sum[j](w[j][i] * h[j]);
g[j][i] = h[j] * d[i];
"""


def test_ways(tmp_path: Path) -> None:
    ways = {cost.way for cost in costs_of(WAYS, tmp_path, pes=4).statements}
    assert {"reduced", "broadcast"} <= ways


@pytest.fixture(scope="module")
def logistic() -> Build:
    return build(FOLDER / "logistic.t", Options(pes=16))


def test_report_page_and_mapping_show_it(logistic: Build) -> None:
    report = logistic.report()
    record = report.as_json()
    assert [s["name"] for s in record["statements"]] == [c.name for c in report.costs.statements]
    assert record["idle_cycles"] == report.costs.idle
    assert report.costs.headline in report.text()
    page, mapping = schedule_page(logistic.schedule, logistic.bound), logistic.emit("mapping")
    for cost in report.costs.statements:
        assert f"<code>{escape(cost.shown)}</code>" in page
        assert cost.shown in mapping
