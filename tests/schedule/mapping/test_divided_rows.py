"""Rows of maps that are divided between tap groups: no word changes, and each group has the rows that it reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.networks.layers import Layers
from benchmarks.networks.problems import transformer_block
from tabla.base.source import Source
from tabla.build.files.costs import costs
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.graph import Divide, Function, Graph
from tabla.graph.passes.pipeline import legalise, shaped
from tabla.graph.verify import verify
from tabla.languages.tc import parse
from tabla.languages.tc.lower import lower
from tabla.schedule.compile import checked_schedule
from tabla.schedule.mapping.candidates import candidates
from tabla.schedule.mapping.divided_rows import with_divided_rows
from tabla.schedule.mapping.effort import EFFORTS, of_calls
from tabla.schedule.mapping.fit import fits
from tabla.schedule.mapping.mapping import Mapping, static_tensors
from tabla.schedule.mapping.partition import cuts, partition
from tabla.schedule.mapping.refined_axes import with_refined_axes
from tabla.schedule.mapping.row_divisions import divisions
from tabla.schedule.mapping.selectors import GROUP, cut_axes, selects
from tabla.schedule.mapping.stage import map_graph
from tabla.schedule.placing.build import judge_of
from tabla.templates.template import template_for
from tests.graph.runs import run_fixed
from tests.schedule.agreement import Q6_10, agree_on, draw_words
from tests.schedule.mapping.judges import Remembering

QUICK = of_calls(EFFORTS[0])
LANES = 4
"""The lanes of a tap group, where their number does not matter."""


def graph_of(model: onnx.ModelProto) -> Graph:
    with tempfile.TemporaryDirectory() as place:
        onnx.save(model, f"{place}/net.onnx")
        return build(f"{place}/net.onnx", Options(format="q6.10")).graph


def lenet() -> onnx.ModelProto:
    """two convolutions of 5 x 5, the first with pads, each with a rectifier and a maximum over 2 x 2."""
    layers = Layers([1, 28, 6])
    x = layers.halved(layers.relu(layers.convolution("x", 1, 3, (5, 3))))
    x = layers.halved(layers.relu(layers.convolution(x, 3, 4, (5, 2), pads=0)))
    return layers.model(layers.dense(layers.add("Flatten", x, axis=1), 4 * 5, 3), "lenet")


def residual(rows: int) -> onnx.ModelProto:
    """A block with two branches on maps of `rows` rows, and behind it a convolution of stride 2."""
    layers = Layers([2, rows, 4])
    first = layers.relu(layers.convolution("x", 2, 4, (3, 3)))
    second = layers.convolution(layers.relu(layers.convolution(first, 4, 4, (3, 3))), 4, 4, (3, 3))
    x = layers.relu(layers.add("Add", first, second))
    x = layers.relu(layers.convolution(x, 4, 6, (3, 3), stride=2))
    return layers.model(layers.dense(layers.mean(x), 6, 3), "residual")


def attention(tokens: int, wide: int = 4, heads: int = 2) -> onnx.ModelProto:
    """A block of a transformer. Each token reads the keys and values of all of them."""
    layers = Layers([tokens, wide])
    return layers.model(transformer_block(layers, tokens, wide, heads, hidden=2 * wide), "attention")


def rows_of(graph: Graph, groups: int) -> dict[str, tuple[int, int, int, int]]:
    """Return the rows of each tensor in the first division: own, clean, before and after."""
    found = next(divisions(graph, groups, LANES))
    return {name: (r.rows, r.clean, r.before, r.after) for name, r in found.rows.items()}


def same_words(graph: Graph, changed: Graph, seed: int = 0) -> None:
    """Assert that two graphs give the same results for the same words."""
    inputs, models = draw_words(graph, Q6_10, 2, seed)
    expected = run_fixed(graph, Q6_10, inputs, models, keep=[t for _, t in graph.results], count=2)
    found = run_fixed(changed, Q6_10, inputs, models, keep=[t for _, t in changed.results], count=2)
    for name, tensor in graph.results:
        other = dict(changed.results)[name]
        np.testing.assert_array_equal(found.kept[other], expected.kept[tensor], err_msg=name)


def best_mappings(graph: Graph, groups: int, pes: int) -> Iterator[Mapping]:
    """Yield the best mapping of each division that has one, and hold the words of each division."""
    array = template_for(pes).with_roots(groups).with_sequencers(1)
    judge = judge_of(graph, Q6_10)
    for division in divisions(graph, groups, pes // groups):
        divided = with_divided_rows(graph, division, groups, Q6_10)
        verify(divided)
        same_words(graph, divided)
        legal = legalise(divided, Q6_10, pes=pes)
        cut = next(cut for cut in cuts(legal, groups) if cut_axes(legal) <= cut.axes)
        made = candidates(partition(legal, cut, groups), array, QUICK)
        found = [(figures.cycles, n) for n, mapping in enumerate(made) if (figures := judge(mapping, inf)) is not None]
        if found:
            yield made[min(found)[1]]


def test_a_map_of_half_as_many_rows_is_divided_into_half_as_many() -> None:
    # The second maps have 14, 10 and 5 rows: 4 groups of 4, 4 and 2 rows have them all, and the last group has fewer.
    # The convolution without pads reads 4 rows behind its own, and no row before.
    assert rows_of(graph_of(lenet()), 4) == {
        "t0": (8, 8, 0, 0),
        "t1": (8, 8, 0, 0),
        "t2": (4, 4, 0, 4),
        "t3": (4, 4, 0, 0),
        "t4": (4, 4, 0, 0),
        "t5": (2, 2, 0, 0),
    }


def test_rows_that_not_every_group_has_must_be_zeros_for_pads() -> None:
    even, uneven = rows_of(graph_of(residual(16)), 4), rows_of(graph_of(residual(14)), 4)
    assert even["t1"] == (4, 4, 1, 1), "a neighbour's row on either side"
    assert uneven["t1"] == (4, 2, 1, 1), "the last group has two of its four rows"
    assert uneven["t0"] == (4, 4, 1, 1), "the neighbours' rows of t1 are computed from those of t0"


@pytest.mark.parametrize("rows", [8, 7])
def test_a_window_reaches_over_several_groups(rows: int) -> None:
    layers = Layers([1, rows, 2])
    x = layers.relu(layers.convolution("x", 1, 2, (3, 1)))
    graph = graph_of(layers.model(layers.convolution(x, 2, 2, (7, 1)), "tall"))
    assert rows_of(graph, 4)["t1"] == (2, 2 if rows == 8 else 1, 3, 3)
    for division in divisions(graph, 4, LANES):
        same_words(graph, with_divided_rows(graph, division, 4, Q6_10))


def test_maps_with_few_rows_may_stay_whole() -> None:
    graph = graph_of(lenet())
    left = [set(division.rows) for division in divisions(graph, 4, LANES)]
    assert left == sorted(left, key=len, reverse=True)
    assert {"t0", "t1"} in left and {"t0", "t1", "t2"} in left


def test_what_has_no_window_is_not_divided() -> None:
    layers = Layers([8])
    x = layers.relu(layers.dense("x", 8, 16))
    assert not list(divisions(graph_of(layers.model(layers.dense(x, 16, 4), "dense")), 4, LANES))


@pytest.mark.parametrize(
    "text",
    [
        # A map is read along both of its axes.
        """def f(float(R,R) x) -> (c) {
          a(h,v) +=! x(h+k,v) where k in 0:3, h in 0:8, v in 0:8
          b(h,v) = a(h,v) + a(v,h) where h in 0:8, v in 0:8
          c(h,v) +=! b(h,v+k) where k in 0:3, h in 0:8, v in 0:6
        }""",
        # Rows are divided in one map, and columns in another one that is made of it.
        """def f(float(R,R) x) -> (b, d) {
          a(h,v) +=! x(h+k,v) where k in 0:3, h in 0:8, v in 0:10
          b(h) max=! a(h,v) where h in 0:8, v in 0:10
          d(h,v) +=! a(v,h+k) where k in 0:3, h in 0:8, v in 0:8
        }""",
        # Windows begin behind the row, and reach over all of the next group.
        """def f(float(R,R) x) -> (c) {
          a(h,v) = x(h,v) * 0.5 where h in 0:8, v in 0:10
          c(h) +=! a(h+k+2,v) where k in 0:5, h in 0:2, v in 0:10
        }""",
        # One map is divided along its rows, and another one reads it along its columns, which no group has alone.
        """def f(float(R,R) x) -> (a, d) {
          a(h,v) +=! x(h+k,9-v) where k in 0:3, h in 0:8, v in 0:10
          d(j) +=! a(0,j) * x(j+k,0) where k in 0:3, j in 0:8
        }""",
        # Groups take as many rows of an input as they take of its columns.
        """def f(float(R,R) x) -> (a, d) {
          a(h,v) +=! x(h+k,9-v) where k in 0:3, h in 0:8, v in 0:10
          d(h,v) +=! x(9-v,h+k) where k in 0:3, h in 0:8, v in 0:10
        }""",
    ],
    ids=["both axes", "rows and columns", "far rows", "columns of a divided map", "rows and columns of an input"],
)
def test_maps_that_are_read_in_several_ways(text: str) -> None:
    graph = shaped(lower(parse(Source.from_text(text)).function(), {"R": 10}, number_format=Q6_10), Q6_10)
    for groups in (2, 4, 8):
        for division in divisions(graph, groups, LANES):
            divided = with_divided_rows(graph, division, groups, Q6_10)
            verify(divided)
            same_words(graph, divided)


def test_functions_are_not_computed_for_rows_that_do_not_exist() -> None:
    def network(rows: int) -> Graph:
        layers = Layers([1, rows, 3])
        x = layers.add("Sigmoid", layers.convolution("x", 1, 2, (3, 3)))
        return graph_of(layers.model(layers.dense(layers.mean(layers.convolution(x, 2, 2, (3, 3))), 2, 2), "net"))

    assert "t1" in rows_of(network(8), 4)
    # Functions of such rows might count domain errors.
    assert not any("t1" in division.rows for division in divisions(network(7), 4, LANES))


def test_the_rows_of_a_group_are_cut_at_the_constants() -> None:
    graph = graph_of(residual(16))
    divided = with_divided_rows(graph, next(divisions(graph, 4, LANES)), 4, Q6_10)
    axes = cut_axes(divided)
    passed_on = {"rows.own", "rows.beside-1", "rows.beside+0", "rows.beside+1"}
    assert passed_on | {"rows.inside.16.4.-1.1", "rows.inside.16.4.+4.1"} == {name for name, _ in axes}
    cut = next(cut for cut in cuts(legalise(divided, Q6_10, pes=16), 4) if axes <= cut.axes)
    assert ("t1.rows", 1) in cut.axes and divided.tensors["t1.rows"].shape == (4, 4, 6, 4)


def test_tokens_are_divided_with_all_that_is_done_to_each() -> None:
    """No statement reads a neighbour of its token. Keys and values come to all groups."""
    graph = graph_of(attention(8))
    division = max(divisions(graph, 4, LANES), key=lambda each: len(each.rows))
    assert set(division.rows) == {statement.target for statement in graph.statements}
    assert {rows.rows for rows in division.rows.values()} == {2}
    divided = with_divided_rows(graph, division, 4, Q6_10)
    whole = {s.target for s in divided.statements} & graph.tensors.keys()
    assert len(whole) == 3  # keys, values and the result
    # Nothing is divided so that does no work to speak of, such as a rectifier along the channels of a convolution.
    layers = Layers([2, 9])
    x = layers.relu(layers.convolution("x", 2, 8, (9,), pads=0))
    assert not list(divisions(graph_of(layers.model(x, "channels")), 4, LANES))


def test_tokens_that_the_groups_do_not_share_evenly_are_not_divided_where_functions_are_computed() -> None:
    """A group would count domain errors of tokens that do not exist."""
    graph = graph_of(attention(6))
    for division in divisions(graph, 4, LANES):
        divided = [s for s in graph.statements if s.target in division.rows]
        assert not any(isinstance(s.operation, Function | Divide) for s in divided)
        same_words(graph, with_divided_rows(graph, division, 4, Q6_10))


@pytest.mark.parametrize(
    "groups", [pytest.param(2, marks=pytest.mark.slow), 4, pytest.param(8, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "model",
    [lenet(), pytest.param(residual(16), marks=pytest.mark.slow), residual(14), attention(8)],
    ids=["lenet", "residual", "uneven", "attention"],
)
def test_the_array_computes_each_division(model: onnx.ModelProto, groups: int) -> None:
    graph = graph_of(model)
    mappings = list(best_mappings(graph, groups, pes=groups * 4))
    assert mappings
    for mapping in mappings:
        agree_on(checked_schedule(graph, mapping, mapping.template, Q6_10), samples=2)


def drawn(data: st.DataObject) -> onnx.ModelProto:
    """Draw a network of one to four convolutions, with rectifiers, maxima over windows and sums of two branches."""
    draw = data.draw
    channels, rows, columns = draw(st.integers(1, 3)), draw(st.integers(4, 15)), draw(st.integers(2, 4))
    layers, x = Layers([channels, rows, columns]), "x"
    for _ in range(draw(st.integers(1, 4))):
        kernel = draw(st.sampled_from([1, 2, 3, 5])), draw(st.sampled_from([1, 2, 3]))
        pads = draw(st.sampled_from([None, 0])) if kernel[0] <= rows and kernel[1] <= columns else None
        stride, outputs, before = draw(st.sampled_from([1, 1, 2])), draw(st.integers(1, 4)), x
        x = layers.convolution(x, channels, outputs, kernel, stride=stride, pads=pads)
        if (stride, pads, outputs) == (1, None, channels) and draw(st.booleans()):
            x = layers.add("Add", before, x)
        channels = outputs
        rows = (rows - kernel[0]) // stride + 1 if pads == 0 else -(-rows // stride)
        columns = (columns - kernel[1]) // stride + 1 if pads == 0 else -(-columns // stride)
        if draw(st.booleans()):
            x = layers.relu(x)
        if min(rows, columns) >= 2 and draw(st.booleans()):
            x, rows, columns = layers.halved(x), rows // 2, columns // 2
    end = draw(st.sampled_from(["map", "mean", "dense"]))
    if end == "mean":
        x = layers.mean(x)
    elif end == "dense":
        x = layers.dense(layers.add("Flatten", x, axis=1), channels * rows * columns, 2)
    return layers.model(x, "net")


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_word_of_a_drawn_network_changes(data: st.DataObject) -> None:
    graph = graph_of(drawn(data))
    groups, lanes = data.draw(st.sampled_from([2, 3, 4, 8])), data.draw(st.sampled_from([1, 4, 64]))
    for division in divisions(graph, groups, lanes):
        divided = with_divided_rows(graph, division, groups, Q6_10)
        verify(divided)
        same_words(graph, divided)


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from([2, 3, 4, 8]), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 4, 64])
)
def test_no_word_of_a_drawn_transformer_changes(groups: int, each: int, heads: int, head: int, lanes: int) -> None:
    graph = graph_of(attention(groups * each, heads * head, heads))
    for division in divisions(graph, groups, lanes):
        divided = with_divided_rows(graph, division, groups, Q6_10)
        verify(divided)
        same_words(graph, divided)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_array_computes_drawn_networks_with_divided_rows(data: st.DataObject) -> None:
    graph = graph_of(drawn(data))
    groups = data.draw(st.sampled_from([2, 4, 8]))
    for mapping in best_mappings(graph, groups, pes=groups * data.draw(st.sampled_from([1, 2, 4]))):
        agree_on(checked_schedule(graph, mapping, mapping.template, Q6_10), samples=2)


def grouped() -> onnx.ModelProto:
    """A convolution, and behind it one of four groups of channels."""
    layers = Layers([2, 8, 8])
    x = layers.relu(layers.convolution("x", 2, 8, (3, 3)))
    return layers.model(layers.convolution(x, 8, 8, (3, 3), groups=4), "grouped")


def test_the_search_sees_groups_of_channels_in_the_lanes_of_divided_maps() -> None:
    graph, judge = graph_of(grouped()), Remembering(lambda _: 100)
    effort = replace(EFFORTS[2], starts=0, hastened=0)
    map_graph(graph, legalise(graph, Q6_10, pes=16), template_for(16), Q6_10, judge=judge, effort=effort)
    divided = [mapping for mapping in judge.seen if "t2.rows" in mapping.graph.tensors]
    assert divided and "g" in {fit.index for mapping in divided for fit in mapping.fits}


def test_groups_of_channels_run_in_the_lanes_of_each_tap_group() -> None:
    graph = graph_of(grouped())
    divided = legalise(with_divided_rows(graph, next(divisions(graph, 2, LANES)), 2, Q6_10), Q6_10, pes=16)
    # The index of the tap groups could run over lanes, but no longer once it is cut.
    assert with_refined_axes(divided, 8) is None
    refined = with_refined_axes(divided, 8, GROUP)
    assert refined is not None
    cut = next(cut for cut in cuts(refined, 2) if cut_axes(refined) <= cut.axes)
    made = partition(refined, cut, 2)
    boxes = [s for s in made.statements if s.target == "t2.rows" and s.reduced]
    assert boxes
    for box in boxes:
        assert "lane" in {fit.way for fit in fits(box, made, 8, static_tensors(made)) if fit.index == "g"}


def test_rows_that_are_passed_on_count_as_no_products() -> None:
    with tempfile.TemporaryDirectory() as place:
        onnx.save(lenet(), f"{place}/net.onnx")
        schedule = build(f"{place}/net.onnx", Options(format="q6.10", pes=32, effort=1)).schedule
    passed = {s.target for s in schedule.mapped.statements if selects(s, schedule.mapped)}
    assert {"x.rows1.4", "t2.first", "t5"} <= passed
    multiplying = {cost.name.split()[1] for cost in costs(schedule).statements if cost.multiplies}
    assert {"t0.rows", "t3.rows"} <= multiplying
    assert multiplying.isdisjoint({"t2.first", "t5"})


def funnel() -> onnx.ModelProto:
    """Convolutions that halve the rows and double the channels, from a map of 32 rows to one of 2."""
    layers, x, channels = Layers([2, 32, 4]), "x", 2
    for _ in range(4):
        x = layers.relu(layers.convolution(x, channels, 2 * channels, (3, 1), stride=2))
        channels *= 2
    return layers.model(x, "funnel")


def test_the_division_that_an_estimate_puts_first_is_judged() -> None:
    """Four groups have rows of the first maps and channels of the others, where the first division divides all maps."""
    graph, judge = graph_of(funnel()), Remembering(lambda _: 100)
    effort = replace(EFFORTS[2], starts=0, hastened=0, roots=(4,), cuts=1)
    map_graph(graph, legalise(graph, Q6_10, pes=16), template_for(16), Q6_10, judge=judge, effort=effort)
    made = {tuple(t for t in sorted(mapping.graph.tensors) if t.endswith(".rows")) for mapping in judge.seen}
    assert made == {(), ("t0.rows", "t1.rows", "t2.rows", "t3.rows")}
    assert len(next(divisions(graph, 4, 4)).rows) > 5
