"""The module of ``gen --bus`` for LiteX, ``<name>_litex.py``."""

from __future__ import annotations

from importlib.resources import files

from tabla.program.bus import BusShape


def litex_module(name: str, module: str, fingerprint: int, shape: BusShape) -> str:
    """Return a Python module that adds the wrapper of the Verilog module `module`, with its DMAs, to a SoC of LiteX.

    `name` is the stem of the Verilog files.
    """
    values = {
        "name": name,
        "module": module,
        "file": f"{name}_litex",
        "bits": str(shape.bus_bits),
        "bytes": str(shape.bus_bits // 8),
        "fingerprint": f"0x{fingerprint:08X}",
    }
    text = files("tabla.report").joinpath("driver", "litex.template").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
