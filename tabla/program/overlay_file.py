"""The manifest of an overlay: what it has room for, and the overlay again from that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabla.base.source import TablaError
from tabla.program.bus import BUS_WIDTHS
from tabla.program.overlay import Overlay, OverlayBus, overlay_of
from tabla.templates.overlays import OverlayRoom
from tabla.templates.template import Template

SCHEMA = "tabla-overlay-1"
NAME = "overlay"
"""The name of the Verilog module of every overlay, and of its files."""
_SAID_ELSEWHERE = ("samples_overlap", "scatters", "body", "block_rams")
"""Samples overlap on no overlay, the limits say how many operations a strand may have, and an overlay has its memories,
whatever the part."""
_OTHER = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What a record of another shape raises where it is read."""


def overlay_record(overlay: Overlay) -> dict[str, Any]:
    """Return what an overlay is made of, as a record of numbers, texts and lists, with its fingerprint."""
    bus = overlay.bus
    return {
        "schema": SCHEMA,
        "fingerprint": overlay.fingerprint,
        "array": {name: v for name, v in asdict(overlay.template).items() if name not in _SAID_ELSEWHERE},
        "limits": {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(overlay.room).items()},
        **({} if bus is None else {"bus": {"width": bus.bits, "step_words": bus.step_words}}),
    }


def overlay_from(record: Mapping[str, Any]) -> Overlay:
    """Return the overlay of a record that `overlay_record` made.

    Raises one of `_OTHER` or a `TablaError` for any other record, and for one of another version of this tool.
    """
    if record["schema"] != SCHEMA:
        raise ValueError(f"an overlay with the schema {record['schema']!r}")
    room: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in record["limits"].items()}
    bus = record.get("bus")
    wrapper = None if bus is None else OverlayBus(bits=bus["width"], step_words=bus["step_words"])
    if wrapper is not None and (wrapper.bits not in BUS_WIDTHS or not isinstance(wrapper.step_words, int)):
        raise ValueError("a bus of another kind")
    overlay = overlay_of(Template(**record["array"]), OverlayRoom(**room), wrapper)
    if overlay.fingerprint != record["fingerprint"]:
        raise ValueError("the overlay of another version")
    return overlay


def overlay_verilog(folder: str | Path) -> str:
    """Return the Verilog of a folder of ``tabla overlay``. Raises `TablaError` if it is not what was written."""
    path = Path(folder) / f"{NAME}.v"
    cure = "write the overlay again with tabla overlay"
    try:
        text = path.read_text(encoding="utf-8")
        record = json.loads((Path(folder) / f"{NAME}.json").read_text(encoding="utf-8"))
        same = record["sha256"][path.name] == hashlib.sha256(text.encode()).hexdigest()
    except (OSError, RecursionError, *_OTHER):
        raise TablaError(f"cannot read '{path}'", hint=cure) from None
    if not same:
        raise TablaError(f"'{path}' and the manifest are of different overlays", hint=cure)
    return text


def read_overlay(folder: str | Path) -> Overlay:
    """Return the overlay of a folder that ``tabla overlay`` wrote. Raises `TablaError` for any other folder."""
    path = Path(folder) / f"{NAME}.json"
    cure = "write it with tabla overlay"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise TablaError(f"there is no overlay in '{folder}'", hint=cure) from None
    except (ValueError, RecursionError):
        raise TablaError(f"'{path}' is damaged", hint=cure) from None
    try:
        return overlay_from(record)
    except (TablaError, *_OTHER):
        hint = "write the overlay and its bitstream again with this version of tabla"
        raise TablaError(f"'{path}' is not the manifest of an overlay that this version makes", hint=hint) from None
