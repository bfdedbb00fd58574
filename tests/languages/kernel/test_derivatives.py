"""Derivatives of kernels against forward differentiation, which shares no code with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.kernel.derivatives import Backwards
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.signatures import SIGNATURES, apply
from tabla.languages.kernel.slopes import SLOPES
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.training import Learning, learning
from tabla.languages.kernel.tree import Kernel, Number, Read, Statement, Tensor
from tests.languages.kernel.naive import run
from tests.languages.kernel.test_conditions import SIZE, assume_meaning, kernels


class Tie(Exception):
    """A choice between equal values: forward and backward differentiation may choose differently."""


@dataclass(frozen=True, eq=False)
class Dual:
    """A number with its derivative in one direction."""

    value: float
    slope: float

    @staticmethod
    def of(number: object) -> Dual:
        return number if isinstance(number, Dual) else Dual(float(number), 0.0)  # type: ignore[arg-type]

    def __add__(self, other: object) -> Dual:
        more = Dual.of(other)
        return Dual(self.value + more.value, self.slope + more.slope)

    def __sub__(self, other: object) -> Dual:
        less = Dual.of(other)
        return Dual(self.value - less.value, self.slope - less.slope)

    def __mul__(self, other: object) -> Dual:
        by = Dual.of(other)
        return Dual(self.value * by.value, self.slope * by.value + self.value * by.slope)

    def __rsub__(self, other: object) -> Dual:
        return Dual.of(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: object) -> bool:
        than = Dual.of(other)
        if self.value == than.value:
            raise Tie
        return self.value < than.value

    def __gt__(self, other: object) -> bool:
        return Dual.of(other) < self


@settings(max_examples=250, deadline=None)
@given(kernels(), st.integers(0, 5))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    assume_meaning(kernel)
    random = np.random.default_rng(seed)
    x, direction = random.normal(size=(2, SIZE, SIZE))
    duals = {at: Dual(float(x[at]), float(direction[at])) for at in np.ndindex(x.shape)}
    try:
        forward = run(kernel, {"x": duals})  # type: ignore[dict-item]
    except Tie:
        assume(False)
    result = kernel.results[0]
    label = random.normal(size=(SIZE, SIZE))
    elements = {at: Dual.of(forward[result, at]) for at in np.ndindex(label.shape)}
    errors = {at: dual.value - label[at] for at, dual in elements.items()}
    expected = sum(errors[at] * dual.slope for at, dual in elements.items())
    try:
        learnt = learning(
            Kernel(name="k", tensors=kernel.tensors, statements=kernel.statements, results=(result,)),
            Learning(train=("x",), loss="mse", rate=Fraction(1)),
        )
    except TablaError as fault:
        assert "does not depend on it" in fault.message, fault
        assert expected == 0
        return
    assert parse(Source.from_text(kernel_text(learnt)), "k") == learnt
    gradient = x - evaluate(learnt, {"x": x, "label": label})["x"]
    scale = sum(abs(errors[at] * dual.slope) for at, dual in elements.items())
    assert float((gradient * direction).sum()) == pytest.approx(expected, rel=1e-8, abs=1e-9 + 1e-10 * scale)


def slope_of(function: str, at: tuple[float, ...]) -> list[float]:
    """The derivatives of a function by its arguments, as the kernel says them."""
    signature = SIGNATURES[function]
    reads = [Read(tensor=name) for name in "xyz"[: signature.arity]]
    if signature.rule == "choice":
        reads[0] = apply("greater", reads[0], Number(value=Fraction(0)))  # type: ignore[assignment]
    value = apply(function, *reads)
    tensors = {name: Tensor(name=name, shape=(), role="input") for name in "xyz"}
    tensors["v"] = Tensor(name="v", shape=(), role="value")
    given = {name: np.asarray(number) for name, number in zip("xyz", at, strict=False)}
    found = []
    for place, argument in enumerate(reads):
        if argument.type != "real":
            continue
        expression = SLOPES[function][place](Number(value=Fraction(1)), value, tuple(reads))
        statement = Statement(target="v", write=(), indices=(), value=expression)
        kernel = Kernel(name="k", tensors=tensors, statements=(statement,), results=("v",))
        found.append(float(evaluate(kernel, {"x": 0.0, "y": 0.0, "z": 0.0} | given)["v"]))  # type: ignore[dict-item]
    return found


@pytest.mark.parametrize("function", sorted(name for name in SLOPES if SIGNATURES[name].rule != "conversion"))
@settings(max_examples=30, deadline=None)
@given(at=st.tuples(*[st.floats(0.3, 2.5).map(lambda number: round(number, 3))] * 3))
def test_slopes(function: str, at: tuple[float, ...]) -> None:
    signature = SIGNATURES[function]
    at = at[: signature.arity]
    if function in ("asin", "acos"):
        at = tuple(number / 3 for number in at)
    assume(len(set(at)) == len(at))
    assume(function not in ("floor", "ceil", "round_even") or 2 * at[0] % 1)
    meaning: Callable[..., object] = signature.meaning
    step, expected = 1e-6, []
    for place in range(1 if signature.rule == "choice" else 0, signature.arity):
        ends = []
        for sign in (1, -1):
            moved = [np.asarray(number + sign * step * (place == own)) for own, number in enumerate(at)]
            if signature.rule == "choice":
                moved[0] = moved[0] > 0
            ends.append(float(meaning(*moved)))  # type: ignore[arg-type]
        expected.append((ends[0] - ends[1]) / (2 * step))
    assert slope_of(function, at) == pytest.approx(expected, rel=1e-6, abs=1e-7)


HEAD = "input x[3]: real; value y: real; "
GRADIENTS = {
    "each tie of a maximum gets the whole derivative": ("y = max[i in 0:3](x[i]);", [2.0, 2.0, 1.0], [1, 1, 0]),
    "the second of two equal ones": ("y = max(x[0], x[1]);", [2.0, 2.0, 1.0], [0, 1, 0]),
    "a rectifier at 0": ("y = max(x[0], 0.0);", [0.0, 2.0, 1.0], [0, 0, 0]),
    "a product": ("y = product[i in 0:3](x[i]);", [2.0, 3.0, 4.0], [12, 8, 6]),
    "a norm": ("y = norm[i in 0:3](x[i]);", [2.0, 3.0, 6.0], [2 / 7, 3 / 7, 6 / 7]),
    "a value that is overwritten": ("y = x[0] * x[0]; y = y * x[1];", [2.0, 3.0, 4.0], [12, 4, 0]),
    "a chain": (f"y = {' + '.join(['x[0]'] * 3000)};", [2.0, 3.0, 4.0], [3000, 0, 0]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    text, x, expected = GRADIENTS[name]
    kernel = parse(Source.from_text(f"{HEAD}{text} return y;"), "k")
    learnt = learning(kernel, Learning(train=("x",), loss="mse", rate=Fraction(1)))
    value = float(evaluate(kernel, {"x": np.array(x)})["y"])
    # With this label the error is 1.
    after = evaluate(learnt, {"x": np.array(x), "label": np.array(value - 1)})["x"]
    assert (np.array(x) - after).tolist() == pytest.approx(expected)


def test_what_is_not_wanted_is_not_computed() -> None:
    text = "input x[3]: real; input w[3]: real; value y: real; y = sum[i in 0:3](w[i] * exp(x[i])); return y;"
    kernel = parse(Source.from_text(text), "k")
    learnt = learning(kernel, Learning(train=("w",), loss="mse", rate=Fraction(1)))
    assert [name for name in learnt.tensors if name.startswith("d.")] == ["d.w"]


def test_a_function_without_a_derivative() -> None:
    for name, signature in SIGNATURES.items():
        real = signature.rule in ("reals", "numbers", "choice")
        assert (name in SLOPES) == (real or name == "real"), name
    assert not [name for name in SLOPES if name not in SIGNATURES]
    assert Backwards({}, (), ()).derivative("x") is None
