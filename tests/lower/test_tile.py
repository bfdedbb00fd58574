"""Tile programs as graphs: the numbers of the language's own evaluation, and of the machine, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from tabla.ir.evaluate import evaluate_fixed
from tabla.ir.evaluate_float import evaluate_float
from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.verify import verify
from tabla.lang.tile.evaluate import evaluate
from tabla.lower.tile import lower
from tabla.options import Options
from tabla.passes.pipeline import run_passes
from tests.lang.tile.references import REFERENCES, traced
from tests.schedule.agreement import agree

FORMAT = Format.parse("q12.20")


def lowered(name: str) -> Graph:
    graph = lower(traced(name), number_format=FORMAT)
    verify(graph)
    return graph


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_graph_means_the_program(name: str) -> None:
    graph, arrays = lowered(name), REFERENCES[name].draw(5)
    expected = evaluate(traced(name), arrays)
    values = evaluate_float(graph, arrays).values
    words = {k: np.floor(v * FORMAT.one + 0.5).astype(np.int64) for k, v in arrays.items()}
    fixed = evaluate_fixed(graph, FORMAT, words)
    assert [shown for shown, _ in graph.results] == list(expected)
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor], expected[shown], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(fixed.values[tensor] / FORMAT.one, expected[shown], rtol=2e-3, atol=2e-3)


# What the graph says and the machine does not compute yet: constraints, and reductions that compare.
CONSTRAINED = {
    "convolutions:average_pool_ragged", "convolutions:conv_2d_same", "convolutions:conv_input_gradient",
    "convolutions:conv_same", "convolutions:conv_transposed", "convolutions:conv_transposed_2d",
    "convolutions:conv_transposed_cut", "convolutions:fir", "convolutions:max_pool_overlapping",
    "convolutions:max_pool_padded", "convolutions:max_pool_ragged", "convolutions:min_pool",
    "reductions:antidiagonal_maxima", "reductions:antidiagonal_sums", "reductions:band_sum", "reductions:butterfly",
    "reductions:correlation_lags", "reductions:exclusive_running_min", "reductions:lower_triangle",
    "reductions:polynomial_product", "reductions:reverse_sum", "reductions:running_max", "reductions:running_product",
    "reductions:triangular_matmul", "seed:complex_conv_2d", "seed:csum", "seed:max_pool_1d",
}  # fmt: skip
EXTREMES = {
    "layers:attention", "layers:log_softmax", "layers:softmax", "layers:softmax_rows", "reductions:argmax_by_cond",
    "reductions:count_of_maxima", "reductions:shortest_paths", "reductions:tropical_matmul", "reductions:viterbi_step",
    "reductions:widest_product", "seed:global_min", "seed:max_over_axis", "seed:wrong_max_pool_1d",
}  # fmt: skip


@pytest.mark.parametrize("pes", [4, 16])
@pytest.mark.parametrize("name", sorted(REFERENCES.keys() - CONSTRAINED - EXTREMES))
def test_the_machine_computes_the_same_words(name: str, pes: int) -> None:
    template = Options(pes=pes).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(traced(name), number_format=words), words), template, words, samples=3)
