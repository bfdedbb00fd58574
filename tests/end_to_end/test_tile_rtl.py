"""Tile programs through the Verilog in Icarus: every word, result and cycle."""

from __future__ import annotations

import pytest

from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tile.lower import lower
from tests.end_to_end.algorithms import hold_against_evaluation, most_slow, need
from tests.languages.tile.references import traced

FORMAT = Format(integer=6, fraction=10)
PROGRAMS = [
    "seed:max_over_axis", "seed:skip", "seed:csum", "seed:max_pool_1d", "seed:conv_1d",
    "convolutions:conv_same", "convolutions:conv_grouped", "convolutions:conv_transposed",
    "convolutions:max_pool_padded", "convolutions:average_pool_ragged",
    "reductions:running_product", "reductions:tropical_matmul", "reductions:argmax_by_cond", "reductions:variance",
    "reductions:polynomial_product", "reductions:irregular_maxima",
    "layers:mlp", "layers:softmax", "layers:huber", "layers:broadcasting", "layers:oscillator",
    "moves:repeat", "moves:reshapes", "moves:pad",
]  # fmt: skip


# The cycle model runs all programs in tests/languages/tile/lower.
@pytest.mark.parametrize("name", most_slow(PROGRAMS))
def test_a_program_in_icarus(name: str) -> None:
    need("icarus")
    graph = run_passes(lower(traced(name), number_format=FORMAT), FORMAT)
    hold_against_evaluation(graph, "icarus", 4, FORMAT, samples=2, seed=7)
