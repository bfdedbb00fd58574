"""Predictions on every engine: words, counters and cycles are those of the cycle model and of the evaluation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.graph.format import Format
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import with_model_guard
from tabla.graph.passes.pipeline import shaped
from tabla.host.engines.session import open_machine
from tabla.program.encode import encode
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import RunResult
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import PROGRAMS, graph_of, need
from tests.schedule.held_models import hold_prediction
from tests.schedule.test_prediction import EXP

Q6_10 = Format(integer=6, fraction=10)
ENGINES = ("model", "amaranth", "cxxrtl", "icarus", "verilator")
EVERY = [pytest.param(engine, marks=[pytest.mark.slow] * (engine == "verilator")) for engine in ENGINES]
SLOW = pytest.mark.slow


def schedule_of(kind: str) -> Schedule:
    """A program on an array: one lane, several, several sequencers, several roots, steps of two, and guard bits."""
    array, name, result = template_for(4), "linear", "h"
    match kind:
        case "functions":
            return schedule_graph(graph_of(EXP, results=("h",)), template_for(2), Q6_10)
        case "one lane":
            array = template_for(1)
        case "sequencers":
            array, name = replace(template_for(4), sequencers=2), "svm"
        case "roots":
            array, name, result = replace(template_for(8), pes_per_pu=4, roots=2), "recommender", "e2"
        case "network":
            name, result = "backprop", "o"
    graph = graph_of(PROGRAMS[name], results=(result,))
    if kind == "steps and guards":
        graph = minibatched(with_model_guard(graph, 2, Q6_10), 2)
    return schedule_graph(shaped(graph, Q6_10), array, Q6_10, EFFORTS[0])


def played(schedule: Schedule, engine: str) -> list[RunResult]:
    with open_machine(encode(schedule), engine, "predicts") as machine:
        return [result.relative() for result in hold_prediction(machine, schedule, seed=5)]


def hold(kind: str, engine: str) -> None:
    need(engine)
    schedule = schedule_of(kind)
    results = played(schedule, engine)
    assert results == played(schedule, "model")
    learned, predicted, _ = results
    # A prediction takes as many cycles as a run.
    assert predicted.starts[: len(learned.starts)] == learned.starts
    assert predicted.cycles == schedule.cycles


@pytest.mark.parametrize("engine", EVERY)
def test_functions_and_saturation(engine: str) -> None:
    hold("functions", engine)


@pytest.mark.parametrize("engine", ["model", "amaranth", pytest.param("icarus", marks=SLOW)])
@pytest.mark.parametrize(
    "kind", ["one lane", "sequencers", "steps and guards", pytest.param("roots", marks=SLOW), "network"]
)
def test_arrays(kind: str, engine: str) -> None:
    hold(kind, engine)
