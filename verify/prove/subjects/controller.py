"""The controller: counts of tokens, credits, and slots of the ring."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from amaranth.hdl import Const, Mux, Signal, signed

from tabla.hw.controller import DUMP, LOAD, Controller
from tabla.hw.countdown import Countdown
from tabla.hw.timing import Timing
from tabla.program.image import Entry, Image, StreamEntry
from tabla.templates.template import timing
from tests.sim.hand_assembler import assemble, parameters
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.products import CountdownModel
from verify.prove.subject import Subject


def entry(*, period: int, outputs: int, drain: int) -> Entry:
    """A program with these figures, of no strands."""
    none = dict.fromkeys(("lane_issue", "lane_write", "root_issue", "root_write"), 0)
    return Entry(period=period, skew=none, begin=none, strands=none, outputs=outputs, drain=drain)


def image_of(*, beats: int, slots: int, depth: int, period: int, outputs: int, release: int, drain: int) -> Image:
    """An image for a controller. A dump has a period and outputs of its own."""
    plain = assemble(parameters(2, ring_slots=slots, output_depth=depth), {}, period=1)
    run = entry(period=period, outputs=outputs, drain=drain)
    return replace(
        plain,
        run=run,
        dump=entry(period=period + 2, outputs=outputs + 1, drain=drain + 3),
        stream_run=StreamEntry(begin=0, strands=1, beats=beats),
        stream_load=StreamEntry(begin=0, strands=1, beats=beats + 1),
        release=release,
    )


class ControllerProof:
    """A controller beside a witness that counts beats, samples, tokens and words."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.b = b = Bench()
        self.part = part = Controller(parameters=image.parameters, timing=Timing.of(image))
        with exchanged({Countdown: CountdownModel}):
            self.opened = b.add(Opened(part), "controller")
        for name in ("tokens", "samples"):
            count = self.opened.component(name)
            b.claim(f"{name}_step_when_some_are_left", count.left != 0, when=count.step)
            b.claim(f"{name}_step_late", count.age == 4, when=count.step)
        self.tokens, self.samples = self.opened.component("tokens"), self.opened.component("samples")
        b.drive(part)
        b.assume("two_are_one_too", part.prepared[0] | ~part.prepared[1])
        b.assume("takes_what_is_ready", part.in_ready, when=part.taken)
        b.assume("knows_the_code", part.command_code <= DUMP)
        self.fires = self.opened["fires"]
        self.accepted = b.seen(part.command_valid & part.command_ready, "accepted")
        self.run = ~part.load & ~part.dump
        self._kind()
        self._since()

    def _kind(self) -> None:
        """Claim that the controller knows what its command is."""
        b, part = self.b, self.part
        kind, some = Signal(2, name="kind"), Signal(name="some_command")
        with b.m.If(self.accepted):
            b.m.d.sync += [kind.eq(part.command_code), some.eq(1)]
        b.claim("kind", (part.load == (kind == LOAD)) & (part.dump == (kind == DUMP)), when=some)
        b.claim("kind_before", ~part.load & ~part.dump, when=~some)
        b.claim("known_kind", kind <= DUMP)
        b.claim("restart", part.restart == b.register(self.accepted, "past_accepted"))

    def _since(self) -> None:
        """Count the cycles since the command and since its last token, as far as anything depends on them."""
        b, image = self.b, self.image
        self.most = most = image.dump.drain + timing().front + 4
        self.command_age = Signal(range(most + 1), name="command_age", init=most)
        self.token_age = Signal(range(most + 1), name="token_age", init=most)
        for age in (self.command_age, self.token_age):
            with b.m.If(age != most):
                b.m.d.sync += age.eq(age + 1)
        with b.m.If(self.fires):
            b.m.d.sync += self.token_age.eq(0)
        with b.m.If(self.accepted):
            b.m.d.sync += [self.command_age.eq(1), self.token_age.eq(most)]
        for name, count in (("tokens", self.tokens), ("samples", self.samples)):
            b.claim(f"{name}_age", count.age == Mux(self.command_age < 4, self.command_age, 4))
        b.claim("ages", (self.command_age <= most) & (self.token_age <= most) & (self.command_age != 0))

    def claim_counts(self) -> None:
        """Claim that a command sends as many tokens as it says, and then ends."""
        b, part = self.b, self.part
        count, sent = Signal(32, name="asked"), Signal(32, name="sent")
        with b.m.If(self.fires):
            b.m.d.sync += sent.eq(sent + 1)
        with b.m.If(self.accepted):
            b.m.d.sync += [count.eq(Mux(part.command_code == LOAD, 0, part.command_count)), sent.eq(0)]
        b.claim("tokens", self.tokens.left == count - sent)
        b.claim("no_more_tokens_than_asked", sent <= count)
        b.claim("ends_with_all_tokens", sent == count, when=part.command_ready)
        b.claim("no_token_in_a_load", ~self.fires, when=part.load)
        b.claim("load_asks_for_none", count == 0, when=part.load)
        b.claim("no_token_yet", self.token_age == self.most, when=sent == 0)
        b.claim("in_ready_for_a_sample", self.samples.left != 0, when=part.in_ready)
        b.claim("in_ready_while_open", self.opened["opened"], when=part.in_ready)
        b.claim("counts_at_rest", (self.samples.left == 0) & (self.samples.age == 4), when=part.command_ready)

    def claim_period(self) -> None:
        """Claim that tokens of a command are never closer than its period, and when the next command is taken."""
        b, image, opened = self.b, self.image, self.opened
        going = opened["at_work"] & ~self.part.restart
        b.claim("token", self.part.token == b.register(self.fires, "past_fires"))
        for name, what, when in (("run", image.run, ~self.part.dump), ("dump", image.dump, self.part.dump)):
            # `token_age` is 0 in the cycle of a token.
            b.claim(f"period_of_{name}", self.token_age >= what.period - 1, when=when & self.fires)
            waits = Signal(signed(12), name=f"pause_of_{name}")
            left = what.period - 2 - self.token_age
            b.m.d.comb += waits.eq(Mux(left < 0, -1, left))
            b.claim(f"pause_of_{name}", opened["pause"] == waits, when=when & going)
            resting = what.drain + timing().front
            # A command is taken in the cycle after `command_ready` rises at the earliest.
            b.claim(f"rest_of_{name}", self.token_age >= resting, when=when & self.part.command_ready)
            left = what.drain + timing().front - 3 - self.token_age + 1
            b.claim(f"at_work_of_{name}", opened["rest"] >= left, when=when & (self.token_age > 0) & (left >= 0))
        b.claim("at_rest", ~self.fires & ~self.part.token, when=self.part.command_ready)
        b.claim("front", self.command_age >= timing().front, when=self.fires)
        b.claim("open_late", self.command_age >= timing().front, when=opened["opened"])
        b.claim("open_at_work", opened["at_work"], when=opened["opened"])
        b.claim("rest_since_command", opened["rest"] >= timing().front - 3 - (self.command_age - 1),
                when=(self.command_age <= timing().front - 2) & opened["at_work"])  # fmt: skip
        b.claim("command_at_work", opened["at_work"], when=self.command_age < timing().front)

    def claim_credit(self) -> None:
        """Claim that no token is sent without room for its words."""
        b, image, part, opened = self.b, self.image, self.part, self.opened
        depth = image.parameters.output_depth
        promised = Signal(range(depth + 8), name="promised")
        wanted = Mux(part.dump, image.dump.outputs, image.run.outputs)
        b.m.d.sync += promised.eq(promised + Mux(self.fires, wanted, 0) - part.output_taken)
        b.assume("takes_what_is_promised", promised != 0, when=part.output_taken)
        # All words of a token are out when its work has drained.
        for name, what, when in (("run", image.run, ~part.dump), ("dump", image.dump, part.dump)):
            out = when & (self.token_age >= what.drain)
            b.assume(f"words_of_{name}_come", part.output_waits | (promised == 0), when=out)
        b.claim("credit", promised + wanted <= depth, when=self.fires)
        b.claim("never_more_than_room", promised <= depth)
        b.claim("nothing_left_at_rest", promised == 0, when=part.command_ready | part.restart)
        b.claim("spare", opened["spare"] == Const(depth, signed(12)) - wanted - promised,
                when=opened["at_work"] & ~part.restart)  # fmt: skip

    def claim_ring(self) -> None:
        """Claim that no sample begins without a slot, that tokens are sent for whole samples only, and in time."""
        b, image, part, opened = self.b, self.image, self.part, self.opened
        slots, beats = image.parameters.ring_slots, image.stream_run.beats
        streamed = self.run & self.b.older_than(1)
        position = Signal(range(beats + 2), name="position")
        count = Mux(part.load, beats + 1, beats)
        last = position == count - 1
        with b.m.If(part.taken):
            b.m.d.sync += position.eq(Mux(last, 0, position + 1))
        with b.m.If(part.restart):
            b.m.d.sync += position.eq(0)
        going = opened["at_work"] & ~part.restart
        b.claim("begins", part.begins == (position == 0), when=going)
        b.claim("beats", opened["beats"] == count - 2 - position, when=going)
        b.claim("position", position < count, when=going)
        begun = part.taken & (position == 0) & streamed
        # A token of cycle T frees its slot for a beat of T + release + 1.
        token = part.token & ~part.dump
        freed = [token]
        for cycle in range(image.release):
            freed.append(b.register(freed[-1] & ~part.restart, f"past_freed_{cycle + 1}"))
        busy = Signal(range(slots + 2), name="busy_slots")
        b.m.d.sync += busy.eq(Mux(part.restart, 0, busy + begun - freed[-1]))
        b.claim("slots", busy + begun <= slots)
        ready = opened["ready"]
        b.claim("token_of_a_sample", b.register(ready, "past_ready") != 0, when=token)
        self._claim_ring_registers(streamed=streamed, position=position, busy=busy, freed=freed)
        # A token comes READY cycles after the last beat of its sample, or later.
        arrived: Any = part.taken & last & streamed
        for cycle in range(timing().ready - 2):
            arrived = b.register(arrived & ~part.restart, f"past_arrived_{cycle}")
            b.claim(f"on_its_way_{cycle + 1}", opened[f"arrived_{cycle + 1}"] == arrived)

    def _claim_ring_registers(self, *, streamed: Any, position: Any, busy: Any, freed: list[Any]) -> None:
        """Claim where the samples are that have a slot."""
        b, part, opened = self.b, self.part, self.opened
        slots = self.image.parameters.ring_slots
        steady = ~part.restart
        ready = opened["ready"]
        on_the_way = sum((opened[f"arrived_{n + 1}"] for n in range(timing().ready - 2)), start=Const(0, 1))
        partly = streamed & (position != 0)
        b.claim("where_samples_are", busy == partly + on_the_way + ready + sum(freed, start=Const(0, 1)), when=steady)
        b.claim("free", opened["free"] == slots - busy, when=steady)
        b.claim("a_slot_for_a_beat", busy < slots, when=steady & part.in_ready & streamed & (position == 0))
        b.claim("waits", opened["waits"] == (ready != 0), when=steady & opened["at_work"])
        b.claim("no_beat_in_a_dump", self.samples.left == 0, when=part.dump & steady)
        cleared = b.register(part.restart, "past_restart")
        for cycle, place in enumerate(freed[1:-1], start=1):
            b.claim(f"chain_{cycle}", opened[f"slot_release.token_{cycle}_next"] == place, when=steady & ~cleared)
        b.claim("chain_end", opened["slot_release.delayed"] == freed[-1], when=steady & ~cleared)
        b.claim("cleared", opened["slot_release.cleared"] == cleared)


def controller(image: Image) -> Bench:
    """The controller."""
    proof = ControllerProof(image)
    proof.claim_counts()
    proof.claim_period()
    proof.claim_credit()
    if image.stream_run.beats:
        proof.claim_ring()
    return proof.b


TOKENS = mutants(
    "controller.py",
    ('numbers["dump.pause"], numbers["run.pause"])', 'numbers["dump.pause"] - 1, numbers["run.pause"] - 1)'),
    ("spare.eq(places - wanted)", "spare.eq(places)"),
    ("spare + self.output_taken - Mux(fires, wanted, 0)", "spare + self.output_taken - fires"),
    ("~self.output_waits & ~self.taken & ~self.token", "~self.taken & ~self.token"),
    ('Mux(self.dump, numbers["dump.drain"], numbers["run.drain"]) +', 'numbers["run.drain"] +'),
    ("(ready > 1) | ((ready == 1) & arrived)", "(ready != 0) | arrived"),
    ("(~self.begins | self.load | one)", "(~self.begins | self.load | one | self.output_taken)"),
    ("ready.eq(ready + arrived - (fires & ~self.dump))", "ready.eq(ready + arrived - fires)"),
    ("tokens.short.eq(~(is_run | is_dump))", "tokens.short.eq(~is_run)"),
    ('Mux(self.load, numbers["load.beats"], numbers["run.beats"])', 'numbers["run.beats"]'),
)
ONE_BEAT = mutants(
    "controller.py",
    ("Mux(self.begins, two, one)", "one"),
    ("(free > 1) | ((free != 0) & back)", "(free != 0)"),
)
TOKEN_PROPERTY = (
    "Tokens of a command are never closer than its period, and there are as many as the command says. A token is sent "
    "only if the output has room for all its words, and READY cycles after the last beat of its sample at the "
    "earliest. Credits and free slots are never negative, and never more than there are. The next command is taken "
    "when the work of the one before has drained."
)
SUBJECTS = (
    *(
        Subject(
            group="controller",
            name=f"controller, {beats} beats a sample",
            property=TOKEN_PROPERTY,
            bounds=f"{slots} slots, {outputs} of {depth} words a token, period {period}, release {release}, drain 9; "
            "32-bit counts",
            build=partial(
                controller,
                image_of(
                    beats=beats, slots=slots, depth=depth, period=period, outputs=outputs, release=release, drain=9
                ),
            ),
            depth=2,
            mutants=planted,
            search=15,
        )
        for beats, slots, depth, period, outputs, release, planted in (
            (3, 3, 7, 4, 2, 6, TOKENS),
            (1, 2, 1024, 1, 1, 12, ONE_BEAT),
            (0, 2, 5, 7, 3, 3, ()),
        )
    ),
)
