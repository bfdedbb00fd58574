"""Tensor Comprehensions through the Verilog in Icarus: every word, result and cycle."""

from __future__ import annotations

import pytest

from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tests.end_to_end.algorithms import hold_against_evaluation, most_slow, need
from tests.languages.tc.lower.test_programs import function_of
from tests.languages.tc.references import REFERENCES

Q6_10 = Format(integer=6, fraction=10)
# Name -> (PEs, inputs kept on chip); each family of the language once.
PROGRAMS: dict[str, tuple[int, tuple[str, ...]]] = {
    "matmul": (4, ("B",)),
    "matmul_accumulate": (2, ()),
    "batched_matmul": (4, ()),
    "transposed_left": (3, ()),
    "tensordot": (4, ()),
    "kronecker": (2, ()),
    "hadamard_3": (4, ()),
    "block_diagonal": (4, ()),
    "conv1d": (4, ("W",)),
    "conv1d_strided": (2, ()),
    "conv1d_dilated": (4, ()),
    "conv2d_grouped": (2, ()),
    "average_pool": (4, ()),
    "batch_norm_inference": (4, ()),
    "batched_transposed": (2, ()),
    "copy": (2, ()),
    "dot": (2, ("x",)),
    "mlp1": (4, ()),
    "fc_relu_2": (4, ()),
    "reverse": (3, ()),
    "trace": (4, ()),
    "sigmoid": (4, ()),
    "fourier": (4, ()),
    "integers": (2, ()),
    "factorials": (2, ()),
    "power_series": (4, ("c",)),
    "edges": (2, ()),
    "lookup_checked": (2, ()),
    "sparse_convolution": (4, ("F", "G")),
}


# The cycle model runs all programs in tests/languages/tc/lower.
@pytest.mark.parametrize("name", most_slow(PROGRAMS))
def test_in_icarus(name: str) -> None:
    need("icarus")
    pes, keep = PROGRAMS[name]
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    assert set(keep) <= set(function.inputs)
    sizes = bind_sizes(function, {tensor: array.shape for tensor, array in inputs.items()})
    graph = run_passes(lower(function, sizes, number_format=Q6_10, keep=keep), Q6_10)
    hold_against_evaluation(graph, "icarus", pes, Q6_10, samples=2)
