"""From the words of the array to the packets of the bus."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.bus.sizes import UnitSizes
from tabla.program.bus import BusShape


class StreamOutput(wiring.Component):
    """Puts words into containers and containers into beats, and marks the last beat of each packet.

    The array's beats have one or several words, all of which leave. A beat of the array that is wider than one of the
    bus leaves in parts, the lowest words first.

    A full beat waits until another word of its packet follows or the packet ends, so the last beat always has real
    words. A packet ends after `packet_units` units, or with `finish`. A word that comes in cycle *t* and ends a packet
    is offered from *t* + ``LATENCY`` on. With free beats of the bus a beat of the array is taken in each cycle, or in
    as many cycles as it has parts.

    Members
    -------
    start : In(1), packet_units : In(32), packets : In(1), whole : In(1)
        A command begins. `packets` says whether it sends any. With `whole`, or with `packet_units` = 0, it sends one.
    word_valid : In(1), word_ready : Out(1), word : In(output_words * width)
        The array's beats, the first word lowest, which stay until `word_ready`, which follows `tready` in the same
        cycle.
    finish : In(1)
        For one cycle: no word follows. A command that `packets` but has sent none sends one beat of zeros.
    reset : In(1)
        For one cycle: an open packet ends with one last beat, and all other words are forgotten.
    idle : Out(1)
        All beats have been taken.
    tdata : Out(bus_bits), tkeep : Out(bus_bits / 8), tlast : Out(1), tvalid : Out(1), tready : In(1)
        The stream of the bus; registers all of them.
    """

    LATENCY = 2

    def __init__(self, *, shape: BusShape, sizes: UnitSizes | None = None) -> None:
        self.shape, self.sizes = shape, sizes or UnitSizes.of(shape)
        # A beat of the bus has places for so many groups. A group is the words that come in a cycle.
        self.groups = shape.containers // shape.output_group
        super().__init__(
            {
                "start": In(1),
                "packet_units": In(32),
                "packets": In(1),
                "whole": In(1),
                "word_valid": In(1),
                "word_ready": Out(1),
                "word": In(shape.output_words * shape.width),
                "finish": In(1),
                "reset": In(1),
                "idle": Out(1),
                "tdata": Out(shape.bus_bits),
                "tkeep": Out(shape.bus_bits // 8),
                "tlast": Out(1),
                "tvalid": Out(1),
                "tready": In(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        shape, group = self.shape, self.shape.output_group
        count = self.groups
        places = [Signal(group * shape.container, name=f"place_{k}", reset_less=True) for k in range(count)]
        sent = Signal(shape.bus_bits, reset_less=True)
        filled = Signal(range(count + 1))
        # `closing`: the beat is the last of its packet. `opened`: a beat of the packet has left without TLAST.
        closing = Signal()
        opened = Signal()
        owed = Signal()
        full = Signal()
        free = Signal()
        room = Signal()
        put = Signal()
        moves = Signal()
        ends = Signal()
        m.d.comb += [
            self.tdata.eq(sent),
            full.eq(filled == count),
            free.eq(~self.tvalid | self.tready),
            room.eq(~closing & (~full | free)),
            put.eq(self.word_valid & room),
            moves.eq(free & (closing | (full & self.word_valid))),
            ends.eq(self._ends(m, put)),
            self.idle.eq(~closing & (filled == 0) & ~self.tvalid),
        ]
        place = Mux(full, 0, filled)
        extended = self._group(m, room, put)
        with m.If(moves):
            m.d.sync += [filled.eq(0), closing.eq(0)]
            # What is not filled is sent as zeros: this is a reset of the output's registers, and no logic.
            m.d.sync += sent.eq(Cat(Mux(filled > k, each, 0) for k, each in enumerate(places)))
            m.d.sync += [self.tkeep.eq(self._keep(filled)), self.tlast.eq(closing)]
            m.d.sync += opened.eq(~closing)
        with m.If(free):
            m.d.sync += self.tvalid.eq(moves)
        with m.If(free & ~moves):
            m.d.sync += self.tlast.eq(0)
        with m.If(put):
            m.d.sync += [filled.eq(place + 1), closing.eq(ends), owed.eq(0)]
            for k in range(count):
                with m.If(place == k):
                    m.d.sync += places[k].eq(extended)
        with m.If(self.finish):
            m.d.sync += [closing.eq(((filled != 0) & ~moves) | owed), owed.eq(0)]
        with m.If(self.start):
            m.d.sync += [owed.eq(self.packets), filled.eq(0), closing.eq(0)]
        with m.If(self.reset):
            # The beat that leaves now may be the packet's last one, or open it.
            m.d.sync += [closing.eq(Mux(moves, ~closing, opened)), owed.eq(0)]
            with m.If(~opened | moves):
                m.d.sync += filled.eq(0)
        return m

    def _group(self, m: Module, room: Any, put: Any) -> Any:
        """Return the next words of the array's beat in their containers. The beat is taken with its last words."""
        shape, group = self.shape, self.shape.output_group
        parts = shape.output_words // group
        words: Any = self.word
        m.d.comb += self.word_ready.eq(room)
        if parts > 1:
            part = Signal(range(parts))
            last = part == parts - 1
            m.d.comb += self.word_ready.eq(room & last)
            words = self.word.word_select(part, group * shape.width)
            with m.If(put):
                m.d.sync += part.eq(part + 1)
            with m.If(self.start):
                m.d.sync += part.eq(0)
        containers = []
        for k in range(group):
            word = words[k * shape.width : (k + 1) * shape.width]
            containers += [word, word[-1].replicate(shape.container - shape.width)]
        return Cat(*containers)

    def _keep(self, filled: Any) -> Any:
        """Return TKEEP of a beat with so many groups. A beat without any is a whole beat of zeros."""
        group = self.shape.output_group
        part, count = group * self.shape.container // 8, self.groups
        kept = [((filled > k) | (filled == 0)).replicate(part) for k in range(count)]
        return Cat(*kept) if count > 1 else Const(-1, part)

    def _ends(self, m: Module, put: Any) -> Any:
        """Return whether the group that is put is the last of a packet of whole units."""
        if not self.shape.run_words:
            return 0
        word = Signal(range(max(2, self.sizes.most_groups)))
        left = Signal(32)
        counts = Signal()
        # The register may be written anew while the run goes on.
        units = Signal(32)
        unit_ends = word == self.sizes.last_group
        with m.If(put):
            m.d.sync += word.eq(Mux(unit_ends, 0, word + 1))
        with m.If(put & unit_ends):
            m.d.sync += left.eq(Mux(left == 0, units, left) - 1)
        with m.If(self.start):
            m.d.sync += [word.eq(0), units.eq(self.packet_units)]
            m.d.sync += [left.eq(self.packet_units - 1), counts.eq(~self.whole & (self.packet_units != 0))]
        return unit_ends & (left == 0) & counts
