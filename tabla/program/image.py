"""What is handed to hardware and simulators: parameters, control constants, memory images.

An :class:`Image` is everything that the Verilog emitter, the cycle model and the host need; none of them sees
the graph or the schedule. The meaning of every number is in ``docs/decisions/0003-machine.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabla.templates.template import units_of

UNITS = units_of(1)
"""The units of an array with one sequencer whose programs start with a token; `stream` is the fifth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTable:
    """One function pipeline: integers of ``docs/decisions/0004-functions.md`` (empty tuples where a kind has none).

    `index_bits` is k, `fraction_bits` t (not `direct`), `reach` of the direct functions, `constant` C (exp, circular).
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
    exponent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The shape of the hardware.

    Depths are words (>= 1) per lane or of the root; `address_bits` maps a unit to the width of its memory
    addresses (every generator of that unit but low, high); `guard_bits` is the signed width of low and high;
    `block_bits` the width of the stream's block generator. `levels` and `body` are the most loop levels and
    body slots of any strand. `strand_depth` and `operation_depth` map each unit and `stream` to words. Each of
    `sequencers` drives as many lanes as the others, side by side, with programs of its own. `roots` roots in lockstep
    share `pes` lanes evenly; with more than one, each has one tap group (``pes_per_pu = pes / roots``). With
    `split_results` each group has results of its own: all groups' words leave, one after the other.
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

    @property
    def lanes(self) -> int:
        """Lanes that share a root."""
        return self.pes // self.roots

    @property
    def lane_depths(self) -> dict[str, int]:
        """Words of each memory that a lane may have."""
        return {"model": self.model_depth, "data": self.data_depth, "interim": self.interim_depth}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One program of the units: where its strands lie and how its samples follow each other.

    `skew`, `begin` (first strand word) and `strands` (how many, may be 0) are per unit. `outputs` words leave
    per token. `drain` cycles after the last token everything has come to rest.
    """

    period: int
    skew: Mapping[str, int]
    begin: Mapping[str, int]
    strands: Mapping[str, int]
    outputs: int
    drain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEntry:
    """A program of the stream: strand words [begin, begin + strands), `beats` in all (0: nothing to take)."""

    begin: int
    strands: int
    beats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A whole build. `strands` and `operations` hold the microcode words of each unit and of `stream`."""

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

    @property
    def units(self) -> tuple[str, ...]:
        """The units whose programs start with a token; `stream` is one more."""
        return units_of(self.parameters.sequencers)

    @property
    def memories(self) -> tuple[tuple[str, str], ...]:
        """What ``program_memory`` numbers, in this order: a unit and its kind of microcode words."""
        return tuple((unit, kind) for unit in ("stream", *self.units) for kind in ("strands", "operations"))

    @property
    def memory_bits(self) -> int:
        """Bits of ``program_memory``."""
        return max(4, (len(self.memories) - 1).bit_length())
