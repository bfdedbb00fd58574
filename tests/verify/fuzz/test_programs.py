"""``make fuzz``: a few programs of each notation, that a run goes on, and that a difference is found and made small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.host.engines.port_machine import PortMachine
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.compile import schedule_graph
from tabla.sim.machine import Counters, RunResult
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import PROGRAMS, Q6_10, graph_of
from tests.graph.compiled.interpreted import without_compiler
from tests.schedule.agreement import draw_words
from verify.fuzz import programs
from verify.fuzz.overlays import OVERLAYS, Shown, opened
from verify.fuzz.programs import BLOCK, NOTATIONS, Progress, block, engine


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


def test_each_notation_runs_in_each_simulator() -> None:
    """Of 10,000 programs at least 300 run as Verilog of their own in CXXRTL, and 20 in Icarus."""
    blocks = range(10_000 // BLOCK)
    of = {simulator: [number for number in blocks if engine(number) == simulator] for simulator in ("cxxrtl", "icarus")}
    assert len(of["cxxrtl"]) >= 300 and len(of["icarus"]) >= 20
    for numbers in of.values():
        assert {number % len(NOTATIONS) for number in numbers} == set(range(len(NOTATIONS)))


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_programs_of_every_notation(monkeypatch: pytest.MonkeyPatch) -> None:
    """On overlays, on hardware of their own in CXXRTL, and with every kind of change of a mapping."""
    monkeypatch.setattr(programs, "BLOCK", 10)
    progress = Progress(seed=5)
    with opened() as overlays:
        for _ in range(4 * len(NOTATIONS)):
            block(progress, [overlays])
    assert all(progress.tried[name] for name in (*OVERLAYS, "engine cxxrtl"))
    assert sum(name.startswith("change ") for name in progress.tried) >= 4


@pytest.mark.slow
def test_a_difference_on_an_overlay_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An overlay whose root counts one overflow too many."""
    run = PortMachine.run

    def wrong(self: PortMachine, *given: Any) -> RunResult:
        result = run(self, *given)
        more = replace(result.counters, root_overflows=result.counters.root_overflows + len(result.starts))
        return replace(result, counters=more)

    monkeypatch.setattr(PortMachine, "run", wrong)
    monkeypatch.setattr(programs, "BLOCK", 10)
    with opened() as overlays, pytest.raises(AssertionError, match="hardware"):
        for number in range(len(NOTATIONS)):
            block(Progress(seed=1, blocks=number), [overlays])


def test_what_a_program_shows_of_a_machine() -> None:
    """The counts since the program before, and no words but those of its models."""
    graph = graph_of(PROGRAMS["logistic"])
    schedule = schedule_graph(graph, template_for(2), Q6_10)
    host, inputs, models = Host(schedule), *draw_words(graph, Q6_10, 2, seed=1)
    with CycleModel(encode(schedule)) as machine:
        machine.load(host.load_beats(models))
        before = machine.run(host.sample_beats(inputs), 2).counters
        shown = Shown(machine, schedule, before)
        shown.load(host.load_beats(models))
        assert shown.run(host.sample_beats(inputs), 2).counters == before != Counters()  # as many once more
        whole, seen = machine.dump(host.dump_count), shown.dump(host.dump_count)
        assert seen != whole and set(seen) <= {0, *whole}
        for name, words in host.models(whole).items():
            np.testing.assert_array_equal(host.models(seen)[name], words)


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle model whose dumps are wrong in one bit."""
    dump = CycleModel.dump
    monkeypatch.setattr(CycleModel, "dump", lambda self, count: [word ^ 1 for word in dump(self, count)])
    monkeypatch.setattr(programs, "BLOCK", 20)
    with pytest.raises(AssertionError, match="model "):
        block(Progress(seed=1, blocks=list(NOTATIONS).index("published")))
