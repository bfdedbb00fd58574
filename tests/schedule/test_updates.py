"""Models are written in the cycles of the schedule, and in no others, however many samples overlap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabla
from tabla.commands.cli import main
from tabla.graph.passes.pipeline import shaped
from tabla.host.engines.session import Session
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.sim.machine import Counters, RunResult
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import hold_schedule
from tests.languages.tabla.independent_models import independent_models
from tests.schedule.agreement import Q6_10, agree, shaped_graph

INTERLEAVED = """
mu = 0.03;
model_input x;
model w0, w1[2][3];
gradient gw0 -> w0, gw1[2][3] -> w1;
iterator b[0:3]; iterator c[0:2];
gw0 = w0 * 0.5;
gw1[c][b] = sigmoid(x * w0);
"""
RESULT = RunResult(
    samples=3,
    outputs=[],
    starts=[10, 30, 50],
    first_words=[4, 24, 44],
    last_words=[4, 24, 44],
    updates=[15, 35, 36, 55, 56, 76],
    leaves=[],
    counters=Counters(),
    ring_slots=2,
)


def test_the_writes_of_samples_interleave() -> None:
    assert RESULT.updates_after((5, 26))
    assert RESULT.last_updates == [36, 56, 76]
    assert RESULT.latencies == [33, 33, 33]


@pytest.mark.parametrize("changed", [(5,), (5, 25), (5, 26, 27), ()])
def test_every_write_counts(changed: tuple[int, ...]) -> None:
    assert not RESULT.updates_after(changed)


def test_a_program_that_writes_no_model_has_no_update() -> None:
    assert replace(RESULT, updates=[]).updates_after(())
    assert replace(RESULT, updates=[]).latencies == []


@settings(max_examples=30)
@given(independent_models(), st.sampled_from([1, 2, 4, 16]), st.integers(0, 2**20))
def test_independent_models(text: str, pes: int, seed: int) -> None:
    agree(shaped_graph(text), template_for(pes), Q6_10, samples=6, seed=seed)


@pytest.mark.parametrize("pes", [1, 4])
def test_the_hardware_writes_in_these_cycles(pes: int) -> None:
    schedule = schedule_graph(shaped_graph(INTERLEAVED), template_for(pes), Q6_10, EFFORTS[0])
    hold_schedule(schedule, "amaranth", samples=4)


@pytest.mark.parametrize("pes", ["16", "1"])
def test_the_command(
    pes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.t").write_text(INTERLEAVED, encoding="utf-8")
    np.savez("x.npz", x=np.array([0.5, -1.0, 2.0]))
    asked = ["sim", "p.t", "--seed", "0", "--inputs", "x.npz", "--pes", pes, "--effort", "0"]
    assert main(asked) == 0
    assert "IS NOT" not in capsys.readouterr().out
    # A schedule that tells other cycles than the machine has is not passed over.
    monkeypatch.setattr(Session, "latency", property(lambda self: 7))
    assert main(asked) == 1
    shown = capsys.readouterr()
    assert "predicted IS NOT 7 simulated" in shown.out
    assert "error: the cycles that were counted are not those of the schedule" in shown.err


def test_a_write_in_another_cycle_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.t").write_text(INTERLEAVED, encoding="utf-8")
    build = tabla.compile("p.t", pes=4, effort=0)
    inputs = {"x": np.array([0.5, -1.0, 2.0]), "w0": 0.5, "w1": np.zeros((2, 3))}
    assert build.simulate(inputs).as_predicted
    run = CycleModel.run

    def late(self: CycleModel, *arguments: object) -> RunResult:
        result = run(self, *arguments)  # type: ignore[arg-type]
        return replace(result, updates=[result.updates[0] + 1, *result.updates[1:]])

    monkeypatch.setattr(CycleModel, "run", late)
    done = build.simulate(inputs)
    assert not done.as_predicted and "ARE NOT those of the schedule" in done.text()


def test_a_constant_gradient_writes_its_model() -> None:
    graph = shaped_graph("mu = 0.5; model_input x; model w; gradient g -> w; g = 0.25;")
    schedule = agree(graph, template_for(1), Q6_10)
    assert len(schedule.update_cycles) == 1


def test_a_graph_without_updates() -> None:
    graph = shaped(shaped_graph("model_input x; y = x * x;"), Q6_10)
    assert agree(graph, template_for(1), Q6_10).update_cycles == ()
