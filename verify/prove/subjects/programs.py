"""The commands of an overlay's wrapper: those of every wrapper, and PROGRAM."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Signal

from tabla.hw.bus.commands import State
from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.controller import LOAD
from tabla.hw.overlay.commands import ProgramCommands
from tabla.program.overlay_words import Status
from verify.prove.bench import Bench
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject
from verify.prove.subjects.commands import CommandProof


class ProgramProof(CommandProof):
    """The sequencer of an overlay beside the record of ``CommandProof``, and a record of the image under way."""

    def _under_proof(self, sizes: UnitSizes) -> Any:
        return ProgramCommands(sizes=sizes, reset_cycles=self.reset_cycles)

    def _given(self) -> Any:
        part = self.part
        return part.command & ~part.program & ((part.code != LOAD) | part.programmed)

    def _forgets(self) -> Any:
        """A program that begins to run has no models."""
        runs = self.part.program_status == Status.RUNS
        return runs & ~self.b.register(runs, "past_runs")

    def _record(self) -> None:
        super()._record()
        b, part = self.b, self.part
        self.without = b.seen(
            part.command & ~part.reset & ~part.program & (part.code == LOAD) & ~part.programmed, "without_a_program"
        )
        self.image = Signal(name="image_under_way")
        self.asks = b.seen(part.command & ~part.reset & part.program, "an_image_begins")
        over = (part.program_status != Status.TAKES) | part.abort
        self.image_ends = b.seen(self.image & over & ~part.reset, "the_image_ends")
        b.m.d.sync += self.image.eq((self.image | self.asks) & ~self.image_ends & ~part.reset)
        self.outcome = Signal(3, name="outcome_of_the_image")
        with b.m.If(self.asks):
            b.m.d.sync += self.outcome.eq(Status.TAKES)
        with b.m.If(self.image_ends):
            b.m.d.sync += self.outcome.eq(part.program_status)
        with b.m.If(self._forgets()):
            b.m.d.sync += self.outcome.eq(Status.RUNS)

    def claim_levels(self) -> None:
        """Claim what the registers see, of commands for the array and of images."""
        b, part = self.b, self.part
        b.claim("busy", part.busy == (self.owed | self.cleaning | self.image))
        b.claim("active", part.active == (self.owed | self.image))
        b.claim("begins", part.begins == ((self._given() & ~part.reset) | self.asks))
        b.claim("loaded", part.loaded == self.loaded)
        b.claim("count_zero", part.count_zero == self.none, after=1)
        b.claim("not_loaded", part.not_loaded == (self.unready | self.without))
        refused = self.refused | self.without
        b.claim("refused_is_done", part.done, when=refused, after=1)
        over = self.image_ends | (self.owed & self.finished & part.out_idle)
        b.claim("done", refused | over, when=part.done, after=1)

    def claim_images(self) -> None:
        """Claim when an image begins, counts and ends, and what became of it."""
        b, part = self.b, self.part
        b.claim("program_start", part.program_start == self.asks)
        b.claim("taking", part.taking == self.image)
        b.claim("image_is_done", part.done, when=self.image_ends)
        b.claim("outcome", part.outcome == self.outcome)
        b.claim("no_command_beside_an_image", ~self.owed & ~self.cleaning, when=self.image)
        at_rest = self.opened["state"] == State.REST.value
        b.claim("array_at_rest", at_rest, when=self.image)


def programs(*, reset_cycles: int, at_work: int) -> Bench:
    """The sequencer of commands of an overlay."""
    proof = ProgramProof(reset_cycles=reset_cycles, at_work=at_work)
    proof.claim_levels()
    proof.claim_array()
    proof.claim_streams()
    proof.claim_samples()
    proof.claim_images()
    return proof.b


PROGRAMS = mutants(
    "overlay/commands.py",
    ("self.command & ~self.program & ((self.code != LOAD)", "self.command & ((self.code != LOAD)"),
    ("((self.code != LOAD) | self.programmed)", "self.programmed"),
    ("given = self.command & ~self.reset", "given = self.command"),
    ("~self.program & (self.code == LOAD) & ~self.programmed)", "~self.program & ~self.programmed)"),
    ("(self.program_status != Status.TAKES) | self.abort)", "(self.program_status != Status.TAKES))"),
    ("| self.abort) & ~self.reset)", "| self.abort))"),
    ("(self.program_status == Status.RUNS) & ~ran)", "self.program_status == Status.RUNS)"),
    ("self.outcome.eq(Status.TAKES), self.active.eq(1)]", "self.active.eq(1)]"),
    ("[self.taking.eq(0), self.outcome.eq(self.program_status)]", "self.taking.eq(0)"),
    ("with m.If(changes):", "with m.If(~changes):"),
    ("[self.loaded.eq(0), self.outcome.eq(Status.RUNS)]", "self.outcome.eq(Status.RUNS)"),
    ("with m.If(self.reset):\n            m.d.sync += self.taking.eq(0)", "with m.If(self.reset):\n            pass"),
)  # fmt: skip

SUBJECTS = (
    Subject(
        group="commands of an overlay",
        name="order of commands of an overlay",
        property="All that is said of the order of commands holds of an overlay too. PROGRAM begins an image and ends "
        "when the loader does not take any more, or with ABORT, and `outcome` is what became of it. A program that "
        "begins to run has no models. A LOAD without a program ends at once.",
        bounds="resets of 3 cycles, 2 at work; what loader, array and streams answer is free",
        build=partial(programs, reset_cycles=3, at_work=2),
        depth=2,
        speed=Speed.QUICK,
        mutants=PROGRAMS,
        search=18,
    ),
)
