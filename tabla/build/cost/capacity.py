"""What the memories of an array take of a part: block RAMs one by one, and LUTs that can be memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabla.base.source import TablaError
from tabla.build.cost.blocks import Piece, memories
from tabla.build.synth.nextpnr import chosen_grade
from tabla.hw.features import features_of
from tabla.program.image import Image
from tabla.schedule.mapping.capacity import known_parts
from tabla.templates.targets import Device, Target
from tabla.templates.template import Template

Part = tuple[Target, Device]
"""A device with its family."""
_RANK = 16
"""LUTs hold words in ranks of so many, at least."""
_BLOCK = 18 << 10
"""The bits of a block RAM of 18 kbit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What an array takes and a part has: `blocks` of the block RAMs `has_blocks`, and LUTs with `lut_bits` of memory,
    of which the part has `has_lut_bits`. `blocks_of` has the block RAMs of each kind of memory that takes some, by the
    name that `tabla.build.cost.blocks` gives it.
    """

    part: Part
    blocks: int
    has_blocks: int
    lut_bits: int
    has_lut_bits: int
    blocks_of: Mapping[str, int] = field(default_factory=dict)

    @property
    def fits(self) -> bool:
        """Whether the part holds the memories."""
        return self.blocks <= self.has_blocks


def room(image: Image, part: Part) -> Room | None:
    """Return what the memories of an image take of a part; None for a family whose records do not say what a RAM holds.

    A memory takes whole block RAMs, however few words it has. Memories that synthesis makes of LUTs lie there as far as
    those of the part reach, those that gain most first.
    """
    family, device = part
    if not family.ram_bits:
        return None
    has = family.lut_memory_bits(device)
    blocks, left = Counter[str](), has
    pieces = [
        (each, not piece.in_luts, _in_luts(piece), _in_blocks(piece, family))
        for each in memories(image, features_of(image))
        for piece in each.pieces
    ]
    for each, block, lut_bits, rams in sorted(pieces, key=lambda piece: piece[2] / piece[3]):
        small = 0 if block else min(each.copies, left // lut_bits)
        left -= small * lut_bits
        blocks[each.name] += (each.copies - small) * rams
    return Room(
        part=part,
        blocks=blocks.total(),
        has_blocks=device.capacity("RAM"),
        lut_bits=has - left,
        has_lut_bits=has,
        blocks_of={name: count for name, count in sorted(blocks.items()) if count},
    )


def named_part(text: str, own: str | None = None) -> Part:
    """Return the part of ``LFE5U-85F`` or ``LFE5U-85F:6``, by its name or by that of its record.

    The known parts are those of our records and of the file `own`. An unknown part, and a speed grade that the part
    does not have, are a `TablaError`.
    """
    name, colon, grade = text.partition(":")
    for family, device in known_parts(own):
        if device.called(name):
            if colon and not grade.isdigit():
                raise TablaError(
                    f"part: '{grade}' is not a speed grade", hint=f"write {device.part}:{device.grades[0]}"
                )
            if colon:
                chosen_grade(device, int(grade))
            return family, device
    names = ", ".join(device.part for _, device in known_parts(own))
    raise TablaError(f"part: there is no part '{name}' here", hint=f"the parts are {names}")


def for_part(template: Template, part: Part) -> Template:
    """Return a template that says how many block RAMs of 18 kbit a part has.

    It says nothing of a part whose block RAMs have another size, or of whose LUTs none can be memory.
    """
    family, device = part
    same = family.ram_bits == _BLOCK and family.lut_memory_bits(device) > 0
    return replace(template, block_rams=device.capacity("RAM") if same else 0)


def refuse_without_room(image: Image, name: str, parts: Sequence[Part], *, named: bool) -> None:
    """Raise `TablaError` for a design whose memories none of the parts holds.

    `named` says that the user named the part; the others are all that are known. Where the size of one of them is not
    known, nothing is refused.
    """
    rooms = [room(image, part) for part in parts]
    known = [each for each in rooms if each is not None]
    if len(known) < len(rooms) or not known or any(each.fits for each in known):
        return
    most = max(known, key=lambda each: each.part[0].memory_bits(each.part[1]) or 0)
    family, device = most.part
    what = f"the {device.part}" if named else f"the largest known part, {device.part},"
    luts = f", beside {most.lut_bits:,} bits in LUTs" if most.lut_bits else ""
    raise TablaError(
        f"the memories of '{name}' take {most.blocks:,} block RAMs ({family.title_of('RAM')}){luts}; {what} has"
        f" {most.has_blocks:,}",
        hint="make the tensors smaller, or use a narrower --format, or fewer PEs (--pes), which need fewer memories;"
        " --force goes on for a larger part",
    )


def _in_luts(piece: Piece) -> int:
    """Return the bits of LUTs that a piece of a memory takes, in whole ranks."""
    return piece.bits * -(-piece.words // _RANK) * _RANK


def _in_blocks(piece: Piece, family: Target) -> int:
    """Return the block RAMs that a piece of a memory takes: those of the shape that takes the fewest."""
    return min(-(-piece.bits // wide) * -(-piece.words // deep) for wide, deep in _shapes(family.ram_bits))


def _shapes(bits: int) -> Iterator[tuple[int, int]]:
    """Yield the shapes of a block RAM of so many bits: the bits and the number of its words.

    A RAM with a ninth bit to each byte has it in words of nine bits and more. The widest words are those of 36 bits, or
    without a ninth bit of 16.
    """
    ninth = bits % 9 == 0
    for wide in (36, 18, 9) if ninth else (16, 8):
        yield wide, max(1, bits // wide)
    for wide in (4, 2, 1):
        yield wide, max(1, (bits * 8 // 9 if ninth else bits) // wide)
