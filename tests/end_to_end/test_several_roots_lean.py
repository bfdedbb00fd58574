"""Arrays of several roots whose hardware leaves out what the program does not need: words, cycles and counters."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.learning.problems import problems
from tabla.driver import build
from tabla.graph.format import Format
from tabla.host.engines.session import open_machine
from tabla.hw.control import MacControl
from tabla.hw.features import Features, features_of
from tabla.hw.lane import LaneShape, lane_shape
from tabla.hw.root import Root
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import Counters, Stalls
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import graph_of, hold_schedule, need
from tests.schedule.agreement import MANY_ROOTS

Q6_10 = Format(integer=6, fraction=10)
# The tree's word is a result as it is; lanes write what the bus brings and what they update.
LAYER = """model_input x[4]; model_output y[8]; model w[8][4]; gradient g[8][4] -> w; iterator i[0:4]; iterator j[0:8];
mu = 1; h[j] = sum[i](w[j][i] * x[i]); d[j] = h[j] - y[j]; g[j][i] = d[j] * x[i];"""
# Roots add and subtract, nothing late among it.
DIFFERENCES = """model_input x[4]; model_output y[8]; model_output t[8]; model w[8][4]; gradient g[8][4] -> w;
iterator i[0:4]; iterator j[0:8]; mu = 1;
h[j] = sum[i](w[j][i] * x[i]); d[j] = h[j] * (t[j] - y[j]); g[j][i] = d[j] * x[i];"""


def network() -> Schedule:
    """Four roots on 16 PEs, as the benchmarks build it."""
    problem = next(problem for problem in problems() if problem.name == "backprop 8-16-3")
    return build(problem.file, problem.options(16)).schedule


def on_two_roots(text: str) -> Schedule:
    """Two roots on 8 PEs."""
    return schedule_graph(graph_of(text), template_for(8).with_roots(2), Q6_10, MANY_ROOTS)


def forms(image: Image) -> tuple[Features, LaneShape, Root]:
    """What the hardware of an image is like."""
    features = features_of(image)
    control = MacControl(unit="root_issue", parameters=image.parameters, features=features["root_issue"])
    root = Root(parameters=image.parameters, features=features, control=control)
    control._MustUse__silence = root._MustUse__silence = True  # Looked at, not built.
    return features, lane_shape(image.parameters, features), root


def extremes(schedule: Schedule, samples: int) -> Counters:
    """Words from the whole range: model and Verilog agree in all, and in how often they overflow."""
    host, image = Host(schedule), encode(schedule)
    chance = np.random.default_rng(1)

    def drawn(shape: tuple[int, ...]) -> np.ndarray:
        return chance.integers(-(1 << 15), 1 << 15, shape, dtype=np.int64)

    graph = schedule.graph
    inputs = {t.name: drawn((samples, *t.shape)) for t in graph.tensors.values() if t.role in ("input", "label")}
    models = {t.name: drawn(t.shape) for t in graph.tensors.values() if t.role == "model"}
    seen = []
    for engine in ("model", "icarus"):
        with open_machine(image, engine, "unit") as machine:
            machine.load(host.load_beats(models))
            run = machine.run(host.sample_beats(inputs), samples, Stalls.random(5, share=0.3, longest=20)).relative()
            kept = host.models(machine.dump(host.dump_count))
            seen.append((run, {name: words.tolist() for name, words in kept.items()}))
    assert seen[0] == seen[1]
    counters: Counters = seen[0][0].counters
    return counters


@pytest.mark.slow
def test_a_network_with_everything_left_out() -> None:
    need("icarus")
    schedule = network()
    features, lanes, root = forms(encode(schedule))
    assert schedule.template.roots == 4 and root.beside and lanes.plain and lanes.bus_through
    assert features["root_issue"].slots < features["lane_issue"].slots
    hold_schedule(schedule, "icarus", samples=3)
    assert extremes(schedule, 6).root_overflows > 0


@pytest.mark.parametrize(("text", "passes"), [(DIFFERENCES, True), pytest.param(LAYER, False, marks=pytest.mark.slow)])
def test_a_layer_whose_words_overflow(text: str, passes: bool) -> None:
    need("icarus")
    schedule = on_two_roots(text)
    _, lanes, root = forms(encode(schedule))
    assert schedule.template.roots == 2 and root.beside and lanes.plain and lanes.bus_through == passes
    hold_schedule(schedule, "icarus", samples=3)
    counters = extremes(schedule, 6)
    assert counters.lane_overflows > 0 and counters.root_overflows > 0


def test_copies_within_lanes() -> None:
    """Streamed words that lanes multiply with each other are copied: a result that is written, so one that counts."""
    need("icarus")
    text = """model_input x[4]; model_input z[8][4]; model_output y[8][4]; model w[8][4]; gradient g[8][4] -> w;
    iterator i[0:4]; iterator j[0:8]; mu = 1;
    h[j] = sum[i](z[j][i] * y[j][i]); g[j][i] = h[j] * x[i] - w[j][i] * y[j][i];"""
    schedule = on_two_roots(text)
    assert schedule.template.roots == 2 and schedule.layout.twins
    hold_schedule(schedule, "icarus", samples=4)
