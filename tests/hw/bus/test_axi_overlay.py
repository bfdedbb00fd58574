"""The wrapper of an overlay under masters that are not ours: the scenarios of other wrappers, and those of programs."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabla.host.engines.cocotb_run import available
from tabla.program.overlay import OverlayBus, overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.templates.overlays import OverlayRoom, default_room
from tabla.templates.template import presets
from tests.small_overlay import ROOM

HERE = Path(__file__).resolve().parent
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SMALL = replace(ROOM, stream_words=2)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not available("icarus") or importlib.util.find_spec("cocotbext") is None,
        reason="Icarus Verilog or cocotbext-axi is missing",
    ),
]


def scenarios(*files: str) -> set[str]:
    """The names of the scenarios in some files."""
    texts = [(HERE / file).read_text(encoding="utf-8") for file in files]
    return {name for text in texts for name in re.findall(r"@cocotb.test\(\)\nasync def (\w+)", text)}


def play(
    folder: Path, monkeypatch: pytest.MonkeyPatch, room: OverlayRoom, array: str, bus: OverlayBus, **options: Any
) -> None:
    """Play scenarios of a program on an overlay; all of them must have been played, and none may have failed."""
    monkeypatch.syspath_prepend(str(HERE))
    from wrapped import play as played

    (folder / "overlay").mkdir()
    record = overlay_record(overlay_of(presets()[array], room, bus))
    (folder / "overlay" / "overlay.json").write_text(json.dumps(record), encoding="utf-8")
    made = played(folder, onto=folder / "overlay", bus_bits=bus.bits, **options)
    wanted = options.get("scenarios")
    names = scenarios("axi_programs.py", "axi_scenarios.py", "axi_faults.py")
    assert set(made.said) == {name for name in names if not wanted or name in wanted.split("|")}
    assert not {name: text for name, text in made.said.items() if text}


@pytest.mark.parametrize(
    ("bus_bits", "results"),
    [
        # A beat of the bus is one of the array, and has several of them.
        (32, ("h",)),
        # Without results a run sends no packet.
        (64, ()),
    ],
)
def test_every_scenario(
    bus_bits: int, results: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buffer of the overlay is larger than the program's units, and so is everything else."""
    text = (EXAMPLES / "logistic.t").read_text(encoding="utf-8")
    options = {"text": text, "defines": {"m": 5}, "results": results, "most_cycles": 1600}
    play(tmp_path, monkeypatch, SMALL, "Pe2", OverlayBus(bits=bus_bits, step_words=16), **options)


@pytest.mark.skipif(not available("verilator"), reason="Verilator, g++ or make is missing")
def test_programs_in_verilator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scenario of programs, with random bits in what has no reset: images that are right, wrong, cut or late."""
    text = (EXAMPLES / "logistic.t").read_text(encoding="utf-8")
    options = {"text": text, "defines": {"m": 5}, "results": ("h",), "most_cycles": 1600, "simulator": "verilator"}
    names = "|".join(sorted(scenarios("axi_programs.py")))
    play(tmp_path, monkeypatch, SMALL, "Pe2", OverlayBus(bits=32, step_words=16), scenarios=names, **options)


def test_a_network_takes_less_than_3000_cycles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network with 16 inputs, 32 hidden units and 3 classes on an overlay of 16 PEs with the default limits."""
    text = (EXAMPLES / "backprop.t").read_text(encoding="utf-8")
    options = {"text": text, "defines": {"m": 16, "hidden": 32, "classes": 3}, "results": ("h",), "most_cycles": 3000}
    names = "an_overlay_without_a_program|an_image_takes_few_cycles"
    play(tmp_path, monkeypatch, default_room(), "Pe16", OverlayBus(bits=32, step_words=64), scenarios=names, **options)
