"""How to hold predictions against the evaluation: PREDICT between two runs, on any machine of the same image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume

from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.predicted_part import PredictedPart
from tabla.graph.verify import GraphFault, verify
from tabla.program.host import Host
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import Machine, RunResult
from tests.graph.runs import run_fixed
from tests.schedule.agreement import Words, draw_words

BEFORE, SAMPLES = 2, 4
"""The samples that are learned before the prediction, and all of them."""


def with_results(graph: Graph, seed: int) -> Graph:
    """The same graph with one or two of its values as results, drawn by the seed."""
    values = [tensor.name for tensor in graph.tensors.values() if tensor.role == "value"]
    assume(bool(values))
    chosen = np.random.default_rng(seed).choice(values, min(len(values), 1 + seed % 2), replace=False)
    shown = replace(graph, results=tuple((str(name), str(name)) for name in sorted(chosen)))
    try:
        verify(shown)
    except GraphFault:  # no statement writes some elements
        assume(False)
    return shown


def part(words: Words, begin: int, end: int) -> Words:
    return {name: array[begin:end] for name, array in words.items()}


def hold_prediction(
    machine: Machine, schedule: Schedule, *, seed: int = 0, words: tuple[Words, Words] | None = None
) -> list[RunResult]:
    """Assert that a prediction between two runs gives the evaluation's results with the models held, whatever stands in
    the places of labels; that it writes no model and counts only what the results need; and that the runs before and
    behind it are those of a machine without it. Returns the three results. `words` are those of inputs and models; they
    are drawn if there are none.
    """
    graph, format, host = schedule.graph, schedule.format, Host(schedule)
    inputs, models = words or draw_words(graph, format, SAMPLES, seed)
    kept = [tensor for _, tensor in graph.results]
    whole = run_fixed(graph, format, inputs, models, keep=kept, count=SAMPLES)
    half = run_fixed(graph, format, part(inputs, 0, BEFORE), models, keep=kept, count=BEFORE)
    machine.load(host.load_beats(models))
    beats = host.sample_beats(inputs).reshape(SAMPLES, -1)
    width = schedule.stream_words

    before = machine.run(beats[:BEFORE].reshape(-1, width), BEFORE)
    any_labels = beats.copy()
    chance = np.random.default_rng(seed + 1)
    labels = chance.integers(format.lowest, format.highest, (SAMPLES, len(host.ignored)), endpoint=True)
    any_labels[:, host.ignored] = labels
    predicted = machine.predict(any_labels.reshape(-1, width), SAMPLES)
    same_models(host, machine, half.models)
    after = machine.run(beats[BEFORE:].reshape(-1, width), SAMPLES - BEFORE)
    same_models(host, machine, whole.models)

    shown = host.results(before.outputs + after.outputs)
    for name, tensor in graph.results:
        np.testing.assert_array_equal(shown[name], whole.kept[tensor], err_msg=f"result {name}")
    found = host.results(predicted.outputs)
    events = [0, 0]
    needed = PredictedPart.needed(graph).statements
    for sample in range(SAMPLES):
        plan = FixedPlan.of(graph, format)
        plan.load(half.models)
        one = plan.run(part(inputs, sample, sample + 1), kept, 1)
        for name, tensor in graph.results:
            np.testing.assert_array_equal(found[name][sample], one.kept[tensor][0], err_msg=f"prediction {name}")
        events[0] += sum(one.counts.overflows_by_statement[number] for number in needed)
        events[1] += sum(one.counts.domain_errors_by_statement[number] for number in needed)
    assert not predicted.updates
    counted = [late - early for early, late in zip(counts_of(before), counts_of(predicted), strict=True)]
    assert (counted[0] > 0) == (events[0] > 0), f"{counted} instead of {events}"
    roots = max(1, schedule.template.roots)
    assert events[1] <= counted[1] <= roots * events[1], f"{counted} instead of {events}"
    return [before, predicted, after]


def counts_of(result: RunResult) -> tuple[int, int]:
    """The overflows, and the domain errors."""
    counters = result.counters
    return counters.lane_overflows + counters.root_overflows, counters.domain_errors


def same_models(host: Host, machine: Machine, wanted: object) -> None:
    assert isinstance(wanted, dict)
    for name, words in host.models(machine.dump(host.dump_count)).items():
        np.testing.assert_array_equal(words, wanted[name], err_msg=f"model {name}")


def predictable(graph: Graph, format: Format) -> Graph:
    """Skip a drawn graph without a prediction."""
    assume(PredictedPart.of(graph) is not None)
    return graph
