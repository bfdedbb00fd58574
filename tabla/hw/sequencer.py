"""One unit's program: strands in time, loops, operation words and addresses."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.block_memories import asks_for_luts, microcode_has_blocks, strands_have_blocks
from tabla.hw.features import UnitFeatures, is_lean
from tabla.hw.generator import Generator
from tabla.hw.instruction import instruction_width
from tabla.hw.loops import Loops
from tabla.hw.memory import WordMemory
from tabla.hw.pipeline import bits_for, delayed, padded
from tabla.hw.predicting import described
from tabla.hw.strands import StrandFetch
from tabla.hw.tokens import samples_under_way
from tabla.program.image import Parameters
from tabla.program.layout import generator_width, operation_layout, strand_layout
from tabla.templates.instructions import kind_of, operation_format

_OVERLAPPING = """
live : In(1)
    Beside `token`: a sample begins. A strand of stage *k* does nothing if no sample began with the *k*-th token before
    the latest one.
stage : Out(stage)
    The stage of an operation, in the cycle in which the offset of its window is wanted.
"""
_PREDICTING = """
learns, function_learns : Out(1)
    Beside `instruction`, in the units that issue: no result needs the operation's sum, or the function's value. Only a
    root has `function_learns`.
"""
_SCATTERING = """
scattered : Out(1)
    Beside `instruction`, in the unit that writes for the root: the position of the root counts for the address.
"""


class Sequencer(wiring.Component):
    """Turns tokens into operations, each in its own cycle. Several samples follow each other without a bubble.

    Starts count from the first strand's start, which is the token's cycle *t*. The `valid`, `instruction`, `first`,
    `last` and `open` of the first operation show in cycle *t* + ``FIELDS``, and its generators' values in cycle *t* +
    ``VALUES``. The strands of one token end before those of the next one begin. An untimed sequencer, the stream's, has
    no tokens: its strands follow each other as fast as `allow` lets operations issue.

    Members
    -------
    restart : In(1)
        Back to the first strand; nothing under way survives. The first token may come 8 cycles later.
    enable : In(1), first_strand, last_strand : In(strand address), stable between restarts
    token : In(1)
    allow : In(1)
        Untimed sequencers only: no operation starts while it is low; up to 3 that started show later.
    offset : In(address)
        Window of the sample; wanted a cycle before ``VALUES``.
    turn : Out(1)
        The token, just so late that an offset that changes in the next cycle meets the right operations.
    valid, first, last, open : Out(1), instruction : Out(Inst)
        `open`: the gate lets the product through.
    up : Out(1)
        Beside `instruction`, one of several sequencers only: the operation's sum is for the tree.
    wide : Out(1)
        Beside `instruction`, with wide models only: the operation has guard bits.
    windowed : Out(1)
        Beside `instruction`, untimed sequencers only: the window applies to the address. (Their generators do not add
        it.)
    values : one Out for each generator in use
        In `lane_write` those in ``EARLY`` a cycle sooner, if none of them has a window: lanes compare them first.
    strand_write, operation_write : In(1), write_address : In(16), write_data : In(word)
    """

    FIELDS = 5
    VALUES = 7
    EARLY = ("low", "high")

    def __init__(
        self,
        *,
        unit: str,
        parameters: Parameters,
        features: UnitFeatures,
        strands: Sequence[int],
        operations: Sequence[int],
    ) -> None:
        self.unit = unit
        self.parameters = parameters
        self.features = features
        lean = is_lean(parameters)
        self.slots = features.slots if lean else parameters.body
        self.paced = features.paced if lean else parameters.interval_bits > 1
        self.moves = features.moves if lean else {}
        self.strands = tuple(strands)
        self.operations = tuple(operations)
        self.timed = unit != "stream"
        self.operation_layout = operation_layout(unit, parameters)
        self.strand_layout = strand_layout(unit, parameters)
        # The bits behind the generators.
        singles = ("up", "wide", "learns", "function_learns", "scattered")
        self.single = tuple(name for name in singles if name in self.operation_layout.fields)
        self.instruction_width = instruction_width(unit, parameters.far_shift_bits)
        self.offset_width = parameters.address_bits[unit]
        self.generators = tuple(g for g in operation_format(unit).generators if g in features.generators)
        self.stages = parameters.stages if self.timed else 1
        more = _PREDICTING if "learns" in self.single else ""
        more += _SCATTERING if "scattered" in self.single else ""
        more += _OVERLAPPING if self.stages > 1 else ""
        if more:
            self.data_sheet = described(self, more)
        super().__init__(self._members())

    def _members(self) -> dict[str, Any]:
        strand_address = bits_for(self.parameters.strand_depth[self.unit])
        members: dict[str, Any] = {
            "restart": In(1),
            "enable": In(1),
            "first_strand": In(strand_address),
            "last_strand": In(strand_address),
            "token": In(1),
            "allow": In(1),
            "offset": In(self.offset_width),
            "turn": Out(1),
            "valid": Out(1),
            "instruction": Out(self.instruction_width),
            "first": Out(1),
            "last": Out(1),
            "open": Out(1),
            "windowed": Out(1),
            **{name: Out(1) for name in self.single},
            "strand_write": In(1),
            "operation_write": In(1),
            "write_address": In(16),
            "write_data": In(max(self.strand_layout.width, self.operation_layout.width)),
        }
        if self.stages > 1:
            members |= {"live": In(1), "stage": Out(self.parameters.stage_bits)}
        if self.generators:
            members["values"] = Out(
                wiring.Signature({g: Out(generator_width(self.unit, g, self.parameters)) for g in self.generators})
            )
        return members

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        levels = self.parameters.levels
        m.submodules.fetch = fetch = StrandFetch(
            layout=self.strand_layout,
            levels=levels,
            depth=self._words(self.parameters.strand_depth[self.unit]),
            init=self.strands,
            block=strands_have_blocks(self.parameters, self.unit),
        )
        m.submodules.loops = loops = Loops(
            shape=fetch.shape,
            levels=levels,
            paced=self.paced,
            slots=self.slots,
        )
        block, words = microcode_has_blocks(self.parameters, self.unit), self.parameters.operation_depth[self.unit]
        m.submodules.operations = operations = WordMemory(
            width=self.operation_layout.width,
            depth=self._words(words),
            init=self.operations,
            block=block,
            distributed=asks_for_luts(words, block=block),
        )
        m.d.comb += [
            fetch.restart.eq(self.restart),
            fetch.enable.eq(self.enable),
            fetch.first.eq(self._running(self.first_strand)),
            fetch.last.eq(self._running(self.last_strand)),
            fetch.write_enable.eq(self.strand_write),
            fetch.write_address.eq(self._written(self.parameters.strand_depth[self.unit])),
            fetch.write_data.eq(self._strand_word()),
            loops.restart.eq(self.restart),
            loops.allow.eq(self.allow | int(self.timed)),
            operations.read_address.eq(self._running(loops.operation)),
            operations.write_enable.eq(self.operation_write),
            operations.write_address.eq(self._written(self.parameters.operation_depth[self.unit])),
            operations.write_data.eq(self.write_data),
            self.turn.eq(delayed(m, self.token, self.FIELDS, name="turn", clear=self.restart)),
        ]
        slots = self._start_strands(m, fetch, loops)
        issues = loops.issue
        if self.stages > 1:
            stage, works = self._stage(m, fetch, loops)
            issues = issues & works
            m.d.comb += self.stage.eq(delayed(m, stage, self.VALUES - 3, name="stage"))
        valid = delayed(m, issues, WordMemory.LATENCY, name="valid", clear=self.restart)
        flags = {
            name: delayed(m, getattr(loops, name), WordMemory.LATENCY, name=name)
            for name in ("fresh", "step", "first", "last", "open")
        }
        slots = delayed(m, slots, WordMemory.LATENCY, name="slots")
        self._describe(m, operations.read_data, valid, flags)
        self._generate(m, operations.read_data, valid, flags, slots)
        return m

    def _words(self, depth: int) -> int:
        """Return the words of a memory that holds `depth` words of a program."""
        return depth

    def _running(self, address: Any) -> Any:
        """Return where the memories hold a word of the program that runs."""
        return address

    def _written(self, depth: int) -> Any:
        """Return where `write_address` lies in a memory that holds `depth` words of a program."""
        return self.write_address

    def _strand_word(self) -> Any:
        """Return the word of a strand that is written."""
        return self.write_data

    def _start_strands(self, m: Module, fetch: StrandFetch, loops: Loops) -> Any:
        """Count down the wait of the strand whose turn is next.

        Return the slots, less 1, of the strand that issues.
        """
        strand = Signal(fetch.shape, reset_less=True)
        filled = Signal()
        start = Signal()
        takes = Signal()
        m.d.comb += takes.eq(start | ~filled)
        if self.timed:
            armed = Signal()
            runs = armed | ~strand.opening
            wait = Signal(len(strand.wait), reset_less=True)
            m.d.comb += start.eq(filled & wait[-1] & runs)
            m.d.sync += armed.eq(self.token | (armed & ~(start & strand.opening)))
            with m.If(self.restart):
                m.d.sync += armed.eq(0)
            with m.If(takes | (runs & ~wait[-1])):
                # A choice of what is counted from fits into the carry chain, one behind the difference does not.
                m.d.sync += wait.eq(Mux(takes, fetch.strand.wait, wait) - 1)
        else:
            m.d.comb += start.eq(filled & loops.done)
        m.d.comb += [
            fetch.pop.eq(takes & fetch.valid),
            loops.load.eq(start),
            loops.strand.eq(strand),
        ]
        with m.If(takes):
            m.d.sync += [
                *(strand[name].eq(fetch.strand[name]) for name in fetch.shape.members if name != "wait"),
                filled.eq(fetch.valid),
            ]
        with m.If(self.restart):
            m.d.sync += filled.eq(0)

        slots = Signal(range(max(2, self.slots)), reset_less=True)
        with m.If(start):
            m.d.sync += slots.eq(strand.slots + 1)
        return slots

    def _stage(self, m: Module, fetch: StrandFetch, loops: Loops) -> tuple[Any, Any]:
        """Return the stage of the strand that issues, and whether it has a sample to work on."""
        under_way = samples_under_way(m, tokens=self.stages, token=self.token, live=self.live, restart=self.restart)
        stage = Signal(self.parameters.stage_bits, reset_less=True)
        works = Signal()
        with m.If(loops.load):
            m.d.sync += [stage.eq(loops.strand.stage), works.eq(under_way.bit_select(loops.strand.stage, 1))]
        return stage, works

    def _describe(self, m: Module, word: Any, valid: Any, flags: dict[str, Any]) -> None:
        m.d.sync += [
            self.valid.eq(valid & ~self.restart),
            self.instruction.eq(self._instruction(word)),
            self.first.eq(flags["first"]),
            self.last.eq(flags["last"]),
        ]
        if not self.timed:
            m.d.sync += self.windowed.eq(self._field(word, "address.window"))
        for name in self.single:
            m.d.sync += getattr(self, name).eq(self._field(word, name))
        if "gate" in self.operation_layout.fields:
            gate = self._field(word, "gate")
            m.d.sync += self.open.eq(Array(flags["open"])[gate])
        else:
            m.d.sync += self.open.eq(1)

    def _generate(self, m: Module, word: Any, valid: Any, flags: dict[str, Any], slots: Any) -> None:
        alone = self.features.windowed.isdisjoint(self.EARLY)
        early = self.EARLY if alone and kind_of(self.unit) == "lane_write" else ()
        for name in self.generators:
            width = generator_width(self.unit, name, self.parameters)
            generator = Generator(
                width=width,
                levels=self.parameters.levels,
                slots=self.slots,
                moves=self.moves.get(name),
                windowed=self.timed and name in self.features.windowed,
                early=name in early,
            )
            m.submodules[f"{name}_generator"] = generator
            m.d.comb += [
                generator.valid.eq(valid),
                generator.fresh.eq(flags["fresh"]),
                generator.step.eq(flags["step"]),
                generator.behind.eq(slots),
                generator.base.eq(self._field(word, f"{name}.base")),
                generator.window.eq(self._field(word, f"{name}.window")),
                generator.offset.eq(padded(self.offset, width)),
                getattr(self.values, name).eq(generator.value),
            ]
            m.d.comb += [
                generator.deltas[level].eq(self._field(word, f"{name}.delta{level}"))
                for level in range(self.parameters.levels)
            ]

    def _instruction(self, word: Any) -> Any:
        """Return the fields of an operation, generators left out: the bits of the number of a shift are its
        last ones.
        """
        held = self.operation_layout.fields
        far = [self._field(word, name) for name in operation_format(self.unit).far if name in held]
        return Cat(word[: instruction_width(self.unit)], *far)

    def _field(self, word: Any, name: str) -> Any:
        place = self.operation_layout.fields[name]
        return word[place.offset : place.offset + place.width]
