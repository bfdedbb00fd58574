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
    after the levels of the tree. In an array of several sequencers `drivers` says for each lane which of the group's
    own sets of controls it takes, and a lane adds to the sum only while its set says `up`. The registers are the
    group's own: synthesis must not merge them with those of other groups.

    Members
    -------
    first_lane : In(8), a constant
    controls : In(as ``Lane``); of several sequencers controls_0, controls_1, ...
    sense : In(1) for each set
        In the cycle of the lanes' accumulators: they are complements. Not delayed.
    up : In(1) for each set, of several sequencers only
        Likewise: they are for the tree.
    extreme : In(1), if the lanes know extremes and one sequencer drives them
        In the same cycle: the tree keeps the largest word. Not delayed.
    stream_enable : In(1) for each lane
    stream_words : In(width) for each lane, or fewer: lane k of the group takes word k modulo their number
    sum : Out(signed(accumulator))
    overflow : Out(1)
        Some lane overflowed; a cycle after the lanes' own `overflow`.
    """

    FANOUT = 2
    EARLY = ("write_low", "write_high", "to_model", "to_interim")

    def __init__(self, shape: LaneShape, *, words: int, drivers: tuple[int, ...] = ()) -> None:
        self.shape = shape
        self.lanes = shape.parameters.pes_per_pu
        self.words = words
        self.drivers = drivers
        # Words of several sequencers meet as zeros of those that do not send: they can only be added.
        self.extremes = shape.extremes and not drivers
        self.sets = [f"controls_{number}" for number in sorted(set(drivers))] or ["controls"]
        controls = wiring.Signature({name: Out(width) for name, width in shape.controls.items()})
        super().__init__(
            {
                "first_lane": In(8),
                **{name: In(controls) for name in self.sets},
                "sense": In(len(self.sets)),
                **({"up": In(len(self.sets))} if drivers else {}),
                **({"extreme": In(1)} if self.extremes else {}),
                "stream_enable": In(self.lanes),
                "stream_words": In(shape.parameters.width).array(words),
                "sum": Out(signed(shape.parameters.accumulator)),
                "overflow": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        sets = [self._fanned_set(m, getattr(self, own), number) for number, own in enumerate(self.sets)]
        enable = self._fanned(m, self.stream_enable, "stream_enable")
        words = [self._fanned(m, self.stream_words[k], f"stream_word_{k}") for k in range(self.words)]

        accumulator = self.shape.parameters.accumulator
        m.submodules.tree = tree = Tree(leaves=self.lanes, width=accumulator, extremes=self.extremes)
        if self.extremes:
            m.d.comb += tree.extreme.eq(self.extreme)
        m.d.comb += [tree.inverted.eq(0 if self.drivers else self.sense), self.sum.eq(tree.sum)]
        overflows = Signal(self.lanes)
        for k in range(self.lanes):
            lane = Lane(self.shape)
            m.submodules[f"lane_{k}"] = placed(platform, "pe", lane)
            driver = self.drivers[k] if self.drivers else 0
            m.d.comb += [getattr(lane.controls, name).eq(value) for name, value in sets[driver].items()]
            m.d.comb += [
                lane.lane.eq(self.first_lane + k),
                lane.stream_enable.eq(enable[k]),
                lane.stream_word.eq(words[k % self.words]),
                tree.words[k].eq(self._sent(lane.accumulator, driver)),
                overflows[k].eq(lane.overflow),
            ]
        m.d.sync += self.overflow.eq(overflows.any())
        return m

    def _sent(self, accumulator: Any, driver: int) -> Any:
        """What a lane gives the tree."""
        if not self.drivers:
            return accumulator
        width = len(accumulator)
        return ((accumulator ^ self.sense[driver].replicate(width)) & self.up[driver].replicate(width)).as_signed()

    def _fanned_set(self, m: Module, controls: Any, number: int) -> dict[str, Any]:
        label = f"_{number}" if number else ""
        return {
            name: self._fanned(m, getattr(controls, name), f"{name}{label}", early=name in self.EARLY)
            for name in self.shape.controls
        }

    def _fanned(self, m: Module, value: Any, name: str, *, early: bool = False) -> Any:
        for rank in range(self.FANOUT - early):
            register = Signal(len(value), name=f"{name}_{rank}", reset_less=True, attrs={"keep": 1})
            m.d.sync += register.eq(value)
            value = register
        return value
