"""Axes of groups are refined: no word changes, hosts see the shapes of the program, and groups run in the lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.networks.layers import Layers
from tabla.base.source import Source
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.graph import Affine, Gather, Graph, Index
from tabla.graph.passes.pipeline import legalise, shaped
from tabla.graph.verify import verify
from tabla.languages.tc import parse
from tabla.languages.tc.lower import lower as lower_kernel
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.program.host import Host
from tabla.program.positions import positions
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS, Effort
from tabla.schedule.mapping.refined_axes import quotient_and_rest, with_refined_axes
from tabla.templates.template import template_for
from tabla.tile import TensorIndexes, TensorOutput, descend, max
from tests.schedule.agreement import MANY_ROOTS, Q6_10, agree
from tests.schedule.mapping.test_divided_rows import graph_of

Shapes = dict[str, tuple[int, ...]]


def grouped(X: Any, W: Any, groups: int) -> Any:
    """Return a convolution along the last axis, of the channels of each group alone; W is [outputs, channels, taps]."""
    (outputs, own, taps), length = W.shape, X.shape[1]
    g, o, c, k, h = TensorIndexes(5)
    Y: Any = TensorOutput(outputs, length - taps + 1)
    Y[outputs // groups * g + o, h] += X[own * g + c, h + k] * W[outputs // groups * g + o, c, k]
    Y.add_constraint(o < outputs // groups)
    return Y


def summed(X: Any, first: int, count: int, step: int) -> Any:
    """Return the sums over `count` channels."""
    c, h = TensorIndexes(2)
    Y: Any = TensorOutput(X.shape[1])
    Y[h] += X[step * c + first, h]
    Y.add_constraint(c < count)
    return Y


def traced(function: Callable[..., Any], shapes: Shapes) -> Graph:
    return shaped(lower(trace(function, shapes), number_format=Q6_10), Q6_10)


def layer(groups: int, outputs: int, channels: int, length: int = 6) -> Graph:
    """A convolution of groups with so many outputs and channels each."""
    shapes = {"X": (groups * channels, length), "W": (groups * outputs, channels, 3)}
    return traced(lambda X, W: grouped(X, W, groups), shapes)


def kernel(body: str, given: str, **sizes: int) -> Graph:
    text = f"def f({given}) -> (y) {{ {body} }}"
    return shaped(lower_kernel(parse(Source.from_text(text)).function(), sizes, number_format=Q6_10), Q6_10)


def refined(graph: Graph) -> Graph | None:
    return with_refined_axes(legalise(graph, Q6_10), 8)


def shapes_of(legal: Graph) -> Shapes:
    return {name: tensor.shape for name, tensor in legal.tensors.items()}


def changed(graph: Graph) -> Shapes:
    """Refine the axes of a graph, assert that no word changes, and return the shapes that changed."""
    made, legal = refined(graph), legalise(graph, Q6_10)
    if made is None:
        return {}
    verify(made)
    random = np.random.default_rng(3)
    words = {
        t.name: random.integers(0, 4, t.shape) for t in graph.tensors.values() if t.role in ("input", "label", "model")
    }

    def results(each: Graph) -> list[list[int]]:
        own = {name: array.reshape(each.tensors[name].shape) for name, array in {**words, **each.words}.items()}
        values = evaluate_fixed(each, Q6_10, own, own).values
        wanted = [tensor for _, tensor in graph.results] + list(graph.updates.values())
        return [values[tensor].reshape(-1).tolist() for tensor in wanted]

    assert results(made) == results(legal)
    before = shapes_of(legal)
    return {name: shape for name, shape in shapes_of(made).items() if shape != before[name]}


def ways(graph: Graph) -> set[str]:
    return {fit.way for fit in schedule_graph(graph, template_for(8), Q6_10, EFFORTS[0]).mapping.fits}


def test_groups_get_an_axis() -> None:
    graph = layer(groups=4, outputs=3, channels=2)
    assert changed(graph) == {"X": (4, 2, 6), "W": (4, 3, 2, 3), "Y": (4, 3, 4)}
    made = refined(graph)
    assert made is not None and [str(s) for s in made.statements[0].write][:2] == ["g", "o"]


def test_groups_run_in_the_lanes() -> None:
    """4 groups of 8 x 8 channels, 6 points and 3 taps: 4,608 products, which were all computed at the root."""
    graph = layer(groups=4, outputs=8, channels=8, length=8)
    schedule = agree(graph, template_for(32), Q6_10, samples=2, effort=EFFORTS[0])
    assert "root" not in {fit.way for fit in schedule.mapping.fits}
    assert schedule.cycles <= 4608 // 8 + 64
    # Each tap group has one of the convolution's groups, and all lanes multiply.
    schedule = agree(graph, template_for(32), Q6_10, samples=2)
    assert schedule.template.roots == 4 and schedule.cycles <= 192 + 64


def test_weights_of_a_dense_layer_get_the_axes_of_the_map_that_it_reads() -> None:
    layers = Layers([8, 5, 1])
    graph = graph_of(layers.model(layers.dense(layers.add("Flatten", "x", axis=1), 8 * 5, 2), "dense"))
    assert changed(graph) == {"w0": (2, 8, 5)}
    # Two outputs would fill two lanes. The channels fill all eight, and the tree adds them.
    schedule = agree(graph, template_for(8), Q6_10, samples=2, effort=EFFORTS[0])
    assert {fit.way for fit in schedule.mapping.fits} == {"tree"}
    assert schedule.cycles <= 8 * 5


def test_depth_multipliers_run_in_the_lanes() -> None:
    graph = layer(groups=8, outputs=2, channels=1, length=8)
    schedule = agree(graph, template_for(8), Q6_10, samples=2, effort=EFFORTS[0])
    assert shapes_of(schedule.mapping.graph)["Y"] == (8, 2, 6)
    assert "root" not in {fit.way for fit in schedule.mapping.fits}


@settings(max_examples=20)
@given(st.integers(2, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 9))
def test_no_word_changes(groups: int, outputs: int, channels: int, times: int, seed: int) -> None:
    """An elementwise layer, a layer of groups, and one with `times` as many groups."""
    finer, middle = groups * times, groups * outputs * times
    graph = traced(
        lambda X, B, W, V: grouped(grouped(max(X, B), W, groups), V, finer),
        {
            "X": (groups * channels, 5),
            "B": (groups * channels, 1),
            "W": (middle, channels, 3),
            "V": (2 * finer, outputs, 1),
        },
    )
    changed(graph)
    agree(graph, template_for(4), Q6_10, samples=2, seed=seed, effort=EFFORTS[0])


def test_an_axis_may_be_refined_twice() -> None:
    """8 channels leave 2 groups and enter 4 groups, so they are [2][2][2]; the shapes of both ends follow."""
    graph = traced(lambda X, W, V: grouped(grouped(X, W, 2), V, 4), {"X": (8, 6), "W": (8, 4, 3), "V": (8, 2, 1)})
    found = changed(graph)
    assert {found[s.target] for s in graph.statements} == {(2, 2, 2, 4)}
    assert found["X"] == (2, 4, 6) and found["W"] == (2, 2, 2, 4, 3) and found["V"] == (2, 2, 2, 2, 1)


@pytest.mark.parametrize(("first", "count", "step"), [(0, 3, 1), (1, 6, 1), (7, 8, -1), (0, 3, 3)])
def test_an_axis_that_others_read_otherwise_stays(first: int, count: int, step: int) -> None:
    """Such channels are no whole groups of two."""
    shapes = {"X": (8, 6), "W": (12, 2, 3)}
    graph = traced(lambda X, W: (grouped(X, W, 4), summed(X, first, count, step)), shapes)
    assert changed(graph) == {"W": (4, 3, 2, 3), "Y": (4, 3, 4)}
    agree(graph, template_for(4), Q6_10, samples=2, effort=EFFORTS[0])


def test_channels_that_are_whole_groups_are_refined_where_others_read_them() -> None:
    graph = traced(lambda X, W: (grouped(X, W, 4), summed(X, 2, 4, 1)), {"X": (8, 6), "W": (12, 2, 3)})
    assert changed(graph) == {"X": (4, 2, 6), "W": (4, 3, 2, 3), "Y": (4, 3, 4)}


def test_a_gathered_tensor_stays() -> None:
    """The machine counts the words of a gathered tensor in its row-major order, along one axis of its own."""
    body = "z(g, h) +=! x(2*g + c, h) where g in 0:4, c in 0:2 y(i, h) +=! x(t(i), h) * z(g, h)"
    graph = kernel(body, "float(8, 6) x, int32(3) t")
    assert any(isinstance(statement.operation, Gather) for statement in graph.statements)
    assert refined(graph) is None


def test_windows_side_by_side_run_in_the_lanes() -> None:
    """Any two indices on one axis count, not those of convolutions: windows that do not overlap are groups, too."""
    graph = kernel("y(h) +=! x(2*h + k) * w(k)", "float(16) x, float(2) w")
    assert changed(graph) == {"x": (8, 2)}
    assert "root" not in ways(graph)


@pytest.mark.parametrize(
    "body",
    [
        "y(o, h) +=! x(c, h) * w(o, c)",
        "y(c, h) max=! x(c, 2*h + k) where k in 0:2",
        "y(c, h) = x(2*c + 1, h) where c in 0:2, h in 0:H",
        "y(h) +=! x(c, 2*h + k) * w(k, c) where k in 0:3",
    ],
    ids=["one index an axis", "lanes along another axis", "no sum", "windows that overlap, lanes along the sum"],
)
def test_what_runs_in_lanes_or_sums_nothing_is_left_alone(body: str) -> None:
    assert refined(kernel(body, "float(4, H) x, float(O, 4) w", H=8, O=3)) is None


def learns(X: Any, Y: Any, W: Any, B: Any) -> None:
    h, o, i = TensorIndexes(3)
    S: Any = grouped(X, W, 4)
    D: Any = TensorOutput(12)
    L: Any = TensorOutput()
    D[o] += S[o, h] * B[o]
    E = D - Y
    L[()] += E[i] * E[i]
    descend(L / 2, [W, B], 0.125)


@pytest.mark.parametrize("effort", [EFFORTS[0], MANY_ROOTS], ids=["one root", "roots"])
def test_models_that_learn_have_the_shapes_of_the_program_outside(effort: Effort) -> None:
    graph = traced(learns, {"X": (8, 5), "Y": (12,), "W": (12, 2, 3), "B": (12,)})
    found = changed(graph)
    assert found["W"] == found[graph.updates["W"]] == (4, 3, 2, 3)
    schedule = agree(graph, template_for(8), Q6_10, effort=effort)
    assert len(shapes_of(schedule.mapping.graph)["W"]) == 4
    outside = {name: places.shape for name, places in positions(Host(schedule)).items()}
    assert outside["dump/W"] == outside["load/W"][1:] == (12, 2, 3)
    assert outside["sample/X"][1:] == (8, 5)


@pytest.mark.parametrize("inner", [2, 3, 4, 8])
def test_a_quotient_and_a_rest(inner: int) -> None:
    box = {name: Index(name=name, low=low, high=high) for name, low, high in (("a", 0, 3), ("b", 0, 2), ("c", -2, 6))}
    points = [{"a": a, "b": b, "c": c} for a in range(3) for b in range(2) for c in range(-2, 6)]
    found = 0
    for form in (Affine.of(n, a=a, b=b, c=c) for n in (-9, 0, 5) for a in (0, 4, 8) for b in (0, 1, 2) for c in (0, 8)):
        if (parts := quotient_and_rest(form, inner, box)) is not None:
            quotient, rest = parts
            found += 1
            assert all(form.at(p) == inner * quotient.at(p) + rest.at(p) and 0 <= rest.at(p) < inner for p in points)
    assert found
