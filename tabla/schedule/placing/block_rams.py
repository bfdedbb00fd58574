"""The block RAMs that the memories of a schedule take beyond the first of each, by which the search weighs mappings."""

from __future__ import annotations

from tabla.schedule.placing.needed import blocks_of, in_all_slots
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.memories import FEW_WORDS, LUT_WORDS, WIDEST

NARROW = 9
"""A block RAM of 18 kbit has 2,048 words of up to so many bits, and 1,024 wider ones."""
ROOT_COPIES = 3
"""A memory of a root exists once for each operand."""
OPERATION_BLOCKS, STRAND_BLOCKS = 24, 7
"""The block RAMs of the operation words and of the strand words of a unit: 5 to 27, and 7, in networks of 64 PEs."""


def block_words(width: int) -> int:
    """Return the words of a block RAM, or of several side by side, for words of `width` bits."""
    return 2048 if width <= NARROW else 1024


def blocks(schedule: Schedule) -> int:
    """Count the block RAMs of all lanes and roots in memories of many words; for a named part, also those of microcode
    that is too long for LUTs.

    Where that is more than the named part has, memories of lanes lie in LUTs if they have no more than 128 words.
    """
    taken, has = further_blocks(schedule, free=0), schedule.template.block_rams
    if not has:
        return taken
    microcode = _blocks_of_microcode(schedule)
    if taken + microcode > has:
        taken = further_blocks(schedule, free=0, few=LUT_WORDS)
    return taken + microcode


def _blocks_of_microcode(schedule: Schedule) -> int:
    """Return about how many block RAMs microcode of more than 128 words takes.

    How wide its words are is not known before they are encoded.
    """
    taken, deep = 0, block_words(WIDEST)
    for strands in schedule.units.values():
        for words, each in ((sum(len(s.body) for s in strands), OPERATION_BLOCKS), (len(strands), STRAND_BLOCKS)):
            taken += each * -(-words // deep) if words > LUT_WORDS else 0
    return taken


def further_blocks(schedule: Schedule, *, free: int = 1, few: int = FEW_WORDS) -> int:
    """Count the block RAMs of all lanes and roots, without the first `free` ones of each memory.

    The first one is free, because small memories lie in LUTs or in a block RAM that is there anyway. A memory has a
    block RAM for each run of as many words as one holds of which some are needed. Guard bits of models are not looked
    at. With `free` of 0 memories of few words are left out, because they are the same in every schedule; those of lanes
    if they have no more than `few` words.
    """
    words = block_words(schedule.format.width)
    depths, slots, template = schedule.layout.depths, schedule.ring_slots, schedule.template
    roots = max(1, template.roots)
    memories = {
        "model": (depths.model, template.pes, 0),
        "data": (depths.data, template.pes, depths.data),
        "interim": (depths.interim, template.pes, 0),
        "root memory": (depths.root_memory, ROOT_COPIES, 0),
        "root data": (depths.root_data, ROOT_COPIES, depths.root_data),
    }
    total = 0
    for memory, (depth, copies, window) in memories.items():
        most = FEW_WORDS if memory.startswith("root") else few
        if not free and depth * (slots if window else 1) <= most:
            continue
        needed = schedule.layout.needed.get(memory, (((0, depth),),) * copies)
        each = slots if window else 1
        # Many lanes need the same.
        blocks = {own: max(0, blocks_of(in_all_slots(own, each, window), words) - free) for own in set(needed)}
        total += sum(blocks[own] for own in needed) * (roots if memory.startswith("root") else 1)
    return total * -(-schedule.format.width // WIDEST)
