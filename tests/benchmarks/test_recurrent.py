"""The drawn recurrent learners: each kind is drawn, and each computes what is evaluated."""

from __future__ import annotations

import pytest

from benchmarks.recurrent import TEXTS, Learner, build, main


def test_every_kind_is_drawn() -> None:
    assert {Learner.drawn(seed).name for seed in range(4)} == set(TEXTS)
    assert Learner.drawn(7) == Learner.drawn(7)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ("gated", "elman") else ()) for n in TEXTS]
)
def test_a_learner(name: str) -> None:
    """Words and cycles are held; lanes compute the sums, which would take the root longer than all of this."""
    made = build(Learner(name=name, inputs=8, units=16, turns=3 if name == "through time" else 1), 8)
    assert made.schedule.cycles < 8 * 16 * 8


def test_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "0"]) == 0
    assert capsys.readouterr().out.split()[:4] == ["learner", "inputs", "units", "turns"]
