"""The numbers of the frames between a host and a board, which hardware and host both take from here.

The protocol is ``docs/decisions/0012-board.md``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum

from tabla.program.image import Image, Parameters

FLAG, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
"""FLAG separates frames. A byte of a frame that is FLAG or ESCAPE is sent as ESCAPE and the byte with the bits FLIP
inverted."""

CHECK_BYTES = 4
ARGUMENT_BYTES = 4
VERSION = 2
MAGIC = 0x7AB1A000 + VERSION
BAUD = 1_000_000
"""The bits a second on the line, unless board and host are told otherwise."""
OUTPUT_WORDS = 1024
"""The words that the board keeps for the host before the accelerator has to wait."""

_BUFFER_BITS, _MOST_BITS = 1 << 14, 1 << 18
_KEPT_BITS = 16 * 18432
"""The room for samples that are repeated: sixteen block RAMs of the usual 18 kbit, so words of 18 bits lose nothing."""
_FORM = 1
"""The form of the text of which `fingerprint` is a digest."""


class Request(IntEnum):
    """The codes of the host's frames; the first three are the accelerator's own commands.

    KEEP marks the beats that follow, and REPLAY is a RUN that takes them once more (decision 24).
    """

    LOAD = 0
    RUN = 1
    DUMP = 2
    BEATS = 3
    READ = 4
    STATUS = 5
    RESET = 6
    KEEP = 7
    REPLAY = 8


class ProgramRequest(IntEnum):
    """The codes of the frames that only a board with an overlay takes.

    PROGRAM begins an image, and WORD is its next word, which is the argument.
    """

    PROGRAM = 9
    WORD = 10


class PredictRequest(IntEnum):
    """The codes of the frames that only the board of an array that predicts takes (decision 38).

    PREDICT is a RUN that keeps the models, and PREDICT_KEPT such a REPLAY.
    """

    PREDICT = 11
    PREDICT_KEPT = 12


DONE = 0x80
"""The number that a reply adds to the code of a request that was carried out."""


class Refusal(IntEnum):
    """The codes of the other replies."""

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
"""The 32-bit words of a reply to STATUS or RESET, in this order."""


OVERLAY_STATUS = (*STATUS, "overlay", "outcome")
"""The words of such a reply of a board with an overlay: also its fingerprint, and what became of the last image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkShape:
    """The sizes of a link that follow from an image.

    `beats` is the number of beats that a board can hold. `beat_bytes` is the size of a beat, and `word_bytes` that of
    a word that leaves.
    """

    beats: int
    beat_bytes: int
    word_bytes: int

    @staticmethod
    def of(image: Image, memory: int = 0) -> LinkShape:
        """Return the sizes for an image: room for four samples, from 16 to 256 kbit, and a power of two of beats.

        `memory` is the block RAM of the chip in bits. Up to a quarter of it, and up to 288 kbit, is room for samples
        that are repeated.
        """
        return LinkShape.with_room(image.parameters, image.stream_run.beats, memory)

    @staticmethod
    def with_room(parameters: Parameters, sample_beats: int, memory: int = 0) -> LinkShape:
        """Return the sizes for the hardware with some `parameters`, and for samples of so many beats."""
        bits = parameters.stream_words * parameters.width
        least = max(_BUFFER_BITS, min(_KEPT_BITS, memory // 4))
        beats = 16
        while 2 * beats * bits <= (max(_MOST_BITS, least) if beats < 4 * sample_beats else least):
            beats *= 2
        return LinkShape(beats=beats, beat_bytes=-(-bits // 8), word_bytes=-(-parameters.width // 8))


def fingerprint(image: Image) -> int:
    """Return 32 bits that tell one image from another, so that a host knows which one a board runs."""
    parameters = image.parameters
    # Only where there are guard bits, beats of several words that leave, first words, or an array that predicts or
    # scatters: all other images keep the number that they had.
    wide = (parameters.model_guard, parameters.wide_memories, parameters.wide_shifts) if parameters.model_guard else ()
    port = (parameters.port_words,) if parameters.port_words > 1 else ()
    predicts = ("predicts",) if parameters.predicts else ()
    scatters = ("scatters",) if parameters.scatters else ()
    first = (image.first,) if image.first is not None else ()
    text = repr((_FORM, image, *wide, *port, *predicts, *scatters, *first)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "little")
