"""The reader of groups: what beats of the bus become."""

from __future__ import annotations

from functools import partial, reduce
from operator import and_, or_
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal

from tabla.hw.bus.groups import GroupReader
from tabla.program.bus import BusShape
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.promises import Beats, Groups, assume, claim
from verify.prove.subject import Speed, Subject


def whole_prefix(keep: Any, container: int) -> Any:
    """Return whether the bytes that are kept are the first so many containers, none or all of them included."""
    size = container // 8
    return reduce(or_, (keep == (1 << size * count) - 1 for count in range(len(keep) // size + 1)))


class GroupProof:
    """The reader beside one of its beats, which the solver chooses, and a count of the groups inside."""

    def __init__(self, *, shape: BusShape) -> None:
        self.shape, self.b = shape, Bench(resets=True)
        b = self.b
        self.part = part = GroupReader(shape=shape)
        self.opened = b.add(Opened(part), "groups")
        b.drive(part)
        resume = b.free(1, "resume")
        beats = Beats.of(b, valid=part.beat_valid, take=part.beat_take, last=part.last, resume=resume, flush=part.flush)
        self.groups = Groups.of(b, part, count=shape.groups, resume=resume)
        assume(b, beats.promises)
        b.assume("resumes_after_a_packet", self.groups.paused, when=resume)
        claim(b, self.groups.promises)
        b.claim("a_pause_is_one_of_the_beats", beats.paused, when=self.groups.paused)
        b.claim("a_tlast_is_one_of_the_beats", beats.paused, when=part.valid & part.packet_ends)
        quiet = self.groups.quiet
        b.claim("a_quiet_is_one_of_the_beats", beats.quiet == Mux(quiet == 0, 0, quiet - 1))
        self.beats = beats
        self._count()
        self._follow()

    def _count(self) -> None:
        """Count the groups inside, and claim when a group is offered and a beat taken."""
        b, part, count = self.b, self.part, self.shape.groups
        self.taken = b.seen(part.beat_valid & part.beat_take, "taken")
        self.leaves = b.seen(part.valid & part.take, "leaves")
        inside = self.inside = Signal(range(2 * count + 2), name="inside")
        after = b.seen(inside - self.leaves, "groups_left")
        b.m.d.sync += inside.eq(Mux(part.flush, 0, after + Mux(self.taken, count, 0)))
        b.claim("nothing_inside_after_a_flush", inside == 0, when=self.groups.quiet != 0)
        waiting = self.waiting = b.seen((inside - part.valid)[: len(inside)], "waiting")
        moves = ~part.valid | part.take
        if count == 1:
            b.claim("offered_at_once", part.valid == inside)
            b.claim("takes", part.beat_take == moves)
            return
        was_inside = b.register(Mux(part.flush, 0, after), "past_groups_left", reset_less=False)
        b.claim("offered_at_once", part.valid == (was_inside != 0))
        b.claim("takes", part.beat_take == ((waiting == 0) | ((waiting == 1) & moves)))
        b.claim("one_beat_waits", (waiting <= count) & (part.valid <= inside))
        opened = self.opened
        # The registers without a name are told by their sizes.
        sizes = {len(register): register for register in opened.registers_without_a_name()}
        self.filled, self.data, self.keep = (sizes[bits] for bits in (1, len(part.data), len(part.keep)))
        b.claim("filled", self.filled == (waiting != 0))
        b.claim("left", opened["left"] == waiting - 1, when=waiting != 0)
        b.claim("first", opened["first"] == (waiting == count), when=waiting != 0)
        # What has left and what is inside are whole beats.
        beats_inside = self.groups.place + inside
        b.claim("whole_beats", (beats_inside == 0) | (beats_inside == count) | (beats_inside == 2 * count))
        b.claim("nothing_waits_behind_a_packet", waiting == 0, when=part.valid & part.final & part.packet_ends)
        tlast = opened.inner("last")
        b.claim("tlast_waits", tlast == part.packet_ends, when=part.valid & ~part.final)
        b.claim("tlast_of_the_rest", tlast == self.groups.last, when=~part.valid & self.groups.inside)
        b.claim("the_rest_waits", waiting != 0, when=(~part.valid & self.groups.inside) | (part.valid & ~part.final))
        b.claim("none_behind_a_packet", self.beats.paused, when=(waiting != 0) & tlast)

    def _follow(self) -> None:
        """Follow a beat through the reader, and claim what its groups are."""
        b, part, count = self.b, self.part, self.shape.groups
        self.here, self.ahead = Signal(name="here"), Signal.like(self.inside, name="ahead")
        self.place = Signal(range(max(2, count)), name="place")
        here, ahead, place = self.here, self.ahead, self.place
        self.beat = {
            name: Signal.like(getattr(part, name), name=f"followed_{name}") for name in ("data", "keep", "last")
        }
        gap, refused = Signal(name="some_group_was_not_full"), Signal(name="some_group_was_refused")
        with b.m.If(here & self.leaves):
            with b.m.If(ahead != 0):
                b.m.d.sync += ahead.eq(ahead - 1)
            with b.m.Else():
                b.m.d.sync += [place.eq(place + 1), here.eq(place != count - 1)]
                b.m.d.sync += [gap.eq(gap | ~part.full), refused.eq(self._refused(gap, refused))]
        with b.m.If(self.taken & b.free(1, "chosen") & ~here):
            b.m.d.sync += [here.eq(1), ahead.eq(self.inside - self.leaves), place.eq(0), gap.eq(0), refused.eq(0)]
            b.m.d.sync += [signal.eq(getattr(part, name)) for name, signal in self.beat.items()]
        with b.m.If(part.flush):
            b.m.d.sync += here.eq(0)
        b.claim("ahead", (ahead + count - place) <= self.inside, when=here)
        b.claim("place", (place == 0) | (ahead == 0), when=here)
        self._claim_groups(gap, refused)

    def _refused(self, gap: Any, refused: Any) -> Any:
        """Return whether the group that is offered, or one before it in the beat, is refused by the input stream."""
        return refused | self.part.bad_keep | (gap & ~self.part.empty)

    def _claim_groups(self, gap: Any, refused: Any) -> None:
        """Claim what the offered group is, and what waits behind it."""
        b, part, shape = self.b, self.part, self.shape
        container, width, size = shape.container, shape.width, shape.group * shape.container
        head = b.seen(self.here & (self.ahead == 0) & part.valid, "head")
        data, keep, last = (self.beat[name] for name in ("data", "keep", "last"))
        bits = b.seen(data.word_select(self.place, size), "bits_of_the_group")
        kept = b.seen(keep.word_select(self.place, size // 8), "bytes_kept")
        cleared = Signal(name="cleared")
        moved = ~part.valid | part.take
        b.m.d.sync += cleared.eq(part.clear | (cleared & ~moved))
        words, fits = [], []
        for k in range(shape.group):
            whole = bits.word_select(k, container).as_signed()
            words.append((whole & ((1 << width) - 1))[:width])
            low, high = -(1 << width - 1), (1 << width - 1) - 1
            there = kept.word_select(k, container // 8) != 0
            fits.append(~there | ((whole >= low) & (whole <= high)))
        b.claim("words", part.words == Mux(cleared, 0, Cat(*words)), when=head)
        b.claim("full", part.full == (kept == (1 << size // 8) - 1), when=head)
        b.claim("empty", part.empty == (kept == 0), when=head)
        b.claim("range", part.bad_range == ~reduce(and_, fits), when=head)
        b.claim("packet_ends", part.packet_ends == last, when=head)
        b.claim("final_group", part.final == (self.place == shape.groups - 1), when=head)
        every = kept == (1 << size // 8) - 1
        good = whole_prefix(kept, container) & (last | every) & ~((self.place == 0) & (kept == 0))
        b.claim("keep", part.bad_keep == ~good, when=head)
        # What the groups say together is what the standard says of the whole beat.
        sound = Mux(last, whole_prefix(keep, container) & (keep != 0), keep == (1 << len(keep)) - 1)
        b.claim("keep_of_the_beat", self._refused(gap, refused) == ~sound, when=head & part.final)
        self._claim_inside(gap, refused, head)

    def _claim_inside(self, gap: Any, refused: Any, head: Any) -> None:
        """Claim what the registers hold of the beat that is followed."""
        b, shape, opened, count = self.b, self.shape, self.opened, self.shape.groups
        b.claim("followed_place", self.place == self.groups.place, when=self.here & (self.ahead == 0))
        b.claim("followed_from_its_start", self.place < count, when=self.here)
        if count == 1:
            return
        data, keep, last = (self.beat[name] for name in ("data", "keep", "last"))
        size = shape.group * shape.container
        # The followed beat is the one that waits if all groups but the offered one do.
        here = self.here & (self.waiting != 0) & (self.ahead + count - self.place == self.inside)
        for gone in range(count):
            rest = (self.data[: (count - gone) * size] == data[gone * size :]) & (
                self.keep[: (count - gone) * size // 8] == keep[gone * size // 8 :]
            )
            b.claim(f"waits_without_{gone}", rest, when=here & (self.waiting == count - gone))
            before = keep[: gone * size // 8]
            every = before == (1 << len(before)) - 1
            so_far = self.here & (self.place == gone)
            b.claim(f"gap_behind_{gone}", gap == ~every, when=so_far)
            sound = whole_prefix(before, shape.container) & (last | every) & (Const(gone == 0, 1) | (before != 0))
            b.claim(f"refused_behind_{gone}", refused == ~sound, when=so_far)
        b.claim("followed_tlast_waits", opened.inner("last") == last, when=here)


def groups(*, bus_bits: int, width: int, stream_words: int) -> Bench:
    """The reader of groups of a bus."""
    shape = BusShape(
        bus_bits=bus_bits, width=width, stream_words=stream_words, load_beats=3, run_beats=2, run_words=3, dump_count=4
    )
    return GroupProof(shape=shape).b


# A beat is one group.
WHOLE = mutants(
    "bus/groups.py",
    ("m.d.comb += self.beat_take.eq(moves)", "m.d.comb += self.beat_take.eq(~self.valid)"),
    ("moves.eq(~self.valid | self.take)", "moves.eq(self.take)"),
    ("present.append(bytes_kept.any())", "present.append(bytes_kept[0])"),
    ("whole.append(bytes_kept.all())", "whole.append(bytes_kept[-1])"),
    ("~last & ~keep.all(), first", "first"),
    ("self.counts.eq(keep.all() | ~last)", "self.counts.eq(keep.all())"),
    ("self.packet_ends.eq(last)", "self.packet_ends.eq(last & keep.any())"),
    ("m.d.sync += self.words.eq(0)", "m.d.sync += self.words.eq(self.words)"),
    ("m.d.sync += self.valid.eq(0)", "m.d.sync += self.valid.eq(self.valid)"),
)

# A beat is cut into groups.
CUT = mutants(
    "bus/groups.py",
    ("[present[k] & ~present[k - 1] for k", "[present[k - 1] & ~present[k] for k"),
    ("first & ~keep.any()", "~keep.any()"),
    ("self.beat_take.eq(~filled | (moves & (left == 0)))", "self.beat_take.eq(~filled)"),
    ("~filled | (moves & (left == 0))", "~filled | (left == 0)"),
    ("above = bits[width - 1 :]", "above = bits[width:]"),
    ("bytes_kept.any() & above.any() & ~above.all()", "above.any() & ~above.all()"),
    ("m.d.sync += filled.eq(self.beat_valid)", "m.d.sync += filled.eq(1)"),
    ("left.eq(groups - 1), first.eq(1)", "left.eq(groups - 1)"),
    ("left.eq(left - 1), first.eq(0)", "left.eq(left - 1)"),
    ("m.d.sync += filled.eq(0)", "m.d.sync += filled.eq(filled)"),
    ("m.Elif(moves)", "m.Elif(self.take)"),
    ("keep.eq(keep >> (bits // 8))", "keep.eq(keep >> bits)"),
    ("last, first, left == 0", "last, first, left == 1"),
    ("self.final.eq(final)", "self.final.eq(first)"),
    ("self.empty.eq(~keep.any())", "self.empty.eq(~keep[0])"),
)

SHAPES = (
    (32, 16, 2, WHOLE),
    (32, 8, 1, ()),
    (32, 5, 2, ()),
    (64, 12, 2, CUT),
    (64, 18, 1, ()),
    (64, 18, 4, ()),
    (128, 32, 4, ()),
    (128, 24, 2, ()),
    (256, 10, 4, ()),
    (512, 8, 16, ()),
    (512, 18, 16, ()),
)


def _name(bus_bits: int, width: int, stream_words: int) -> str:
    shape = BusShape(
        bus_bits=bus_bits, width=width, stream_words=stream_words, load_beats=3, run_beats=2, run_words=3, dump_count=4
    )
    return f"reader of groups, {bus_bits} bits, {shape.groups} of {shape.group} words of {width}"


SUBJECTS = tuple(
    Subject(
        group="reader of groups",
        name=_name(bus_bits, width, stream_words),
        property="Each container of each beat comes once and in order, a group a cycle, without the bits that repeat "
        "the sign. A group is offered a cycle after its turn. Its flags say which containers are there, which of them "
        "are no sign-extended words, and whether TLAST comes. The groups of a beat are refused together exactly if its "
        "TKEEP is not the first containers: at least one, and without TLAST all. Nothing is offered between TLAST and "
        "`resume`, nor for 3 cycles after `flush`.",
        bounds="any beats; `take`, `flush` and `clear` at any time; resets at any time",
        build=partial(groups, bus_bits=bus_bits, width=width, stream_words=stream_words),
        depth=2,
        speed=Speed.TEST if width == 12 else Speed.QUICK,
        mutants=planted,
        search=10,
    )
    for bus_bits, width, stream_words, planted in SHAPES
)
