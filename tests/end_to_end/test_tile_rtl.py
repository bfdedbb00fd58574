"""Tile programs through the Verilog in Icarus: every word, result and cycle."""

from __future__ import annotations

import pytest

from tabla.ir.format import Format
from tabla.lower.tile import lower
from tabla.passes.pipeline import run_passes
from tests.end_to_end.algorithms import hold_against_evaluation, need
from tests.lang.tile.references import traced

FORMAT = Format(integer=6, fraction=10)
PROGRAMS = [
    "seed:sum_over_axis", "seed:matmul", "seed:avg", "seed:conv_1d",
    "convolutions:conv_strided", "convolutions:conv_depthwise", "convolutions:conv_grouped",
    "convolutions:average_pool", "convolutions:im2col",
    "reductions:gram", "reductions:variance", "reductions:bilinear", "reductions:diagonal",
    "layers:mlp", "layers:relu_layer", "layers:gelu", "layers:layer_norm", "layers:huber", "layers:broadcasting",
    "moves:kronecker", "moves:repeat", "moves:reshapes", "moves:batched_matmul",
]  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_in_icarus(name: str) -> None:
    need("icarus")
    graph = run_passes(lower(traced(name), number_format=FORMAT), FORMAT)
    hold_against_evaluation(graph, "icarus", 4, FORMAT, samples=2, seed=7)
