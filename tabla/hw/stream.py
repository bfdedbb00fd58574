"""The stream: where each word of a beat goes, worked out before the beat comes."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import delayed
from tabla.hw.sequencer import Sequencer
from tabla.hw.timing import Timing
from tabla.hw.window import Window
from tabla.program.image import Parameters
from tabla.templates.instructions import operation_format


class Stream(wiring.Component):
    """Takes up to a beat a cycle, and gives each word of it a memory, an address and its lanes.

    A beat taken in cycle *c* (`in_valid` and `in_ready`) leaves in cycle *c* + ``LATENCY``. The destinations are
    prepared in a queue of ``AHEAD``, so `in_ready` has no bubbles, not even between samples.

    Members
    -------
    restart : In(1), first_strand, last_strand, enable, strand_write, operation_write, write_address, write_data
        As ``Sequencer``.
    admit : In(1)
        A beat is taken now if one is offered; only while one is `prepared`.
    prepared : Out(2)
        At least one, at least two destinations are ready.
    begins : In(1)
        The next beat is a sample's first.
    in_valid : In(1), in_ready : Out(1), in_data : In(stream_words * width)
    taken : Out(1)
    words : Out(width + guard) for each word of the beat; all of them the first if all lanes take that
        With wide models, words are the upper bits. A beat of guard bits has the words of the beat before above them.
    block : Out(1) for each block of lanes
    all, same : Out(1)
        With several roots. Words and blocks are then as they came; whoever takes them looks at these two.
    to_data, to_model, to_interim, to_root_data, to_root_memory : Out(1)
    lane_address, root_address : Out(address)
    """

    LATENCY = 2
    AHEAD = 16

    def __init__(
        self,
        *,
        parameters: Parameters,
        timing: Timing,
        sequencer: Sequencer,
    ) -> None:
        self.parameters = parameters
        self.timing = timing
        self.sequencer = sequencer
        self.blocks = -(-parameters.pes // parameters.stream_words)
        self.targets = tuple(f.name for f in operation_format("stream").fields if f.name not in ("all", "same"))
        inputs = self.sequencer.signature.members
        names = (
            "first_strand",
            "last_strand",
            "enable",
            "strand_write",
            "operation_write",
            "write_address",
            "write_data",
        )
        self.passed = {name: inputs[name] for name in (*names, "bank", "strand_data") if name in inputs}
        address = parameters.address_bits["stream"]
        super().__init__(
            {
                "restart": In(1),
                **self.passed,
                "admit": In(1),
                "prepared": Out(2),
                "begins": In(1),
                "in_valid": In(1),
                "in_ready": Out(1),
                "in_data": In(parameters.stream_words * parameters.width),
                "taken": Out(1),
                "words": Out(parameters.stored_width).array(parameters.stream_words),
                "block": Out(self.blocks),
                **({"all": Out(1), "same": Out(1)} if parameters.roots > 1 else {}),
                **{name: Out(1) for name in self.targets},
                "lane_address": Out(address),
                "root_address": Out(address),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.sequencer = sequencer = self.sequencer
        m.d.comb += [getattr(sequencer, name).eq(getattr(self, name)) for name in self.passed]
        m.d.comb += sequencer.restart.eq(self.restart)

        late = Sequencer.VALUES - Sequencer.FIELDS
        ready = delayed(m, sequencer.valid, late, name="ready", clear=self.restart)
        values = {name: getattr(sequencer.values, name) for name in sequencer.generators}
        # Does the window apply? The generator's own window stays out of it: each memory has another one.
        windowed = delayed(m, sequencer.windowed, late, name="windowed")
        instruction = delayed(m, sequencer.instruction, late, name="instruction")
        wide = {"wide": delayed(m, sequencer.wide, late, name="wide")} if self.parameters.model_guard else {}
        destination = Cat(instruction, windowed, *values.values(), *wide.values())
        head = self._queue(m, destination, ready, sequencer)

        m.d.comb += self.taken.eq(self.in_valid & self.in_ready)
        beat = delayed(m, self.in_data, 1, name="beat")
        taken = delayed(m, self.taken, 1, name="taken", clear=self.restart)
        head = delayed(m, head, 1, name="head")

        offset = 0
        fields: dict[str, Any] = {}
        widths = {f.name: f.width for f in operation_format("stream").fields}
        widths |= {"windowed": 1} | {name: len(value) for name, value in (*values.items(), *wide.items())}
        for name, width in widths.items():
            fields[name] = head[offset : offset + width]
            offset += width
        self._send(m, beat, taken, fields)
        return m

    def _queue(self, m: Module, destination: Any, ready: Any, sequencer: Sequencer) -> Any:
        """Return the destination of the next beat, from a queue. `room` also counts those that are still being worked
        out.
        """
        m.submodules.destinations = queue = memory.Memory(shape=len(destination), depth=self.AHEAD, init=[])
        write = queue.write_port()
        read = queue.read_port(domain="comb")
        waiting = Signal(range(self.AHEAD + 1))
        room = Signal(range(self.AHEAD + 1), init=self.AHEAD)
        # Operations are only counted when they show, so three more may already be on their way.
        unseen = 4
        m.d.comb += [
            write.en.eq(ready),
            write.data.eq(destination),
            sequencer.allow.eq(room >= unseen),
            self.in_ready.eq(self.admit),
            self.prepared.eq(Cat(waiting != 0, waiting > 1)),
        ]
        m.d.sync += [
            waiting.eq(waiting + ready - self.taken),
            room.eq(room + self.taken - sequencer.valid),
        ]
        with m.If(ready):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(self.taken):
            m.d.sync += read.addr.eq(read.addr + 1)
        with m.If(self.restart):
            m.d.sync += [waiting.eq(0), room.eq(self.AHEAD), write.addr.eq(0), read.addr.eq(0)]
        return read.data

    def _send(self, m: Module, beat: Any, taken: Any, fields: dict[str, Any]) -> None:
        parameters = self.parameters
        width, count = parameters.width, parameters.stream_words
        given = [beat[k * width : (k + 1) * width] for k in range(count)]
        address = fields.get("address", 0)
        timing = self.timing
        for target, slot in (("lane", timing["data.window"]), ("root", timing["root_data.window"])):
            window = Window(
                width=parameters.address_bits["stream"],
                words=slot,
                slots=parameters.ring_slots,
                last=timing["ring.last"],
            )
            m.submodules[f"{target}_window"] = window
            m.d.comb += [window.restart.eq(self.restart), window.turn.eq(self.taken & self.begins)]
            port = getattr(self, f"{target}_address")
            m.d.sync += port.eq(address + Mux(fields["windowed"], window.offset, 0))
        several = parameters.roots > 1
        if several:
            m.d.sync += [self.all.eq(fields["all"]), self.same.eq(fields["same"])]
        everyone = 0 if several else fields["all"]
        words = [Mux(everyone, given[0], given[k]) for k in range(count)]
        if parameters.model_guard:
            self._stored(m, words, taken, fields["wide"])
        else:
            m.d.sync += [self.words[k].eq(word) for k, word in enumerate(words)]
        # Without operations there is no block, and no beat is taken.
        for k in range(self.blocks) if "block" in fields else ():
            m.d.sync += self.block[k].eq(everyone | (fields["block"] == k))
        m.d.sync += [getattr(self, name).eq(fields[name] & taken) for name in self.targets]

    def _stored(self, m: Module, words: Sequence[Any], taken: Any, wide: Any) -> None:
        """Give words above zeros. A beat of guard bits puts these below the words of the beat before, which stay."""
        guard = self.parameters.model_guard
        for k, word in enumerate(words):
            with m.If(taken & ~wide):
                m.d.sync += self.words[k][guard:].eq(word)
            m.d.sync += self.words[k][:guard].eq(word)
            with m.If(~wide):
                m.d.sync += self.words[k][:guard].eq(0)
