"""What every function pipeline looks like from outside."""

from typing import Any

from amaranth.hdl import Const, Mux, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

REGISTER = 1
"""The function register behind every pipeline is part of each function's latency."""


class FunctionPipeline(wiring.Component):
    """Takes one operand a cycle and never stalls. There is no reset: whoever sends operands knows when to look.

    The value of an operand of cycle *t* shows in cycle *t* + ``latency`` - 1, and in the function register a cycle
    later.

    Members
    -------
    operand : In(signed(width))
    divisor : In(signed(width)), quotients only
    value : Out(signed(width))
    overflow, domain_error : Out(1)
        Beside the value.
    """

    latency: int

    def __init__(self, *, width: int, fraction: int) -> None:
        self.width = width
        self.fraction = fraction
        super().__init__(
            {
                "operand": In(signed(width)),
                "divisor": In(signed(width)),
                "value": Out(signed(width)),
                "overflow": Out(1),
                "domain_error": Out(1),
            }
        )

    @property
    def most_positive(self) -> int:
        """The greatest signed word of this width, 2^(width - 1) - 1."""
        return (1 << (self.width - 1)) - 1

    def saturated(self, value: Any) -> tuple[Any, Any]:
        """Return `value` as a word, and whether it did not fit."""
        high = value > self.most_positive
        low = value < ~self.most_positive
        shape = signed(self.width)
        word = Mux(high, Const(self.most_positive, shape), Mux(low, Const(~self.most_positive, shape), value))
        return word[: self.width].as_signed(), high | low
