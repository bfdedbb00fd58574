"""Networks of several layers, in which the errors of the functions add up, against the reference evaluator of ONNX."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.languages.onnx.models import FORMAT, Case, close, drawn, node, read

WIDTHS = (8, 16, 16, 3)


def network(activation: str, seed: int) -> Case:
    """Return a perceptron with two hidden layers and a softmax. Its results are scores and probabilities."""
    nodes, arrays, source = [], {}, "x"
    for layer, (before, after) in enumerate(pairwise(WIDTHS)):
        last = layer == len(WIDTHS) - 2
        nodes.append(node("Gemm", f"{source} w{layer} b{layer}", "scores" if last else f"sum{layer}"))
        arrays |= {f"w{layer}": drawn(before, after, seed=seed), f"b{layer}": drawn(after, seed=seed, scale=0.5)}
        if not last:
            nodes.append(node(activation, f"sum{layer}", f"hidden{layer}"))
        source = f"hidden{layer}"
    nodes.append(node("Softmax", "scores", "p", axis=-1))
    return Case(nodes=nodes, arrays=arrays, shapes={"x": (8,)}, outputs=("scores", "p"), count=200, seed=seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", "Tanh", "Elu", "Softplus"])
def test_a_network_of_several_layers(activation: str, seed: int) -> None:
    case = network(activation, seed)
    found = read(case.proto(), format=FORMAT).evaluate(case.samples())
    for name, expected in case.expected().items():
        close(found[name], np.asarray(expected))
