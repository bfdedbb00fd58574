"""The way in against a model of docs/host-bus.md in Python: random packets, faults at every place, gaps and
back-pressure.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator

from tabla.hw.bus.stream_in import FAULTS, StreamInput
from tabla.program.bus import BusShape

Beat = tuple[list[int], list[int], bool]
"""The bytes of a beat of the bus, which of them are kept, and TLAST."""


def simulate(component: StreamInput, bench: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Run a test bench on a component."""
    module = Module()
    module.submodules.component = component
    simulator = Simulator(module)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


@dataclass
class Expected:
    """What a command gives to the array, in words, and what it says."""

    words: list[int] = field(default_factory=list)
    faults: set[str] = field(default_factory=set)
    units: int = 0
    beats: int = 0


def expected(
    shape: BusShape, beats: list[Beat], count: int, *, load: bool, ignored: frozenset[int] = frozenset()
) -> Expected:
    """Play the beats of a command, as docs/host-bus.md says, container by container. Those that are `ignored`, counted
    from the start of a unit, may have any bits.
    """
    made = Expected()
    size, part = (shape.load_beats if load else shape.run_beats) * shape.stream_words, shape.container // 8
    taken: list[int] = []
    while True:
        data, keep, last = beats[made.beats]
        made.beats += 1
        wanted = min(shape.containers, count * size - len(taken))
        here: list[int] = []
        faults = set()
        for k in range(wanted):
            kept = keep[k * part : (k + 1) * part]
            word = int.from_bytes(bytes(data[k * part : (k + 1) * part]), "little", signed=True)
            place = (len(taken) + k) % size
            if place in ignored:
                word = (word & (1 << shape.width) - 1 ^ 1 << shape.width - 1) - (1 << shape.width - 1)
            if any(kept) and not -(1 << shape.width - 1) <= word < 1 << shape.width - 1:
                faults.add("range")
            if not all(kept):
                if any(kept) or not last or k == 0 or any(keep[k * part :]):
                    faults.add("keep")
            elif len(here) == k:
                here.append(word)
        whole = (len(taken) + len(here)) // size
        if "keep" not in faults and last and whole < count and (len(taken) + len(here)) % size:
            faults.add("short")
        if not last and len(taken) + shape.containers >= count * size:
            faults.add("long")
        made.faults = faults
        if faults - {"long"}:
            break
        taken += here
        if whole == count:
            break
        if last and made.beats == len(beats):
            raise AssertionError("the case has too few packets")
    if load:
        # What the array gets of a faulty load is not fixed, except how much it is.
        made.words, made.units = (taken if not made.faults - {"long"} else []), 1
    else:
        made.units = len(taken) // size
        made.words = taken[: made.units * size]
    while not beats[made.beats - 1][2]:
        made.beats += 1
    return made


def packets(
    shape: BusShape, chance: random.Random, count: int, *, load: bool, ignored: frozenset[int] = frozenset()
) -> list[Beat]:
    """The packets of a command, most of them with a fault. Packets that are not wanted stand behind them. Containers
    that are `ignored` are anything.
    """
    size, part = (shape.load_beats if load else shape.run_beats) * shape.stream_words, shape.container // 8
    left, beats = count, []
    fault = chance.choice(
        ["", "short", "long", "hole", "hole", "none", "range", "tail", "long hole", "long none", "long range"]
    )
    while left:
        units = left if load else chance.choice([left, chance.randint(1, left)])
        left -= units
        words = [chance.randrange(-(1 << shape.width - 1), 1 << shape.width - 1) for _ in range(units * size)]
        data = [byte for word in words for byte in word.to_bytes(part, "little", signed=True)]
        for place in range(units * size if ignored else 0):
            if place % size in ignored:
                data[place * part : (place + 1) * part] = chance.randbytes(part)
        final = left == 0
        if fault == "short" and chance.random() < 0.5:
            data = data[: chance.randrange(1, units * size + 1) * part] if units * size > 1 else data
        # The beat of the packet's last wanted container.
        wanted = len(data)
        last_beat = (wanted - 1) // (shape.bus_bits // 8) * (shape.bus_bits // 8)
        if "long" in fault and final:
            data += [0] * chance.randrange(1, 4 * shape.bus_bits // 8)
        keep = [1] * len(data)
        if "hole" in fault and chance.random() < 0.7:
            # A byte or a container, anywhere or in the last beat.
            ends = wanted if "long" in fault else len(keep)
            at, many = chance.randrange(chance.choice([0, last_beat]), ends), chance.choice([1, part])
            at -= at % many
            keep[at : at + many] = [0] * many
        if "range" in fault and chance.random() < 0.7:
            at = chance.randrange(chance.choice([0, last_beat]) // part, wanted // part) * part + part - 1
            data[at] ^= 0x80
        rest = -len(data) % (shape.bus_bits // 8)
        ignored = final and fault in ("", "tail")
        data += [chance.getrandbits(8) for _ in range(rest)]
        keep += [chance.getrandbits(1) if ignored and fault == "tail" else 0 for _ in range(rest)]
        step = shape.bus_bits // 8
        cut = [(data[at : at + step], keep[at : at + step], at + step >= len(data)) for at in range(0, len(data), step)]
        if "none" in fault and chance.random() < 0.5:
            empty = last_beat // step if "long" in fault else -1
            cut[empty] = (cut[empty][0], [0] * step, cut[empty][2])
        beats += cut
    step = shape.bus_bits // 8
    unwanted = [([0] * step, [1] * step, False), ([0] * step, [1] * step, True)]
    return [*beats, *unwanted, *unwanted]


@pytest.mark.parametrize(
    ("bus_bits", "width", "stream_words", "ignored"),
    [
        (32, 8, 1, ()),
        (32, 12, 2, ()),
        (32, 18, 4, ()),
        (64, 12, 1, ()),
        (64, 8, 8, ()),
        (128, 12, 32, ()),
        # A prediction ignores the last word, the first ones, some words of each beat, and all but one.
        (32, 12, 1, (2,)),
        (64, 12, 2, (0, 1, 2)),
        (32, 18, 4, (0, 1, 4, 5, 8, 9)),
        (128, 12, 16, tuple(range(1, 48))),
        (32, 5, 2, (3, 5)),
    ],
)
def test_units_of_random_packets(bus_bits: int, width: int, stream_words: int, ignored: tuple[int, ...]) -> None:
    chance = random.Random(bus_bits + width + stream_words)
    sizes = {"load_beats": 5, "run_beats": 3, "run_words": 0, "dump_count": 0}
    shape = BusShape(
        bus_bits=bus_bits, width=width, stream_words=stream_words, predicts=bool(ignored), ignored=ignored, **sizes
    )
    component = StreamInput(shape=shape)
    assert component.ignores == bool(ignored)
    said: set[str] = set()
    beside_long: set[str] = set()

    async def command(context: Any) -> None:
        load = chance.random() < 0.3
        count = 1 if load else chance.choice([1, 2, 3, 5, 20])
        predicts = bool(ignored) and not load and chance.random() < 0.7
        masked = frozenset(ignored if predicts else ())
        beats = packets(shape, chance, count, load=load, ignored=masked)
        wanted = expected(shape, beats, count, load=load, ignored=masked)
        if ignored:
            context.set(component.predict, predicts)
        given, seen, faults = 0, [], set()
        for name, value in {"start": 1, "load": load, "count": count}.items():
            context.set(getattr(component, name), value)
        await context.tick()
        context.set(component.start, 0)
        slow_in, slow_out = chance.choice([0, 0, 0.5]), chance.choice([0, 0, 0.5, 0.9])
        offered = False
        for _ in range(4000):
            # What has been offered stays.
            offered = offered or chance.random() >= slow_in
            data, keep, last = beats[given]
            if not offered:
                data, keep, last = [0xA5] * len(data), [1] * len(keep), True
            context.set(component.tdata, int.from_bytes(bytes(data), "little"))
            context.set(component.tkeep, sum(bit << place for place, bit in enumerate(keep)))
            context.set(component.tlast, last)
            context.set(component.tvalid, offered)
            context.set(component.out_ready, ready := chance.random() >= slow_out)
            faults |= {name for name in FAULTS if context.get(getattr(component, name))}
            if ready and context.get(component.out_valid):
                beat = context.get(component.out_data)
                words = [beat >> (width * k) & (1 << width) - 1 for k in range(stream_words)]
                seen += [word - (1 << width) if word >> width - 1 else word for word in words]
            if context.get(component.idle) and context.get(component.empty) and not context.get(component.tready):
                break
            if offered and context.get(component.tready):
                given, offered = given + 1, False
            await context.tick()
        else:
            raise AssertionError(f"{wanted.faults}: the command does not end")
        context.set(component.tvalid, 0)
        # Where containers are absent before others it is open which words the beat has, so RANGE may be set or not.
        assert faults - {"range"} == wanted.faults - {"range"}
        assert faults == wanted.faults or "keep" in faults
        assert given == wanted.beats
        assert bool(context.get(component.failed)) == bool(faults)
        assert bool(context.get(component.torn)) == bool(faults - {"long"})
        if load:
            assert len(seen) == shape.load_beats * stream_words
        if not load or not faults - {"long"}:
            assert seen == wanted.words
        said.update(faults or {"none"})
        beside_long.update(faults - {"long"} if "long" in faults else ())
        await context.tick()

    async def bench(context: Any) -> None:
        context.set(component.alive, 1)
        for _ in range(60 if stream_words > 8 else 90):
            await command(context)

    simulate(component, bench)
    assert beside_long == ({"keep", "range"} if width not in (8, 16) else {"keep"})
    assert said >= {"short", "long", "keep", "none"} | ({"range"} if width not in (8, 16) else set())


@pytest.mark.parametrize("early", [False, True])
def test_a_load_that_is_aborted_at_any_moment_ends(early: bool) -> None:
    """The load is larger than the buffer. With `early` its packet ends too soon, so zeros fill it up."""
    shape = BusShape(bus_bits=64, width=8, stream_words=2, load_beats=40, run_beats=2, run_words=0, dump_count=0)
    step = shape.bus_bits // 8
    count = -(-shape.load_beats * shape.stream_words // step)
    beats: list[Beat] = [([1] * step, [1] * step, at == (3 if early else count - 1)) for at in range(count)]

    def ends(moment: int) -> bool:
        component = StreamInput(shape=shape)
        found = []

        async def bench(context: Any) -> None:
            context.set(component.alive, 1)
            for name, value in {"start": 1, "load": 1, "count": 1, "out_ready": 1}.items():
                context.set(getattr(component, name), value)
            await context.tick()
            context.set(component.start, 0)
            given, taken = 0, 0
            for cycle in range(400):
                data, keep, last = beats[min(given, count - 1)]
                context.set(component.tdata, int.from_bytes(bytes(data), "little"))
                context.set(component.tkeep, sum(bit << place for place, bit in enumerate(keep)))
                context.set(component.tlast, last)
                context.set(component.tvalid, given < count and cycle < moment)
                context.set(component.cancel, cycle == moment)
                # The array takes one load and no more.
                context.set(component.out_ready, taken < shape.load_beats)
                taken += context.get(component.out_valid) and taken < shape.load_beats
                given += context.get(component.tready) and context.get(component.tvalid)
                await context.tick()
            found.append(bool(context.get(component.idle)))

        simulate(component, bench)
        return found[0]

    assert [moment for moment in range(30, 50) if not ends(moment)] == []
