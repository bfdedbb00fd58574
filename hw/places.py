"""Where each signal of the Verilog is declared in these files, for reports that name the source."""

import re
from pathlib import Path

from tabla.hw.emit import rtlil_text

from tabla.program.image import Image

_SOURCE = re.compile(r'^ *attribute \\src "([^"|]*?):(\d+)')
_WIRE = re.compile(r"^ *(?:wire|memory) .*\\(\w+)$")
_MODULE = re.compile(r"^module \\(\S+)")


def signal_places(image: Image, name: str) -> dict[tuple[str, str], str]:
    """Return the place of each signal of the Verilog, such as ``hw/mac.py:88``, by module and signal."""
    room = Path(__file__).resolve().parent
    module, source = "", ""
    places: dict[tuple[str, str], str] = {}
    for line in rtlil_text(image, name, sources=True).splitlines():
        if found := _MODULE.match(line):
            module = found[1]
        elif found := _SOURCE.match(line):
            path = Path(found[1])
            source = f"hw/{path.relative_to(room).as_posix()}:{found[2]}" if path.is_relative_to(room) else ""
        elif found := _WIRE.match(line):
            if source:
                places[module, found[1]] = source
            source = ""
    return places
