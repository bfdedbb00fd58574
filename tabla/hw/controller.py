"""Commands, samples and tokens: the only part of the machine that waits for anything."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.countdown import Countdown
from tabla.hw.pipeline import delayed
from tabla.hw.predicting import described
from tabla.hw.timing import Timing, chosen
from tabla.hw.tokens import samples_under_way
from tabla.program.image import Parameters
from tabla.templates.template import timing

LOAD, RUN, DUMP = 0, 1, 2
_OVERLAPPING = """
live : Out(1)
    Beside `token`: a sample begins. In a run tokens come exactly a period apart while samples are under way, for as
    many tokens as there are stages. A token that finds no sample ready is not `live`: no slot, no word and no command
    counts it.
"""
_PREDICTING = """
command_predict : In(1)
    A run predicts.
predict : Out(1)
    Whether the command is a run that predicts; stable between restarts.
"""


class Controller(wiring.Component):
    """Takes a command when all is at rest, admits the command's samples into the ring, and fires their tokens.

    - A command taken in cycle *t* gives `restart` in *t* + 1. Its first beat or token may come in *t* + FRONT + 1.
    - A sample whose last beat is taken in *c* may fire its token from *c* + READY on.
    - A token of cycle *t* frees its ring slot for a first beat in *t* + release + 1.
    - A word taken from the output in *c* is credit for a token in *c* + 2.
    - The next command is taken `drain` + FRONT cycles after the last token, or FRONT cycles after the last beat of a
      load, once no output waits.

    Members
    -------
    command_valid : In(1), command_ready : Out(1), command_code : In(2), command_count : In(32)
    restart : Out(1)
    load, dump : Out(1)
        What the command is; stable between restarts.
    token : Out(1)
    in_ready : Out(1), taken : In(1)
        A beat may be taken, is taken; `taken` only while `in_ready`.
    begins : Out(1)
        The next beat is a sample's first.
    prepared : In(2)
        At least one, at least two destinations are ready.
    output_taken, output_waits : In(1)
    stop : In(1)
        Only with `stoppable`: strikes the samples of a run that have not begun. It comes between two samples, and stays
        until the command has ended.
    """

    def __init__(self, *, parameters: Parameters, timing: Timing, stoppable: bool = False) -> None:
        self.parameters, self.timing, self.stoppable = parameters, timing, stoppable
        more = (_PREDICTING if parameters.predicts else "") + (_OVERLAPPING if parameters.stages > 1 else "")
        if more:
            self.data_sheet = described(self, more)
        super().__init__(
            {
                "command_valid": In(1),
                "command_ready": Out(1),
                "command_code": In(2),
                "command_count": In(32),
                "restart": Out(1),
                "load": Out(1),
                "dump": Out(1),
                "token": Out(1),
                "in_ready": Out(1),
                "begins": Out(1),
                "taken": In(1),
                "prepared": In(2),
                "output_taken": In(1),
                "output_waits": In(1),
                **({"stop": In(1)} if stoppable else {}),
                **({"command_predict": In(1), "predict": Out(1)} if parameters.predicts else {}),
                **({"live": Out(1)} if parameters.stages > 1 else {}),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        numbers, law = self.timing, timing()
        # Kept as it is, so that what it chooses fits into the counters' carry chains.
        accepted = Signal(attrs={"keep": 1})
        at_work = Signal()
        m.d.comb += [
            self.command_ready.eq(~at_work),
            accepted.eq(self.command_valid & ~at_work),
        ]
        m.d.sync += self.restart.eq(accepted)

        m.submodules.tokens = tokens = Countdown(width=32)
        m.submodules.samples = samples = Countdown(width=32)  # their last beats are still to come
        streams, loads = numbers["stream.run.enable"], numbers["stream.load.enable"]
        is_load, is_run, is_dump = (self.command_code == code for code in (LOAD, RUN, DUMP))
        m.d.comb += [
            tokens.load.eq(accepted),
            tokens.count.eq(self.command_count),
            tokens.short.eq(~(is_run | is_dump)),
            samples.load.eq(accepted),
            samples.count.eq(self.command_count),
            samples.short.eq(~(is_run & streams)),
            samples.one.eq(is_load & loads),
        ]

        # Cycles until all that was started has come to rest; also the start of a command, while programs are fetched.
        rest = Signal(signed((numbers.greatest("run.drain", "dump.drain") + law.front).bit_length() + 1), init=-1)
        opened = Signal()
        with m.If(~rest[-1]):
            m.d.sync += rest.eq(rest - 1)
        with m.If(rest[-1] & at_work):
            m.d.sync += opened.eq(1)
        last_beat = self._beats(m)
        with m.If(self.taken & last_beat & self.load):
            m.d.sync += rest.eq(law.front - 3)
        with m.If(self._begins):
            m.d.sync += rest.eq(Mux(self.dump, numbers["dump.drain"], numbers["run.drain"]) + law.front - 3)
        more, more_after, left = samples.any, samples.several, tokens.any
        begun = Signal(range(self.parameters.ring_slots + 1))
        if self.stoppable:
            more, more_after, left = more & ~self.stop, more_after & ~self.stop, (left & ~self.stop) | (begun != 0)
        with m.If(opened & rest[-1] & ~left & ~more & ~self.output_waits & ~self.taken & ~self.token):
            m.d.sync += [at_work.eq(0), opened.eq(0)]

        fires = self._tokens(m, chosen(streams, tokens.any, left), opened, last_beat)
        self._admit(m, opened=opened, more=more, more_after=more_after, last_beat=last_beat)
        if self.stoppable and not (isinstance(streams, int) and not streams):
            # Samples that have come whole and wait for their tokens.
            m.d.sync += begun.eq(begun + (self.taken & last_beat & ~self.load) - (fires & ~self.dump))
            with m.If(self.restart):
                m.d.sync += begun.eq(0)
        m.d.comb += [samples.step.eq(self.taken & last_beat), tokens.step.eq(fires)]
        with m.If(accepted):
            m.d.sync += [
                at_work.eq(1),
                opened.eq(0),
                rest.eq(law.front - 3),
                self.load.eq(is_load),
                self.dump.eq(is_dump),
                *([self.predict.eq(self.command_predict & is_run)] if self.parameters.predicts else []),
            ]
        return m

    def _beats(self, m: Module) -> Any:
        """Count the beats of a sample, and return whether the next one is its last."""
        numbers = self.timing
        beats = Signal(signed((numbers.greatest("run.beats", "load.beats") + 2).bit_length() + 1))
        full = Mux(self.load, numbers["load.beats"], numbers["run.beats"])
        begins = Signal(init=1)
        with m.If(self.taken):
            m.d.sync += [begins.eq(beats[-1]), beats.eq(Mux(beats[-1], full, beats - 1))]
        with m.If(self.restart):
            m.d.sync += [begins.eq(1), beats.eq(full)]
        m.d.comb += self.begins.eq(begins)
        return beats[-1]

    def _admit(self, m: Module, *, opened: Any, more: Any, more_after: Any, last_beat: Any) -> None:
        """Drive `in_ready`, a register. Its next value is known beforehand both for a beat that is taken now and for
        none.
        """
        one, two = self._free_slots(m)
        kept = Signal()
        taken = Signal()
        m.d.comb += [
            kept.eq(self.prepared[0] & more & (~self.begins | self.load | one)),
            taken.eq(self.prepared[1] & (~last_beat | (more_after & (self.load | Mux(self.begins, two, one))))),
        ]
        m.d.sync += self.in_ready.eq(opened & Mux(self.taken, taken, kept) & ~self.restart)

    def _free_slots(self, m: Module) -> tuple[Any, Any]:
        """Return whether one slot, and whether two slots of the ring will be free in the next cycle if no sample begins
        now.

        Tokens give their slots back `release` cycles later.
        """
        numbers = self.timing
        m.submodules.slot_release = release = numbers.token_delay("release.wait")
        most, slots = self.parameters.ring_slots, numbers["ring.last"] + 1
        free = Signal(range(most + 1), init=most)
        m.d.comb += [
            release.restart.eq(self.restart),
            release.token.eq(self._begins & ~self.dump & numbers["stream.run.enable"]),
        ]
        m.d.sync += free.eq(free + release.delayed - (self.taken & self.begins & ~self.load))
        with m.If(self.restart):
            m.d.sync += free.eq(slots)
        back = release.delayed
        return (free != 0) | back, (free > 1) | ((free != 0) & back)

    def _tokens(self, m: Module, left: Any, opened: Any, last_beat: Any) -> Any:
        """Return whether the next cycle is that of a sample's token."""
        numbers, law, parameters = self.timing, timing(), self.parameters

        fires = Signal()
        if parameters.stages == 1:
            m.d.sync += self.token.eq(fires)
        arrived = delayed(m, self.taken & last_beat & ~self.load, law.ready - 2, name="arrived", clear=self.restart)
        ready = Signal(range(parameters.ring_slots + 1))
        m.d.sync += ready.eq(ready + arrived - (fires & ~self.dump))
        # Whether there will be one ready, worked out beside the count instead of from it.
        waits = Signal()
        m.d.sync += waits.eq(Mux(fires & ~self.dump, (ready > 1) | ((ready == 1) & arrived), (ready != 0) | arrived))
        needs_no_input = chosen(numbers["stream.run.enable"], self.dump, 1)

        pause = Signal(signed((numbers.greatest("run.pause", "dump.pause") + 2).bit_length() + 1))
        ticks = self._ticks(m, fires, opened & pause[-1]) if parameters.stages > 1 else fires
        with m.If(ticks):
            m.d.sync += pause.eq(Mux(self.dump, numbers["dump.pause"], numbers["run.pause"]))
        with m.Elif(~pause[-1]):
            m.d.sync += pause.eq(pause - 1)

        # Free places for beats in the output buffer, less what a token wants.
        places = parameters.output_depth // parameters.port_words
        most = max(places, numbers.greatest("run.outputs", "dump.outputs"))
        spare = Signal(signed(most.bit_length() + 2))
        wanted = Mux(self.dump, numbers["dump.outputs"], numbers["run.outputs"])
        m.d.sync += spare.eq(spare + self.output_taken - Mux(fires, wanted, 0))

        with m.If(self.restart):
            m.d.sync += [ready.eq(0), waits.eq(0), pause.eq(-1), spare.eq(places - wanted)]
        m.d.comb += fires.eq(opened & left & pause[-1] & ~spare[-1] & (waits | needs_no_input))
        return fires

    def _ticks(self, m: Module, fires: Any, due: Any) -> Any:
        """Return whether the next cycle is a token's, with a sample (`fires`) or without one: while samples are under
        way, a token is `due` once in a period.
        """
        ticks = Signal()
        tokens = self.parameters.stages - 1
        under_way = samples_under_way(m, tokens=tokens, token=ticks, live=fires, restart=self.restart)
        m.d.comb += ticks.eq(fires | (due & under_way.any() & ~self.dump))
        m.d.sync += [self.token.eq(ticks), self.live.eq(fires)]
        return ticks

    @property
    def _begins(self) -> Any:
        """A token of a sample."""
        return self.live if self.parameters.stages > 1 else self.token
