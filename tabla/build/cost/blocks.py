"""Multipliers and block RAMs, counted one by one as Yosys maps them to a Lattice ECP5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabla.hw.block_memories import microcode_has_blocks, roots_have_blocks
from tabla.hw.control import sources
from tabla.hw.features import Features, is_lean
from tabla.hw.functions.interpolation import Interpolation, bent_bits, signed_bits
from tabla.hw.lane import lane_shape
from tabla.hw.memory import WordMemory
from tabla.hw.output import OutputBuffer
from tabla.hw.pipeline import bits_for
from tabla.hw.strands import StrandFetch
from tabla.program.image import FunctionTable, Image
from tabla.program.layout import operation_layout, strand_layout
from tabla.templates.instructions import operation_format

_MULTIPLIER = 18
"""The bits of an operand of a MULT18X18D, and those of each piece but the last into which Yosys divides a wider one."""
_SHAPES = ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))
"""Bits and words of a DP16KD with a port that writes and one that reads. A part of at most 18 bits never takes 36."""
_RANK_WORDS, _RANK_BITS, _MOST_RANKS = 16, 4, 20
"""Words and bits of a TRELLIS_DPR16X4, and the most of them that Yosys makes of a memory that may be a block RAM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory with a registered read port: `words` of `bits` bits, `copies` times in the array.

    `name` says what lies in it: ``model``, ``data`` or ``interim`` of the lanes, ``root data`` or ``root memory``,
    ``microcode``, ``functions`` or ``output``.
    `block` says that the hardware asks for block RAMs. `used` are the bits that somebody reads; None stands for all.
    The words are divided into parts of at most `widest` bits.
    """

    bits: int
    words: int
    block: bool
    copies: int = 1
    used: frozenset[int] | None = None
    widest: int = WordMemory.WIDEST
    name: str = ""

    @property
    def parts(self) -> list[int]:
        """The bits of each memory into which the words are divided, without those of which nobody reads a bit."""
        found = []
        for low in range(0, self.bits, self.widest):
            bits = range(low, min(low + self.widest, self.bits))
            read = len(bits) if self.used is None else len(self.used.intersection(bits))
            if read:
                found.append(read)
        return found

    @property
    def depth(self) -> int:
        """The words with those above them that only fill the address."""
        return 1 << bits_for(self.words)

    def ranks(self, bits: int) -> int:
        """Return the number of TRELLIS_DPR16X4 that hold a part."""
        return -(-bits // _RANK_BITS) * -(-self.depth // _RANK_WORDS)

    @property
    def distributed(self) -> list[int]:
        """The parts that are made of distributed RAM."""
        return [bits for bits in self.parts if not self.block and self.ranks(bits) <= _MOST_RANKS]

    @property
    def block_rams(self) -> int:
        """The block RAMs of all copies."""
        parts = [bits for bits in self.parts if self.block or self.ranks(bits) > _MOST_RANKS]
        return self.copies * sum(_block_rams(bits, self.depth) for bits in parts)


def _block_rams(bits: int, words: int) -> int:
    return min(-(-bits // wide) * -(-words // deep) for wide, deep in _SHAPES)


def memories(image: Image, features: Features) -> Iterator[Memory]:
    """Yield the memories of an array that may be block RAMs."""
    parameters, shape = image.parameters, lane_shape(image.parameters, features)
    # What nobody writes is always 0, and Yosys drops it.
    written = {
        "model": shape.model_written or shape.model_loaded,
        "data": features["stream"].uses("to_data", "1"),
        "interim": shape.interim_written or shape.interim_loaded,
    }
    for name in (name for name in shape.memories if written[name]):
        yield Memory(
            bits=parameters.width + shape.extra(name),
            words=shape.depth(name),
            block=name in shape.blocks,
            copies=parameters.pes,
            name=name,
        )
    yield from _root_memories(image, features)
    for table in parameters.functions:
        if table.base:
            yield table_memory(table, parameters.roots)
    for unit in ("stream", *image.units):
        yield _operations(image, features, unit)
        if parameters.strand_depth[unit] > StrandFetch.AT_HAND:
            bits = strand_layout(unit, parameters).width
            yield Memory(bits=bits, words=parameters.strand_depth[unit], block=True, name="microcode")
    yield output_memory(image)


def output_memory(image: Image) -> Memory:
    """Return the memory of the words that leave: one for all words, or with results of all roots one for each root."""
    parameters = image.parameters
    if parameters.split_results:
        places = -(-parameters.output_depth // parameters.roots)
        return Memory(bits=parameters.width, words=places, block=False, copies=parameters.roots, name="output")
    deep, wide = parameters.output_depth > OutputBuffer.DEEP, parameters.width
    return Memory(bits=wide, words=parameters.output_depth, block=deep, widest=wide, name="output")


def _root_memories(image: Image, features: Features) -> Iterator[Memory]:
    parameters, issue = image.parameters, features["root_issue"]
    block, depths = roots_have_blocks(parameters), (parameters.root_data_depth, parameters.root_memory_depth)
    for operand in ("a", "b", "c"):
        names = {name.removeprefix("gathered_") for name in sources(operation_format("root_issue"), operand, issue)}
        for name, depth in zip(("data", "memory"), depths, strict=True):
            wide = operand == "c" and name in issue.wide_sources
            if name in names or wide:
                bits = parameters.width + (parameters.model_guard if wide else 0)
                yield Memory(bits=bits, words=depth, block=block, copies=parameters.roots, name=f"root {name}")


def _operations(image: Image, features: Features, unit: str) -> Memory:
    """Return the memory of a unit's operation words, with the bits that the sequencer reads."""
    parameters, own = image.parameters, features[unit]
    layout, form = operation_layout(unit, parameters), operation_format(unit)
    lean = is_lean(parameters)
    names = [field.name for field in form.fields]
    names += [name for name in layout.fields if name in ("up", "wide")]
    for generator in form.generators:
        if generator in own.generators:
            levels = own.moves.get(generator, frozenset()) if lean else frozenset(range(parameters.levels))
            names += [f"{generator}.base", *(f"{generator}.delta{level}" for level in sorted(levels))]
            names += [f"{generator}.window"] if generator in own.windowed else []
    places = [(layout.fields[name], _address_bits(image, features, unit, name)) for name in names]
    used = frozenset(
        place.offset + bit
        for place, most in places
        for bit in range(place.width if most is None else min(place.width, most))
    )
    return Memory(
        bits=layout.width,
        words=parameters.operation_depth[unit],
        block=microcode_has_blocks(parameters, unit),
        used=used,
        name="microcode",
    )


def _address_bits(image: Image, features: Features, unit: str, name: str) -> int | None:
    """Return how many bits of a generator's field reach an address; None for all. Memories may be smaller than the
    addresses of their unit. The registers of an address stay where Yosys drops the memory, because nobody writes it.
    """
    parameters, (generator, _, field) = image.parameters, name.partition(".")
    if not field:
        return None
    if unit == "lane_issue" and generator in ("model", "interim"):
        return bits_for(lane_shape(parameters, features).depth(generator))
    if unit == "root_issue":
        depths = {"data": parameters.root_data_depth, "memory": parameters.root_memory_depth}
        found = {source.rpartition("_")[2] for source in sources(operation_format(unit), generator, features[unit])}
        return max((bits_for(depths[source]) for source in found if source in depths), default=None)
    return None


def table_memory(table: FunctionTable, roots: int) -> Memory:
    """Return the table of a function. Yosys drops the bits that are the same in all of its words."""
    # Tables of several roots hold half a unit, as `tabla.hw.functions.interpolation` says.
    half = 1 << (table.guard - 1) if roots > 1 and table.kind == "direct" and table.guard else 0
    columns = [tuple(base + half for base in table.base), table.slope, *([table.curve] if table.curve else [])]
    words, bits = [0] * len(table.base), 0
    for column in columns:
        own = signed_bits(column)
        words = [word | ((entry & ((1 << own) - 1)) << bits) for word, entry in zip(words, column, strict=True)]
        bits += own
    used = frozenset(bit for bit in range(bits) if len({word >> bit & 1 for word in words}) > 1)
    return Memory(bits=bits, words=len(words), block=True, copies=roots, used=used, name="functions")


def block_rams(image: Image, features: Features) -> int:
    """Return the number of DP16KD of an array."""
    return sum(memory.block_rams for memory in memories(image, features))


def multipliers(image: Image, features: Features) -> int:
    """Return the number of MULT18X18D of an array."""
    parameters = image.parameters
    lanes, roots = (_own_product(features, unit, parameters.width) for unit in ("lane_issue", "root_issue"))
    roots += sum(pieces(*bits) for table in parameters.functions for bits in function_products(table, parameters.width))
    return parameters.pes * lanes + parameters.roots * roots


def function_products(table: FunctionTable, width: int) -> list[tuple[int, int]]:
    """Return the bits of both factors of each product in the pipeline of a function."""
    found = [(bent_bits(table), table.shift + 1)] if table.base else []
    if table.curve:
        found.append((signed_bits(table.curve), min(table.shift, Interpolation.PLACE_BITS) + 1))
    if table.kind in ("exp", "circular"):
        found.append((width, table.constant.bit_length() + 1))
    return found


def _own_product(features: Features, unit: str, width: int) -> int:
    """Return the multipliers of a lane or a root. A factor that is ONE or nothing has a single bit."""
    form, own = operation_format(unit), features[unit]
    if not sources(form, "a", own):
        return 0
    single = {"one", "position"}.issuperset(sources(form, "b", own))
    return pieces(width, 1 if single else width)


def pieces(left: int, right: int) -> int:
    """Return the number of MULT18X18D that multiply two signed words."""
    return _slices(left) * _slices(right)


def _slices(bits: int) -> int:
    """Return the pieces of an operand that take a multiplier. A last piece of a single bit is multiplied by logic."""
    full, last = divmod(max(bits, 2) - 1, _MULTIPLIER)
    return full + (last > 0)
