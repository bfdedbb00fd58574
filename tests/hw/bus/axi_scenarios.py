"""The scenarios of the wrapper's tests; each begins with a reset of one cycle."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from axi_bench import (
    BEAT,
    BITS,
    BYTES,
    CASE,
    DUMP,
    LOAD,
    OFFSET,
    PREDICT,
    PROGRAM,
    REGISTERS,
    RUN,
    Host,
    packed,
    unpacked,
)
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiResp

UNITS = len(CASE["units"])
SIZE = len(CASE["units"][0])
WIDTH = CASE["width"]


def flat(first: int, count: int) -> list[int]:
    return [word for unit in CASE["units"][first : first + count] for word in unit]


@cocotb.test()
async def the_least_that_a_host_does(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    assert await host.read("ID") == 0x4C424154
    assert await host.read("VERSION") == (0x00010001 if "image" in CASE or CASE["predicts"] else 0x00010000)
    assert await host.read("FINGERPRINT") == REGISTERS["FINGERPRINT"]["reset"]
    assert await host.bits() == set()
    await host.load()
    await host.run(0, UNITS, [UNITS])
    waits = await host.read("WAIT_IN"), await host.read("WAIT_OUT")
    cycles = await host.read("CYCLES_LO")
    assert await host.read("CYCLES_HI") == 0
    assert waits[0] < cycles and waits[1] < cycles
    await host.dump(UNITS)
    # Without a new load the models go on from where they are.
    await host.load()
    await host.run(0, 1, [1])
    await host.run(1, UNITS - 1, [1] * (UNITS - 1), result_units=1)
    await host.dump(UNITS)
    await host.load()
    await host.dump(0)
    await host.run(0, UNITS, [1, UNITS - 1], result_units=2)
    await host.dump(UNITS)


@cocotb.test()
async def at_full_rate_the_array_waits_for_no_word(dut: Any) -> None:
    """More units take as many more cycles as the manifest says, and no more waiting than the first units take.

    The shorter run has more units than the array has under way at a time, since their end is told one by one. It is
    also longer than the start, in which the array takes words ahead of their time and may wait for the next unit.
    """
    host = Host(dut)
    await host.open()
    cycles, waits = [], []
    for count in (UNITS - 3, UNITS):
        await host.load()
        await host.run(0, count, [count])
        cycles.append(await host.read("CYCLES_LO"))
        waits.append((await host.read("WAIT_IN"), await host.read("WAIT_OUT")))
    more = 3 * CASE["unit_cycles"]
    dut._log.info("%s cycles, WAIT_IN and WAIT_OUT %s", cycles, waits)
    if CASE["never_waits"]:
        assert waits[0][0] == waits[1][0] and waits[0][1] == waits[1][1] == 0, waits
        assert cycles[1] - cycles[0] == more, (cycles, more)
    else:
        # The first units come over the bus one by one, and the array begins with the first.
        assert abs(cycles[1] - cycles[0] - more) <= max(1, SIZE * BYTES // BEAT), (cycles, more)


@cocotb.test()
async def a_preloaded_program_runs_before_a_load(dut: Any) -> None:
    """LOADED is 1 from the start and after a RESET, until a LOAD begins. One that fails leaves it 0."""
    host = Host(dut)
    await host.open(bare=True)
    if not CASE["preloaded"]:
        assert "LOADED" not in await host.bits()
        return
    for _ in range(2):
        assert "LOADED" in await host.bits()
        await host.run(0, UNITS, [UNITS])
        await host.write("CONTROL", 1 << BITS["RESET"])
        await host.rest()
    await host.begin(LOAD)
    host.send(CASE["load"][:1])
    assert await host.end() == {"SHORT"}
    assert "LOADED" not in await host.bits()
    await host.write("CONTROL", 1 << BITS["RESET"])
    await host.rest()
    assert "LOADED" not in await host.bits()
    await host.begin(RUN)
    assert await host.end() == {"NOT_LOADED"}
    await host.load()
    await host.run(0, 2, [2])


@cocotb.test()
async def gaps_and_back_pressure_on_every_channel(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    for seed, share in ((11, 0.3), (23, 0.7)):
        host.pause(share, seed)
        await host.load()
        await host.run(0, 2, [1, 1])
        if share > 0.5:
            assert await host.read("WAIT_IN") > 0
        await host.run(2, UNITS - 2, [UNITS - 2], result_units=1)
        await host.dump(UNITS)


@cocotb.test()
async def accesses_against_the_table(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    await host.load()
    mapped = {entry["offset"] for entry in REGISTERS.values()}
    for address in (*range(0x000, 0x060, 4), 0x3FC, 0x400, 0x7FC, 0xFFC):
        if address not in mapped:
            assert await host.write(address, 0xFFFFFFFF) == AxiResp.SLVERR
            assert (await host.lite.read(address, 4)).resp == AxiResp.SLVERR
    for name, entry in REGISTERS.items():
        if entry["access"] == "ro":
            before = await host.read(name)
            assert await host.write(name, 0xFFFFFFFF) == AxiResp.SLVERR
            assert await host.read(name) == before, name
    assert (await host.lite.read(OFFSET["COMMAND"], 4)).resp == AxiResp.SLVERR
    there = {PROGRAM if "image" in CASE else PREDICT if CASE["predicts"] else RUN}
    for code in sorted({*range(3, 16), 0x100, 0x104, 0x105, 0xFFFFFFFF} - there):
        assert await host.write("COMMAND", code) == AxiResp.SLVERR
    await host.write("COUNT", 0x11223344)
    await host.lite.write(OFFSET["COUNT"] + 1, b"\xaa")
    await host.lite.write(OFFSET["COUNT"] + 2, b"\xbb\xcc")
    assert await host.read("COUNT") == 0xCCBBAA44
    await host.write("CONTROL", 1 << BITS["IRQ_DONE"] | 1 << BITS["IRQ_ERROR"])
    await host.lite.write(OFFSET["CONTROL"], b"\x00")
    assert await host.read("CONTROL") == 1 << BITS["IRQ_DONE"] | 1 << BITS["IRQ_ERROR"]
    assert dut.interrupt.value == 1
    await host.write("STATUS", 1 << BITS["DONE"])
    await RisingEdge(dut.aclk)
    await RisingEdge(dut.aclk)
    assert dut.interrupt.value == 0
    await host.write("COUNT", 0)
    await host.begin(RUN)
    assert await host.end() == {"COUNT_ZERO"}
    assert dut.interrupt.value == 1
    assert host.sink.empty()
    await host.recover("COUNT_ZERO")


@cocotb.test()
async def commands_while_one_is_under_way(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    await host.begin(RUN)
    assert "NOT_LOADED" in await host.end()
    await host.load()
    await host.write("COUNT", 2)
    await host.begin(RUN)
    for code in (LOAD, RUN, DUMP):
        assert await host.write("COMMAND", code) == AxiResp.SLVERR
    host.send(flat(0, 2))
    assert await host.end() == set()
    await host.results(0, 2)
    await host.dump(2)
    # Words that no command wants wait.
    host.send(CASE["load"])
    for _ in range(20):
        await RisingEdge(dut.aclk)
        assert dut.s_axis_tready.value == 0
    await host.begin(LOAD)
    assert "LOADED" not in await host.bits()
    assert await host.end() == set()
    await host.dump(0)


def any_labels(units: int, seed: int) -> list[int]:
    """The bytes of units whose ignored containers are anything."""
    chance, found = random.Random(seed), list[int]()
    for unit in CASE["units"][:units]:
        data = packed(unit)
        for place in CASE["ignored"]:
            data[place * BYTES : (place + 1) * BYTES] = chance.randbytes(BYTES)
        found += data
    return found


@cocotb.test()
async def predictions_between_runs(dut: Any) -> None:
    """A prediction gives the results of the models that it finds, whatever the labels are, and keeps every word."""
    host = Host(dut)
    await host.open()
    if not CASE["predicts"]:
        assert await host.write("COMMAND", PREDICT) == AxiResp.SLVERR
        return
    await host.begin(PREDICT)
    assert "NOT_LOADED" in await host.end()
    ((before, results),) = ((int(n), found) for n, found in CASE["predicted"].items())
    words = [word for unit in results for word in unit]
    await host.load()
    await host.run(0, before, [before])
    counts = [await host.read(name) for name in ("LANE_OVERFLOWS", "ROOT_OVERFLOWS", "DOMAIN_ERRORS")]
    for seed, packet, result_units in ((1, UNITS, 0), (2, 3, 1), (3, 1, UNITS)):
        await host.write("COUNT", UNITS)
        await host.write("RESULT_UNITS", result_units)
        await host.begin(PREDICT)
        data, size = any_labels(UNITS, seed), packet * SIZE * BYTES
        for at in range(0, len(data), size):
            host.send_bytes(data[at : at + size])
        assert await host.end() == set()
        assert await host.read("SAMPLES") == UNITS
        found: list[int] = []
        while len(found) < len(words):
            found += unpacked((await host.packet())[0])
        assert found == words and host.sink.empty()
        await host.dump(before)
    # Without extreme words nothing has been counted.
    assert counts == [await host.read(name) for name in ("LANE_OVERFLOWS", "ROOT_OVERFLOWS", "DOMAIN_ERRORS")]
    await faults_of_predictions(host, before, results)
    await host.dump(before)
    await host.run(before, UNITS - before, [UNITS - before])
    await host.dump(UNITS)
    await host.recover("PREDICT")


async def faults_of_predictions(host: Host, before: int, results: list[list[int]]) -> None:
    """Faults end a prediction as they end a run: units before the faulty beat count."""
    await host.write("COUNT", 0)
    await host.begin(PREDICT)
    assert await host.end() == {"COUNT_ZERO"}
    await host.write("COUNT", 3)
    await host.write("RESULT_UNITS", 1)
    others = [place for place in range(SIZE) if place not in CASE["ignored"]]
    for place in (others[0], others[-1]) if CASE["container"] > WIDTH else ():
        data = any_labels(3, place)
        # The highest bit of a container of the last unit is not that of its word.
        data[(2 * SIZE + place + 1) * BYTES - 1] ^= 0x80
        await host.begin(PREDICT)
        host.send_bytes(data)
        assert await host.end() == {"RANGE"}
        finished = await host.read("SAMPLES")
        assert finished == ((2 * SIZE + place) * BYTES // BEAT * BEAT) // (SIZE * BYTES)
        for unit in results[:finished]:
            assert unpacked((await host.packet())[0]) == unit
        if not finished:
            await host.packet()
    await host.begin(PREDICT)
    host.send_bytes(any_labels(1, 9)[:-BYTES])
    assert await host.end() == {"SHORT"}
    assert (await host.packet())[0] == bytes(BEAT) and await host.read("SAMPLES") == 0
    # A RUN does not ignore labels.
    if CASE["ignored"] and CASE["container"] > WIDTH:
        data = packed(CASE["units"][0])
        data[(CASE["ignored"][0] + 1) * BYTES - 1] ^= 0x80
        await host.write("COUNT", 1)
        await host.begin(RUN)
        host.send_bytes(data)
        assert await host.end() == {"RANGE"}
        await host.packet()


@cocotb.test()
async def events_are_counted_since_the_load(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    await host.load()
    # Words as large as they can be: the models grow until they saturate.
    highest = (1 << (WIDTH - 1)) - 1
    await host.write("COUNT", 12)
    await host.begin(RUN)
    host.send([highest if n // SIZE % 2 else -highest for n in range(12 * SIZE)])
    assert await host.end() == set()
    assert "OVERFLOW" in await host.bits()
    assert await host.read("SAMPLES") == 12
    assert await host.read("LANE_OVERFLOWS") + await host.read("ROOT_OVERFLOWS") > 0
    assert await host.read("DOMAIN_ERRORS") == 0
    await host.write("STATUS", 0xFFFFFFFF)
    assert await host.bits() == {"LOADED"}
    if CASE["results"][0]:
        await host.packet()
    await host.load()
    for name in ("LANE_OVERFLOWS", "ROOT_OVERFLOWS", "DOMAIN_ERRORS"):
        assert await host.read(name) == 0
    assert "OVERFLOW" not in await host.bits()
    await host.recover("OVERFLOW")


@cocotb.test()
async def commands_that_are_given_up(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    for beats in (0, 1, 3, -(-2 * SIZE * BYTES // BEAT)):
        if beats * BEAT > UNITS * SIZE * BYTES:
            continue
        await host.load()
        await host.write("COUNT", 100)
        await host.begin(RUN)
        await host.part(flat(0, UNITS) + [0] * BEAT, beats)
        for _ in range(150 + 2 * BEAT // BYTES):
            await RisingEdge(dut.aclk)
        assert "BUSY" in await host.bits()
        await host.write("CONTROL", 1 << BITS["ABORT"])
        assert await host.end() == set()
        host.cancel()
        counted = beats * BEAT // BYTES // SIZE
        await host.results(0, counted)
        await host.dump(counted)
        await host.recover("ABORT")
    # While the rest of a packet is swallowed, and while a load waits.
    await host.load()
    await host.write("COUNT", 1)
    await host.begin(RUN)
    await host.part(flat(0, 1) + [0] * (2 * BEAT), -(-SIZE * BYTES // BEAT) + 1)
    for _ in range(40 + 2 * BEAT // BYTES):
        await RisingEdge(dut.aclk)
    assert "BUSY" in await host.bits()
    await host.write("CONTROL", 1 << BITS["ABORT"])
    assert await host.end() == {"LONG"}
    host.cancel()
    await host.results(0, 1)
    await host.dump(1)
    await host.recover("ABORT and LONG")
    if CASE["load"]:
        await host.begin(LOAD)
        await host.part(CASE["load"] + [0] * BEAT, 1)
        await host.write("CONTROL", 1 << BITS["ABORT"])
        assert await host.end() <= {"LONG"}
        assert "LOADED" not in await host.bits()
        host.cancel()
        await host.recover("ABORT in a LOAD")


@cocotb.test()
async def resets_at_many_moments(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    for moment in CASE["moments"]:
        await host.load()
        await host.write("COUNT", UNITS)
        await host.write("RESULT_UNITS", 2)
        await host.begin(RUN)
        host.send(flat(0, UNITS))
        for _ in range(moment):
            await RisingEdge(dut.aclk)
        await host.write("CONTROL", 1 << BITS["RESET"])
        assert "LOADED" not in await host.bits()
        await host.recover("RESET")
        assert host.source.idle(), moment


@cocotb.test()
async def hard_resets_in_the_middle_of_a_unit(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    for moment in CASE["moments"][1::2]:
        await host.load()
        await host.write("COUNT", UNITS)
        await host.begin(RUN)
        host.send(flat(0, UNITS))
        for _ in range(moment):
            await RisingEdge(dut.aclk)
        await host.reset()
        await host.recover("aresetn")
