"""Carries a sample's token to a unit some cycles later, while newer tokens are already on the way."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import bits_for, delayed


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDelays:
    """The delays of runs and of dumps where registers hold them.

    `waits` are the registers, which hold the delays and 2 cycles more. No delay is above `longest`, and at most
    `tokens` are on the way.
    """

    waits: tuple[Any, Any]
    longest: int
    tokens: int


class TokenDelay(wiring.Component):
    """Gives a token of cycle *t* out in cycle *t* + ``LATENCY`` + the delay of the program that runs.

    A delay of up to ``CHAIN`` cycles is a chain of registers, which needs no logic. In a longer delay each token on the
    way holds the time at which it is due instead of a place in a chain.

    Members
    -------
    restart : In(1)
        Forget all tokens.
    dump : In(1)
        Which delay; stable between restarts.
    token : In(1)
    delayed : Out(1)
    live : In(1), delayed_live : Out(1), with `overlapping` samples
        A bit that comes with a token, and leaves with it.
    """

    LATENCY = 3
    CHAIN = 64

    def __init__(
        self,
        *,
        delays: tuple[int, ...] = (),
        periods: tuple[int, ...] = (),
        held: HeldDelays | None = None,
        overlapping: bool = False,
    ) -> None:
        self.overlapping = overlapping
        self.delays = delays
        self.waits: tuple[Any, ...] = held.waits if held else tuple(delay + 2 for delay in delays)
        self.longest = held.longest if held else max(delays)
        self.chains = held is None and self.longest <= self.CHAIN
        self.in_flight = held.tokens if held else tokens_on_the_way(delays, periods)
        bits = {"live": In(1), "delayed_live": Out(1)} if overlapping else {}
        super().__init__({"restart": In(1), "dump": In(1), "token": In(1), "delayed": Out(1), **bits})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self.chains:
            self._chain(m)
        else:
            self._queue(m)
        if self.overlapping:
            self._carry(m)
        return m

    def _carry(self, m: Module) -> None:
        """Carry a bit with each token. Tokens leave in the order in which they came."""
        count = Signal(range(self.in_flight + 1))
        bits = Signal(self.in_flight)
        m.d.comb += self.delayed_live.eq(bits.bit_select((count - 1)[: len(count)], 1) & (count != 0))
        m.d.sync += count.eq(count + self.token - self.delayed)
        with m.If(self.token):
            m.d.sync += bits.eq(Cat(self.live, bits))
        with m.If(self.restart):
            m.d.sync += count.eq(0)

    def _chain(self, m: Module) -> None:
        # A copy close by, as there are many to clear; it comes a cycle late.
        cleared = Signal(attrs={"keep": 1})
        m.d.sync += cleared.eq(self.restart)
        places = [self.token]
        for cycle in range(1, self.longest + self.LATENCY):
            places.append(delayed(m, places[-1], 1, name=f"token_{cycle}", clear=cleared))
        run, dump = (places[delay + self.LATENCY - 1] for delay in self.delays)
        m.d.sync += self.delayed.eq(Mux(self.dump, dump, run) & ~self.restart & ~cleared)

    def _queue(self, m: Module) -> None:
        # A due time lies at most the longest delay and 2 ahead, so this many bits tell all of them apart.
        bits = (self.longest + 4).bit_length()
        now = Signal(bits)
        m.d.sync += now.eq(now + 1)

        arrived = Signal()
        due = Signal(bits, reset_less=True)
        m.d.sync += [
            arrived.eq(self.token & ~self.restart),
            due.eq(now + Mux(self.dump, self.waits[1], self.waits[0])),
        ]
        depth = 1 << bits_for(self.in_flight)
        m.submodules.queue = queue = memory.Memory(shape=bits, depth=depth, init=[])
        write = queue.write_port()
        read = queue.read_port(domain="comb")
        # The oldest due time stands in a register: one cycle is for its comparison, not for reading it too.
        waiting = Signal(range(depth + 1))
        head = Signal(bits, reset_less=True)
        filled = Signal()
        leaves = Signal()
        moves = Signal()
        passes = Signal()
        m.d.comb += [
            leaves.eq(filled & (head == now)),
            moves.eq((waiting != 0) & (leaves | ~filled)),
            passes.eq(arrived & (waiting == 0) & (leaves | ~filled)),
            write.en.eq(arrived & ~passes),
            write.data.eq(due),
        ]
        m.d.sync += [
            waiting.eq(waiting + write.en - moves),
            self.delayed.eq(leaves & ~self.restart),
            filled.eq(moves | passes | (filled & ~leaves)),
        ]
        with m.If(moves | passes):
            m.d.sync += head.eq(Mux(moves, read.data, due))
        with m.If(write.en):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(moves):
            m.d.sync += read.addr.eq(read.addr + 1)
        with m.If(self.restart):
            m.d.sync += [waiting.eq(0), filled.eq(0), read.addr.eq(0), write.addr.eq(0)]


def samples_under_way(m: Module, *, tokens: int, token: Any, live: Any, restart: Any) -> Signal:
    """Return whether a sample began with each of the latest `tokens` tokens, the latest one at bit 0.

    `live` says so beside a `token`. `restart` forgets all samples.
    """
    under_way = Signal(tokens)
    with m.If(token):
        m.d.sync += under_way.eq(Cat(live, under_way))
    with m.If(restart):
        m.d.sync += under_way.eq(0)
    return under_way


def tokens_on_the_way(delays: tuple[int, ...], periods: tuple[int, ...]) -> int:
    """Return how many tokens, the periods apart, may be on their way at a time."""
    return max((delay + 2) // max(1, period) + 2 for delay, period in zip(delays, periods, strict=True))
