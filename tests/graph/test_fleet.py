"""The loop over the steps of a fleet: who gets which samples, what becomes of the models, and what ends the steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.graph.fleet import Models, Played, Samples, Shares, Step, combined, joined
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Tensor

SHARES = Shares(devices=2, samples=3, limits={"w": (-128, 127)})
START = {"w": np.array([100, -100]), "fixed": np.array([7])}
SAMPLES = {"x": np.arange(12), "y": np.arange(24).reshape(12, 2) / 2}


def added(models: Models, shares: Sequence[Samples]) -> list[Played]:
    """Play devices that add the sum of their samples to the first word, and return twice the samples."""
    sums = [np.array([int(share["x"].sum()), 0]) for share in shares]
    return [
        ({**models, "w": models["w"] + total}, {"h": 2 * share["x"]}) for share, total in zip(shares, sums, strict=True)
    ]


def test_devices_take_equal_shares_in_order_and_the_models_go_on() -> None:
    seen: list[tuple[list[int], list[list[int]]]] = []

    def play(models: Models, shares: Sequence[Samples]) -> list[Played]:
        assert all(share["y"].shape == (3, 2) for share in shares)
        seen.append((models["w"].tolist(), [share["x"].tolist() for share in shares]))
        return added(models, shares)

    first, second = SHARES.steps(START, SAMPLES, play)
    # Each device starts from 100: the first one makes 103 of it, and the second one 112.
    assert first.models["w"].tolist() == [115, -100] and first.saturated == {"w": 0}
    assert second.models["w"].tolist() == [127, -100] and second.saturated == {"w": 1}
    assert seen == [([100, -100], [[0, 1, 2], [3, 4, 5]]), ([115, -100], [[6, 7, 8], [9, 10, 11]])]
    assert joined([first.results, second.results])["h"].tolist() == list(range(0, 24, 2))
    # A model without limits does not learn, and what went in is as it was.
    assert second.models["fixed"] is START["fixed"] and START["w"].tolist() == [100, -100]


def test_a_program_without_inputs_takes_the_steps_that_are_asked_for() -> None:
    def play(models: Models, shares: Sequence[Samples]) -> list[Played]:
        return [({"w": models["w"] + 1}, {}) for share in shares if not share]

    steps = list(SHARES.steps(START, {}, play, 3))
    assert [step.models["w"][0] for step in steps] == [102, 104, 106] and steps[-1].results == {}
    assert list(SHARES.steps(START, {}, play)) == [] and joined([]) == {}


def test_a_fault_ends_the_steps_after_those_that_are_finished() -> None:
    finished: list[Step] = []

    def play(models: Models, shares: Sequence[Samples]) -> list[Played]:
        if finished:
            raise TablaError("the line is dead")
        return added(models, shares)

    with pytest.raises(TablaError, match="the line is dead"):
        finished.extend(SHARES.steps(START, SAMPLES, play))
    assert [step.models["w"].tolist() for step in finished] == [[115, -100]]


def test_shares_of_a_program_have_the_limits_of_the_models_that_learn() -> None:
    tensors = {
        "w": Tensor(name="w", shape=(2,), role="model", guard=3),
        "next": Tensor(name="next", shape=(2,), role="next", guard=3),
        "fixed": Tensor(name="fixed", shape=(1,), role="model"),
    }
    graph = Graph(name="line", tensors=tensors, statements=(), updates={"w": "next"}, samples=4)
    shares = Shares.of(graph, Format.parse("q4.8"), 3)
    assert (shares.step, shares.samples) == (12, 4)
    assert shares.limits == {"w": (-(2**14), 2**14 - 1)}


def test_a_sum_that_leaves_the_range_saturates_and_counts() -> None:
    before, after = np.array([100, -100, 7]), [np.array([120, -128, 9]), np.array([110, -110, 3])]
    words, saturated = combined(before, after, (-128, 127))
    assert words.tolist() == [127, -128, 5] and saturated == 2
