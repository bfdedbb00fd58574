"""The least overlay that takes `logistic` and `linear` with few inputs. It is quick to simulate."""

from __future__ import annotations

from dataclasses import replace

from tabla.templates.overlays import default_room

ROOM = replace(
    default_room(),
    model_words=8, data_words=16, interim_words=4, root_data_words=8, root_memory_words=8, output_words=8,
    stream_words=1, levels=2, body=1, cycles=8, intervals=2, counts=4, guards=5, strands=8, operations=8,
    tokens=8, terms=8, shifts=(0, 5, 7), functions=("sigmoid",),
)  # fmt: skip
