"""The format that is chosen for real data: its ranges are recomputed, and some things must not change the choice.

The problems are those of ``make bench-accuracy``. A few of them are quick, and all of them are slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the data sets come with scikit-learn")
if find_spec("statsmodels") is None:
    pytest.skip("three data sets come with statsmodels", allow_module_level=True)

from benchmarks.accuracy.problems import PROBLEMS, TEST_SHARE, Problem
from benchmarks.accuracy.trained import Trainer
from tabla.build.arrays import steps_of
from tabla.driver import build
from tabla.learn.auto_format import chosen_by, learning_judge
from tabla.learn.data.split import Split
from tabla.learn.format_choice import FormatChoice, survey
from tabla.learn.options import LearnOptions
from tabla.learn.train import Start
from tests.learn.recomputed_format import recomputed

Arrays = Mapping[str, np.ndarray]
QUICK = ("linear", "recommender", "linnerud")
SEED = 3


def some(names: tuple[str, ...] = QUICK) -> list[object]:
    """Return the problems as parameters of a test; those that are not named are slow."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.slow) for name in PROBLEMS]


def chosen(
    problem: Problem,
    *,
    width: int = 16,
    epochs: int = 1,
    start: Start | None = None,
    samples: Arrays | None = None,
    models: Arrays | None = None,
) -> FormatChoice:
    """Choose the format of a problem's training part, or of other samples or other initial models."""
    trainer = Trainer(problem=problem)
    start = start or trainer.start(SEED)
    training = start.ready.parts.training
    arrays = samples or training.arrays
    parts = replace(start.ready.parts, training=replace(training, arrays=arrays))
    start = replace(start, ready=replace(start.ready, parts=parts), models=models or start.models)
    found = survey(
        trainer.stages.lowered,
        steps_of(trainer.stages, arrays),
        start.models,
        count=start.steps,
        epochs=epochs,
    )
    options, made = replace(trainer.options, format=f"auto{width}"), partial(build, problem.program)
    return chosen_by(options, found, learning_judge(made, options, trainer.stages, start, LearnOptions(epochs=epochs)))[
        1
    ]


def test_the_script_is_short_and_knows_nothing_of_the_chooser() -> None:
    text = (Path(__file__).parent / "recomputed_format.py").read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    imported = re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE)
    assert {name for name in imported if name.startswith("tabla")} == {
        "tabla.graph.evaluate_float",
        "tabla.graph.graph",
    }


@pytest.mark.parametrize("name", some())
def test_recomputed_from_a_trace(name: str) -> None:
    """The chooser and a script that imports nothing of it agree on what every width needs if nothing saturates."""
    problem = PROBLEMS[name]
    trainer = Trainer(problem=problem)
    start = trainer.start(SEED)
    steps = steps_of(trainer.stages, start.ready.parts.training.arrays)
    for width in (10, 16):
        choice = chosen(problem, width=width, epochs=problem.epochs)
        again = recomputed(trainer.stages.lowered, steps, start.models, start.steps, problem.epochs, width)
        assert max(each.bits for each in choice.ranges) == again
        assert choice.tried[0].format.integer == min(again, width)


def unmoved(problem: Problem) -> Problem:
    """Return the problem with a learning rate at which the models stay where they are, as good as."""
    return replace(problem, learning_rate=2.0**-24)


def scaled_input(problem: Problem) -> str:
    return "u" if problem.source is None else "x"


@pytest.mark.parametrize("name", some())
def test_a_doubled_input_takes_one_bit_more(name: str) -> None:
    """Where the input, and what is linear in it, is by far the largest, each doubling takes a bit of the fraction."""
    problem = unmoved(PROBLEMS[name])
    trainer = Trainer(problem=problem)
    samples = steps_of(trainer.stages, trainer.start(SEED).ready.parts.training.arrays)
    tensor, found = scaled_input(problem), []
    for power in (7, 8, 9):
        choice = chosen(problem, width=32, samples={**samples, tensor: np.ldexp(samples[tensor], power)})
        bits = {each.name: each.bits for each in choice.ranges}
        found.append((max(bits.values()), bits[tensor]))
    assert np.diff(found, axis=0).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", some())
def test_a_standardised_input_may_have_any_scale(name: str) -> None:
    problem = PROBLEMS[name]
    if not problem.standardise:
        # A fixed scale, which is a power of two, is divided out again.
        source, scale = problem.source, problem.scale
        if source is None or scale is None:
            pytest.skip("ratings are not scaled")
        measured, target = source()
        other = replace(problem, source=lambda: (8 * measured, target), scale=8 * scale)
    else:
        assert problem.source is not None
        measured, target = problem.source()
        other = replace(problem, source=lambda: (np.ldexp(measured, 5), target))
    assert chosen(other).as_json() == chosen(problem).as_json()


@pytest.mark.parametrize("name", some())
def test_the_order_of_features_does_not_matter(name: str) -> None:
    """The initial models of the features are moved with them."""
    problem = PROBLEMS[name]
    trainer = Trainer(problem=problem)
    start = trainer.start(SEED)
    samples, tensor = steps_of(trainer.stages, start.ready.parts.training.arrays), scaled_input(problem)
    model, axis = ("U", 0) if tensor == "u" else ("w" if "w" in start.models else "w1", -1)
    order = np.random.default_rng(7).permutation(samples[tensor].shape[-1])
    first = chosen(problem)
    second = chosen(
        problem,
        samples={**samples, tensor: samples[tensor][..., order]},
        models={**start.models, model: np.take(start.models[model], order, axis=axis)},
    )
    assert (second.format, second.guard) == (first.format, first.guard)
    assert [each.bits for each in second.ranges] == [each.bits for each in first.ranges]
    assert [each.figure for each in second.tried] == pytest.approx([each.figure for each in first.tried])


def with_other_test_parts(problem: Problem) -> Iterator[Start]:
    """Yield what training starts from, with other numbers in the test part of the split: large ones, and zeros."""
    trainer = Trainer(problem=problem)
    data, test = problem.data(SEED)
    for number in (1e4, 0.0):
        if test is not None:
            other = {tensor: np.full_like(array, number) for tensor, array in test.items()}
            yield replace(trainer, problem=Replaced(problem=problem, arrays=(data, other))).start(SEED)
            continue
        tested = Split(test=TEST_SHARE, seed=SEED).indices(len(data["y"])).test
        changed = {tensor: array.copy() for tensor, array in data.items()}
        changed["x"][tested] = number
        if problem.kind == "values":
            changed["y"][tested] = number
        yield replace(trainer, problem=Replaced(problem=problem, arrays=(changed, None))).start(SEED)


class Replaced:
    """A problem with other data."""

    def __init__(self, problem: Problem, arrays: tuple[Arrays, Arrays | None]) -> None:
        self._problem, self._arrays = problem, arrays

    def data(self, seed: int) -> tuple[Arrays, Arrays | None]:
        return self._arrays

    def __getattr__(self, name: str) -> object:
        return getattr(self._problem, name)


@pytest.mark.parametrize("name", some())
def test_the_test_part_is_never_read(name: str) -> None:
    """Other numbers in the test part: the same choice, and the same models in the chosen format."""
    problem = PROBLEMS[name]
    first = Trainer(problem=problem).start(SEED)
    choice = chosen(problem)
    learner = Trainer(problem=problem, format=choice.format, guard=choice.guard)
    models = learner.learnt(first)
    for start in with_other_test_parts(problem):
        tested, before = start.ready.parts.test, first.ready.parts.test
        assert tested and before and any(not np.array_equal(tested.arrays[n], before.arrays[n]) for n in tested.arrays)
        assert chosen(problem, start=start).as_json() == choice.as_json()
        again = learner.learnt(start)
        assert all(np.array_equal(again[model], words) for model, words in models.items())
