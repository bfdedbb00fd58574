"""Programs of an overlay through its registers: what becomes of an image, and how long it takes."""

from __future__ import annotations

from typing import Any

import cocotb
from axi_bench import BITS, CASE, CLOCK, DUMP, LOAD, OFFSET, PROGRAM, REGISTERS, RUN, Host
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiResp

RUNS, FORM, FOREIGN, DAMAGED = 2, 3, 4, 6
TAKES = 1
PROGRAMMED = 1 << 8


async def outcome(host: Host) -> int:
    return await host.read("PROGRAM_STATUS") & 7


@cocotb.test()
async def an_overlay_without_a_program(dut: Any) -> None:
    """It takes no command but PROGRAM, and ends all others at once. This scenario comes first."""
    image, host = CASE["image"], Host(dut)
    await host.open(bare=True)
    assert await host.read("FINGERPRINT") == 0
    assert await host.read("PROGRAM_STATUS") == 0
    for code in (LOAD, RUN, DUMP):
        await host.begin(code)
        assert "NOT_LOADED" in await host.end()
        assert "LOADED" not in await host.bits()
    # A word outside of a command counts for nothing, and is answered.
    assert await host.write("PROGRAM_DATA", image[0]) == AxiResp.OKAY
    assert await host.program(image) == set()
    assert await host.read("PROGRAM_STATUS") == PROGRAMMED | RUNS
    assert await host.read("FINGERPRINT") == REGISTERS["FINGERPRINT"]["reset"]
    for name, entry in REGISTERS.items():
        if name.startswith(("LIMIT_", "OVERLAY_", "PROGRAM_MAGIC")):
            assert await host.read(name) == entry["reset"], name
    assert await host.read("OVERLAY_FINGERPRINT") == image[1] and await host.read("PROGRAM_MAGIC") == image[0]


@cocotb.test()
async def an_image_takes_few_cycles(dut: Any) -> None:
    """From the word that begins the command to the answer that says it has ended: `most_cycles` of the case."""
    host = Host(dut)
    await host.open()
    begun = get_sim_time("ns")
    assert await host.program(CASE["image"]) == set()
    cycles = round((get_sim_time("ns") - begun) / CLOCK)
    dut._log.warning("%s words in %s cycles; CYCLES says %s", len(CASE["image"]), cycles, await host.read("CYCLES_LO"))
    assert await host.read("CYCLES_LO") <= cycles < CASE["most_cycles"]
    await host.recover("PROGRAM")


@cocotb.test()
async def wrong_images_change_nothing(dut: Any) -> None:
    host = Host(dut)
    await host.open()
    image = CASE["image"]
    wrong = {FORM: 0, FOREIGN: 1, DAMAGED: len(image) // 2}
    await host.load()
    await host.run(0, 2, [2])
    mark = await host.read("FINGERPRINT")
    for status, place in wrong.items():
        words = [word ^ (1 << 9) if at == place else word for at, word in enumerate(image)]
        assert await host.program(words) == set()
        assert await outcome(host) == status
        assert await host.read("FINGERPRINT") == mark
        # The models of the program before are still there.
        await host.dump(2)
    for length in (0, 1, 2, 3, len(image) - 1):
        await host.begin(PROGRAM)
        for word in image[:length]:
            await host.write("PROGRAM_DATA", word)
        assert "BUSY" in await host.bits()
        for code in (LOAD, RUN, DUMP, PROGRAM):
            assert await host.write("COMMAND", code) == AxiResp.SLVERR
        await host.write("CONTROL", 1 << BITS["ABORT"])
        assert await host.end() == set()
        assert await outcome(host) == TAKES
        await host.dump(2)
    assert await host.program(image) == set()
    assert "LOADED" not in await host.bits()
    await host.begin(RUN)
    assert "NOT_LOADED" in await host.end()
    await host.recover("wrong images")


@cocotb.test()
async def resets_while_an_image_comes(dut: Any) -> None:
    """A reset forgets the image that comes, and keeps the program that runs."""
    host = Host(dut)
    await host.open()
    image = CASE["image"]
    for length in (1, 3, len(image) - 1):
        await host.begin(PROGRAM)
        for word in image[:length]:
            await host.write("PROGRAM_DATA", word)
        await host.write("CONTROL", 1 << BITS["RESET"])
        await host.recover("RESET in an image")
        await host.begin(PROGRAM)
        for word in image[:length]:
            await host.write("PROGRAM_DATA", word)
        await host.reset()
        assert await host.read("PROGRAM_STATUS") == PROGRAMMED
        await host.recover("aresetn in an image")


@cocotb.test()
async def aborts_at_the_end_of_an_image(dut: Any) -> None:
    """Around the cycle in which the program changes: models of the program before never count for the new one."""
    host = Host(dut)
    await host.open()
    outcomes = set()
    for delay in range(16):
        assert await host.program(CASE["image"]) == set()
        await host.load()
        await host.begin(PROGRAM)
        for word in CASE["other"][:-3]:
            await host.write("PROGRAM_DATA", word)
        # One word after the other, so that the last one waits until the loader takes it.
        last = [cocotb.start_soon(host.write("PROGRAM_DATA", word)) for word in CASE["other"][-3:]]
        for _ in range(delay):
            await RisingEdge(dut.aclk)
        await host.write("CONTROL", 1 << BITS["ABORT"])
        assert [await write for write in last] == [AxiResp.OKAY] * 3
        assert await host.end() == set()
        changed = await host.read("FINGERPRINT") == CASE["other_mark"]
        assert (await outcome(host) == RUNS) == changed == ("LOADED" not in await host.bits()), delay
        outcomes.add(changed)
    assert True in outcomes
    assert await host.program(CASE["image"]) == set()
    await host.recover("ABORT in an image")


@cocotb.test()
async def bytes_gaps_and_other_registers(dut: Any) -> None:
    """A word may come byte by byte, with pauses, and with reads and other writes between."""
    host = Host(dut)
    await host.open()
    host.pause(0.5, 31)
    await host.begin(PROGRAM)
    for number, word in enumerate(CASE["image"]):
        if number % 7:
            await host.write("PROGRAM_DATA", word)
        else:
            for byte, part in enumerate(word.to_bytes(4, "little")):
                await host.lite.write(OFFSET["PROGRAM_DATA"] + byte, bytes([part]))
        if number % 11 == 0:
            await host.write("COUNT", number)
            assert await host.read("COUNT") == number
            assert await outcome(host) == TAKES
    assert await host.end() == set()
    assert await outcome(host) == RUNS
    await host.recover("bytes")


@cocotb.test()
async def answers_come_in_time(dut: Any) -> None:
    """Words as fast as the bus takes them: an answer at most 8 cycles after the later of address and word."""
    host = Host(dut)
    await host.open()
    waits: list[int] = []
    seen = {"address": -1, "word": -1}

    async def watch() -> None:
        cycle = 0
        while True:
            await RisingEdge(dut.aclk)
            cycle += 1
            for name, channel in (("address", "aw"), ("word", "w")):
                valid, ready = (getattr(dut, f"s_axil_{channel}{end}").value for end in ("valid", "ready"))
                if valid == 1 and ready == 1:
                    seen[name] = cycle
            if dut.s_axil_bvalid.value == 1 and min(seen.values()) >= 0:
                waits.append(cycle - max(seen.values()))
                seen.update(address=-1, word=-1)

    task = cocotb.start_soon(watch())
    await host.begin(PROGRAM)
    writes = [cocotb.start_soon(host.write("PROGRAM_DATA", word)) for word in CASE["image"]]
    for write in writes:
        assert await write == AxiResp.OKAY
    assert await host.end() == set()
    task.cancel()
    assert len(waits) >= len(CASE["image"]) and max(waits) <= 8, max(waits)
    assert await outcome(host) == RUNS
    await host.recover("PROGRAM")
