"""The block RAMs that the memories of a schedule take beyond the first of each, by which the search weighs mappings."""

from __future__ import annotations

from tabla.schedule.placing.schedule import Schedule

SHAPES = ((9, 2048), (18, 1024), (36, 512))
"""The bits and the number of the words of a block RAM of 18 kbit, the narrowest words first."""
ROOT_COPIES = 3
"""A memory of a root exists once for each operand."""


def block_words(width: int) -> int:
    """Return the words of a block RAM for words of `width` bits, at most 36."""
    return next(words for bits, words in SHAPES if width <= bits)


def further_blocks(schedule: Schedule) -> int:
    """Count the block RAMs of all lanes and roots, without the first of each memory.

    The first one is free, because small memories lie in LUTs or in a block RAM that is there anyway. A memory has a
    power of two of words. Guard bits of models, and memories that nobody reads, are not looked at.
    """
    words = block_words(schedule.format.width)
    depths, slots, template = schedule.layout.depths, schedule.ring_slots, schedule.template

    def beyond(deep: int) -> int:
        return max(0, (1 << (deep - 1).bit_length()) // words - 1) if deep else 0

    lane = beyond(depths.model) + beyond(depths.data * slots) + beyond(depths.interim)
    root = beyond(depths.root_memory) + beyond(depths.root_data * slots)
    return template.pes * lane + max(1, template.roots) * ROOT_COPIES * root
