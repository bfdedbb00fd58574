"""``make fuzz-texts``: a few inputs of every subject, and the sandbox that runs them."""

from __future__ import annotations

import os
import time

import pytest

from tabla.base.source import Label, Source, Span, TablaError
from verify.fuzz.sandbox import Outcome, outcomes
from verify.fuzz.subjects import SUBJECTS
from verify.fuzz.texts import inputs, swept


def held(name: str, count: int, seed: int) -> None:
    found = swept(SUBJECTS[name](), count, seed)
    assert sum(found.kinds.values()) == count
    assert not found.faults, "\n".join(f"{data!r}\n{outcome.said}" for data, outcome in found.faults.values())
    assert found.kinds["refused"], "no input was wrong, so the changes change nothing"


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_few_inputs(name: str) -> None:
    held(name, 12, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", SUBJECTS)
def test_many_inputs(name: str) -> None:
    held(name, 1000, seed=int(os.environ.get("TABLA_FUZZ_SEED", "2")))


def test_inputs_follow_from_the_seed() -> None:
    subject = SUBJECTS["tabla"]()
    assert inputs(subject, 5, 1) == inputs(subject, 9, 1)[:5] != inputs(subject, 5, 2)


def misbehave(case: str) -> None:
    """Do what the case names: end well, refuse as a reader may, or fail in a way in which no reader may fail."""
    match case:
        case "result":
            return
        case "refused":
            source = Source.from_text("x")
            raise TablaError("wrong", Label(Span(source=source, start=0, end=1)))
        case "unplaced":
            raise TablaError("wrong")
        case "traceback":
            raise KeyError(case)
        case "slow":
            while True:
                pass
        case "large":
            assert len(b"x" * 60_000_000) > 0
        case "died":
            os._exit(3)


def test_the_sandbox_tells_how_a_case_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.fuzz.sandbox.SECONDS", 0.3)
    monkeypatch.setattr("verify.fuzz.sandbox.BYTES", 30_000_000)
    cases = ["result", "died", "refused", "slow", "unplaced", "large", "traceback", "died", "result"]
    began = time.monotonic()
    found: list[Outcome] = list(outcomes(misbehave, cases))
    assert [outcome.kind for outcome in found] == cases and time.monotonic() - began < 60
    assert [outcome.faulty for outcome in found] == [case not in ("result", "refused") for case in cases]
