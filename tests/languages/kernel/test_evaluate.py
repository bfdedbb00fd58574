"""What a kernel means in float64, held against the tree of TABLA in exact numbers, and against sums by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.languages.kernel import evaluate as module
from tabla.languages.kernel.evaluate import evaluate, evaluate_samples
from tabla.languages.kernel.parser import parse
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.kernel import kernel_of
from tests.languages.tabla.lower.exact import run_tree
from tests.languages.tabla.lower.test_exact import data
from tests.languages.tabla.random_programs import programs


@settings(max_examples=200, deadline=None)
@given(programs(smooth=True), st.integers(0, 9), st.sampled_from([1, 4, 1 << 20]))
def test_random_programs_against_exact_numbers(text: str, seed: int, points: int) -> None:
    """However small the parts are in which a domain is computed."""
    program = parse_tabla(Source.from_text(text))
    kernel, exact = kernel_of(program), data(program, seed)
    expected = run_tree(program, exact)
    arrays = {
        name: np.array([float(exact[name, at]) for at in product(*map(range, each.shape))]).reshape(each.shape)
        for name, each in kernel.tensors.items()
        if each.role != "value"
    }
    before = module.MOST_POINTS
    try:
        module.MOST_POINTS = points  # type: ignore[misc]
        found = evaluate(kernel, arrays)
    finally:
        module.MOST_POINTS = before  # type: ignore[misc]
    models = {f"{update.model}.next": update.model for update in kernel.updates}
    for (name, element), value in expected.items():
        own = models.get(name, name)
        if name == own and name in models.values():
            continue  # the model as it was
        real = float(value)
        assert abs(found[own][element] - real) <= 1e-9 * max(1.0, abs(real)), (name, element)


KERNEL = parse(
    Source.from_text(
        """
        input a[3, 4]: real; model w[4]: real; label y: real;
        value n[3]: integer; value s[3]: real; value big: truth; value g[4]: real; value total: real;
        n[i] = 2 * i - 5 for i in 0:3;
        s[2 - i] = sum[j in 1:4](a[i, j] * w[j - 1]) + real(n[i] / 2) for i in 0:3;
        total = norm[i in 0:3](s[i]) - max[i in 0:3, j in 0:4](a[i, j]);
        big = total > y;
        g[j] = a[1, 3 - j] * real(big) for j in 0:4;
        update w -= 0.5 * g;
        return total, s;
        """
    ),
    "k",
)


def test_every_part_by_hand() -> None:
    chance = np.random.default_rng(1)
    a, w, y = chance.normal(size=(3, 4)), chance.normal(size=4), np.array(-100.0)
    found = evaluate(KERNEL, {"a": a, "w": w, "y": y})
    n = np.array([-5, -3, -1])
    s = (a[:, 1:] @ w[:3] + np.array([-2, -1, 0]))[::-1]
    assert np.array_equal(found["n"], n) and found["n"].dtype == np.int64
    assert np.allclose(found["s"], s, rtol=1e-12)
    total = np.sqrt((s * s).sum()) - a.max()
    assert found["total"] == pytest.approx(total, rel=1e-12) and bool(found["big"])
    assert np.allclose(found["w"], w - 0.5 * a[1, ::-1], rtol=1e-12)


@pytest.mark.parametrize("minibatch", [1, 2, 3])
def test_samples_learn_one_after_the_other_or_together(minibatch: int) -> None:
    chance = np.random.default_rng(2)
    samples = {"a": chance.normal(size=(7, 3, 4)), "y": np.full(7, -100.0)}
    w = chance.normal(size=4)
    after, kept = evaluate_samples(KERNEL, {"w": w}, samples, 6, minibatch=minibatch, keep=["total"])
    totals = []
    for begin in range(0, 6, minibatch):
        step = np.zeros(4)
        for a in samples["a"][begin : begin + minibatch]:
            totals.append(evaluate(KERNEL, {"a": a, "w": w, "y": np.array(-100.0)})["total"])
            step += 0.5 * a[1, ::-1]
        w = w - step
    assert np.allclose(after["w"], w, rtol=1e-12) and np.allclose(kept["total"], totals, rtol=1e-12)


def test_values_are_computed_before_any_is_stored() -> None:
    text = "input x[3]: real; value y[3]: real; y[i] = x[i] for i in 0:3; y[2 - i] = y[i] for i in 0:3; return y;"
    kernel = parse(Source.from_text(text), "k")
    assert np.array_equal(evaluate(kernel, {"x": np.arange(3.0)})["y"], [2, 1, 0])
