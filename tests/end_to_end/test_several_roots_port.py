"""Results of several roots leave one a cycle whatever the roots' rate: predicted, in the model, and in the Verilog."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.host.engines.session import open_machine
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.bound import quick
from tabla.schedule.check import check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.regions import ScheduleFault
from tabla.sim.machine import RunResult, Stalls
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import hold_schedule, need
from tests.schedule.agreement import FREE_ROOTS, agree_on, draw_words

Q6_10 = Format(integer=6, fraction=10)
SOFTMAX = """def softmax(float(N,D) x) -> (y) {
  top(n) max=! x(n, d)
  e(n, d) = exp(x(n, d) - top(n))
  total(n) +=! e(n, d)
  y(n, d) = e(n, d) / total(n)
}
"""


def softmax(rows: int, width: int) -> Graph:
    """Each row's exponentials over their sum."""
    function = parse(Source.from_text(SOFTMAX)).function()
    sizes = bind_sizes(function, {"x": (rows, width)})
    return run_passes(lower(function, sizes, number_format=Q6_10), Q6_10)


@pytest.fixture
def by_four_roots() -> Schedule:
    schedule = schedule_graph(softmax(8, 8), template_for(16).with_roots(4), Q6_10, FREE_ROOTS)
    assert schedule.split_results and schedule.template.roots == 4
    return schedule


def test_words_out_bind_and_not_the_roots() -> None:
    schedule = schedule_graph(softmax(8, 64), template_for(16).with_roots(4), Q6_10, FREE_ROOTS)
    found = quick(schedule.graph, schedule.template, Q6_10)
    assert found.cycles == schedule.outputs == schedule.cycles == 512
    agree_on(schedule, samples=4)
    with pytest.raises(ScheduleFault, match="512 words leave in a period of 511"):
        check(replace(schedule, initiation_interval=511))
    with pytest.raises(ScheduleFault, match="puts out 512 words instead of 508"):
        check(replace(schedule, outputs=508))


def test_words_and_cycles(by_four_roots: Schedule) -> None:
    agree_on(by_four_roots, samples=7)
    agree_on(by_four_roots, samples=5, stalls=Stalls.random(3, share=0.5, longest=60))


def test_verilog(by_four_roots: Schedule) -> None:
    need("icarus")
    hold_schedule(by_four_roots, "icarus", samples=3)


@pytest.mark.parametrize(
    "stalls", [Stalls(outputs=(0, 3)), pytest.param(Stalls.random(5, share=0.6, longest=70), marks=pytest.mark.slow)]
)
def test_verilog_waits_for_a_slow_host_as_the_model_does(by_four_roots: Schedule, stalls: Stalls) -> None:
    need("icarus")
    host, image = Host(by_four_roots), encode(by_four_roots)
    inputs, models = draw_words(by_four_roots.graph, Q6_10, 6, 2)
    seen: list[RunResult] = []
    for engine in ("model", "icarus"):
        with open_machine(image, engine, "unit") as machine:
            machine.load(host.load_beats(models))
            seen.append(machine.run(host.sample_beats(inputs), 6, stalls).relative())
    assert seen[0].cycles > by_four_roots.cycles
    assert seen[0] == seen[1]
