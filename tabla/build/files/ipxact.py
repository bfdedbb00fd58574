"""The wrapper as an IP-XACT component (IEEE 1685-2009, the edition that Vivado reads): ``component.xml``.

It shows block designs two streams, the control port with its registers, the clock, the reset and the interrupt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from tabla._version import VERSION
from tabla.program.bus import BusShape
from tabla.program.interfaces import BusInterface, bus_interfaces
from tabla.templates.bus import Register, registers

NAMESPACE = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
VENDOR, LIBRARY = "tabla", "accelerators"
_ACCESS = {"ro": "read-only", "rw": "read-write", "w1c": "read-write", "wo": "write-only", "sc": "write-only"}
_REGISTER_ACCESS = {"ro": "read-only", "rw": "read-write", "w1c": "read-write", "wo": "write-only"}
_MAP = "registers"

Element = ElementTree.Element


def component(
    module: str,
    shape: BusShape,
    ports: Iterable[Mapping[str, Any]],
    files: Iterable[str],
    resets: Mapping[str, int],
    table: Sequence[Register] | None = None,
) -> str:
    """Return the component of the wrapper around the accelerator `module`.

    `ports` are those of the manifest, `files` the Verilog files, and `resets` the reset values that depend on the
    build, by the name of the register. `table` has the registers of an overlay's wrapper.
    """
    ElementTree.register_namespace("spirit", NAMESPACE)
    top = _tag("component")
    for name, text in (("vendor", VENDOR), ("library", LIBRARY), ("name", f"{module}_axi"), ("version", VERSION)):
        _add(top, name, text)
    interfaces = _add(top, "busInterfaces")
    for interface in bus_interfaces(shape):
        interfaces.append(_interface(interface))
    top.append(_memory_maps(resets, table or registers()))
    top.append(_model(f"{module}_axi", ports))
    files_element = _add(_add(top, "fileSets"), "fileSet")
    _add(files_element, "name", "verilog")
    for path in files:
        file = _add(files_element, "file")
        _add(file, "name", path)
        _add(file, "fileType", "verilogSource")
    _add(top, "description", f"{module} on AXI4-Stream, with control over AXI4-Lite. Made by tabla.")
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode") + "\n"


def _tag(name: str) -> Element:
    return ElementTree.Element(f"{{{NAMESPACE}}}{name}")


def _add(parent: Element, tag: str, text: str = "", /, **attributes: str) -> Element:
    element = ElementTree.SubElement(parent, f"{{{NAMESPACE}}}{tag}")
    element.text = text or None
    for key, value in attributes.items():
        element.set(f"{{{NAMESPACE}}}{key}", value)
    return element


def _interface(interface: BusInterface) -> Element:
    element = _tag("busInterface")
    kind = {"vendor": "xilinx.com", "library": interface.library, "version": "1.0"}
    _add(element, "name", interface.name)
    _add(element, "busType", **kind, name=interface.kind)
    _add(element, "abstractionType", **kind, name=f"{interface.kind}_rtl")
    role = _add(element, "slave" if interface.slave else "master")
    if interface.kind == "aximm":
        _add(role, "memoryMapRef", memoryMapRef=_MAP)
    maps = _add(element, "portMaps")
    for port, signal in interface.ports.items():
        pair = _add(maps, "portMap")
        _add(_add(pair, "logicalPort"), "name", signal)
        _add(_add(pair, "physicalPort"), "name", port)
    parameters = _add(element, "parameters")
    for name, value in interface.parameters.items():
        parameter = _add(parameters, "parameter")
        _add(parameter, "name", name)
        _add(parameter, "value", value)
    return element


def _memory_maps(resets: Mapping[str, int], table: Sequence[Register]) -> Element:
    maps = _tag("memoryMaps")
    found = _add(maps, "memoryMap")
    _add(found, "name", _MAP)
    block = _add(found, "addressBlock")
    # The control port has 12 address bits.
    for name, text in (("name", "control"), ("baseAddress", "0"), ("range", "4096"), ("width", "32")):
        _add(block, name, text)
    _add(block, "usage", "register")
    for register in table:
        block.append(_register(register, resets.get(register.name, register.reset)))
    return maps


def _register(register: Register, reset: int) -> Element:
    element = _tag("register")
    _add(element, "name", register.name)
    _add(element, "description", register.description)
    _add(element, "addressOffset", f"0x{register.offset:X}")
    _add(element, "size", "32")
    _add(element, "access", _REGISTER_ACCESS[register.access])
    _add(_add(element, "reset"), "value", f"0x{reset:X}")
    for field in register.fields:
        part = _add(element, "field")
        _add(part, "name", field.name)
        _add(part, "description", field.description)
        _add(part, "bitOffset", str(field.bit))
        _add(part, "bitWidth", str(field.bits))
        _add(part, "access", _ACCESS[field.access])
        if field.access == "w1c":
            _add(part, "modifiedWriteValue", "oneToClear")
    return element


def _model(top: str, ports: Iterable[Mapping[str, Any]]) -> Element:
    model = _tag("model")
    view = _add(_add(model, "views"), "view")
    _add(view, "name", "verilog")
    _add(view, "envIdentifier", "verilogSource:vivado.xilinx.com:synthesis")
    _add(view, "envIdentifier", "verilogSource:vivado.xilinx.com:simulation")
    _add(view, "language", "verilog")
    _add(view, "modelName", top)
    _add(_add(view, "fileSetRef"), "localName", "verilog")
    found = _add(model, "ports")
    for entry in ports:
        port = _add(found, "port")
        _add(port, "name", entry["name"])
        wire = _add(port, "wire")
        _add(wire, "direction", entry["direction"])
        if entry["bits"] > 1:
            vector = _add(wire, "vector")
            _add(vector, "left", str(entry["bits"] - 1))
            _add(vector, "right", "0")
    return model
