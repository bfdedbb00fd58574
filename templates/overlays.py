"""The Python view of the records ``Overlay`` in ``machine.td``: what an array without a program has room for."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.templates.records import MACHINE, integer, integers, records, records_of, string

from tabla.lang import tablegen


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayRoom:
    """What an overlay has room for, as the comment of record ``Overlay`` explains it."""

    model_words: int
    data_words: int
    interim_words: int
    root_data_words: int
    root_memory_words: int
    output_words: int
    stream_words: int
    levels: int
    body: int
    cycles: int
    intervals: int
    counts: int
    guards: int
    strands: int
    operations: int
    tokens: int
    terms: int
    shifts: tuple[int, ...]
    functions: tuple[str, ...]


def _room(record: tablegen.Record) -> OverlayRoom:
    return OverlayRoom(
        model_words=integer(record, "ModelWords"),
        data_words=integer(record, "DataWords"),
        interim_words=integer(record, "InterimWords"),
        root_data_words=integer(record, "RootDataWords"),
        root_memory_words=integer(record, "RootMemoryWords"),
        output_words=integer(record, "OutputWords"),
        stream_words=integer(record, "StreamWords"),
        levels=integer(record, "Levels"),
        body=integer(record, "Body"),
        cycles=integer(record, "Cycles"),
        intervals=integer(record, "Intervals"),
        counts=integer(record, "Counts"),
        guards=integer(record, "Guards"),
        strands=integer(record, "Strands"),
        operations=integer(record, "Operations"),
        tokens=integer(record, "Tokens"),
        terms=integer(record, "Terms"),
        shifts=integers(record, "Shifts"),
        functions=tuple(string(function, "Name") for function in records_of(record, "Functions")),
    )


def overlay_rooms(own: str | None = None) -> dict[str, OverlayRoom]:
    """Return the records of overlays by name: ours, and those of a user's own file."""
    return {r.name: _room(r) for r in records(MACHINE, own).of_class("Overlay")}


def default_room() -> OverlayRoom:
    """Return what an overlay has room for where nothing else is asked for."""
    return _room(records(MACHINE)["DefaultOverlay"])
