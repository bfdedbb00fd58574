"""``tabla synth``: the text that it prints, its JSON, and its errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tabla.build.synth import nextpnr, source_lines
from tabla.build.synth.critical_path import signal_name
from tabla.commands.cli import main
from tabla.commands.console import Console

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "logistic.t"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which ``gen`` wrote the preset with two PEs into ``build``."""
    folder = tmp_path_factory.mktemp("synth")
    assert main(["gen", str(EXAMPLE), "--template", "Pe2", "-q", "-o", str(folder / "build")]) == 0
    return folder


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """Place and route the preset with two PEs with one seed. Return the text and the JSON."""
    file = tmp_path_factory.mktemp("routed") / "r.json"
    chip = ["--target", "ecp5", "--device", "25k", "--speed", "8", "--pnr", "--seeds", "1"]
    words = ["synth", str(EXAMPLE), "--template", "Pe2", *chip, "--json", str(file)]
    with pytest.MonkeyPatch.context() as patch:
        reports: list[Any] = []
        placed = nextpnr.place_and_route

        def remembered(*arguments: Any, **more: Any) -> Any:
            reports.append(placed(*arguments, **more))
            return reports[-1]

        patch.setattr(nextpnr, "place_and_route", remembered)
        written: list[str] = []
        patch.setattr("sys.stdout.write", written.append)
        assert main(words) == 0
    data = json.loads(file.read_text())
    # The JSON contains the router's own report, unchanged.
    assert [data[key] for key in ("fmax", "utilization", "critical_paths")] == [
        reports[0].report[key] for key in ("fmax", "utilization", "critical_paths")
    ]
    return "".join(written), data


@pytest.mark.slow
def test_the_json_has_the_routers_report_and_ours(built: Path, said: tuple[str, dict[str, Any]]) -> None:
    _, data = said
    manifest = json.loads((built / "build/logistic.json").read_text())
    assert data["schema"] == "tabla-synthesis-1"
    assert (data["device"], data["speed"], data["seed"], list(data["seeds"])) == ("25k", 8, 1, ["1"])
    assert 80 < data["megahertz"] <= 271
    assert data["cycles"] == manifest["cycles"]
    assert data["samples_per_second"] == pytest.approx(data["megahertz"] * 1e6 / manifest["cycles"])
    assert data["utilization"]["MULT18X18D"] == {"available": 28, "used": 4}
    assert data["utilization"]["TRELLIS_FF"]["used"] == data["resources"]["FF"]["used"]
    rows = {row["name"]: row for row in data["modules"]}
    assert data["modules"][0]["name"] == "logistic" and data["modules"][0]["depth"] == 0
    assert rows["logistic_pe"]["instances"] == 2 and rows["logistic_pe"]["DSP"] == 1
    assert rows["logistic_pe"]["percent"]["DSP"] == pytest.approx(100 * 2 / 28, abs=0.01)
    parts = {"pu", "pu_tree", "stream", "root", "controller", "lane_issue_sequencer"}
    assert {f"logistic_{part}" for part in parts} <= set(rows)
    assert rows["logistic_pu"]["LUT"] > 2 * rows["logistic_pe"]["LUT"]


@pytest.mark.slow
def test_the_text_has_every_part_with_its_share_and_the_path_in_our_names(
    built: Path,
    said: tuple[str, dict[str, Any]],
) -> None:
    text, data = said
    row = re.search(r"^    logistic_pe +2 x +(\d+) +([\d.]+) ", text, re.MULTILINE)
    assert row
    assert float(row[2]) == pytest.approx(100 * 2 * int(row[1]) / 24288, abs=0.06)
    assert re.search(r"^capacity +24288 +24288 +28 +56$", text, re.MULTILINE)
    assert f"{data['megahertz']:.1f} MHz on LFE5U-25F, package CABGA381, grade 8, seed 1 of 1" in text
    assert f"{data['samples_per_second']:,.0f} samples per second, {data['cycles']} cycles each" in text
    head, *hops = data["critical_path"]
    # The delay of the path is the period of the clock, and its signals have the names of the hardware description.
    clock = min(rate["achieved"] for rate in data["fmax"].values())
    assert float(re.search(r": ([\d.]+) ns", head)[1]) == pytest.approx(1000 / clock, rel=0.01)  # type: ignore[index]
    assert all("$" not in hop and "TRELLIS" not in hop for hop in hops)
    # Each place is a line that declares the signal of the hop, in the Verilog that `tabla gen` writes.
    verilog = (built / "build/logistic.v").read_text().splitlines()
    placed = [re.search(r"([\w.]+)(?:\[\d+\])?(?:, \d+ sinks)?  logistic\.v:(\d+)", hop) for hop in hops]
    found = [(place[1], verilog[int(place[2]) - 1]) for place in placed if place]
    assert found
    assert all(any(re.search(rf"\b{step}\b", line) for step in name.split(".")) for name, line in found)
    assert text.rstrip().endswith(hops[-1])


@pytest.mark.slow
def test_a_folder_of_gen_gives_the_same_tables(
    built: Path, said: tuple[str, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    _, data = said
    assert main(["synth", str(built / "build"), "--target", "ecp5", "--device", "25k", "--json", "-"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["modules"] == data["modules"] and again["resources"] == data["resources"]
    assert again["cycles"] == data["cycles"] and again["megahertz"] is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("empty", "--target", "ecp5"), "there is no manifest in"),
        (("build", "--target", "ecp5", "--pes", "4"), "have no effect"),
        (("build", "--target", "ecp5", "--device", "1k"), "no device '1k'"),
        (("model.t", "--target", "spartan"), "no target 'spartan'"),
        (("build", "--target", "ecp5", "--speed", "5"), "no speed grade 5"),
        (("build", "--target", "xilinx", "--pnr"), "cannot be placed"),
        (("build.v", "--target", "ecp5"), "'build.v' is not a program"),
    ],
)
def test_faults_are_refused(
    built: Path,
    words: tuple[str, ...],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(built)
    Path("empty").mkdir(exist_ok=True)
    assert main(["synth", *words]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and complaint in err


@pytest.mark.slow
def test_an_own_device_of_an_own_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, out = tmp_path / "twice.tc", str(tmp_path / "build")
    kernel.write_text("def twice(float(N) A) -> (B) { B(n) = A(n) + A(n) }\n")
    words = ["gen", str(kernel), "--size", "N=4", "--template", "Pe1", "--format", "q2.6", "-q", "-o", out]
    assert main(words) == 0
    capsys.readouterr()
    own = tmp_path / "own.td"
    own.write_text(
        'def Family : Target<"mine", "My family", "synth_ecp5"> {\n'
        '  let Cells = [Takes<"LUT", "LUT4">, Takes<"FF", "TRELLIS_FF">, Takes<"RAM", "DP16KD*">];\n'
        "}\n"
        'def Tiny : Device<Family, "tiny", "MINE-1"> { let Luts = 123456; let Ffs = 123456; let Rams = 99; }\n'
    )
    words = ["synth", str(tmp_path / "build"), "--target", "mine", "--templates", str(own), "--json", "-"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["device"], found["part"]) == ("tiny", "MINE-1")
    assert found["resources"]["LUT"]["available"] == 123_456 and found["resources"]["LUT"]["used"] > 500
    assert found["resources"]["RAM"]["available"] == 99 and found["resources"]["RAM"]["used"] > 0


@pytest.mark.parametrize("words", [("model.t",), ("model.t", "--target", "ecp5", "--seeds", "0")])
def test_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_places_of_signals_in_the_hierarchy() -> None:
    text = """module top(clk);
  wire clk;
  reg [3:0] count = 4'h0;
  part part_0 (
    .clk(clk)
  );
endmodule

module part(clk);
  reg [15:0] words [7:0];
endmodule
"""
    lines = source_lines(text, "top.v", "top", {("top", "count"): "hw/x.py:7"})
    assert lines.place("count[2]") == "top.v:3 (hw/x.py:7)"
    assert lines.place("part_0.words.0.1") == "top.v:10"
    assert lines.place("part_0.nothing") == lines.place("?") == ""
    assert signal_name("part_0.words_LUT4_Z[2]") == "part_0.words"


@pytest.mark.slow
def test_the_table_fits_a_terminal(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Console, "width", 80)
    assert main(["synth", str(built / "build"), "--target", "ecp5", "--device", "25k"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(re.fullmatch(r"  root +\d+ +\d+\.\d .*", line) for line in lines)
