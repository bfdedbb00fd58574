"""Which memories are block RAMs: as many as the part has. Lanes come first."""

from collections import Counter
from collections.abc import Sequence

from tabla.hw.banks import WIDEST, banks_of, blocks_of
from tabla.program.image import Parameters, Ranges
from tabla.program.layout import operation_layout, strand_layout
from tabla.templates.instructions import OPERANDS
from tabla.templates.memories import FEW_WORDS, LUT_WORDS

# What the microcode takes at most; a root's memories, and the tables of its function unit.
MICROCODE_BLOCKS, ROOT_BLOCKS, TABLE_BLOCKS = 34, 4, 2
# With more roots than this their memories are distributed RAM.
_ROOTS = 16
# The 16 words of one rank of distributed RAM may always be distributed: 18 bits of them take 27 LUT4.
_RANK = 16
# Addresses of more words make microcode a block RAM or two wider.
_WIDE = 512


def lane_blocks(parameters: Parameters) -> frozenset[str]:
    """Return the memories of a lane that are block RAMs.

    Where the memories of the array are more than the part has, memories of up to 128 words lie in distributed RAM.
    """
    deep = _deep(parameters)
    each = TABLE_BLOCKS + (ROOT_BLOCKS if roots_have_blocks(parameters) else 0)
    left = (parameters.part_blocks - MICROCODE_BLOCKS - parameters.roots * each) // parameters.pes
    if memories_fill_the_part(parameters):
        return frozenset(deep)
    others = [name for name in parameters.lane_depths if name not in deep]
    return frozenset((*deep, *others)[: max(left, len(deep))])


def roots_have_blocks(parameters: Parameters) -> bool:
    """Return whether the memories of roots are block RAMs. They are if the lanes keep one each, and one for each memory
    of many words.
    """
    lanes = parameters.pes * max(1, len(_deep(parameters)))
    roots = parameters.roots * (ROOT_BLOCKS + TABLE_BLOCKS)
    return parameters.roots <= _ROOTS and lanes + roots + MICROCODE_BLOCKS <= parameters.part_blocks


def microcode_has_blocks(parameters: Parameters, unit: str) -> bool:
    """Return whether a unit's operation words are in block RAM.

    With several sequencers the lanes' microcode is there several times. Units of which there is only one then give up
    their block RAMs if they have few words, as they do where roots had to. `lane_write` gives them up too where long
    addresses make operation words wide.

    Where the memories of lanes and roots and all microcode together are more than the part has, microcode of up to 128
    words lies in distributed RAM: a block RAM holds 18 bits of it, and has a thousand words for them.
    """
    if memories_fill_the_part(parameters) and parameters.operation_depth[unit] <= LUT_WORDS:
        return False
    plenty = parameters.sequencers == 1 and roots_have_blocks(parameters)
    wide = max(parameters.lane_depths.values()) > _WIDE
    always = ("lane_issue",) if wide else ("lane_issue", "lane_write")
    return plenty or unit.startswith(always) or parameters.operation_depth[unit] > _RANK


def strands_have_blocks(parameters: Parameters, unit: str) -> bool:
    """Return whether the strand words of a unit that has many of them are in block RAM."""
    return not memories_fill_the_part(parameters) or parameters.strand_depth[unit] > LUT_WORDS


def asks_for_luts(words: int, *, block: bool) -> bool:
    """Return whether a memory of so many words, which is in block RAM or not, must ask for distributed RAM.

    Synthesis makes it of fewer words without being asked.
    """
    return not block and words > FEW_WORDS


def memories_fill_the_part(parameters: Parameters) -> bool:
    """Return whether the memories of lanes and roots with many words take, with all microcode in block RAMs, more of
    them than the part has. An overlay, whose depths are asked for, is never said to.
    """
    if not parameters.needed:
        return False
    depths = parameters.lane_depths | {
        "root data": parameters.root_data_depth,
        "root memory": parameters.root_memory_depth,
    }
    taken = 0
    for memory, depth in depths.items():
        if depth <= FEW_WORDS:
            continue
        copies = len(OPERANDS) * parameters.roots if memory.startswith("root") else parameters.pes
        needed: Sequence[Ranges | None] = parameters.needed.get(memory) or (None,) * copies
        for own, count in Counter(needed).items():
            banks = banks_of(parameters.width, depth, own)
            taken += blocks_of(banks, parameters.width) * count * copies // len(needed)
    for unit in parameters.operation_depth:
        widths = [operation_layout(unit, parameters).width, strand_layout(unit, parameters).width]
        taken += sum(-(-width // WIDEST) for width in widths)
    return taken > parameters.part_blocks


def _deep(parameters: Parameters) -> tuple[str, ...]:
    """The memories of a lane that are block RAMs whatever else there is."""
    most = LUT_WORDS if memories_fill_the_part(parameters) else FEW_WORDS
    return tuple(name for name, depth in parameters.lane_depths.items() if depth > most)
