"""Multipliers and block RAMs, counted one by one as Yosys maps them to a Lattice ECP5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tabla.hw.banks import banks_of
from tabla.hw.block_memories import asks_for_luts, microcode_has_blocks, roots_have_blocks, strands_have_blocks
from tabla.hw.control import sources
from tabla.hw.features import Features, is_lean
from tabla.hw.functions.interpolation import Interpolation, bent_bits, signed_bits
from tabla.hw.lane import lane_shape
from tabla.hw.memory import WordMemory
from tabla.hw.output import OutputBuffer
from tabla.hw.pipeline import bits_for
from tabla.hw.strands import StrandFetch
from tabla.program.image import FunctionTable, Image, Ranges
from tabla.program.layout import operation_layout, strand_layout
from tabla.templates.instructions import OPERANDS, operation_format
from tabla.templates.memories import FEW_WORDS

_MULTIPLIER = 18
"""The bits of an operand of a MULT18X18D, and those of each piece but the last into which Yosys divides a wider one."""
_SHAPES = ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))
"""Bits and words of a DP16KD with a port that writes and one that reads. A part of at most 18 bits never takes 36."""
_RANK_WORDS, _RANK_BITS, _MOST_RANKS = 16, 4, 20
"""Words and bits of a TRELLIS_DPR16X4, and the most of them that Yosys makes of a memory that may be a block RAM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A memory of `words` words, of at most 36 bits. `block` says that the hardware asks for block RAMs, and
    `distributed` that it asks for LUTs.
    """

    bits: int
    words: int
    block: bool
    distributed: bool = False

    @property
    def ranks(self) -> int:
        """The number of TRELLIS_DPR16X4 that hold it."""
        return -(-self.bits // _RANK_BITS) * -(-self.words // _RANK_WORDS)

    @property
    def in_luts(self) -> bool:
        """Whether Yosys makes it of distributed RAM."""
        return self.distributed or (not self.block and self.ranks <= _MOST_RANKS)

    @property
    def block_rams(self) -> int:
        """The block RAMs that hold it."""
        return min(-(-self.bits // wide) * -(-self.words // deep) for wide, deep in _SHAPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory with a registered read port: `words` of `bits` bits, `copies` times in the array.

    `name` says what lies in it: ``model``, ``data`` or ``interim`` of the lanes, ``root data`` or ``root memory``,
    ``microcode``, ``functions`` or ``output``.
    `block` says that the hardware asks for block RAMs. `used` are the bits that somebody reads; None stands for all.
    The words are divided into parts of at most `widest` bits, and into banks where only the addresses `needed` are
    read, or where there is no power of two of block RAMs. A `whole` memory is one bank of exactly its words. The
    hardware asks for LUTs for a memory that lies `in_luts` however many words it has.
    """

    bits: int
    words: int
    block: bool
    copies: int = 1
    used: frozenset[int] | None = None
    widest: int = WordMemory.WIDEST
    name: str = ""
    needed: Ranges | None = None
    whole: bool = False
    in_luts: bool = False

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

    @property
    def banks(self) -> tuple[int, ...]:
        """The words of each bank."""
        if self.whole:
            return (self.words,)
        return tuple(bank.words for bank in banks_of(self.bits, self.words, self.needed))

    @property
    def pieces(self) -> list[Piece]:
        """The memories that it is made of: each part in each bank."""
        banks = [(words, self.block and not (words <= FEW_WORDS and words < self.depth)) for words in self.banks]
        return [
            Piece(bits=bits, words=words, block=block, distributed=self.in_luts)
            for words, block in banks
            for bits in self.parts
        ]

    @property
    def distributed(self) -> list[Piece]:
        """The pieces that are made of distributed RAM."""
        return [piece for piece in self.pieces if piece.in_luts]

    @property
    def block_rams(self) -> int:
        """The block RAMs of all copies."""
        return self.copies * sum(piece.block_rams for piece in self.pieces if not piece.in_luts)


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
        kinds = Counter(shape.needed(name, lane) for lane in range(parameters.pes))
        for needed, copies in kinds.items():
            yield Memory(
                bits=parameters.width + shape.extra(name),
                words=shape.depth(name),
                block=name in shape.blocks,
                copies=copies,
                name=name,
                needed=needed,
                in_luts=asks_for_luts(shape.depth(name), block=name in shape.blocks),
            )
    yield from _root_memories(image, features)
    for table in parameters.functions:
        if table.base:
            yield table_memory(table, parameters.roots)
    for unit in ("stream", *image.units):
        yield operation_memory(image, features, unit)
        if parameters.strand_depth[unit] > StrandFetch.AT_HAND:
            yield strand_memory(image, unit)
    yield output_memory(image)


def strand_memory(image: Image, unit: str) -> Memory:
    """Return the memory of a unit's strand words, where they are too many to be at hand."""
    parameters = image.parameters
    block, words = strands_have_blocks(parameters, unit), parameters.strand_depth[unit]
    return Memory(
        bits=strand_layout(unit, parameters).width,
        words=words,
        block=block,
        name="microcode",
        in_luts=asks_for_luts(words, block=block),
    )


def output_memory(image: Image) -> Memory:
    """Return the memory of the words that leave: one for all words, or with results of all roots one for each root.

    It has a power of two of words, unless it is deep.
    """
    parameters = image.parameters
    wide, words, copies = parameters.width, parameters.output_depth, 1
    if parameters.split_results:
        words, copies = -(-words // parameters.roots), parameters.roots
    deep = copies == 1 and words > OutputBuffer.DEEP
    return Memory(
        bits=wide,
        words=words if deep else 1 << bits_for(words),
        block=deep,
        copies=copies,
        widest=wide if deep or copies == 1 else WordMemory.WIDEST,
        name="output",
        whole=True,
    )


def _root_memories(image: Image, features: Features) -> Iterator[Memory]:
    parameters, issue = image.parameters, features["root_issue"]
    block, depths = roots_have_blocks(parameters), (parameters.root_data_depth, parameters.root_memory_depth)
    for number, operand in enumerate(OPERANDS):
        names = {name.removeprefix("gathered_") for name in sources(operation_format("root_issue"), operand, issue)}
        for name, depth in zip(("data", "memory"), depths, strict=True):
            wide = operand == "c" and name in issue.wide_sources
            if name in names or wide:
                bits = parameters.width + (parameters.model_guard if wide else 0)
                own = parameters.needed.get(f"root {name}")
                yield Memory(
                    bits=bits,
                    words=depth,
                    block=block,
                    copies=parameters.roots,
                    name=f"root {name}",
                    needed=own[number] if own else None,
                )


def operation_memory(image: Image, features: Features, unit: str) -> Memory:
    """Return the memory of a unit's operation words, with the bits that the sequencer reads."""
    parameters, own = image.parameters, features[unit]
    layout, form = operation_layout(unit, parameters), operation_format(unit)
    lean = is_lean(parameters)
    names = [field.name for field in form.fields]
    names += [name for name in layout.fields if name in ("up", "wide", "scattered")]
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
    block, words = microcode_has_blocks(parameters, unit), parameters.operation_depth[unit]
    return Memory(
        bits=layout.width,
        words=words,
        block=block,
        used=used,
        name="microcode",
        in_luts=asks_for_luts(words, block=block),
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
