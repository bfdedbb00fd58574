"""Parts that a proof cuts out: a multiplier whose product is free, and memories and functions whose words are free."""

from __future__ import annotations

from typing import Any, ClassVar

from amaranth.asserts import AnyConst, AnySeq
from amaranth.hdl import Elaboratable, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.memory import memory_members
from tabla.hw.pipeline import bits_for


class FreeMultiplier(wiring.Component):
    """Has the ports of ``Multiplier``. Its product is any word, but 0 two cycles after an operand `a` of 0."""

    LATENCY = 2

    def __init__(self, *, left: int, right: int) -> None:
        super().__init__({"a": In(signed(left)), "b": In(signed(right)), "product": Out(signed(left + right))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        nothing = [Signal(name=f"nothing_{cycle}", init=1, reset_less=True) for cycle in (1, 2)]
        m.d.sync += [nothing[0].eq(self.a == 0), nothing[1].eq(nothing[0])]
        m.d.comb += self.product.eq(Mux(nothing[1], 0, AnySeq(self.product.shape())))
        return m


class FreeMemory(wiring.Component):
    """Has the ports of ``WordMemory``. The words that it shows are any words."""

    LATENCY = 2

    def __init__(self, *, width: int, depth: int, **others: Any) -> None:
        super().__init__(memory_members(width, depth))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += self.read_data.eq(AnySeq(self.read_data.shape()))
        return m


class WatchedMemory(wiring.Component):
    """Has the ports of ``WordMemory``. It keeps one word only, that of the address `watched`, which the solver chooses
    once; every other address shows any word, and so does one that is being written.

    What holds with such a memory for every choice of `watched` holds with a real one, of any depth.
    """

    LATENCY = 2

    def __init__(self, *, width: int, depth: int, **others: Any) -> None:
        self.watched = Signal(bits_for(depth), name="watched")
        self.kept = Signal(width, name="kept")
        self.first, self.word = Signal(width, name="first"), Signal(width, name="word")
        super().__init__(memory_members(width, depth))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += [self.watched.eq(AnyConst(self.watched.shape())), self.read_data.eq(self.word)]
        writes = self.write_enable & (self.write_address == self.watched)
        with m.If(writes):
            m.d.sync += self.kept.eq(self.write_data)
        known = (self.read_address == self.watched) & ~writes
        m.d.sync += [self.first.eq(Mux(known, self.kept, AnySeq(self.kept.shape()))), self.word.eq(self.first)]
        return m


class _Port:
    """A port of a memory of Amaranth: `en`, `addr` and `data`."""

    def __init__(self, name: str, *, width: int, depth: int) -> None:
        self.en = Signal(name=f"{name}_en", init=1)
        self.addr = Signal(range(depth), name=f"{name}_addr")
        self.data = Signal(width, name=f"{name}_data")


class WatchedRam(Elaboratable):
    """Has the ports of a ``Memory`` of Amaranth, and keeps one word only, as ``WatchedMemory`` does.

    The class `made` lists all of them, so that a claim can name what they keep.
    """

    made: ClassVar[list[WatchedRam]] = []

    def __init__(self, *, shape: int, depth: int, init: Any, attrs: Any = None) -> None:
        self.width, self.depth = shape, depth
        self.watched, self.kept = Signal(range(depth), name="watched"), Signal(shape, name="kept")
        self.comb = True
        self.made.append(self)

    def write_port(self) -> _Port:
        """Return the port for writing."""
        self.write = _Port("write", width=self.width, depth=self.depth)
        return self.write

    def read_port(self, *, domain: str) -> _Port:
        """Return the port for reading, which answers at once or, in the domain `sync`, a cycle later."""
        self.read, self.comb = _Port("read", width=self.width, depth=self.depth), domain == "comb"
        return self.read

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += self.watched.eq(AnyConst(self.watched.shape()))
        writes = self.write.en & (self.write.addr == self.watched)
        with m.If(writes):
            m.d.sync += self.kept.eq(self.write.data)
        known = self.read.addr == self.watched
        any_word = AnySeq(self.kept.shape())
        if self.comb:
            m.d.comb += self.read.data.eq(Mux(known, self.kept, any_word))
        else:
            with m.If(self.read.en):
                m.d.sync += self.read.data.eq(Mux(known & ~writes, self.kept, any_word))
        return m


class FreeFunctions(wiring.Component):
    """Has the ports of ``FunctionUnit``. Its value is any word in each cycle."""

    def __init__(self, *, parameters: Any) -> None:
        self.divides = True
        width = parameters.width
        inputs = {"code": In(4), "operand": In(signed(width)), "divisor": In(signed(width)), "writes": In(1)}
        events = dict.fromkeys(("overflow", "domain_error"), Out(1))
        super().__init__({**inputs, **events, "value": Out(signed(width)), "written": Out(width)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        wrote = Signal(name="wrote")
        m.d.sync += wrote.eq(self.writes)
        m.d.comb += [getattr(self, name).eq(AnySeq(getattr(self, name).shape()))
                     for name in ("value", "overflow", "domain_error")]  # fmt: skip
        m.d.comb += self.written.eq(Mux(wrote, self.value.as_unsigned(), 0))
        return m


class CountdownModel(wiring.Component):
    """Does what ``Countdown`` was proved to do. `left` is what is left."""

    def __init__(self, *, width: int) -> None:
        self.left, self.age = Signal(width, name="left"), Signal(range(5), name="age", init=4)
        inputs = {name: In(1) for name in ("load", "short", "one", "step")}
        super().__init__({**inputs, "count": In(width), "any": Out(1), "several": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        with m.If(self.age != 4):
            m.d.sync += self.age.eq(self.age + 1)
        with m.If(self.load):
            m.d.sync += [self.left.eq(Mux(self.short, self.one, self.count)), self.age.eq(1)]
        with m.Elif(self.step):
            m.d.sync += self.left.eq(self.left - 1)
        m.d.comb += [
            self.any.eq((self.left != 0) & (self.age >= 3)),
            self.several.eq(Mux(self.age == 4, self.left > 1, AnySeq(1))),
        ]
        return m
