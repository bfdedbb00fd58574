"""Which memories are block RAMs: as many as the part has. Lanes come first."""

from collections import Counter
from collections.abc import Sequence

from tabla.hw.banks import banks_of, blocks_of
from tabla.hw.pipeline import bits_for
from tabla.program.image import Parameters, Ranges
from tabla.program.layout import operation_layout, strand_layout
from tabla.templates.instructions import OPERANDS
from tabla.templates.memories import FEW_WORDS, LUT_WORDS, WIDEST

# What the microcode takes at most; a root's memories, and the tables of its function unit.
MICROCODE_BLOCKS, ROOT_BLOCKS, TABLE_BLOCKS = 34, 4, 2
# With more roots than this their memories are distributed RAM.
_ROOTS = 16
# The 16 words of one rank of distributed RAM may always be distributed: 18 bits of them take 27 LUT4.
_RANK = 16
# Addresses of more words make microcode a block RAM or two wider.
_WIDE = 512


def lane_blocks(parameters: Parameters) -> frozenset[str]:
    """Return the memories of a lane that are block RAMs: those of many words, and others as far as the part has room.

    Where the memories of many words take more block RAMs than the part has, no memory of few words takes one.
    """
    deep = _deep(parameters)
    if memories_fill_the_part(parameters):
        return frozenset(deep)
    each = TABLE_BLOCKS + (ROOT_BLOCKS if roots_have_blocks(parameters) else 0)
    taken = MICROCODE_BLOCKS + parameters.roots * each + sum(_blocks(parameters, name) for name in deep)
    left = max(0, parameters.part_blocks - taken) // parameters.pes
    others = [name for name in parameters.lane_depths if name not in deep]
    return frozenset((*deep, *others[:left]))


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
    """
    if _operations(unit) in giving_way(parameters):
        return False
    plenty = parameters.sequencers == 1 and roots_have_blocks(parameters)
    wide = max(parameters.lane_depths.values()) > _WIDE
    always = ("lane_issue",) if wide else ("lane_issue", "lane_write")
    return plenty or unit.startswith(always) or parameters.operation_depth[unit] > _RANK


def strands_have_blocks(parameters: Parameters, unit: str) -> bool:
    """Return whether the strand words of a unit that has many of them are in block RAM."""
    return _strands(unit) not in giving_way(parameters)


def asks_for_luts(words: int, *, block: bool) -> bool:
    """Return whether a memory of so many words, which is in block RAM or not, must ask for distributed RAM.

    Synthesis makes it of fewer words without being asked.
    """
    return not block and words > FEW_WORDS


def giving_way(parameters: Parameters) -> frozenset[str]:
    """Return the memories of up to 128 words that lie in LUTs so that the block RAMs of the part hold the others: the
    operation words and the strand words of units, and memories of lanes.

    A block RAM holds 18 bits of such a memory, and has a thousand words for them. Those of the fewest words give way
    first, since they take the fewest LUTs for each block RAM. Among those of as many words, microcode gives way before
    memories of lanes, and narrow words before wide ones. What turns out not to be needed is given back, the widest
    first. All give way if that is not enough.
    """
    if not memories_fill_the_part(parameters):
        return frozenset()
    roots, lanes = _root_depths(parameters), parameters.lane_depths
    few = {name: words for name, words in _many_words(parameters).items() if words <= LUT_WORDS and name not in roots}
    blocks = {name: _blocks(parameters, name) for name in few}
    around = parameters.roots * (ROOT_BLOCKS + TABLE_BLOCKS) + 1
    excess = _taken(parameters) + around - parameters.part_blocks
    found = list[str]()
    for name in sorted(few, key=lambda name: (bits_for(few[name]), name in lanes, blocks[name], name)):
        if excess <= 0:
            break
        found.append(name)
        excess -= blocks[name]
    for name in sorted(found, key=lambda name: (-blocks[name], name)):
        if excess + blocks[name] <= 0:
            found.remove(name)
            excess += blocks[name]
    return frozenset(found)


def memories_fill_the_part(parameters: Parameters) -> bool:
    """Return whether the memories of lanes and roots with many words take, with all microcode, the tables of functions
    and the buffer of words that leave, more block RAMs than the part has. An array whose depths are all asked for,
    such as an overlay, is never said to.
    """
    tables = sum(bool(table.base) for table in parameters.functions)
    beside = parameters.roots * TABLE_BLOCKS * tables + (parameters.output_depth > FEW_WORDS)
    return bool(parameters.needed) and _taken(parameters) + beside > parameters.part_blocks


def _taken(parameters: Parameters) -> int:
    """Return the block RAMs of the memories of many words, and of all microcode."""
    return sum(_blocks(parameters, name) for name in _many_words(parameters))


def _many_words(parameters: Parameters) -> dict[str, int]:
    """Return the words of all microcode, and of the memories of lanes and roots with many words, by their names."""
    units, held = parameters.operation_depth, parameters.lane_depths | _root_depths(parameters)
    return {
        **{_operations(unit): words for unit, words in units.items()},
        **{_strands(unit): parameters.strand_depth[unit] for unit in units},
        **{name: words for name, words in held.items() if words > FEW_WORDS},
    }


def _root_depths(parameters: Parameters) -> dict[str, int]:
    """Return the words of the memories of a root, by their names."""
    return {"root data": parameters.root_data_depth, "root memory": parameters.root_memory_depth}


def _blocks(parameters: Parameters, name: str) -> int:
    """Return the block RAMs that a memory takes in the whole array."""
    kind, _, unit = name.partition(" of ")
    if unit:
        layout = operation_layout if kind == "operations" else strand_layout
        return -(-layout(unit, parameters).width // WIDEST)
    roots = _root_depths(parameters)
    depth = (parameters.lane_depths | roots)[name]
    copies = len(OPERANDS) * parameters.roots if name in roots else parameters.pes
    needed: Sequence[Ranges | None] = parameters.needed.get(name) or (None,) * copies
    return sum(
        blocks_of(banks_of(parameters.width, depth, own), parameters.width) * count * copies // len(needed)
        for own, count in Counter(needed).items()
    )


def _operations(unit: str) -> str:
    return f"operations of {unit}"


def _strands(unit: str) -> str:
    return f"strands of {unit}"


def _deep(parameters: Parameters) -> tuple[str, ...]:
    """The memories of a lane that are block RAMs whatever else there is."""
    gone = giving_way(parameters)
    return tuple(name for name, depth in parameters.lane_depths.items() if depth > FEW_WORDS and name not in gone)
