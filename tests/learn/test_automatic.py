"""What judges a number format: what a program learns in it, or how far its results are from float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.compiled.machine import available
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.evaluate import FixedPlan
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format
from tabla.learn import auto_format
from tabla.learn.auto_format import for_inputs, for_learning, held_back, trial_size
from tabla.learn.data.dataset import Data
from tabla.learn.format_choice import FormatChoice
from tabla.learn.options import LearnOptions

Arrays = Mapping[str, np.ndarray]
LOGISTIC = """
m = 4; mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
INFER = LOGISTIC.replace("gradient g[m] -> w; ", "").partition("e = h")[0]
NOTHING_COMPARED = """
m = 4; mu = 0.125;
model_input x[m]; model w[m]; gradient g[m] -> w; iterator i[0:m];
g[i] = w[i] - x[i];
"""
RATINGS = """
k = 5; mu = 0.25;
model_input x[k]; model_output y; model w[k]; gradient g[k] -> w; iterator i[0:k];
h = sum[i](w[i] * x[i]);
e = h - y;
g[i] = e * x[i];
"""


def data(count: int = 60) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(5)
    x = chance.normal(0, 1, (count, 4))
    return {"x": x, "y": (x @ [1, -2, 3, 0.5] > 0).astype(float)}


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Callable[[Options], Build]]:
    def made(text: str) -> Callable[[Options], Build]:
        file = tmp_path / "model.t"
        file.write_text(text)
        return partial(build, file)

    return made


def chosen(made: Callable[[Options], Build], arrays: Arrays, *, epochs: int = 3, **options: Any) -> FormatChoice:
    found = for_learning(made, Options(**options), Data(arrays), LearnOptions(epochs=epochs))[1]
    assert found is not None
    return found


def test_the_loss_is_that_of_samples_that_were_not_learnt(program: Callable[..., Any]) -> None:
    """The figures of all formats once more, by hand: a fifth held back, by numpy's permutation of the seed 0."""
    made, arrays = program(LOGISTIC), data()
    choice = chosen(made, arrays, format="auto8", epochs=3)
    order = np.random.default_rng(0).permutation(60)
    judging, rest = np.sort(order[:12]), np.sort(order[12:])
    assert choice.held_back == 12 and len(choice.tried) > 4
    for each in choice.tried:
        stages = made(Options(format=str(each.format), model_guard=each.guard))
        graph, number = stages.lowered, each.format
        plan = FixedPlan.of(graph, number)

        def words(rows: np.ndarray, number: Format = number) -> dict[str, np.ndarray]:
            nearest = {name: np.floor(array[rows] * number.one + 0.5) for name, array in arrays.items()}
            return {n: np.clip(a, number.lowest, number.highest).astype(np.int64) for n, a in nearest.items()}

        plan.load({"w": np.full(4, 1 << each.guard >> 1)})
        for _ in range(3):
            models = plan.run(words(rest)).models
        learnt = plan.counts().overflows
        # Nothing learns while the loss is measured: each sample starts from the same models.
        decided, overflows = [], 0
        for row in judging:
            plan.load(models)
            run = plan.run(words(np.array([row])), ["h"])
            decided.append(run.kept["h"][0] / number.one)
            by_statement = zip(graph.statements, run.counts.overflows_by_statement, strict=True)
            overflows += sum(n for s, n in by_statement if s.target in ("h", "h.t1"))
        assert each.figure == pytest.approx(np.mean((np.array(decided) - arrays["y"][judging]) ** 2), rel=1e-12)
        outside = sum(int((np.abs(a) > 2.0 ** (number.integer - 1)).sum()) for a in arrays.values())
        assert each.saturated == learnt + overflows + outside, str(each.format)
    real = FloatPlan.of(made(Options(format="q16.16")).lowered)
    real.load({"w": np.zeros(4)})
    for _ in range(3):
        weights = real.run({name: array[rest] for name, array in arrays.items()}).models["w"]
    error = 1 / (1 + np.exp(-arrays["x"][judging] @ weights)) - arrays["y"][judging]
    assert choice.reference == pytest.approx(np.mean(error**2))


def rare_column() -> dict[str, np.ndarray]:
    """Three classes that five columns tell apart, and one column that is 0 nearly everywhere, and then very large."""
    chance = np.random.default_rng(7)
    kinds = chance.integers(0, 3, 400)
    x = chance.normal(0, 0.5, (400, 6)) + np.eye(3, 6)[kinds] * 2
    x[:, 5] = np.where(chance.random(400) < 0.01, 60.0, 0.0)
    return {"x": x, "y": np.eye(3)[kinds]}


@pytest.mark.parametrize("width", [pytest.param(8, marks=pytest.mark.slow), 10])
def test_a_rare_large_value_does_not_take_the_fraction(width: int) -> None:
    """A network learns as well as in float64; in the format in which nothing saturates it learns nothing."""
    made = partial(build, EXAMPLES["backprop"].program)
    arrays = rare_column()
    about = {"defines": {"m": 6, "hidden": 8, "classes": 3}, "learning_rate": 0.0625, "effort": 0, "pes": 4}
    options, choice = for_learning(
        made,
        Options(format=f"auto{width}", **about),  # type: ignore[arg-type]
        Data(arrays, split=0.25),
        LearnOptions(epochs=5),
    )
    assert choice is not None and choice.format.width == width
    widest = max(each.bits for each in choice.ranges)
    assert choice.format.integer < widest and choice.tried[0].format.integer == min(widest, width)
    trained = made(options).train(arrays, split=0.25, epochs=5)
    assert trained.score.test is not None
    reference = trained.reference[-1].test
    assert reference is not None and trained.score.test.metric > reference.metric - 0.02
    one = Options(format=str(choice.tried[0].format), model_guard=0, saturate=True, **about)  # type: ignore[arg-type]
    before = made(one).train(arrays, split=0.25, epochs=5)
    assert before.score.test is not None and before.score.test.metric < 0.6


def test_data_outside_of_a_chosen_format_saturates(program: Callable[..., Any]) -> None:
    made, arrays = program(LOGISTIC), data()
    arrays["x"][3, 0] = 200
    options, choice = for_learning(made, Options(format="auto8"), Data(arrays), LearnOptions(epochs=3))
    assert options.saturate and choice is not None and choice.tried[0].format == Format(integer=8, fraction=0)
    trained = made(options).train(arrays, epochs=3)
    assert trained.saturated >= 1 and trained.as_json()["saturated"] == trained.saturated
    assert f"saturated data          {trained.saturated} number" in trained.text(unicode=False)


@pytest.mark.skipif(not available(), reason="numba makes the machine code")
def test_machine_code_chooses_as_numpy_does(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for compiled in (False, True):
        kind = type("Fixed", (), {"of": staticmethod(lambda *_, compiled=compiled: Evaluators(compiled=compiled))})
        monkeypatch.setattr(auto_format, "Evaluators", kind)
        found.append(chosen(program(LOGISTIC), data(), format="auto8"))
    assert found[0].format == found[1].format and found[0].guard == found[1].guard
    assert found[0].tried == found[1].tried


def test_samples_that_learn_nothing_of_each_other_judge_themselves(program: Callable[..., Any]) -> None:
    """Each sample has a model of its own. What is held back says nothing, so the loss is that of all samples."""
    arrays = {"x": np.eye(5), "y": np.linspace(1, 2, 5)}
    choice = chosen(program(RATINGS), arrays, format="auto8", epochs=20)
    assert choice.held_back == 5 and choice.reference is not None and choice.reference < 1e-4


def test_too_few_samples_judge_themselves() -> None:
    for count, minibatch in ((1, 1), (2, 1), (10, 9)):
        ((rows, others),) = held_back(count, minibatch)
        assert list(rows) == list(others) == list(range(count))
    (rows, others), _ = held_back(10, 8)
    assert (len(rows), len(others)) == (8, 2) and not set(rows) & set(others)


def test_a_trial_is_short(program: Callable[..., Any]) -> None:
    graph = program(LOGISTIC)(Options(format="q6.10")).lowered
    assert trial_size(graph, 300, 5) == (300, 5)
    assert trial_size(graph, 1_000_000, 1) == (4096, 1)
    samples, epochs = trial_size(graph, 1_000_000, 10_000)
    assert samples == 500 and 1 <= epochs < 1000


def test_results_are_judged_by_the_largest_relative_error(program: Callable[..., Any]) -> None:
    """Of a program that does not learn, relative to the largest result."""
    made, given = program(INFER), {"x": data()["x"], "w": np.array([0.5, -1, 1.5, 0.25])}
    _, choice = for_inputs(made, Options(format="auto10"), Data(given), LearnOptions())
    assert choice is not None and choice.reference is None and choice.judged == "largest relative error"
    assert {each.guard for each in choice.tried} == {0} and choice.held_back == 60
    real = 1 / (1 + np.exp(-given["x"] @ given["w"]))
    for each in choice.tried:
        found = made(Options(format=str(each.format), saturate=True)).evaluate(given)["h"]
        assert each.figure == pytest.approx(np.abs(found - real).max() / real.max(), rel=1e-12)
    assert choice.format == min(choice.tried, key=lambda each: each.figure).format


def test_a_program_that_compares_nothing_is_judged_by_its_models(program: Callable[..., Any]) -> None:
    made, arrays = program(NOTHING_COMPARED), {"x": data()["x"]}
    choice = chosen(made, arrays, format="auto10")
    assert choice.judged == "largest relative error" and {each.guard for each in choice.tried} == {0, 4, 8}
    assert choice.guard > 0, "small steps need guard bits"


def test_positions_are_compared_as_positions() -> None:
    """In q2.14 the positions 0 to 4 are integers, and as right as in q5.11."""

    def rank(X):  # type: ignore[no-untyped-def]
        from tabla.tile import argsort

        return argsort(X)

    x = np.random.default_rng(0).normal(size=5)
    choice = tabla.compile(rank, shapes={"X": (5,)}, inputs={"X": x}, format="auto16", pes=2).format_choice
    assert choice is not None and {each.figure for each in choice.tried} == {0.0}
    assert Format(integer=2, fraction=14) in {each.format for each in choice.tried}
