"""The square root, exact and rounded half up: each stage makes one bit."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline


class SquareRoot(FunctionPipeline):
    """Gives ``(isqrt(4 * (x << F)) + 1) >> 1``. For x < 0 it gives 0 and a domain error.

    Members: as ``FunctionPipeline``.
    """

    def __init__(self, *, width: int, fraction: int) -> None:
        self.bits = (width + fraction + 3) // 2
        self.latency = 1 + self.bits + 1 + REGISTER
        super().__init__(width=width, fraction=fraction)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        bits = self.bits
        radicand = Signal(2 * bits, reset_less=True)
        negative = Signal(reset_less=True)
        m.d.sync += [
            radicand.eq(Mux(self.operand[-1], 0, Cat(Const(0, self.fraction + 2), self.operand[:-1]))),
            negative.eq(self.operand[-1]),
        ]
        # Digit by digit: bring down two bits, subtract 4 * root + 1 if it fits.
        remainder: Any = Const(0, 1)
        root: Any = Const(0, 0)
        for stage in range(bits):
            rest = radicand[-2:]
            trial = Cat(rest, remainder) - Cat(Const(1, 2), root)
            fits = ~trial[-1]
            # The remainder is at most twice the root, so one bit more than the root holds it.
            new_remainder = Signal(stage + 2, name=f"remainder_{stage}", reset_less=True)
            new_root = Signal(stage + 1, name=f"root_{stage}", reset_less=True)
            new_negative = Signal(name=f"negative_{stage}", reset_less=True)
            m.d.sync += [
                new_remainder.eq(Mux(fits, trial, Cat(rest, remainder))),
                new_root.eq(Cat(fits, root)),
                new_negative.eq(negative),
            ]
            if len(radicand) > 2:
                new_radicand = Signal(len(radicand) - 2, name=f"radicand_{stage}", reset_less=True)
                m.d.sync += new_radicand.eq(radicand[:-2])
                radicand = new_radicand
            remainder, root, negative = new_remainder, new_root, new_negative
        value = Signal(self.width, reset_less=True)
        domain_error = Signal(reset_less=True)
        m.d.sync += [value.eq((root + 1) >> 1), domain_error.eq(negative)]
        m.d.comb += [self.value.eq(value), self.domain_error.eq(domain_error)]
        return m
