"""Which rows of its neighbours a tap group computes itself, and how many rows a group owns."""

from __future__ import annotations

import onnx
import pytest

from benchmarks.networks.layers import Layers
from tabla.graph.graph import Graph
from tabla.graph.verify import verify
from tabla.schedule.mapping.divided_rows import with_divided_rows
from tabla.schedule.mapping.row_axes import Rows
from tabla.schedule.mapping.row_divisions import divisions
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.mapping.test_divided_rows import graph_of, same_words


def pair(channels: int, outputs: int, rows: int = 16, *, pads: int | None = None) -> onnx.ModelProto:
    """Two convolutions of 3 x 3 with a rectifier between them, on maps of `rows` rows."""
    layers = Layers([channels, rows, 6])
    x = layers.relu(layers.convolution("x", channels, outputs, (3, 3), pads=pads))
    return layers.model(layers.convolution(x, outputs, outputs, (3, 3), pads=pads), "pair")


def rows_of(graph: Graph, groups: int, lanes: int) -> dict[str, Rows]:
    return next(divisions(graph, groups, lanes)).rows


@pytest.mark.parametrize(
    ("channels", "outputs", "lanes", "computed"),
    [
        pytest.param(1, 16, 16, True, id="9 products are fewer slots than 6 groups take"),
        pytest.param(64, 16, 16, False, id="576 products are not"),
        pytest.param(1, 16, 1, False, id="one lane computes the channels one after the other"),
        pytest.param(1, 1, 16, False, id="the columns of a window do not run over lanes"),
    ],
)
def test_rows_of_few_products_are_computed_by_their_readers(
    channels: int, outputs: int, lanes: int, computed: bool
) -> None:
    graph = graph_of(pair(channels, outputs))
    found = rows_of(graph, 4, lanes)
    assert found["t1"].computed == computed and (found["t1"].before, found["t1"].after) == (1, 1)
    # The rectifier needs the rows that it is computed from.
    assert (found["t0"].before, found["t0"].after) == ((1, 1) if computed else (0, 0))
    divided = with_divided_rows(graph, next(divisions(graph, 4, lanes)), 4, Q6_10)
    passed_on = {"t1.first", "t1.last"}
    assert passed_on.isdisjoint(divided.tensors) if computed else passed_on <= set(divided.tensors)
    same_words(graph, divided)


def test_rows_beyond_the_map_are_zeros_where_they_are_computed() -> None:
    graph = graph_of(pair(1, 16))
    divided = with_divided_rows(graph, next(divisions(graph, 4, 16)), 4, Q6_10)
    # The convolution reads them as pads. Its bias would make them other words than 0.
    assert {"rows.inside.16.4.-1.1", "rows.inside.16.4.+4.1"} <= set(divided.tensors)
    ones = {name: divided.words[name] // Q6_10.one for name in ("rows.inside.16.4.-1.1", "rows.inside.16.4.+4.1")}
    assert ones["rows.inside.16.4.-1.1"].reshape(-1).tolist() == [0, 1, 1, 1]
    assert ones["rows.inside.16.4.+4.1"].reshape(-1).tolist() == [1, 1, 1, 0]


def test_a_map_that_its_readers_compute_needs_no_owners_of_all_rows() -> None:
    # Without pads the maps have 11, 9 and 7 rows. Two rows of the last one for each of four groups are enough, and the
    # rows 8 to 10 of the first one are rows that the last group keeps beside its own.
    graph = graph_of(pair(1, 4, rows=11, pads=0))
    found = rows_of(graph, 4, 4)
    assert {name: rows.rows for name, rows in found.items()} == {"t0": 2, "t1": 2, "t2": 2}
    assert found["t0"].computed and found["t0"].after == 2
    same_words(graph, with_divided_rows(graph, next(divisions(graph, 4, 4)), 4, Q6_10))
    # Where rows are passed on, three groups of three rows own them all.
    passed_on = rows_of(graph_of(pair(64, 4, rows=11, pads=0)), 4, 4)
    assert {rows.rows for rows in passed_on.values()} == {3}


@pytest.mark.parametrize("rows", [7, 8])
def test_the_mean_of_a_map_is_a_sum_over_the_rows_of_each_group(rows: int) -> None:
    layers = Layers([2, rows, 4])
    x = layers.mean(layers.relu(layers.convolution("x", 2, 4, (3, 3))))
    graph = graph_of(layers.model(layers.dense(x, 4, 3), "mean"))
    division = next(divisions(graph, 4, 4))
    # Of 7 rows the last group has one. Its second row must be zeros.
    assert division.rows["t1"].clean == (1 if rows == 7 else 2) and division.rows["t1"].zeros
    divided = with_divided_rows(graph, division, 4, Q6_10)
    assert "t1" not in divided.tensors, "no group needs the rows of all others"
    same_words(graph, divided)


@pytest.mark.parametrize("first", [0, 1])
def test_rows_are_taken_from_tensors_that_are_written_whole(first: int) -> None:
    graph = shaped_graph(
        f"""
        model_input x[9]; model_input w[3];
        iterator i[{first}:9]; iterator h[0:6]; iterator k[0:3]; iterator l[0:4];
        t[i] = x[i] + 1;
        u[h] = sum[k](w[k] * t[h + k + 1]);
        y[l] = sum[k](w[k] * u[l + k]);
        """
    )
    # Nothing reads t[0], but a group may take it beside the rows that it needs.
    found = list(divisions(graph, 2, 4))
    assert any("u" in division.rows for division in found) == (first == 0)
    for division in found:
        divided = with_divided_rows(graph, division, 2, Q6_10)
        verify(divided)
        same_words(graph, divided)
