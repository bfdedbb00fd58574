"""A program behind its wrapper in Icarus: the case that the bench plays, and how it is run."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from tabla.hw.bus.axi import AxiWrapper
from tabla.hw.emit import component_verilog, verilog

import tabla
from tabla.driver import Build
from tabla.ir.evaluate import FixedPlan
from tabla.program.bus import BusShape
from tabla.program.host import Host
from tabla.program.positions import positions
from tabla.program.protocol import fingerprint
from tabla.report.registers import register_entries

LINEAR = """\
m = 2;
mu = 0.25;
model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];
h = sum[i](w[i] * x[i]) + b;
e = h - y;
gw[i] = e * x[i];
gb = e;
"""


def placed(template: Any, positions: dict[str, Any], words: dict[str, Any]) -> list[int]:
    """A unit, as HOST.md says: the template with the words of each tensor in all their places."""
    unit = template.copy()
    for name, places in positions.items():
        for copy in places:
            unit[copy] = words[name]
    return [int(word) for word in unit]


def case_of(build: Build, bus_bits: int, units: int, seed: int) -> dict[str, Any]:
    """The units of a run with random words, and what the evaluation says of them."""
    schedule, shape = build.schedule, shape_of(build, bus_bits)
    layout = positions(Host(schedule))
    by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in ("load", "sample", "result", "dump")}
    for name, places in layout.items():
        kind, slash, tensor = name.partition("/")
        if slash:
            by_kind.setdefault(kind, {})[tensor] = places
    chance = np.random.default_rng(seed)
    reach = build.format.one
    models = {n: chance.integers(-reach, reach, p.shape[1:]) for n, p in by_kind["load"].items()}
    inputs = {n: chance.integers(-reach, reach, (units, *p.shape[1:])) for n, p in by_kind["sample"].items()}
    shown = dict(build.lowered.results)
    results: list[list[int]] = []
    dumps = []
    plan = FixedPlan.of(build.lowered, build.format)
    plan.load(models)
    held: dict[str, Any] = models
    for unit in range(units + 1):
        dumps.append([(int(at), int(w)) for n, p in by_kind["dump"].items() for at, w in np.broadcast(p, held[n])])
        if unit == units:
            break
        made = plan.run({n: words[unit : unit + 1] for n, words in inputs.items()}, list(shown.values()), 1)
        held = made.models
        words = layout["result.template"].copy()
        for name, tensor in shown.items():
            words[by_kind["result"][name]] = made.kept[tensor].reshape(by_kind["result"][name].shape)
        results.append([int(word) for word in words])
    return {
        "registers": register_entries({"FINGERPRINT": fingerprint(build.image)}),
        "container": shape.container,
        "width": shape.width,
        "bus_bits": bus_bits,
        "load": placed(layout["load.template"], by_kind["load"], models),
        "units": [
            placed(layout["sample.template"], by_kind["sample"], {n: words[unit] for n, words in inputs.items()})
            for unit in range(units)
        ],
        "results": results,
        "dumps": dumps,
        "dump_words": len(layout["dump.template"]),
    }


def shape_of(build: Build, bus_bits: int) -> BusShape:
    """The sizes of the wrapper of a build."""
    return BusShape.of(build.image, bus_bits=bus_bits, dump_count=build.schedule.dump_count)


def play(
    folder: Path,
    *,
    bus_bits: int,
    scenarios: str = "",
    units: int = 5,
    seed: int = 5,
    file: str = "model.t",
    text: str = LINEAR,
    **options: Any,
) -> dict[str, str]:
    """Compile a program, wrap it, and play the scenarios; what each of them said, by name, "" for a pass."""
    from cocotb_tools.runner import get_runner

    (folder / file).write_text(text, encoding="utf-8")
    build = tabla.compile(folder / file, effort=0, **options)
    wrapper = AxiWrapper(image=build.image, shape=shape_of(build, bus_bits), accelerator=build.module)
    design = verilog(build.image, build.module, stoppable=True)
    design += component_verilog(wrapper, f"{build.module}_axi")
    (folder / "design.v").write_text(design, encoding="utf-8")
    (folder / "case.json").write_text(json.dumps(case_of(build, bus_bits, units, seed)), encoding="utf-8")
    runner = get_runner("icarus")
    runner.build(
        sources=[folder / "design.v"],
        hdl_toplevel=f"{build.module}_axi",
        build_args=["-g2005"],
        build_dir=folder / "build",
        timescale=("1ns", "1ps"),
        log_file=folder / "build.log",
    )
    # Under pytest the runner exits when a scenario fails; the file says which one, and why.
    with suppress(SystemExit):
        runner.test(
            hdl_toplevel=f"{build.module}_axi",
            test_module="axi_scenarios",
            build_dir=folder / "build",
            test_dir=folder,
            test_filter=scenarios or None,
            results_xml=str(folder / "results.xml"),
            extra_env={"TABLA_AXI_CASE": str(folder / "case.json"), "COCOTB_LOG_LEVEL": "WARNING"},
            timescale=("1ns", "1ps"),
            log_file=folder / "test.log",
        )
    said = {}
    for each in ElementTree.parse(folder / "results.xml").getroot().iter("testcase"):
        failure = each.find("failure")
        failure = failure if failure is not None else each.find("error")
        name = each.get("name") or ""
        said[name] = "" if failure is None else str(dict(failure.attrib))
    return said
