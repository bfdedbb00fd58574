"""Functions that every notation makes alike: powers by constants, soft plus, and limits that no word reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tabla.base.source import Source, TablaError
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.verify import verify
from tabla.languages.kernel.evaluate import evaluate as evaluate_kernel
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.kernel.parser import parse as parse_kernel
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.lower import lower as lower_tabla
from tabla.languages.tc import parse as parse_tc
from tabla.languages.tc.evaluate import evaluate as evaluate_tc
from tabla.languages.tc.lower import lower as lower_tc
from tabla.languages.tile import edsl, trace
from tabla.languages.tile.lower import lower as lower_tile
from tabla.tile import TensorIndex, TensorOutput, exp, gradient, log, max, min, softplus

FORMATS = [Format.parse(text) for text in ("q6.10", "q8.16", "q7.1")]
EXPONENTS = (0, 1, -1, -2, -3, 2, 4, 10, 16, 17, 20, 1000, 1001, 0.5, -0.5, 1.5, -1.5, 2.5)
COMPOSED = sorted(name for name, function in COMPOSED_FUNCTIONS.items() if function.arity == 1)
Words = NDArray[np.int64]


def tc(value: str, fmt: Format, count: int = 1) -> Graph:
    function = parse_tc(Source.from_text(f"def f(double(N) a) -> (y) {{ y(i) = {value} }}", "f.tc")).function()
    graph = lower_tc(function, {"N": count}, number_format=fmt)
    verify(graph)
    return graph


def tile(function: Callable[[Any], Any], fmt: Format, count: int = 1) -> Graph:
    graph = lower_tile(trace(function, {"a": (count,)}, {}), number_format=fmt)
    verify(graph)
    return graph


def kernel(value: str, fmt: Format, count: int = 1) -> Graph:
    text = f"input a[{count}]: real; value y[{count}]: real; y[i] = {value} for i in 0:{count}; return y;"
    graph = lower_kernel(parse_kernel(Source.from_text(text), "f"), number_format=fmt)
    verify(graph)
    return graph


def tabla(value: str, fmt: Format, count: int = 1) -> Graph:
    text = f"model_input a[{count}]; iterator i[0:{count}]; o[i] = {value};"
    graph = lower_tabla(parse_tabla(Source.from_text(text, "f.t")), number_format=fmt, results=["o"])
    verify(graph)
    return graph


def words_of(graph: Graph, fmt: Format, words: Words) -> Words:
    given = {tensor.name: words for tensor in graph.tensors.values() if tensor.role == "input"}
    found = evaluate_fixed(graph, fmt, given).values[graph.results[0][1]]
    return np.broadcast_to(np.asarray(found), words.shape)


def some_words(fmt: Format) -> Words:
    """The corners of a format, and many words of every size."""
    chance = np.random.default_rng(5)
    corners = [0, 1, 2, fmt.one // 2, fmt.one - 1, fmt.one, fmt.one + 1, 2 * fmt.one, fmt.highest]
    drawn = chance.integers(fmt.lowest, fmt.highest + 1, 400)
    return np.concatenate([corners, np.negative(corners), [fmt.lowest], drawn, drawn >> chance.integers(1, 8, 400)])


def allowed(a: NDArray[np.float64], exponent: float, unit: float) -> NDArray[np.float64]:
    """How far a power may lie from the real one: each product and each root is half a unit off at most.

    A power is a product of n factors f, that are exact or off by half a unit, and perhaps a root r, off by the same.
    """
    factor = np.abs(a) if exponent > 0 else 1 / np.abs(a)
    whole, half = divmod(abs(exponent), 1)
    error = np.zeros_like(a)
    if whole:
        error = unit * whole * np.maximum(factor, 1) ** (whole - 1)
    if half:
        root = np.sqrt(factor)
        # The reciprocal of a root is off by what the root is off, times the square of the reciprocal.
        off = unit / 2 if exponent > 0 else unit / 2 * (1 + factor)
        error = root * error + factor**whole * off + error * off + unit / 2
    return error * 1.01 + unit / 2


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_by_constants(fmt: Format, exponent: float) -> None:
    words = some_words(fmt)
    if exponent % 1:
        words = words[words >= 0]
    if exponent < 0:
        words = words[words != 0]
    found = words_of(tc(f"pow(a(i), {exponent})", fmt, len(words)), fmt, words)
    assert np.array_equal(found, words_of(tile(lambda a: a**exponent, fmt, len(words)), fmt, words))
    a = words / fmt.one
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        real = np.clip(a**exponent, fmt.lowest / fmt.one, fmt.highest / fmt.one)
        assert (np.abs(found / fmt.one - real) <= allowed(a, exponent, 1 / fmt.one)).all()


@pytest.mark.parametrize(
    ("exponent", "a", "power"),
    [
        (-1, -0.8125, -1.2305),
        (-2, -32.0, 0.00098),
        (10, 1.25, 9.313),
        (10, -0.5, 0.00098),
        (4, -1.4142, 4.0),
        (0.5, 0, 0),
    ],
)
def test_powers_that_were_wrong(exponent: float, a: float, power: float) -> None:
    fmt = FORMATS[0]
    words = np.array([round(a * fmt.one)])
    for graph in (tc(f"pow(a(i), {exponent})", fmt), tile(lambda a: a**exponent, fmt)):
        assert words_of(graph, fmt, words)[0] / fmt.one == pytest.approx(power, abs=0.005)


def test_a_power_of_a_constant_that_no_product_makes() -> None:
    """The exponent is taken as exactly as a word of all bits allows: 0.1 is no word of q6.10."""
    fmt = FORMATS[0]
    words = np.arange(1, fmt.highest, 7)
    found = words_of(tc("pow(a(i), 0.1)", fmt, len(words)), fmt, words)
    assert np.array_equal(found, words_of(tile(lambda a: a**0.1, fmt, len(words)), fmt, words))
    assert np.abs(found - fmt.one * (words / fmt.one) ** 0.1).max() < 1.8


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("name", COMPOSED)
def test_a_composed_function_is_one_function(name: str, fmt: Format) -> None:
    """Texts of kernels, Tile, and Tensor Comprehensions where they have it, which round to the nearest otherwise."""
    words = some_words(fmt)
    found = words_of(kernel(f"{name}(a[i])", fmt, len(words)), fmt, words)
    made = getattr(edsl, {"round_even": "round"}.get(name, name))
    assert np.array_equal(found, words_of(tile(lambda a: made(a), fmt, len(words)), fmt, words))
    if name != "round_even":
        assert np.array_equal(found, words_of(tc(f"{name}(a(i))", fmt, len(words)), fmt, words))
    if name in ("floor", "ceil", "round_even"):
        real = COMPOSED_FUNCTIONS[name].reals(words / fmt.one)
        assert np.array_equal(found, np.clip(real * fmt.one, fmt.lowest, fmt.highest))


@pytest.mark.parametrize("name", ["floor", "ceil", "round_even"])
def test_a_program_that_learns_has_no_rounding(name: str) -> None:
    text = f"input x: real; model w: real; value g: real; g = {name}(w * x); update w -= 0.5 * g;"
    with pytest.raises(TablaError, match=f"{name} in a program that learns does not run on the machine yet") as caught:
        lower_kernel(parse_kernel(Source.from_text(text), "k"), number_format=FORMATS[0])
    assert caught.value.hint and caught.value.labels


def test_integers_of_kernels_have_bits_in_float_evaluation_alone() -> None:
    text = "input n[4]: integer; value y[4]: real; "
    text += "y[i] = real(shift_left(bit_and(n[i], bit_not(6)), 2) + bit_xor(5, 3)) for i in 0:4; return y;"
    program = parse_kernel(Source.from_text(text), "k")
    n = np.array([-9, 0, 7, 255])
    assert evaluate_kernel(program, {"n": n})["y"].tolist() == (((n & ~6) << 2) + (5 ^ 3)).tolist()
    with pytest.raises(TablaError, match="'shift_left' of integers does not run on the machine") as caught:
        lower_kernel(program, number_format=FORMATS[0])
    assert "eval --float" in str(caught.value.hint)
    with pytest.raises(TablaError, match="'bit_not' is given real"):
        parse_kernel(Source.from_text(text.replace("bit_not(6)", "integer(real(bit_not(6.0)))")), "k")


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_soft_plus_is_one_function(fmt: Format) -> None:
    words = some_words(fmt)
    found = words_of(tc("softplus(a(i))", fmt, len(words)), fmt, words)
    assert np.array_equal(found, words_of(tile(lambda a: softplus(a), fmt, len(words)), fmt, words))
    assert np.array_equal(found, words_of(tabla("softplus(a[i])", fmt, len(words)), fmt, words))
    real = np.minimum(np.logaddexp(0, words / fmt.one) * fmt.one, fmt.highest)
    assert np.abs(found - real).max() < 1.1


def test_soft_plus_of_reals_and_constants() -> None:
    function = parse_tc(Source.from_text("def f(double(N) a) -> (y) { y(i) = softplus(a(i)) }")).function()
    a = np.array([-800.0, -1.0, 0.0, 2.0, 800.0])
    assert np.array_equal(evaluate_tc(function, {"a": a})["y"], np.logaddexp(0, a))
    graph = tabla("a[i] * softplus(0)", FORMATS[0])
    assert words_of(graph, FORMATS[0], np.array([1024]))[0] == round(1024 * np.log(2))


def test_the_slope_of_soft_plus_is_a_sigmoid() -> None:
    def sloped(a: Any) -> Any:
        total: Any = TensorOutput()
        total[()] += softplus(a)[TensorIndex()]
        return gradient(total, [a])[0]

    fmt = FORMATS[0]
    words = np.arange(fmt.lowest, fmt.highest, 99)
    found = words_of(tile(sloped, fmt, len(words)), fmt, words)
    assert np.abs(found - fmt.one / (1 + np.exp(-words / fmt.one))).max() < 1


def test_a_name_of_the_program_hides_soft_plus() -> None:
    text = "def softplus(float(N) x) -> (y) { y(i) = x(i) } def f(float(N) a) -> (b) { b = softplus(a) }"
    assert set(parse_tc(Source.from_text(text)).functions) == {"softplus", "f"}
    parse_tc(Source.from_text("def f(float(N) softplus) -> (y) { y(i) = softplus(i) }"))


def test_soft_plus_is_named_where_it_is_written_out() -> None:
    fmt = FORMATS[0]
    told = "log(1 + exp(x)) saturates above x = 3.47 in q6.10; softplus(x) does not"
    assert tc("log(1.0 + exp(a(i)))", fmt).notes == (f"f.tc:1:29: {told}",)
    assert tabla("2 * log(exp(-a[i]) + 1)", fmt).notes == (f"f.t:1:43: {told}",)
    (note,) = tile(lambda a: log(1 + exp(a)), fmt).notes
    assert note.endswith(told)
    quiet = [
        tc("softplus(a(i))", fmt),
        tc("log(1 + exp(-fabs(a(i))))", fmt),
        tc("log(2 + exp(a(i)))", fmt),
        tc("log(1 - exp(a(i)))", fmt),
        tabla("log(1 + exp(-abs(a[i])))", fmt),
        tile(lambda a: softplus(-a), fmt),
    ]
    assert not any("softplus" in note for graph in quiet for note in graph.notes)


@pytest.mark.parametrize("number", ["1000", "128"])
def test_limits_that_no_word_reaches(number: str) -> None:
    fmt = FORMATS[1]
    words = some_words(fmt)
    for value in ("fmin(a(i), L)", "max(a(i), -L)", "min(L, a(i))", "fmax(-L, a(i))"):
        assert np.array_equal(words_of(tc(value.replace("L", f"{number}.0"), fmt, len(words)), fmt, words), words)
    for value in (f"min(a[i], {number})", f"max(-{number}, a[i])", f"min(max(a[i], 0 - {number}), {number})"):
        assert np.array_equal(words_of(tabla(value, fmt, len(words)), fmt, words), words)
    limit = float(number)
    function = tile(lambda a: max(min(a, limit), -limit), fmt, len(words))
    assert np.array_equal(words_of(function, fmt, words), words)


def test_a_limit_of_integers_that_no_word_reaches() -> None:
    fmt = FORMATS[0]
    text = "def f(int32(N) a) -> (y) { y(i) = min(a(i), 32768) + max(-32769, a(i)) - min(a(i), 32767) }"
    graph = lower_tc(parse_tc(Source.from_text(text)).function(), {"N": 3}, number_format=fmt)
    words = np.array([-32768, 0, 32767])
    assert np.array_equal(words_of(graph, fmt, words), words)


@pytest.mark.parametrize("value", ["fmin(a(i), -1000.0)", "fmax(a(i), 1000.0)"])
def test_limits_that_every_word_has_passed(value: str) -> None:
    with pytest.raises(TablaError, match=r"1000 does not fit q8\.16"):
        tc(value, FORMATS[1])
