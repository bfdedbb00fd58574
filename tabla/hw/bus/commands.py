"""The order of a command: reset, start, work, last packet, end."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.controller import DUMP, LOAD, RUN
from tabla.hw.predicting import described

_PREDICTING = """
predict : In(1)
    From the registers: a RUN predicts.
command_predict : Out(1)
    The command is a RUN that predicts; stable until the next command.
"""


class State(enum.Enum):
    """`REST` is the only state in which a command is taken. `CLEAN` ends open packets after a RESET."""

    REST = 0
    STRETCH = 1
    ISSUE = 2
    WORK = 3
    FINISH = 4
    CLEAN = 5


class CommandSequencer(wiring.Component):
    """Carries out LOAD, RUN and DUMP one at a time, and ABORT and RESET at any time.

    A reset of the array is `reset_cycles` long, after the wrapper's own reset, after RESET, and at the beginning of a
    LOAD, whose counters of events begin at 0. A RUN that ends early first gives the array all units that came whole,
    and then stops it.

    Members
    -------
    command : In(1), code : In(2), count : In(32), abort : In(1), reset : In(1)
        From the registers.
    busy, loaded : Out(1)
        Levels of STATUS.
    done, count_zero, not_loaded : Out(1)
        For one cycle.
    active : Out(1), begins : Out(1)
        A command is under way, from the cycle after `command` to that of `done`; it begins.
    samples : Out(32)
        The units that this or the last RUN has finished: while it runs, those that are surely finished.
    array_reset, command_valid : Out(1), command_ready : In(1), command_code : Out(2), command_count : Out(32),
    array_busy : In(1), sample_start : In(1), stop : Out(1)
        The array.
    in_start, in_load, in_cancel, in_reset : Out(1), in_idle, in_torn, in_failed, in_empty : In(1)
        ``StreamInput``.
    out_start, out_packets, out_whole, out_finish, out_reset : Out(1), out_idle : In(1)
        ``StreamOutput``.
    words : Out(1)
        Words of the array may leave.
    """

    def __init__(self, *, sizes: UnitSizes, reset_cycles: int, preloaded: bool = False, predicts: bool = False) -> None:
        self.sizes, self.reset_cycles, self.predicts = sizes, reset_cycles, predicts
        # Where the memories start with the models, LOADED is 1 from the beginning, and also after a reset, until a LOAD
        # begins.
        self.preloaded = preloaded
        if predicts:
            self.data_sheet = described(self, _PREDICTING)
        super().__init__(self._members())

    def _members(self) -> dict[str, Any]:
        inputs = ("command", "abort", "reset", "command_ready", "array_busy", "sample_start")
        streams = ("in_idle", "in_torn", "in_failed", "in_empty", "out_idle")
        outputs = ("busy", "loaded", "done", "count_zero", "not_loaded", "active", "begins", "words")
        drives = (
            "in_start",
            "in_load",
            "in_cancel",
            "in_reset",
            "out_start",
            "out_packets",
            "out_whole",
            "out_finish",
            "out_reset",
        )
        return {
            "code": In(2),
            **({"predict": In(1), "command_predict": Out(1)} if self.predicts else {}),
            "count": In(32),
            **dict.fromkeys((*inputs, *streams), In(1)),
            **dict.fromkeys((*outputs, *drives, "command_valid", "stop"), Out(1)),
            "command_code": Out(2),
            "command_count": Out(32),
            "samples": Out(32),
            "array_reset": Out(1, init=1),
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        state = Signal(State, init=State.CLEAN)
        # The cycles of the array's reset that are left; the wrapper's own reset begins with one.
        left = Signal(range(self.reset_cycles + 1), init=self.reset_cycles)
        kind = Signal(2)
        aborting, cancels, cancelled = Signal(), Signal(), Signal()
        aborted, settled = Signal(), Signal()
        loaded, begun = self.loaded, list[Any]()
        if self.preloaded:
            loaded = Signal(name="load_succeeded")
            untouched = Signal(name="first_words_untouched", init=1, reset_less=True)
            m.d.comb += self.loaded.eq(loaded | untouched)
            begun = [untouched.eq(0)]
        nothing = Signal()  # COUNT is 0; it was written at least two cycles before a command
        starts, refused, resting = Signal(), Signal(), Signal()
        m.d.comb += [
            self.busy.eq(state != State.REST),
            resting.eq((left == 0) & ~self.array_reset),
            self.in_load.eq(kind == LOAD),
            self.command_code.eq(kind),
            self.command_valid.eq(state == State.ISSUE),
            self.command_count.eq(Mux(kind == RUN, self.count, Mux(kind == DUMP, self.sizes.dump_count, 1))),
            # An ABORT that comes while a command begins waits until the streams have begun.
            cancels.eq(aborting & (state != State.STRETCH) & (state != State.ISSUE) & ~self.in_start & ~self.reset),
            self.in_cancel.eq(cancelled & ~self.reset),
            self.in_reset.eq(self.reset),
            self.out_reset.eq(self.reset),
            starts.eq(self._asked() & ~self.reset),
            self.begins.eq(starts),
            self.out_start.eq((state == State.ISSUE) & self.command_ready),
            self.out_packets.eq((kind == DUMP) | ((kind == RUN) & self.sizes.results)),
            self.out_whole.eq(kind == DUMP),
            self.count_zero.eq(starts & (self.code == RUN) & nothing),
            self.not_loaded.eq(starts & (self.code != LOAD) & ~self.loaded),
            refused.eq(self.count_zero | self.not_loaded),
        ]
        m.d.sync += self.in_start.eq((state == State.ISSUE) & self.command_ready & (kind != DUMP) & ~self.reset)
        m.d.sync += [
            nothing.eq(self.count == 0),
            self.words.eq((state == State.WORK) & (kind != LOAD) & ~self.reset),
            cancelled.eq(cancels),
            self.array_reset.eq(left != 0),
            aborting.eq(self.abort | (aborting & ~cancels)),
        ]
        with m.If(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.Switch(state):
            with m.Case(State.REST):
                with m.If(starts):
                    m.d.sync += [kind.eq(self.code), aborted.eq(0), settled.eq(0), self.stop.eq(0)]
                    if self.predicts:
                        m.d.sync += self.command_predict.eq(self.predict)
                    m.d.sync += state.eq(Mux(self.code == LOAD, State.STRETCH, Mux(refused, State.REST, State.ISSUE)))
                with m.If(starts & (self.code == LOAD)):
                    m.d.sync += [left.eq(self.reset_cycles), loaded.eq(0), *begun]
            with m.Case(State.STRETCH):
                with m.If(resting):
                    m.d.sync += state.eq(State.ISSUE)
            with m.Case(State.ISSUE):
                with m.If(self.command_ready):
                    m.d.sync += state.eq(State.WORK)
            with m.Case(State.WORK):
                self._work(m, state, kind, aborted, settled)
            with m.Case(State.FINISH):
                with m.If(self.done):
                    m.d.sync += [state.eq(State.REST), loaded.eq(Mux(kind == LOAD, ~self.in_failed, loaded))]
            with m.Case(State.CLEAN):
                with m.If(resting & self.in_idle & self.out_idle):
                    m.d.sync += state.eq(State.REST)
        self._samples(m, state, kind, starts, refused)
        m.d.sync += self.active.eq((self.active | (starts & ~refused)) & ~self.done)
        with m.If(self.reset):
            m.d.sync += [state.eq(State.CLEAN), left.eq(self.reset_cycles), loaded.eq(0), self.active.eq(0)]
            m.d.sync += [self.stop.eq(0), aborting.eq(0)]
        return m

    def _asked(self) -> Any:
        """Return whether a command is given that the array can carry out."""
        return self.command

    def _work(self, m: Module, state: Any, kind: Any, aborted: Any, settled: Any) -> None:
        """Wait until streams and array have come to their end, and stop a RUN that has been cut short."""
        # The array is seen to be busy a cycle after it has taken the command.
        m.d.sync += settled.eq(1)
        with m.If(self.in_cancel & (kind == RUN)):
            m.d.sync += aborted.eq(1)
        with m.If((kind == RUN) & self.in_idle & self.in_empty & (self.in_torn | aborted) & settled):
            m.d.sync += self.stop.eq(1)
        with m.If(settled & self.in_idle & ~self.array_busy):
            m.d.comb += self.out_finish.eq(1)
            m.d.sync += state.eq(State.FINISH)

    def _samples(self, m: Module, state: Any, kind: Any, starts: Any, refused: Any) -> None:
        """Count the units of a RUN. One is surely finished when so many later ones have begun as fit between the start
        and the end of its work, or when the array is at rest.
        """
        late = Signal(range(self.sizes.most_at_work + 1))
        full, counted, waits = late == self.sizes.at_work, Signal(), Signal()
        ended = Signal()
        m.d.comb += [
            counted.eq((state == State.WORK) & (kind == RUN) & self.sample_start),
            waits.eq((state == State.FINISH) & (late != 0)),
            self.done.eq((starts & refused) | (ended & ~waits & self.out_idle)),
        ]
        # The packet that ends with `out_finish` is seen a cycle later.
        m.d.sync += ended.eq((state == State.FINISH) & ~self.done & ~self.reset)
        with m.If(counted & ~full):
            m.d.sync += late.eq(late + 1)
        with m.If(waits):
            m.d.sync += late.eq(late - 1)
        with m.If((counted & full) | waits):
            m.d.sync += self.samples.eq(self.samples + 1)
        with m.If(starts & (self.code == RUN)):
            m.d.sync += [self.samples.eq(0), late.eq(0)]
        with m.If(self.reset):
            m.d.sync += late.eq(0)
