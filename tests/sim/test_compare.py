"""Differences between engines are found and told in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hand_images import linear
from tabla.sim.compare import Stimulus, compare
from tabla.sim.model.cycle_model import CycleModel

CASE = linear(2, samples=6)
STIMULUS = Stimulus(load=CASE.load, beats=CASE.beats, samples=6, dump=CASE.dump, chunk=2)


def test_equal_machines_agree() -> None:
    assert compare({"one": CycleModel(CASE.image), "other": CycleModel(CASE.image, strict=False)}, STIMULUS) is None


def test_another_period_shows_as_a_cycle() -> None:
    other = replace(CASE.image, run=replace(CASE.image.run, period=60), release=36)
    quick = replace(CASE.image, release=36)
    found = compare({"model": CycleModel(quick), "icarus": CycleModel(other)}, STIMULUS)
    assert found is not None
    assert str(found).startswith("sample 1, cycle of the token: model says ")


class _Wrong(CycleModel):
    """Slips in the fourth sample."""

    def run(self, *arguments: object, **more: object) -> object:  # type: ignore[override]
        result = super().run(*arguments, **more)  # type: ignore[arg-type]
        self.done = getattr(self, "done", 0) + 1
        if self.done == 2:
            result.outputs[self.slip] += 1
        return result

    slip = 1


def test_a_wrong_word_is_named() -> None:
    found = compare({"model": CycleModel(CASE.image), "verilator": _Wrong(CASE.image)}, STIMULUS)
    expected = CASE.outputs[3] if CASE.outputs else None
    assert str(found) == f"sample 3, output word 0: model says {expected}, verilator says {expected + 1}"


@pytest.mark.parametrize(("lane", "place"), [(1, "lane 1, model word 2"), (2, "root memory word 2")])
def test_a_wrong_model_word_is_named(lane: int, place: str) -> None:
    class Broken(CycleModel):
        def dump(self, count: int) -> list[int]:
            words = super().dump(count)
            words[2 * 3 + lane] ^= 1
            return words

    found = compare({"model": CycleModel(CASE.image), "amaranth": Broken(CASE.image)}, STIMULUS)
    assert str(found).startswith(f"{place} after sample 1: model says ")
