"""Which steps of a training run the accelerator repeats, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.learn.evaluated import CHECKED, Evaluated
from tests.graph.examples import logistic

Q6_10 = Format.parse("q6.10")
Words = np.ndarray


@dataclass
class Recorded:
    """An accelerator that evaluates in numpy, and keeps what it is given."""

    plan: FixedPlan
    wrong: bool = False
    cycles: int = 7
    latency: int = 30
    seen: list[int] = field(default_factory=list)

    def load(self, models: Mapping[str, Words]) -> None:
        self.plan.load(models)
        self._models = dict(models)

    def run(self, samples: Mapping[str, Words], count: int | None = None) -> dict[str, Words]:
        self.seen += samples["y"].tolist()
        shown = dict(self.plan.graph.results)
        ran = self.plan.run(samples, list(shown.values()))
        self._models = dict(ran.models)
        return {name: ran.kept[tensor] for name, tensor in shown.items()}

    def models(self) -> dict[str, Words]:
        return {name: array + self.wrong for name, array in self._models.items()}


def trained(count: int, epochs: int, block: int, *, wrong: bool = False) -> tuple[Evaluated, Recorded]:
    """Learn in blocks; the label of each step is its number, so that it can be told."""
    graph = logistic(3)
    machine = Recorded(FixedPlan.of(graph, Q6_10), wrong=wrong)
    learner = Evaluated(
        plan=FixedPlan.of(graph, Q6_10),
        judge=FixedPlan.of(graph, Q6_10),
        open_accelerator=lambda: machine,
        count=count,
    )
    inputs = {t.name: t.shape for t in graph.tensors.values() if t.role == "input"}
    learner.load({t.name: np.zeros(t.shape, np.int64) for t in graph.tensors.values() if t.role == "model"})
    chance = np.random.default_rng(3)
    samples = {name: chance.integers(-1024, 1024, (count, *shape)) for name, shape in inputs.items()}
    samples["y"] = np.arange(count)
    for _ in range(epochs):
        for at in range(0, count, block):
            learner.learn({name: array[at : at + block] for name, array in samples.items()})
    learner.finish()
    return learner, machine


@pytest.mark.parametrize("block", [5, 16, 64])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("count", [3, 16, 20, 40])
def test_first_and_last_steps_are_repeated(count: int, epochs: int, block: int) -> None:
    learner, machine = trained(count, epochs, block)
    first, last = list(range(min(CHECKED, count))), list(range(max(0, count - CHECKED), count))
    expected = first + ([step for step in last if step not in first] if epochs == 1 else last)
    assert machine.seen == expected
    assert learner.checked == len(expected)
    assert (learner.cycles, learner.latency) == (7, 30)


def test_a_wrong_word_is_told() -> None:
    with pytest.raises(AssertionError, match="differs from the evaluation"):
        trained(20, 1, 20, wrong=True)


def test_a_wrong_result_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Recorded.run
    monkeypatch.setattr(Recorded, "run", lambda *given: {name: array + 1 for name, array in run(*given).items()})
    with pytest.raises(AssertionError, match="result p differs from the evaluation"):
        trained(20, 1, 20)


def test_machine_code_that_differs_is_told() -> None:
    """The plan is that of another learning rate, as if machine code had computed something else."""
    plan = FixedPlan.of(logistic(3, shift=2), Q6_10)
    judge = FixedPlan.of(logistic(3), Q6_10)
    learner = Evaluated(plan=plan, judge=judge, open_accelerator=lambda: Recorded(judge), count=4)
    samples = {"x": np.full((4, 3), 700), "y": np.full(4, 1024)}
    learner.load({"w": np.zeros(3, np.int64)})
    with pytest.raises(AssertionError, match="differs between numpy and machine code"):
        learner.learn(samples)
