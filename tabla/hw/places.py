"""Where each signal of the Verilog is declared in these files, for reports that name the source."""

from pathlib import Path

from tabla.hw.emit import module_names, netlist
from tabla.hw.module_text import ModuleText
from tabla.program.image import Image


def signal_places(image: Image, name: str) -> dict[tuple[str, str], str]:
    """Return the place of each signal of the Verilog, such as ``hw/mac.py:88``, by module and signal."""
    room = Path(__file__).resolve().parent
    places: dict[tuple[str, str], str] = {}
    modules = netlist(image, name, sources=True).modules
    names = module_names(modules)
    for module in modules.values():
        for signal, attributes in ModuleText(module).signals():
            path, _, line = attributes.get("src", "").strip('"').rpartition(":")
            if path and Path(path).is_relative_to(room):
                places[names[module.name], signal] = f"hw/{Path(path).relative_to(room).as_posix()}:{line}"
    return places
