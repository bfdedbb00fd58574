"""The host's side of an accelerator: arrays in, arrays out, from a folder of ``tabla gen`` alone.

with tabla.runtime.connect("build", "cxxrtl") as accelerator:
    accelerator.load(w=..., b=...)
    results = accelerator.run(x=..., y=...)
    trained = accelerator.models()

docs/runtime.md is the manual, and docs/decisions/0020-runtime.md has the reasons.
"""

from tabla.runtime.accelerator import Accelerator
from tabla.runtime.connecting import connect
from tabla.runtime.mmio import Board
from tabla.runtime.overlay_board import OverlayBoard, connect_overlay
from tabla.runtime.transport import Counters, DeviceFault

__all__ = ["Accelerator", "Board", "Counters", "DeviceFault", "OverlayBoard", "connect", "connect_overlay"]
