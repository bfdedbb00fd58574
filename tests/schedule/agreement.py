"""One graph on one array: the cycle model's words, cycles and latency against evaluation and prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import shaped
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.bound import full
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort
from tabla.schedule.placing.borders import Border
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import Stalls
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import Template, timing
from tests.graph.runs import run_fixed

Words = dict[str, NDArray[np.int64]]


Q6_10 = Format(integer=6, fraction=10)
FREE_ROOTS = replace(EFFORTS[DEFAULT_EFFORT], root_price=0)
"""A search to which further roots cost nothing."""
MANY_ROOTS = replace(EFFORTS[DEFAULT_EFFORT], root_price=-2)
"""A search in which a further root counts as a gain of two lanes: it takes several roots where one would do."""


def shaped_graph(text: str, format: Format = Q6_10) -> Graph:
    """The graph of a TABLA text after all passes, as programs are built."""
    return shaped(lower(parse(Source.from_text(text)), number_format=format), format)


def draw_words(graph: Graph, format: Format, samples: int, seed: int) -> tuple[Words, Words]:
    """(inputs and labels with a leading axis of samples, models): words of mixed sizes, extremes among them.

    Of wide models these are stored integers, with all kinds of guard bits below the words.
    """
    generator = np.random.default_rng(seed)
    extremes = np.array([format.lowest, format.highest, 0, 1, -1, format.one, -format.one])

    def words(shape: tuple[int, ...]) -> NDArray[np.int64]:
        small = generator.integers(-format.one, format.one + 1, shape)
        wild = generator.choice(extremes, shape)
        return np.where(generator.random(shape) < 0.1, wild, small).astype(np.int64)

    tensors = graph.tensors.values()
    inputs = {t.name: words((samples, *t.shape)) for t in tensors if t.role in ("input", "label")}
    models = {t.name: words(t.shape) for t in tensors if t.role == "model"}
    for tensor in tensors:
        if tensor.role == "model" and tensor.guard:
            below = generator.integers(0, 1 << tensor.guard, tensor.shape)
            models[tensor.name] = (models[tensor.name] << tensor.guard) | below
    return inputs, models


def agree(
    graph: Graph,
    template: Template,
    format: Format,
    *,
    samples: int = 4,
    seed: int = 0,
    given: Words | None = None,
    effort: Effort = EFFORTS[DEFAULT_EFFORT],
) -> Schedule:
    """Assert that the cycle model's every model word and result is the evaluation's, and every cycle the predicted.

    `given`: inputs that are not drawn, with their axis of samples.
    """
    schedule = schedule_graph(graph, template, format, effort)
    agree_on(schedule, samples=samples, seed=seed, given=given)
    assert schedule.cycles >= full(graph, schedule.template, format).cycles
    return schedule


def agree_on(
    schedule: Schedule,
    *,
    samples: int = 4,
    seed: int = 0,
    stalls: Stalls | None = None,
    given: Words | None = None,
) -> None:
    """The same for a schedule; words only where the host pauses (`stalls`)."""
    graph, format = schedule.graph, schedule.format
    host = Host(schedule)
    inputs, models = draw_words(graph, format, samples, seed)
    inputs |= given or {}
    kept = [tensor for _, tensor in graph.results]
    expected = run_fixed(graph, format, inputs, models, keep=kept, count=samples)
    with CycleModel(encode(schedule), strict=True) as machine:
        machine.load(host.load_beats(models))
        beats = host.sample_beats(inputs)
        # The first sample alone: updates of overlapping samples cannot be told apart by their cycles.
        alone = machine.run(beats[: schedule.beats], 1)
        result = machine.run(beats[schedule.beats :], samples - 1, stalls)
        found = host.models(machine.dump(host.dump_count)) if host.dump_count else {}
    for name, words in found.items():
        np.testing.assert_array_equal(words, expected.models[name], err_msg=f"model {name}")
    assert alone.updates_after(schedule.update_cycles) and result.updates_after(schedule.update_cycles)
    shown = host.results(alone.outputs + result.outputs)
    for name, tensor in graph.results:
        np.testing.assert_array_equal(shown[name], expected.kept[tensor], err_msg=f"result {name}")
    if stalls is not None:
        return
    border = Border(
        beats=schedule.beats,
        slots=schedule.ring_slots,
        release=schedule.release,
        initiation_interval=schedule.initiation_interval,
        stages=schedule.stages,
    )
    _, tokens = border.tokens(samples - 1, timing())
    assert [s - result.starts[0] for s in result.starts] == [t - tokens[0] for t in tokens]
    if alone.latencies:
        assert alone.latencies == [schedule.latency]
