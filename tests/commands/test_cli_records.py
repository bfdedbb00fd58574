"""The commands that list records, and the records of a user, which need one def in a file and no Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.build.part_options import PartOptions
from tabla.build.synth import synthesise
from tabla.commands.cli import main
from tabla.graph.format import Format
from tabla.templates import tablegen
from tabla.templates.records import TARGETS
from tabla.templates.targets import board, boards, target, targets
from tabla.templates.template import default_preset, formats, presets

OWN = """
def Mine : Board<"mine", "My own", Small, "Q1", 2> {
  let ClockPin = "P1"; let ClockHertz = 48000000;
  let HostTransmit = "A1"; let HostReceive = "A2"; let ResetPin = "B1";
}
def Sensor : NumberFormat<3, 13>;
def Wide : Template<32, 8> { let Format = Sensor; }
"""
PARTS = """
def Family : Target<"mine", "My family", "synth_mine"> { let Cells = [Takes<"LUT", "L?">]; }
def Small : Device<Family, "small", "MINE-1"> {
  let Packages = ["Q1"]; let Grades = [2, 3]; let Luts = 100; let Ffs = 200; let Dsps = 3; let Rams = 4;
}
def : Limit<Family, "RAM", 2, 99, "slow">;
"""
Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command, checks its exit status and returns its output."""

    def of(*words: str, status: int = 0) -> str:
        assert main(words) == status
        said = capsys.readouterr()
        return said.err if status else said.out

    return of


@pytest.fixture
def own(tmp_path: Path) -> str:
    """The file of a user, with parts, a board, a number format and a preset."""
    path = tmp_path / 'my "own".td'
    path.write_text(PARTS + OWN)
    return str(path)


def test_targets_are_listed_with_what_their_devices_hold(run: Run) -> None:
    lines = [line.split() for line in run("targets").splitlines()]
    assert ["ecp5", "85k", "LFE5U-85F", "83640", "83640", "156", "208", "6,7,8", "CABGA756"] in [x[:9] for x in lines]
    assert {line[0] for line in lines[1:]} == {*targets(), "note:"}
    assert sum(len(t.devices) for t in targets().values()) == len([x for x in lines[1:] if x[0] != "note:"])


def test_targets_as_json_hold_limits_and_costs(run: Run) -> None:
    content = json.loads(run("targets", "--json", "-"))
    assert content["schema"] == "tabla-targets-1"
    ecp5: dict[str, Any] = next(t for t in content["targets"] if t["name"] == "ecp5")
    assert len(ecp5["limits"]) == len(target("ecp5").limits)
    assert {"kind": "LUT", "pattern": "CCU2C", "units": 2} in ecp5["costs"]


def test_boards_are_listed_with_their_pins(run: Run) -> None:
    said = run("boards")
    for name, found in boards().items():
        line = next(line for line in said.splitlines() if line.startswith(name))
        assert found.title in line and line.split()[-4] == found.clock_pin
    content = json.loads(run("boards", "--json", "-"))
    assert content["schema"] == "tabla-boards-1"
    assert [b["name"] for b in content["boards"]] == list(boards())


def test_own_records_stand_beside_ours(run: Run, own: str) -> None:
    said = run("targets", "--templates", own)
    assert "mine    small     MINE-1" in said and "ecp5    85k" in said
    said = run("boards", "--templates", own)
    assert "mine          My own" in said and "48 MHz  P1 B1 A1 A2" in said and "ulx3s-85f" in said
    said = run("templates", "--templates", own)
    assert "Wide       32       8   q3.13     2" in said and "Sensor (q3.13)" in said and "Pe16" in said


def test_own_records_are_used_like_ours(own: str) -> None:
    mine = board("mine", own)
    assert (mine.target, mine.device, mine.grade) == ("mine", "small", 2)
    family = target("mine", own)
    assert family.device("small").capacity("DSP") == 3
    assert family.taken({"L4": 7}) == {"LUT": 7, "FF": 0, "DSP": 0, "RAM": 0}
    assert [limit.megahertz for limit in family.limits] == [99]
    template = Options(templates=own, template="Wide").chosen_template()
    assert (template.pes, template.pes_per_pu) == (32, 8)
    assert (template.integer_bits, template.fraction_bits) == (3, 13)
    assert Options(templates=own, format="Sensor").chosen_format() == Format.parse("q3.13")
    with pytest.raises(TablaError, match="no board 'mine'"):
        board("mine")


def test_commands_build_with_own_records(run: Run, own: str, tmp_path: Path) -> None:
    (tmp_path / "linear.t").write_text(
        "m = 3; model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];"
        "e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];"
    )
    words = (str(tmp_path / "linear.t"), "--templates", own, "--template", "Wide")
    run("gen", *words, "-q", "-o", str(tmp_path / "out"))
    manifest = json.loads((tmp_path / "out/linear.json").read_text())
    assert (manifest["pes"], manifest["pes_per_pu"], manifest["format"]) == (32, 8, "q3.13")
    run("check", *words, "-q")
    np.savez(tmp_path / "in.npz", x=np.full((2, 3), 0.5), y=np.ones(2), w=np.zeros(3))
    np.savez(tmp_path / "data.npz", x=np.full((2, 3), 0.5), y=np.ones(2))
    for command in ("eval", "sim", "train"):
        files = ("--data", "data.npz") if command == "train" else ("--inputs", "in.npz")
        files = (files[0], str(tmp_path / files[1]))
        engine = [] if command == "eval" else ["--engine", "model"]
        run(command, *words, *files, *engine, "-q", "-o", str(tmp_path / f"{command}.npz"))
        # The words were in the format q3.13, whose step is 2^-13.
        step = np.load(tmp_path / f"{command}.npz")["w"] * 2.0**13
        assert (step == np.round(step)).all() and (step != 0).all()
    assert "no option uses any of them" in run("gen", *words[:3], "-q", "-o", str(tmp_path / "no"), status=1)


def test_synthesis_knows_own_parts(own: str) -> None:
    for name, device, grade, said in (
        ("mine", "small", 7, "no speed grade 7"),
        ("mine", "large", 2, "no device 'large'"),
        ("yours", "small", 2, "no target 'yours'"),
    ):
        with pytest.raises(TablaError, match=said):
            synthesise("", "top", name, PartOptions(device=device, speed=grade, templates=own))


@pytest.mark.parametrize("included", ["machine.td", "targets.td"])
def test_an_own_file_may_include_ours(own: str, included: str) -> None:
    Path(own).write_text(f'include "{included}"\n{PARTS}{OWN}')
    assert "Wide" in presets(own) and "mine" in boards(own)


def test_an_own_file_is_read_again_when_it_changes(own: str) -> None:
    assert presets(own)["Wide"].pes == 32
    Path(own).write_text("def Wide : Template<8>;")
    assert presets(own)["Wide"].pes == 8


@pytest.mark.parametrize(
    ("text", "command", "message"),
    [
        ('def X : Board<"x", 5>;', "boards", "expected type string"),
        ("def X : Template<6, 5>;", "templates", "template 'X': 5 PEs per PU do not divide 6 PEs"),
        ("def X : Template<200>;", "templates", "template 'X': 200 PEs are not supported"),
        ("def X : Template<4> { let Pes = ?; }", "templates", "field 'Pes' of record 'X' is not set to an integer"),
        ('def X : Board<"ulx3s-85f", "x", Up5k, "sg48", 0>;', "boards", "two records are called 'ulx3s-85f'"),
        ('def X : Board<"x", "x", ?, "sg48", 0>;', "boards", "field 'Chip' of record 'X' is not set to a record"),
        ('def X : Target<"x", "x", ?>;', "targets", "field 'Yosys' of record 'X' is not set to a string"),
        ("def X : Template<4", "templates", "the file ends in the middle of a statement"),
    ],
)
def test_faults_of_an_own_record_have_a_place(run: Run, own: str, text: str, command: str, message: str) -> None:
    Path(own).write_text(f"\n{text}\n")
    said = run(command, "--templates", own, status=1)
    assert message in said
    assert f" --> {own}:" in said and "^" in said


@pytest.mark.parametrize("command", ["templates", "targets", "boards"])
def test_a_missing_file_is_reported(run: Run, command: str) -> None:
    assert "cannot read 'none.td'" in run(command, "--templates", "none.td", status=1)


def test_number_formats_are_records_that_the_presets_name(run: Run) -> None:
    machine = tablegen.load(TARGETS.parent / "machine.td")
    for preset in machine.of_class("Template"):
        named = preset["Format"]
        assert isinstance(named, tablegen.Record)
        assert (named["IntegerBits"], named["FractionBits"]) == (preset["IntegerBits"], preset["FractionBits"])
    listed = json.loads(run("templates", "--json", "-"))["formats"]
    assert [f["name"] for f in listed] == list(formats())
    for name, found in formats().items():
        assert name == found.text.replace("q", "Q").replace(".", "_")
        assert (
            Options(format=name).chosen_format()
            == Format.parse(found.text)
            == Options(format=found.text).chosen_format()
        )


def test_the_default_is_the_records_preset() -> None:
    assert Options().chosen_template() == default_preset() == presets()["Pe16"]
    assert str(Options().chosen_format()) == "q6.10"


def test_an_unknown_format_is_refused(run: Run) -> None:
    with pytest.raises(TablaError, match="'Q5_5' is not a number format"):
        Options(format="Q5_5").chosen_format()
