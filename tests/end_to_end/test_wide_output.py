"""Results leave in beats of several words: predicted, in the model, in the Verilog, and to a host that is slow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tabla
from tabla.base.source import Source
from tabla.build.files.manifest import manifest
from tabla.driver import Build
from tabla.host.engines.session import open_machine
from tabla.hw.accelerator import WideAccelerator
from tabla.hw.border_queue import BeatQueue
from tabla.program.host import Host
from tabla.schedule.bound import full, quick
from tabla.schedule.check import check
from tabla.schedule.strands.regions import ScheduleFault
from tabla.sim.machine import RunResult, Stalls
from tabla.templates.template import timing
from tests.end_to_end.algorithms import need
from tests.schedule.agreement import Q6_10, agree_on, draw_words

WAVE = "def wave(float(N) x, float(N) w) -> (y) { y(n) = exp(x(n) - w(n)) }\n"
"""Each root makes a word a cycle, and `w` stays on the chip."""
ARRAYS = {
    "two of two": {"pes": 4, "pes_per_pu": 2, "stream_words": 2, "sizes": {"N": 8}},
    "two of four": {"pes": 8, "pes_per_pu": 2, "stream_words": 2, "sizes": {"N": 16}},
    "four of four": {"pes": 4, "pes_per_pu": 1, "stream_words": 8, "sizes": {"N": 16}},
    "four of eight": {"pes": 8, "pes_per_pu": 1, "stream_words": 4, "sizes": {"N": 32}},
}


def made(folder: Path, **options: object) -> Build:
    """The program on an array; `w` is a model, so that there is a dump."""
    file = folder / "wave.tc"
    file.write_text(WAVE, encoding="utf-8")
    return tabla.compile(file, **{"keep": ("w",), "effort": 0, **options})  # type: ignore[arg-type]


def build_of(name: str, folder: Path) -> Build:
    """One of the arrays; its name says how many words of how many roots a beat has."""
    found = made(folder, **ARRAYS[name])
    words, roots = ({"two": 2, "four": 4, "eight": 8}[word] for word in name.split(" of "))
    schedule = found.schedule
    assert (schedule.port_words, schedule.template.roots, schedule.split_results) == (words, roots, True)
    assert schedule.dump_count
    return found


@pytest.mark.parametrize("name", ARRAYS)
def test_words_and_cycles(name: str, tmp_path: Path) -> None:
    schedule = build_of(name, tmp_path).schedule
    for bound in (quick, full):
        assert bound(schedule.graph, schedule.template, Q6_10).cycles <= schedule.cycles < schedule.outputs
    agree_on(schedule, samples=7)
    agree_on(schedule, samples=5, stalls=Stalls.random(3, share=0.5, longest=60))


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("two of four", "icarus"),
        ("four of four", "icarus"),
        *(pytest.param(name, "cxxrtl", marks=pytest.mark.slow) for name in ("two of two", "four of eight")),
    ],
)
def test_verilog_leaves_words_when_the_model_does_also_to_a_slow_host(name: str, engine: str, tmp_path: Path) -> None:
    need(engine)
    build = build_of(name, tmp_path)
    schedule = build.schedule
    host, image = Host(schedule), build.image
    inputs, models = draw_words(schedule.graph, Q6_10, 12, 2)
    seen: list[list[RunResult]] = []
    dumps = []
    for each in ("model", engine):
        with open_machine(image, each, "unit") as machine:
            machine.load(host.load_beats(models))
            runs = [
                machine.run(host.sample_beats(inputs), 12, stalls).relative()
                for stalls in (Stalls(), Stalls(outputs=(0, 3)), Stalls.random(5, share=0.6, longest=70))
            ]
            seen.append(runs)
            dumps.append(host.models(machine.dump(host.dump_count)))
    assert seen[0][0].cycles == schedule.cycles and all(run.cycles > schedule.cycles for run in seen[0][1:])
    assert seen[0] == seen[1]
    assert all((dumps[0][name] == dumps[1][name]).all() and (dumps[0][name] == models[name]).all() for name in models)


def test_schedules_that_break_the_law_of_the_port_are_refused(tmp_path: Path) -> None:
    schedule = made(tmp_path, **ARRAYS["four of eight"]).schedule
    with pytest.raises(ScheduleFault, match="8 words of a write do not leave in whole beats of 3"):
        check(replace(schedule, port_words=3))
    with pytest.raises(ScheduleFault, match="beats of 8 words leave, which nobody asked for"):
        check(replace(schedule, port_words=8))
    with pytest.raises(ScheduleFault, match="16 beats of 2 words leave in a period of"):
        check(replace(schedule, port_words=2))
    with pytest.raises(ScheduleFault, match="32 words leave in a period of"):
        check(replace(schedule, port_words=1))


def test_nobody_gets_a_wide_port_who_does_not_ask_or_gain(tmp_path: Path) -> None:
    array = {"pes": 8, "pes_per_pu": 2, "sizes": {"N": 16}}
    chosen, narrow = made(tmp_path, **array), made(tmp_path, **array, stream_words=1)
    assert {b.schedule.port_words for b in (chosen, narrow)} == {1}
    assert {b.bound.terms["stream"] for b in (chosen, narrow)} == {16}
    wide = made(tmp_path, **array, stream_words=4)
    assert (wide.schedule.port_words, wide.bound.terms["stream"]) == (4, 4)
    manifests = [manifest(b.schedule, b.bound, b.image, b.module, Source.from_text(WAVE)) for b in (narrow, wide)]
    assert [m["stream"]["output_words_per_beat"] for m in manifests] == [1, 4]
    ports = [{p["name"]: p["bits"] for p in m["ports"]} for m in manifests]
    assert [p["out_data"] for p in ports] == [16, 64]
    assert "output_words" not in manifests[0] and manifests[1]["output_words"] == 4
    # One root makes no more than a word a cycle.
    assert made(tmp_path, **{**array, "pes_per_pu": 8}, stream_words=8).schedule.port_words == 1


def test_the_queue_of_beats_has_the_latency_of_the_records() -> None:
    assert 1 + BeatQueue.LATENCY == timing().broadcast + timing().queue


def test_the_data_sheet_says_what_a_beat_has() -> None:
    assert "out_data : Out(port_words * width)\n        A beat" in (WideAccelerator.__doc__ or "")
