"""Evaluation over whole arrays against the interpreter that takes one point at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.tc import parse
from tabla.languages.tc.evaluate import evaluate
from tabla.languages.tc.program import Function
from tests.languages.tc.naive import Elements, Outside, rebased, run


def function_of(text: str) -> Function:
    return parse(Source.from_text(text, "k.tc")).function()


def elements(array: np.ndarray[Any, Any]) -> Elements:
    return {tuple(map(int, at)): value.item() for at, value in np.ndenumerate(array)}


def arrays(**given: Any) -> dict[str, np.ndarray[Any, Any]]:
    return {name: np.asarray(value) for name, value in given.items()}


@pytest.mark.parametrize(
    ("body", "inputs", "expected"),
    [
        ("def f(int32(N) a, int32(N) b) -> (c) { c(i) = a(i) / b(i) }",
         {"a": [-7, 7, -7], "b": [2, -2, -2]}, [-3, -3, 3]),
        ("def f(int32(N) a, int32(N) b) -> (c) { c(i) = a(i) % b(i) }",
         {"a": [-7, 7, -7], "b": [2, -2, -2]}, [-1, 1, -1]),
        ("def f(float(N) a) -> (c) { c(i) = int32(a(i)) }", {"a": [-2.7, 2.7, 0.5]}, [-2, 2, 0]),
        ("def f(float(N) a) -> (c) { c(i) = i * 0.5 + N + a.0 + a(i) }", {"a": [0.0, 0.0]}, [4.0, 4.5]),
        ("def f(float(N) a) -> (c) { c max=! a(i) }", {"a": [-2.0, -3.0]}, -2.0),
        ("def f(float(N) a) -> (c) { c min=! a(i) }", {"a": [2.0, 3.0]}, 2.0),
        ("def f(float(N) a) -> (c) { c *=! a(i) }", {"a": [2.0, 3.0, 4.0]}, 24.0),
        ("def f(float(N) a) -> (c) { c(i) += a(i) }", {"a": [2.0, 3.0], "c": [10.0, 20.0]}, [12.0, 23.0]),
        ("def f(float(N) a) -> (c) { c(i) = a(i) c(i) +=! 1.0 }", {"a": [2.0, 3.0]}, [1.0, 1.0]),
        ("def f(float(N) a) -> (c) { c(i) = a(i) c(i) += c(i) }", {"a": [2.0, 3.0]}, [4.0, 6.0]),
        ("def f(float(N) a) -> (c) { c(i) = a(i) c(i) = a(i-N) + 1.0 }", {"a": [2.0, 3.0]}, [2.0, 3.0, 3.0, 4.0]),
        ("def f(float(N) a, int32(M) x) -> (c) { c(i) = x(i) >= 0 && x(i) < N ? a(x(i)) : -1.0 }",
         {"a": [2.0, 3.0], "x": [1, 5, -1, 0]}, [3.0, -1.0, -1.0, 2.0]),
        ("def f(float(N) a, int32(M) x) -> (c) { c(i) = x(i) < 0 || x(i) >= N ? -1.0 : a(x(i)) }",
         {"a": [2.0, 3.0], "x": [1, 5, -1, 0]}, [3.0, -1.0, -1.0, 2.0]),
        ("def f(int32(N) a) -> (c) { c(i) = a(i) == 0 || 6 / a(i) > 2 }", {"a": [0, 1, 6]}, [True, True, False]),
        ("def f(float(N) a) -> (c) { c(i) +=! a(j) where i in 0:N, j in 0:i+1 }",
         {"a": [1.0, 2.0, 3.0]}, [1.0, 3.0, 6.0]),
        ("def f(uint8(N) a) -> (c) { c(i) = int32(a(i)) * 300 }", {"a": [200, 1]}, [60000, 300]),
        ("def f(bool(N) a) -> (c) { c(i) = !a(i) }", {"a": [True, False]}, [False, True]),
        ("def f(float(N) a) -> (c) { c(i) = x * x where x = a(i) + 1 }", {"a": [1.0, 2.0]}, [4.0, 9.0]),
        ("def f(float(N) a) -> (c) { c(i) = 2.5e-1 * a(i) }", {"a": [4.0]}, [1.0]),
        (("def g(float(K) x) -> (lo, hi) { lo min=! x(i) hi max=! x(i) }\n"
          "def f(float(N) a) -> (c) { p, q = g(a) c = q - p }"), {"a": [4.0, 1.0, 9.0]}, 8.0),
        (("def g(float(K) x) -> (y) { y(i) = x(K - 1 - i) }\n"
          "def f(float(N) a) -> (c) { b(i) = a(i + 1) c = g(b) }"), {"a": [4.0, 1.0, 9.0]}, [9.0, 1.0, 4.0]),
    ],
)  # fmt: skip
def test_by_hand(body: str, inputs: dict[str, Any], expected: Any) -> None:
    result = evaluate(function_of(body), arrays(**inputs))["c"]
    assert result.tolist() == expected


@pytest.mark.parametrize(
    ("text", "inputs", "message"),
    [
        ("def f(float(N) a, float(N) b) -> (c) { c(i) = a(i) + b(i) }", {"a": [1.0]}, "the input 'b' is missing"),
        ("def f(float(N) a, float(N) b) -> (c) { c(i) = a(i) + b(i) }", {"a": [1.0], "b": [1.0, 2.0]},
         "the size 'N' is 1 (dimension 0 of 'a') and 2 (dimension 0 of 'b')"),
        ("def f(float(N) a) -> (c) { c(i) = a(i) }", {"a": [[1.0]]}, "'a' has 1 dimensions, 2 given"),
        ("def f(float(3) a) -> (c) { c(i) = a(i) }", {"a": [1.0]}, "dimension 0 of 'a' is 3, 1 given"),
        ("def f(float(N) a) -> (c) { c(i) = a(i) }", {"a": []}, "dimension 0 of 'a' is empty"),
        ("def f(float(N) a) -> (c) { c(i) = a(i) }", {"a": [1.0], "x": [2.0]}, "'f' has no input 'x'"),
        ("def f(float(N) a) -> (c) { c(i) += a(i) }", {"a": [1.0]}, "the input 'c' is missing"),
        ("def f(int32(N) a) -> (c) { c(i) = a(i) }", {"a": [1.5]}, "'a' is int32, its array has fractions"),
        ("def f(int8(N) a) -> (c) { c(i) = a(i) }", {"a": [200]}, "an integer does not fit int8"),
        ("def f(int8(N) a) -> (c) { c(i) = a(i) + a(i) }", {"a": [100]}, "an integer does not fit int8"),
        ("def f(int32(N) a) -> (c) { c(i) = 1 / a(i) }", {"a": [0]}, "division by zero"),
        ("def f(float(N) a) -> (c) { c(i) = int8(a(i)) }", {"a": [300.0]}, "a value does not fit int8"),
        ("def f(float(N) a, int32(M) x) -> (c) { c(i) = a(x(i)) }", {"a": [1.0, 2.0], "x": [0, 2]},
         "'a' is read at 2 in dimension 0, which runs over [0, 2)"),
        ("def f(float(N) a) -> (c) { c(i) = a(i % 4) where i in 0:4 }",
         {"a": [1.0]}, "'a' is read at 1 in dimension 0"),
    ],
)  # fmt: skip
def test_faults_of_data(text: str, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(TablaError) as caught:
        evaluate(function_of(text), arrays(**inputs))
    assert message in str(caught.value) and caught.value.hint and caught.value.line


def test_a_wrong_rank_is_all_that_is_told() -> None:
    function = function_of("def f(float(N,M) a, float(K) b) -> (c) { c(i, j) = a(i, j) * b(0) }")
    with pytest.raises(TablaError) as caught:
        evaluate(function, arrays(a=[1.0], b=[1.0]))
    assert "'a' has 2 dimensions, 1 given" in str(caught.value) and not caught.value.more


def test_sizes_by_name() -> None:
    function = function_of("def f(float s, float(N) unused) -> (c) { c(i) = s where i in 0:N }")
    result = evaluate(function, arrays(s=2.0, unused=[0.0, 0.0, 0.0]), {"N": 3})
    assert result["c"].tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TablaError, match="has no size 'M'"):
        evaluate(function, arrays(s=2.0, unused=[0.0]), {"M": 3})


HEAD = "def f(float(N) A, int32(N) I, float(N,M) T, bool(N) P, float s)"
FLOATS = st.sampled_from(("A(i)", "T(i, j)", "s", "0.5", "2.25", "A(I(i))", "T(I(i), j)", "A(N - 1 - i)"))
INTEGERS = st.sampled_from(("i", "j", "I(i)", "3", "N", "T.1", "7", "I(I(i))"))
BOOLEANS = st.sampled_from(("P(i)", "P(I(i))", "i < j", "A(i) > s", "I(i) == j"))


def _wider(kind: str, inner: Any) -> Any:
    number, whole, truth = inner
    if kind == "float":
        return st.one_of(
            st.builds("({} {} {})".format, number, st.sampled_from("+-*/"), st.one_of(number, whole)),
            st.builds("({} ? {} : {})".format, truth, number, st.one_of(number, whole)),
            st.builds("{}({})".format, st.sampled_from(("tanh", "sin", "fabs", "-", "float")), number),
            st.builds("{}({}, {})".format, st.sampled_from(("min", "max", "fmax", "fmin")), number, number),
        )
    if kind == "int":
        return st.one_of(
            st.builds("({} {} {})".format, whole, st.sampled_from("+-*/%"), whole),
            st.builds("({} ? {} : {})".format, truth, whole, whole),
            st.builds("{}({}, {})".format, st.sampled_from(("min", "max")), whole, whole),
            st.builds("int32({})".format, st.one_of(number, truth)),
        )
    return st.one_of(
        st.builds("({} {} {})".format, truth, st.sampled_from(("&&", "||")), truth),
        st.builds("({} {} {})".format, whole, st.sampled_from(("<", ">", "<=", ">=", "==", "!=")), whole),
        st.builds("!({})".format, truth),
    )


def _expressions(depth: int) -> tuple[Any, Any, Any]:
    if depth == 0:
        return FLOATS, INTEGERS, BOOLEANS
    inner = _expressions(depth - 1)
    leaves = (FLOATS, INTEGERS, BOOLEANS)
    kinds = ("float", "int", "bool")
    return tuple(st.one_of(leaf, _wider(kind, inner)) for leaf, kind in zip(leaves, kinds, strict=True))  # type: ignore


NUMBERS, WHOLES, TRUTHS = _expressions(2)
LEFTS = st.sampled_from(("B(i, j) =", "B(j, i) =", "B(i) +=!", "B(j) max=!", "B min=!", "B(j) *=!", "B(i, j) +=!"))
WHERES = st.sampled_from(("", ", j in 0:2", ", j in 0:i+1", ", j in 1:M"))


@settings(max_examples=120, deadline=None)
@given(LEFTS, st.one_of(NUMBERS, WHOLES), WHERES, st.integers(2, 4), st.integers(2, 3), st.randoms())
def test_random_programs(left: str, value: str, where: str, n: int, m: int, random: Any) -> None:
    ranged = where or ", j in 0:M"
    text = f"{HEAD} -> (B) {{ B0(i) = A(i) {left} {value} + 0*(i+j) where i in 0:N{ranged} }}"
    try:
        function = function_of(text)
    except TablaError as fault:
        assert "does not hold" in str(fault) or "empty" in str(fault), str(fault)
        return
    inputs = {
        "A": np.array([random.uniform(-2, 2) for _ in range(n)]),
        "I": np.array([random.randrange(n) for _ in range(n)]),
        "T": np.array([[random.uniform(-2, 2) for _ in range(m)] for _ in range(n)]),
        "P": np.array([random.random() < 0.5 for _ in range(n)]),
        "s": np.array(random.uniform(-1, 1)),
    }
    try:
        found = evaluate(function, inputs)["B"]
    except TablaError:
        with pytest.raises((Outside, TablaError)):
            run(function, {name: elements(array) for name, array in inputs.items()}, {"N": n, "M": m})
        return
    expected = rebased(run(function, {name: elements(array) for name, array in inputs.items()}, {"N": n, "M": m})["B"])
    assert set(expected) == set(elements(found))
    for at, value_ in expected.items():
        np.testing.assert_allclose(found[at], value_, rtol=1e-9, atol=1e-9)
