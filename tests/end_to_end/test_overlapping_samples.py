"""Arrays on which samples overlap (decision 56): words, results and cycles, also where the host is slow."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.host.engines.session import open_machine
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS, Effort
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import RunResult, Stalls
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import graph_of, hold_schedule, need
from tests.schedule.agreement import Q6_10, agree_on, draw_words

QUICK = EFFORTS[0]


def layers(sizes: tuple[int, ...], *, skips: bool = False) -> Graph:
    """The graph of a network of dense layers, all but the last with a rectifier; weights are loaded once.

    If it `skips`, the first input is added to the outputs of the last layer, which are as many.
    """
    last = len(sizes) - 2
    shapes = {f"W{i}": (n, m) for i, (m, n) in enumerate(pairwise(sizes))}
    weights = [f"float({n}, {m}) {name}" for name, (n, m) in shapes.items()]
    lines = [f"def net(float({sizes[0]}) x0, {', '.join(weights)}) -> (x{last + 1}) {{"]
    for i in range(last + 1):
        to = f"x{i + 1}" if i == last else f"s{i}"
        lines.append(f"  {to}(n) +=! W{i}(n, m) * x{i}(m)")
        if i == last and skips:
            lines.append(f"  {to}(n) += x0(n) where n in 0:{sizes[-1]}")
        if i < last:
            lines.append(f"  x{i + 1}(n) = fmax(s{i}(n), 0)")
    function = parse(Source.from_text("\n".join([*lines, "}"]))).functions["net"]
    bound = bind_sizes(function, {"x0": (sizes[0],), **shapes})
    return run_passes(lower(function, bound, number_format=Q6_10, keep=tuple(shapes)), Q6_10)


def schedule_of(sizes: tuple[int, ...], pes: int, effort: Effort = QUICK) -> Schedule:
    """The schedule of a network."""
    return schedule_graph(layers(sizes), template_for(pes), Q6_10, effort)


@pytest.fixture(scope="module")
def network() -> Schedule:
    """A network of four layers on eight PEs."""
    made = schedule_of((8, 24, 16, 16, 4), 8)
    assert made.stages > 1
    return made


def test_samples_overlap_where_that_saves_cycles(network: Schedule) -> None:
    alone = schedule_graph(layers((8, 24, 16, 16, 4)), template_for(8), Q6_10, replace(QUICK, objective="latency"))
    assert alone.stages == 1
    assert network.cycles * 1.3 < alone.cycles
    assert network.latency > alone.latency
    spans = {unit: strands[-1].end - strands[0].start for unit, strands in network.units.items() if strands}
    assert max(spans.values()) > network.initiation_interval
    assert {f.stage for frame in network.frames.values() for f in frame} > {0}


def test_words_and_cycles(network: Schedule) -> None:
    agree_on(network, samples=9)
    agree_on(network, samples=9, stalls=Stalls.random(3, share=0.5, longest=3 * network.cycles))


@given(st.lists(st.integers(4, 24), min_size=3, max_size=5), st.sampled_from([2, 4, 6, 8]), st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_drawn_networks(sizes: list[int], pes: int, seed: int) -> None:
    schedule = schedule_of(tuple(sizes), pes)
    agree_on(schedule, samples=5, seed=seed)
    agree_on(schedule, samples=5, seed=seed, stalls=Stalls.random(seed, share=0.4, longest=2 * schedule.cycles))


@pytest.mark.parametrize(
    "engine", ["icarus", *(pytest.param(e, marks=pytest.mark.slow) for e in ("amaranth", "verilator"))]
)
def test_hardware(network: Schedule, engine: str) -> None:
    need(engine)
    hold_schedule(network, engine, samples=2)


def test_a_late_layer_reads_the_input_of_its_own_sample() -> None:
    """Beside it, the windows of the ring move on for later samples."""
    need("icarus")
    schedule = schedule_graph(layers((8, 24, 16, 16, 8), skips=True), template_for(8), Q6_10, QUICK)
    windowed = {
        f.stage
        for frame in schedule.frames.values()
        for f in frame
        if any(address.window for operation in f.strand.body for address in operation.addresses.values())
    }
    assert max(windowed) > 0
    agree_on(schedule, samples=9)
    hold_schedule(schedule, "icarus", samples=4)


@pytest.mark.parametrize(
    "stalls",
    [Stalls(outputs=(0, 3)), Stalls.random(5, share=0.6, longest=70), None],
    ids=["out", "in and out", "periods"],
)
def test_verilog_waits_for_a_slow_host_as_the_model_does(network: Schedule, stalls: Stalls | None) -> None:
    need("icarus")
    # Without other pauses the host waits between samples, for all numbers of periods up to one more than stages.
    period, each = network.initiation_interval, network.beats
    waits = [0, 0, *(n * period // 3 for n in range(1, 3 * network.stages + 6, 2)), 0]
    stalls = stalls or Stalls(inputs=tuple(wait if beat == 0 else 0 for wait in waits for beat in range(each)))
    host, image = Host(network), encode(network)
    inputs, models = draw_words(network.graph, Q6_10, 18, 2)
    beats = host.sample_beats(inputs)
    seen: list[list[RunResult]] = []
    for engine in ("model", "icarus"):
        with open_machine(image, engine, "unit") as machine:
            machine.load(host.load_beats(models))
            # One sample alone, then two commands: nothing is left of the one before.
            runs = [(0, 1), (1, 15), (15, 18)]
            seen.append(
                [
                    machine.run(beats[a * each : b * each], b - a, stalls if b - a > 1 else None).relative()
                    for a, b in runs
                ]
            )
    assert seen[0] == seen[1]


def test_planted_faults_are_found(network: Schedule) -> None:
    check(network)
    with pytest.raises(ScheduleFault, match="is taken for"):
        check(replace(network, stages=1))
    shorter = replace(network, initiation_interval=network.initiation_interval - 1)
    with pytest.raises(ScheduleFault):
        check(shorter)


def test_every_strand_that_moves_into_the_work_of_another_sample_is_refused(network: Schedule) -> None:
    strands = [s for s in network.strands if s.unit == "lane_issue"]
    first, other = strands[0], strands[1]
    # The same place in a frame as the first strand, some frames later.
    frames = -(-(other.start - first.start) // network.initiation_interval)
    moved = other.at(first.start + frames * network.initiation_interval)
    planted = tuple(sorted((moved if s is other else s for s in network.strands), key=lambda s: (s.unit, s.start)))
    with pytest.raises(ScheduleFault, match=r"begins before|starts before"):
        check(replace(network, strands=planted))


def test_an_overlay_runs_one_sample_after_the_other() -> None:
    template = replace(template_for(8), samples_overlap=False)
    assert schedule_graph(layers((8, 24, 16, 16, 4)), template, Q6_10, QUICK).stages == 1


def test_a_program_that_learns_does_not_overlap() -> None:
    text = "model_input x[8]; model_output y; model w[8]; gradient g[8] -> w; iterator i[0:8]; "
    text += "e = sum[i](w[i]*x[i]) - y; g[i] = e*x[i];"
    assert schedule_graph(graph_of(text), template_for(4), Q6_10, QUICK).stages == 1


def test_the_microcode_says_the_stage(network: Schedule) -> None:
    image = encode(network)
    assert image.parameters.stages == network.stages
    assert image.parameters.stage_bits == (network.stages - 1).bit_length()
    assert np.all([image.run.strands[unit] == len(frame) for unit, frame in network.frames.items()])
