"""The host's side of an accelerator, under the name that users import: see :mod:`tabla.host.runtime`."""

from typing import TYPE_CHECKING, Any

from tabla.host import runtime as _runtime
from tabla.host.runtime import Accelerator, Board, Counters, DeviceFault, connect

if TYPE_CHECKING:
    from tabla.host.runtime import Fleet, OverlayBoard, connect_overlay, on_workers

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
    """Import what overlays and fleets need when it is first asked for."""
    if name in __all__:
        return getattr(_runtime, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
