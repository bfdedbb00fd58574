"""Sums over different indices become sums over one, where lanes are worth it; no word changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.graph import Graph, Linear, Statement
from tabla.graph.passes.legalise.common_sums import MOST_MORE, common_sums
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from tests.graph.graph_strategy import words
from tests.schedule.agreement import Q6_10, agree, shaped_graph


def layer(sizes: list[int], outputs: int = 3, *, more: str = "") -> str:
    """A sum over each size, each of a matrix and a vector, and `more` in the same sum."""
    inputs, models, iterators, sums = [], [], [], []
    for number, size in enumerate(sizes):
        inputs.append(f"x{number}[{size}]")
        models.append(f"W{number}[{outputs}][{size}]")
        iterators.append(f"i{number}[0:{size}]")
        sums.append(f"sum[i{number}](W{number}[j][i{number}]*x{number}[i{number}])")
    return (
        f"model_input {', '.join(inputs)}; model {', '.join(models)}; iterator j[0:{outputs}], {', '.join(iterators)};"
        f"s[j] = {' + '.join(sums)}{more};"
    )


def the_sum(graph: Graph) -> tuple[Statement, Linear]:
    """The one statement that sums, and its operation."""
    (found,) = [s for s in graph.statements if isinstance(s.operation, Linear) and s.reduced]
    assert isinstance(found.operation, Linear)
    return found, found.operation


def shape(graph: Graph) -> tuple[int, int, int]:
    """The turns of the common index, the terms that it sums, and the terms beside it."""
    statement, operation = the_sum(graph)
    (index,) = statement.reduced
    summed = [term for term in operation.terms if term.reduce]
    return index.extent, len(summed), len(operation.terms) - len(summed)


@pytest.mark.parametrize(
    ("sizes", "pes", "expected"),
    [
        ([16, 32], 16, (16, 3, 0)),
        ([32, 32], 16, (32, 2, 0)),
        ([17, 41], 16, (2, 28, 2)),  # 60 products for 58, in half of the body
        ([40, 100], 16, (20, 7, 0)),
        ([64, 48], 16, (16, 7, 0)),
        ([96, 64], 4, (32, 5, 0)),
        ([3, 5, 7], 16, (1, 15, 0)),
        ([784, 33], 16, (16, 51, 1)),  # 33 = 2 * 16 + 1
    ],
)
def test_the_length_of_chunks(sizes: list[int], pes: int, expected: tuple[int, int, int]) -> None:
    assert shape(common_sums(shaped_graph(layer(sizes)), pes)) == expected


def test_a_sum_of_one_index_stays() -> None:
    graph = shaped_graph(layer([8]))
    assert common_sums(graph, 16) is graph


def test_a_sum_that_would_take_too_many_terms_stays() -> None:
    """Of 4,099 and 7 products no chunks leave few terms."""
    graph = shaped_graph(layer([4099, 7]))
    assert common_sums(graph, 16) == graph


def test_a_scalar_leaves_terms_to_the_root() -> None:
    """The lanes sum 256 times 8 products along i, and the root adds the squares of 8 sums beside the tree's word."""
    text = (
        "model_input x[256]; model V[256][8]; iterator i[0:256], k[0:8];"
        "s[k] = sum[i](V[i][k]*x[i]); t[i][k] = V[i][k]*V[i][k];"
        "h = sum[k](s[k]*s[k]) - sum[i][k](t[i][k]*x[i]);"
    )
    graph = common_sums(shaped_graph(text), 16)
    (statement,) = [s for s in graph.statements if s.target == "h"]
    assert [index.extent for index in statement.reduced] == [256] and isinstance(statement.operation, Linear)
    assert [bool(term.reduce) for term in statement.operation.terms] == [True] * 8 + [False] * 8


def test_a_small_scalar_stays_at_the_root() -> None:
    """Two short sums are not worth the way up the tree."""
    graph = shaped_graph(layer([5, 4], outputs=1).replace("[j]", "[0]").replace("iterator j[0:1], ", "iterator "))
    assert common_sums(graph, 16) == graph


@pytest.mark.parametrize(
    "text",
    [
        (
            "model_input x[7], u[69]; model W[7], V[34]; iterator i[0:7], l[0:34];"
            "s = sum[i](W[i]*x[i]) + sum[l](V[l]*u[2*l+1]);"
        ),
        (
            "model_input x[90], y[30]; model W[3]; iterator i[0:88], k[0:3], l[0:30];"
            "s = sum[i][k](W[k]*x[i+k]) + sum[l](y[l]);"
        ),
        "model_input x[40], z[3]; model W[40]; iterator i[1:40], k[0:3]; s = sum[i](W[i]*x[i]) + sum[k](z[k]*z[k]);",
    ],
)
def test_scalars_whose_words_do_not_lie_in_the_lanes_stay(text: str) -> None:
    """Strided and overlapping words would be moved first, and short sums do not pay for the way up the tree."""
    graph = shaped_graph(text)
    assert common_sums(graph, 8) == graph


def test_outputs_whose_words_lie_in_two_lanes_stay() -> None:
    """The rows of V lie one lane further than the outputs, so no lane has all words of an output."""
    text = (
        "model_input x[8], y[16]; model W[9][8], V[9][16]; iterator j[0:8], i[0:8], l[0:16];"
        "s[j] = sum[i](W[j][i]*x[i]) + sum[l](V[j+1][l]*y[l]);"
    )
    graph = shaped_graph(text)
    assert common_sums(graph, 4) == graph


def test_one_multiplier_gains_nothing() -> None:
    graph = shaped_graph(layer([34, 3], 8))
    assert common_sums(graph, 1) == graph


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=3),
    st.integers(2, 5),
    st.sampled_from(["", " + 0.25", " - b[j]", " + b[j]*b[j]"]),
    st.sampled_from([1, 4, 16]),
    st.integers(0, 2**20),
)
def test_no_word_changes(sizes: list[int], outputs: int, more: str, pes: int, seed: int) -> None:
    text = layer(sizes, outputs, more=more).replace("model W", f"model b[{outputs}], W" if "b[" in more else "model W")
    graph = shaped_graph(text)
    after = common_sums(graph, pes)
    inputs, models = words(graph, Q6_10, seed)
    before, then = (evaluate_fixed(each, Q6_10, inputs, models) for each in (graph, after))
    np.testing.assert_array_equal(before.values["s"], then.values["s"])
    for statement, old in zip(after.statements, graph.statements, strict=True):
        if statement != old:
            length, summed, rest = shape(after)
            products = sum(sizes) + (1 if more else 0)
            assert length * (summed + rest) <= MOST_MORE * products + 1


def test_lanes_compute_a_recurrent_layer() -> None:
    """The words are those of the evaluation, and the root does not compute sum after sum, which took 480 cycles."""
    schedule = agree(shaped_graph(layer([8, 16], 16)), template_for(pes=8), Q6_10, effort=EFFORTS[0], seed=3)
    assert schedule.cycles < 120
