"""The wrapper for a host's bus as Verilog text."""

import re

from tabla.hw.bus.axi import AxiWrapper
from tabla.hw.emit import component_verilog
from tabla.hw.overlay.axi import OverlayWrapper
from tabla.program.bus import BusShape
from tabla.program.image import Image
from tabla.program.interfaces import bus_interfaces
from tabla.program.overlay import Overlay

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
    return header + _with_interfaces(component_verilog(wrapper, f"{name}_axi"), shape)


def overlay_wrapper_verilog(overlay: Overlay, shape: BusShape, name: str) -> str:
    """Return the module `<name>_axi`, which instantiates the overlay `name`."""
    header = _HEADER.format(name=name, bits=shape.bus_bits, container=shape.container)
    wrapper = OverlayWrapper(overlay=overlay, shape=shape, accelerator=name)
    return header + _with_interfaces(component_verilog(wrapper, f"{name}_axi"), shape)


def _with_interfaces(text: str, shape: BusShape) -> str:
    """Return the wrapper with an attribute at each port of its first module that says which interface it belongs to.

    Block designs read these attributes (Vivado's UG1118); other tools ignore them.
    """
    ports, rest = text.split(");\n", 1)
    for interface in bus_interfaces(shape):
        parameters = ", ".join(f"{name} {value}" for name, value in interface.parameters.items())
        whole = f'  (* X_INTERFACE_PARAMETER = "XIL_INTERFACENAME {interface.name}, {parameters}" *)\n'
        for number, (port, signal) in enumerate(interface.ports.items()):
            kind = f"xilinx.com:{interface.library}:{interface.kind}:1.0"
            attribute = f'  (* X_INTERFACE_INFO = "{kind} {interface.name} {signal}" *)\n'
            # The parameters of an interface stand at one of its ports.
            attribute += whole if number == 0 else ""
            ports = re.sub(rf"^(?=  (?:in|out)put .*\b{port}(?:,|$))", attribute, ports, count=1, flags=re.MULTILINE)
    return f"{ports});\n{rest}"
