"""`evaluate` against the naive interpreter, against arithmetic done by hand, and against itself in other ways."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.evaluate import FixedPlan, evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Divide, Graph, Linear, Ordinal, Product, Term
from tabla.graph.words import to_real, to_words
from tests.graph.examples import Builder, at, backpropagation, logistic, word
from tests.graph.examples import product as times
from tests.graph.graph_strategy import graphs, words
from tests.graph.naive import Element, Naive, elements
from tests.graph.runs import evaluate_float, run_fixed, run_float

FORMATS = [Format.parse(text) for text in ("q2.6", "q6.10", "q16.16", "q2.30", "q24.8")]
Q6_10 = Format.parse("q6.10")


def naive_of(graph: Graph, fmt: Format, arrays: dict[str, np.ndarray]) -> Naive:
    """The interpreter after one sample."""
    held: dict[Element, int] = {}
    for name, array in arrays.items():
        for element in elements(name, graph.tensors[name].shape):
            held[element] = int(array[element[1]])
    naive = Naive(graph=graph, format=fmt, words=held)
    naive.run()
    return naive


@settings(max_examples=300, deadline=None)
@given(graph=graphs(), fmt=st.sampled_from(FORMATS), seed=st.integers(0, 1 << 30))
def test_agrees_with_the_naive_interpreter(graph: Graph, fmt: Format, seed: int) -> None:
    inputs, models = words(graph, fmt, seed)
    naive = naive_of(graph, fmt, inputs | models)
    found = evaluate_fixed(graph, fmt, inputs, models)
    for (name, position), expected in naive.words.items():
        assert found.values[name][position] == expected, f"{name}{list(position)} in {fmt}"
    for (name, position), expected in naive.next.items():
        assert found.models[name][position] == expected
    counts = found.counts
    assert (counts.overflows, counts.domain_errors, counts.updates, counts.zero_updates) == (
        naive.overflows,
        naive.domain_errors,
        naive.updates,
        naive.zero_updates,
    )


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), fmt=st.sampled_from(FORMATS), seed=st.integers(0, 1 << 30))
def test_many_samples_are_one_after_the_other(graph: Graph, fmt: Format, seed: int) -> None:
    samples, models = words(graph, fmt, seed, samples=3)
    keep = [name for _, name in graph.results]
    run = run_fixed(graph, fmt, samples, models, keep=keep)
    overflows = 0
    for sample in range(3):
        one = evaluate_fixed(graph, fmt, {name: array[sample] for name, array in samples.items()}, models)
        models = dict(one.models)
        overflows += one.counts.overflows
        for name in keep:
            assert np.array_equal(run.kept[name][sample], one.values[name])
    assert all(np.array_equal(run.models[name], models[name]) for name in models)
    assert run.counts.overflows == overflows


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), seed=st.integers(0, 1 << 30))
def test_float_is_what_wide_words_come_near(graph: Graph, seed: int) -> None:
    """Words that are small integers, in statements that keep them so, mean the same in float64."""
    fmt = Format.parse("q16.16")
    exact = [s for s in graph.statements if isinstance(s.operation, Linear) and s.operation.shift == 0]
    # Only first statements: everything that they read is an input or a model.
    exact = [s for s in exact if all(graph.tensors[r.tensor].role in ("input", "label", "model") for r in s.reads)]
    whole = [s for s in exact if all(not isinstance(o, Constant) or o.value.denominator <= 2 for o in s.operands)]
    part = replace(graph, statements=tuple(replace(s, id=n) for n, s in enumerate(whole)), updates={}, results=())
    random = np.random.default_rng(seed)
    given = {
        n: random.integers(-8, 9, t.shape) for n, t in graph.tensors.items() if t.role in ("input", "label", "model")
    }
    fixed = evaluate_fixed(part, fmt, *[{n: np.asarray(a * fmt.one) for n, a in given.items()}] * 2)
    reals = evaluate_float(part, *[{n: a.astype(np.float64) for n, a in given.items()}] * 2)
    assert all(np.array_equal(to_real(fixed.values[n], fmt), reals.values[n]) for n in part.tensors)


def test_products_that_are_subtracted_round_ties_up_too() -> None:
    b = Builder()
    b.tensor("x", "input")
    b.tensor("up", "value")
    b.tensor("down", "value")
    half = Constant(value=Fraction(1, 2))
    b.let("up", "", Linear(terms=(Term(factors=(at("x"), half)),)))
    b.let("down", "", Linear(terms=(Term(factors=(at("x"), half), sign=-1),)))
    found = evaluate_fixed(b.graph("ties", {}), Q6_10, {"x": np.array(3)})
    assert [int(found.values[name]) for name in ("up", "down")] == [2, -1]


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("extent", [1, 3, 70_000])
def test_sums_of_extreme_words_do_not_wrap(fmt: Format, extent: int) -> None:
    """Whatever the way of adding, the exact sum saturates; alternating signs cancel exactly."""
    b = Builder()
    b.tensor("x", "input", extent)
    b.tensor("same", "value")
    b.tensor("none", "value")
    b.let("same", "", Linear(terms=(times(at("x", "i"), at("x", "i"), "i"),)), "i", i=extent)
    pair = (times(at("x", "i"), at("x", "i"), "i"), times(at("x", "i"), at("x", "i"), "i", -1))
    b.let("none", "", Linear(terms=pair), "i", i=extent)
    found = evaluate_fixed(b.graph("extremes", {}), fmt, {"x": np.full(extent, fmt.lowest)})
    assert [int(found.values[name]) for name in ("same", "none")] == [fmt.highest, 0]
    assert found.counts.overflows_by_statement == (1, 0)


@pytest.mark.parametrize("shift", [-30, -3, 0, 1, 20, 40])
def test_every_way_of_adding_gives_the_same_words(shift: int) -> None:
    """Large shifts need Python integers, middling ones two limbs: the naive interpreter judges all."""
    fmt = Format.parse("q2.30")
    b = Builder()
    b.tensor("x", "input", 5)
    b.tensor("w", "model", 5)
    b.tensor("w.next", "next", 5)
    step = (word(at("w", "i")), times(at("x", "i"), at("x", "i"), sign=-1), word(at("x", "i"), -1))
    b.let("w.next", "i", Linear(terms=step, shift=shift), i=5)
    graph = b.graph("shifts", {"w": "w.next"})
    for seed in range(20):
        inputs, models = words(graph, fmt, seed)
        naive = naive_of(graph, fmt, inputs | models)
        found = evaluate_fixed(graph, fmt, inputs, models)
        assert found.models["w"].tolist() == [naive.next["w", (i,)] for i in range(5)]
        assert (found.counts.zero_updates, found.counts.overflows) == (naive.zero_updates, naive.overflows)


def test_gradient_that_rounds_to_nothing_is_counted() -> None:
    graph = logistic(3, shift=9)
    inputs = {"x": np.array([1, Q6_10.one, 0]), "y": np.array(0)}
    models = {"w": np.array([5, 6, 7])}
    found = evaluate_fixed(graph, Q6_10, inputs, models)
    assert found.models["w"].tolist() == [5, 5, 7], "x = 1 ulp changes nothing, x = 0 has nothing to change"
    assert (found.counts.updates, found.counts.zero_updates) == (3, 1)


def test_the_smallest_change_of_wide_words_is_a_change() -> None:
    """Two products need two limbs; what they add is in the lower one. The word stays, and that is counted."""
    b = Builder()
    b.tensor("x", "input", 2)
    b.tensor("w", "model", 2)
    b.tensor("w.next", "next", 2)
    square = times(at("x", "i"), at("x", "i"))
    b.let("w.next", "i", Linear(terms=(word(at("w", "i")), square, square)), i=2)
    fmt = Format.parse("q16.16")
    found = evaluate_fixed(b.graph("small", {"w": "w.next"}), fmt, {"x": np.array([1, 0])}, {"w": np.array([9, 9])})
    assert found.models["w"].tolist() == [9, 9]
    assert (found.counts.updates, found.counts.zero_updates) == (2, 1)


@pytest.mark.parametrize(
    ("own", "after"),
    [(word(at("w", "i"), -1), [90, 30]), (Term(factors=(at("w", "i"),), reduce=("k",)), [130, 430])],
    ids=["negated", "repeated"],
)
def test_only_the_plain_word_is_what_an_update_adds_to(own: Term, after: list[int]) -> None:
    b = Builder()
    b.tensor("x", "input", 2)
    b.tensor("w", "model", 2)
    b.tensor("w.next", "next", 2)
    b.let("w.next", "i", Linear(terms=(own, word(at("x", "i")))), "k" * bool(own.reduce), i=2, k=3)
    found = evaluate_fixed(
        b.graph("own", {"w": "w.next"}), Q6_10, {"x": np.array([100, 130])}, {"w": np.array([10, 100])}
    )
    assert found.models["w"].tolist() == after


def test_large_ordinals_do_not_wrap() -> None:
    """-128 to -125 times the most negative word add up to more than 64 bits hold."""
    fmt = Format.parse("q8.24")
    b = Builder()
    b.tensor("x", "input")
    b.tensor("r", "value")
    largest = Ordinal(value=Affine.of(-128, i=1))
    b.let("r", "", Linear(terms=(Term(factors=(largest, at("x")), reduce=("i",)),)), "i", i=4)
    assert evaluate_fixed(b.graph("ordinals", {}), fmt, {"x": np.array(fmt.lowest)}).values["r"] == fmt.highest


def test_elements_without_update_keep_their_words() -> None:
    b = Builder()
    b.tensor("w", "model", 4)
    b.tensor("w.next", "next", 4)
    step = (word(at("w", "i")), Term(factors=(Constant(value=Fraction(1)),)))
    b.let("w.next", "i", Linear(terms=step), i=2)
    graph = b.graph("partial", {"w": "w.next"})
    run = run_fixed(graph, Q6_10, {}, {"w": np.arange(4)}, count=3, keep=["w.next"])
    assert run.models["w"].tolist() == [3072, 3073, 2, 3]
    assert run.kept["w.next"][0].tolist() == [1024, 1025, 2, 3]


def test_an_update_may_take_its_own_word_more_than_once() -> None:
    b = Builder()
    b.tensor("w", "model")
    b.tensor("w.next", "next")
    own = word(at("w"))
    b.let("w.next", "", Linear(terms=(own, own, Term(factors=own.factors, sign=-1))))
    run = run_fixed(b.graph("twice", {"w": "w.next"}), Q6_10, {}, {"w": np.array(-118)}, count=2)
    assert run.models["w"] == -118


def test_constant_tensors_are_loaded_with_the_models() -> None:
    b = Builder()
    b.tensor("c", "constant", 2)
    b.tensor("x", "input")
    b.tensor("r", "value", 2)
    b.let("r", "i", Linear(terms=(times(at("c", "i"), at("x")),)), i=2)
    graph = replace(b.graph("g", {}), words={"c": np.array([3, 4])})
    found = run_fixed(graph, Q6_10, {"x": np.array([2048, 1024])}, {}, keep=["r"])
    assert found.kept["r"].tolist() == [[6, 8], [3, 4]]
    assert not found.models


def test_products_round_at_each_step_in_index_order() -> None:
    b = Builder()
    b.tensor("x", "input", 2, 3)
    b.tensor("p", "value")
    b.let("p", "", Product(operand=at("x", "a", "b"), reduce=("a", "b")), "ab", a=2, b=3)
    x = np.random.default_rng(1).integers(-2000, 2000, (2, 3))
    word = Q6_10.one
    for a, b_ in product(range(2), range(3)):
        word = Q6_10.saturate((word * int(x[a, b_]) + 512) >> 10)
    assert evaluate_fixed(b.graph("pi", {}), Q6_10, {"x": x}).values["p"] == word


def test_training_comes_near_the_float_reference() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (200, 8))
    samples = {"x": x, "y": (x @ random.normal(size=8) > 0).astype(float)}
    start = {"w": np.zeros(8)}
    graph = logistic(8)
    fmt = Format.parse("q6.18")
    fixed = run_fixed(graph, fmt, {n: to_words(a, fmt) for n, a in samples.items()}, {"w": to_words(start["w"], fmt)})
    reals = run_float(graph, samples, start)
    assert to_real(fixed.models["w"], fmt) == pytest.approx(reals.models["w"], abs=1e-3)
    assert np.abs(reals.models["w"]).max() > 0.5


def test_backpropagation_moves_as_its_gradient_says() -> None:
    """Finite differences of the squared error, with the layers' float64 evaluation."""
    graph = backpropagation(3, 4, 2, shift=0)
    random = np.random.default_rng(4)
    sample = {"x": random.normal(size=3), "y": random.uniform(size=2)}
    models = {"w1": random.normal(size=(4, 3)), "w2": random.normal(size=(2, 4))}
    after = evaluate_float(graph, sample, models).models

    def output(w1: np.ndarray) -> np.ndarray:
        hidden = 1 / (1 + np.exp(-w1 @ sample["x"]))
        return np.asarray(1 / (1 + np.exp(-models["w2"] @ hidden)))

    # The example takes cross entropy at the output: its derivative is p - y before the last sigmoid.
    def loss(w1: np.ndarray) -> float:
        p = output(w1)
        return float(-np.sum(sample["y"] * np.log(p) + (1 - sample["y"]) * np.log(1 - p)))

    nudge = np.zeros((4, 3))
    nudge[1, 2] = 1e-6
    slope = (loss(models["w1"] + nudge) - loss(models["w1"] - nudge)) / 2e-6
    assert (models["w1"] - after["w1"])[1, 2] == pytest.approx(slope, rel=1e-5)


def test_division_by_zero_and_its_side() -> None:
    b = Builder()
    b.tensor("x", "input", 3)
    b.tensor("q", "value", 3)
    b.let("q", "i", Divide(left=at("x", "i"), right=Constant(value=Fraction(0))), i=3)
    found = evaluate_fixed(b.graph("division", {}), Q6_10, {"x": np.array([-1, 0, 1])})
    assert found.values["q"].tolist() == [Q6_10.lowest, Q6_10.highest, Q6_10.highest]
    assert (found.counts.domain_errors, found.counts.overflows) == (3, 0)


def test_constants_that_do_not_fit_are_refused() -> None:
    for operand in (Constant(value=Fraction(32)), Ordinal(value=Affine.of(30, i=1))):
        b = Builder()
        b.tensor("q", "value", 3)
        b.let("q", "i", Linear(terms=(Term(factors=(operand,)),)), i=3)
        with pytest.raises(TablaError, match=r"does not fit the format q6\.10"):
            FixedPlan.of(b.graph("large", {}), Q6_10)


def test_arrays_that_do_not_match_are_refused() -> None:
    graph = logistic(3)
    one = {"x": np.zeros(3, dtype=np.int64), "y": np.array(0)}
    with pytest.raises(TablaError, match="no values given for 'w'"):
        evaluate_fixed(graph, Q6_10, one)
    with pytest.raises(TablaError, match="'w' has shape 4, the program says 3"):
        evaluate_fixed(graph, Q6_10, one, {"w": np.zeros(4, dtype=np.int64)})
    with pytest.raises(TablaError, match="'x' has shape 3, the program says 3"):
        run_fixed(graph, Q6_10, one, {"w": np.zeros(3, dtype=np.int64)})
    with pytest.raises(TablaError, match=r"different numbers of samples: \[2, 4\]"):
        samples = {"x": np.zeros((2, 3), dtype=np.int64), "y": np.zeros(4, dtype=np.int64)}
        run_fixed(graph, Q6_10, samples, {"w": np.zeros(3, dtype=np.int64)})
