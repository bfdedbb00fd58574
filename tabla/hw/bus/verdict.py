"""What becomes of a beat of the bus after its last group."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

FACTS = ("bad_keep", "bad_range", "bad_short", "inside", "finishes", "packet_ends")


class Verdict(wiring.Component):
    """Judges a beat of the bus in the cycle after its last group.

    Members
    -------
    beat : In(1)
        The last group of a beat that counts is worked on in this cycle. A beat counts for nothing if the beat before,
        which is judged in this cycle, is `faulty`.
    bad_keep, bad_range, bad_short, inside, finishes, packet_ends : In(1)
        Facts of this beat: some TKEEP or word is wrong, containers of a unit are missing before its end, the last
        container that came lies inside a unit, the command's last container came, TLAST.
    judged : Out(1)
        The outputs below are those of the beat before. They are 0 otherwise.
    keep, range, short, long : Out(1)
        The faults. `short` is never there beside `keep`.
    faulty : Out(1)
        There is a fault other than `long`.
    whole : Out(1)
        Units that ended in the beat count.
    finished : Out(1)
        The command has all that it wants, and the beat is not faulty.
    resumes : Out(1)
        The packet ended, and the command wants another one.
    closed : Out(1)
        The packet ended.
    """

    def __init__(self) -> None:
        outputs = ("judged", "keep", "range", "short", "long", "faulty", "whole", "finished", "resumes", "closed")
        super().__init__({**dict.fromkeys(("beat", *FACTS), In(1)), **dict.fromkeys(outputs, Out(1))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        held = {name: Signal(name=f"held_{name}") for name in FACTS}
        m.d.sync += [self.judged.eq(self.beat & ~self.faulty), *(held[n].eq(getattr(self, n)) for n in FACTS)]
        ends, finishes = held["packet_ends"], held["finishes"]
        m.d.comb += [
            self.keep.eq(self.judged & held["bad_keep"]),
            self.range.eq(self.judged & held["bad_range"]),
            self.short.eq(self.judged & ~held["bad_keep"] & (held["bad_short"] | (ends & held["inside"]))),
            self.long.eq(self.judged & finishes & ~ends),
            self.faulty.eq(self.keep | self.range | self.short),
            self.whole.eq(self.judged & ~self.faulty),
            self.finished.eq(self.whole & finishes),
            self.resumes.eq(self.whole & ~finishes & ends),
            self.closed.eq(self.judged & ends),
        ]
        return m
