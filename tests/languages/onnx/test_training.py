"""Fine-tuning: gradients against central differences in float64, steps on the machine, and what cannot learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import save
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier

import tabla
from tabla.commands.cli import main
from tests.languages.onnx.cases import COEFFICIENTS, FIGURES, IMAGE, classifier
from tests.languages.onnx.models import ML, Case, drawn, node, read

Reals = NDArray[np.float64]
RATE, STEP = 2.0**-6, 1e-5
DENSE = {"w1": drawn(5, 6, scale=0.4), "b1": drawn(5, scale=0.3), "w2": drawn(5, 3, scale=0.4), "b2": drawn(1, 3)}


def dense(activation: str, *last: Any, result: str = "z", **about: Any) -> Case:
    """Return two dense layers and what follows them."""
    nodes = [
        node("Gemm", "x w1 b1", "a", transB=1), node(activation, "a", "h", **about),
        node("MatMul", "h w2", "m"), node("Add", "m b2", "z"), *last,
    ]  # fmt: skip
    return Case(nodes=nodes, arrays=DENSE, outputs=(result,))


CONVOLUTION = Case(
    nodes=[
        node("Conv", "x k c", "a", pads=[1, 1, 1, 1]), node("BatchNormalization", "a s b m v", "n"),
        node("Relu", "n", "r"), node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", "p", "f"), node("Gemm", "f w", "z"), node("Softmax", "z", "y"),
    ],
    shapes={"x": (2, 4, 4)},
    arrays={"k": drawn(3, 2, 3, 3, scale=0.3), "c": drawn(3), "w": drawn(12, 3, scale=0.3), **FIGURES},
)  # fmt: skip
POOLS = Case(
    nodes=[
        node("Conv", "x k", "a", group=2, strides=[2]), node("LeakyRelu", "a", "r", alpha=0.1),
        node("AveragePool", "r", "p", kernel_shape=[2], pads=[1, 0]), node("Transpose", "p", "t", perm=[0, 2, 1]),
        node("Concat", "t e", "j", axis=2), node("ReduceMean", "j", "g", axes=[1], keepdims=0),
        node("Gemm", "g w", "z"),
    ],
    shapes={"x": (4, 9), "e": (4, 2)},
    arrays={"k": drawn(4, 2, 3, scale=0.4), "w": drawn(6, 2, scale=0.4)}, outputs=("z",),
)  # fmt: skip
LINEAR = Case(
    nodes=[
        node(
            "LinearClassifier", "x", "label scores", domain=ML, coefficients=COEFFICIENTS,
            intercepts=[0.1, 0.2, -0.3], classlabels_ints=[0, 1, 2], post_transform="SOFTMAX",
        ),
        node("Normalizer", "scores", "p", domain=ML, norm="L1"), node("ZipMap", "p", "map", domain=ML,
                                                                     classlabels_int64s=[0, 1, 2]),
    ],
    outputs=("label", "map"),
)  # fmt: skip


def softmax(z: Reals) -> Reals:
    powers = np.exp(z - z.max())
    return np.asarray(powers / powers.sum())


def cross_entropy(z: Reals, label: Reals) -> float:
    return float(-(label * np.log(softmax(z))).sum())


def binary_cross_entropy(z: Reals, label: Reals) -> float:
    p = 1 / (1 + np.exp(-z))
    return float(-(label * np.log(p) + (1 - label) * np.log(1 - p)).sum())


def squares(z: Reals, label: Reals) -> float:
    return float(((z - label) ** 2).sum() / 2)


LOSSES: dict[str, tuple[Case, str, str, Callable[[Reals, Reals], float]]] = {
    "softmax": (dense("Tanh", node("Softmax", "z", "y"), result="y"), "z", "cross-entropy", cross_entropy),
    "scores": (dense("Relu"), "z", "cross-entropy", cross_entropy),
    "sigmoids": (
        dense("Sigmoid", node("Sigmoid", "z", "s"), node("Identity", "s", "y"), result="y"),
        "z", "cross-entropy", binary_cross_entropy,
    ),
    "regression": (dense("Abs"), "z", "mse", squares),
    "regression before a sigmoid": (dense("Exp", node("Sigmoid", "z", "y"), result="y"), "z", "mse", squares),
    "a convolution": (CONVOLUTION, "z", "cross-entropy", cross_entropy),
    "pools": (POOLS, "z", "mse", squares),
}  # fmt: skip


def inference(case: Case, result: str) -> tabla.Build:
    """Return a model with the scores as its result."""
    return read(Case(nodes=case.nodes, shapes=case.shapes, arrays=case.arrays, outputs=(result,)).proto())


@pytest.mark.parametrize("name", LOSSES)
def test_a_gradient(name: str) -> None:
    """A step in float64 is that of central differences of the loss, computed with other weights by the inference."""
    case, scores, loss, value = LOSSES[name]
    forwards = inference(case, scores)
    sample = {given: array[0].astype(np.float64) for given, array in case.samples().items()}
    shape = forwards.evaluate(sample, float64=True)[scores].shape
    label = np.eye(shape[0])[0] if loss == "cross-entropy" and value is cross_entropy else np.linspace(0, 1, shape[0])
    learned = [n for n in case.arrays if n not in FIGURES]
    build = read(case.proto(), train=learned, loss=loss, learning_rate=RATE)
    own = {n: np.asarray(array, dtype=np.float64) for n, array in build.reading.models.items()}
    after = build.evaluate({**sample, "label": label}, float64=True)

    def loss_of(models: Mapping[str, Reals]) -> float:
        there = forwards.reading.models
        # A layer that the inference has merged with a normalisation takes its weights as they were.
        given = {n: models[n].reshape(there[n].shape) if n in there else models[n] for n in learned}
        return value(forwards.evaluate(sample, float64=True, weights=given)[scores], label)

    for changed in learned:
        found = (own[changed] - after[changed]) / RATE
        for at in list(np.ndindex(own[changed].shape))[:: max(1, own[changed].size // 6)]:
            moved = [{**own, changed: own[changed].copy()} for _ in range(2)]
            moved[0][changed][at] += STEP
            moved[1][changed][at] -= STEP
            expected = (loss_of(moved[0]) - loss_of(moved[1])) / (2 * STEP)
            assert abs(found[at] - expected) <= 1e-6 * (1 + abs(expected)), (changed, at)


def test_a_linear_classifier_learns_its_coefficients() -> None:
    build = read(LINEAR.proto(), freeze=("/linearclassifier.intercepts",), loss="cross-entropy", learning_rate=RATE)
    x, target = LINEAR.samples()["x"][0].astype(np.float64), np.eye(3)[2]
    name = "/linearclassifier.coefficients"
    own = build.reading.models
    step = (own[name] - build.evaluate({"x": x, "label": target}, float64=True)[name]) / RATE
    p = softmax(own[name] @ x + own["/linearclassifier.intercepts"])
    np.testing.assert_allclose(step, np.outer(p - target, x), atol=1e-9)


@pytest.mark.parametrize("transform", ["LOGISTIC", "SOFTMAX"])
def test_a_linear_classifier_of_one_row_learns_from_two_scores(transform: str) -> None:
    """The loss is on the operands of its sigmoids or its softmax, the scores -s and s, and not on its probabilities."""
    case = classifier(COEFFICIENTS[:6], 0.3, classlabels_ints=[0, 1], post_transform=transform)
    build = read(case.proto(), loss="cross-entropy", learning_rate=RATE)
    x, name = case.samples()["x"][0].astype(np.float64), "/linearclassifier.coefficients"
    label, own = np.array([1.0, 0.0]), build.reading.models
    step = (own[name] - build.evaluate({"x": x, "label": label}, float64=True)[name]) / RATE
    score = float((own[name] @ x).item()) + 0.3
    scores = np.array([-score, score])
    chances = softmax(scores) if transform == "SOFTMAX" else 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(step, ((chances - label) @ [-1, 1] * x)[None], atol=1e-9)


def test_a_classifier_of_two_classes_learns_from_its_score() -> None:
    """The probabilities 1 - p and p are the softmax of 0 and the score, whose sigmoid is p."""
    nodes = [
        node("MatMul", "x w", "z"), node("Sigmoid", "z", "p"), node("Sub", "one p", "q"),
        node("Concat", "q p", "y", axis=1),
    ]  # fmt: skip
    case = Case(nodes=nodes, arrays={"w": drawn(6, 1), "one": np.float32(1)})
    x, label = case.samples()["x"][0].astype(np.float64), np.array([1.0, 0.0])
    w = case.arrays["w"].astype(np.float64)
    chance = 1 / (1 + np.exp(-(x @ w).item()))
    for loss, slope in (("cross-entropy", chance - label[1]), ("mse", (x @ w).item() - label[1])):
        build = read(case.proto(), train=("w",), loss=loss, learning_rate=RATE)
        step = (w - build.evaluate({"x": x, "label": label}, float64=True)["w"]) / RATE
        np.testing.assert_allclose(step, (slope * x)[:, None], atol=1e-9)


def test_steps_on_the_machine() -> None:
    """`simulate` holds every word of the models after the steps against the evaluation."""
    case = LOSSES["softmax"][0]
    build = read(case.proto(), train=("w2", "b2"), loss="cross-entropy", learning_rate=0.125, pes=4, effort=0)
    labels = np.eye(3)[[0, 2, 1, 1, 0]]
    found = build.simulate({**case.samples(), "label": labels}).arrays
    assert set(found) == {"w1", "b1", "w2", "b2"}
    for name, fixed in (("w1", True), ("b1", True), ("w2", False), ("b2", False)):
        assert np.allclose(found[name], case.arrays[name].reshape(found[name].shape), atol=2**-10) is fixed


@pytest.mark.slow
def test_a_step_of_a_convolution_on_the_machine() -> None:
    build = read(CONVOLUTION.proto(), train=("k", "c", "w"), loss="cross-entropy", learning_rate=0.125, pes=4, effort=0)
    build.simulate({**CONVOLUTION.samples(), "label": np.eye(3)[[0, 2, 1, 1, 0]]})


@pytest.mark.slow
def test_a_network_learns_another_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last layer of a network, spoilt on purpose, learns iris again, and the rest stays as it was."""
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    network = MLPClassifier((8,), max_iter=500, random_state=0, learning_rate_init=0.01).fit(X, y)
    network.coefs_[1][:] = 0
    network.coefs_[1][0] = 0.01
    save(to_onnx(network, X[:1].astype(np.float32)), tmp_path / "iris.onnx")
    np.savez(tmp_path / "iris.npz", X=X, label=y)
    words = ["--train", "coefficient1,intercepts1", "--loss", "cross-entropy", "--learning-rate", "0.05"]
    words += ["--data", str(tmp_path / "iris.npz"), "--classes", "label", "--split", "0.3", "--epochs", "15"]
    words += ["--pes", "4", "--effort", "0", "--format", "q4.12", "-q", "-o", str(tmp_path / "out.npz")]
    assert main(["train", str(tmp_path / "iris.onnx"), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    (accuracy,) = [line.split()[2] for line in lines if line.startswith("test accuracy  ")]
    assert float(accuracy) > 90
    with np.load(tmp_path / "out.npz") as learned:
        assert np.abs(learned["coefficient"] - network.coefs_[0]).max() < 2**-12
        assert np.abs(learned["coefficient1"] - network.coefs_[1]).max() > 0.1


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no loss": ({"train": ("w1",), "learning_rate": 0.1}, "needs a loss", "--loss cross-entropy or --loss mse"),
    "no rate": ({"train": ("w1",), "loss": "mse"}, "needs a learning rate", "--learning-rate"),
    "a loss that is none": (
        {"train": ("w1",), "loss": "hinge", "learning_rate": 0.1}, "no loss 'hinge'", "cross-entropy or mse"
    ),
    "both lists": (
        {"train": ("w1",), "freeze": ("b1",), "loss": "mse", "learning_rate": 0.1}, "both given", "say what learns"
    ),
    "a slip": (
        {"train": ("w3",), "loss": "mse", "learning_rate": 0.1}, "--train w3: the model has no such", "w1, b1, w2, b2"
    ),
    "nothing left": (
        {"freeze": ("w1", "b1", "w2", "b2"), "loss": "mse", "learning_rate": 0.1}, "leaves nothing", "fewer"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_do_not_fit(name: str) -> None:
    options, message, hint = REFUSED[name]
    with pytest.raises(tabla.TablaError, match=message) as caught:
        read(dense("Relu").proto(), **options)
    assert hint in (caught.value.hint or "")


FROZEN: dict[str, tuple[Case, str, str]] = {
    "folded figures": (CONVOLUTION, "s", "it folds 's', which therefore cannot learn"),
    "an array of integers": (
        Case(
            nodes=[node("Reshape", "x s", "t"), node("Mul", "t w", "y")],
            arrays={"s": np.array([0, 2, 3]), "w": drawn(3)},
        ),
        "s", "it folds 's', which",
    ),
    "a view of figures": (
        Case(nodes=[node("Abs", "s", "t"), node("BatchNormalization", "x t b m v", "y")], arrays=FIGURES,
             shapes=IMAGE["of_shapes"]),
        "s", "it folds 't', which is made of 's', which therefore cannot learn",
    ),
    "an array that nothing reads": (
        Case(nodes=[node("Mul", "x w", "y")], arrays={"w": drawn(6), "u": drawn(6)}), "u", "no result of the model",
    ),
    "integers": (
        Case(nodes=[node("Cast", "w", "f", to=1), node("Mul", "x f", "y")], arrays={"w": np.arange(6)}),
        "w", "'w' cannot learn: it holds integers",
    ),
    "behind the scores": (
        Case(nodes=[node("Mul", "x w", "z"), node("Softmax", "z", "p"), node("Mul", "x u", "q")],
             arrays={"w": drawn(6), "u": drawn(6)}, outputs=("p", "q")), "u", "the loss does not depend on it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FROZEN)
def test_what_cannot_learn(name: str) -> None:
    case, array, message = FROZEN[name]
    with pytest.raises(tabla.TablaError, match=message):
        read(case.proto(), train=(array,), loss="cross-entropy", learning_rate=0.1)


def test_a_model_without_arrays_cannot_learn() -> None:
    case = Case(nodes=[node("Relu", "x", "y")])
    with pytest.raises(tabla.TablaError, match="the model has no initialiser that can learn"):
        read(case.proto(), loss="mse", learning_rate=0.1)


def test_words_that_are_all_zero() -> None:
    case = Case(nodes=[node("Mul", "x w", "y")], arrays={"w": np.full(6, 1e-4)})
    with pytest.raises(tabla.TablaError, match=r"'w' cannot learn: q6\.10 rounds all of its numbers to 0"):
        _ = read(case.proto(), train=("w",), loss="mse", learning_rate=0.1).lowered
    _ = read(case.proto(), train=("w",), loss="mse", learning_rate=0.1, format="q2.14").lowered


def test_weights_of_a_bias_that_was_zero(tmp_path: Path) -> None:
    """A bias of zeros is a constant of the program that infers. What it learned needs the options of learning."""
    arrays = {"w": drawn(6, 3), "b": np.zeros(3)}
    case = Case(nodes=[node("Gemm", "x w b", "z")], arrays=arrays, outputs=("z",))
    model = case.proto()
    x = drawn(12, 6)
    options: dict[str, Any] = {"loss": "mse", "learning_rate": 0.125, "pes": 2}
    learns = tabla.from_onnx(model, train=["w", "b"], **options)
    tuned = learns.train({"x": x, "label": drawn(12, 3)}, epochs=1).models
    assert tuned["b"].any()
    build = tabla.from_onnx(model, pes=2)
    with pytest.raises(tabla.TablaError, match="'b', which is a constant of the program: all its elements are 0") as no:
        build.evaluate({"x": x}, weights=tuned)
    assert "--train" in (no.value.hint or "")
    frozen = tabla.from_onnx(model, train=["w"], **options).train({"x": x, "label": drawn(12, 3)}, epochs=1).models
    found = build.evaluate({"x": x}, weights={**frozen, "b": np.zeros(3)})["z"]
    assert np.array_equal(found, build.evaluate({"x": x}, weights={"w": frozen["w"]})["z"])


def test_other_programs_refuse_the_options(tmp_path: Path) -> None:
    (tmp_path / "model.t").write_text("model_input x; model_output y; model w; gradient g -> w; mu = 1; g = w * x - y;")
    for option in ({"train": ("w",)}, {"freeze": ("w",)}, {"loss": "mse"}):
        with pytest.raises(tabla.TablaError, match=r"is for .*models of ONNX"):
            tabla.compile(tmp_path / "model.t", **option)


def test_a_value_with_the_name_of_the_label() -> None:
    case = Case(nodes=[node("Mul", "x label", "label.y")], arrays={"label": drawn(6)}, outputs=("label.y",))
    build = read(case.proto(), train=("label",), loss="mse", learning_rate=0.1)
    assert list(build.reading.models) == ["label_2"] and build.lowered.tensors["label"].role == "label"


def test_a_bias_that_begins_as_zeros_learns() -> None:
    """Its elements are equal, so without training it is a number. So is the bias of one output."""
    arrays = {**DENSE, "b1": np.zeros(5, np.float32), "w2": drawn(1, 5, scale=0.4), "b2": np.zeros(1, np.float32)}
    scale = {"half": np.array(0.5, np.float32), "two": np.array([2.0], np.float32)}
    case = Case(
        nodes=[
            node("Gemm", "x w1 b1", "a", transB=1), node("Mul", "a half", "s"), node("Mul", "s two", "t"),
            node("Gemm", "t w2 b2", "z", transB=1),
        ],
        arrays=arrays | scale, outputs=("z",),
    )  # fmt: skip
    build = read(case.proto(), loss="mse", learning_rate=RATE)
    assert set(build.lowered.updates) == {"w1", "b1", "w2", "b2"}
    frozen = read(case.proto(), freeze=("w1", "b2"), loss="mse", learning_rate=RATE)
    assert set(frozen.lowered.updates) == {"b1", "w2"}
    sample = {"x": case.samples()["x"][0].astype(np.float64), "label": np.array([1.0])}
    moved = build.evaluate(sample, float64=True)
    z = float((arrays["w1"] @ sample["x"]) @ arrays["w2"][0])
    assert moved["b2"][0] == pytest.approx(-RATE * (z - 1.0), rel=1e-5)
    assert np.allclose(moved["b1"], -RATE * (z - 1.0) * arrays["w2"][0], rtol=1e-5)
