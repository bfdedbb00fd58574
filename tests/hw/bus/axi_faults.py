"""Faults of packets: what the wrapper says, which units count, and that the next command finds everything in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cocotb
from axi_bench import BEAT, BYTES, CASE, DUMP, LOAD, RUN, Host, packed

UNITS = len(CASE["units"])
SIZE = len(CASE["units"][0])
WIDTH = CASE["width"]
PLACES = BEAT // BYTES
"""Containers of a beat."""
COUNT = min(UNITS, 3)
TOTAL = COUNT * SIZE
OUT_OF_RANGE = (1 << (WIDTH - 1)).to_bytes(BYTES, "little", signed=WIDTH == 8 * BYTES) if WIDTH < 8 * BYTES else b""
"""The bytes of a container that is no word of the format, if there is one."""


def flat(count: int) -> list[int]:
    return [word for unit in CASE["units"][:count] for word in unit]


def places() -> Iterator[int]:
    """Containers of a run of `COUNT` units: the ends of its first beat and of its last one.

    ``make bench-bus`` tries all places of a beat.
    """
    last_beat = (TOTAL - 1) // PLACES * PLACES
    yield from sorted({0, min(PLACES, TOTAL) - 1, last_beat, TOTAL - 1})


def whole_units_before(container: int) -> int:
    """Units of which no part lies in the beat of this container of a packet, or behind it."""
    return container // PLACES * PLACES // SIZE


async def faulty_run(host: Host, data: list[int], keep: list[int], errors: set[str], counted: int) -> None:
    """A RUN with a fault: its error bits, its units, its results and its models; then the next commands."""
    await host.load()
    await host.write("COUNT", COUNT)
    await host.begin(RUN)
    host.send_bytes(data, keep)
    assert await host.end() == errors
    waited = host.waited
    assert host.source.idle()
    await host.results(0, counted)
    await host.dump(counted)
    await host.recover(" and ".join(sorted(errors)), waited)


async def opened(dut: Any) -> Host:
    host = Host(dut)
    await host.open()
    return host


@cocotb.test()
async def packets_that_end_too_early(dut: Any) -> None:
    host = await opened(dut)
    for number, at in enumerate(places()):
        if (at + 1) % SIZE == 0:
            continue
        host.pause(0.4 * (number % 2), number)
        data = packed(flat(COUNT)[: at + 1])
        await faulty_run(host, data, [1] * len(data), {"SHORT"}, whole_units_before(at))
    # A packet of whole units goes before, and ends in the middle of a beat.
    await host.load()
    await host.write("COUNT", 2)
    await host.begin(RUN)
    host.send(CASE["units"][0])
    host.send(CASE["units"][1][:-1])
    if SIZE > 1:
        assert await host.end() == {"SHORT"}
        await host.results(0, 1)
        await host.dump(1)
        await host.recover("SHORT")


@cocotb.test()
async def packets_that_end_too_late(dut: Any) -> None:
    host = await opened(dut)
    tail = -TOTAL % PLACES
    for more in (tail + 1, tail + 2 * PLACES):
        # What comes too much may be of any kind: nobody looks at it.
        data = packed(flat(COUNT)) + [0x80] * (more * BYTES)
        keep = [1] * (TOTAL * BYTES) + [1, 0] * (more * BYTES // 2) + [1] * (more * BYTES % 2)
        keep[-1] = 1
        await faulty_run(host, data, keep, {"LONG"}, COUNT)
    if tail:
        # Containers behind the last one in its beat are ignored, whatever they are.
        await host.load()
        await host.write("COUNT", COUNT)
        await host.begin(RUN)
        host.send_bytes(packed(flat(COUNT)) + [0x80 if n % 2 else 0x7F for n in range(tail * BYTES)])
        assert await host.end() == set()
        await host.results(0, COUNT)
        await host.dump(COUNT)


@cocotb.test()
async def beats_with_holes(dut: Any) -> None:
    host = await opened(dut)
    for number, at in enumerate(places()):
        host.pause(0.4 * (number % 2), number)
        data, last_beat = packed(flat(COUNT)), at // PLACES == (TOTAL - 1) // PLACES
        # A whole container, its first byte, or its last one.
        byte, many = [(at * BYTES, BYTES), (at * BYTES, 1), (at * BYTES + BYTES - 1, 1)][number % 3]
        if last_beat and at == TOTAL - 1 and many == BYTES:
            # Trailing containers may be absent in the last beat, but then the packet ends too early.
            continue
        keep = [1] * len(data)
        keep[byte : byte + many] = [0] * many
        await faulty_run(host, data, keep, {"KEEP"}, whole_units_before(at))
    # A beat without anything, first and last.
    data = packed(flat(COUNT))
    keep = [1] * len(data)
    keep[:BEAT] = [0] * len(keep[:BEAT])
    await faulty_run(host, data, keep, {"KEEP"}, 0)
    if CASE["load"]:
        await host.begin(LOAD)
        host.send_bytes([0] * BEAT, [0] * BEAT)
        assert await host.end() == {"KEEP"}
        await host.recover("KEEP in a LOAD")


@cocotb.test()
async def containers_out_of_range(dut: Any) -> None:
    host = await opened(dut)
    for number, at in enumerate(places() if OUT_OF_RANGE else ()):
        host.pause(0.4 * (number % 2), number)
        data = packed(flat(COUNT))
        data[at * BYTES : (at + 1) * BYTES] = OUT_OF_RANGE
        await faulty_run(host, data, [1] * len(data), {"RANGE"}, whole_units_before(at))


@cocotb.test()
async def beats_with_several_faults(dut: Any) -> None:
    """Each fault of a beat sets its bit; no unit of the beat counts."""
    host = await opened(dut)
    last_beat = (TOTAL - 1) // PLACES * PLACES
    counted = whole_units_before(TOTAL - 1)
    much = packed(flat(COUNT)) + [0] * (2 * BEAT)
    for at in {last_beat, TOTAL - 1}:
        keep = [1] * len(much)
        keep[at * BYTES] = 0
        await faulty_run(host, much, keep, {"KEEP", "LONG"}, counted)
    # The last container's beat has no container, and the packet goes on.
    keep = [1] * len(much)
    keep[last_beat * BYTES : last_beat * BYTES + BEAT] = [0] * BEAT
    await faulty_run(host, much, keep, {"KEEP", "LONG"}, counted)
    if not OUT_OF_RANGE:
        return
    wrong = much[: last_beat * BYTES] + list(OUT_OF_RANGE) + much[last_beat * BYTES + BYTES :]
    await faulty_run(host, wrong, [1] * len(wrong), {"RANGE", "LONG"}, counted)
    if TOTAL - last_beat > 1:
        keep = [1] * len(wrong)
        keep[(last_beat + 1) * BYTES] = 0
        await faulty_run(host, wrong, keep, {"RANGE", "KEEP", "LONG"}, counted)
        short = wrong[: (TOTAL - 1) * BYTES]
        if (TOTAL - 1) % SIZE:
            await faulty_run(host, short, [1] * len(short), {"RANGE", "SHORT"}, counted)


@cocotb.test()
async def loads_with_faults(dut: Any) -> None:
    host = await opened(dut)
    words = CASE["load"]
    if not words:
        return
    data = packed(words)
    hole = [1] * len(data)
    hole[0] = 0
    cases = [(data + [0] * (2 * BEAT), [1] * (len(data) + 2 * BEAT), {"LONG"}), (data, hole, {"KEEP"})]
    if len(words) > 1:
        cases.append((data[:-BYTES], [1] * (len(data) - BYTES), {"SHORT"}))
        cases.append((data[:BYTES], [1] * BYTES, {"SHORT"}))
    if OUT_OF_RANGE:
        for at in {0, len(words) - 1}:
            cases.append(
                (data[: at * BYTES] + list(OUT_OF_RANGE) + data[(at + 1) * BYTES :], [1] * len(data), {"RANGE"})
            )
        long = data[:-BYTES] + list(OUT_OF_RANGE) + [0] * (2 * BEAT)
        cases.append((long, [1] * len(long), {"RANGE", "LONG"}))
    for number, (sent, keep, errors) in enumerate(cases):
        host.pause(0.4 * (number % 2), number)
        await host.begin(LOAD)
        host.send_bytes(sent, keep)
        assert await host.end() == errors, (number, errors)
        waited = host.waited
        assert "LOADED" not in await host.bits()
        assert host.source.idle()
        await host.begin(DUMP)
        assert await host.end() == {"NOT_LOADED"}
        assert host.sink.empty()
        await host.recover(" and ".join(sorted(errors)) + " in a LOAD", waited)
