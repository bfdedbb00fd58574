"""The registers of the wrapper of an overlay: those of every wrapper, those for programs, and the overlay's numbers."""

from __future__ import annotations

from dataclasses import replace

from tabla.program.overlay import Overlay
from tabla.program.overlay_words import about_overlay
from tabla.templates.bus import Register, described, program_registers, registers

PROGRAM = 4
"""The code of the command that takes an image."""
NUMBERS = 0x480
"""The offset of the first number of the overlay."""
_FINGERPRINT = 1
"""The number of the fingerprint among those of the overlay, as `about_overlay` has them."""
_NAMES = {"magic": "PROGRAM_MAGIC", "fingerprint": "OVERLAY_FINGERPRINT"}
"""The registers whose names do not begin with LIMIT."""
VERSION = 0x0001_0001
"""The version of the interface: that of every wrapper, with registers for programs added."""
_MEANINGS = {
    "magic": "the first word of an image",
    "fingerprint": "of the overlay; the second word of an image",
    "pes": "processing elements",
    "pes_per_pu": "processing elements of a PU",
    "sequencers": "instruction streams of the lanes",
    "width": "bits of a word",
    "fraction": "fraction bits of a word",
    "stream_words": "words of a beat of the array",
    "model_words": "model words of a lane",
    "data_words": "data words of a lane",
    "interim_words": "interim words of a lane",
    "root_data_words": "data words of the root",
    "root_memory_words": "memory words of the root",
    "output_words": "words in the output buffer",
    "strands": "strands of a unit",
    "operations": "operations of a unit",
    "levels": "loops of a strand",
    "body": "operations in a loop",
    "cycles": "bits of a cycle of a sample",
    "intervals": "bits of the interval of a strand",
    "counts": "bits of the iterations of a loop",
    "guards": "bits of the bounds of lanes",
    "tokens": "samples on their way to a unit",
    "terms": "products of a sum",
    "functions": "bit n: there is the function with the code n",
    "shifts": "bit n: sums at place n",
    "features": "bit 0: extremes; bit 1: comparisons with 0",
    "step_words": "words of a step; the buffer holds two steps",
}


def overlay_registers(overlay: Overlay) -> tuple[Register, ...]:
    """Return all registers of the wrapper of an overlay, in the order of their offsets."""
    own = tuple(_own(register) for register in registers())
    return (*own, *program_registers(), *_numbers(overlay))


def registers_for_images() -> tuple[Register, ...]:
    """Return the registers with which a host brings an image. They are the same in all overlays."""
    return (*program_registers(), _number(_FINGERPRINT, "fingerprint", 0))


def _own(register: Register) -> Register:
    """Return a register of every wrapper with what is different in an overlay."""
    match register.name:
        case "VERSION":
            return replace(register, reset=VERSION)
        case "FINGERPRINT":
            return replace(
                register, description="of the program that runs, with format and array; 0 before there is one"
            )
        case "COMMAND":
            code = "0 LOAD, 1 RUN, 2 DUMP, 4 PROGRAM; 3 is reserved"
            return described(register, "CODE", code)
        case "STATUS":
            return described(register, "NOT_LOADED", "RUN or DUMP before LOAD; LOAD before PROGRAM")
        case _:
            return register


def _numbers(overlay: Overlay) -> tuple[Register, ...]:
    """Return a constant register for each number of the overlay."""
    numbers = about_overlay(overlay)
    if overlay.bus is not None:
        numbers["step_words"] = overlay.bus.step_words
    return tuple(_number(index, name, number) for index, (name, number) in enumerate(numbers.items()))


def _number(index: int, name: str, number: int) -> Register:
    """Return the constant register for a number, the one with this index among them."""
    return Register(
        name=_NAMES.get(name, f"LIMIT_{name.upper()}"),
        offset=NUMBERS + 4 * index,
        access="ro",
        reset=number,
        description=_MEANINGS[name],
        fields=(),
    )
