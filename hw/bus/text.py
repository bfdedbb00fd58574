"""The wrapper for a host's bus as Verilog text."""

from tabla.hw.bus.axi import AxiWrapper
from tabla.hw.emit import component_verilog

from tabla.program.bus import BusShape
from tabla.program.image import Image

_HEADER = """\
// {name}_axi: {name} on AXI4-Stream of {bits} bits, with control over AXI4-Lite; words travel in {container} bits.
// Made by tabla. Clock `aclk`, synchronous reset `aresetn`, active low; everything else is described in the manifest.

// Registers have initial values, and processes keep the next value of a register beside it: no fault, though
// some tools ask. (A comment must not begin with the name of Verilator: it would be read as a command.)
// verilator lint_off DECLFILENAME
// verilator lint_off PROCASSINIT
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off WIDTHEXPAND
// verilator lint_off WIDTHTRUNC
// verilator lint_off CASEINCOMPLETE
// The name of the port is fixed; it is a reserved word only where C++ is made of it.
// verilator lint_off SYMRSVDWORD

"""


def wrapper_verilog(image: Image, shape: BusShape, name: str) -> str:
    """Return the module `<name>_axi`, which instantiates the accelerator `name`. The same image gives the same text."""
    header = _HEADER.format(name=name, bits=shape.bus_bits, container=shape.container)
    wrapper = AxiWrapper(image=image, shape=shape, accelerator=name)
    return header + component_verilog(wrapper, f"{name}_axi")
