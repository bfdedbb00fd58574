"""A program behind its wrapper in a simulator: the case that the bench plays, and how it is run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import tabla
from benchmarks.bus.case import case_of, wrapped_verilog
from tabla.build.files.overlay import overlay_files
from tabla.build.files.registers import register_entries
from tabla.driver import Build
from tabla.host.engines.cocotb_run import _environment, require
from tabla.program.overlay_image import read_image
from tabla.program.overlay_registers import overlay_registers
from tabla.program.overlay_words import program_words
from tabla.program.protocol import fingerprint
from tests.linear_program import linear_text

LINEAR = linear_text(2)


def case_folder(folder: Path, build: Build, *, bus_bits: int, units: int = 8, seed: int = 5, **more: Any) -> None:
    """Write what the bench plays: the Verilog of a build behind its wrapper, and the words of a case."""
    case = case_of(build, bus_bits=bus_bits, units=units, seed=seed)
    if (overlay := build.overlay) is None:
        verilog = wrapped_verilog(build, bus_bits)
    else:
        files = overlay_files(overlay)
        verilog = files["overlay.v"] + files["overlay_axi.v"]
        marks = {"FINGERPRINT": fingerprint(build.image)}
        case["registers"] = register_entries(marks, overlay_registers(overlay))
        case["image"] = read_image(build.image_file, "image").words
        # The same program under another name, which has another fingerprint.
        other = replace(build.image, parameters=replace(build.image.parameters, name="other"))
        case["other"], case["other_mark"] = program_words(other, overlay), fingerprint(other)
    (folder / "design.v").write_text(verilog, encoding="utf-8")
    (folder / "case.json").write_text(json.dumps(case | more), encoding="utf-8")


@dataclass(frozen=True)
class Played:
    """What each scenario said, by name, "" for a pass; and what recovering took, by the kind of fault."""

    said: dict[str, str]
    recoveries: dict[str, list[int]]


def simulated(folder: Path, module: str, simulator: str, scenarios: str = "", *, overlay: bool = False) -> Played:
    """Build the simulator of a folder that ``case_folder`` wrote, and play the scenarios."""
    from cocotb_tools.runner import get_runner

    top = f"{module}_axi"
    # What the wrapper's registers hold before reset is drawn at random in Verilator.
    random = ["--x-assign", "unique", "--x-initial", "unique"]
    options = {"icarus": [], "verilator": ["-Wno-fatal", "-Wno-lint", *random]}[simulator]
    drawn = ["+verilator+seed+7", "+verilator+rand+reset+2"] if simulator == "verilator" else []
    environment = dict(os.environ)
    os.environ.update(_environment(require(simulator)))
    try:
        runner = get_runner(simulator)
        runner.build(
            sources=[folder / "design.v"],
            hdl_toplevel=top,
            build_args=options,
            build_dir=folder / "build",
            timescale=("1ns", "1ps"),
            log_file=folder / "build.log",
        )
        # Under pytest the runner exits when a scenario fails; the file says which one, and why.
        with suppress(SystemExit):
            runner.test(
                hdl_toplevel=top,
                test_module=[*(["axi_programs"] if overlay else []), "axi_scenarios", "axi_faults"],
                build_dir=folder / "build",
                test_dir=folder,
                test_filter=scenarios or None,
                results_xml=str(folder / "results.xml"),
                plusargs=drawn,
                extra_env={
                    "TABLA_AXI_CASE": str(folder / "case.json"),
                    "TABLA_AXI_RECOVERIES": str(folder / "recoveries.json"),
                    "COCOTB_LOG_LEVEL": "WARNING",
                },
                timescale=("1ns", "1ps"),
                log_file=folder / "test.log",
            )
    finally:
        os.environ.clear()
        os.environ.update(environment)
    said = {}
    for each in ElementTree.parse(folder / "results.xml").getroot().iter("testcase"):
        failure = each.find("failure")
        failure = failure if failure is not None else each.find("error")
        said[each.get("name") or ""] = "" if failure is None else str(dict(failure.attrib))
    found = folder / "recoveries.json"
    return Played(said, json.loads(found.read_text(encoding="utf-8")) if found.exists() else {})


def play(
    folder: Path,
    *,
    bus_bits: int,
    simulator: str = "icarus",
    scenarios: str = "",
    moments: Sequence[int] = (0, 8, 21, 55),
    file: str = "model.t",
    text: str = LINEAR,
    check: Callable[[Build], None] = lambda _: None,
    units: int = 8,
    most_cycles: int = 0,
    **options: Any,
) -> Played:
    """Compile a program, `check` that it is what the test is about, wrap it, and play the scenarios."""
    (folder / file).write_text(text, encoding="utf-8")
    build = tabla.compile(folder / file, **{"effort": 0, **options})
    check(build)
    more = {"simulator": simulator, "moments": list(moments), "most_cycles": most_cycles}
    case_folder(folder, build, bus_bits=bus_bits, units=units, **more)
    return simulated(folder, build.module, simulator, scenarios, overlay=build.overlay is not None)
