"""An affine address generator with a state for each slot of a body."""

from collections.abc import Collection
from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import delayed, selected


class Generator(wiring.Component):
    """Generates the addresses of an operation: ``base`` in the first iteration, then the previous value of the same
    body slot plus a delta. The sample's window is added where the operation asks for it.

    An operation of cycle *t* shows its value in cycle *t* + ``LATENCY``, and one may come in each cycle. The delta is
    that of the level that stepped. It is chosen a cycle before it is added, and levels that are not in `moves` have
    none. Values wrap. There is no reset, because an operation with `fresh` needs no past. An ``early`` generator shows
    its values a cycle sooner; its values have no window.

    Members
    -------
    valid, fresh : In(1), step : In(levels), one-hot
    behind : In(range(slots))
        Slots of the body, less 1: so many operations ago this slot had its turn.
    base : In(width), deltas : In(width) for each level, window : In(1)
        Of the operation of cycle *t*.
    offset : In(width)
        Wanted in cycle *t* + 2; only with `windowed`.
    value : Out(width)
    """

    LATENCY = 3

    def __init__(
        self,
        *,
        width: int,
        levels: int,
        slots: int,
        windowed: bool,
        early: bool = False,
        moves: Collection[int] | None = None,
    ) -> None:
        self.width = width
        self.moves = range(levels) if moves is None else sorted(moves)
        self.levels = levels
        self.slots = slots
        self.windowed = windowed
        self.early = early and not windowed
        super().__init__(
            {
                "valid": In(1),
                "fresh": In(1),
                "step": In(levels),
                "behind": In(range(max(2, slots))),
                "base": In(width),
                "deltas": In(width).array(levels),
                "window": In(1),
                "offset": In(width),
                "value": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        operand = Signal(self.width, reset_less=True)
        choices = [(self.deltas[level], self.step[level]) for level in self.moves]
        m.d.sync += operand.eq(selected([(self.base, self.fresh), *choices], self.width))
        valid = delayed(m, self.valid, 1, name="valid")
        fresh = delayed(m, self.fresh, 1, name="fresh")
        behind = delayed(m, self.behind, 1, name="behind")

        # The latest values, newest first; `held` is the one that the next operation adds to.
        past = [Signal(self.width, name=f"past_{age}", reset_less=True) for age in range(self.slots)]
        held = past[0]
        if self.slots > 1:
            held = Signal(self.width, reset_less=True)
        sum_ = Signal(self.width, name="sum")
        m.d.comb += sum_.eq(operand + (held & ~fresh.replicate(self.width)))
        with m.If(valid):
            m.d.sync += [register.eq(value) for register, value in zip(past, [sum_, *past], strict=False)]
            if self.slots > 1:
                with m.Switch(behind):
                    for distance in range(self.slots):
                        with m.Case(distance):
                            m.d.sync += held.eq(sum_ if distance == 0 else past[distance - 1])

        if self.windowed:
            window = delayed(m, self.window, 2, name="window")
            value = Signal(self.width, reset_less=True)
            m.d.sync += value.eq(past[0] + Mux(window, self.offset, 0))
        else:
            value = past[0] if self.early else delayed(m, past[0], 1, name="value")
        m.d.comb += self.value.eq(value)
        return m
