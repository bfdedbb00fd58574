"""Whole models on the simulated accelerator, and what `tabla gen` writes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import save

from tabla.cli import main
from tabla.runtime import connect
from tests.lang.onnx.cases import CASES
from tests.lang.onnx.models import Case, close, drawn, node, read

NETWORK = Case(
    nodes=[
        node("Gemm", "x fc1.weight fc1.bias", "h", transB=1),
        node("Relu", "h", "active"),
        node("Gemm", "active fc2.weight fc2.bias", "logits", transB=1),
        node("Softmax", "logits", "probabilities", axis=1),
        node("ArgMax", "probabilities", "label", axis=1, keepdims=0),
    ],
    arrays={
        "fc1.weight": drawn(5, 6, scale=0.4),
        "fc1.bias": drawn(5, scale=0.3),
        "fc2.weight": drawn(3, 5, scale=0.4),
        "fc2.bias": drawn(3, scale=0.3),
    },
    outputs=("probabilities", "label"),
    whole=("label",),
)


def test_a_perceptron() -> None:
    """`simulate` holds every word against the evaluation."""
    build = read(NETWORK.proto(), format="q8.24", pes=4, effort=0)
    found, expected = build.simulate(NETWORK.samples()).arrays, NETWORK.expected()
    close(found["probabilities"], expected["probabilities"])
    assert np.array_equal(found["label"], expected["label"])


QUICK = ("Conv of two groups", "MaxPool that overlaps", "LinearClassifier of one row LOGISTIC")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in CASES])
def test_an_operator(name: str) -> None:
    """`simulate` holds every word against the evaluation, which tests/lang/onnx/test_operators.py judges."""
    case = CASES[name]
    samples = {given: array[:2] for given, array in case.samples().items()}
    read(case.proto(), format="q6.10", pes=4, effort=0).simulate(samples)


def test_the_folder_has_the_weights(tmp_path: Path) -> None:
    save(NETWORK.proto(), tmp_path / "net.onnx")
    options = ("--pes", "4", "--effort", "0", "--format", "q4.12", "-q")
    assert main(["gen", str(tmp_path / "net.onnx"), *options, "--bus", "axi", "-o", str(tmp_path / "build")]) == 0
    with np.load(tmp_path / "build" / "net.weights.npz") as weights:
        assert {name: array.shape for name, array in weights.items()} == {
            name: array.shape for name, array in NETWORK.arrays.items()
        }
        with connect(tmp_path / "build", "model") as accelerator:
            accelerator.load(**weights)
            found = accelerator.run(x=NETWORK.samples()["x"])
    expected = read(NETWORK.proto(), format="q4.12").evaluate(NETWORK.samples())
    assert all(np.array_equal(found[name], expected[name]) for name in NETWORK.outputs)


def test_weights_of_another_training() -> None:
    """Weights that are given count, and those that are missing are the model's."""
    build, given = read(NETWORK.proto(), format="q4.12"), {"fc2.bias": np.array([0.0, 4.0, 0.0])}
    assert set(build.evaluate(NETWORK.samples(), weights=given)["label"]) == {1.0}
    own = build.evaluate({**NETWORK.samples(), **NETWORK.arrays})
    assert np.array_equal(own["probabilities"], build.evaluate(NETWORK.samples())["probabilities"])
