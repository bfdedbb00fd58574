"""Tensor Comprehensions as graphs: the same numbers as the language's own evaluation, whatever the graph can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.ir.evaluate import evaluate_fixed
from tabla.ir.evaluate_float import evaluate_float
from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.verify import verify
from tabla.lang.tc import Function, parse
from tabla.lang.tc.bind import bind_sizes
from tabla.lang.tc.evaluate import evaluate
from tabla.lower.tc import lower
from tabla.options import Options
from tabla.passes.pipeline import run_passes
from tabla.source import Source, TablaError
from tests.lang.tc.references import REFERENCES
from tests.schedule.agreement import agree

ROOT = Path(__file__).parents[2]
FORMAT = Format.parse("q12.20")

# What the graph has no words for; docs/decisions/0010-tc.md says what each needs.
GATHERS = {
    "cross_entropy", "embedding", "embedding_bag", "embedding_two", "gather", "gather_two", "perforated_conv1d",
    "shift_rows", "transposed_convolution",
}  # fmt: skip
INTEGERS = {
    "any_above", "argmin", "cast", "count_positive", "histogram", "integers", "min_distance", "one_hot", "ranks",
    "scatter_add",
}  # fmt: skip
FUNCTIONS = {"fourier", "vandermonde"}
NOT_YET = GATHERS | INTEGERS | FUNCTIONS


def function_of(name: str) -> Function:
    path = ROOT / "tests" / "programs" / "tc" / f"{name}.tc"
    return parse(Source.from_text(path.read_text(encoding="utf-8"), path.name)).function()


def lowered(function: Function, inputs: dict[str, np.ndarray[Any, Any]]) -> Graph:
    sizes = bind_sizes(function, {name: array.shape for name, array in inputs.items()})
    graph = lower(function, sizes, number_format=FORMAT)
    verify(graph)
    return graph


@pytest.mark.parametrize("name", sorted(REFERENCES.keys() - NOT_YET))
def test_the_graph_means_the_program(name: str) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    graph = lowered(function, inputs)
    expected = evaluate(function, inputs)
    values = evaluate_float(graph, {k: v.astype(np.float64) for k, v in inputs.items()}).values
    words = {k: np.floor(v.astype(np.float64) * FORMAT.one + 0.5).astype(np.int64) for k, v in inputs.items()}
    fixed = evaluate_fixed(graph, FORMAT, words)
    assert [shown for shown, _ in graph.results] == list(function.results)
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor], expected[shown], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(fixed.values[tensor] / FORMAT.one, expected[shown], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("pes", [4, 16])
@pytest.mark.parametrize("name", sorted(REFERENCES.keys() - NOT_YET))
def test_the_machine_computes_the_same_words(name: str, pes: int) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    template = Options(pes=pes).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    sizes = bind_sizes(function, {tensor: array.shape for tensor, array in inputs.items()})
    agree(run_passes(lower(function, sizes, number_format=words), words), template, words, samples=3)


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_the_rest_is_refused_with_its_place(name: str) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    with pytest.raises(TablaError) as caught:
        lowered(function, inputs)
    assert caught.value.hint and caught.value.file == f"{name}.tc"


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
        ("def f(float(N) A) -> (B) { B(i) = A(i) B(i) = 2.0 where i in 0:2 }", "this overwrites a part of 'B'"),
        ("def f(float(N) A) -> (B) { B(i) = A(i) * 1e9 }", "does not fit"),
        ("def f(float(N) A) -> (B) { B(i) = erf(A(i)) }", "'erf' does not run on the machine"),
        ("def f(float(N) A) -> (B) { B(i) = A(i * i) where i in 0:2 }", "this subscript does not run"),
        ("def f(float(N) A) -> (B) { B(i) = float(i % 2) * A(i) }", "this integer arithmetic does not run"),
        ("def f(float(N) A) -> (B) { B(i) = A(i) where i in 7:9 }", "9 <= 5 does not hold"),
    ],
)
def test_refused(text: str, message: str) -> None:
    function = parse(Source.from_text(text)).function()
    with pytest.raises(TablaError) as caught:
        lowered(function, {"A": np.zeros(5)})
    assert message in str(caught.value) and caught.value.hint
