"""A tap group (PU): lanes that share a fan-out and a subtree."""

from typing import Any

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.lane import Lane, LaneShape
from tabla.hw.sharing import placed
from tabla.hw.tree import Tree


class Group(wiring.Component):
    """``pes_per_pu`` lanes, two ranks of registers in front of them, an adder tree behind them.

    All inputs reach the lanes ``FANOUT`` cycles later, so whoever drives them keeps the cycles of ``Lane``, less
    that; those in ``EARLY``, which a lane registers once more, a cycle sooner. The sum of the accumulators follows
    after the levels of the tree. The registers are the group's own: synthesis must not
    merge them with those of other groups.

    Members
    -------
    first_lane : In(8), a constant
    controls : In(as ``Lane``)
    sense : In(1)
        In the cycle of the lanes' accumulators: they are complements. Not delayed.
    stream_enable : In(1) for each lane
    stream_words : In(width) for each lane, or fewer: lane k of the group takes word k modulo their number
    sum : Out(signed(accumulator))
    overflow : Out(1)
        Some lane overflowed; a cycle after the lanes' own `overflow`.
    """

    FANOUT = 2
    EARLY = ("write_low", "write_high", "to_model", "to_interim")

    def __init__(self, shape: LaneShape, *, words: int) -> None:
        self.shape = shape
        self.lanes = shape.parameters.pes_per_pu
        self.words = words
        super().__init__(
            {
                "first_lane": In(8),
                "controls": In(wiring.Signature({name: Out(width) for name, width in shape.controls.items()})),
                "sense": In(1),
                "stream_enable": In(self.lanes),
                "stream_words": In(shape.parameters.width).array(words),
                "sum": Out(signed(shape.parameters.accumulator)),
                "overflow": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        controls = {name: self._fanned(m, getattr(self.controls, name), name) for name in self.shape.controls}
        enable = self._fanned(m, self.stream_enable, "stream_enable")
        words = [self._fanned(m, self.stream_words[k], f"stream_word_{k}") for k in range(self.words)]

        m.submodules.tree = tree = Tree(leaves=self.lanes, width=self.shape.parameters.accumulator)
        m.d.comb += [tree.inverted.eq(self.sense), self.sum.eq(tree.sum)]
        overflows = Signal(self.lanes)
        for k in range(self.lanes):
            lane = Lane(self.shape)
            m.submodules[f"lane_{k}"] = placed(platform, "pe", lane)
            m.d.comb += [getattr(lane.controls, name).eq(value) for name, value in controls.items()]
            m.d.comb += [
                lane.lane.eq(self.first_lane + k),
                lane.stream_enable.eq(enable[k]),
                lane.stream_word.eq(words[k % self.words]),
                tree.words[k].eq(lane.accumulator),
                overflows[k].eq(lane.overflow),
            ]
        m.d.sync += self.overflow.eq(overflows.any())
        return m

    def _fanned(self, m: Module, value: Any, name: str) -> Any:
        for rank in range(self.FANOUT - (name in self.EARLY)):
            register = Signal(len(value), name=f"{name}_{rank}", reset_less=True, attrs={"keep": 1})
            m.d.sync += register.eq(value)
            value = register
        return value
