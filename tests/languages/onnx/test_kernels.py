"""The kernels of models of ONNX: proved, read back from their texts, and held against a witness in float64."""

from __future__ import annotations

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.languages.kernel.evaluate import evaluate as evaluate_kernel
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.verify import verify
from tabla.languages.onnx import inference, read_proto
from tests.languages.onnx.cases import CASES
from tests.languages.onnx.models import Case, drawn, node, read
from tests.languages.tile.meaning import evaluate


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_means_what_the_program_means(name: str) -> None:
    case = CASES[name]
    made = inference(read_proto(case.proto(), "model", "model.onnx"), {})
    chance = np.random.default_rng(49)
    arrays = {
        given.parameter: made.models.get(given.parameter, chance.uniform(case.low, case.high, given.shape))
        for given in made.program.inputs
    }
    evaluate(made.program, arrays)


def test_a_model_that_learns_is_a_kernel_that_learns() -> None:
    """The names of a model that no text of a kernel can hold have underscores there."""
    arrays = {"layer/w": drawn(6, 2), "1st": drawn(2)}
    case = Case(nodes=[node("Gemm", "x layer/w 1st", "y")], arrays=arrays)
    build = read(case.proto(), train=("layer/w", "1st"), loss="mse", learning_rate="0.25")
    assert build.reading.printed_kernel is not None
    kernel = build.reading.printed_kernel()
    verify(kernel)
    text = kernel_text(kernel)
    assert parse(Source.from_text(text, "model.kernel"), kernel.name) == kernel
    assert {each.model: str(each.rate) for each in kernel.updates} == {"layer_w": "1/4", "_1st": "1/4"}
    assert kernel.tensors["label"].role == "label"
    chance = np.random.default_rng(4)
    x, label = chance.normal(size=6), chance.normal(size=2)
    w, b = arrays["layer/w"].astype(float), arrays["1st"].astype(float)
    after = evaluate_kernel(kernel, {"x": x, "label": label, "layer_w": w, "_1st": b})
    error = x @ w + b - label
    np.testing.assert_allclose(after["layer_w"], w - 0.25 * np.outer(x, error), rtol=1e-12)
    np.testing.assert_allclose(after["_1st"], b - 0.25 * error, rtol=1e-12)
