"""The wrapper under masters that are not ours (cocotbext-axi), in Icarus Verilog."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from tabla.sim.engines.cocotb_run import available

needs_masters = pytest.mark.skipif(
    not available("icarus") or importlib.util.find_spec("cocotbext") is None,
    reason="Icarus Verilog or cocotbext-axi is missing",
)
pytestmark = needs_masters

ALL = {
    "the_least_that_a_host_does",
    "gaps_and_back_pressure_on_every_channel",
    "a_packet_that_ends_early_or_late",
    "holes_and_words_out_of_range",
    "accesses_against_the_table",
    "commands_while_one_is_under_way",
    "commands_that_are_given_up",
    "events_are_counted_since_the_load",
    "resets_at_many_moments",
    "hard_resets_in_the_middle_of_a_unit",
}


def play(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Play scenarios; all of them must have been played, and none may have failed."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parent))
    from wrapped import play as played

    said = played(folder, **options)
    assert set(said) == (
        ALL if not options.get("scenarios") else {name for name in ALL if name in options["scenarios"]}
    )
    assert not {name: text for name, text in said.items() if text}


@pytest.mark.parametrize(
    ("bus_bits", "number", "stream_words", "scenarios"),
    [
        # A beat of the bus has several beats of the array, as many, and a part of one.
        (32, "q4.4", 1, "the_least_that_a_host_does|holes_and_words_out_of_range|events_are_counted_since_the_load"),
        (512, "q6.12", 4, "the_least_that_a_host_does|a_packet_that_ends_early_or_late"),
        (
            32,
            "q5.7",
            4,
            "the_least_that_a_host_does|gaps_and_back_pressure_on_every_channel|commands_that_are_given_up",
        ),
    ],
)
def test_words_of_the_evaluation(
    bus_bits: int, number: str, stream_words: int, scenarios: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"format": number, "stream_words": stream_words, "pes": 4, "results": ("h",)}
    play(tmp_path, monkeypatch, bus_bits=bus_bits, scenarios=scenarios, **options)


@pytest.mark.slow
@pytest.mark.parametrize("bus_bits", [32, 64, 512])
@pytest.mark.parametrize("number", ["q4.4", "q5.7", "q6.10", "q6.12", "q16.16"])
@pytest.mark.parametrize("stream_words", [1, 4])
def test_every_scenario(
    bus_bits: int, number: str, stream_words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"format": number, "stream_words": stream_words, "pes": 4}
    # Without results a run sends no packet.
    results = () if number == "q5.7" else ("h",)
    play(tmp_path, monkeypatch, bus_bits=bus_bits, results=results, **options)


@pytest.mark.slow
def test_a_minibatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(tmp_path, monkeypatch, bus_bits=64, minibatch=4, pes=4, results=("h", "e"))


@pytest.mark.slow
def test_a_kernel_that_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LOAD takes no packet, and DUMP sends a beat of zeros."""
    text = "def dot(float(N) a, float(N) b) -> (c) { c +=! a(n) * b(n) }\n"
    scenarios = "the_least_that_a_host_does|gaps_and_back_pressure_on_every_channel|holes_and_words_out_of_range"
    play(tmp_path, monkeypatch, bus_bits=32, file="dot.tc", text=text, sizes={"N": 3}, pes=4, scenarios=scenarios)
