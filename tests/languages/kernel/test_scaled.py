"""Constants that the format cannot hold: every word of the three notations against integers, and on the machine."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Constant, Divide, Graph, Linear
from tabla.graph.passes.pipeline import shaped
from tabla.graph.verify import verify
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.lower import lower as lower_tabla
from tabla.languages.tc import parse as parse_tc
from tabla.languages.tc.evaluate import evaluate as evaluate_tc
from tabla.languages.tc.lower import lower as lower_tc
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower as lower_tile
from tabla.program.encode import encode
from tabla.program.sizes import accumulator_bits
from tabla.templates.template import template_for
from tabla.tile import Tensor, TensorIndexes, TensorOutput
from tests.end_to_end.algorithms import hold_against_evaluation, need
from tests.graph.compiled.interpreted import without_compiler
from tests.graph.compiled.test_words import hold
from tests.languages.kernel.scaled_integers import Words
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)
FORMATS = [
    Format.parse(text) for text in ("q6.10", "q2.6", "q8.0", "q12.4", "q7.3", "q4.14", "q16.16", "q2.30", "q32.0")
]
SIZE = 6


def tabla(text: str, fmt: Format = Q6_10) -> Graph:
    graph = lower_tabla(parse_tabla(Source.from_text(text)), number_format=fmt)
    verify(graph)
    return graph


def tc(text: str, sizes: dict[str, int], fmt: Format = Q6_10) -> Graph:
    graph = lower_tc(parse_tc(Source.from_text(text)).function(), sizes, number_format=fmt)
    verify(graph)
    return graph


def results(graph: Graph, fmt: Format, arrays: dict[str, Any]) -> list[list[int]]:
    given_words = {name: np.asarray(array, dtype=np.int64) for name, array in arrays.items()}
    values = evaluate_fixed(graph, fmt, given_words).values
    return [np.atleast_1d(values[tensor]).tolist() for _, tensor in graph.results]


def literal(value: Fraction) -> str:
    return f"({value.numerator} / {value.denominator})"


@st.composite
def cases(draw: st.DrawFn) -> tuple[Format, Fraction, list[int], list[int]]:
    """A format, a constant outside of it that is neither too small nor too large, and two rows of words."""
    fmt = draw(st.sampled_from(FORMATS))
    small = st.integers(fmt.fraction + 1, fmt.width - 1)
    large = st.integers(-fmt.width + 2, -fmt.integer + 1) if fmt.fraction else small
    mantissa = Fraction(draw(st.sampled_from([2000, *range(1001, 2000)])), 2000)
    constant = mantissa * Fraction(2) ** -draw(small | large)
    assume(Words(fmt.integer, fmt.fraction).outside(constant))
    row = st.lists(st.integers(fmt.lowest, fmt.highest) | st.integers(-99, 99), min_size=SIZE, max_size=SIZE)
    return fmt, constant * draw(st.sampled_from([1, -1])), draw(row), draw(row)


HEAD = f"model_input x[{SIZE}], z[{SIZE}]; iterator i[0:{SIZE}];"
PRODUCTS = """
a[i] = x[i] * CONSTANT;
b[i] = z[i] - (CONSTANT) * (x[i] + z[i]);
c[i] = x[i] * z[i] * CONSTANT + 1;
d = sum[i](x[i]) * CONSTANT;
"""
QUOTIENTS = """
e[i] = x[i] / INVERSE;
f = sum[i](x[i]) / INVERSE;
g = sum[i](x[i] * z[i]) / INVERSE;
"""


def products(words: Words, constant: Fraction, x: list[int], z: list[int]) -> list[list[int]]:
    pairs = list(zip(x, z, strict=True))
    one = 1 << words.fraction
    return [
        [words.scaled([word], constant) for word in x],
        [words.word(b - (a + b) * words.taken(constant)) for a, b in pairs],
        [words.scaled_products([pair], constant, one) for pair in pairs],
        [words.scaled(x, constant)],
    ]


def quotients(words: Words, constant: Fraction, x: list[int], z: list[int]) -> list[list[int]]:
    total = words.scaled_products(list(zip(x, z, strict=True)), constant)
    return [[words.scaled([one], constant) for one in x], [words.scaled(x, constant)], [total]]


@settings(max_examples=100)
@given(cases())
def test_words_against_integers(case: tuple[Format, Fraction, list[int], list[int]]) -> None:
    fmt, constant, x, z = case
    words = Words(fmt.integer, fmt.fraction)
    text, expected = HEAD + PRODUCTS.replace("CONSTANT", literal(constant)), products(words, constant, x, z)
    # A quotient by what the format holds stays a quotient.
    if words.outside(1 / constant):
        text += QUOTIENTS.replace("INVERSE", literal(1 / constant))
        expected += quotients(words, constant, x, z)
    try:
        graph = tabla(text, fmt)
    except TablaError as fault:
        assert "rounds to zero" in str(fault) or "does not fit" in str(fault) or "saturates" in str(fault)
        _, shift = words.apart(constant)
        # The shift of a sum of products is at least -F, and 1 has to be a word.
        assert shift < -fmt.fraction or shift == fmt.width - 1 or fmt.integer == 1
        event("refused")
        return
    assert results(graph, fmt, {"x": x, "z": z}) == expected


def test_a_mean_of_1024_values() -> None:
    """The sum of 1,024 ones does not fit q6.10; their mean is 1, and that of 1,023 ones and a 2 is one place more."""
    graph = tc("def f(float(N) A) -> (O) { O() +=! A(i) / N }", {"N": 1024})
    for first, mean in ((1024, 1024), (2048, 1025), (1535, 1024), (1536, 1025)):
        assert results(graph, Q6_10, {"A": [first, *[1024] * 1023]}) == [[mean]]


def test_a_mean_of_a_sum_that_is_a_word() -> None:
    graph = tc("def f(float(N) S) -> (O) { O(i) = S(i) / 1024 }", {"N": 4})
    # 31.999, 0.5 and just below it, -0.5.
    assert results(graph, Q6_10, {"S": [32767, 512, 511, -512]}) == [[32, 1, 0, 0]]


def test_a_mean_in_two_statements() -> None:
    """The sum that its mean overwrites is not rounded; one that is read elsewhere is a word, which saturates."""
    head = "def f(float(N) A) -> (m, v, s) { m() +=! A(i) m() = m() / N "
    body = "v() +=! A(i) * A(i) v() = v() / N - m() * m() s() +=! A(i) s() = s() / N + 0.0 * s() }"
    graph = tc(head + body, {"N": 40})
    words = Words(6, 10)
    array = np.random.default_rng(7).integers(2000, 4000, 40).tolist()
    mean = words.scaled(array, Fraction(1, 40))
    square = words.scaled_products([(one, one) for one in array], Fraction(1, 40))
    variance = words.word(Fraction(square) - Fraction(mean * mean, 1024))
    assert results(graph, Q6_10, {"A": array}) == [[mean], [variance], [words.scaled([32767], Fraction(1, 40))]]
    agree(shaped(graph, Q6_10), template_for(4), Q6_10)


def test_the_three_notations_agree() -> None:
    def tile(A: Tensor) -> Tensor:
        return _sum(A) / 100

    traced = lower_tile(trace(tile, {"A": (100,)}, {}), number_format=Q6_10)
    kernel = tc("def f(float(N) A) -> (O) { O() +=! A(i) / N }", {"N": 100})
    text = tabla("m = 100; model_input A[m]; iterator i[0:m]; O = sum[i](A[i]) / m;")
    array = np.random.default_rng(5).integers(-9000, 9000, 100)
    mean = Words(6, 10).scaled(array.tolist(), Fraction(1, 100))
    for graph in (traced, kernel, text):
        assert results(graph, Q6_10, {"A": array}) == [[mean]]


@pytest.mark.parametrize("size", [2, 3, 8, 10, 16, 31, 32, 64, 100, 1000])
def test_a_mean_does_not_saturate_in_any_notation(size: int) -> None:
    """The mean of equal words is as exact as its constant, although their sum does not fit; that of threes is three."""

    def tile(A: Tensor) -> Tensor:
        return _sum(A) / size

    traced = lower_tile(trace(tile, {"A": (size,)}, {}), number_format=Q6_10)
    one = tc("def f(float(N) A) -> (O) { O() +=! A(i) O() = O() / N }", {"N": size})
    text = tabla(f"m = {size}; model_input A[m]; iterator i[0:m]; O = sum[i](A[i]) / m;")
    words = Words(6, 10)
    for word in (3072, 32767, -32768):
        means = [results(graph, Q6_10, {"A": np.full(size, word)})[0][0] for graph in (traced, one, text)]
        assert means == [words.scaled([word] * size, Fraction(1, size))] * 3
        assert word != 3072 or means[0] == word


def test_a_sum_is_not_rounded_before_a_constant_that_the_format_holds() -> None:
    """31.999 + 31.999 does not fit q6.10, and half of it does."""
    head = "model_input a, b;"
    for body, word in (
        ("y = 0.5 * (a + b);", 32767),
        ("y = (a + b) / 2;", 32767),
        ("y = (a + b - a) / 4;", 8192),
        ("y = 31 * (a - b);", 0),
        ("y = (a + 2) * 0.25;", 8704),
        ("y = 0.5 * (a + b) - b;", 0),
    ):
        assert results(tabla(head + body), Q6_10, {"a": 32767, "b": 32767}) == [[word]]
        kernel = f"def f(float a, float b) -> (y) {{ y() = {body[4:-1].replace('a', 'a()').replace('b', 'b()')} }}"
        assert results(tc(kernel, {}), Q6_10, {"a": 32767, "b": 32767}) == [[word]]


def test_a_chain_of_constants_that_would_vanish_rounds_between() -> None:
    """Constants are multiplied while the format holds their product; the sum below is a word of its own then."""
    text = "x"
    for _ in range(20):
        text = f"(0.5 * {text} + 1)"
    assert results(tabla(f"model_input x; y = {text};"), Q6_10, {"x": 0}) == [[2048]]


def test_a_multiple_of_a_sum_in_tile() -> None:
    """The sum is not rounded first where only its multiple is used; used twice, it is a word."""

    def once(A: Tensor) -> Tensor:
        return _sum(A) * 0.0001

    def twice(A: Tensor) -> tuple[Tensor, Tensor]:
        total = _sum(A)
        return total * 0.0001, total

    words, array = Words(6, 10), np.full(100, 5000)
    value = Fraction(0.0001)
    for function, wanted in ((once, [[words.scaled(array.tolist(), value)]]), (twice, [[3], [32767]])):
        traced = lower_tile(trace(function, {"A": (100,)}, {}), number_format=Q6_10)
        assert results(traced, Q6_10, {"A": array}) == wanted


def _sum(tensor: Tensor) -> Tensor:
    (i,) = TensorIndexes(1)
    output = TensorOutput(1)
    output[0] += tensor[i]
    return output


@pytest.mark.parametrize("ends", ["0:i+1", "i:N", "0:i"])
@pytest.mark.parametrize(
    "value", ["A(i) * A(k) * 0.0001", "(A(i) - 0.5) / 3000", "A(i) / 3000 + A(k) / 100", "A(i) * A(k) * 0.0001 + A(k)"]
)
def test_sums_of_scaled_products_over_dependent_ranges(value: str, ends: str) -> None:
    """The sum is a temporary: it runs over the points that the constraints leave, and its statement over no such."""
    text = f"def f(float(N) A) -> (O) {{ O(i) +=! {value} where i in 0:N, k in {ends} }}"
    fmt, given_reals = Format.parse("q12.20"), np.array([1.0, 5.0, -30.0, 31.0])
    kernel = parse_tc(Source.from_text(text)).function()
    (found,) = results(tc(text, {"N": 4}, fmt), fmt, {"A": given_reals * fmt.one})
    expected = evaluate_tc(kernel, {"A": given_reals})["O"]
    np.testing.assert_allclose(np.array(found) / fmt.one, expected, rtol=2e-3, atol=2e-5)


def test_quotients_by_constants_are_products() -> None:
    """31 is held, and 32 is not; both multiply. A quotient of two words is that of the function unit."""
    for divisor, kind in (("31", Linear), ("32", Linear), ("z", Divide)):
        (statement,) = tabla(f"model_input x, z; y = x / {divisor};").statements
        assert isinstance(statement.operation, kind)


SCALED_WORD = st.tuples(st.integers(1001, 15_999), st.sampled_from([1, -1]), st.integers(-32768, 32767))


@settings(max_examples=60)
@given(st.lists(SCALED_WORD, min_size=2, max_size=6), st.integers(1, 40_000))
def test_a_scaled_sum_is_within_its_bound(drawn: list[tuple[int, int, int]], scale: int) -> None:
    """Half a unit, and 2^-(W-5) of what each word adds to the sum, if no constant is below a sixteenth of another."""
    pairs = [(size * sign, word) for size, sign, word in drawn]
    size = len(pairs)
    inputs = ", ".join(f"x{n}" for n in range(size))
    body = " + ".join(f"({c} / 1000) * x{n}" for n, (c, _) in enumerate(pairs))
    ((word,),) = results(
        tabla(f"model_input {inputs}; y = ({body}) / {scale};"), Q6_10, {f"x{n}": x for n, (_, x) in enumerate(pairs)}
    )
    exact = sum(Fraction(c, 1000 * scale) * x for c, x in pairs)
    bound = Fraction(1, 2) + sum(abs(Fraction(c, 1000 * scale) * x) for c, x in pairs) / (1 << 11)
    assert abs(min(max(exact, -32768), 32767) - word) <= bound


CONSTANT = st.one_of(
    st.builds(Fraction, st.integers(1, 3000), st.sampled_from([1, 2, 3, 8, 10, 100, 1000, 1024])),
    st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(3, 4), Fraction(1, 1000), Fraction(7, 5)]),
    # Some of these are words without an error, and inexact at the place of a larger constant.
    st.builds(Fraction, st.integers(1, 63), st.sampled_from([512, 1024, 2048])),
)
SIGN = st.sampled_from([1, -1])


@st.composite
def sums(draw: st.DrawFn) -> tuple[Format, str, dict[str, int], int]:
    """A format, a sum in TABLA, the words of its inputs, and the word that the witness computes."""
    fmt = draw(st.sampled_from([Q6_10, Format.parse("q4.12"), Format.parse("q9.9"), Format.parse("q8.16")]))
    word = st.integers(fmt.lowest, fmt.highest) | st.integers(-2000, 2000)
    constant = CONSTANT.filter(lambda value: value != 1 and fmt.holds(value) and fmt.nearest(value) > 0)
    words = Words(fmt.integer, fmt.fraction)
    given_words: dict[str, int] = {}

    def named(value: int) -> str:
        given_words[f"x{len(given_words)}"] = value
        return f"x{len(given_words) - 1}"

    scaled = [(draw(constant) * draw(SIGN), draw(word)) for _ in range(draw(st.integers(1, 4)))]
    plain = [(draw(SIGN), draw(word)) for _ in range(draw(st.integers(0, 2)))]
    products = [(draw(SIGN), draw(word), draw(word)) for _ in range(draw(st.sampled_from([0, 0, 0, 1])))]
    added = draw(st.none() | st.builds(Fraction, st.integers(-700, 700), st.just(100)))
    assume(len(set(scaled)) == len(scaled))
    shown = {1: "+", -1: "-"}
    parts = [f"{shown[1 if c > 0 else -1]} {literal(abs(c))} * {named(x)}" for c, x in scaled]
    parts += [f"{shown[sign]} {named(x)}" for sign, x in plain]
    parts += [f"{shown[sign]} {named(a)} * {named(b)}" for sign, a, b in products]
    if added:
        # Two constants are one, also where neither is a word.
        parts += [f"{shown[1 if added > 0 else -1]} {literal(abs(added) / 3)}", f"+ {literal(added * 2 / 3)}"]
        parts[-1] = parts[-1].replace("+ (-", "- (")
    text = "0" + "".join(f" {part}" for part in draw(st.permutations(parts)))
    return fmt, text, given_words, words.sum_of(scaled, plain, products, added or None)


@settings(max_examples=150)
@given(sums())
def test_sums_with_constants_against_integers(drawn: tuple[Format, str, dict[str, int], int]) -> None:
    fmt, text, given_words, wanted = drawn
    graph = tabla(f"model_input {', '.join(given_words)}; y = {text};", fmt)
    assert results(graph, fmt, given_words) == [[wanted]]


def test_a_constant_that_the_format_holds_has_the_bits_of_a_word() -> None:
    """0.3 is 19661 / 2^16, and not 307 / 2^10, which is 0.07 % off; a constant that is a word stays at its place."""
    (inexact, exact) = tabla("model_input x; y = x * 0.3; z = x * 0.375;").statements
    assert isinstance(inexact.operation, Linear) and inexact.operation.shift == 6
    assert isinstance(exact.operation, Linear) and exact.operation.shift == 0
    assert results(tabla("model_input x; y = x * 0.3;"), Q6_10, {"x": 32767}) == [[9830]]


@pytest.mark.parametrize("text", ["q6.10", "q7.1", "q4.14"])
def test_a_choice_of_constants_is_one_of_their_words(text: str) -> None:
    """Also where the choice stands in a sum, and where neither constant is a word."""
    fmt = Format.parse(text)
    words = Words(fmt.integer, fmt.fraction)
    for one, other in (("0.3", "0.7"), ("1.9", "0.6"), ("0.0", "0.35")):
        kernel = f"def f(float(2) x) -> (y, z) {{ y(i) = x(i) > 0.0 ? {one} : {other} z(i) = 2.3 + max(x(i), {one}) }}"
        chosen = [words.word(Fraction(value) * fmt.one) for value in (one, other, "2.3")]
        found = results(tc(kernel, {}, fmt), fmt, {"x": [1, 0]})
        assert found == [chosen[:2], [chosen[2] + max(word, chosen[0]) for word in (1, 0)]]


def test_a_small_constant_that_is_a_word_keeps_its_bits_beside_a_large_one() -> None:
    """7/2048 is a word of q4.14 and inexact at the place of 194, which has 9 bits behind the point."""
    fmt = Format.parse("q4.14")
    words = {"a": -52165, "b": -9}
    graph = tabla("model_input a, b; y = b * -194 - a * 0.00341796875;", fmt)
    wanted = Words(fmt.integer, fmt.fraction).sum_of([(Fraction(-194), -9), (Fraction(-7, 2048), -52165)])
    assert results(graph, fmt, words) == [[wanted]] == [[1924]]


def test_constants_are_added_and_multiplied_exactly() -> None:
    """In q7.1 -0.75 is -0.5 as a word and 0.75 is 1."""
    fmt = Format.parse("q7.1")
    for text, word in (
        ("x - (-0.75)", 6),
        ("x + 0.75", 6),
        ("x - 0.75", 3),
        ("x + (-0.75)", 3),
        ("x + 0.3 + 0.2", 5),
        ("x + 100 - 99.5", 5),
        ("x * 0.3 * 10", 12),
        ("x * 0.01 * 100", 4),
    ):
        kernel = f"def f(float x) -> (y) {{ y() = {text.replace('x', 'x()')} }}"
        for graph in (tabla(f"model_input x; y = {text};", fmt), tc(kernel, {}, fmt)):
            assert results(graph, fmt, {"x": 4}) == [[word]], text


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_of_indices(op: str) -> None:
    """Indices up to 99 are compared as integers, also with numbers between them and beyond them, and with words."""
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}
    for number in ("50", "49.5", "1000", "0 - 3"):
        text = f"m = 100; model_input x; iterator i[0:m]; y[i] = i {op} ({number});"
        value = eval(number)  # a number that this test wrote
        index = np.arange(100)
        wanted = compare[op](index, value) if op in compare else index != value
        assert results(tabla(text), Q6_10, {"x": 0}) == [(wanted * 1024).tolist()]


def test_indices_as_factors() -> None:
    graph = tabla(
        "m = 100; model_input x[m]; iterator i[0:m]; y[i] = x[i] * i; z[i] = i / m; s = sum[i](x[i] * (i / m));"
    )
    x = np.random.default_rng(6).integers(-400, 400, 100)
    words = Words(6, 10)
    table = [words.word(Fraction(1024 * i) * words.taken_by_index(Fraction(1, 100))) for i in range(100)]
    wanted = [
        [words.word(Fraction(int(a) * i)) for i, a in enumerate(x)],
        table,
        [words.word(Fraction(sum(int(a) * b for a, b in zip(x, table, strict=True)), 1024))],
    ]
    assert results(graph, Q6_10, {"x": x}) == wanted


def test_remarks() -> None:
    notes = tabla("model_input x; y = x / 100; z = x / 1024; a = x * 0.0001; b = x * a / 100; c = x * a / 50;").notes
    assert [note.partition(": ")[2] for note in notes] == [
        "1/100 becomes 0.01000022888 in q6.10, 0.0023 % off",
        "0.0001 becomes 0.0001000016928 in q6.10, 0.0017 % off",
        "1/50 becomes 0.02000045776 in q6.10, 0.0023 % off",
    ]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("s = sum[i](x[i]); y = s / 16;", True),
        ("s = sum[i](x[i] * x[i]); y = s / 16 + s / 8;", True),
        ("s = x[0] + x[1]; y = (s / 2) * 3;", True),
        ("y = sum[i](x[i]) / 16;", False),
        ("s = sum[i](x[i]); y = s / 16 + s;", False),
        ("s = sum[i](x[i]); t = s; y = s / 16 + t;", False),
        ("s = 0.25 * x[0] + 0.5 * x[1]; y = s / 16;", False),
        ("s = sum[i](x[i]); z = s / 0.5; y = z;", False),
        ("s = sum[i](x[i]); y = s / x[0];", False),
    ],
)
def test_a_named_sum_that_is_only_divided_is_told(body: str, named: bool) -> None:
    notes = tabla(f"model_input x[16]; iterator i[0:16]; {body}").notes
    told = [note for note in notes if "may saturate" in note]
    assert len(told) == named
    assert not named or "'s' is a word of q6.10, so it may saturate at 31.99902344 before it is divided by" in told[0]


@pytest.mark.parametrize("text", ["y = x + 40;", "y = x * 1e9;", "y = x / 1e9;", "y = 40 / x;", "y = x > 40;"])
def test_refused(text: str) -> None:
    with pytest.raises(TablaError, match=r"does not fit|rounds to zero"):
        tabla(f"model_input x; {text}")


LEARNING = """
m = 40; mu = 0.03;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
a = sum[i](x[i] - 1) / m;
b = sum[i](x[i] * w[i]) / m;
h = sum[i](w[i] * x[i] * (i < 35));
d = (h - y) * (1 / 3000) + 0.00015 * a + b;
g[i] = d * x[i] + w[i] * 0.0002;
"""
KERNEL = """
def f(float(N, K) A) -> (O, P) {
  O(n) +=! A(n, k) / 100
  P(n, k) = (A(n, k) - O(n)) * 0.0003 + float(k) / 40
}
"""


@pytest.mark.parametrize(
    "text", ["q6.10", *(pytest.param(t, marks=pytest.mark.slow) for t in ("q7.6", "q16.0", "q12.4"))]
)
def test_on_the_machine(text: str) -> None:
    """Learning needs five shifts; the machine has four."""
    fmt = Format.parse(text)
    for graph in (tabla(LEARNING, fmt), tc(KERNEL, {"N": 3, "K": 40}, fmt)):
        agree(shaped(graph, fmt), template_for(4), fmt)


def test_an_index_in_an_update() -> None:
    text = "m = 40; mu = 0.03; model_input x[m]; model w[m]; gradient g[m] -> w; iterator i[0:m];"
    for step in ("s * i", "i * x[i]"):
        graph = tabla(f"{text} s = sum[i](x[i] * w[i]); g[i] = {step};")
        agree(shaped(graph, Q6_10), template_for(4), Q6_10)
        (_, update) = (s.operation for s in graph.statements if s.target.startswith("w.next"))
        assert isinstance(update, Linear) and update.shift == 4


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler(monkeypatch)
    for text in ("q6.10", "q2.30", "q7.6"):
        hold(tabla(LEARNING, Format.parse(text)), Format.parse(text), 3)


@pytest.mark.slow
def test_in_icarus() -> None:
    need("icarus")
    hold_against_evaluation(shaped(tabla(LEARNING), Q6_10), "icarus", 3, Q6_10, samples=2, seed=4)


MANY_PLACES = """
m = 8; mu = 0.03; model_input x[m], z[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
a = sum[i](x[i]) / 100;
b = z[0] + 0.3 * a; c = z[1] + 0.07 * x[1]; d = z[2] + 0.013 * x[2]; e = z[3] + 0.0021 * x[3];
h = sum[i](w[i] * x[i]) + 17 * b / 3 + c - d + e + z[4] + 0.0003 * x[4] + z[5] + 5 * x[5] / 3;
g[i] = (h - y) * x[i] + 0.01 * w[i] + z[i] / 31;
"""


@pytest.mark.slow
def test_seven_places_in_hardware() -> None:
    graph = shaped(tabla(MANY_PLACES), Q6_10)
    assert len(agree(graph, template_for(4), Q6_10).shifts) == 7
    hold_against_evaluation(graph, "amaranth", 3, Q6_10, samples=2, seed=4)


def test_an_accumulator_counts_the_places_of_addends_alone() -> None:
    """Sums over 1000 are rounded at place 24. A word that is added to one begins there, and costs bits."""
    head = "m = 16; model_input x[m], z; iterator i[0:m];"
    widths = []
    for text in ("y = sum[i](x[i]);", "y = sum[i](x[i]) / 1000;", "y = sum[i](x[i]) / 1000 + z;"):
        parameters = encode(agree(shaped(tabla(head + text), Q6_10), template_for(4), Q6_10)).parameters
        widths.append(parameters.accumulator)
    assert widths == [accumulator_bits(16, {10}, 16)] * 2 + [accumulator_bits(16, {24}, 17)]


def test_a_constant_times_a_word_costs_what_it_did() -> None:
    """As many cycles as the product with a constant that the format holds."""
    for one, other in (("x[i] * 0.5", "x[i] * 0.0001"), ("z[i] + 0.5 * x[i]", "z[i] + 0.0001 * x[i]")):
        made = [
            agree(
                shaped(tabla(f"m = 16; model_input x[m], z[m]; iterator i[0:m]; y[i] = {body};"), Q6_10),
                template_for(4),
                Q6_10,
            )
            for body in (one, other)
        ]
        assert made[0].cycles == made[1].cycles and made[0].latency == made[1].latency


def test_constants_are_words() -> None:
    """All constants of a lowered graph fit the format, and none rounds to zero."""
    for statement in tabla(LEARNING).statements:
        for operand in statement.operands:
            if isinstance(operand, Constant) and operand.value:
                assert Q6_10.holds(operand.value) and Q6_10.nearest(operand.value)
