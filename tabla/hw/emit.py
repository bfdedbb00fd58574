"""Verilog from an image."""

import gc
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Fragment, ValueCastable
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from tabla.hw.accelerator import Accelerator, WideAccelerator
from tabla.hw.array import Array
from tabla.hw.module_text import ModuleText
from tabla.hw.names import Names, identifier
from tabla.hw.netlist import Module, modules_of
from tabla.hw.overlay.accelerator import OverlayAccelerator
from tabla.hw.sharing import Emission
from tabla.program.image import Image
from tabla.program.overlay import Overlay

_HEADER = """\
// {name}: {pes} processing elements in groups of {pes_per_pu}, words of {width} bits, {fraction} of them fraction.
// Made by tabla. Clock `clk`, synchronous reset `rst`; words and their order are described in the manifest.
// Each module is headed by its data sheet, with its ports in the same order.

// The whole accelerator is one file, so that it is easily taken along.
// verilator lint_off DECLFILENAME
// A component has the ports of its kind, and not every program needs all of them.
// verilator lint_off UNUSEDSIGNAL

"""


_PRELOADED = "// The memories start with the models, so a run needs no load before it. A load replaces them."

_DIRECTIONS = {wiring.In: PortDirection.Input, wiring.Out: PortDirection.Output}


_NUMBER = re.compile(r"\$\d+")
# `a, b : In(1)`, also behind another one on the same line.
_MEMBERS = re.compile(r"(?:^|\), )(\w+(?:, \w+)*) : (?:In|Out)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The data sheet of a module: what it does, its ports in order, and its parameters with their bits."""

    text: str = ""
    ports: tuple[str, ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Netlist:
    """Modules of a netlist by their names in it, the top first, and the data sheet of each."""

    modules: Mapping[str, Module]
    sheets: Mapping[str, Sheet]


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


def _flat_ports(component: wiring.Component) -> Iterator[tuple[str, wiring.Member, Any]]:
    for path, member, value in component.signature.flatten(component):
        yield "__".join(map(str, path)), member, value


def _described(text: str, ports: list[str]) -> tuple[str, ...]:
    """Return ports in the order in which a docstring lists the members that they belong to, then all others."""
    members = [name for found in _MEMBERS.findall(text) for name in found.split(", ")]
    places = {name: place for place, name in reversed(list(enumerate(members)))}
    return tuple(sorted(ports, key=lambda port: places.get(port, places.get(port.partition("__")[0], len(places)))))


def _sheets(fragment: Any, name: str) -> Iterator[tuple[str, Sheet]]:
    """Yield the data sheet of a module and of those inside it, by their names in RTLIL.

    A data sheet is the docstring of a component, unless the component has a `data_sheet` of its own.
    """
    for origin in fragment.origins or ():
        if isinstance(origin, wiring.Component):
            text = getattr(origin, "data_sheet", "") or inspect.cleandoc(type(origin).__doc__ or "")
            ports = _described(text, [port for port, _, _ in _flat_ports(origin)])
            yield name, Sheet(text, ports, tuple(getattr(origin, "module_parameters", {}).items()))
            break
    for inner, inner_name, _ in fragment.subfragments:
        if inner_name:
            yield from _sheets(inner, f"{name}.{inner_name}")


def _rtlil(component: wiring.Component, name: str, platform: Any, sources: bool) -> tuple[str, dict[str, Sheet]]:
    """Return a component as RTLIL, with the data sheets of its modules."""
    fragment: Any = Fragment.get(component, platform)
    sheets = dict(_sheets(fragment, name))
    ports = {
        port: (value.as_value() if isinstance(value, ValueCastable) else value, _DIRECTIONS[member.flow])
        for port, member, value in _flat_ports(component)
    }
    return rtlil.convert(fragment, name=name, ports=ports, emit_src=sources), sheets


def hardware_of(content: Image | Overlay, *, stoppable: bool = False) -> Array:
    """Return the accelerator of a program, or one that takes a program after the other."""
    match content:
        case Overlay():
            return OverlayAccelerator(content, stoppable=stoppable)
        case Image(parameters=parameters) if parameters.port_words > 1:
            return WideAccelerator(content, stoppable=stoppable)
        case _:
            return Accelerator(content, stoppable=stoppable)


def netlist(image: Image | Overlay, name: str, *, sources: bool = False, stoppable: bool = False) -> Netlist:
    """Return all modules of the accelerator; with `sources`, wires have their places in ``hw/`` as an attribute.

    With `stoppable` the accelerator has the input `stop`.
    """
    emission = Emission(name)
    modules: dict[str, Module] = {}
    sheets: dict[str, Sheet] = {}
    done: dict[str, list[Module]] = {}
    waiting: dict[str, wiring.Component] = {name: hardware_of(image, stoppable=stoppable)}
    with _without_collection():
        while waiting:
            module, component = waiting.popitem()
            text, found = _rtlil(component, module, emission, sources)
            done[module] = modules_of(text)
            sheets |= found
            waiting.update({m: c for m, c in emission.modules.items() if m not in done})
    for top in sorted(done):
        modules |= {module.name: module for module in done[top]}
    return Netlist(modules, sheets)


def _comment(sheet: Sheet) -> str:
    return "".join(f"// {line}".rstrip() + "\n" for line in sheet.text.splitlines())


def module_names(modules: Iterable[str]) -> dict[str, str]:
    """Return the Verilog names of modules, by their names in the netlist.

    A submodule with the name of a signal has a number there, such as `tree$485`, which is dropped where it is not
    needed.
    """
    names = Names()
    return {module: names.free(_NUMBER.sub("", module)) for module in sorted(modules, key=lambda name: "$" in name)}


def _verilog(found: Netlist) -> str:
    """Return modules as Verilog, each with its data sheet above it."""
    sheets = {name: found.sheets.get(_NUMBER.sub("", name), Sheet()) for name in found.modules}
    texts = {
        name: ModuleText(module, sheets[name].ports, sheets[name].parameters) for name, module in found.modules.items()
    }
    ports = {name: text.port_names for name, text in texts.items()}
    names = module_names(texts)
    return "\n".join(_comment(sheets[name]) + text.text(names[name], ports, names) for name, text in texts.items())


def verilog(image: Image | Overlay, name: str, *, stoppable: bool = False) -> str:
    """Return the whole accelerator as self-contained Verilog; with `stoppable` it has the input `stop`.

    Its top module is `name`, and the names of all others begin with `<name>_`. A `name` that is no Verilog identifier
    is a `ValueError`. The same image gives the same text, whatever the hash seed.
    """
    if identifier(name) != name:
        raise ValueError(f"{name!r} is not a Verilog identifier")
    parameters = image.parameters
    header = _HEADER.format(
        name=name,
        pes=parameters.pes,
        pes_per_pu=parameters.pes_per_pu,
        width=parameters.width,
        fraction=parameters.fraction,
    )
    if isinstance(image, Image) and image.first is not None:
        header = header.replace("\n\n", f"\n{_PRELOADED}\n\n", 1)
    found = netlist(image, name, stoppable=stoppable)
    with _without_collection():
        return header + _verilog(found)


def component_verilog(component: wiring.Component, name: str) -> str:
    """Return a component as Verilog module `name`, without the modules that it instantiates by name.

    The names of its own submodules begin with `<name>_`.
    """
    text, sheets = _rtlil(component, name, None, False)
    return _verilog(Netlist({module.name: module for module in modules_of(text)}, sheets))
