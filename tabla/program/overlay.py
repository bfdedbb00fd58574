"""The overlay: an array without a program, which takes one image after the other.

An accelerator is built for one program and has its numbers as constants. An overlay has room for many programs. Its
hardware is that of the same generator, with the sizes of `Overlay.parameters` and a register for each number of a
program. ``docs/decisions/0028-overlay.md`` lists all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tabla.base.source import TablaValueError
from tabla.graph.body import FEW_SHIFTS
from tabla.graph.format import Format
from tabla.program.image import Image, Parameters
from tabla.program.layout import Field, WordLayout, operation_layout, strand_layout
from tabla.program.protocol import fingerprint
from tabla.program.sizes import address_widths, function_table, sum_bits
from tabla.program.timing import samples_at_work, timing_numbers
from tabla.templates.instructions import units_of
from tabla.templates.overlays import MOST_PLACES, OverlayRoom
from tabla.templates.template import Template, functions, limits

PROGRAM_SHIFTS = 16
"""The most shifts of a program, which the two fields of an operation number."""
LEAST_CONSTANT = 11
"""Sums with constants from 2^-11 on have places in every overlay for which none are named."""
MOST_PLACE = 64
"""The greatest place of a sum: no learning rate of a format has a larger shift."""
CONTAINER = 32
"""The bits of a word of the port for programs."""
FORM = 4
"""The form of images, and of what a fingerprint is made of. It changes when either does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayBus:
    """What an overlay has of its wrapper for a host's bus.

    `bits` is the width of the two streams. The buffer of the wrapper holds two steps of `step_words` words.
    """

    bits: int
    step_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """An array without a program.

    `template` is the array that programs are compiled for. `room` is what it has room for, as the user asked for it,
    and `parameters` are the sizes of its hardware: the depths of memories, the widths of fields, all functions, and
    every shift that a program may have. `bus` is that of its wrapper, if it has one.
    """

    template: Template
    room: OverlayRoom
    parameters: Parameters
    bus: OverlayBus | None = None

    @property
    def units(self) -> tuple[str, ...]:
        """The units that begin with a token; the stream is one more."""
        return units_of(self.parameters.sequencers)

    @property
    def memories(self) -> tuple[tuple[str, str], ...]:
        """The memories of a program in the order of their numbers: those of microcode, then the word of timing."""
        microcode = [(unit, kind) for unit in ("stream", *self.units) for kind in ("strands", "operations")]
        return (*microcode, ("timing", "timing"))

    def width(self, unit: str, kind: str) -> int:
        """Return the bits of a word of a memory."""
        match kind:
            case "strands":
                return strand_layout(unit, self.parameters).width
            case "operations":
                return operation_layout(unit, self.parameters).width
            case _:
                return timing_layout(self).width

    def containers(self, unit: str, kind: str) -> int:
        """Return the words of the port that a word of a memory takes."""
        return -(-self.width(unit, kind) // CONTAINER)

    @property
    def fingerprint(self) -> int:
        """32 bits that tell one overlay from another: two with the same number take the same images."""
        # The width of the bus changes nothing in an image.
        buffer = () if self.bus is None else (self.bus.step_words,)
        room = self.room
        text = repr((FORM, self.parameters, room.cycles, room.tokens, sorted(room.features), *buffer)).encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:4], "little")


def overlay_of(template: Template, room: OverlayRoom, bus: OverlayBus | None = None) -> Overlay:
    """Return the overlay of an array with one root that has room for what `room` says, with a wrapper for a `bus`.

    Raises `TablaError` for places of sums that words of the format do not reach.
    """
    format = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    room = replace(room, shifts=room.shifts or usual_places(format))
    array = _array(template, room)
    units = ("stream", *units_of(array.sequencers))
    depth = {
        "model": array.model_words,
        "data": array.data_words,
        "interim": array.interim_words,
        "root_data": room.root_data_words,
        "root_memory": room.root_memory_words,
    }
    shifts = _shifts(room, format)
    parameters = Parameters(
        name="overlay",
        pes=array.pes,
        pes_per_pu=array.pes_per_pu,
        sequencers=array.sequencers,
        width=format.width,
        fraction=format.fraction,
        accumulator=sum_bits(format.width, products=max(room.terms, array.pes), addends=1, place=max(shifts)),
        shifts=shifts,
        stream_words=array.stream_words,
        ring_slots=limits().ring_slots,
        model_depth=depth["model"],
        data_depth=depth["data"],
        interim_depth=depth["interim"],
        root_data_depth=depth["root_data"],
        root_memory_depth=depth["root_memory"],
        output_depth=room.output_words,
        levels=room.levels,
        body=room.body,
        start_bits=room.cycles,
        interval_bits=room.intervals,
        count_bits=room.counts,
        address_bits=address_widths(units, depth),
        guard_bits=room.guards,
        block_bits=max(1, max(1, array.pes // array.stream_words).bit_length()),
        strand_depth=dict.fromkeys(units, room.strands),
        operation_depth=dict.fromkeys(units, room.operations),
        functions=tuple(
            function_table(name, format) for name in sorted(room.functions, key=lambda n: functions()[n].code)
        ),
        far_shift_bits=(PROGRAM_SHIFTS - 1).bit_length() - (FEW_SHIFTS - 1).bit_length(),
    )
    return Overlay(template=array, room=room, parameters=parameters, bus=bus)


def _array(template: Template, room: OverlayRoom) -> Template:
    """Return the array that programs are compiled for: with one root, and with every size that is left open."""
    return replace(
        template,
        sequencers=max(1, template.sequencers),
        stream_words=template.stream_words or room.stream_words,
        model_words=template.model_words or room.model_words,
        data_words=template.data_words or room.data_words,
        interim_words=template.interim_words or room.interim_words,
        levels=0,
        roots=1,
        samples_overlap=False,
        scatters=False,
        body=room.body,
    )


def usual_places(format: Format) -> tuple[int, ...]:
    """Return the places of sums where none are named: those of constants from 2^-11 on, in bits beyond the fraction.

    A sum with a constant c has the greatest place p for which the word |c| 2^p is below 2^(W - 1), but at most 2W - 1
    (decision 22). For 2^-11 that is p = F + I + 9. There are at least the places of learning rates from 2^-7 on.
    """
    places = min(format.integer + LEAST_CONSTANT - 1, 2 * format.width - format.fraction)
    return tuple(range(min(max(places, 8), MOST_PLACES)))


def _shifts(room: OverlayRoom, format: Format) -> tuple[int, ...]:
    """Return the shifts of the places of sums. All programs need place 0, which is that of a sum without a shift."""
    if 0 not in room.shifts:
        there = ",".join(map(str, room.shifts))
        raise TablaValueError(
            f"--shifts {there} lacks place 0, which every program needs", hint=f"use --shifts=0,{there}"
        )
    for place in room.shifts:
        if not -format.fraction <= place <= MOST_PLACE:
            raise TablaValueError(
                f"--shifts: {format} has no sums at place {place}", hint=f"use -{format.fraction} to {MOST_PLACE}"
            )
    return tuple(format.fraction + place for place in room.shifts)


def timing_widths(overlay: Overlay) -> dict[str, tuple[int, bool]]:
    """Return the registers of a program's numbers by name: the bits, and whether they are signed."""
    parameters, cycles = overlay.parameters, overlay.room.cycles
    widths: dict[str, tuple[int, bool]] = {}

    def addresses(unit: str, command: str) -> None:
        bits = max(1, (parameters.strand_depth[unit] - 1).bit_length())
        widths[f"{unit}.{command}.enable"] = 1, False
        widths[f"{unit}.{command}.first"] = bits, False
        widths[f"{unit}.{command}.last"] = bits, False

    for command in ("run", "dump"):
        widths[f"{command}.pause"] = cycles + 1, True
        widths[f"{command}.drain"] = cycles + 1, False
        widths[f"{command}.outputs"] = parameters.output_depth.bit_length(), False
        for unit in overlay.units:
            addresses(unit, command)
            widths[f"{unit}.{command}.wait"] = cycles, False
    for command in ("run", "load"):
        widths[f"{command}.beats"] = cycles + 1, True
        addresses("stream", command)
    for number in range(PROGRAM_SHIFTS):
        widths[f"shift.{number}"] = parameters.shift_bits, False
    return widths | {
        "release.wait": (cycles, False),
        "ring.last": ((parameters.ring_slots - 1).bit_length(), False),
        "data.window": (parameters.data_depth.bit_length(), False),
        "root_data.window": (parameters.root_data_depth.bit_length(), False),
        "dump.count": (max(*parameters.lane_depths.values(), parameters.root_memory_depth).bit_length(), False),
        "run.overlap": (cycles + 2, False),
        "program.fingerprint": (CONTAINER, False),
    }


HOST_NUMBERS = (
    "load.beats",
    "stream.load.enable",
    "run.beats",
    "stream.run.enable",
    "run.outputs",
    "dump.count",
    "run.overlap",
    "program.fingerprint",
)
"""The numbers of a program that a wrapper around the overlay needs, too."""


def number_port(name: str) -> str:
    """Return the port of the hardware that shows a number of the program."""
    return f"program_{name.removeprefix('program.').replace('.', '_')}"


def timing_layout(overlay: Overlay) -> WordLayout:
    """Return the layout of the word of timing, which holds every number of a program."""
    fields: dict[str, Field] = {}
    offset = 0
    for name, (width, _) in timing_widths(overlay).items():
        fields[name] = Field(name=name, offset=offset, width=width)
        offset += width
    return WordLayout(fields=fields, width=offset)


def program_numbers(image: Image, overlay: Overlay) -> dict[str, int]:
    """Return the numbers of an image for an overlay, by the names of the registers that hold them.

    Beside those of `timing_numbers` and the places of shifts there are three for a host: ``dump.count``, the tokens of
    a dump; ``run.overlap``, the samples that the array may be working on at the same time; and ``program.fingerprint``.
    """
    places = [overlay.parameters.shifts.index(shift) for shift in image.parameters.shifts]
    places += [0] * (PROGRAM_SHIFTS - len(places))
    return {
        **timing_numbers(image),
        **{f"shift.{number}": place for number, place in enumerate(places)},
        "dump.count": image.dump_count,
        "run.overlap": samples_at_work(image),
        "program.fingerprint": fingerprint(image),
    }


def timing_word(numbers: Mapping[str, int], overlay: Overlay) -> int:
    """Return the word of timing that holds the numbers of a program."""
    fields = timing_layout(overlay).fields
    word = 0
    for name, value in numbers.items():
        word |= fields[name].insert(value)
    return word
