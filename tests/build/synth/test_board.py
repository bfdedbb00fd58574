"""Making bitstreams for boards. Most of these tests replace place and route, which takes long, by a stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tabla
from tabla.base.source import TablaError
from tabla.build.part_options import BoardOptions
from tabla.build.synth import board as board_flow
from tabla.build.synth import yosys
from tabla.build.synth.board import Bitstream, build_bitstream
from tabla.build.synth.constraints import constraint_file
from tabla.build.synth.nextpnr import Clock, Placement
from tabla.build.synth.yosys import Netlist
from tabla.commands.cli import main
from tabla.driver import Build
from tabla.hw.board.top import BoardTop, board_ports
from tabla.hw.emit import component_verilog
from tabla.program.overlay import overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.templates.overlays import default_room
from tabla.templates.pll import settings_of
from tabla.templates.targets import board, boards, target
from tabla.templates.template import presets

LINEAR = """m = 2;
mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sum[i](w[i] * x[i]);
e = h - y;
g[i] = e * x[i];
"""
ULX3S, NANO, ICE = "ulx3s-85f", "tang-nano-9k", "icebreaker"
BUILDABLE = [name for name in boards() if target(board(name).target).packing]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    path = tmp_path_factory.mktemp("board") / "linear.t"
    path.write_text(LINEAR)
    return tabla.compile(path, pes=1)


def top(build: Build, name: str, settings: Any = None) -> str:
    made = BoardTop(image=build.image, accelerator=build.module, board=board(name), settings=settings, divisor=27)
    return component_verilog(made, "top")


def test_three_families_can_be_built() -> None:
    assert {ULX3S, NANO, ICE} <= set(BUILDABLE)
    assert {"ecp5", "gowin", "ice40"} == {board(name).target for name in BUILDABLE}


@pytest.mark.parametrize("name", [ULX3S, NANO, ICE])
def test_constraint_files(name: str, golden: Callable[[str, str], None]) -> None:
    found = board(name)
    packing = target(found.target).packing
    assert packing is not None
    form = Path(packing.pins).suffix[1:]
    golden(f"board/{name}.{form}", constraint_file(form, found, board_ports(found)))


@pytest.mark.parametrize("name", BUILDABLE)
def test_every_port_has_its_pins_and_no_pin_two_ports(name: str, build: Build) -> None:
    found = board(name)
    ports = board_ports(found)
    pins = [pin for port in ports.values() for pin in port]
    assert len(pins) == len(set(pins))
    packing = target(found.target).packing
    assert packing is not None
    text = constraint_file(Path(packing.pins).suffix[1:], found, ports)
    assert all(pin in text for pin in pins)
    header = top(build, name).partition("module top (\n")[2].partition("\n);")[0]
    assert {line.split()[-1].rstrip(",") for line in header.splitlines()} == set(ports)


def test_the_pll_is_set_as_computed(build: Build) -> None:
    found = board(ULX3S)
    limits = target(found.target).pll
    assert limits is not None
    (settings,) = [one for one in settings_of(limits, found.clock_hertz) if one.hertz == 62_500_000]
    text = top(build, ULX3S, settings)
    for name, value in (("CLKI_DIV", 2), ("CLKFB_DIV", 5), ("CLKOP_DIV", 10), ("CLKOP_CPHASE", 4)):
        assert f".{name}({value})" in text
    assert 'FREQUENCY_PIN_CLKOP = "62.5"' in text
    assert "EHXPLLL" not in top(build, ULX3S)


@pytest.mark.parametrize("name", BUILDABLE)
def test_pins_that_a_board_wants_high_are_high(name: str, build: Build) -> None:
    wanted = len(board(name).high)
    high = [line for line in top(build, name).splitlines() if line.startswith("  assign high = ")]
    assert high == ([f"  assign high = {wanted}'b{'1' * wanted};"] if wanted else [])


def test_the_button_and_the_lights_have_the_levels_of_the_board(build: Build) -> None:
    """The record of the board decides the levels: the same design with inverted levels is another Verilog text."""
    found = board(NANO)
    texts = {
        component_verilog(
            BoardTop(image=build.image, accelerator=build.module, board=turned, settings=None, divisor=27), "top"
        )
        for turned in (
            found,
            replace(found, leds_low=not found.leds_low),
            replace(found, reset_low=not found.reset_low),
            replace(found, reset_pin=""),
        )
    }
    assert len(texts) == 4


class Runs:
    """A stand-in for Yosys, nextpnr and the packer, whose runs reach the clock rates that a test gives."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *reached: float, luts: int = 100) -> None:
        self.reached = list(reached)
        self.asked: list[tuple[float, int]] = []
        self.verilog: list[str] = []
        monkeypatch.setattr(board_flow, "synthesise_flat", lambda *words: self.netlist(luts, *words))
        monkeypatch.setattr(board_flow.nextpnr, "place_and_route", self.place)
        monkeypatch.setattr(board_flow, "run_tool", self.pack)
        monkeypatch.setattr(board_flow, "component_verilog", self.emit)

    def emit(self, design: BoardTop, name: str) -> str:
        # These two components are not elaborated, so Amaranth's warning about that is switched off.
        design._MustUse__silence = design.core._MustUse__silence = True
        return f"{name} {design.settings} {design.core.divisor}\n"

    def netlist(self, luts: int, verilog: str, name: str, family: Any) -> Netlist:
        self.verilog.append(verilog)
        cell = "LUT4" if family.name == "ecp5" else "LUT1"
        return Netlist(top=name, target=family, text="{}", cells={cell: luts})

    def place(self, netlist: Netlist, device: Any, grade: int, *, seed: int, pinned: Any) -> Placement:
        self.asked.append((pinned.megahertz, seed))
        reached = self.reached.pop(0)
        clock = Clock(name="clk", reported=reached, claimed=reached)
        found = None if netlist.target.name == "gowin" else clock
        return Placement(
            device=device, package="", grade=grade, seed=seed, clock=found, path=None, report={}, routed="routed"
        )

    def pack(self, module: str, package: str, arguments: list[str], folder: Path, entry: str) -> tuple[int, str]:
        assert [path.read_text() for path in folder.iterdir()] == ["routed"]
        (folder / arguments[arguments.index("-o") + 1 if "-o" in arguments else -1]).write_bytes(b"bits")
        return 0, ""


def made(build: Build, name: str = ULX3S, **options: Any) -> Bitstream:
    found = board(name)
    return build_bitstream(
        build.image, build.module, "// accelerator\n", found, target(found.target), options=BoardOptions(**options)
    )


def test_the_first_clock_that_is_proved_is_taken(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, 84.2, 74.9, 90.0, 80.0)
    found = made(build, seeds=2)
    assert runs.asked == [(100, 1), (100, 2), (75, 1)]
    assert (found.megahertz, found.proved, found.divisor, found.seed) == (75, 90, 75, 1)
    assert all(text.startswith("// accelerator\n") for text in runs.verilog)
    assert "output_divider=6) 100" in runs.verilog[0] and "output_divider=8) 75" in runs.verilog[1]
    assert found.content == b"bits"


def test_a_clock_asked_for_is_proved_or_refused(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, 110.0, 113.0)
    assert made(build, megahertz=112.5, seeds=3, baud=1_250_000).seed == 2
    assert runs.asked == [(112.5, 1), (112.5, 2)]
    Runs(monkeypatch, 110.0, 112.49)
    with pytest.raises(TablaError, match=r"reaches 112\.5 MHz, not 112\.5|reaches 112\.") as fault:
        made(build, megahertz=112.5, seeds=2, baud=1_250_000)
    assert "--clock 100" in fault.value.hint
    with pytest.raises(TablaError, match="does not make 101 MHz") as fault:
        made(build, megahertz=101)
    assert "the nearest is 100" in fault.value.hint


def test_a_rate_is_tried_several_times(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance decides a few megahertz, so one miss is no reason for a slower clock."""
    runs = Runs(monkeypatch, 88.0, 99.0, 101.0)
    assert made(build).megahertz == 100
    assert runs.asked == [(100, 1), (100, 2), (100, 3)]


def test_a_design_that_never_reaches_its_clock_ends(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    Runs(monkeypatch, 9.0)
    with pytest.raises(TablaError, match=r"reaches only 9\.0 MHz"):
        made(build, seeds=1)
    runs = Runs(monkeypatch, 99.0, 86.0, 74.0, 62.0)
    with pytest.raises(TablaError, match=r"reaches only 62\.0 MHz"):
        made(build, seeds=1)
    assert [rate for rate, _ in runs.asked] == [100, 87.5, 75, 62.5]


def test_a_program_too_large_for_the_board(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, luts in ((ULX3S, 83_641), (NANO, 8_641)):
        Runs(monkeypatch, 100.0, luts=luts)
        with pytest.raises(TablaError, match=f"needs {luts} LUT4, .* has {luts - 1}"):
            made(build, name)


def test_a_baud_that_the_clock_cannot_make(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    Runs(monkeypatch, 200.0)
    with pytest.raises(TablaError, match=r"3000000 baud cannot be made of 12\.5 MHz: the nearest is 3125000"):
        made(build, megahertz=12.5, baud=3_000_000)
    with pytest.raises(TablaError, match="a bit takes at least 4 cycles"):
        made(build, megahertz=12.5, baud=12_500_000)


def test_a_family_without_timing_runs_from_the_crystal(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    Runs(monkeypatch, 0.0)
    found = made(build, NANO)
    assert (found.megahertz, found.proved, found.settings, found.divisor) == (27, None, None, 27)
    assert "not proved: nextpnr lacks timing" in found.text()
    with pytest.raises(TablaError, match="runs only at the 27 MHz of its crystal"):
        made(build, NANO, megahertz=54)


def test_a_crystal_is_proved_where_timing_is_known(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, 11.9, 21.5)
    found = made(build, ICE, seeds=2)
    assert runs.asked == [(12, 1), (12, 2)]
    assert (found.megahertz, found.proved, found.settings, found.divisor) == (12, 21.5, None, 12)
    assert "crystal; place and route proved 21.5 MHz" in found.text()
    Runs(monkeypatch, 11.9)
    with pytest.raises(TablaError, match=r"reaches 11\.9 MHz, but its crystal has 12"):
        made(build, ICE, seeds=1)


def test_a_board_that_no_tool_supports_is_refused(build: Build) -> None:
    found = board(ULX3S)
    bare = replace(target(found.target), packing=None)
    with pytest.raises(TablaError, match="no open tool"):
        build_bitstream(build.image, build.module, "", found, bare)


def test_the_command_writes_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("linear.t").write_text(LINEAR)
    words = ["build", "linear.t", "--board", ULX3S, "--pes", "1", "-q"]
    Runs(monkeypatch, 90.0)
    assert main([*words, "--clock", "100", "--seeds", "1"]) == 1
    assert "reaches 90.0 MHz, not 100" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linear.t"]

    Runs(monkeypatch, 113.0)
    assert main([*words, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == "tabla-board-1"
    assert (content["megahertz"], content["fmax"], content["pll"]["output"]) == (100, 113, 6)
    assert content["resources"]["LUT"] == {"name": "LUT4", "used": 100, "available": 83_640}
    assert json.loads(Path("bitstream/linear.json").read_text()) == content
    names = {"linear.v", "linear_board.v", "linear.lpf", "linear.bit", "linear.json"}
    assert {path.name for path in Path("bitstream").iterdir()} == names
    # A folder with a manifest is replaced. Any other folder is refused before a tool runs.
    Runs(monkeypatch, 113.0)
    assert main(words) == 0
    assert "written" in capsys.readouterr().out
    Path("mine").mkdir()
    Path("mine/keep").write_text("")
    assert main([*words, "-o", "mine"]) == 1
    assert main(["build", "linear.t", "--board", "none", "-q", "-o", "other"]) == 1
    assert "the boards are" in capsys.readouterr().err
    assert main(["build", "linear.t", "-q"]) == 2
    assert not Path("other").exists()


@pytest.mark.slow
def test_the_command_builds_a_board_around_an_overlay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    room = replace(default_room(), levels=2, body=1, strands=4, operations=4, functions=())
    overlay = overlay_of(presets()["Pe2"], room)
    Path("overlay").mkdir()
    Path("overlay/overlay.json").write_text(json.dumps(overlay_record(overlay)))
    words = ["build", "overlay", "--board", ULX3S, "--clock", "100", "-q"]
    Runs(monkeypatch, 113.0)
    assert main([*words, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], content["name"], content["overlay"]) == ("tabla-board-1", "overlay", overlay.fingerprint)
    names = {"overlay.v", "overlay_board.v", "overlay.lpf", "overlay.bit", "overlay.json"}
    assert {path.name for path in Path("bitstream").iterdir()} == names
    # The overlay on a board has the ports that say which program runs.
    assert "program_fingerprint" in Path("bitstream/overlay.v").read_text()
    for wrong, said in (
        ([*words, "--pes", "4"], "options of the array and of the program have no effect"),
        ([*words, "-o", "overlay"], "folder 'overlay' is not empty, and tabla gen did not make it"),
        (["build", "bitstream", "--board", ULX3S, "-o", "other"], "is not the manifest of an overlay"),
    ):
        assert main(wrong) == 1
        assert said in capsys.readouterr().err
    assert not Path("other").exists()


def test_yosys_reads_the_design_of_a_board(build: Build) -> None:
    """The first passes of Yosys, which once failed on constant registers. A slow test makes whole bitstreams."""
    text = f"{build.verilog}\n{top(build, ICE)}"
    flat, _ = yosys._run(f"hierarchy -top top; {yosys._COPIES}; write_json design.json", text, "design.json")
    cells = json.loads(flat)["modules"]["top"]["cells"].values()
    assert {"$dff", "$mul"} <= {cell["type"] for cell in cells}


def test_the_command_builds_for_an_own_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("linear.t").write_text(LINEAR)
    Path("my.td").write_text(
        'def : Board<"bench", "On my bench", Lfe5u45, "CABGA256", 7> {\n'
        '  let ClockPin = "P9"; let ClockHertz = 16000000; let HostTransmit = "T2"; let HostReceive = "T3";\n}\n'
    )
    Runs(monkeypatch, 90.0)
    words = ["build", "linear.t", "--board", "bench", "--pes", "1", "--clock", "80", "-q", "--json", "-"]
    assert main([*words, "--templates", "my.td"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["board"], content["part"], content["package"]) == ("bench", "LFE5U-45F", "CABGA256")
    pins = Path("bitstream/linear.lpf").read_text()
    assert all(f'SITE "{pin}"' in pins for pin in ("P9", "T2", "T3"))
    Runs(monkeypatch, 90.0)
    assert main([*words, "-o", "other"]) == 1
    assert "no board 'bench'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(
    ("name", "clock", "mark"),
    [(ULX3S, 50, b"LFE5U-85F-6CABGA381"), (NANO, 27, b"\n1010010111000011\n"), (ICE, 12, b"\x7e\xaa\x99\x7e")],
)
def test_real_bitstreams(tmp_path: Path, name: str, clock: float, mark: bytes) -> None:
    """The real tools make a bitstream for the part, at a clock rate that was proved.

    `mark` is the name of the part in the file, or the preamble of the file.
    """
    (tmp_path / "linear.t").write_text(LINEAR)
    found = tabla.compile(tmp_path / "linear.t", pes=1, format="q4.4").bitstream(name, megahertz=clock)
    assert mark in found.content
    assert found.megahertz == clock
    assert len(found.content) > 50_000
    assert 0 < found.taken["LUT"] < 6000
    if name != NANO:
        assert found.proved is not None and found.proved >= clock


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_real_bitstream_of_an_overlay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`tabla build` takes the folder of `tabla overlay`, and its bitstream reaches the rate that was asked for."""
    limits = ["--model-words", "16", "--data-words", "16", "--interim-words", "16", "--levels", "2", "--body", "1"]
    overlay = ["overlay", "--pes", "1", "--format", "q4.4", "--functions", "sigmoid", "--features", "comparisons"]
    assert main([*overlay, *limits, "-o", str(tmp_path / "overlay"), "-q"]) == 0
    words = ["build", str(tmp_path / "overlay"), "--board", ULX3S, "--clock", "50", "-o", str(tmp_path / "made"), "-q"]
    capsys.readouterr()
    assert main([*words, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["megahertz"] == 50 <= content["fmax"] and content["name"] == "overlay"
    assert b"LFE5U-85F-6CABGA381" in (tmp_path / "made" / "overlay.bit").read_bytes()
    assert 1000 < content["resources"]["LUT"]["used"] < 12_000
