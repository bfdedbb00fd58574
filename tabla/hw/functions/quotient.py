"""Quotients, exact, rounded half up or toward zero: each stage makes one bit."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed

from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline


class Quotient(FunctionPipeline):
    """Gives ``floor(operand * 2^F / divisor + 1/2)``, saturated and counted. A divisor of 0 saturates by the operand's
    sign.

    With `whole` it gives the quotient of integers, ``trunc(operand / divisor)``, in F stages fewer.

    Members: as ``FunctionPipeline``, and `divisor`.
    """

    def __init__(self, *, width: int, fraction: int, whole: bool = False) -> None:
        self.whole = whole
        self.bits = width if whole else width + fraction
        self.latency = 1 + self.bits + 2 + REGISTER
        super().__init__(width=width, fraction=fraction)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width, bits = self.width, self.bits
        dividend = Signal(bits, reset_less=True)
        divisor = Signal(width, reset_less=True)
        # Beside every stage: is the quotient negative, the divisor zero, the operand negative.
        signs = Signal(3, reset_less=True)
        magnitude = Signal(width)
        m.d.comb += magnitude.eq(Mux(self.operand[-1], -self.operand, self.operand))
        m.d.sync += [
            dividend.eq(Cat(Const(0, bits - width), magnitude)),
            divisor.eq(Mux(self.divisor[-1], -self.divisor, self.divisor)),
            signs.eq(Cat(self.operand[-1] ^ self.divisor[-1], self.divisor == 0, self.operand[-1])),
        ]
        remainder: Any = Const(0, width)
        quotient: Any = Const(0, 0)
        for stage in range(bits):
            new_remainder = Signal(width, name=f"remainder_{stage}", reset_less=True)
            # The digit of this stage is the sign of its remainder, so it is not here yet.
            new_quotient = Signal(stage, name=f"quotient_{stage}", reset_less=True)
            new_divisor = Signal(width, name=f"divisor_{stage}", reset_less=True)
            new_signs = Signal(3, name=f"signs_{stage}", reset_less=True)
            m.d.sync += [
                new_remainder.eq(self._nearer(dividend[-1], remainder, divisor)),
                new_quotient.eq(Cat(~remainder[-1], quotient) if stage else 0),
                new_divisor.eq(divisor),
                new_signs.eq(signs),
            ]
            if len(dividend) > 1:
                new_dividend = Signal(len(dividend) - 1, name=f"dividend_{stage}", reset_less=True)
                m.d.sync += new_dividend.eq(dividend[:-1])
                dividend = new_dividend
            remainder, quotient, divisor, signs = new_remainder, new_quotient, new_divisor, new_signs

        # Ties go up: away from zero for a positive quotient, towards it for a negative one. Integers lose the rest.
        rest = Signal(width)
        m.d.comb += rest.eq(self._nearer(Const(0, 1), remainder, divisor))
        rises = Signal(reset_less=True)
        whole = Signal(bits, reset_less=True)
        late = Signal(3, reset_less=True)
        m.d.sync += [
            rises.eq(0 if self.whole else ~rest[-1] & ~(signs[0] & (rest == 0))),
            whole.eq(Cat(~remainder[-1], quotient)),
            late.eq(signs),
        ]
        exact = Signal(signed(bits + 2), reset_less=True)
        last = Signal(3, reset_less=True)
        m.d.sync += [
            exact.eq(Mux(late[0], -(whole + rises), whole + rises)),
            last.eq(late),
        ]
        word, beyond = self.saturated(exact)
        divides_by_zero = last[1]
        limit = Mux(last[2], ~self.most_positive, self.most_positive)
        m.d.comb += [
            self.value.eq(Mux(divides_by_zero, limit, word)),
            self.overflow.eq(beyond & ~divides_by_zero),
            self.domain_error.eq(divides_by_zero),
        ]
        return m

    def _nearer(self, digit: Any, remainder: Any, divisor: Any) -> Any:
        """Return the remainder of the next digit: the divisor is taken away, or added where too much was taken before.

        So it lies between ``-divisor`` and ``divisor - 1``, and its sign says that the digit of the quotient is 0. It
        fits the bits of a word, and an adder is all that a stage needs.
        """
        less = ~remainder[-1]
        shifted = Cat(digit, remainder[:-1])
        return (shifted + (divisor ^ less.replicate(self.width)) + less)[: self.width]
