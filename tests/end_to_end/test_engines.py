"""Witnesses agree: evaluation of the graph, cycle model, and the Verilog in four simulators, sample by sample."""

from __future__ import annotations

import pytest

from tabla.passes.minibatch import minibatched
from tests.end_to_end.algorithms import PROGRAMS, graph_of, hold_against_evaluation, need


@pytest.mark.parametrize("pes", [1, 4, 16, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_cycle_model(name: str, pes: int) -> None:
    hold_against_evaluation(graph_of(PROGRAMS[name]), "model", pes)


@pytest.mark.parametrize("engine", ["icarus", "cxxrtl", "verilator"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_verilog(name: str, engine: str) -> None:
    need(engine)
    hold_against_evaluation(graph_of(PROGRAMS[name]), engine, 4)


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
