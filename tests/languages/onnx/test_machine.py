"""Whole models on the simulated accelerator, and what `tabla gen` writes of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import save

from tabla.commands.cli import main
from tabla.host.runtime import connect
from tests.languages.onnx.cases import CASES
from tests.languages.onnx.models import Case, close, drawn, node, read

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
    """`simulate` holds every word against the evaluation, which tests/languages/onnx/test_operators.py judges."""
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


def grouped(outputs: int, groups: int, channels: int, size: int = 12) -> Case:
    """Return a convolution with a kernel of 3 x 3 whose channels lie in groups."""
    return Case(
        nodes=[node("Conv", "x w", "y", group=groups)],
        shapes={"x": (channels, size, size)},
        arrays={"w": drawn(outputs, channels // groups, 3, 3, scale=0.1)},
        ranks={"y": 4},
        count=1,
    )


BLOCK = Case(
    nodes=[
        node("Conv", "x w", "a"), node("Relu", "a", "b"), node("Conv", "b v", "c", group=8, pads=[1, 1, 1, 1]),
        node("Relu", "c", "d"), node("Conv", "d u", "e"), node("Add", "e x", "f"), node("Relu", "f", "y"),
    ],
    shapes={"x": (64, 8, 8)},
    arrays={
        "w": drawn(32, 64, 1, 1, scale=0.1), "v": drawn(32, 4, 3, 3, scale=0.1), "u": drawn(64, 32, 1, 1, scale=0.1)
    },
    ranks={"y": 4},
    count=1,
)  # fmt: skip
LAYERS = {
    # By the group: 4 of 16 x 16 channels, 2 of 32 x 32, 32 of 1 channel and 2 outputs; 100 points of 9 products each.
    "4 groups": (grouped(64, 4, 64), 0, 64 * 16 * 900 // 16),
    "4 groups, default effort": (grouped(64, 4, 64), 2, 64 * 16 * 900 // 64),
    "2 groups": (grouped(64, 2, 64), 0, 64 * 32 * 900 // 32),
    "2 groups, default effort": (grouped(64, 2, 64), 2, 64 * 32 * 900 // 64),
    "a depth multiplier of 2": (grouped(64, 32, 32), 0, 64 * 900 // 32 + 64 * 100),
    "a block of three layers": (BLOCK, 0, 20_000),
}


LONG = {"2 groups", "4 groups"}
"""Layers of which the same with the default effort takes less time."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in LAYERS]
)
def test_groups_run_in_the_lanes(name: str) -> None:
    """They were computed at the root: with effort 0 in 921,600, 1,843,200, 57,600 and 78,543 cycles on 64 lanes."""
    case, effort, most = LAYERS[name]
    build = read(case.proto(), format="q6.10", pes=64, effort=effort)
    assert build.schedule.cycles <= most
    # Every word is held against the evaluation, and results have the shape of the program.
    found = build.simulate(case.samples()).arrays
    assert found["y"].shape == case.expected()["y"].shape
    assert np.abs(found["y"] - case.expected()["y"]).max() < 0.05


def test_the_folder_of_a_grouped_network_has_the_shapes_of_the_model(tmp_path: Path) -> None:
    """Each of two tap groups has one group of channels; a host sees nothing of the axes that were refined."""
    case = grouped(12, 2, 8, 5)
    save(case.proto(), tmp_path / "net.onnx")
    options = ("--pes", "8", "--format", "q4.12", "-q")
    assert main(["gen", str(tmp_path / "net.onnx"), *options, "--bus", "axi", "-o", str(tmp_path / "build")]) == 0
    manifest = json.loads((tmp_path / "build" / "net.json").read_text())
    shapes = {entry["name"]: entry["shape"] for entry in manifest["tensors"]}
    assert shapes == {"x": [8, 5, 5], "w": [12, 4, 3, 3], "y": [12, 3, 3]}
    places = {entry["tensor"]: entry for entry in manifest["memory_map"]}
    assert places["x"]["shape"] == [2, 4, 5, 5] and len(places["x"]["strides"]) == 4
    assert places["x"]["split_axis"] == manifest["stream"]["results"][0]["split_axis"] == 0
    assert manifest["stream"]["results"][0]["shape"] == [2, 6, 3, 3]
    with connect(tmp_path / "build", "model") as accelerator:
        accelerator.load(**case.arrays)
        found = accelerator.run(x=case.samples()["x"])
    np.testing.assert_array_equal(found["y"], read(case.proto(), format="q4.12").evaluate(case.samples())["y"])
