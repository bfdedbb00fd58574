"""A tap group (PU): lanes that share a fan-out and a subtree."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.lane import Lane, LaneShape, first_parameter
from tabla.hw.pipeline import above, delayed, kept, reaches
from tabla.hw.sharing import numbered, placed, words_expression
from tabla.hw.tree import Tree, levels


def _gated(word: Any, sense: Any, up: Any) -> Any:
    """Return a word without its complement, and 0 unless it goes up."""
    width = len(word)
    return ((word ^ sense.replicate(width)) & up.replicate(width)).as_signed()


class Group(wiring.Component):
    """``pes_per_pu`` lanes with two ranks of registers in front of them and an adder tree behind them.

    Inputs reach the lanes ``FANOUT`` cycles later, so whoever drives them gives each wire that much before its cycle in
    the stage table. The wires in ``EARLY`` pass only one rank, because a lane registers them once more. Bounds are
    compared between the ranks. The bounds of writes come a cycle sooner too, unless they have a window, and no register
    follows then. The sum of the accumulators shows after the levels of the tree.

    In an array of several sequencers `drivers` says which of the group's sets of controls each lane takes. A lane adds
    to the sum only while its set says `up`. Where all lanes have the same set, the sum as a whole is gated instead, and
    no logic stands in front of the tree.

    The registers of the first rank are the group's own, and those of the second each lane's own. Synthesis must not
    merge them, because a wire to sixteen lanes is longer than a cycle. Words of the bus that pass the lanes' result
    registers (``LaneShape.bus_through``) have one rank only, and are joined there with the words that are loaded.

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
    stream_words : In(width + guard) for each lane, or fewer: lane k of the group takes word k modulo their number
    sum : Out(signed(accumulator))
    overflow : Out(1)
        Some lane overflowed; a cycle after the lanes' own `overflow`.
    """

    FANOUT = 2
    EARLY = ("to_model", "to_interim")

    def __init__(
        self,
        shape: LaneShape,
        *,
        words: int,
        drivers: tuple[int, ...] = (),
        first: Sequence[Mapping[str, Sequence[int]]] = (),
        begin: int = 0,
    ) -> None:
        self.shape = shape
        # The number of its first lane in the array. Lanes may have different memories.
        self.begin = begin
        self.first = first
        bits, begun = shape.parameters.width, [name for name in shape.memories if first and name in first[0]]
        together = {name: [word for lane in first for word in lane[name]] for name in begun}
        self.module_parameters = {first_parameter(name): len(held) * bits for name, held in together.items()}
        self.settings = {first_parameter(name): words_expression(held, bits) for name, held in together.items()}
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
                "stream_words": In(shape.parameters.width + shape.guard).array(words),
                "sum": Out(signed(shape.parameters.accumulator)),
                "overflow": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        sets = [self._shared_set(m, getattr(self, own), number) for number, own in enumerate(self.sets)]
        enable = kept(m, self.stream_enable, name="stream_enable")
        words = [kept(m, self.stream_words[k], name=f"stream_word_{k}") for k in range(self.words)]

        loads = [own["load"] for own in sets] if self.shape.through and not self.shape.bus_through else []
        loaded = [
            [self._loaded(m, word, load, f"{k}_{number}") for k, word in enumerate(words)]
            for number, load in enumerate(loads)
        ]
        if self.shape.bus_through:
            loaded = [self._passing(m, words, sets[0])]

        accumulator = self.shape.parameters.accumulator
        m.submodules.tree = tree = Tree(leaves=self.lanes, width=accumulator, extremes=self.extremes)
        if self.extremes:
            m.d.comb += tree.extreme.eq(self.extreme)
        alone = len(self.sets) == 1
        m.d.comb += self.sum.eq(self._joined(m, tree.sum) if self.drivers and alone else tree.sum)
        overflows = Signal(self.lanes)
        for k in range(self.lanes):
            # Lane k has its part of the group's first words.
            number = self.begin + k
            lane = Lane(self.shape, self.first[k] if self.first else None, f"{{0}}[{k} * {{1}} +: {{1}}]", number)
            m.submodules[f"lane_{k}"] = placed(platform, numbered("pe", self.shape.kinds[number]), lane)
            driver = self.drivers[k] if self.drivers else 0
            near = self._near(m, sets[driver], k)
            m.d.comb += [getattr(lane.controls, name).eq(value) for name, value in near.items()]
            m.d.comb += [
                lane.lane.eq(self.first_lane + k),
                lane.stream_enable.eq(kept(m, enable[k], name=f"lane_{k}_stream_enable")),
                lane.stream_word.eq(kept(m, words[k % self.words], name=f"lane_{k}_stream_word")),
                *([lane.loaded.eq(loaded[driver][k % self.words])] if self.shape.through else []),
                tree.words[k].eq(lane.accumulator if alone else self._sent(lane.accumulator, driver)),
                overflows[k].eq(lane.overflow),
            ]
            if alone and k % 2 == 0:
                # The sense of the lane's accumulator: the same wire for all lanes, and here a register close by.
                m.d.comb += tree.inverted[k // 2].eq(near["inverted"])
        m.d.sync += self.overflow.eq(overflows.any())
        return m

    def _sent(self, accumulator: Any, driver: int) -> Any:
        """Return what a lane gives the tree where others have other controls: its word without complement, or 0 if it
        sends nothing.
        """
        return _gated(accumulator, self.sense[driver], self.up[driver])

    def _joined(self, m: Module, total: Any) -> Any:
        """Return the sum of lanes that have one set of controls, gated once instead of in each lane."""
        ranks = levels(self.lanes)
        sense = delayed(m, self.sense, ranks, name="sense_of_sum")
        return _gated(total, sense, delayed(m, self.up, ranks, name="up_of_sum"))

    def _shared_set(self, m: Module, controls: Any, number: int) -> dict[str, Any]:
        """Return the rank of registers that a set of controls has for all lanes."""
        label = f"_{number}" if number else ""
        # What lanes take through the result register only goes no further than this rank.
        taken = {"load", *self.shape.lane_controls, *self.shape.BOUNDS}
        return {
            name: kept(m, getattr(controls, name), name=f"{name}{label}")
            for name in self.shape.controls
            if name in taken
        }

    def _near(self, m: Module, shared: dict[str, Any], k: int) -> dict[str, Any]:
        """Return lane k's own rank: its controls, with the guard's bounds already compared."""
        wires = {name: value for name, value in shared.items() if name in self.shape.lane_controls}
        lane = Signal(8, name=f"number_{k}")
        m.d.comb += lane.eq(self.first_lane + k)
        if self.shape.guarded:
            wires["active"] = reaches(shared["low"], lane) & ~reaches(shared["high"], lane)
        if self.shape.writes_guarded:
            wires["write_active"] = reaches(shared["write_low"], lane) & ~reaches(shared["write_high"], lane)
        unregistered = (*self.EARLY, "write_active") if self.shape.writes_windowed else self.EARLY
        return {
            name: value if name in unregistered else kept(m, value, name=f"lane_{k}_{name}")
            for name, value in wires.items()
        }

    def _loaded(self, m: Module, word: Any, load: Any, name: str) -> Any:
        """Return the stream's word for the result registers. By the register's own reset it is 0 unless words are
        loaded.
        """
        register = Signal(len(word), name=f"loaded_{name}", reset_less=True)
        m.d.sync += register.eq(word)
        with m.If(~load):
            m.d.sync += register.eq(0)
        return register

    def _passing(self, m: Module, words: list[Any], shared: dict[str, Any]) -> list[Any]:
        """Return the words that pass the result registers: the stream's while words are loaded, else the bus's when one
        is wanted.
        """
        wanted = kept(m, shared["through"], name="bus_wanted")
        passing = []
        for k, word in enumerate(words):
            bus = above(self.controls.bus & wanted.replicate(self.shape.parameters.width), self.shape.guard)
            passing.append(kept(m, Mux(shared["load"], word, bus), name=f"passing_{k}"))
        return passing
