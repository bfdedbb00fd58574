"""The words of several roots, which leave one after the other through one port."""

from __future__ import annotations

from functools import partial, reduce
from operator import or_

from amaranth.hdl import Mux

from tabla.hw.serial_out import SerialOut
from verify.prove.bench import Bench
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


def serial_out(*, roots: int) -> Bench:
    """The port of several roots. Words of a dump come as far apart as there are roots."""
    b = Bench()
    part = b.add(SerialOut(width=16, roots=roots))
    b.drive(part)
    dumped = part.valid & part.every
    before = [b.past(dumped, cycles, f"dumped_{cycles}") for cycles in range(1, roots)]
    after_a_dump = b.seen(reduce(or_, before), "after_a_dump")
    b.assume("program_waits", ~part.valid, when=after_a_dump)
    b.claim("put", part.put == (part.valid | after_a_dump))
    word = part.words[0]
    for cycles, late in enumerate(before, start=1):
        word = Mux(late, b.past(part.words[cycles], cycles, f"word_{cycles}"), word)
    b.claim("word", part.word == word, when=part.put)
    return b


SERIAL = mutants(
    "serial_out.py",
    ("self.valid | waits)", "self.valid & waits)"),
    ("Mux(waits, held[0], self.words[0])", "Mux(self.every, held[0], self.words[0])"),
    ("with m.If(self.valid & self.every):", "with m.If(self.valid):"),
    ("left.eq(self.roots - 1)", "left.eq(self.roots - 2)"),
    ("enumerate(held, start=1))]", "enumerate(held))]"),
    ("*(a.eq(b) for a, b in pairwise(held))]", "]"),
    ("[left.eq(left - 1),", "["),
)

SUBJECTS = tuple(
    Subject(
        group="words of several roots",
        name=f"one port for {roots} roots",
        property="A word of a result is put in its cycle. In a dump the words of all roots are put, the first root's "
        "at once and the others' in the cycles behind it, in order. Nothing else is put.",
        bounds="16 bits; words of a dump come as far apart as there are roots",
        build=partial(serial_out, roots=roots),
        # Its registers forget a dump when its last word is out.
        depth=roots,
        speed=Speed.TEST if roots == 3 else Speed.QUICK,
        mutants=SERIAL if roots == 3 else (),
        search=8,
    )
    for roots in (2, 3, 8)
)
