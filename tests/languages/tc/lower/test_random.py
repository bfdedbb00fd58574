"""Random kernels with padding, clamps, divided indices, triangles and gaps: graph, machine and language agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import Phase, assume, event, given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.verify import verify
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate
from tabla.languages.tc.lower import lower
from tests.languages.tc.lower.test_programs import words_of
from tests.schedule.agreement import agree

Q12_20 = Format(integer=12, fraction=20)
Q6_10 = Format(integer=6, fraction=10)
HEAD = "def f(float(N) A, float(N,M) T, float(K) W, int32(N) I, float s) -> (B)"

SHIFTS = st.integers(-2, 3)
ENDS = st.sampled_from(("N", "M", "2 * N", "N + 1", "3 * M", "N + K - 1", "4"))
LOWS = st.sampled_from(("0", "1", "-1"))
INDICES = st.sampled_from(("i", "j"))
SUMS = st.one_of(
    st.builds("{} + {}".format, INDICES, SHIFTS),
    st.builds("i {} j + {}".format, st.sampled_from("+-"), SHIFTS),
    st.builds("N - {} - i".format, SHIFTS),
    st.builds("{} {} {}".format, INDICES, st.sampled_from("/%"), st.integers(2, 3)),
    st.builds("I({}) + {}".format, st.sampled_from(("min(max(i, 0), N - 1)", "i")), st.integers(-1, 1)),
)
COMPARISONS = st.sampled_from(("<", "<=", ">", ">=", "=="))
TESTS = st.builds("{} {} {}".format, SUMS, COMPARISONS, st.sampled_from(("0", "N", "2")))
TRUTHS = st.lists(TESTS, min_size=1, max_size=3).map(" && ".join)
CLAMPED = st.builds("A(min(max({}, 0), N - 1))".format, SUMS)
READS = st.one_of(CLAMPED, st.builds("A({})".format, SUMS), st.builds("T({}, {})".format, SUMS, SUMS), st.just("s"))
PRODUCTS = st.one_of(READS, st.builds("{} * {}".format, READS, READS), st.builds("max({}, {})".format, READS, READS))
VALUES = st.one_of(
    PRODUCTS,
    st.builds("({}) ? {} : {}".format, TRUTHS, PRODUCTS, st.sampled_from(("0.0", "s"))),
    st.builds("({}) ? ({}) : 0".format, TRUTHS, PRODUCTS),
)
LEFTS = st.sampled_from(("B(i, j) =", "B(j, i) =", "B(i) +=!", "B(j) +=!", "B(i) max=!", "B +=!", "B(j) min=!"))
RANGES = st.sampled_from(("j in 0:M", "j in 0:i+1", "j in i:N", "j in 1:4", "j in 0:2*M"))


@settings(max_examples=200, phases=[Phase.explicit, Phase.generate])
@given(LEFTS, VALUES, LOWS, ENDS, RANGES, st.integers(2, 4), st.integers(2, 3), st.integers(0, 2**20))
def test_random_kernels(left: str, value: str, low: str, end: str, ranges: str, n: int, m: int, seed: int) -> None:
    text = f"{HEAD} {{ B0(i) = A(i) + T(i, 0) * W(0) {left} {value} + 0.0 * A(I(0)) where i in {low}:{end}, {ranges} }}"
    text = text if "?" not in value else text.replace(" + 0.0 * A(I(0))", "")
    random = np.random.default_rng(seed)
    inputs: dict[str, np.ndarray[Any, Any]] = {
        "A": random.uniform(-1, 1, n),
        "T": random.uniform(-1, 1, (n, m)),
        "W": random.uniform(-1, 1, 2),
        "I": random.integers(0, n, n),
        "s": random.uniform(-1, 1, ()),
    }
    try:
        function = parse(Source.from_text(text)).function()
        expected = evaluate(function, inputs)["B"]
        sizes = bind_sizes(function, {name: array.shape for name, array in inputs.items()})
    except TablaError:
        assume(False)
    try:
        graph = lower(function, sizes, number_format=Q12_20)
    except TablaError as fault:
        event(f"refused: {fault.message}")
        assert fault.hint and fault.labels
        return
    event("lowered")
    verify(graph)
    # What has no point is the least or greatest number of the type, and saturates in words.
    expected = np.clip(expected, -2048, 2048)
    fixed = evaluate_fixed(graph, Q12_20, words_of(function, inputs, Q12_20)).values[graph.results[0][1]]
    np.testing.assert_allclose(fixed / Q12_20.one, expected, rtol=1e-4, atol=1e-4)
    if seed % 8:
        return
    smaller = run_passes(lower(function, sizes, number_format=Q6_10), Q6_10)
    integers = {"I": np.stack([inputs["I"]] * 2)}
    agree(smaller, Options(pes=3).chosen_template(), Q6_10, samples=2, given=integers)
