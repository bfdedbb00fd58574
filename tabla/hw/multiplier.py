"""The multiplier, alone in a component so that a family's own block can take its place."""

from typing import Any

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Multiplier(wiring.Component):
    """Gives ``product = a * b``, signed, with a register on each operand and one on the product.

    Operands of cycle *t* show in `product` in cycle *t* + ``LATENCY``. It takes one pair a cycle, and has no reset.

    Members
    -------
    a : In(signed(left))
    b : In(signed(right))
    product : Out(signed(left + right))
    """

    LATENCY = 2

    def __init__(self, *, left: int, right: int) -> None:
        self.left = left
        self.right = right
        super().__init__({"a": In(signed(left)), "b": In(signed(right)), "product": Out(signed(left + right))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        a = Signal(signed(self.left), reset_less=True)
        b = Signal(signed(self.right), reset_less=True)
        product = Signal(signed(self.left + self.right), reset_less=True)
        m.d.sync += [a.eq(self.a), b.eq(self.b), product.eq(a * b)]
        m.d.comb += self.product.eq(product)
        return m
