"""Programs that learn by their options: the words of programs that write the gradient, and files of models."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.training import Learning, learning
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower.kernel import kernel_of
from tests.languages.tc.lower.test_programs import function_of
from tests.languages.tc.references import REFERENCES
from tests.schedule.agreement import agree

LOGISTIC_TC = """def f(float(M) x, float(M) w) -> (z) { z +=! w(i) * x(i) }"""
LOGISTIC_T = """
m = 5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
mu = 0.25;
h = sum[i](w[i] * x[i]); e = sigmoid(h) - y; g[i] = e * x[i];
"""
LINEAR_T = LOGISTIC_T.replace("sigmoid(h)", "h")
HEAD = "input x[3]: real; input w[2, 3]: real; value z[2]: real; "
SCORES = f"{HEAD}z[j] = sum[i in 0:3](w[j, i] * x[i]) for j in 0:2; return z;"


@pytest.fixture(name="data")
def some_data() -> dict[str, np.ndarray]:
    random = np.random.default_rng(7)
    x = random.uniform(-1, 1, (60, 5))
    return {"x": x, "label": (x @ np.array([1.0, -2, 0.5, 0, 1]) > 0).astype(float)}


@pytest.mark.parametrize(("loss", "text"), [("cross-entropy", LOGISTIC_T), ("mse", LINEAR_T)])
def test_the_derived_gradient_learns_the_words_of_a_written_one(
    tmp_path: Path, data: dict[str, np.ndarray], loss: str, text: str
) -> None:
    (tmp_path / "f.tc").write_text(LOGISTIC_TC, encoding="utf-8")
    (tmp_path / "g.t").write_text(text, encoding="utf-8")
    by_option = tabla.compile(tmp_path / "f.tc", sizes={"M": 5}, train=("w",), loss=loss, learning_rate=0.25, pes=4)
    written = tabla.compile(tmp_path / "g.t", pes=4)
    ours = by_option.evaluate({**data, "w": np.zeros(5)})
    theirs = written.evaluate({"x": data["x"], "y": data["label"], "w": np.zeros(5)})
    np.testing.assert_array_equal(ours["w"], theirs["w"])
    assert ours["w"].any()
    assert by_option.report().cycles == written.report().cycles


def test_scores_of_several_classes() -> None:
    learnt = learning(
        parse(Source.from_text(SCORES), "k"), Learning(train=("w",), loss="cross-entropy", rate=Fraction(1))
    )
    random = np.random.default_rng(1)
    x, w, label = random.normal(size=3), random.normal(size=(2, 3)), np.array([0.0, 1.0])
    after = evaluate(learnt, {"x": x, "w": w, "label": label})
    chances = np.exp(w @ x) / np.exp(w @ x).sum()
    np.testing.assert_allclose(w - after["w"], np.outer(chances - label, x))
    np.testing.assert_allclose(after["probabilities"], chances)


FAULTS = {
    "no loss": ({"train": ("w",)}, "a program that learns needs a loss"),
    "no rate": ({"train": ("w",), "loss": "mse"}, "needs a learning rate"),
    "another loss": ({"train": ("w",), "loss": "huber", "learning_rate": 1}, "there is no loss 'huber'"),
    "nothing learns": ({"loss": "mse"}, "--loss: .* does not learn"),
    "a rate alone": ({"learning_rate": 1}, "--learning-rate: .* does not learn"),
    "no such input": ({"train": ("v",), "loss": "mse", "learning_rate": 1}, "--train v: 'f' has no such input"),
    "to freeze": ({"freeze": ("w",)}, "--freeze is for models of ONNX"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(tmp_path: Path, name: str) -> None:
    options, message = FAULTS[name]
    (tmp_path / "f.tc").write_text(LOGISTIC_TC, encoding="utf-8")
    with pytest.raises(TablaError, match=message) as caught:
        tabla.compile(tmp_path / "f.tc", sizes={"M": 5}, **options)  # type: ignore[arg-type]
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("input x: real; input w: real; value z: real; value u: real; z = w * x; u = x; return z, u;", "of one result"),
        ("input x: real; input w: real; value z: real; z = x; return z;", "'w' cannot learn: 'z' does not depend"),
        ("input label: real; input w: real; value z: real; z = w * label; return z;", "'label' is the name of what"),
        ("model w: real; value z: real; z = w; update w -= 1.0 * z; return z;", "learns already"),
    ],
)
def test_kernels_that_cannot_learn(text: str, message: str) -> None:
    kernel = parse(Source.from_text(text), "k")
    with pytest.raises(TablaError, match=message):
        learning(kernel, Learning(train=("w",), loss="mse", rate=Fraction(1)))


@pytest.mark.parametrize("name", ["mlp1", "conv2d", "attention", "softmax", "max_pool", "transposed_convolution"])
def test_networks_learn_on_the_machine(name: str) -> None:
    """Every derivative that a network needs has words, a schedule and a proof."""
    function, inputs = function_of(name), REFERENCES[name].draw(3)
    sizes = bind_sizes(function, {given: array.shape for given, array in inputs.items()})
    first = function.inputs[0]
    kernel = learning(
        kernel_of(function, sizes, name="k", models=(first,)),
        Learning(train=(first,), loss="mse", rate=Fraction(1, 8)),
    )
    template = Options(pes=4).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(kernel, number_format=words), words), template, words, samples=2)
