"""The host's side of an accelerator: arrays in, arrays out, from a folder of ``tabla gen`` alone.

with tabla.runtime.connect("build", "cxxrtl") as accelerator:
    accelerator.load(w=..., b=...)
    results = accelerator.run(x=..., y=...)
    trained = accelerator.models()

docs/runtime.md is the manual, and docs/decisions/0020-runtime.md has the reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tabla.host.runtime.accelerator import Accelerator
from tabla.host.runtime.connecting import connect
from tabla.host.runtime.mmio import Board
from tabla.host.runtime.transport import Counters, DeviceFault

if TYPE_CHECKING:
    from tabla.host.runtime.fleet import Fleet, on_workers
    from tabla.host.runtime.overlay_board import OverlayBoard, connect_overlay

__all__ = [
    "Accelerator",
    "Board",
    "Counters",
    "DeviceFault",
    "Fleet",
    "OverlayBoard",
    "connect",
    "connect_overlay",
    "on_workers",
]


def __getattr__(name: str) -> Any:
    """Import what overlays and fleets need when it is first asked for: a host of another device on a board has numpy
    alone.
    """
    if name in ("Fleet", "on_workers"):
        from tabla.host.runtime import fleet

        return getattr(fleet, name)
    if name in ("OverlayBoard", "connect_overlay"):
        from tabla.host.runtime import overlay_board

        return getattr(overlay_board, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
