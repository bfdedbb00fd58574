"""The module of ``gen --bus`` for LiteX, ``<name>_litex.py``."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from tabla.program.bus import BusShape


def litex_module(name: str, module: str, fingerprint: int, shape: BusShape) -> str:
    """Return a Python module that adds the wrapper of the Verilog module `module`, with its DMAs, to a SoC of LiteX.

    `name` is the stem of the Verilog files.
    """
    # Both places of a name are texts of Python, and what JSON quotes so does Python.
    stem = json.dumps(name, ensure_ascii=False)[1:-1]
    values = {
        "name": stem,
        "module": module,
        "file": f"{stem}_litex",
        "bits": str(shape.bus_bits),
        "bytes": str(shape.bus_bits // 8),
        "fingerprint": f"0x{fingerprint:08X}",
    }
    text = files("tabla.build.files").joinpath("driver", "litex.template").read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(values)})@", lambda found: values[found[1]], text)
