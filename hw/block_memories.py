"""Which memories are block RAMs: as many as parts have that hold so many lanes."""

# LFE5U-85F; what the microcode takes at most; a root's memories, and the tables of its function unit.
PART_BLOCKS, MICROCODE_BLOCKS, ROOT_BLOCKS, TABLE_BLOCKS = 208, 34, 4, 2
# With more roots than this their memories are distributed RAM.
_ROOTS = 16


# Distributed RAM is as deep as this: a block RAM less for each 18 bits, for some 27 LUT4.
_FEW = 16


def microcode_has_blocks(unit: str, sequencers: int, words: int) -> bool:
    """Whether a unit's operation words are in block RAM.

    Several sequencers have the lanes' microcode several times. Few words of the units that are there once make room.
    """
    return sequencers == 1 or unit.startswith("lane_") or words > _FEW


def roots_have_blocks(roots: int) -> bool:
    """Whether the memories of roots are block RAMs."""
    return roots <= _ROOTS


def blocks_per_lane(pes: int, roots: int) -> int:
    """How many of a lane's three memories are block RAMs."""
    each = TABLE_BLOCKS + (ROOT_BLOCKS if roots_have_blocks(roots) else 0)
    return max(0, min(3, (PART_BLOCKS - MICROCODE_BLOCKS - roots * each) // pes))
