"""The compiled fixed-point evaluation against the one in numpy: every word and every count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.compiled.plans import CompiledFixedPlan, Evaluators
from tabla.graph.compiled.program import in_place, words_program
from tabla.graph.compiled.text import UnsupportedError
from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.graph.functions import FUNCTIONS
from tabla.graph.graph import Affine, Constant, Divide, Function, Gather, Gathered, Graph, Linear, Read, Term
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import with_model_guard
from tests.graph.compiled.interpreted import without_compiler
from tests.graph.examples import Builder, at, logistic, word
from tests.graph.examples import product as times
from tests.graph.graph_strategy import graphs, words
from tests.languages.tabla.random_programs import programs
from tests.schedule.test_random_programs import lowered

FORMATS = [Format.parse(text) for text in ("q2.6", "q6.10", "q5.13", "q16.16", "q2.30", "q24.8")]


@pytest.fixture(scope="module")
def slowly() -> Iterator[None]:
    """Texts are run by Python, which takes no time to compile them."""
    with pytest.MonkeyPatch.context() as patch:
        without_compiler(patch)
        yield


def hold(graph: Graph, fmt: Format, seed: int, samples: int = 3) -> None:
    """Both evaluations give the same models, kept tensors and counts, in two runs that follow each other."""
    given, models = words(graph, fmt, seed, samples)
    chance = np.random.default_rng(seed)
    for name, array in models.items():  # guard bits, which are 0 in most programs
        guard = graph.tensors[name].guard
        models[name] = (array << guard) + chance.integers(0, 1 << guard, array.shape)
    judge = FixedPlan.of(graph, fmt)
    try:
        plan = CompiledFixedPlan.of(graph, fmt)
    except UnsupportedError:
        assume(False)
        raise
    judge.load(models)
    plan.load(models)
    for keep in ((), tuple(graph.tensors)):
        expected, found = judge.run(given, keep, samples), plan.run(given, keep, samples)
        assert found.counts == expected.counts
        for name in graph.tensors if keep else ():
            assert np.array_equal(found.kept[name], expected.kept[name]), name
        assert found.models.keys() == expected.models.keys()
        for name, array in expected.models.items():
            assert np.array_equal(found.models[name], array), name


@settings(max_examples=300)
@given(graph=graphs(), fmt=st.sampled_from(FORMATS), seed=st.integers(0, 1 << 30))
def test_random_graphs(slowly: None, graph: Graph, fmt: Format, seed: int) -> None:
    hold(graph, fmt, seed)


@settings(max_examples=60)
@given(programs(), st.sampled_from(FORMATS), st.integers(1, 3), st.integers(0, 1 << 20))
def test_random_programs(slowly: None, text: str, fmt: Format, size: int, seed: int) -> None:
    hold(minibatched(lowered(text, fmt), size), fmt, seed)


@settings(max_examples=60)
@given(programs(), st.sampled_from(FORMATS), st.integers(1, 8), st.integers(1, 2), st.integers(0, 1 << 20))
def test_random_programs_with_guard_bits(
    slowly: None, text: str, fmt: Format, guard: int, size: int, seed: int
) -> None:
    try:
        graph = with_model_guard(lowered(text, fmt), guard, fmt)
    except TablaError:  # more than the format allows
        assume(False)
        raise
    hold(minibatched(graph, size), fmt, seed)


@pytest.mark.parametrize("fmt", ["q4.8", "q5.19"])
def test_wide_models_of_the_examples(slowly: None, fmt: str) -> None:
    """Rows, functions and updates in place, of models that are also read; and two limbs."""
    for name in ("backprop2", "recommender"):
        made = build(EXAMPLES[name].program, Options(format=fmt, model_guard=6, effort=0))
        hold(made.lowered, made.format, seed=1, samples=3)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_examples(slowly: None, name: str) -> None:
    for fmt in ("q6.10", "q5.27"):
        made = build(EXAMPLES[name].program, Options(format=fmt))
        assert Evaluators.of(made.lowered, made.format, steps=10**9).note == ""
        hold(made.lowered, made.format, seed=1, samples=2)


@pytest.mark.parametrize("fmt", [Format.parse("q2.6"), Format.parse("q2.30"), Format.parse("q32.0")], ids=str)
@pytest.mark.parametrize("extent", [1, 3, 70_000])
def test_sums_of_extreme_words(slowly: None, fmt: Format, extent: int) -> None:
    """The square of the lowest word, many times: beyond 2^63 in formats of 32 bits, and saturated in all."""
    b = Builder()
    b.tensor("x", "input", extent)
    b.tensor("same", "value")
    b.tensor("none", "value")
    square = times(at("x", "i"), at("x", "i"), "i")
    b.let("same", "", Linear(terms=(square,)), "i", i=extent)
    b.let("none", "", Linear(terms=(square, replace(square, sign=-1))), "i", i=extent)
    plan = CompiledFixedPlan.of(b.graph("extremes", {}), fmt)
    plan.load({})
    found = plan.run({"x": np.full((1, extent), fmt.lowest)}, ["same", "none"])
    assert [int(found.kept[name][0]) for name in ("same", "none")] == [fmt.highest, 0]
    assert found.counts.overflows_by_statement == (1, 0)


@pytest.mark.parametrize("fmt", [Format.parse("q2.6"), Format.parse("q2.30"), Format.parse("q16.16")], ids=str)
@pytest.mark.parametrize("shift", [-6, -3, 0, 1, 20, 25])
def test_updates_at_every_scale(slowly: None, fmt: Format, shift: int) -> None:
    """Large shifts need two limbs; steps that change no word, and words that saturate at each step, are counted."""
    b = Builder()
    b.tensor("x", "input", 5)
    b.tensor("w", "model", 5)
    b.tensor("w.next", "next", 5)
    step = (word(at("w", "i")), times(at("x", "i"), at("x", "i"), sign=-1), word(at("x", "i"), -1))
    b.let("w.next", "i", Linear(terms=step, shift=shift), i=5)
    for seed in range(5):
        hold(b.graph("shifts", {"w": "w.next"}), fmt, seed, samples=7)


def test_what_two_limbs_do_not_hold_is_left_to_numpy() -> None:
    graph = logistic(3, shift=40)
    with pytest.raises(UnsupportedError, match=r"the sums of 'w\.next' need more than two limbs"):
        CompiledFixedPlan.of(graph, Format.parse("q2.30"))
    chosen = Evaluators.of(graph, Format.parse("q2.30"), steps=10**9)
    assert chosen.note == "numpy evaluates this program, because the sums of 'w.next' need more than two limbs"
    assert isinstance(chosen.fixed(graph, Format.parse("q2.30")), FixedPlan)


def test_a_model_that_is_read_after_its_update_keeps_its_word_until_the_end(slowly: None) -> None:
    """The second update reads the first model, and the first reads its neighbour: neither can be made in place."""
    b = Builder()
    b.tensor("x", "input", 4)
    for model in "wvu":
        b.tensor(model, "model", 4)
        b.tensor(f"{model}.next", "next", 4)
    shifted = Read(tensor="w", subscripts=(Affine.of(1, i=1),))
    b.let("w.next", "i", Linear(terms=(word(at("w", "i")), times(at("x", "i"), shifted))), i=3)
    b.let("v.next", "i", Linear(terms=(word(at("v", "i")), times(at("x", "i"), at("w", "i")))), i=4)
    b.let("u.next", "i", Linear(terms=(word(at("u", "i")), times(at("x", "i"), at("u", "i")))), i=4)
    graph = b.graph("order", {m: f"{m}.next" for m in "wvu"})
    assert set(in_place(graph)) == {"v", "u"}
    for seed in range(5):
        hold(graph, Format.parse("q6.10"), seed, samples=4)


def test_positions_outside_a_tensor_are_the_users_fault(slowly: None) -> None:
    b = Builder()
    b.tensor("t", "input", 3)
    b.tensor("x", "input", 4)
    b.tensor("r", "value", 3)
    b.let("r", "i", Gather(tensor="x", subscripts=(Gathered(table=at("t", "i"), offset=Affine.of(1)),)), i=3)
    graph, fmt = b.graph("gather", {}), Format.parse("q6.10")
    x = np.arange(8).reshape(2, 4)
    plan, judge = CompiledFixedPlan.of(graph, fmt), FixedPlan.of(graph, fmt)
    for each in (plan, judge):
        each.load({})
    samples = {"t": np.array([[0, 1, 2], [2, -1, 0]]), "x": x}
    assert plan.run(samples, ["r"]).kept["r"].tolist() == judge.run(samples, ["r"]).kept["r"].tolist()
    for bad in ([0, 3, -2], [-2, 0, 0]):
        said = []
        for each in (plan, judge):
            with pytest.raises(TablaError) as fault:
                each.run({"t": np.array([[0, 0, 0], bad]), "x": x})
            said.append(str(fault.value))
        assert said[0] == said[1]


def test_a_constant_outside_the_format_is_the_users_fault() -> None:
    b = Builder()
    b.tensor("x", "input")
    b.tensor("r", "value")
    b.let("r", "", Linear(terms=(Term(factors=(at("x"), Constant(value=Fraction(40)))),)))
    with pytest.raises(TablaError, match="the constant 40 does not fit"):
        CompiledFixedPlan.of(b.graph("constant", {}), Format.parse("q6.10"))


def test_sizes_rates_and_formats_share_a_text() -> None:
    texts = {
        words_program(logistic(features, rate=rate, shift=shift), Format.parse(fmt), ()).text
        for features, rate, shift, fmt in [
            (3, Fraction(3, 4), 3, "q6.10"),
            (784, Fraction(5, 7), 6, "q6.10"),
            (60, Fraction(3, 4), 1, "q5.13"),
            (60, Fraction(3, 4), 1, "q2.6"),
        ]
    }
    assert len(texts) == 1


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_functions_and_quotients_at_corners(slowly: None, fmt: Format) -> None:
    """Words at the ends, around powers of two, and one whose root float64 rounds up to a whole number."""
    powers = [sign * (1 << bit) + more for bit in range(fmt.width - 1) for sign in (1, -1) for more in (-1, 0, 1)]
    chance = np.random.default_rng(7).integers(fmt.lowest, fmt.highest + 1, 100).tolist()
    known = {fmt.saturate(word) for word in [*powers, *chance, fmt.lowest, fmt.highest, 0, (1 << 30) + 1]}
    x = np.array(sorted(known))
    b = Builder()
    for name in ("x", "y"):
        b.tensor(name, "input", len(x))
    names = [function.name for function in FUNCTIONS.values() if function.operands == 1]
    for name in (*names, "divide", "quotient"):
        b.tensor(name, "value", len(x))
    for name in names:
        b.let(name, "i", Function(name=name, operand=at("x", "i")), i=len(x))
    b.let("divide", "i", Divide(left=at("x", "i"), right=at("y", "i")), i=len(x))
    b.let("quotient", "i", Divide(left=at("x", "i"), right=at("y", "i"), fraction=fmt.fraction), i=len(x))
    graph = b.graph("functions", {})
    samples = {"x": np.stack([x, x, x]), "y": np.stack([np.roll(x, 1), x[::-1], np.full(len(x), -1)])}
    plan, judge = CompiledFixedPlan.of(graph, fmt), FixedPlan.of(graph, fmt)
    plan.load({})
    judge.load({})
    keep = [*names, "divide", "quotient"]
    found, expected = plan.run(samples, keep), judge.run(samples, keep)
    assert found.counts == expected.counts
    for name, array in expected.kept.items():
        assert np.array_equal(found.kept[name], array), name
