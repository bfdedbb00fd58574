"""The Python view of the records ``Overlay`` in ``machine.td``: what an array without a program has room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from tabla.base.source import TablaError, TablaValueError
from tabla.templates import tablegen
from tabla.templates.records import MACHINE, integer, integers, records, records_of, string, strings
from tabla.templates.template import functions, limits

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "root_data_words": (1, 65536),
        "root_memory_words": (1, 65536),
        "output_words": (1, 65536),
        "levels": (1, 7),
        "body": (1, 64),
        "cycles": (4, 24),
        "intervals": (1, 16),
        "counts": (1, 16),
        "guards": (2, 16),
        "strands": (1, 2048),
        "operations": (1, 2048),
        "tokens": (2, 64),
        "terms": (1, 1 << 20),
    }
)
"""The least and the greatest value of each number of an overlay that is not a number of the array, too."""
MOST_PLACES = 32
"""The most places of sums that an overlay has."""
FEATURES: Mapping[str, frozenset[str]] = MappingProxyType(
    {"extremes": frozenset({"extreme"}), "comparisons": frozenset({"<", "<=", "==", "!=", ">=", ">"})}
)
"""What an overlay may lack, with the symbols of field `post` of the operations that need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayRoom:
    """What an overlay has room for, as the comment of record ``Overlay`` explains it.

    Without `shifts` the places are left to the number format.
    """

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
    features: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            if not least <= getattr(self, name) <= most:
                option = name.replace("_", "-")
                raise TablaValueError(
                    f"--{option} {getattr(self, name)} is out of range", hint=f"use {least} to {most}"
                )
        for field in ("model_words", "data_words", "interim_words"):
            if not 1 <= getattr(self, field) <= limits().memory_words:
                option = field.replace("_", "-")
                hint = f"use 1 to {limits().memory_words}"
                raise TablaValueError(f"--{option} {getattr(self, field)} is not a memory depth", hint=hint)
        if self.stream_words < 1:
            raise TablaValueError(f"--stream-words {self.stream_words} is out of range", hint="use a power of two")
        if len(set(self.shifts)) != len(self.shifts) or len(self.shifts) > MOST_PLACES:
            raise TablaValueError("--shifts is no list of places", hint=f"name 1 to {MOST_PLACES} different places")
        _refuse_unknown("function", self.functions, sorted(functions()))
        _refuse_unknown("feature", self.features, FEATURES)

    @property
    def posts(self) -> frozenset[str]:
        """The symbols that field `post` of an operation may have."""
        return frozenset({"none"}).union(*(FEATURES[name] for name in self.features))


def _refuse_unknown(what: str, named: Sequence[str], known: Collection[str]) -> None:
    """Raise `TablaValueError` if a name is not known, or is there twice."""
    for position, name in enumerate(named):
        if name not in known:
            raise TablaValueError(f"there is no {what} '{name}'", hint=f"the {what}s are {', '.join(known)}")
        if name in named[:position]:
            raise TablaValueError(f"the {what} '{name}' is named twice", hint=f"name each {what} once")


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
        features=strings(record, "Features"),
    )


def overlay_rooms(own: str | None = None) -> dict[str, OverlayRoom]:
    """Return the records of overlays by name: ours, and those of a user's own file."""
    return {r.name: _named(r) for r in records(MACHINE, own).of_class("Overlay")}


def _named(record: tablegen.Record) -> OverlayRoom:
    try:
        return _room(record)
    except TablaError as fault:
        if fault.labels:
            raise
        raise TablaError(f"overlay '{record.name}': {fault.message}", hint=fault.hint) from None


ROOM_NUMBERS = tuple(f.name for f in fields(OverlayRoom) if f.name not in ("shifts", "functions", "features"))
"""The numbers of an overlay, each of which is an option of its own."""


def default_room() -> OverlayRoom:
    """Return what an overlay has room for where nothing else is asked for."""
    return _room(records(MACHINE)["DefaultOverlay"])
