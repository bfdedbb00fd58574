"""Minibatches: the step graph against sums of single steps in float64, and against integers by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.text import graph_text
from tabla.graph.verify import verify
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower

Q6_10 = Format(integer=6, fraction=10)
TWO_LAYERS = """
mu = 0.3;
model_input x[6]; model_output y[3]; model w1[5][6], w2[3][5], b[3];
gradient g1[5][6] -> w1, g2[3][5] -> w2, gb[3] -> b;
iterator i[0:6]; iterator j[0:5]; iterator k[0:3];
h[j] = sigmoid(sum[i](w1[j][i] * x[i]));
o[k] = sigmoid(sum[j](w2[k][j] * h[j]) + b[k]);
d[k] = (o[k] - y[k]) * o[k] * (1 - o[k]);
g2[k][j] = d[k] * h[j] + 0.25 * w2[k][j];
gb[k] = d[k];
g1[j][i] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]) * x[i];
"""
DECAY = "mu = 0.5; model_input x; model w[3]; gradient g[3] -> w; iterator i[0:3]; s = x * 2; g[i] = 0.125 * w[i];"


def graph_of(text: str, *results: str) -> Graph:
    return lower(parse(Source.from_text(text)), number_format=Q6_10, results=results)


def test_a_step_of_one_sample_is_the_graph_itself() -> None:
    graph = graph_of(TWO_LAYERS)
    assert minibatched(graph, 1) is graph


def test_the_text_of_a_step() -> None:
    graph = graph_of("mu = 0.5; model_input x; model_output y; model w; gradient g -> w; e = w*x - y; g = e * x;", "e")
    step = minibatched(graph, 4)
    verify(step)
    lines = graph_text(step).splitlines()
    assert lines[0] == "graph program, 4 samples a step"
    assert [line.strip() for line in lines if "=" in line and "result" not in line] == [
        "e[sample.] = w*x[sample.] - y[sample.]   for sample. in [0, 4)",
        "w.next = w - sum[sample.](e[sample.]*x[sample.]*2^-1)   for sample. in [0, 4)",
    ]


@settings(max_examples=40)
@given(st.sampled_from([TWO_LAYERS, DECAY]), st.integers(2, 7), st.integers(0, 1 << 20))
def test_a_step_is_the_sum_of_its_samples_steps(text: str, size: int, seed: int) -> None:
    graph = graph_of(text)
    chance = np.random.default_rng(seed)
    tensors = graph.tensors.values()
    samples = {t.name: chance.uniform(-1, 1, (size, *t.shape)) for t in tensors if t.role in ("input", "label")}
    models = {t.name: chance.uniform(-1, 1, t.shape) for t in tensors if t.role == "model"}
    expected = {name: array.copy() for name, array in models.items()}
    for sample in range(size):
        single = FloatPlan.of(graph)
        single.load(models)
        after = single.run({name: array[sample : sample + 1] for name, array in samples.items()}, [], 1).models
        for name in expected:
            expected[name] += after[name] - models[name]
    step = minibatched(graph, size)
    verify(step)
    plan = FloatPlan.of(step)
    plan.load(models)
    found = plan.run({name: array[None] for name, array in samples.items()}, [], 1).models
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-12)


def test_the_sum_is_exact_and_rounded_once() -> None:
    graph = graph_of("mu = 0.5; model_input x; model_output y; model w; gradient g -> w; e = w - y; g = e * x;")
    # Each product is 2^-11 of a unit in words of 2^-10: alone every step would round to nothing.
    words = {"x": np.array([[1, 1, 1, 1]]), "y": np.array([[-1024, -1024, -1024, -1024]])}
    models = {"w": np.array(0)}
    step = minibatched(graph, 4)
    after = evaluate_fixed(step, Q6_10, {name: array[0] for name, array in words.items()}, models).models
    # e = 1024 in each; 4 * 1024 * 1 * 2^-1 * 2^-10 = 2 units less.
    assert int(after["w"]) == -2
