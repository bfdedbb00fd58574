"""The numbers of a program that its hardware compares with: beats, periods, delays, addresses of first strands.

An accelerator that is built for one program has them as constants. An overlay has a register for each of them.
"""

from __future__ import annotations

from tabla.program.image import Entry, Image
from tabla.program.layout import strand_layout

TOKEN_LATENCY = 3
"""The cycles that a token takes to a unit whose delay is 0 (``hw/tokens.py``)."""


def delay(image: Image, unit: str, entry: Entry) -> int:
    """Return the cycles from a token to the unit's first strand.

    That is the skew, and in a dump the start that is stored with the first strand.
    """
    if not entry.strands[unit]:
        return 0
    start = strand_layout(unit, image.parameters).fields["start"]
    return entry.skew[unit] + start.extract(image.strands[unit][entry.begin[unit]])


def samples_at_work(image: Image) -> int:
    """Return the most samples of a run of which the array may still be working on the first when the last begins."""
    return -(-image.run.drain // max(1, image.run.period)) + 1


def timing_numbers(image: Image) -> dict[str, int]:
    """Return the numbers of a program by name, in the form in which the hardware wants them.

    Of each command, ``run``, ``dump`` and ``load``:

    * ``<command>.pause``: the cycles between two tokens, less 2.
    * ``<command>.drain``: the cycles after the last token until all units are at rest.
    * ``<command>.outputs``: the beats in which the words of a token leave.
    * ``<command>.beats``: the beats of a sample or of a load, less 2.

    Of each unit and command: ``<unit>.<command>.first`` and ``.last``, the addresses of its first and last strand;
    ``.enable``, whether there are any; and ``.wait``, the cycles from a token to the first strand and 2 more.

    ``release.wait`` is the cycles from a token to the release of its slot, less 1. ``ring.last`` is the number of the
    last slot of the ring, and ``data.window`` and ``root_data.window`` are the words of a slot.
    """
    numbers: dict[str, int] = {}
    for name, entry in (("run", image.run), ("dump", image.dump)):
        numbers[f"{name}.pause"] = entry.period - 2
        numbers[f"{name}.drain"] = entry.drain
        numbers[f"{name}.outputs"] = entry.outputs // image.parameters.port_words
        for unit in image.units:
            begin, count = entry.begin[unit], entry.strands[unit]
            numbers[f"{unit}.{name}.wait"] = delay(image, unit, entry) + 2
            numbers[f"{unit}.{name}.enable"] = int(count > 0)
            numbers[f"{unit}.{name}.first"] = begin
            numbers[f"{unit}.{name}.last"] = begin + max(1, count) - 1
    for name, stream in (("run", image.stream_run), ("load", image.stream_load)):
        numbers[f"{name}.beats"] = max(1, stream.beats) - 2
        numbers[f"stream.{name}.enable"] = int(stream.beats > 0)
        numbers[f"stream.{name}.first"] = stream.begin
        numbers[f"stream.{name}.last"] = stream.begin + max(1, stream.strands) - 1
    return numbers | {
        "release.wait": image.release - TOKEN_LATENCY + 2,
        "ring.last": image.parameters.ring_slots - 1,
        "data.window": image.data_window,
        "root_data.window": image.root_data_window,
    }
