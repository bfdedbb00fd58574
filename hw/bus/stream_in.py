"""From the packets of the bus to the beats of the array: whole, checked units only."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.bus.groups import GroupReader
from tabla.hw.bus.slice import InputSlice
from tabla.hw.bus.unit_buffer import UnitBuffer
from tabla.hw.countdown import Countdown

from tabla.program.bus import BusShape

FAULTS = ("short", "long", "keep", "range")


class Mode(enum.Enum):
    """What the input does: nothing, take units, fill the rest of a load with zeros, or swallow the rest of a packet."""

    IDLE = 0
    TAKE = 1
    FILL = 2
    SWALLOW = 3


class StreamInput(wiring.Component):
    """Takes the packets of one command and gives their units to the array, each of them once it has come whole.

    A beat of the bus is checked as a whole before anything that ends in it counts. A beat with a fault ends the
    command: units that ended in earlier beats count, and others touch nothing. A load goes to the array as it comes,
    and after a fault zeros stand for the rest of it. What follows of a faulty packet is swallowed up to its TLAST.

    Members
    -------
    tdata : In(bus_bits), tkeep : In(bus_bits / 8), tlast : In(1), tvalid : In(1), tready : Out(1)
        The stream of the bus.
    alive : In(1)
        There has been a reset; no beat is taken before.
    start : In(1), load : In(1), count : In(32)
        A command begins: a load, or a run of `count` units, at least 1. `load` is stable until the next `start`.
    cancel : In(1)
        Ends the command: a unit that is not whole is dropped, and the packet is not swallowed.
    reset : In(1)
        Ends the command and swallows the open packet. `clear` must be high in a later cycle.
    clear : In(1)
        Forgets the beats of the buffer.
    idle : Out(1)
        All packets of the command have been taken. `start` comes only then.
    torn : Out(1)
        The command has been given fewer units than it asked for, or a faulty load; until the next `start`.
    failed : Out(1)
        `torn`, or TLAST was late; until the next `start`.
    short, long, keep, range : Out(1)
        In the cycle of a fault.
    empty : Out(1)
        The array has taken all units that came whole.
    out_valid : Out(1), out_ready : In(1), out_data : Out(stream_words * width)
        Beats of the array.
    """

    def __init__(self, *, shape: BusShape) -> None:
        self.shape = shape
        inputs = {name: In(1) for name in ("tlast", "tvalid", "alive", "start", "load", "cancel", "reset", "clear")}
        outputs = {name: Out(1) for name in ("tready", "idle", "torn", "failed", "empty", *FAULTS)}
        super().__init__(
            {
                "tdata": In(shape.bus_bits),
                "tkeep": In(shape.bus_bits // 8),
                **inputs,
                **outputs,
                "count": In(32),
                "out_valid": Out(1),
                "out_ready": In(1),
                "out_data": Out(shape.stream_words * shape.width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.slice = beats = InputSlice(bits=shape.bus_bits)
        m.submodules.groups = groups = GroupReader(shape=shape)
        m.submodules.buffer = buffer = UnitBuffer(width=shape.stream_words * shape.width, depth=shape.buffer_beats)
        mode = Signal(Mode)
        flush = Signal()
        m.d.comb += [
            flush.eq(self.cancel | self.reset),
            *(getattr(beats, name).eq(getattr(self, name)) for name in ("tdata", "tkeep", "tlast", "tvalid")),
            self.tready.eq(beats.tready),
            beats.want.eq(((mode == Mode.TAKE) | (mode == Mode.SWALLOW)) & self.alive),
            beats.flush.eq(flush | self.start),
            beats.forget.eq(self.cancel),
            groups.beat_valid.eq(beats.valid),
            beats.take.eq(groups.beat_take),
            groups.data.eq(beats.data),
            groups.keep.eq(beats.keep),
            groups.last.eq(beats.last),
            groups.flush.eq(flush | self.start),
            groups.clear.eq(mode == Mode.FILL),
            self.idle.eq(mode == Mode.IDLE),
            self.empty.eq(buffer.empty),
            self.out_valid.eq(buffer.out_valid),
            self.out_data.eq(buffer.out_data),
            buffer.out_ready.eq(self.out_ready),
            buffer.clear.eq(self.clear),
        ]
        self._units(m, mode, beats, groups, buffer)
        return m

    def _units(self, m: Module, mode: Any, beats: InputSlice, groups: GroupReader, buffer: UnitBuffer) -> None:
        """Count groups, beats and units; judge each beat of the bus at its last group, and change the mode."""
        step, usable, ends, several, inside = self._places(m, mode, groups, buffer)
        takes, over, over_now = mode == Mode.TAKE, Signal(), Signal()
        bad_keep, bad_range, bad_short, absent = (
            Signal(name=f"beat_{n}") for n in ("keep", "range", "short", "absent")
        )
        # What this group adds to the beat's faults; containers behind the command's last one are ignored.
        counted = takes & ~over
        now_keep, now_range, now_short = Signal(), Signal(), Signal()
        m.d.comb += [
            # In a beat without TLAST every container has its place, also one that is not there: so it is known whether
            # the command's last container belongs to the beat. In a beat with TLAST absent containers end the packet.
            usable.eq(counted & (groups.full | ~groups.packet_ends)),
            over_now.eq(over | (ends & ~several)),
            now_keep.eq(
                bad_keep
                | counted
                & (
                    groups.bad_keep
                    | (absent & ~groups.empty)
                    | (~groups.full & ~groups.packet_ends)
                    | (groups.first & groups.empty)
                )
            ),
            now_range.eq(bad_range | (counted & groups.bad_range)),
            now_short.eq(bad_short | (counted & ~groups.full & (~groups.empty | inside))),
        ]
        judged, faulty, cut = Signal(), Signal(), Signal()
        m.d.comb += [
            judged.eq(step & takes & groups.final),
            # TLAST inside a unit: of the containers that did not come, or behind the last one that did.
            cut.eq((now_short | (groups.packet_ends & ~over_now & Mux(usable, ~ends, inside))) & ~now_keep),
            faulty.eq(judged & (now_keep | now_range | cut)),
            self.keep.eq(judged & now_keep),
            self.range.eq(judged & now_range),
            self.short.eq(judged & cut),
            self.long.eq(judged & over_now & ~groups.packet_ends),
            beats.resume.eq(judged & ~faulty & ~over_now & groups.packet_ends),
            buffer.commit.eq((judged & ~faulty) | self.load),
            buffer.rollback.eq((faulty | (self.cancel & takes)) & ~self.load),
        ]
        with m.If(step):
            m.d.sync += [
                bad_keep.eq(now_keep & ~groups.final),
                bad_range.eq(now_range & ~groups.final),
                bad_short.eq(now_short & ~groups.final),
                absent.eq((absent | ~groups.full) & ~groups.final),
                over.eq(over_now & ~groups.final & takes),
            ]
        self._modes(m, mode, groups, judged=judged, faulty=faulty, over=over_now, filled=ends & ~takes, beats=beats)
        with m.If(self.start):
            m.d.sync += [flag.eq(0) for flag in (bad_keep, bad_range, bad_short, absent, over)]

    def _places(self, m: Module, mode: Any, groups: GroupReader, buffer: UnitBuffer) -> tuple[Any, Any, Any, Any, Any]:
        """Count where in its unit a group lies, and put whole beats into the buffer.

        Returns five signals: a group is worked on in this cycle; it belongs to a unit (to be driven); it is the last of
        its unit; units follow that one; some groups of the unit have come.
        """
        shape = self.shape
        m.submodules.left = left = Countdown(width=32)
        step, usable, ends, inside, placed = (Signal(name=n) for n in ("step", "usable", "ends", "inside", "placed"))
        filling = Signal()
        sizes = (max(1, shape.run_beats), max(1, shape.load_beats))
        beat, part = Signal(range(max(2, *sizes))), Signal(range(max(2, shape.parts)))
        last_part, full = part == shape.parts - 1, Signal()
        m.d.sync += filling.eq(mode == Mode.FILL)
        m.d.comb += [
            step.eq(groups.valid & ((mode == Mode.SWALLOW) | ((mode == Mode.TAKE) & buffer.room))),
            groups.take.eq(step),
            # The words are zeros from the second cycle of the mode on.
            placed.eq((step & usable) | ((mode == Mode.FILL) & filling & buffer.room)),
            full.eq(placed & last_part),
            ends.eq(full & (beat == Mux(self.load, sizes[1] - 1, sizes[0] - 1))),
            buffer.put.eq(full),
            buffer.ends.eq(ends | self.load),
            left.load.eq(self.start),
            left.count.eq(self.count),
            left.short.eq(self.load),
            left.one.eq(1),
            left.step.eq(ends),
        ]
        word: Any = groups.words
        if shape.parts > 1:
            earlier = Signal((shape.parts - 1) * shape.group * shape.width, reset_less=True)
            word = Cat(earlier, groups.words)
            with m.If(placed):
                m.d.sync += earlier.eq(word[shape.group * shape.width :])
        m.d.comb += buffer.word.eq(word)
        with m.If(placed):
            m.d.sync += [part.eq(Mux(last_part, 0, part + 1)), inside.eq(~ends)]
        with m.If(full):
            m.d.sync += beat.eq(Mux(ends, 0, beat + 1))
        with m.If(self.start):
            m.d.sync += [part.eq(0), beat.eq(0), inside.eq(0)]
        return step, usable, ends, left.several, inside

    def _modes(
        self, m: Module, mode: Any, groups: GroupReader, *, judged: Any, faulty: Any, over: Any, filled: Any, beats: Any
    ) -> None:
        """Change the mode, and remember whether the command has gone well."""
        shape = self.shape
        # Whether the faulty packet has come to its end.
        closed = Signal()
        rest = Mux(groups.packet_ends, Mode.IDLE, Mode.SWALLOW)
        with m.If(judged & (faulty | over)):
            m.d.sync += [mode.eq(rest), closed.eq(groups.packet_ends)]
            with m.If(faulty & self.load & ~over):
                m.d.sync += mode.eq(Mode.FILL)
        with m.Elif((mode == Mode.SWALLOW) & groups.valid & groups.final & groups.packet_ends):
            m.d.sync += mode.eq(Mode.IDLE)
        with m.Elif(filled):
            m.d.sync += mode.eq(Mux(closed, Mode.IDLE, Mode.SWALLOW))
        with m.If(faulty):
            m.d.sync += self.torn.eq(1)
        with m.If(faulty | self.long):
            m.d.sync += self.failed.eq(1)
        with m.If(self.cancel & (mode != Mode.IDLE)):
            # A load whose last beat is placed in this cycle is whole; filling it up would make a second one.
            unfinished = self.load & ((mode == Mode.TAKE) | (mode == Mode.FILL)) & ~over
            m.d.sync += [mode.eq(Mux(unfinished, Mode.FILL, Mode.IDLE)), closed.eq(1)]
            with m.If(mode == Mode.TAKE):
                m.d.sync += [self.torn.eq(1), self.failed.eq(1)]
        with m.If(self.start):
            beats_wanted = Mux(self.load, int(shape.load_beats > 0), int(shape.run_beats > 0))
            m.d.sync += [mode.eq(Mux(beats_wanted, Mode.TAKE, Mode.IDLE)), self.torn.eq(0), self.failed.eq(0)]
        with m.If(self.reset):
            m.d.sync += mode.eq(Mux(beats.open, Mode.SWALLOW, Mode.IDLE))
