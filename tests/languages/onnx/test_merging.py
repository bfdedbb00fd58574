"""Normalisations that become part of the weights of the layer before them, against the reference evaluator of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

import tabla
from tests.languages.onnx.models import FORMAT, Case, close, drawn, node, read


def figures(channels: int) -> dict[str, Any]:
    """Return the scale, the bias, the mean and the variance of a normalisation."""
    plain = {name: drawn(channels, seed=seed) for seed, name in enumerate("sbm")}
    return {**plain, "v": drawn(channels, seed=9) ** 2 + 0.2}


def normalised(layer: NodeProto, *more: NodeProto, shape: tuple[int, ...], arrays: Any, **about: Any) -> Case:
    """Return a layer whose result is ``a``, and a normalisation of ``a`` with the result ``y``."""
    normal = node("BatchNormalization", "a s b m v", "y", epsilon=about.pop("epsilon", 1e-3))
    return Case(nodes=[layer, normal, *more], shapes={"x": shape}, arrays={**figures(4), **arrays}, **about)


W = {"w": drawn(4, 3, 3, 3, scale=0.3)}
D, DT, C = {"w": drawn(6, 4, scale=0.4)}, {"w": drawn(4, 6, scale=0.4)}, {"c": drawn(4)}
MERGED = {
    "Conv": normalised(node("Conv", "x w c", "a", pads=[1] * 4), shape=(3, 5, 4), arrays=W | C),
    "Conv without a bias": normalised(node("Conv", "x w", "a"), shape=(3, 5, 4), arrays=W),
    "Conv of two groups": normalised(
        node("Conv", "x w c", "a", group=2, strides=[2, 1]), shape=(4, 4, 5), arrays={"w": drawn(4, 2, 2, 2), **C}
    ),
    "Conv of a line": normalised(node("Conv", "x w c", "a"), shape=(3, 6), arrays={"w": drawn(4, 3, 2), **C}),
    "Gemm": normalised(node("Gemm", "x w c", "a"), shape=(6,), arrays=D | C),
    "Gemm, all attributes": normalised(
        node("Gemm", "x w c", "a", transB=1, alpha=0.5, beta=2.0), shape=(6,), arrays=DT | C
    ),
    "Gemm with one number": normalised(
        node("Gemm", "x w c", "a"), shape=(6,), arrays={**D, "c": np.array([0.75], np.float32)}
    ),
    "Gemm with a row": normalised(node("Gemm", "x w c", "a"), shape=(6,), arrays={**D, "c": drawn(1, 4)}),
    "MatMul": normalised(node("MatMul", "x w", "a"), shape=(6,), arrays=D),
}


@pytest.mark.parametrize("name", MERGED)
def test_a_normalisation_is_merged(name: str) -> None:
    case = MERGED[name]
    build = read(case.proto(), format=FORMAT)
    assert list(build.reading.models) == ["y.weights", "y.bias"]
    close(build.evaluate(case.samples())["y"], case.expected()["y"])


THREE = {"s": drawn(5, seed=3), "b": drawn(5), "m": drawn(5, seed=4), "v": drawn(5, seed=5) ** 2 + 0.2}
APART = {
    "a result that goes elsewhere, too": normalised(
        node("Gemm", "x w c", "a"), node("Relu", "a", "r"), shape=(6,), arrays=D | C, outputs=("y", "r")
    ),
    "a layer that is a result itself": normalised(
        node("Gemm", "x w c", "a"), shape=(6,), arrays=D | C, outputs=("y", "a")
    ),
    "weights that another layer has, too": normalised(
        node("Gemm", "x w c", "a"), node("MatMul", "x w", "r"), shape=(6,), arrays=D | C, outputs=("y", "r")
    ),
    "a bias that another layer has, too": normalised(
        node("Gemm", "x w c", "a"),
        node("Gemm", "x u c", "r"),
        shape=(6,),
        arrays=D | C | {"u": drawn(6, 4, seed=7)},
        outputs=("y", "r"),
    ),
    "channels on another axis than the outputs": normalised(
        node("MatMul", "x w", "a"), shape=(5, 6), arrays={**D, **THREE}, ranks={"y": 3}
    ),
    "as many channels as outputs": normalised(node("MatMul", "x w", "a"), shape=(4, 6), arrays=D, ranks={"y": 3}),
}


@pytest.mark.parametrize("name", APART)
def test_a_normalisation_stays(name: str) -> None:
    case = APART[name]
    build = read(case.proto(), format=FORMAT)
    assert "y.factors" in build.reading.models and "y.weights" not in build.reading.models
    found, expected = build.evaluate(case.samples()), case.expected()
    for result in case.outputs:
        close(found[result], expected[result])


def test_layers_that_learn_are_not_merged_and_frozen_ones_are() -> None:
    last = {"u": drawn(4, 2, scale=0.5)}
    case = normalised(
        node("Gemm", "x w c", "a"), node("Relu", "y", "r"), node("Gemm", "r u", "z"), shape=(6,),
        arrays=D | C | last, outputs=("z",),
    )  # fmt: skip
    rate = {"loss": "mse", "learning_rate": 0.125}
    for train, models in (
        ({"train": ("u",)}, {"y.weights", "y.bias", "u"}),
        ({"freeze": ("w", "c")}, {"y.weights", "y.bias", "u"}),
        ({"train": ("c",)}, {"w", "c", "y.factors", "y.addends", "u"}),
        ({}, {"w", "c", "y.factors", "y.addends", "u"}),
    ):
        build = read(case.proto(), **train, **rate)
        assert set(build.reading.models) == models
        # The loss of all these programs is the same, so the first step of `u` is.
        after = build.evaluate({**case.samples(), "label": np.ones((len(case.samples()["x"]), 2))}, float64=True)
        assert set(after) == models


def test_weights_of_a_layer_that_has_learnt_are_merged_when_they_are_given() -> None:
    case = MERGED["Gemm, all attributes"]
    plain = read(case.proto(), train=("w",), loss="mse", learning_rate=0.125, format=FORMAT)
    label = np.zeros((len(case.samples()["x"]), 4))
    tuned = plain.evaluate({**case.samples(), "label": label})
    assert set(tuned) == {"w", "c", "y.factors", "y.addends"} and not np.allclose(tuned["w"], case.arrays["w"])
    moved = Case(nodes=case.nodes, shapes=case.shapes, arrays={**case.arrays, "w": tuned["w"]})
    build = read(case.proto(), format=FORMAT)
    for given in (tuned, {"w": tuned["w"]}):
        close(build.evaluate(case.samples(), weights=given)["y"], moved.expected()["y"])
    scored = build.test({**case.samples(), "label": moved.expected()["y"]}, weights=tuned, metric="mse")
    assert scored.accelerator.metric < 1e-6


@pytest.mark.parametrize(
    "given", [{"w": np.ones((2, 2))}, {"w": np.ones((4, 6))}, {"w": drawn(6, 4), "y.weights": drawn(6, 4)}]
)
def test_weights_that_fit_neither_program(given: Any) -> None:
    with pytest.raises(tabla.TablaError, match="'w', which the program does not have") as caught:
        read(MERGED["Gemm"].proto()).evaluate(MERGED["Gemm"].samples(), weights=given)
    assert caught.value.hint == "it has y.bias, y.weights"


def test_a_merged_network_on_the_machine() -> None:
    """`simulate` holds every word against the evaluation."""
    read(MERGED["Conv without a bias"].proto(), pes=4, effort=0).simulate(MERGED["Conv without a bias"].samples())
