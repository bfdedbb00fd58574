"""Verilog from an image."""

import gc
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from amaranth._toolchain import require_tool
from amaranth._toolchain.yosys import YosysError, find_yosys
from amaranth.back import rtlil
from amaranth.lib import wiring
from tabla.hw.accelerator import Accelerator
from tabla.hw.sharing import Emission

from tabla.processes import running
from tabla.program.image import Image

_SCRIPT = """\
read_rtlil <<end_of_rtlil
{rtlil}
end_of_rtlil
attrmap -remove generator -remove top
attrmap -modattr -remove generator -remove top
proc -nomux -norom
opt_clean -purge
memory_collect
write_verilog
"""

_HEADER = """\
// {name}: {pes} processing elements in groups of {pes_per_pu}, words of {width} bits, {fraction} of them fraction.
// Made by tabla. Clock `clk`, synchronous reset `rst`; everything else is described in the manifest.

// Registers have initial values, and processes keep the next value of a register beside it: no fault, though
// some tools ask. (A comment must not begin with the name of Verilator: it would be read as a command.)
// verilator lint_off DECLFILENAME
// verilator lint_off PROCASSINIT
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off WIDTHEXPAND
// verilator lint_off WIDTHTRUNC
// verilator lint_off CASEINCOMPLETE

"""


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the collector of reference cycles.

    A netlist is hundreds of thousands of small objects, nearly all of them alive until it is written. Looking through
    them for garbage again and again took a third of the time of an emission.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _modules(image: Image, name: str, sources: bool, stoppable: bool) -> dict[str, str]:
    """Return the RTLIL of the accelerator and of each module that it shares, by the name of its top module."""
    emission = Emission(name)
    done: dict[str, str] = {}
    waiting: dict[str, wiring.Component] = {name: Accelerator(image, stoppable=stoppable)}
    while waiting:
        module, component = waiting.popitem()
        done[module] = rtlil.convert(component, name=module, platform=emission, emit_src=sources)
        waiting.update({m: c for m, c in emission.modules.items() if m not in done})
    return {module: done[module] for module in sorted(done)}


def _plain_names(text: str) -> str:
    """Return RTLIL whose public names are plain identifiers: `a.b` and `a$3` become `a_b` and `a_3`."""
    taken = set(re.findall(r"\\(\w+)(?=\s)", text))
    renamed: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in renamed:
            identifier = re.sub(r"\W", "_", name)
            while identifier in taken:
                identifier += "_"
            taken.add(identifier)
            renamed[name] = identifier
        return "\\" + renamed[name]

    return re.sub(r"\\([A-Za-z_]\w*[.$][^\s]*)", plain, text)


def rtlil_text(image: Image, name: str, *, sources: bool = False, stoppable: bool = False) -> str:
    """All modules as RTLIL with plain names; with `sources` the places in ``hw/`` too, as paths of this machine."""
    with _without_collection():
        return _plain_names("\n".join(_modules(image, name, sources, stoppable).values()))


def _short_memories(text: str) -> str:
    """Return Verilog whose memories that start as zeros say so in a loop instead of a line for each word."""

    def shortened(match: re.Match[str]) -> str:
        lines = match.group(1).strip().splitlines()
        words = [re.fullmatch(r"\s*(\S+ ?)\[\d+\] = (\d+)'h0+;", line) for line in lines]
        found = [word for word in words if word]
        if len(found) < len(words) or len(found) < 2:
            return match.group(0)
        memory, width = found[0].groups()
        return (
            f"  integer {memory}_index;\n  initial\n"
            f"    for ({memory}_index = 0; {memory}_index < {len(found)}; {memory}_index = {memory}_index + 1)\n"
            f"      {memory}[{memory}_index] = {width}'h0;\n"
        )

    return re.sub(r"^  initial begin\n((?:    \w+ ?\[\d+\] = \S+;\n)+)  end\n", shortened, text, flags=re.M)


def _short_repetitions(text: str) -> str:
    """Return Verilog with `{16{bit}}` where one bit is written 16 times."""

    def shortened(match: re.Match[str]) -> str:
        parts = match.group(1).split(", ")
        return f"{{{len(parts)}{{{parts[0]}}}}}" if len(parts) > 2 and len(set(parts)) == 1 else match.group(0)

    return re.sub(r"\{ ([^{}]+?) \}", shortened, text)


def verilog(image: Image, name: str, *, stoppable: bool = False) -> str:
    """Return the whole accelerator as self-contained Verilog; with `stoppable` it has the input `stop`.

    Its top module is `name`, and the names of all others begin with `<name>_`. A `name` that is no Verilog identifier
    is a `ValueError`. The same image gives the same text, whatever the hash seed.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"{name!r} is not a Verilog identifier")
    parameters = image.parameters
    header = _HEADER.format(
        name=name,
        pes=parameters.pes,
        pes_per_pu=parameters.pes_per_pu,
        width=parameters.width,
        fraction=parameters.fraction,
    )
    return header + _verilog(rtlil_text(image, name, stoppable=stoppable))


def component_verilog(component: wiring.Component, name: str) -> str:
    """Return a component as Verilog module `name`, without the modules that it instantiates by name.

    The names of its own submodules begin with `<name>_`.
    """
    return _verilog(_plain_names(rtlil.convert(component, name=name, platform=None, emit_src=False)))


def _verilog(text: str) -> str:
    """Return RTLIL with plain names as Verilog, in a form for people."""
    body = re.sub(r"\A/\*.*?\*/\n\n?", "", _written(text), flags=re.S)
    # Yosys's own trick to have each process run once at time 0, under a name that can be read.
    body = re.sub(r"\\\$auto\$verilog_backend\S* ", "evaluate_once", body)
    # What is still escaped is a keyword; no keyword ends in an underscore.
    body = re.sub(r"\\(\w+) ", r"\1_", body)
    return _short_memories(_short_repetitions(body))


def _written(text: str) -> str:
    """Return RTLIL as the Verilog of Yosys.

    Amaranth can run Yosys, too, but its Yosys would go on after an interrupt.
    """
    yosys: Any = find_yosys(lambda version: version >= (0, 40))
    package = getattr(yosys, "YOSYS_PACKAGE", None)
    command = [sys.executable, "-m", package] if package else [require_tool(yosys.YOSYS_BINARY)]
    pipe = subprocess.PIPE
    with running([*command, "-q", "-"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        # Yosys always warns that not all processes can be written; Amaranth makes only such as can.
        said, warned = process.communicate(_SCRIPT.format(rtlil=text).encode())
    if process.returncode:
        raise YosysError(warned.decode("utf-8", errors="replace").strip())
    return said.decode()
