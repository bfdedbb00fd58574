"""The least overlay that takes `logistic` and `linear` with few inputs. It is quick to simulate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import tabla
from tabla.driver import Build
from tabla.program.overlay import overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.templates.overlays import default_room
from tabla.templates.template import presets

EXAMPLES = Path(tabla.__file__).resolve().parent.parent / "examples"
ROOM = replace(
    default_room(),
    model_words=8, data_words=16, interim_words=4, root_data_words=8, root_memory_words=8, output_words=8,
    stream_words=1, levels=2, body=1, cycles=8, intervals=2, counts=4, guards=5, strands=8, operations=8,
    tokens=8, terms=8, shifts=(0, 5, 7), functions=("sigmoid",),
)  # fmt: skip


def write_images(folder: Path) -> dict[str, Build]:
    """Write the manifests of the overlay and of another one, and two images for the first. Return their builds."""
    for name, room in (("overlay", ROOM), ("other", replace(ROOM, operations=9))):
        (folder / name).mkdir()
        record = overlay_record(overlay_of(presets()["Pe2"], room))
        (folder / name / "overlay.json").write_text(json.dumps(record))
    builds = {
        program: tabla.compile(EXAMPLES / f"{program}.t", onto=folder / "overlay", defines={"m": 3})
        for program in ("logistic", "linear")
    }
    for program, made in builds.items():
        (folder / f"{program}.image").write_bytes(made.image_file)
    return builds
