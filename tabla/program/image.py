"""The image: what is handed to hardware and simulators.

An :class:`Image` has the shape of the hardware, the constants of its controller, and the microcode. The Verilog emitter
and the cycle model see nothing else of a build, neither the graph nor the schedule. The meaning of every number is in
``docs/decisions/0003-machine.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabla.templates.instructions import units_of

UNITS = units_of(1)
"""The units of an array with one sequencer that begin with a token. The stream, which does not, is one more."""
Ranges = tuple[tuple[int, int], ...]
"""Addresses [begin, end), in order and apart from each other."""
USUAL_BLOCKS = 208
"""The block RAMs of 18 kbit of an LFE5U-85F, which an array is for unless another part is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTable:
    """The integers of one function's pipeline, as ``docs/decisions/0004-functions.md`` defines them.

    There, `index_bits` is k, `fraction_bits` is t, and `constant` is C. A function that needs no table has empty ones,
    and a table of chords has no `curve`.
    """

    name: str
    code: int
    kind: str
    latency: int
    shift: int = 0
    guard: int = 0
    reach: int = 0
    index_bits: int = 0
    fraction_bits: int = 0
    constant: int = 0
    base: tuple[int, ...] = ()
    slope: tuple[int, ...] = ()
    curve: tuple[int, ...] = ()
    exponent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The shape of the hardware.

    Array: `pes` lanes in PUs of `pes_per_pu`. Each of `sequencers` drives an equal share of adjacent lanes with
    microcode of its own. `roots` roots, in lockstep, have an equal share of the lanes each; with more than one, a PU is
    the tap group of one root. With `split_results`, each group has results of its own, and the words of all groups
    leave one after the other, `port_words` of them in a beat. A write of all roots, and a sample, has a whole number of
    such beats.

    Words: `width` bits, `fraction` of them behind the point. `accumulator` is the width of an accumulator. `shifts` is
    the table of shifts, in bits. `model_guard` is the number of guard bits of wide models, `wide_memories` the memories
    that hold such models (``model``, ``interim`` and ``root memory``), and `wide_shifts` the positions in the table of
    the shifts that only wide operations have; other operations have none of them.

    Memories: depths are in words, at least 1, of each lane or of the root. The ring has `ring_slots` slots. A beat has
    `stream_words` words, and the output buffer has room for `output_depth` words. `needed` has the addresses
    [begin, end) that are needed of a memory, in order: of ``model``, ``data`` and ``interim`` for each lane of the
    array, of ``root data`` and ``root memory`` for the operands a, b and c of a root. Other words are never read, and
    are written by nothing but the stream. Of a memory that is not named all words are needed.

    Microcode: `levels` is the most loops of any strand, and `body` the most body slots. `start_bits`, `interval_bits`
    and `count_bits` are widths of the fields of strand words. `address_bits` has, by unit, the width of address
    generators; `guard_bits` is the signed width of `low` and `high`, and `block_bits` the width of the stream's
    `block`. `strand_depth` and `operation_depth` have, by unit, the depths of the microcode memories. An operation has
    `far_shift_bits` bits of the number of its shift above the two that every array has.

    An array that `predicts` takes the command PREDICT (decision 38). Operations then say whether they are for updates
    alone.

    An array that `scatters` has operations that write to the memory of the root where the position register says.

    With more than one of `stages` the units work on so many samples in turns (decision 56).

    Memories are divided between block RAMs and LUTs for a part of `part_blocks` block RAMs of 18 kbit.
    """

    name: str
    pes: int
    pes_per_pu: int
    width: int
    fraction: int
    accumulator: int
    shifts: tuple[int, ...]
    stream_words: int
    ring_slots: int
    model_depth: int
    data_depth: int
    interim_depth: int
    root_data_depth: int
    root_memory_depth: int
    output_depth: int
    levels: int
    body: int
    start_bits: int
    interval_bits: int
    count_bits: int
    address_bits: Mapping[str, int]
    guard_bits: int
    block_bits: int
    strand_depth: Mapping[str, int]
    operation_depth: Mapping[str, int]
    functions: tuple[FunctionTable, ...] = ()
    sequencers: int = 1
    roots: int = 1
    split_results: bool = False
    model_guard: int = field(default=0, repr=False)
    wide_memories: tuple[str, ...] = field(default=(), repr=False)
    wide_shifts: tuple[int, ...] = field(default=(), repr=False)
    port_words: int = field(default=1, repr=False)
    far_shift_bits: int = field(default=0, repr=False)
    predicts: bool = field(default=False, repr=False)
    scatters: bool = field(default=False, repr=False)
    stages: int = field(default=1, repr=False)
    needed: Mapping[str, tuple[Ranges, ...]] = field(default_factory=dict, repr=False)
    part_blocks: int = field(default=USUAL_BLOCKS, repr=False)

    @property
    def stage_bits(self) -> int:
        """The bits of the stage of a strand word; no strand word has one if `stages` is 1."""
        return max(1, (self.stages - 1).bit_length())

    @property
    def stored_width(self) -> int:
        """The bits of a stored word of a wide model; those of a word where there are no wide models."""
        return self.width + self.model_guard

    def shift_places(self, guard: int) -> tuple[int, ...]:
        """Return, for each shift, the bit of an accumulator that is the lowest of a result with `guard` bits.

        The words of operations that are not wide lie in the upper bits of such a result.
        """
        return tuple(s if n in self.wide_shifts else s - guard for n, s in enumerate(self.shifts))

    @property
    def shift_bits(self) -> int:
        """The bits of the number of a shift: those of the field of an operation, or more in an overlay."""
        return max(2, (len(self.shifts) - 1).bit_length())

    @property
    def lane_guard(self) -> int:
        """The guard bits of the lanes' results: none where only roots have wide models."""
        return self.model_guard if {"model", "interim"}.intersection(self.wide_memories) else 0

    @property
    def lanes(self) -> int:
        """The number of lanes that share a root."""
        return self.pes // self.roots

    @property
    def lane_depths(self) -> dict[str, int]:
        """The depth, in words, of each memory of a lane."""
        return {"model": self.model_depth, "data": self.data_depth, "interim": self.interim_depth}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The strands that the units run for each token of a command, ``run`` or ``dump``.

    Tokens are at least `period` cycles apart. By unit, `skew` is the number of cycles from a token to the unit's first
    strand, `begin` the address of the first strand word, and `strands` the number of strands, which may be 0. For each
    token `outputs` words leave. All units are at rest `drain` cycles after the last token.

    Where samples overlap, tokens of a run come exactly `period` cycles apart while samples are under way. A strand of
    stage k runs after the k-th token behind that of its sample.
    """

    period: int
    skew: Mapping[str, int]
    begin: Mapping[str, int]
    strands: Mapping[str, int]
    outputs: int
    drain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEntry:
    """The strands that the stream runs for a sample or for a load: strand words [begin, begin + strands).

    They take `beats` beats in all; with 0 there is nothing to take.
    """

    begin: int
    strands: int
    beats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstWords:
    """What memories hold before the first load: the words that a load would write, so that none is needed.

    `lanes` has, by memory (``model`` and ``interim``), the words of each lane of the array from address 0 on; all lanes
    have the same number of them. `roots` has the words of the memory of each root.
    """

    lanes: Mapping[str, tuple[tuple[int, ...], ...]]
    roots: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Everything that hardware and simulators need of a build.

    `run` and `dump` are the entries of these two commands, `stream_run` and `stream_load` those of the stream. A ring
    slot is free `release` cycles after its token. A slot is `data_window` words of each lane's data memory and
    `root_data_window` words of the root's. `strands` and `operations` have the microcode words by unit, the stream
    included. A dump has `dump_count` tokens, which its command says. With `first` words the program runs before a load.
    """

    parameters: Parameters
    run: Entry
    dump: Entry
    stream_run: StreamEntry
    stream_load: StreamEntry
    release: int
    data_window: int
    root_data_window: int
    strands: Mapping[str, tuple[int, ...]]
    operations: Mapping[str, tuple[int, ...]]
    dump_count: int = field(default=0, repr=False)
    first: FirstWords | None = field(default=None, repr=False)

    @property
    def units(self) -> tuple[str, ...]:
        """The units that begin with a token; the stream is one more."""
        return units_of(self.parameters.sequencers)

    @property
    def memories(self) -> tuple[tuple[str, str], ...]:
        """The microcode memories in the order in which the border's ``program_memory`` numbers them: unit and kind."""
        return tuple((unit, kind) for unit in ("stream", *self.units) for kind in ("strands", "operations"))

    @property
    def memory_bits(self) -> int:
        """The width of ``program_memory`` in bits."""
        return max(4, (len(self.memories) - 1).bit_length())
