"""Tensor Comprehensions as graphs: the same numbers as the language's own evaluation, whatever the graph can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Gather, Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.verify import verify
from tabla.languages.tc import Function, parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate
from tabla.languages.tc.lower import lower
from tests.graph.runs import evaluate_float
from tests.languages.tc.references import REFERENCES
from tests.schedule.agreement import agree

ROOT = Path(__file__).parents[4]
FORMAT = Format.parse("q12.20")


def function_of(name: str) -> Function:
    path = ROOT / "tests" / "programs" / "tc" / f"{name}.tc"
    return parse(Source.from_text(path.read_text(encoding="utf-8"), path.name)).function()


def lowered(function: Function, inputs: dict[str, np.ndarray[Any, Any]]) -> Graph:
    sizes = bind_sizes(function, {name: array.shape for name, array in inputs.items()})
    graph = lower(function, sizes, number_format=FORMAT)
    verify(graph)
    return graph


def words_of(function: Function, inputs: dict[str, np.ndarray[Any, Any]], format: Format) -> dict[str, Any]:
    """Inputs as words: reals scaled, integers as they are."""
    one = {name: 1 if function.tensors[name].scalar.integral else format.one for name in inputs}
    return {k: np.floor(v.astype(np.float64) * one[k] + 0.5).astype(np.int64) for k, v in inputs.items()}


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_graph_means_the_program(name: str) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    graph = lowered(function, inputs)
    expected = evaluate(function, inputs)
    fixed = evaluate_fixed(graph, FORMAT, words_of(function, inputs, FORMAT))
    assert [shown for shown, _ in graph.results] == list(function.results)
    for shown, tensor in graph.results:
        if function.tensors[shown].scalar.integral:
            np.testing.assert_array_equal(fixed.values[tensor], expected[shown])
        else:
            np.testing.assert_allclose(fixed.values[tensor] / FORMAT.one, expected[shown], rtol=1e-3, atol=1e-3)
    gathers = any(isinstance(statement.operation, Gather) for statement in graph.statements)
    if gathers or any(tensor.scalar.integral for tensor in function.tensors.values()):
        # The word n is the integer n; as a real it is n * 2^-F, which is no position.
        return
    values = evaluate_float(graph, {k: v.astype(np.float64) for k, v in inputs.items()}).values
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor], expected[shown], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pes", [4, 16])
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_machine_computes_the_same_words(name: str, pes: int) -> None:
    function, draws = function_of(name), [REFERENCES[name].draw(seed) for seed in (5, 6, 7)]
    template = Options(pes=pes).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    sizes = bind_sizes(function, {tensor: array.shape for tensor, array in draws[0].items()})
    graph = run_passes(lower(function, sizes, number_format=words), words)
    # Reals are any words; integers may be positions, so they are those that the program is made for.
    each = [words_of(function, draw, words) for draw in draws]
    integers = [k for k in each[0] if function.tensors[k].scalar.integral]
    agree(graph, template, words, samples=3, given={k: np.stack([one[k] for one in each]) for k in integers})


def test_a_contraction_stays_one_statement() -> None:
    function = function_of("matmul")
    graph = lower(function, {"M": 64, "K": 64, "N": 64}, number_format=FORMAT)
    assert len(graph.statements) == 1 and graph.statements[0].reduced[0].extent == 64


def test_sums_round_once() -> None:
    text = "def f(float(N) a, float(N) b, float(N) c) -> (y) { y(i) = a(i) * b(i) - c(i) * 3 + i }"
    graph = lower(parse(Source.from_text(text)).function(), {"N": 4}, number_format=FORMAT)
    assert len(graph.statements) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def g(float(K) x) -> (y) { y(i) = x(i) * 2 }\ndef f(float(N) A) -> (B) { t(i) = A(i - 1) B = g(t) }",
        "def g(float(K) x) -> (y) { y(i) = x(i + 1) }\ndef f(float(N) A) -> (B) { t = g(A) B(i) = t(i) + A(i) }",
        "def g(float(K) x) -> (y) { y(i) = x(i) + i }\ndef f(float(N) A) -> (B) { t = g(A) u = g(t) B = g(u) }",
        "def f(float(N) A) -> (B) { B(i) = A(i) B(i) = B(i) * A(i) B(i) += A(i) }",
        "def f(float(N) A) -> (B) { t(i) = A(i + 2) where i in -1:2 B(i) = t(i) t(i) = A(i + 1) B(i) += t(i) }",
        "def f(float(N) A) -> (B) { B(i) *=! A(k) + i where i in 0:3 }",
        "def f(float(N) A) -> (B) { B(i) min=! fabs(A(i)) }",
        "def f(float(N) A) -> (B) { B(i) +=! A(i) * k where k in 0:N }",
        "def f(float(N) A) -> (B) { B(i) = !(A(i) > 0 && A(i) < 1 || A(i) == 0) ? float(N) / 2 : -(A(i) - 1) * -3 }",
    ],
)
def test_corners(text: str) -> None:
    function = parse(Source.from_text(text)).function()
    inputs = {"A": np.random.default_rng(1).uniform(-1.5, 1.5, 5)}
    values = evaluate_float(lowered(function, inputs), inputs).values
    graph = lowered(function, inputs)
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor], evaluate(function, inputs)[shown], rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(float(N) A) -> (B) { B(i) = A(i) * 1e12 }", "does not fit"),
        ("def f(float(N) A) -> (B) { B(i) = cbrt(A(i)) }", "'cbrt' does not run on the machine"),
        ("def f(float(N) A) -> (B) { B(i) = nextafter(A(i), 0.0) }", "'nextafter' does not run on the machine"),
        ("def f(float(N) A) -> (B) { B(i) = pow(A(i), i - 1) }", "exponent is an index that may be negative"),
        ("def f(float(N) A) -> (B) { B(i) = pow(A(i), int32(A(i))) }", "exponent is data"),
        ("def f(float(N) A) -> (B) { B(i) = A(i) where i in 7:9 }", "9 <= 5 does not hold"),
    ],
)
def test_refused(text: str, message: str) -> None:
    function = parse(Source.from_text(text)).function()
    with pytest.raises(TablaError) as caught:
        lowered(function, {"A": np.zeros(5)})
    assert message in str(caught.value) and caught.value.hint


def fixed_of(text: str, inputs: dict[str, Any], number: Format) -> dict[str, np.ndarray[Any, Any]]:
    """Results in words, as the graph computes them in a format."""
    function = parse(Source.from_text(text)).function()
    given = {name: np.asarray(array) for name, array in inputs.items()}
    sizes = bind_sizes(function, {name: array.shape for name, array in given.items()})
    graph = run_passes(lower(function, sizes, number_format=number), number)
    verify(graph)
    fixed = evaluate_fixed(graph, number, words_of(function, given, number))
    return {shown: fixed.values[tensor] for shown, tensor in graph.results}


@pytest.mark.parametrize("number", [Format(integer=6, fraction=10), Format(integer=2, fraction=6)])
def test_every_word_is_cast_toward_zero(number: Format) -> None:
    words = np.arange(number.lowest, number.highest + 1)
    text = "def f(float(N) x) -> (y, z) { y(i) = int32(x(i)) z(i) = float(int32(x(i))) - x(i) }"
    found = fixed_of(text, {"x": words / number.one}, number)
    whole = np.trunc(words / number.one).astype(np.int64)
    np.testing.assert_array_equal(found["y"], whole)
    np.testing.assert_array_equal(found["z"], np.clip(whole * number.one, None, number.highest) - words)


def test_integers_are_exact() -> None:
    a, b = np.array([300, -7, 0, 181, 5]), np.array([-20, 9, 30000, 181, -5])
    text = """def f(int32(N) a, int32(N) b, float(N) x) -> (p, s, c, m, r, t) {
        p(i) = a(i) * b(i)  s(i) = 3 * a(i) - b(i) + i * 2  c(i) = a(i) < b(i) ? a(i) : 7  m max=! min(a(i), b(i))
        r(i) = x(i) * (a(i) > 4 && b(i) > 4)  t +=! int32(a(i) == b(i)) }"""
    found = fixed_of(text, {"a": a, "b": b, "x": np.full(5, 0.5)}, Format(integer=6, fraction=10))
    np.testing.assert_array_equal(found["p"], [-6000, -63, 0, 32761, -25])
    np.testing.assert_array_equal(found["s"], np.minimum(3 * a - b + 2 * np.arange(5), 32767))
    np.testing.assert_array_equal(found["c"], np.where(a < b, a, 7))
    np.testing.assert_array_equal(found["r"], [0, 0, 0, 512, 0])
    assert found["m"] == 181 and found["t"] == 1


def test_products_of_integers() -> None:
    text = """def f(int32(N) a) -> (p, q, b) {
        p *=! a(i)  q(i) *=! a(j) where i in 0:N, j in 0:i  b(i) = 2 - a(i)  b(i) *= p }"""
    a = np.array([3, -7, 11, 2])
    found = fixed_of(text, {"a": a}, Format(integer=6, fraction=10))
    assert found["p"] == a.prod()
    np.testing.assert_array_equal(found["b"], (2 - a) * a.prod())
    np.testing.assert_array_equal(found["q"], [1, 3, -21, -231])


def test_remainders_of_reals_are_exact() -> None:
    number = Format(integer=2, fraction=6)
    words = np.arange(number.lowest, number.highest + 1)
    a, b = (side.ravel() for side in np.meshgrid(words, words[words != 0]))
    text = "def f(float(N) a, float(N) b) -> (r) { r(i) = a(i) % b(i) }"
    found = fixed_of(text, {"a": a / 64, "b": b / 64}, number)
    np.testing.assert_array_equal(found["r"], np.fmod(a, b))


def test_indices_are_integers_of_all_bits() -> None:
    """An index as an integer is as large as a word, not as the reals of the format."""
    text = "def f(int32(N) a, float(N) x) -> (p, y) { p(i) = a(i) - i * 200 y(i) = x(i * i % N) where i in 0:N }"
    found = fixed_of(text, {"a": np.arange(150), "x": np.arange(150) / 16}, Format(integer=6, fraction=10))
    np.testing.assert_array_equal(found["p"], np.arange(150) * -199)
    np.testing.assert_array_equal(found["y"], 64 * (np.arange(150) ** 2 % 150))


def test_integers_divide_toward_zero() -> None:
    a = np.array([7, -7, 7, -7, 32767, -32768, 5, 0])
    b = np.array([2, 2, -2, -2, -1, 300, -32768, 3])
    text = """def f(int32(N) a, int32(N) b, float(N) x) -> (q, r, y, z) {
        q(i) = a(i) / b(i)  r(i) = a(i) % b(i)  y(i) = x(i) * (a(i) / 3 % 5)  z(i) = x(i) * (i / 3 - i % 2) }"""
    found = fixed_of(text, {"a": a, "b": b, "x": np.ones(8)}, Format(integer=6, fraction=10))
    np.testing.assert_array_equal(found["q"], np.trunc(a / b))
    np.testing.assert_array_equal(found["r"], np.fmod(a, b))
    np.testing.assert_array_equal(found["y"], 1024 * np.fmod(np.trunc(a / 3), 5))
    np.testing.assert_array_equal(found["z"], 1024 * (np.arange(8) // 3 - np.arange(8) % 2))


def test_remainders_of_all_integers() -> None:
    """The quotient of the least integer and -1 is the only one that saturates, and the remainder is 0 there, too."""
    number = Format(integer=5, fraction=3)
    words = np.arange(number.lowest, number.highest + 1)
    a, b = (side.ravel() for side in np.meshgrid(words, [-128, -127, -5, -1, 0, 1, 2, 77, 127]))
    text = """def f(int32(N) a, int32(N) b) -> (r, s, t, u) {
        r(i) = a(i) % b(i)  s(i) = a(i) % (-1)  t(i) = (-128) % b(i)  u(i) = a(i) % 5 }"""
    found = fixed_of(text, {"a": a, "b": b}, number)
    divisor = np.where(b == 0, 1, b)
    np.testing.assert_array_equal(found["r"], np.where(b == 0, a, np.fmod(a, divisor)))
    np.testing.assert_array_equal(found["s"], 0 * a)
    np.testing.assert_array_equal(found["t"], np.where(b == 0, -128, np.fmod(-128, divisor)))
    np.testing.assert_array_equal(found["u"], np.fmod(a, 5))


def test_positions_are_sums_of_data_and_indices() -> None:
    text = "def f(float(N) x, int32(M) at) -> (y) { y(i,j) = x(at(i) + j) * x(j + 2 * at(i) - 1) where j in 0:2 }"
    x, at = np.arange(8) / 8, np.array([1, 3, 2])
    found = fixed_of(text, {"x": x, "at": at}, Format(integer=6, fraction=10))
    expected = [[x[p + j] * x[j + 2 * p - 1] for j in range(2)] for p in at]
    np.testing.assert_allclose(found["y"] / 1024, expected, atol=1 / 1024)


def test_a_position_outside_is_told() -> None:
    text = "def f(float(N) x, int32(M) at) -> (y) { y(i) = x(at(i)) }"
    with pytest.raises(TablaError, match="'at' gives position 8 on axis 0 of 'x', which has 8"):
        fixed_of(text, {"x": np.arange(8) / 8, "at": np.array([1, 8])}, Format(integer=6, fraction=10))
