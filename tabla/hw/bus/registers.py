"""The control registers, as ``templates/bus.td`` lists them."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.bus.axi_lite import ReadPort, WritePort
from tabla.hw.predicting import described
from tabla.templates.bus import PREDICT, Register, register, registers

COMMANDS = 3
"""The codes of COMMAND are below this number."""
STICKY = tuple(field.name.lower() for field in register("STATUS").fields if field.access == "w1c")
LEVELS = tuple(field.name.lower() for field in register("STATUS").fields if field.access == "ro")
ERRORS = ("short", "long", "keep", "range", "count_zero", "not_loaded")
"""The bits of STATUS for which IRQ_ERROR raises the interrupt."""
COUNTERS = ("samples", "wait_in", "wait_out", "lane_overflows", "root_overflows", "domain_errors")

_PREDICTING = """
predict : Out(1)
    Beside `command`: it is PREDICT, and `code` is that of RUN.
"""


class RegisterFile(wiring.Component):
    """The registers behind an AXI4-Lite port of 32 bits and 12 address bits.

    A write takes effect within 4 cycles of its address and its word, and a read is answered within 5 cycles of its
    address, if the answer before has been taken. A write that the table does not allow is answered with SLVERR and
    changes nothing. Only the bytes that WSTRB names are written.

    Members
    -------
    write, read : In(signature of WritePort, ReadPort)
        The channels of the bus are members with the names of ``WritePort`` and ``ReadPort``.
    alive : In(1)
        There has been a reset.
    interrupt : Out(1)
        DONE and IRQ_DONE, or one of ``ERRORS`` and IRQ_ERROR, a cycle later.
    command : Out(1), code : Out(2)
        A command is given; only while not `busy`.
    count, result_units : Out(32)
    abort, reset : Out(1)
        For one cycle.
    busy, loaded : In(1)
        Levels of STATUS. `busy` rises in the cycle after `command`.
    done, short, long, keep, range, count_zero, not_loaded, overflow, domain : In(1)
        The bit of STATUS is set in the next cycle, also if it is being cleared.
    cycles : In(64)
    samples, wait_in, wait_out, lane_overflows, root_overflows, domain_errors : In(32)
    """

    def __init__(self, *, fingerprint: int, predicts: bool = False) -> None:
        self.fingerprint, self.predicts = fingerprint, predicts
        if predicts:
            self.data_sheet = described(self, _PREDICTING)
        self._writes, self._reads = self._write_port(), ReadPort()
        inside = ("act", "wait", "address", "data", "strobe", "refused", "alive")
        channels = {
            name: member
            for port in (self._writes, self._reads)
            for name, member in port.signature.members.items()
            if name not in inside
        }
        super().__init__(self._members(channels))

    def _members(self, channels: dict[str, Any]) -> dict[str, Any]:
        return {
            **channels,
            "alive": In(1),
            "interrupt": Out(1),
            "command": Out(1),
            "code": Out(2),
            **({"predict": Out(1)} if self.predicts else {}),
            "count": Out(32),
            "result_units": Out(32),
            "abort": Out(1),
            "reset": Out(1),
            **dict.fromkeys((*LEVELS, *STICKY), In(1)),
            "cycles": In(64),
            **dict.fromkeys(COUNTERS, In(32)),
        }

    def _write_port(self) -> WritePort:
        return WritePort()

    def _table(self) -> tuple[Register, ...]:
        """Return all registers."""
        return registers(self.predicts)

    def _own_values(self) -> dict[str, Any]:
        """Return the words of registers that are not those of every accelerator, by name."""
        return {"FINGERPRINT": Const(self.fingerprint, 32)}

    def _is_unknown(self, code: Any) -> Any:
        """Return whether no command has this code, which has 8 bits."""
        return (code >= COMMANDS) & (code != PREDICT) if self.predicts else code >= COMMANDS

    def _act(self, m: Module, chosen: dict[str, Any]) -> None:
        """Carry out writes of registers that not every accelerator has. `chosen` says which one is written."""

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.writes, m.submodules.reads = writes, reads = self._writes, self._reads
        for port in (writes, reads):
            m.d.comb += port.alive.eq(self.alive)
            for name, member in port.signature.members.items():
                if name in self.signature.members and name != "alive":
                    mine, theirs = getattr(self, name), getattr(port, name)
                    m.d.comb += theirs.eq(mine) if member.flow == In else mine.eq(theirs)
        held = self._written(m, writes)
        self._shown(m, reads, held)
        return m

    def _written(self, m: Module, writes: WritePort) -> dict[str, Any]:
        """Carry out writes. Returns the words of the registers that can be written and read, by name."""
        chosen = {r.name: Signal(name=f"writes_{r.name.lower()}") for r in self._table() if r.writable}
        here = {name: writes.act & signal for name, signal in chosen.items()}
        word, strobe = writes.data, writes.strobe
        # Bytes that are not written count as zeros in the code of a command.
        above = reduce(or_, (word.word_select(byte, 8).any() & strobe[byte] for byte in range(1, 4)))
        unknown = Signal()
        m.d.sync += unknown.eq(above | self._is_unknown(word[:8]))
        m.d.sync += [chosen[r.name].eq(writes.address == r.offset >> 2) for r in self._table() if r.writable]
        wrong = strobe[0] & (self.busy | unknown)
        m.d.comb += writes.refused.eq(~reduce(or_, chosen.values()) | (here["COMMAND"] & wrong))
        m.d.sync += self.command.eq(here["COMMAND"] & strobe[0] & ~wrong)
        with m.If(here["COMMAND"]):
            m.d.sync += self.code.eq(word[:2])
            if self.predicts:
                m.d.sync += self.predict.eq(word[2])
        self._act(m, chosen)
        for name, held in (("COUNT", self.count), ("RESULT_UNITS", self.result_units)):
            for byte in range(4):
                with m.If(here[name] & strobe[byte]):
                    m.d.sync += held.word_select(byte, 8).eq(word.word_select(byte, 8))

        status, control = Signal(32), Signal(32)
        sticky = {name: Signal(name=f"{name}_seen") for name in STICKY}
        for name, seen in sticky.items():
            place = register("STATUS").field(name.upper()).bit
            clear = here["STATUS"] & strobe[place // 8] & word[place]
            m.d.sync += seen.eq((seen & ~clear) | getattr(self, name))
            m.d.comb += status[place].eq(seen)
        m.d.comb += [status[register("STATUS").field(n.upper()).bit].eq(getattr(self, n)) for n in LEVELS]
        enables = []
        for field in register("CONTROL").fields:
            if field.access == "sc":
                set_now = here["CONTROL"] & strobe[field.bit // 8] & word[field.bit]
                m.d.sync += getattr(self, field.name.lower()).eq(set_now)
                continue
            enable = Signal(name=f"{field.name.lower()}_enabled")
            with m.If(here["CONTROL"] & strobe[field.bit // 8]):
                m.d.sync += enable.eq(word[field.bit])
            m.d.comb += control[field.bit].eq(enable)
            enables.append(enable)
        done, error = enables
        m.d.sync += self.interrupt.eq((sticky["done"] & done) | (reduce(or_, (sticky[n] for n in ERRORS)) & error))
        return {"COUNT": self.count, "RESULT_UNITS": self.result_units, "CONTROL": control, "STATUS": status}

    def _shown(self, m: Module, reads: ReadPort, held: dict[str, Any]) -> None:
        """Answer reads in two steps: each group of four registers gives one word, and then one group is chosen."""
        high = Signal(32)
        known = Signal()
        values = held | {name.upper(): getattr(self, name) for name in COUNTERS}
        values |= {"CYCLES_LO": self.cycles[:32], "CYCLES_HI": high, **self._own_values()}
        shown = {each.offset >> 2: values.get(each.name, each.reset) for each in self._table() if each.readable}
        m.d.sync += known.eq(reduce(or_, (reads.address == place for place in shown)))
        with m.If(reads.act & (reads.address == register("CYCLES_LO").offset >> 2)):
            m.d.sync += high.eq(self.cycles[32:])
        parts = []
        for first in sorted({place & ~3 for place in shown}):
            parts.append(part := Signal(32, name=f"part_{first // 4}", reset_less=True))
            near = Array(shown.get(first + place, 0) for place in range(4))[reads.address[:2]]
            here = Signal(name=f"here_{first // 4}")
            m.d.sync += here.eq(reads.address[2:] == first >> 2)
            with m.If(reads.act):
                m.d.sync += part.eq(Mux(here, near, 0))
        m.d.comb += [reads.data.eq(reduce(or_, parts)), reads.refused.eq(~known)]
