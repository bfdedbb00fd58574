"""Witnesses agree: evaluation of the graph, cycle model, and the Verilog in four simulators, sample by sample."""

from __future__ import annotations

import pytest
from tabla.templates.template import template_for

from tabla.passes.minibatch import minibatched
from tabla.schedule import build
from tests.end_to_end.algorithms import PROGRAMS, Q6_10, graph_of, hold_against_evaluation, need


@pytest.mark.parametrize("pes", [1, 4, 16, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_cycle_model(name: str, pes: int) -> None:
    hold_against_evaluation(graph_of(PROGRAMS[name]), "model", pes)


@pytest.mark.parametrize("engine", ["icarus", "cxxrtl", "verilator"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_verilog(name: str, engine: str) -> None:
    need(engine)
    hold_against_evaluation(graph_of(PROGRAMS[name]), engine, 4)


@pytest.mark.parametrize("engine", ["icarus", "cxxrtl"])
def test_verilog_of_tap_groups_with_roots_of_their_own(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(engine)
    monkeypatch.setattr(build, "ROOT_PRICE", -1e3)  # groups, whether they pay or not
    text = PROGRAMS["backprop"].replace("[5]", "[8]").replace("j[0:5]", "j[0:8]")
    graph, template = graph_of(text), template_for(8).with_roots(2)
    assert build.schedule_graph(graph, template, Q6_10).template.roots == 2
    hold_against_evaluation(graph, engine, template)


@pytest.mark.parametrize("name", ["logistic", "backprop"])
def test_verilog_of_minibatches(name: str) -> None:
    need("icarus")
    hold_against_evaluation(minibatched(graph_of(PROGRAMS[name]), 3), "icarus", 4)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pes", [1, 16])
def test_verilog_of_other_sizes(name: str, pes: int) -> None:
    need("cxxrtl")
    hold_against_evaluation(graph_of(PROGRAMS[name]), "cxxrtl", pes)


@pytest.mark.parametrize("name", ["logistic", "backprop"])
def test_verilog_of_64_lanes(name: str) -> None:
    need("cxxrtl")
    hold_against_evaluation(graph_of(PROGRAMS[name]), "cxxrtl", 64)


@pytest.mark.parametrize("name", PROGRAMS)
def test_amaranth(name: str) -> None:
    hold_against_evaluation(graph_of(PROGRAMS[name]), "amaranth", 2, samples=2)
