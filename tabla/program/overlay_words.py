"""The words that bring an image into an overlay, as ``hw/overlay/loader.py`` takes them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from enum import IntEnum

from tabla.program.image import Image
from tabla.program.overlay import CONTAINER, FORM, Overlay, program_numbers, timing_word
from tabla.templates.overlays import FEATURES

MAGIC = 0x7AB1F000 + FORM
"""The first word of an image; it has the number of the form."""
_MASK = (1 << CONTAINER) - 1


class Status(IntEnum):
    """What became of the last image.

    ``EMPTY``: none has come since the reset, which keeps the one that runs. ``TAKES``: words are still to come.
    ``RUNS``: it was right, and runs. In all other cases the image before runs on. ``FORM``: it is no image of this
    form. ``FOREIGN``: it is for another overlay. ``BUSY``: a command was under way. ``DAMAGED``: its CRC is wrong.
    """

    EMPTY = 0
    TAKES = 1
    RUNS = 2
    FORM = 3
    FOREIGN = 4
    BUSY = 5
    DAMAGED = 6


def program_words(image: Image, overlay: Overlay) -> list[int]:
    """Return the words of the port, 32 bits each, that bring an image into an overlay.

    The first two are `MAGIC` and the fingerprint of the overlay. Records follow. The first word of a record has the
    number of a memory in bits 24 to 31, an address in bits 12 to 23, and the number of words that follow in bits 0 to
    11. Each of these takes as many words of the port as the memory's words are wide, the lowest bits first. The last
    record is the word of timing, and the last word is the CRC-32 of all others, the lowest byte of each first.
    """
    held: dict[int, tuple[int, ...]] = {}
    for number, (unit, kind) in enumerate(overlay.memories):
        match kind:
            case "timing":
                held[number] = (timing_word(program_numbers(image, overlay), overlay),)
            case "strands":
                held[number] = image.strands[unit]
            case _:
                held[number] = image.operations[unit]
    return framed(held, overlay)


def framed(memories: Mapping[int, Sequence[int]], overlay: Overlay) -> list[int]:
    """Return the words of the port for some memories, which are given by their numbers with their words."""
    words = [MAGIC, overlay.fingerprint]
    for number, held in memories.items():
        if held:
            words.append(number << 24 | len(held))
        for word in held:
            words += [word >> CONTAINER * n & _MASK for n in range(overlay.containers(*overlay.memories[number]))]
    return [*words, checksum(words)]


def checksum(words: Sequence[int]) -> int:
    """Return the CRC-32 of words of 32 bits, the lowest byte of each first."""
    return zlib.crc32(struct.pack(f"<{len(words)}I", *words))


def about_overlay(overlay: Overlay) -> dict[str, int]:
    """Return the numbers, of 32 bits each, with which an overlay says what it is and what it has room for, by name.

    They stand in this order. Bit n of `functions` is the function with the code n. Bit n of `shifts` is place n.
    Bit n of `features` is number n of `FEATURES`.
    """
    parameters, room = overlay.parameters, overlay.room
    return {
        "magic": MAGIC,
        "fingerprint": overlay.fingerprint,
        "pes": parameters.pes,
        "pes_per_pu": parameters.pes_per_pu,
        "sequencers": parameters.sequencers,
        "width": parameters.width,
        "fraction": parameters.fraction,
        "stream_words": parameters.stream_words,
        "model_words": parameters.model_depth,
        "data_words": parameters.data_depth,
        "interim_words": parameters.interim_depth,
        "root_data_words": parameters.root_data_depth,
        "root_memory_words": parameters.root_memory_depth,
        "output_words": parameters.output_depth,
        "strands": room.strands,
        "operations": room.operations,
        "levels": room.levels,
        "body": room.body,
        "cycles": room.cycles,
        "intervals": room.intervals,
        "counts": room.counts,
        "guards": room.guards,
        "tokens": room.tokens,
        "terms": room.terms,
        "functions": sum(1 << function.code for function in parameters.functions),
        "shifts": sum(1 << place for place in room.shifts if 0 <= place < CONTAINER),
        "features": sum(1 << number for number, name in enumerate(FEATURES) if name in room.features),
    }
