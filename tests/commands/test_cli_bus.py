"""``gen --bus axi`` on the command line: its files, and what it refuses."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tabla.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXTRA = {
    *("linear_axi.v", "linear_registers.h", "linear_registers.md", "linear_registers.rdl"),
    *("linear.h", "tabla.h", "tabla.c", "linear_litex.py", "linear.core", "component.xml"),
    "linear_vivado.tcl",
    *("tb/axi_bench.v", "tb/axi_send.bin", "tb/axi_expected.bin", "tb/axi_shown.bin"),
}


def generated(folder: Path, *options: str) -> dict[str, bytes]:
    """The files of a small build, by their paths in the folder."""
    common = ["--pes", "2", "--effort", "0", "-q", "-o", str(folder)]
    assert main(["gen", str(ROOT / "examples/linear.t"), *common, *options]) == 0
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_gen_adds_the_wrapper_and_changes_nothing_without_it(tmp_path: Path) -> None:
    plain = generated(tmp_path / "plain")
    with_bus = generated(tmp_path / "bus", "--bus", "axi", "--bus-width", "64")
    assert set(with_bus) - set(plain) == EXTRA
    assert generated(tmp_path / "again", "--bus", "axi", "--bus-width", "64") == with_bus
    assert "stop" not in {port["name"] for port in json.loads(plain["linear.json"])["ports"]}
    assert "bus" not in json.loads(plain["linear.json"])
    changed = {name for name in plain if plain[name] != with_bus[name]}
    assert changed == {"linear.v", "linear.json"}

    manifest = json.loads(with_bus["linear.json"])
    bus = manifest["bus"]
    assert (bus["module"], bus["width"], bus["container"]) == ("linear_axi", 64, 16)
    assert "stop" in {port["name"] for port in manifest["ports"]}
    wrapper = with_bus["linear_axi.v"].decode()
    for port in bus["ports"]:
        bits = rf"\[{port['bits'] - 1}:0\] " if port["bits"] > 1 else ""
        assert re.search(rf"^  {port['direction']}put (wire|reg) {bits}{port['name']}\b", wrapper, re.MULTILINE)
    fingerprint = next(entry for entry in bus["registers"] if entry["name"] == "FINGERPRINT")["reset"]
    assert fingerprint == bus["fingerprint"]
    assert f"#define LINEAR_FINGERPRINT_RESET 0x{fingerprint:08X}u" in with_bus["linear_registers.h"].decode()

    arrays = np.load(io.BytesIO(with_bus["linear.layout.npz"]))
    assert set(arrays) == {"load/w", "load/b", "sample/x", "sample/y", "dump/w", "dump/b"} | {
        f"{kind}.template" for kind in ("load", "sample", "result", "dump")
    }
    for kind, size in bus["bytes"].items():
        assert len(arrays[f"{kind}.template"]) * 2 == size
    assert set(bus["samples_per_second"]) == {"32", "64", "128", "256", "512"}
    for bits, cycles in bus["cycles_per_sample"].items():
        assert bus["samples_per_second"][bits] == int(bus["clock_megahertz"] * 1e6 / cycles)
    assert all(array.dtype == np.int32 for array in arrays.values())
    assert arrays["sample/x"].shape[1:] == (10,)


def test_gen_says_what_the_chosen_bus_reaches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sample of 784 pixels and its labels crosses 32 bits of a bus two words at a time."""
    program = tmp_path / "wide.t"
    program.write_text(
        "mu = 0.5; model_input x[784]; model_output y; model w[784]; gradient g[784] -> w; iterator i[0:784];"
        "e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];"
    )
    common = ["gen", str(program), "--pes", "16", "--effort", "0", "--bus", "axi", "-o", str(tmp_path / "out")]
    for width, words in (("32", 2), ("512", 32)):
        assert main([*common, "--bus-width", width]) == 0
        shown = capsys.readouterr().out.splitlines()
        manifest = json.loads((tmp_path / "out" / "wide.json").read_text())
        array, bus = manifest["cycles"], manifest["bus"]
        beats = -(-bus["bytes"]["sample"] // 2 // words)
        assert bus["cycles"] == max(array, beats) == bus["cycles_per_sample"][width]
        assert f"cycles       {array} per sample" in "\n".join(shown)
        line = next(each for each in shown if each.startswith("bus "))
        assert line.startswith(f"bus          {bus['cycles']} cycles per sample over AXI of {width} bits")
        limits = beats > array
        assert (f"--bus-width {bus['free_width']} does not limit the array" in line) == limits
        assert limits == (width == "32")
        free = str(bus["free_width"])
        assert bus["cycles_per_sample"][free] == array < bus["cycles_per_sample"]["32"]


def test_an_inference_takes_several_samples_a_unit(tmp_path: Path) -> None:
    """The samples of a unit share the strands, and each has a result of its own."""
    program = tmp_path / "twice.t"
    program.write_text("model_input x; y = 2 * x;")
    assert main(["gen", str(program), "--minibatch", "4", "--bus", "axi", "-o", str(tmp_path / "out")]) == 0
    with np.load(tmp_path / "out" / "twice.layout.npz") as layout:
        assert layout["sample/x"].shape == (1, 4) and layout["result/y"].shape == (4,)


def test_what_there_is_not_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = str(ROOT / "examples/linear.t")
    for wrong in (["--bus", "pci"], ["--bus", "axi", "--bus-width", "48"]):
        assert main(["gen", program, "-o", str(tmp_path / "out"), *wrong]) == 2
    assert main(["gen", program, "-o", str(tmp_path / "out"), "--bus-width", "64"]) == 1
    assert "add --bus axi" in capsys.readouterr().err
    assert main(["synth", program, "--target", "ecp5", "--bus", "axi"]) == 2
    assert not (tmp_path / "out").exists()
