"""Witnesses agree: evaluation of the graph, cycle model, and the Verilog in four simulators, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tabla.graph.passes.minibatch import minibatched
from tabla.host.engines.cxxrtl_run import translated
from tabla.hw.emit import verilog
from tabla.program.encode import encode
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import PROGRAMS, Q6_10, graph_of, hold_against_evaluation, hold_schedule, need
from tests.schedule.agreement import MANY_ROOTS

SIZES = (1, 4, 16, 64)
# What `make test` has time for. The rest is slow, because Verilator compiles for half a minute, and every simulator
# needs long for 64 lanes. All programs run on 4 PEs in Icarus and CXXRTL. On 1 and 16 PEs, and in the other
# simulators, one or two stand for all, because the others use the same hardware there.
QUICK = {
    **{(engine, 4): tuple(PROGRAMS) for engine in ("icarus", "cxxrtl")},
    **{(engine, 1): ("linear", "backprop") for engine in ("icarus", "cxxrtl")},
    ("amaranth", 1): ("linear",),
    ("amaranth", 4): ("recommender",),
    ("icarus", 16): ("backprop",),
    ("cxxrtl", 16): ("recommender",),
    ("verilator", 4): ("linear",),
}
ENGINES = ("icarus", "cxxrtl", "verilator", "amaranth")


def runs() -> Iterator[Any]:
    """Every algorithm in every simulator on every size."""
    for name, engine, pes in product(PROGRAMS, ENGINES, SIZES):
        marks = () if name in QUICK.get((engine, pes), ()) else (pytest.mark.slow,)
        yield pytest.param(name, engine, pes, marks=marks, id=f"{name}-{engine}-{pes}")


@cache
def schedule_of(name: str, pes: int) -> Schedule:
    return schedule_graph(graph_of(PROGRAMS[name]), template_for(pes), Q6_10)


@pytest.mark.parametrize("pes", SIZES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_cycle_model(name: str, pes: int) -> None:
    hold_schedule(schedule_of(name, pes), "model")


@pytest.mark.parametrize(("name", "engine", "pes"), list(runs()))
def test_hardware(name: str, engine: str, pes: int) -> None:
    need(engine)
    samples = 3 if pes <= 4 and engine != "amaranth" else 2
    hold_schedule(schedule_of(name, pes), engine, samples=samples)


@pytest.mark.parametrize("name", PROGRAMS)
def test_cxxrtl_computes_on_machine_words(name: str, tmp_path: Path) -> None:
    """Else it takes many times longer to build, and to run."""
    need("cxxrtl")
    image = encode(schedule_of(name, 4))
    assert translated(verilog(image, "unit"), "unit", tmp_path).words


@pytest.mark.parametrize("engine", ["icarus", "cxxrtl"])
def test_verilog_of_tap_groups_with_roots_of_their_own(engine: str) -> None:
    need(engine)
    text = PROGRAMS["backprop"].replace("[5]", "[8]").replace("j[0:5]", "j[0:8]")
    graph, template = graph_of(text), template_for(8).with_roots(2)
    assert schedule_graph(graph, template, Q6_10, MANY_ROOTS).template.roots == 2
    hold_against_evaluation(graph, engine, template, effort=MANY_ROOTS)


@pytest.mark.parametrize("name", ["logistic", "backprop"])
def test_verilog_of_minibatches(name: str) -> None:
    need("icarus")
    hold_against_evaluation(minibatched(graph_of(PROGRAMS[name]), 3), "icarus", 4)


@pytest.mark.parametrize(("engine", "roots"), [("icarus", 4), ("cxxrtl", 2)])
def test_verilog_of_tap_groups_with_results_of_their_own(engine: str, roots: int) -> None:
    need(engine)
    text = """model_input x[8][3]; model w[8][3]; model v[3]; iterator i[0:8]; iterator k[0:3];
    h[i] = sum[k](w[i][k] * x[i][k]); y[i][k] = exp(h[i] * 0.25) - x[i][k]; z[k] = sum[i](h[i] * v[k]);"""
    graph, template = graph_of(text, results=("h", "y", "z")), template_for(8).with_roots(roots)
    schedule = schedule_graph(graph, template, Q6_10, MANY_ROOTS)
    assert schedule.template.roots == roots and schedule.split_results
    hold_against_evaluation(graph, engine, template, effort=MANY_ROOTS)
