"""What the host computes in float64, and what the programs mean, against independent computations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tabla.build.options import Options
from tabla.sklearn.linear import linear_program
from tabla.sklearn.perceptron import ACTIVATIONS, perceptron_program
from tabla.sklearn.program import Program
from tabla.sklearn.scaling import Moments, Penalty, Scaling, mapped_back, power_below

Reals = NDArray[np.float64]
SIZES = {"features": 3, "outputs": 2}
RATE = 0.125


@given(st.floats(0, 3), st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_a_penalty_is_paid_in_sixteenths_and_never_lost(penalty: float, epochs: list[int]) -> None:
    due, paid = 0, np.zeros(0)
    for count in epochs:
        part = Penalty.of(penalty).paid(due, count)
        due, paid = Penalty.of(penalty).due(due, count), np.r_[paid, part]
        assert len(part) == count and np.array_equal(part * 16, np.round(part * 16)) and (part >= 0).all()
    owed = penalty * np.arange(1, len(paid) + 1) - np.cumsum(paid)
    assert (owed > -1e-7).all() and (owed < 1 / 16 + 1e-7).all()
    assert due / 2**32 == pytest.approx(owed[-1], abs=1e-7)
    assert np.array_equal(paid, Penalty.of(penalty).paid(0, len(paid)))


@given(st.floats(1e-300, 1e300))
def test_a_power_of_two_is_below(value: float) -> None:
    power = power_below(value)
    assert power <= value < 2 * power and np.frexp(power)[0] == 0.5


def test_a_scaling_standardises_and_is_undone() -> None:
    values = np.random.default_rng(0).normal(size=(50, 4)) * [1e-5, 1, 1e4, 1e250] + [7, 0, -1e4, 1e250]
    scaling = Moments.of(values).scaling
    stored = scaling.apply(values)
    assert np.allclose(stored.mean(axis=0), 0, atol=1e-9) and np.allclose(stored.std(axis=0), 1)
    assert np.allclose(scaling.undo(stored), values)
    alone = Moments.of(values, centre=False).scaling
    assert not alone.mean.any() and np.allclose(np.square(alone.apply(values)).mean(axis=0), 1)


def test_a_constant_column_is_zero_and_another_value_of_it_is_small() -> None:
    values = np.array([[0.1, 0.0, -1e9]] * 3)
    scaling = Moments.of(values).scaling
    assert not scaling.apply(values).any()
    assert np.allclose(scaling.apply(values * 2), [[1, 0, -1]])


def test_weights_are_mapped_back() -> None:
    random = np.random.default_rng(1)
    inputs = Scaling(mean=random.normal(size=3), scale=random.uniform(0.1, 9, 3))
    labels = Scaling(mean=random.normal(size=2), scale=random.uniform(0.1, 9, 2))
    weights, biases, values = random.normal(size=(2, 3)), random.normal(size=2), random.normal(size=(5, 3))
    coefficients, intercepts = mapped_back(weights, biases, inputs, labels)
    expected = labels.undo(inputs.apply(values) @ weights.T + biases)
    assert np.allclose(values @ coefficients.T + intercepts, expected)


LOSSES: dict[str, Callable[[Reals, Reals], Reals]] = {
    "squared": lambda h, y: 0.5 * (h - y) ** 2,
    "logistic": lambda h, y: np.log1p(np.exp(h)) - y * h,
    "softmax": lambda h, y: np.logaddexp.reduce(h) / len(h) - y * h,
    "hinge": lambda h, y: np.maximum(0, 1 - y * h),
    "squared_hinge": lambda h, y: np.maximum(0, 1 - y * h) ** 2,
}
FUNCTIONS: dict[str, Callable[[Reals], Reals]] = {
    "identity": lambda z: z,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(0, z),
}


def hold_step(
    program: Program, decided: Callable[[dict[str, Reals], Reals], Reals], loss: Callable[[Reals, Reals], Reals]
) -> None:
    """One step in float64 follows the slope of the loss, found by differences, and the penalty."""
    random = np.random.default_rng(3)
    build = program(Options(format="q8.24", results=("h",)))
    tensors = build.lowered.tensors
    models = {name: random.normal(size=t.shape) for name, t in tensors.items() if t.role == "model"}
    x, y, decay = random.normal(size=3), np.array([1.0, -1.0]), 0.25
    penalised = "decay" in tensors

    def total(models: dict[str, Reals]) -> float:
        weights = sum(float(np.square(array).sum()) for name, array in models.items() if name.startswith("w"))
        return float(loss(decided(models, x), y).sum()) + penalised * decay * weights / 2

    after = build.evaluate({"x": x, "y": y, **({"decay": decay} if penalised else {}), **models}, float64=True)
    assert np.allclose(after["h"], decided(models, x))
    for name, array in models.items():
        for place in np.ndindex(array.shape):
            moved = {sign: {**models, name: array.copy()} for sign in (-1, 1)}
            for sign, changed in moved.items():
                changed[name][place] += sign * 1e-6
            slope = (total(moved[1]) - total(moved[-1])) / 2e-6
            assert after[name][place] == pytest.approx(array[place] - RATE * slope, abs=1e-7), (name, place)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("intercept", "penalised"), [(True, True), (False, False)])
def test_a_linear_program_follows_the_slope_of_its_loss(loss: str, intercept: bool, penalised: bool) -> None:
    program = linear_program(loss, **SIZES, intercept=intercept, decays=penalised, learning_rate=str(RATE))
    hold_step(program, lambda models, x: models["w"] @ x + models.get("b", 0), LOSSES[loss])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("loss", "hidden"), [("squared", (4,)), ("logistic", (3, 2)), ("softmax", (3,))])
def test_a_perceptron_follows_the_slope_of_its_loss(activation: str, loss: str, hidden: tuple[int, ...]) -> None:
    penalised = loss == "squared"
    program = perceptron_program(
        loss, **SIZES, hidden=hidden, activation=activation, decays=penalised, learning_rate=str(RATE)
    )

    def decided(models: dict[str, Reals], values: Reals) -> Reals:
        for layer in range(1, len(hidden) + 2):
            values = models[f"w{layer}"] @ values + models[f"b{layer}"]
            values = FUNCTIONS[activation](values) if layer <= len(hidden) else values
        return values

    hold_step(program, decided, LOSSES[loss])


def test_one_text_serves_every_size() -> None:
    def text(features: int, outputs: int) -> str:
        return linear_program(
            "squared", features=features, outputs=outputs, intercept=True, decays=False, learning_rate="1"
        ).text

    assert text(2, 1) == text(30, 10)
