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
                pair, name = rank[place : place + 2], f"{level}_{place // 2}"
                clear = self.clear if self.clears and len(rank) == 2 else None
                above.append(self._joined(m, pair, inverted[place // 2 % len(inverted)], extreme, clear, name))
            carry = Signal(name=f"inverted_{level}", reset_less=True)
            m.d.sync += carry.eq(inverted[0])
            rank, inverted = above, carry
            if extreme is not None:
                extreme = delayed(m, extreme, 1, name=f"extreme_{level}")
        m.d.comb += self.sum.eq(rank[0])
        return m

    def _joined(self, m: Module, pair: list[Any], inverted: Any, extreme: Any, clear: Any, name: str) -> Any:
        """Return the sum or the larger of two words, a cycle later. A word alone is both.

        Which one is the larger is known at the end of the cycle, so the choice is made in the next one: the first word
        passes the adder alone, and the second one stands beside it.
        """
        total = Signal(signed(self.width), name=f"sum_{name}", reset_less=True)
        if len(pair) == 1 or extreme is None:
            m.d.sync += total.eq(pair[0] + pair[1] + inverted if len(pair) == 2 else pair[0])
            self._clear(m, clear, total)
            return total
        first, second = pair
        passed = Signal(signed(self.width), name=f"first_{name}", reset_less=True)
        beside = Signal(signed(self.width), name=f"second_{name}", reset_less=True)
        larger = Signal(name=f"larger_{name}", reset_less=True)
        added = (second & ~extreme.replicate(self.width)).as_signed()
        m.d.sync += [
            passed.eq(first + added + (inverted & ~extreme)),
            beside.eq(second),
            larger.eq(extreme & (first - second)[-1]),
        ]
        self._clear(m, clear, passed, larger)
        m.d.comb += total.eq(Mux(larger, beside, passed))
        return total

    def _clear(self, m: Module, clear: Any, *registers: Any) -> None:
        if clear is not None:
            with m.If(clear):
                m.d.sync += [register.eq(0) for register in registers]
