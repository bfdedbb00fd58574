"""What the parts of the input stream promise each other.

The proof of a part claims its promises, and the proof of the part behind it assumes the same ones. So no assumption is
written down without the claim that proves it. A promise speaks of earlier cycles by registers of the bench, and of this
cycle by ports of one part only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Const, Mux, Signal

from tabla.hw.bus.groups import GroupReader
from verify.prove.bench import Bench

BEATS_QUIET, GROUPS_QUIET = 2, 3
"""So many cycles after a flush nothing is offered."""

FLAGS = ("full", "empty", "counts", "bad_keep", "bad_range", "final", "packet_ends")
"""What a group says of itself beside its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What holds in each cycle, or whenever `when` does."""

    name: str
    holds: Any
    when: Any = None


def claim(b: Bench, promises: list[Promise]) -> None:
    """Claim what a part promises."""
    for each in promises:
        b.claim(each.name, each.holds, when=each.when)


def assume(b: Bench, promises: list[Promise]) -> None:
    """Assume what a part promises that was proved."""
    for each in promises:
        b.assume(each.name, each.holds, when=each.when)


def _quiet(b: Bench, name: str, *, flush: Any, cycles: int) -> Signal:
    """Return how many of the first cycles after a flush are left, this one included."""
    left = Signal(range(cycles + 1), name=f"quiet_{name}")
    b.m.d.sync += left.eq(Mux(flush, cycles, Mux(left == 0, 0, left - 1)))
    return left


def _paused(b: Bench, name: str, *, ends: Any, resume: Any, flush: Any) -> Signal:
    """Return whether a packet ended and may not yet be followed by another one."""
    paused = Signal(name=f"paused_{name}")
    b.m.d.sync += paused.eq((paused | ends) & ~resume & ~flush)
    return paused


@dataclass(frozen=True, slots=True, kw_only=True)
class Beats:
    """What the slice promises of its beats. A beat with TLAST leaves, and `paused` is high until `resume`."""

    paused: Signal
    quiet: Signal
    promises: list[Promise]

    @staticmethod
    def of(b: Bench, *, valid: Any, take: Any, last: Any, resume: Any, flush: Any) -> Beats:
        """Return what is promised of these ports."""
        paused = _paused(b, "beats", ends=valid & take & last, resume=resume, flush=flush)
        quiet = _quiet(b, "beats", flush=flush, cycles=BEATS_QUIET)
        promises = [
            Promise(name="no_beat_behind_a_packet", holds=~valid, when=paused),
            Promise(name="no_beat_after_a_flush", holds=~valid, when=quiet != 0),
        ]
        return Beats(paused=paused, quiet=quiet, promises=promises)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """What the reader promises of its groups.

    `place` is how many groups of the beat have left, `inside` that some have, and `last` whether that beat has TLAST.
    `paused` is high from the last group of a packet until `resume`.
    """

    place: Signal
    inside: Any
    last: Signal
    paused: Signal
    quiet: Signal
    promises: list[Promise]

    @staticmethod
    def of(b: Bench, groups: GroupReader, *, count: int, resume: Any) -> Groups:
        """Return what is promised of a reader that cuts a beat into `count` groups."""
        leaves = groups.valid & groups.take
        paused = _paused(b, "groups", ends=leaves & groups.final & groups.packet_ends, resume=resume,
                         flush=groups.flush)  # fmt: skip
        place, last = Signal(range(max(2, count)), name="place_in_the_beat"), Signal(name="tlast_of_the_beat")
        with b.m.If(leaves):
            b.m.d.sync += [place.eq(Mux(groups.final, 0, place + 1)), last.eq(groups.packet_ends)]
        with b.m.If(groups.flush):
            b.m.d.sync += place.eq(0)
        inside = place != 0
        kept = b.register(groups.valid & ~groups.take & ~groups.flush, "past_kept", reset_less=False)
        flags = {name: getattr(groups, name) for name in FLAGS}
        quiet = _quiet(b, "groups", flush=groups.flush, cycles=GROUPS_QUIET)
        bad = (~groups.packet_ends & ~groups.full) | (~inside & groups.empty)
        offered = groups.valid
        promises = [
            Promise(name="group_stays", holds=offered, when=kept),
            *(Promise(name=f"{name}_stays", holds=now == b.register(now, f"past_{name}"), when=kept)
              for name, now in flags.items()),
            Promise(name="no_group_after_a_flush", holds=~offered, when=quiet != 0),
            Promise(name="no_group_behind_a_packet", holds=~offered, when=paused),
            Promise(name="place_in_the_beat", holds=place < count),
            Promise(name="final", holds=groups.final == (place == count - 1), when=offered),
            Promise(name="one_tlast_a_beat", holds=groups.packet_ends == last, when=inside & offered),
            Promise(name="full_or_empty", holds=~(groups.full & groups.empty), when=offered),
            Promise(name="counts", holds=groups.counts == (groups.full | ~groups.packet_ends), when=offered),
            Promise(name="bad_keep", holds=groups.bad_keep, when=bad & offered),
            Promise(name="zeros", holds=groups.words == Const(0, len(groups.words)),
                    when=b.register(groups.clear, "past_clear", reset_less=False)),
        ]  # fmt: skip
        return Groups(place=place, inside=inside, last=last, paused=paused, quiet=quiet, promises=promises)
