"""A learning rate that is loaded: its words against integers by hand, and against programs compiled with each rate."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabla
from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import with_model_guard
from tabla.graph.rate import RATE, RuntimeRate
from tabla.graph.text import graph_text
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tests.linear_program import linear_text

Q6_10 = Format(integer=6, fraction=10)
FORMATS = (Q6_10, Format(integer=2, fraction=6), Format(integer=4, fraction=14), Format(integer=8, fraction=0))


def graph_of(rate: float, number: Format = Q6_10, *, loaded: bool = True, text: str | None = None) -> Graph:
    text = linear_text(3) if text is None else text
    return lower(parse(Source.from_text(text), {"mu": f"{rate:.12f}"}), number_format=number, runtime_rate=loaded)


def learnt(graph: Graph, number: Format, word: int | None, samples: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """The models after some samples, each the three words of x and that of y; they start from words of their own."""
    plan = FixedPlan.of(graph, number)
    start = {"w": np.array([40, -25, 7]), "b": np.array(3)}
    plan.load(start if word is None else {**start, RATE: np.array(word)})
    table = np.array(samples, dtype=np.int64)
    arrays = {"x": table[:, :3], "y": table[:, 3]}
    if graph.samples > 1:
        arrays = {name: array.reshape(-1, graph.samples, *array.shape[1:]) for name, array in arrays.items()}
    models = plan.run(arrays).models
    return {name: models[name].reshape(-1).tolist() for name in ("w", "b")}


def by_hand(number: Format, word: int, shift: int, samples: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Decision 23 in integers: the word of the rate times the error is a word, and the rest of the rate is a shift."""
    w, b, f = [40, -25, 7], 3, number.fraction

    def rounded(value: int, places: int) -> int:
        return number.saturate((value + (1 << places >> 1)) >> places)

    for *x, y in samples:
        h = rounded(sum(k * v for k, v in zip(w, x, strict=True)) + (b << f), f)
        e = number.saturate(h - y)
        t = rounded(word * e, f)
        # A negative shift scales the products, a positive one everything else.
        place, scale = f + max(0, shift), max(0, -shift)
        w = [rounded((k << place) - (t * v << scale), place) for k, v in zip(w, x, strict=True)]
        b = rounded((b << place) - (word * e << scale), place)
    return {"w": w, "b": [b]}


def words_in(number: Format) -> st.SearchStrategy[int]:
    return st.integers(number.lowest, number.highest)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Format, float, int, list[list[int]]]:
    number = draw(st.sampled_from(FORMATS))
    least = max(-number.fraction, -3)
    built = draw(st.floats(2.0**-6, 2.0**-least).filter(lambda rate: number.fraction or rate >= 0.01))
    samples = draw(st.lists(st.lists(words_in(number), min_size=4, max_size=4), min_size=1, max_size=5))
    return number, built, draw(words_in(number)), samples


@settings(max_examples=40, deadline=None)
@given(cases())
def test_every_word_of_the_rate_means_what_the_decision_says(case: tuple[Format, float, int, list[list[int]]]) -> None:
    number, built, word, samples = case
    graph = graph_of(built, number)
    assert graph.rate is not None
    assert learnt(graph, number, word, samples) == by_hand(number, word, graph.rate.shift, samples)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.501, 1.0),
    st.floats(0.501, 1.0),
    st.sampled_from([1, -1]),
    st.integers(-2, 5),
    st.integers(0, 1),
    st.integers(1, 2),
    st.lists(st.lists(words_in(Q6_10), min_size=4, max_size=4), min_size=4, max_size=4),
)
def test_a_loaded_rate_learns_as_a_compiled_one(
    first: float, second: float, sign: int, shift: int, guard: int, batch: int, samples: list[list[int]]
) -> None:
    """Rates of one power of two have one microcode, and each gives the words of a program that was compiled with it."""
    other = float(f"{sign * second * 2.0**-shift:.12f}")
    loaded = graph_of(sign * first * 2.0**-shift)
    compiled = graph_of(other, loaded=False)
    assert loaded.rate is not None
    word = loaded.rate.word(Fraction(f"{other:.12f}"), Q6_10)
    both = [minibatched(with_model_guard(graph, guard, Q6_10), batch) for graph in (loaded, compiled)]
    assert learnt(both[0], Q6_10, word, samples) == learnt(both[1], Q6_10, None, samples)


def test_a_rate_of_one_is_a_word_all_the_same() -> None:
    graph = graph_of(1.0)
    assert "w.next.t1 = mu*e" in graph_text(graph) and graph.tensors[RATE].role == "model"
    assert graph.rate == RuntimeRate(sign=1, shift=0, built=Fraction(1))
    samples = [[1000, -300, 20, 55], [17, 4, -900, 3000]]
    assert learnt(graph, Q6_10, 1 << 10, samples) == learnt(graph_of(1.0, loaded=False), Q6_10, None, samples)
    assert learnt(graph, Q6_10, 0, samples) == {"w": [40, -25, 7], "b": [3]}


def test_words_of_rates() -> None:
    rate = RuntimeRate(sign=1, shift=3, built=Fraction(1, 10))
    assert rate.word(0.1, Q6_10) == round(0.8 * 1024) and rate.word(0, Q6_10) == 0 and rate.word(-0.1, Q6_10) == -819
    assert rate.rate(rate.word(0.125, Q6_10), Q6_10) == Fraction(1, 8)
    assert rate.word(3.99, Q6_10) == round(3.99 * 8 * 1024)
    for wrong in (4.0, -4.1, 2.0**-15):
        with pytest.raises(TablaError, match=r"outside what the word of 'mu' holds: 0, or 0\.00012207 to 3\.99988"):
            rate.word(wrong, Q6_10)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(TablaError, match="is not finite"):
            rate.word(wrong, Q6_10)
    assert RuntimeRate(sign=-1, shift=0, built=Fraction(-1)).word(-0.5, Q6_10) == 512


WRONG = {
    "a.t": ("model_input x[2]; iterator i[0:2]; s = sum[i](x[i]);", "the program has no gradient"),
    "b.t": (linear_text(2).replace("gb = e;", "gb = e * mu;"), "'mu' is used as a value"),
    "c.t": (linear_text(2).replace("h = sum", "half = mu / 2;\nh = half * sum"), "'mu' is used as a value"),
    "d.tc": ("def f(float(N) a) -> (c) { c(n) = a(n) * 2.0 }\n", "does not learn"),
    "e.py": ("f", "updates no tensor"),
    "f.py": ("g", "has the rate 0.25 and the first one has 0.5"),
    "h.py": ("h", "'mu' is the name of the learning rate that is loaded"),
}
TILE = """\
from tabla.tile import *


def f(x):
    return x * 2


def g(x, w, v):
    update(w, x, 0.5)
    update(v, x, 0.25)


def h(mu, w):
    update(w, mu, 0.5)


def both(x, w, v):
    update(w, x, 0.5)
    update(v, x * w, 0.5)
"""


@pytest.mark.parametrize("file", WRONG)
def test_programs_whose_rate_cannot_be_loaded(file: str, tmp_path: Path) -> None:
    text, message = WRONG[file]
    tile = file.endswith(".py")
    (tmp_path / file).write_text(TILE if tile else text, encoding="utf-8")
    shapes = {name: (3,) for name in {"f": "x", "g": "xwv", "h": ("mu", "w")}[text]} if tile else {}
    options = {"shapes": shapes, "sizes": {"N": 3} if file.endswith(".tc") else {}}
    source = f"{tmp_path / file}:{text}" if tile else str(tmp_path / file)
    with pytest.raises(TablaError, match=message):
        tabla.compile(source, pes=2, effort=0, runtime_rate=True, **options)


def test_a_loaded_rate_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "a.t").write_text(linear_text(2), encoding="utf-8")
    tabla.compile(tmp_path / "a.t", pes=2, effort=0, results=("mu",))
    with pytest.raises(TablaError, match="the result 'mu' would stay as it is compiled"):
        tabla.compile(tmp_path / "a.t", pes=2, effort=0, results=("mu",), runtime_rate=True)


def test_steps_of_one_rate_share_its_word(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(TILE, encoding="utf-8")
    shapes = {name: (3,) for name in "xwv"}
    x = {"x": np.array([[1.0, -2.0, 0.5]]), "w": np.ones(3), "v": np.zeros(3)}
    found = {}
    for loaded in (False, True):
        build = tabla.compile(f"{tmp_path / 'both.py'}:both", pes=2, effort=0, shapes=shapes, runtime_rate=loaded)
        found[loaded] = build.simulate(x).arrays
        assert set(found[loaded]) == {"w", "v"}
    np.testing.assert_array_equal(found[True]["w"], found[False]["w"])
    np.testing.assert_array_equal(found[True]["v"], [-0.5, 1.0, -0.25])
    faster = build.simulate({**x, "mu": 1.0}).arrays
    np.testing.assert_array_equal(faster["w"], [0, 3, 0.5])
    np.testing.assert_array_equal(faster["v"], [-1, 2, -0.5])


def test_float64_learns_by_the_rate_that_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.t").write_text(linear_text(2), encoding="utf-8")
    random = np.random.default_rng(2)
    data = {"x": random.normal(size=(5, 2)), "y": random.normal(size=5), "w": np.zeros(2), "b": np.zeros(())}
    loaded = tabla.compile(tmp_path / "a.t", pes=2, effort=0, runtime_rate=True)
    built = tabla.compile(tmp_path / "a.t", pes=2, effort=0, learning_rate="0.0625")
    ours, theirs = (loaded.evaluate({**data, "mu": 0.0625}, float64=True), built.evaluate(data, float64=True))
    np.testing.assert_allclose(ours["w"], theirs["w"], rtol=1e-14)
    plain = loaded.evaluate(data, float64=True)
    assert not np.allclose(plain["w"], ours["w"])
