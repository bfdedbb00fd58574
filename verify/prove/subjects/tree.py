"""The adder tree: exact sums, at its latency, for all numbers of leaves."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Const, Mux, signed

from tabla.hw.tree import Tree, levels
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


def ranks(words: list[Any], b: Bench, combine: Any, name: str) -> list[list[Any]]:
    """Return the words combined with their neighbours, rank by rank, each rank a cycle later, in registers of the
    bench.
    """
    found = [words]
    while len(found[-1]) > 1:
        last, rank = found[-1], []
        for place in range(0, len(last), 2):
            pair = last[place : place + 2]
            value = pair[0] if len(pair) == 1 else combine(*pair)
            rank.append(b.register(value.as_signed(), f"{name}_{len(found)}_{place // 2}"))
        found.append(rank)
    return found


def sums(*, leaves: int, width: int, extremes: bool = False, clears: bool = False) -> Bench:
    """A tree beside one that knows no complements. That sums of integers do not depend on the order is a theorem about
    numbers; to find it again bit by bit would take a solver hours.
    """
    b = Bench()
    tree = Tree(leaves=leaves, width=width, extremes=extremes, clears=clears)
    opened = b.add(Opened(tree), "tree")
    sense = b.free(1, "inverted")
    b.drive(tree, inverted=sense.replicate(len(tree.inverted)))
    late = levels(leaves)
    numbers = [b.seen(Mux(sense, ~tree.words[leaf], tree.words[leaf]), f"number_{leaf}") for leaf in range(leaves)]
    totals = ranks(numbers, b, lambda x, y: (x + y)[:width], "sum")
    # Words that are complements stay complements: the largest of them is the smallest number.
    largest = ranks([tree.words[leaf] for leaf in range(leaves)], b, lambda x, y: Mux(x > y, x, y), "largest")
    keeps = tree.extreme if extremes else Const(0, 1)
    cleared = b.register(tree.clear, "past_clear") if clears else Const(0, 1)
    for level in range(1, late + 1):
        keeps, sense = b.register(keeps, f"past_extreme_{level}"), b.register(sense, f"past_inverted_{level}")
        for place, (total, most) in enumerate(zip(totals[level], largest[level], strict=True)):
            # Registers of the tree, named so that the induction has to look back a single cycle.
            shown = tree.sum if level == late else opened[f"sum_{level - 1}_{place}"]
            expected = Mux(keeps, most, Mux(sense, ~total, total))
            if level == late:
                expected = Mux(cleared, 0, expected)
            b.claim(f"level_{level}_{place}", shown == expected, after=level)
    if not late:
        b.claim("at_once", tree.sum == tree.words[0])
    return b


def in_order(*, leaves: int, width: int) -> Bench:
    """A tree beside the sum of one word after the other."""
    b = Bench()
    tree = b.add(Tree(leaves=leaves, width=width))
    b.drive(tree, inverted=Const(0, len(tree.inverted)))
    total = sum((tree.words[leaf] for leaf in range(leaves)), start=Const(0, signed(1)))
    expected = b.past(b.seen(total[:width].as_signed(), "total"), levels(leaves), "total")
    b.claim("exact_sum", tree.sum == expected, after=levels(leaves))
    return b


MUTANTS = mutants(
    "tree.py",
    ("first + added + (inverted & ~extreme)", "first + added"),
    ("first + added + (inverted & ~extreme)", "first + added + inverted"),
    ("(second & ~extreme.replicate(self.width)).as_signed()", "second"),
    ("rank, inverted = above, carry", "rank = above"),
    ("if len(pair) == 2 else pair[0])", "if len(pair) == 2 else pair[0] + inverted)"),
    ("self._clear(m, clear, passed, larger)", "self._clear(m, clear, passed)"),
    ("extreme & (first - second)[-1]", "extreme & (second - first)[-1]"),
    ("m.d.sync += carry.eq(inverted[0])", "m.d.sync += carry.eq(inverted[0] & carry)"),
    ("extreme = delayed(m, extreme, 1, name", "extreme = delayed(m, extreme, 2, name"),
    ("if self.clears and len(rank) == 2 else", "if self.clears and len(rank) > 2 else"),
)

EXACT = (
    "Each sum is exact, modulo 2^width, and shows after the levels of the tree, a sum of complements as its "
    "complement. With `extreme` the largest word shows instead, and 0 a cycle after `clear`."
)
SUBJECTS = (
    *(
        Subject(
            group="tree",
            name=f"tree of {leaves} leaves",
            property=EXACT,
            bounds="44 bits; the witness adds neighbours first",
            build=partial(sums, leaves=leaves, width=44, extremes=True, clears=leaves > 1),
            depth=levels(leaves) + 1,
            solver="yices",
            speed=Speed.TEST if leaves == 2 else Speed.QUICK,
            mutants=MUTANTS if leaves == 5 else (),
            search=6,
        )
        for leaves in range(2, 9)
    ),
    *(
        Subject(
            group="tree",
            name=f"tree of {leaves} leaves, in order",
            property="Each sum is that of one word after the other.",
            bounds=f"{width} bits, no complements",
            build=partial(in_order, leaves=leaves, width=width),
            depth=levels(leaves) + 1,
            solver="yices",
            speed=Speed.QUICK,
        )
        for leaves, width in ((3, 44), (4, 16), (5, 10), (8, 5))
    ),
)
