"""The simulated hardware learns the words that the evaluation learns, on real data for every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.host.engines.cxxrtl_run import available
from tests.sklearn.real_data import PROBLEMS, Problem

EPOCHS = 2


def hold(problem: Problem, engine: str, first: int | None = None, epochs: int = EPOCHS) -> Any:
    """Fit in the evaluation and on an engine, and compare every word. Return the first estimator."""
    inputs, labels = problem.samples()
    inputs, labels = inputs[:first], labels[:first]
    ours = problem.estimator(max_iter=epochs).fit(inputs, labels)
    theirs = problem.estimator(max_iter=epochs, engine=engine).fit(inputs, labels)
    assert (theirs.format_, theirs.model_guard_) == (ours.format_, ours.model_guard_)
    assert set(theirs.models_) == set(ours.models_)
    for name, array in ours.models_.items():
        assert array.any() and np.array_equal(theirs.models_[name], array), name
    # The losses follow from the decision values of every sample.
    assert theirs.loss_curve_ == ours.loss_curve_ and len(ours.loss_curve_) == epochs
    assert theirs.overflows_ == ours.overflows_
    return ours


def test_the_cycle_model_learns_the_same_words() -> None:
    hold(PROBLEMS[3], "model", first=24)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_the_verilog_learns_the_same_words(problem: Problem) -> None:
    if not available():
        pytest.skip("needs cxxrtl")
    hold(problem, "cxxrtl")


def test_overflows_are_counted_alike() -> None:
    problem = Problem(name="LinearRegression", data="diabetes", parameters=(("format", "q2.10"),))
    inputs, labels = problem.samples()
    narrow = {"learning_rate_init": 0.5, "max_iter": 1}
    with pytest.warns(UserWarning, match=r"values of . are outside of the range of q2\.10"):
        ours = problem.estimator(**narrow).fit(inputs[:20], labels[:20])
    with pytest.warns(UserWarning, match=r"values of . are outside of the range of q2\.10"):
        theirs = problem.estimator(engine="model", **narrow).fit(inputs[:20], labels[:20])
    assert ours.overflows_ == theirs.overflows_ > 0


def test_the_simulator_predicts_what_the_estimator_predicts() -> None:
    """The decision value of the first sample, on the accelerator that holds the learnt models."""
    problem = PROBLEMS[2]
    inputs, labels = problem.samples()
    model = problem.estimator(max_iter=2).fit(inputs[:60], labels[:60])
    stored = (inputs[:1] - model.input_mean_) / model.input_scale_
    build = model.build_
    found = build.evaluate({"x": stored, "y": np.ones((1, 1)), "decay": np.zeros(1), **model.models_})
    assert np.array_equal(found["h"][0], model.decision_function(inputs[:1]))
