"""The frames between a host and a board, written once: hardware and host take every number from here.

The protocol is ``docs/decisions/0012-board.md``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum

from tabla.program.image import Image

FLAG, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
"""Delimiter of frames; what stands before a byte that is FLAG or ESCAPE itself, sent with the bits FLIP inverted."""

CHECK_BYTES = 4
ARGUMENT_BYTES = 4
VERSION = 1
MAGIC = 0x7AB1A000 + VERSION
BAUD = 1_000_000
"""Bits a second on the line, unless board and host are told otherwise."""
OUTPUT_WORDS = 1024
"""Words that the board holds back for the host before the accelerator has to wait."""

_BUFFER_BITS, _MOST_BITS = 1 << 14, 1 << 18


class Request(IntEnum):
    """Codes of the host's frames; the first three are the accelerator's own commands."""

    LOAD = 0
    RUN = 1
    DUMP = 2
    BEATS = 3
    READ = 4
    STATUS = 5
    RESET = 6


DONE = 0x80
"""Added to the code of a request that was carried out."""


class Refusal(IntEnum):
    """Codes of the other replies."""

    REFUSED = 0xFE
    DAMAGED = 0xFF


STATUS = (
    "magic",
    "program",
    "clock",
    "buffer",
    "busy",
    "lane_overflows",
    "root_overflows",
    "domain_errors",
    "tokens",
    "interval",
    "last_update",
    "last_output",
)
"""The 32-bit words of the replies to STATUS and RESET, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkShape:
    """Sizes that follow from the image: `beats` a board can hold, bytes of a beat and of an output word."""

    beats: int
    beat_bytes: int
    word_bytes: int

    @staticmethod
    def of(image: Image) -> LinkShape:
        """Room for four samples, at least 16 kbit and at most 256, in a power of two of beats."""
        parameters = image.parameters
        bits = parameters.stream_words * parameters.width
        beats = 16
        while 2 * beats * bits <= (_MOST_BITS if beats < 4 * image.stream_run.beats else _BUFFER_BITS):
            beats *= 2
        return LinkShape(beats=beats, beat_bytes=-(-bits // 8), word_bytes=-(-parameters.width // 8))


def fingerprint(image: Image) -> int:
    """32 bits that tell one program (with its number format and array) from another."""
    text = repr((VERSION, image)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "little")
