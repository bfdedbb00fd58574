"""From the packets of the bus to the beats of the array: whole, checked units only."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.bus.groups import GroupReader
from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.bus.slice import InputSlice
from tabla.hw.bus.unit_buffer import UnitBuffer
from tabla.hw.bus.verdict import Verdict
from tabla.hw.countdown import Countdown
from tabla.hw.predicting import described
from tabla.program.bus import BusShape

FAULTS = ("short", "long", "keep", "range")

_PREDICTING = """
predict : In(1)
    The run predicts: some containers of its units may have any bits. Stable from `start` to the next one.
"""


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

    def __init__(self, *, shape: BusShape, sizes: UnitSizes | None = None) -> None:
        self.shape, self.sizes = shape, sizes or UnitSizes.of(shape)
        self.ignores = bool(shape.ignored_runs)
        if self.ignores:
            self.data_sheet = described(self, _PREDICTING)
        inputs = {name: In(1) for name in ("tlast", "tvalid", "alive", "start", "load", "cancel", "reset", "clear")}
        outputs = {name: Out(1) for name in ("tready", "idle", "torn", "failed", "empty", *FAULTS)}
        super().__init__(
            {
                "tdata": In(shape.bus_bits),
                "tkeep": In(shape.bus_bits // 8),
                **inputs,
                **outputs,
                "count": In(32),
                **({"predict": In(1)} if self.ignores else {}),
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
            self.out_valid.eq(buffer.out_valid),
            self.out_data.eq(buffer.out_data),
            buffer.out_ready.eq(self.out_ready),
            buffer.clear.eq(self.clear),
        ]
        self._units(m, mode, beats, groups, buffer)
        return m

    def _units(self, m: Module, mode: Any, beats: InputSlice, groups: GroupReader, buffer: UnitBuffer) -> None:
        """Count groups, beats and units, and collect what is wrong with a beat of the bus.

        A beat is judged in the cycle after its last group. The first group of the next beat may be worked on in that
        cycle, and is forgotten if the beat is faulty.
        """
        over, finished = Signal(), Signal()  # the command's last unit has come; so has the beat in which it ended
        m.submodules.verdict = verdict = Verdict()
        step, usable, ends, several, inside = self._places(m, mode, over, groups, buffer)
        out_of_range: Any = groups.bad_range
        if self.ignores:
            out_of_range = (groups.bad_range & ~self._ignored(m, step & usable)).any()
        takes, over_now = mode == Mode.TAKE, Signal()
        bad_keep, bad_range, bad_short, absent = (
            Signal(name=f"beat_{n}") for n in ("keep", "range", "short", "absent")
        )
        # What this group adds to the beat's faults; containers behind the command's last one are ignored.
        counted = takes & ~over
        stops = self.start | self.cancel | self.reset
        loaded = Signal()
        m.d.sync += loaded.eq(self.load & buffer.put)
        m.d.comb += [
            # In a beat without TLAST every container has its place, also one that is not there: so it is known whether
            # the command's last container belongs to the beat. In a beat with TLAST absent containers end the packet.
            usable.eq(counted & groups.counts),
            over_now.eq(over | (ends & ~several)),
            verdict.beat.eq(step & groups.final & takes & ~finished & ~stops),
            verdict.bad_keep.eq(bad_keep | (counted & (groups.bad_keep | (absent & ~groups.empty)))),
            verdict.bad_range.eq(bad_range | (counted & out_of_range)),
            # TLAST inside a unit: in this group, or behind the last container that came, as `verdict.inside` says.
            verdict.bad_short.eq(bad_short | (counted & ~groups.full & ~groups.empty)),
            verdict.inside.eq(~over_now & Mux(usable, ~ends, inside)),
            verdict.finishes.eq(over_now),
            verdict.packet_ends.eq(groups.packet_ends),
            *(getattr(self, name).eq(getattr(verdict, name)) for name in FAULTS),
            beats.resume.eq(verdict.resumes),
            buffer.commit.eq(verdict.whole | loaded),
            self.empty.eq(buffer.empty & ~loaded),
        ]
        # Nothing is put in the cycle in which the buffer forgets, because the mode has changed.
        m.d.sync += buffer.rollback.eq((verdict.faulty | (self.cancel & takes)) & ~self.load)
        with m.If(ends & ~several):
            m.d.sync += over.eq(1)
        with m.If(step):
            m.d.sync += [
                bad_keep.eq(verdict.bad_keep & ~groups.final),
                bad_range.eq(verdict.bad_range & ~groups.final),
                bad_short.eq(verdict.bad_short & ~groups.final),
                absent.eq((absent | ~groups.full) & ~groups.final),
                finished.eq(over_now & (finished | groups.final)),
            ]
        closes = step & groups.final & groups.packet_ends
        self._modes(m, mode, verdict, closes=closes, over=over, beats=beats)
        with m.If(self.start):
            m.d.sync += [flag.eq(0) for flag in (bad_keep, bad_range, bad_short, absent, over, finished)]

    def _places(
        self, m: Module, mode: Any, over: Any, groups: GroupReader, buffer: UnitBuffer
    ) -> tuple[Any, Any, Any, Any, Any]:
        """Count where in its unit a group lies, and put whole beats into the buffer.

        Returns five signals: a group is worked on in this cycle; it belongs to a unit (to be driven); it is the last of
        its unit; units follow that one; some groups of the unit have come.
        """
        shape = self.shape
        m.submodules.left = left = Countdown(width=32)
        step, usable, ends, inside, placed = (Signal(name=n) for n in ("step", "usable", "ends", "inside", "placed"))
        filling, final = Signal(), Signal()  # `final` is a register: the next beat is the last of its unit
        run, load = self.sizes.run, self.sizes.load
        beat, part = Signal(range(max(2, run.most, load.most))), Signal(range(max(2, shape.parts)))
        last_part, full = part == shape.parts - 1, Signal()
        m.d.sync += filling.eq(mode == Mode.FILL)
        m.d.comb += [
            step.eq(groups.valid & ((mode == Mode.SWALLOW) | ((mode == Mode.TAKE) & buffer.room))),
            groups.take.eq(step),
            # The words are zeros from the second cycle of the mode on.
            placed.eq((step & usable) | ((mode == Mode.FILL) & filling & buffer.room & ~over)),
            full.eq(placed & last_part),
            ends.eq(full & final),
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
        first_is_final = Mux(self.load, load.one, run.one)
        follows = beat == Mux(self.load, load.before_last, run.before_last)
        with m.If(self.start | ends):
            m.d.sync += final.eq(first_is_final)
        with m.Elif(full):
            m.d.sync += final.eq(follows)
        with m.If(self.start):
            m.d.sync += [part.eq(0), beat.eq(0), inside.eq(0)]
        return step, usable, ends, left.several, inside

    def _ignored(self, m: Module, placed: Any) -> Any:
        """Return which containers of the next group may have any bits: those that a prediction ignores.

        `placed` says that the group is put where it belongs. The groups of a unit are runs that are alike, and `left`
        of the present run are still to come.
        """
        runs = self.shape.ignored_runs
        lengths, masks = (Array(Const(number, size) for number in column) for column, size in self._columns)
        number, left = Signal(range(max(2, len(runs))), name="next_run"), Signal(len(lengths[0]), name="run_left")
        mask = Signal(self.shape.group, name="ignored")
        held = self.predict.replicate(len(mask))
        with m.If(self.start):
            m.d.sync += [number.eq(1 % len(runs)), left.eq(lengths[0]), mask.eq(masks[0] & held)]
        with m.Elif(placed & (left == 0)):
            m.d.sync += [left.eq(lengths[number]), mask.eq(masks[number] & held)]
            m.d.sync += number.eq(Mux(number == len(runs) - 1, 0, number + 1))
        with m.Elif(placed):
            m.d.sync += left.eq(left - 1)
        return mask

    @property
    def _columns(self) -> tuple[tuple[list[int], int], tuple[list[int], int]]:
        """The lengths of the runs less 1, and the ignored containers of their groups. The bits of a number stand beside
        each.
        """
        lengths = [length - 1 for length, _ in self.shape.ignored_runs]
        masks = [mask for _, mask in self.shape.ignored_runs]
        return (lengths, max(1, max(lengths).bit_length())), (masks, self.shape.group)

    def _modes(self, m: Module, mode: Any, verdict: Verdict, *, closes: Any, over: Any, beats: InputSlice) -> None:
        """Change the mode, and remember whether the command has gone well.

        `closes` says that a packet ends in this cycle, and `over` that the last beat of the command has been put. If
        the last beat of a load is put while the mode becomes FILL, the input leaves that mode in the next cycle.
        """
        # Whether the faulty packet has come to its end.
        closed = Signal()
        rest = Mux(verdict.closed | closes, Mode.IDLE, Mode.SWALLOW)
        with m.If(verdict.finished | verdict.faulty):
            m.d.sync += [mode.eq(rest), closed.eq(verdict.closed | closes)]
            with m.If(verdict.faulty & self.load):
                m.d.sync += mode.eq(Mode.FILL)
        with m.Elif((mode == Mode.SWALLOW) & closes):
            m.d.sync += mode.eq(Mode.IDLE)
        with m.Elif((mode == Mode.FILL) & over):
            m.d.sync += mode.eq(Mux(closed, Mode.IDLE, Mode.SWALLOW))
        with m.If(verdict.faulty):
            m.d.sync += self.torn.eq(1)
        with m.If(verdict.faulty | verdict.long):
            m.d.sync += self.failed.eq(1)
        with m.If(self.cancel & (mode != Mode.IDLE)):
            unfinished = self.load & ((mode == Mode.TAKE) | (mode == Mode.FILL))
            m.d.sync += [mode.eq(Mux(unfinished, Mode.FILL, Mode.IDLE)), closed.eq(1)]
            with m.If(mode == Mode.TAKE):
                m.d.sync += [self.torn.eq(1), self.failed.eq(1)]
        with m.If(self.start):
            beats_wanted = Mux(self.load, self.sizes.load.any, self.sizes.run.any)
            m.d.sync += [mode.eq(Mux(beats_wanted, Mode.TAKE, Mode.IDLE)), self.torn.eq(0), self.failed.eq(0)]
        with m.If(self.reset):
            m.d.sync += mode.eq(Mux(beats.open, Mode.SWALLOW, Mode.IDLE))
