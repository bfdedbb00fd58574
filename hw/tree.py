"""The pipelined adder tree from the lanes to the root."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.pipeline import delayed


def levels(leaves: int) -> int:
    """Return the registers from the leaves to the sum."""
    return (leaves - 1).bit_length()


class Tree(wiring.Component):
    """Gives the exact sum of all words, modulo 2^width. It takes one set of words a cycle, and has no reset.

    Words of cycle *t* show as their sum in cycle *t* + ``levels(leaves)``, which is at once for a single leaf. While
    the words are complements (`inverted`, in the words' own cycle) so is the sum: ``~a + ~b == ~(a + b + 1)``, which
    takes a carry in. With `extremes`, and while `extreme` is high in the words' own cycle, it gives the largest of the
    words instead of their sum.

    Members
    -------
    words : In(signed(width)) for each leaf
    inverted : In(1) for each pair of leaves, all alike
        So that each can come from a register near its adder.
    extreme : In(1), with `extremes`
    clear : In(1), with `clears`, of two leaves or more
        In the cycle before a sum shows: 0 instead, by the last register's own reset.
    sum : Out(signed(width))
    """

    def __init__(self, *, leaves: int, width: int, extremes: bool = False, clears: bool = False) -> None:
        self.leaves = leaves
        self.width = width
        self.extremes = extremes
        self.clears = clears
        super().__init__(
            {
                "words": In(signed(width)).array(leaves),
                "inverted": In(max(1, (leaves + 1) // 2)),
                **({"extreme": In(1)} if extremes else {}),
                **({"clear": In(1)} if clears else {}),
                "sum": Out(signed(width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        rank: list[Any] = [self.words[leaf] for leaf in range(self.leaves)]
        inverted: Any = self.inverted
        extreme: Any = self.extreme if self.extremes else None
        for level in range(levels(self.leaves)):
            above = []
            for place in range(0, len(rank), 2):
                register = Signal(signed(self.width), name=f"sum_{level}_{place // 2}", reset_less=True)
                pair = rank[place : place + 2]
                m.d.sync += register.eq(self._joined(pair, inverted[place // 2 % len(inverted)], extreme))
                if self.clears and len(rank) == 2:
                    with m.If(self.clear):
                        m.d.sync += register.eq(0)
                above.append(register)
            carry = Signal(name=f"inverted_{level}", reset_less=True)
            m.d.sync += carry.eq(inverted[0])
            rank, inverted = above, carry
            if extreme is not None:
                extreme = delayed(m, extreme, 1, name=f"extreme_{level}")
        m.d.comb += self.sum.eq(rank[0])
        return m

    def _joined(self, pair: list[Any], inverted: Any, extreme: Any) -> Any:
        """Return the sum or the larger of two words. A word alone is both."""
        if len(pair) == 1:
            return pair[0]
        first, second = pair
        if extreme is None:
            return first + second + inverted
        # The first word passes the adder alone while the larger one is wanted, so that one two-way choice follows it.
        added = (second & ~extreme.replicate(self.width)).as_signed()
        return Mux(extreme & (second > first), second, first + added + (inverted & ~extreme))
