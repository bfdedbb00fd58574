"""``make fuzz``: a few programs of each notation, that a run goes on, and that a difference is found and made small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tabla.sim.model.cycle_model import CycleModel

from tests.compiled.interpreted import without_compiler
from tests.fuzz import programs
from tests.fuzz.programs import NOTATIONS, Progress, block


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the texts of the compiled evaluation in Python, and two programs in a block."""
    without_compiler(monkeypatch)
    monkeypatch.setattr(programs, "BLOCK", 2)


def test_a_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    progress = Progress(seed=3, blocks=1)
    block(progress)
    progress.write(path)
    again = Progress.read(path, 3)
    assert again == progress and again.blocks == 2 and again.held.total() == 2
    assert Progress.read(path, 4) == Progress(seed=4)
    assert "seed 3: 2 programs" in again.text() and "operation " in again.text()


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("number", range(4 * len(NOTATIONS)))
def test_programs_of_every_notation(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "BLOCK", 10)
    block(Progress(seed=5, blocks=number))


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle model whose dumps are wrong in one bit."""
    dump = CycleModel.dump
    monkeypatch.setattr(CycleModel, "dump", lambda self, count: [word ^ 1 for word in dump(self, count)])
    monkeypatch.setattr(programs, "BLOCK", 20)
    with pytest.raises(AssertionError, match="model "):
        block(replace(Progress(seed=1), blocks=4 * len(NOTATIONS) + 4))
