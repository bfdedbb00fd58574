"""The order of commands behind a host's bus, and the verdict on a beat of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from amaranth.hdl import Const, Mux, Signal

from tabla.hw.bus.commands import CommandSequencer, State
from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.bus.verdict import Verdict
from tabla.hw.controller import DUMP, LOAD, RUN
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject
from verify.prove.subjects.axi import SHAPE, stays


def verdict() -> Bench:
    """The judgement of a beat."""
    b = Bench(resets=True)
    part = b.add(Verdict())
    b.drive(part)
    facts = ("bad_keep", "bad_range", "bad_short", "inside", "finishes", "packet_ends")
    fact = {name: b.register(getattr(part, name), f"past_{name}") for name in facts}
    judged = b.register(part.beat & ~part.faulty, "past_beat", reset_less=False)
    b.claim("judged", part.judged == judged)
    outputs = ("keep", "range", "short", "long", "faulty", "whole", "finished", "resumes", "closed")
    for name in outputs:
        b.claim(f"{name}_of_a_beat", ~getattr(part, name), when=~judged)
    # The last container lies inside a unit, and TLAST comes: the unit is too short.
    missing = fact["bad_short"] | (fact["inside"] & fact["packet_ends"])
    b.claim("keep", part.keep == fact["bad_keep"], when=judged)
    b.claim("range", part.range == fact["bad_range"], when=judged)
    b.claim("short", part.short == (missing & ~fact["bad_keep"]), when=judged)
    b.claim("long", part.long == (fact["finishes"] & ~fact["packet_ends"]), when=judged)
    b.claim("faulty", part.faulty == (fact["bad_keep"] | fact["bad_range"] | missing), when=judged)
    b.claim("whole", part.whole == ~part.faulty, when=judged)
    b.claim("finished", part.finished == (part.whole & fact["finishes"]))
    b.claim("closed", part.closed == fact["packet_ends"], when=judged)
    # What follows a beat: the command is through, or another packet, or more of this one, or nothing counts.
    b.claim("resumes", part.resumes == (part.whole & part.closed & ~part.finished))
    b.claim("nothing_after_a_fault", ~part.judged, when=b.register(part.faulty, "past_faulty", reset_less=False))
    return b


class CommandProof:
    """The sequencer of commands beside a record of what the command under way has done."""

    def __init__(self, *, reset_cycles: int, at_work: int, predicts: bool = False) -> None:
        self.b = b = Bench()
        self.reset_cycles, self.at_work, self.predicts = reset_cycles, at_work, predicts
        sizes = replace(UnitSizes.of(SHAPE), at_work=at_work, most_at_work=at_work)
        self.dumps, self.results = sizes.dump_count, sizes.results
        self.part = part = self._under_proof(sizes)
        self.opened = b.add(Opened(part), "commands")
        self.aborting, self.aborted = self.opened.registers_without_a_name()[:2]
        b.drive(part)
        b.assume("commands_at_rest", ~part.busy, when=part.command)
        b.assume("code", part.code <= 2, when=self._given())
        b.assume("count_stays", part.count == b.register(part.count, "past_count"), when=part.busy | part.command)
        self._record()
        self._states()

    def _under_proof(self, sizes: UnitSizes) -> Any:
        return CommandSequencer(sizes=sizes, reset_cycles=self.reset_cycles, predicts=self.predicts)

    def _given(self) -> Any:
        """Return whether a command for the array is given."""
        return self.part.command

    def _forgets(self) -> Any:
        """Return whether the models are lost for a reason that is not a command or a reset."""
        return Const(0, 1)

    def _flag(self, name: str, *, sets: Any, clears: Any) -> Signal:
        """Return a flag of the command under way. It is cleared where both conditions hold."""
        flag = Signal(name=name)
        self.b.m.d.sync += flag.eq((flag | sets) & ~clears)
        return flag

    def _record(self) -> None:
        b, part = self.b, self.part
        asked = self._given() & ~part.reset
        self.loaded = Signal(name="models_loaded")
        self.none = asked & (part.code == RUN) & (part.count == 0)
        self.unready = asked & (part.code != LOAD) & ~self.loaded
        self.refused = self.none | self.unready
        self.begins = b.seen(asked & ~self.refused, "a_command_begins")
        gone = self.begins | part.reset
        self.owed = self._flag("owed", sets=self.begins, clears=part.reset | part.done)
        with b.m.If(self.begins):
            b.m.d.sync += self.owed.eq(1)
        self.kind = Signal(2, name="kind_of_command")
        with b.m.If(self.begins):
            b.m.d.sync += self.kind.eq(part.code)
        self.issued = self._flag("issued", sets=part.command_valid & part.command_ready, clears=gone)
        self.started = self._flag("input_started", sets=part.in_start, clears=gone)
        self.finished = self._flag("output_finished", sets=part.out_finish, clears=gone)
        self.work = b.seen(self.owed & self.issued & ~self.finished, "at_work")
        self.worked = self._flag("worked", sets=self.work, clears=gone)
        self.cleaning = Signal(name="cleaning", init=1)
        # The cycles of the array's reset that are left.
        self.left = Signal(range(self.reset_cycles + 1), name="reset_left", init=self.reset_cycles)
        with b.m.If(self.left != 0):
            b.m.d.sync += self.left.eq(self.left - 1)
        with b.m.If(part.reset | (self.begins & (part.code == LOAD))):
            b.m.d.sync += self.left.eq(self.reset_cycles)
        rest = (self.left == 0) & ~part.array_reset & part.in_idle & part.out_idle
        b.m.d.sync += self.cleaning.eq(part.reset | (self.cleaning & ~rest))
        ends = part.done & self.owed & (self.kind == LOAD)
        with b.m.If(ends):
            b.m.d.sync += self.loaded.eq(~part.in_failed)
        with b.m.If(part.reset | (self.begins & (part.code == LOAD)) | self._forgets()):
            b.m.d.sync += self.loaded.eq(0)

    def _states(self) -> None:
        """Claim which states belong to the record."""
        b, opened, owed = self.b, self.opened, self.owed
        state = opened["state"]
        beginning = self.beginning = b.seen(owed & ~self.issued, "beginning")
        stretch, issue = state == State.STRETCH.value, state == State.ISSUE.value
        b.claim("beginning", (stretch | issue) == beginning)
        b.claim("stretches_for_a_load", self.kind == LOAD, when=stretch)
        b.claim("working", (state == State.WORK.value) == self.work)
        b.claim("finishing", (state == State.FINISH.value) == (owed & self.finished))
        b.claim("cleaning", (state == State.CLEAN.value) == self.cleaning)
        b.claim("finished_was_issued", self.issued, when=self.finished & owed)
        b.claim("one_of_two", ~owed | ~self.cleaning)
        b.claim("settled", opened["settled"] == self.worked, when=owed)
        b.claim("kind_of_state", opened["kind"] == self.kind, when=owed)
        b.claim("left", opened["left"] == self.left)
        b.claim("nothing", opened["nothing"] == (b.register(self.part.count, "count_before") == 0), after=1)
        b.claim("ended", self.finished & owed, when=opened["ended"])
        b.claim("begins_once", ~self.started, when=beginning | self.part.in_start)
        b.claim("nothing_before_it_works", ~self.worked & ~self.finished, when=beginning)
        b.claim("started", self.started | self.part.in_start | (self.kind == DUMP), when=self.issued & owed)

    def claim_levels(self) -> None:
        """Claim what the registers see: BUSY, LOADED, and one end for each command."""
        b, part = self.b, self.part
        b.claim("busy", part.busy == (self.owed | self.cleaning))
        b.claim("active", part.active == self.owed)
        b.claim("begins", part.begins == (part.command & ~part.reset))
        b.claim("loaded", part.loaded == self.loaded)
        b.claim("count_zero", part.count_zero == self.none, after=1)
        b.claim("not_loaded", part.not_loaded == self.unready)
        b.claim("refused_is_done", part.done, when=self.refused, after=1)
        b.claim("done", self.refused | (self.owed & self.finished & part.out_idle), when=part.done, after=1)

    def claim_array(self) -> None:
        """Claim what the array is given: its reset, the command, and the stop."""
        b, part = self.b, self.part
        b.claim("array_reset", part.array_reset == b.register(self.left != 0, "past_left", init=1))
        resets = (self.left != 0) | part.array_reset
        b.claim("resets_before_it_works", self.cleaning | self.beginning, when=resets)
        b.claim("no_command_in_reset", ~part.array_reset & (self.left == 0), when=part.command_valid)
        alive = ~part.reset
        payload = {"code": part.command_code, "count": part.command_count}
        stays(b, "command", valid=part.command_valid, ready=part.command_ready, payload=payload, alive=alive)
        b.claim("one_command", self.beginning, when=part.command_valid)
        b.claim("code", part.command_code == self.kind, when=part.command_valid)
        if self.predicts:
            predicts = Signal(name="the_command_predicts")
            with b.m.If(self.begins):
                b.m.d.sync += predicts.eq(part.predict)
            b.claim("command_predict", part.command_predict == predicts, when=self.owed)
        count = Mux(self.kind == RUN, part.count, Mux(self.kind == DUMP, self.dumps, 1))
        b.claim("count", part.command_count == count, when=part.command_valid)
        aborted = self._flag("was_aborted", sets=part.in_cancel & self.work & (self.kind == RUN),
                             clears=self.begins | part.reset)  # fmt: skip
        over = part.in_idle & part.in_empty & (part.in_torn | aborted)
        cut = self._flag("cut_short", sets=self.work & self.worked & (self.kind == RUN) & over,
                         clears=part.reset | self.begins)  # fmt: skip
        b.claim("aborted", self.aborted == aborted, when=self.owed)
        b.claim("stop", part.stop == cut, when=self.owed)
        b.claim("not_yet", ~aborted & ~cut, when=self.beginning)
        b.claim("no_stop_at_the_start", ~part.stop, when=self.beginning)

    def claim_streams(self) -> None:
        """Claim what the two streams are given."""
        b, part = self.b, self.part
        taken = part.command_valid & part.command_ready
        b.claim("out_start", part.out_start == taken)
        started = b.register(taken & (self.kind != DUMP) & ~part.reset, "past_taken")
        b.claim("in_start", part.in_start == started)
        b.claim("in_load", part.in_load == (self.kind == LOAD), when=self.owed)
        b.claim("out_packets", part.out_packets == ((self.kind == DUMP) | ((self.kind == RUN) & self.results)),
                when=self.owed)  # fmt: skip
        b.claim("out_whole", part.out_whole == (self.kind == DUMP), when=self.owed)
        ends = self.work & self.worked & part.in_idle & ~part.array_busy
        b.claim("out_finish", part.out_finish == ends)
        b.claim("finishes_after_the_input", self.started | (self.kind == DUMP), when=part.out_finish)
        words = b.register(self.work & (self.kind != LOAD) & ~part.reset, "past_work")
        b.claim("words", part.words == words)
        b.claim("resets", (part.in_reset == part.reset) & (part.out_reset == part.reset))
        # An ABORT cancels two cycles later, or when a command that begins has begun.
        waits = Signal(name="abort_waits")
        cancels = waits & ~self.beginning & ~part.in_start & ~part.reset
        b.m.d.sync += waits.eq((part.abort | (waits & ~cancels)) & ~part.reset)
        b.claim("abort_waits", self.aborting == waits)
        b.claim("in_cancel", part.in_cancel == (b.register(cancels, "past_cancels") & ~part.reset))
        b.claim("starts_or_cancels", ~(part.in_start & part.in_cancel))

    def claim_samples(self) -> None:
        """Claim how many units count as finished."""
        b, part, most = self.b, self.part, self.at_work
        total = Signal(32, name="units_begun")
        with b.m.If(self.begins & (part.code == RUN)):
            b.m.d.sync += total.eq(0)
        with b.m.Elif(self.work & (self.kind == RUN) & part.sample_start):
            b.m.d.sync += total.eq(total + 1)
        run = self.owed & (self.kind == RUN)
        late = self.opened["late"]
        sure = Mux(total > most, total - most, 0)
        # A RUN counts fewer units than its COUNT, which has 32 bits.
        b.assume("no_more_units_than_numbers", ~total.all())
        b.claim("samples_while_it_runs", part.samples == sure, when=run & ~self.finished)
        b.claim("samples_at_work", late == total - part.samples, when=run)
        b.claim("late", late <= most)
        b.claim("none_before_it_works", total == 0, when=run & self.beginning)
        b.claim("late_in_a_run", late == 0, when=~run)
        b.claim("samples_at_the_end", part.samples == total, when=run & part.done)
        b.claim("no_more_than_begun", part.samples <= total, when=run)


def commands(*, reset_cycles: int, at_work: int, predicts: bool = False) -> Bench:
    """The sequencer of commands."""
    proof = CommandProof(reset_cycles=reset_cycles, at_work=at_work, predicts=predicts)
    proof.claim_levels()
    proof.claim_array()
    proof.claim_streams()
    proof.claim_samples()
    return proof.b


VERDICTS = mutants(
    "bus/verdict.py",
    ("self.beat & ~self.faulty", "self.beat"),
    ('self.judged & ~held["bad_keep"] & (held["bad_short"]', 'self.judged & (held["bad_short"]'),
    ('(ends & held["inside"])', 'held["inside"]'),
    ("self.judged & finishes & ~ends", "self.whole & finishes & ~ends"),
    ("self.keep | self.range | self.short)", "self.keep | self.short)"),
    ("self.whole & ~finishes & ends", "self.whole & ends"),
    ("self.finished.eq(self.whole & finishes)", "self.finished.eq(self.judged & finishes)"),
)
COMMANDS = mutants(
    "bus/commands.py",
    ("resting.eq((left == 0) & ~self.array_reset)", "resting.eq(left == 0)"),
    ("self.command_valid.eq(state == State.ISSUE)", "self.command_valid.eq((state == State.ISSUE) & self.out_idle)"),
    ("(state != State.ISSUE) & ~self.in_start & ~self.reset", "~self.in_start & ~self.reset"),
    ("aborting.eq(self.abort | (aborting & ~cancels))", "aborting.eq(self.abort)"),
    ("(self.code != LOAD) & ~self.loaded)", "(self.code == RUN) & ~self.loaded)"),
    ("left.eq(self.reset_cycles), loaded.eq(0), *begun]", "left.eq(self.reset_cycles), *begun]"),
    ("Mux(kind == LOAD, ~self.in_failed, loaded)", "loaded | ~self.in_failed"),
    ("(self.in_torn | aborted) & settled", "(self.in_torn | aborted)"),
    ("self.in_idle & self.in_empty & (self.in_torn", "self.in_idle & (self.in_torn"),
    ("with m.If(settled & self.in_idle & ~self.array_busy):", "with m.If(self.in_idle & ~self.array_busy):"),
    ("waits.eq((state == State.FINISH) & (late != 0))", "waits.eq((state == State.FINISH) & (late > 1))"),
    ("ended & ~waits & self.out_idle", "ended & self.out_idle"),
    ("resting & self.in_idle & self.out_idle", "resting & self.in_idle"),
    ("with m.If(counted & ~full):", "with m.If(counted):"),
    ("self.stop.eq(0), aborting.eq(0)]", "self.stop.eq(0)]"),
)  # fmt: skip
PREDICTIONS = mutants(
    "bus/commands.py",
    ("self.command_predict.eq(self.predict)", "self.command_predict.eq(self.predict | self.command_predict)"),
)

SUBJECTS = (
    Subject(
        group="borders on a bus",
        name="verdict on a beat",
        property="A beat is judged a cycle after its last group, unless the beat before was faulty. Its faults are "
        "those of its facts; units that ended in it count without a fault only; the packet that ended is followed by "
        "another one exactly if the command wants more.",
        bounds="resets at any time",
        build=verdict,
        depth=2,
        speed=Speed.TEST,
        mutants=VERDICTS,
        search=4,
    ),
    *(
        Subject(
            group="borders on a bus",
            name=f"order of commands, {at_work} at work{', with predictions' * predicts}",
            property="Commands are carried out one at a time and in order: the array's reset, the command, the "
            "streams, the last packet, and one end each. A command that cannot run ends at once. An ABORT cancels "
            "once, after a beginning; a RUN that is cut short stops when all whole units are with the array. The "
            "units that count as finished are those behind which enough others have begun, and all of them at the "
            "end.",
            bounds=f"resets of {reset_cycles} cycles; what array and streams answer is free",
            build=partial(commands, reset_cycles=reset_cycles, at_work=at_work, predicts=predicts),
            depth=2,
            mutants=planted,
            search=18,
        )
        for reset_cycles, at_work, predicts, planted in (
            (3, 2, False, COMMANDS),
            (8, 5, False, ()),
            (3, 2, True, PREDICTIONS),
        )
    ),
)
