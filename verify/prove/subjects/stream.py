"""The input stream as a whole: which units reach the array, and what becomes of a faulty packet."""

from __future__ import annotations

from functools import partial, reduce
from operator import and_
from typing import Any

from amaranth.asserts import AnySeq
from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import Out

from tabla.hw.bus.groups import GroupReader
from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.bus.slice import InputSlice
from tabla.hw.bus.stream_in import Mode, StreamInput
from tabla.hw.bus.unit_buffer import UnitBuffer
from tabla.hw.countdown import Countdown
from tabla.program.bus import BusShape
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.products import CountdownModel
from verify.prove.promises import GROUPS_QUIET, Groups, assume
from verify.prove.subject import Speed, Subject

FIRST_STEP = GROUPS_QUIET + 1
"""The first group of a command is worked on so many cycles after its start, or later."""


def cut_out(real: Any) -> Any:
    """Return a class whose components have the ports of a real one, and outputs that are free."""

    class Free(Elaboratable):
        def __init__(self, **sizes: Any) -> None:
            model = real(**sizes)
            model._MustUse__silence = True
            self.free = []
            for path, member, port in model.signature.flatten(model):
                signal = Signal(port.shape(), name=str(path[0]))
                setattr(self, str(path[0]), signal)
                self.free += [signal] if member.flow == Out else []

        def elaborate(self, platform: Any) -> Module:
            m = Module()
            m.d.comb += [signal.eq(AnySeq(signal.shape())) for signal in self.free]
            return m

    return Free


class StreamProof:
    """The input stream, whose parts are cut out, beside a record of the groups of the command."""

    def __init__(self, *, shape: BusShape, overlay: bool = False) -> None:
        self.shape = shape
        self.b = b = Bench()
        self.held: dict[str, Any] = {}
        self.load_beats, self.run_beats = shape.load_beats, shape.run_beats
        self.wanted: Any = Const(1, 1)
        self.part = part = StreamInput(shape=shape, sizes=self._sizes() if overlay else None)
        parts = {InputSlice: cut_out(InputSlice), GroupReader: cut_out(GroupReader), UnitBuffer: cut_out(UnitBuffer)}
        with exchanged(parts | {Countdown: CountdownModel}):
            self.opened = b.add(Opened(part), "stream")
        b.drive(part)
        names = ("slice", "groups", "buffer", "left")
        self.slice, self.groups, self.buffer, self.left = (self.opened.component(name) for name in names)
        self.filling, self.beat, self.over_register = self.opened.registers_without_a_name()
        # The groups of a load and of a unit.
        self.sizes = (self.load_beats * shape.parts, self.run_beats * shape.parts)
        if overlay:
            self.wanted = Mux(part.load, self.held["load_any"], self.held["run_any"])
        self._assume()
        self._record()
        self._modes()

    def _sizes(self) -> UnitSizes:
        """Return the sizes of an overlay, which change with its program, as ``UnitSizes.held`` makes them."""
        b, shape, numbers = self.b, self.shape, {}
        for command, most in (("load", shape.load_beats), ("run", shape.run_beats)):
            beats = self.held[f"{command}_beats"] = b.free(range(most + 1), f"{command}_beats")
            b.assume(f"{command}_beats", (beats >= 1) & (beats <= most))
            wanted = self.held[f"{command}_any"] = b.free(1, f"{command}_any")
            numbers |= {f"{command}.beats": (beats - 2)[: len(beats)], f"stream.{command}.enable": wanted}
        self.load_beats, self.run_beats = self.held["load_beats"], self.held["run_beats"]
        others = {name: Const(1, 1) for name in ("run.overlap", "run.outputs", "dump.count")}
        return UnitSizes.held(numbers | others, shape, last_group=0)

    def _assume(self) -> None:
        """Assume what the parts promise, which was proved of them, and what the sequencer of commands does. Claim what
        the proofs of the parts assume.
        """
        b, part, groups = self.b, self.part, self.groups
        started = self.started = b.past(part.start, 1, "start")
        since = self.since = Signal(range(FIRST_STEP + 1), name="since_the_start", init=FIRST_STEP)
        b.m.d.sync += since.eq(Mux(part.start, 1, Mux(since == FIRST_STEP, since, since + 1)))
        b.claim("since_the_start", (since >= 1) & (since <= FIRST_STEP))
        b.claim("age_of_the_command", self.left.age == since)
        b.assume("starts_at_rest", part.idle & ~part.reset & ~part.cancel, when=part.start)
        b.assume("cancels_later", ~part.cancel, when=started)
        stable = {"load": part.load, "count": part.count} | self.held
        if part.ignores:
            stable["predict"] = part.predict
            b.assume("predictions_are_runs", ~part.load, when=part.predict)
        for name, now in stable.items():
            b.assume(f"{name}_stays", part.start | (now == b.register(now, f"past_{name}")))
        b.assume("units", part.count >= 1, when=~part.load)
        promised = Groups.of(b, groups, count=self.shape.groups, resume=self.slice.resume)
        assume(b, promised.promises)
        self.inside_a_beat, self.last = promised.inside, promised.last
        b.claim("resumes_after_a_packet", promised.paused, when=self.slice.resume)
        b.claim("first_groups_of_a_command", promised.quiet >= FIRST_STEP - since)
        offered = {"valid": "valid", "data": "data", "keep": "keep", "last": "last"}
        given = (getattr(groups, f"beat_{n}" if n == "valid" else n) == getattr(self.slice, n) for n in offered)
        b.claim("beats_reach_the_reader", reduce(and_, given) & (self.slice.take == groups.beat_take))

    def _record(self) -> None:
        """Record where in the command a group lies, and what is wrong with its beat."""
        b, part, groups = self.b, self.part, self.groups
        m = b.m
        self.begun = Signal(name="a_command_has_begun")
        with m.If(part.start):
            m.d.sync += self.begun.eq(1)
        self.doing = doing = Signal(Mode, name="doing")
        self.takes = b.seen(doing == Mode.TAKE, "takes")
        self.fills = b.seen(doing == Mode.FILL, "fills")
        most = max(self.shape.load_beats, self.shape.run_beats) * self.shape.parts
        place, over = Signal(range(most + 1), name="groups_of_the_unit"), Signal(name="over")
        whole, units = Mux(part.load, *self.sizes), Signal(32, name="units_left")
        step = self.step = b.seen(groups.valid & groups.take, "step")
        faults = {name: Signal(name=f"beat_has_{name}") for name in ("bad_keep", "bad_range", "part", "gap")}
        counted = self.takes & ~over
        filled = b.past(self.fills, 1, "fills")
        fits = b.seen(step & counted & (groups.full | ~groups.packet_ends), "fits")
        self.placed = placed = b.seen(fits | (self.fills & filled & self.buffer.room & ~over), "placed")
        now = {
            "bad_keep": faults["bad_keep"] | (counted & (groups.bad_keep | (faults["gap"] & ~groups.empty))),
            "bad_range": faults["bad_range"] | (counted & self._out_of_range(place)),
            "part": faults["part"] | (counted & ~groups.full & ~groups.empty),
            "gap": faults["gap"] | ~groups.full,
        }
        unit_ends = self.unit_ends = b.seen(placed & (place + 1 == whole), "unit_ends")
        last_ends = b.seen(unit_ends & (units == 1), "last_unit_ends")
        after = Mux(placed, Mux(unit_ends, 0, place + 1), place)
        over_now = over | last_ends
        # A beat in which the command is over counts; what comes after it does not.
        finished = Signal(name="finished")
        stops = part.start | part.cancel | part.reset
        short = groups.packet_ends & ~over_now & ((after != 0) | now["part"])
        faulty = Signal(name="was_faulty")
        m.d.sync += [place.eq(after), over.eq(over_now), units.eq(units - unit_ends)]
        self.judged = Signal(name="judged")
        m.d.sync += self.judged.eq(step & groups.final & self.takes & ~finished & ~stops & ~faulty)
        was = {"keep": now["bad_keep"], "range": now["bad_range"], "short": short & ~now["bad_keep"],
               "over": over_now, "ended": groups.packet_ends}  # fmt: skip
        self.was = {name: b.register(value, f"was_{name}") for name, value in was.items()}
        bad = self.was["keep"] | self.was["range"] | self.was["short"]
        m.d.comb += faulty.eq(self.judged & bad)
        with m.If(step):
            m.d.sync += [signal.eq(now[name] & ~groups.final) for name, signal in faults.items()]
            m.d.sync += finished.eq(over_now & (finished | groups.final))
        with m.If(part.start):
            m.d.sync += [place.eq(0), over.eq(0), finished.eq(0), units.eq(Mux(part.load, 1, part.count))]
            m.d.sync += [signal.eq(0) for signal in faults.values()]
        self.place, self.over, self.units, self.finished = place, over, units, finished
        self.faulty, self.whole, self.faults = faulty, whole, faults
        # Which part of a beat of the array comes next, and the words of its earlier parts.
        parts = self.shape.parts
        self.next_part = Signal(range(max(2, parts)), name="next_part")
        with m.If(placed):
            m.d.sync += self.next_part.eq(Mux(self.next_part == parts - 1, 0, self.next_part + 1))
        with m.If(part.start):
            m.d.sync += self.next_part.eq(0)
        size = len(groups.words)
        earlier = Signal(size * parts, name="earlier_words")
        self.word = b.seen(Cat(earlier[size:], groups.words), "word_of_the_array")
        with m.If(placed):
            m.d.sync += earlier.eq(self.word)
        self.earlier = earlier[size:]
        self.put = b.seen(placed & (self.next_part == parts - 1), "a_beat_of_the_array")

    def _out_of_range(self, place: Any) -> Any:
        """Return whether a container of the group at a place of the unit is no word, and counts."""
        runs, groups = self.shape.ignored_runs, self.groups
        if not runs:
            return groups.bad_range
        # What is known of each place: the ignored containers, and the run to which it belongs.
        masks = [mask for length, mask in runs for _ in range(length)]
        left = [length - 1 - at for length, _ in runs for at in range(length)]
        number = [(run + 1) % len(runs) for run, (length, _) in enumerate(runs) for _ in range(length)]
        more = [0] * (self.sizes[0] + 1)
        self.of_place = {
            "ignored": Array([*masks, *more])[place] & self.part.predict.replicate(self.shape.group),
            "run_left": Array([*left, *more])[place],
            "next_run": Array([*number, *more])[place],
        }
        return (groups.bad_range & ~self.of_place["ignored"]).any()

    def _modes(self) -> None:
        """Record what the input does."""
        part, m = self.part, self.b.m
        good = self.judged & ~self.faulty
        closes = self.step & self.groups.final & self.groups.packet_ends
        ended = self.was["ended"] | closes
        closed = self.closed = Signal(name="packet_closed")
        torn, failed = self.torn, self.failed = Signal(name="is_torn"), Signal(name="has_failed")
        doing = self.doing
        rest = Mux(ended, Mode.IDLE, Mode.SWALLOW)
        with m.If(self.faulty):
            m.d.sync += [doing.eq(Mux(part.load, Mode.FILL, rest)), closed.eq(ended), torn.eq(1), failed.eq(1)]
        with m.Elif(good & self.was["over"]):
            m.d.sync += doing.eq(rest)
        with m.Elif((doing == Mode.SWALLOW) & closes):
            m.d.sync += doing.eq(Mode.IDLE)
        with m.Elif(self.fills & self.over):
            m.d.sync += doing.eq(Mux(closed, Mode.IDLE, Mode.SWALLOW))
        with m.If(self.judged & self.was["over"] & ~self.was["ended"]):
            m.d.sync += failed.eq(1)
        with m.If(part.cancel & (doing != Mode.IDLE)):
            m.d.sync += [doing.eq(Mux(part.load & (self.takes | self.fills), Mode.FILL, Mode.IDLE)), closed.eq(1)]
            with m.If(self.takes):
                m.d.sync += [torn.eq(1), failed.eq(1)]
        with m.If(part.start):
            m.d.sync += [doing.eq(Mux(self.wanted, Mode.TAKE, Mode.IDLE)), torn.eq(0), failed.eq(0)]
        with m.If(part.reset):
            m.d.sync += doing.eq(Mux(self.slice.open, Mode.SWALLOW, Mode.IDLE))

    def claim_inside(self) -> None:
        """Claim what is true of the registers."""
        b, part, opened = self.b, self.part, self.opened
        parts, busy = self.shape.parts, self.takes | self.fills
        b.claim("mode", opened.register("mode") == self.doing)
        b.claim("over", self.over_register == self.over)
        b.claim("finished", opened.register("finished") == self.finished)
        b.claim("filling", self.filling == b.past(self.fills, 1, "filling"))
        b.claim("part", opened.register("part") == self.next_part)
        b.claim("place", self.place == self.beat * parts + self.next_part)
        b.claim("inside_the_unit", self.place < self.whole, when=~part.start)
        b.claim("nothing_before_a_command", (self.units == 0) & (self.place == 0) & ~busy, when=~self.begun)
        b.claim("parts", self.next_part < parts)
        b.claim("zeros_are_for_loads", part.load & (self.since >= FIRST_STEP - 1), when=self.fills)
        b.claim("a_load_is_one_unit", self.units <= 1, when=part.load & ~part.start)
        b.claim("over_was", self.over & self.finished, when=self.judged & self.was["over"])
        b.claim("finished_is_over", self.over, when=self.finished)
        b.claim("final", opened.register("final") == (self.place >= self.whole - parts), when=busy & ~self.over)
        b.claim("inside", opened.register("inside") == (self.place != 0), when=busy & ~self.over)
        b.claim("between_units", self.place == 0, when=self.over)
        b.claim("units_left", self.left.left == self.units)
        b.claim("over_at_the_end", self.over == (self.units == 0), when=busy)
        b.claim("keep_of_the_beat", opened.register("beat_keep") == self.faults["bad_keep"], when=self.takes)
        b.claim("range_of_the_beat", opened.register("beat_range") == self.faults["bad_range"], when=self.takes)
        keep, some, gap = (self.faults[name] for name in ("bad_keep", "part", "gap"))
        b.claim("short_of_the_beat", opened.register("beat_short") == some, when=self.takes)
        clean = ~(keep | some | gap | self.faults["bad_range"])
        b.claim("no_fault_between_beats", clean, when=self.takes & ~self.inside_a_beat)
        b.claim("a_part_leaves_a_gap", gap, when=some & self.takes)
        b.claim("a_gap_needs_tlast", keep | self.over | self.last, when=gap & self.takes)
        b.claim("no_part_of_what_is_over", ~some, when=self.over & self.takes & ~keep)
        b.claim("absent", opened.register("beat_absent") == self.faults["gap"])
        b.claim("closed", opened.register("closed") == self.closed, when=self.fills)
        if self.part.ignores:
            for name, expected in self.of_place.items():
                known = b.seen(opened.register(name) == expected, f"{name}_of_the_place")
                b.claim(name, known, when=self.takes & ~part.load & ~part.start)
            b.claim("nothing_is_ignored_in_a_load", opened.register("ignored") == 0, when=part.load & self.takes)
        if parts > 1:
            b.claim("earlier", opened.register("earlier") == self.earlier)

    def claim_ports(self) -> None:
        """Claim what host, array and sequencer see."""
        b, part, buffer = self.b, self.part, self.buffer
        good = self.judged & ~self.faulty
        for name in ("keep", "range", "short"):
            b.claim(f"is_{name}", getattr(part, name) == (self.judged & self.was[name]))
        b.claim("is_long", part.long == (self.judged & self.was["over"] & ~self.was["ended"]))
        b.claim("idle", part.idle == (self.doing == Mode.IDLE))
        b.claim("torn", part.torn == self.torn)
        b.claim("failed", part.failed == self.failed)
        b.claim("put", buffer.put == self.put)
        b.claim("word", buffer.word == self.word, when=self.put)
        b.claim("ends", buffer.ends == (part.load | self.unit_ends), when=self.put)
        b.claim("room", buffer.room, when=self.put)
        loaded = b.past(part.load & self.put, 1, "loaded")
        b.claim("commit", buffer.commit == (good | loaded))
        drops = (self.faulty | (part.cancel & self.takes)) & ~part.load
        b.claim("rollback", buffer.rollback == b.past(drops, 1, "drops"))
        b.claim("resume", self.slice.resume == (good & self.was["ended"] & ~self.was["over"]))
        wants = part.alive & (self.takes | (self.doing == Mode.SWALLOW))
        b.claim("want", self.slice.want == wants)
        flush = part.cancel | part.reset | part.start
        b.claim("flush", (self.slice.flush == flush) & (self.groups.flush == flush))
        b.claim("forget", self.slice.forget == part.cancel)
        b.claim("clear", (self.groups.clear == self.fills) & (buffer.clear == part.clear))
        b.claim("empty", part.empty == (buffer.empty & ~loaded))
        out = (part.out_valid == buffer.out_valid) & (part.out_data == buffer.out_data)
        b.claim("out", out & (buffer.out_ready == part.out_ready))
        b.claim("ready", part.tready == self.slice.tready)

    def claim_loads(self) -> None:
        """Claim that a load which is not reset gives the array all its beats, whatever its packets were."""
        b, part = self.b, self.part
        beats = Signal(range(self.shape.load_beats + 2), name="beats_of_the_load")
        cut = Signal(name="was_reset")
        with b.m.If(self.put & part.load):
            b.m.d.sync += beats.eq(beats + 1)
        with b.m.If(part.reset):
            b.m.d.sync += cut.eq(1)
        with b.m.If(part.start):
            b.m.d.sync += [beats.eq(0), cut.eq(0)]
        b.claim("load_is_whole", beats == self.load_beats,
                when=self.begun & self.wanted & part.load & ~cut & ~self.takes & ~self.fills & ~part.start)  # fmt: skip
        placed = Mux(self.over, self.load_beats, self.beat)
        b.claim("beats_of_the_load", beats == placed, when=self.begun & part.load & (self.takes | self.fills))


def stream(
    *, stream_words: int, width: int, run_beats: int, overlay: bool = False, ignored: tuple[int, ...] = ()
) -> Bench:
    """The input stream of a bus of 64 bits. A prediction ignores some containers of a unit."""
    sizes = {"load_beats": 3, "run_beats": run_beats, "run_words": run_beats + 1, "dump_count": 4}
    shape = BusShape(
        bus_bits=64, width=width, stream_words=stream_words, predicts=bool(ignored), ignored=ignored, **sizes
    )
    proof = StreamProof(shape=shape, overlay=overlay)
    proof.claim_inside()
    proof.claim_ports()
    proof.claim_loads()
    return proof.b


STREAM = mutants(
    "bus/stream_in.py",
    ("counted = takes & ~over", "counted = takes"),
    ("buffer.commit.eq(verdict.whole | loaded)", "buffer.commit.eq(verdict.judged | loaded)"),
    ("(self.cancel & takes)) & ~self.load)", "(self.cancel & takes)))"),
    ("groups.clear.eq(mode == Mode.FILL)", "groups.clear.eq(0)"),
    ("filling & buffer.room & ~over)", "buffer.room & ~over)"),
    ("buffer.ends.eq(ends | self.load)", "buffer.ends.eq(ends)"),
    ("beat.eq(Mux(ends, 0, beat + 1))", "beat.eq(beat + 1)"),
    ("with m.If(verdict.faulty & self.load):", "with m.If(verdict.faulty):"),
    ("unfinished = self.load & ((mode == Mode.TAKE) |", "unfinished = ((mode == Mode.TAKE) |"),
    ("Mux(beats.open, Mode.SWALLOW, Mode.IDLE)", "Mode.IDLE"),
    ("with m.If(verdict.faulty | verdict.long):", "with m.If(verdict.faulty):"),
    ("[part.eq(0), beat.eq(0), inside.eq(0)]", "[part.eq(0), inside.eq(0)]"),
)

# A beat of the bus has several groups, and a unit one beat.
NARROW = mutants(
    "bus/stream_in.py",
    ("(absent & ~groups.empty)", "absent"),
    ("absent.eq((absent | ~groups.full) & ~groups.final)", "absent.eq(~groups.full & ~groups.final)"),
    ("(counted & ~groups.full & ~groups.empty)", "(counted & ~groups.full)"),
    ("Mux(usable, ~ends, inside)", "Mux(usable, ~ends, 0)"),
    ("bad_range.eq(verdict.bad_range & ~groups.final)", "bad_range.eq(0)"),
)

# Units whose sizes change with the program.
HELD = mutants(
    "bus/stream_in.py",
    ("with m.If(self.start | ends):", "with m.If(self.start):"),
    ("Mux(beats_wanted, Mode.TAKE, Mode.IDLE)", "Mode.TAKE"),
    ("load.before_last, run.before_last", "run.before_last, run.before_last"),
    ("load.one, run.one", "run.one, run.one"),
)

# Units in which a prediction ignores some containers.
IGNORED = mutants(
    "bus/stream_in.py",
    ("(groups.bad_range & ~self._ignored(", "(groups.bad_range | self._ignored("),
    ("held = self.predict.replicate(len(mask))", "held = Const(-1, len(mask))"),
    ("number.eq(1 % len(runs))", "number.eq(0)"),
    ("Mux(number == len(runs) - 1, 0, number + 1)", "number + 1"),
    ("lengths = [length - 1 for", "lengths = [length for"),
    ("with m.Elif(placed & (left == 0)):", "with m.Elif(left == 0):"),
)

OVERLAY = "of an overlay"
PLACES = {"with labels": (1, 5, 6, 7), "with labels in every beat": (0, 2, 4)}
"""The containers that a prediction ignores."""

SUBJECTS = tuple(
    Subject(
        group="input of the bus",
        name=f"units of the input stream, {what}",
        property="Beats of the array are the containers of the command in order. A beat of the bus is judged as a "
        "whole, by the containers that belong to the command: those that are there, their words, and whether TLAST "
        "comes inside a unit or late. Units that ended in sound beats are shown to the array and no others. A faulty "
        "packet is swallowed up to its TLAST, and zeros take the place of the rest of a load."
        + " A prediction does not look at the words of labels."
        * (what in PLACES),
        bounds=f"{width} bits, beats of {stream_words} words, loads of {loads} beats and units of {units}, any counts; "
        "slice, reader of groups, buffer and countdown are cut out",
        build=partial(
            stream,
            stream_words=stream_words,
            width=width,
            run_beats=run_beats,
            overlay=what == OVERLAY,
            ignored=PLACES.get(what, ()),
        ),
        depth=2,
        speed=Speed.QUICK,
        mutants=planted,
        search=14,
    )
    for what, stream_words, width, run_beats, planted in (
        ("as wide as the bus", 2, 18, 2, ()),
        ("twice as wide", 4, 18, 2, STREAM),
        ("half as wide", 2, 12, 1, NARROW),
        ("a quarter as wide", 2, 8, 3, ()),
        (OVERLAY, 4, 18, 5, HELD),
        ("with labels", 4, 18, 3, IGNORED),
        ("with labels in every beat", 2, 12, 3, ()),
    )
    for loads, units in ((("1 to 3", "1 to 5") if what == OVERLAY else (3, run_beats)),)
)
