"""The synchronous reset, in the midst of a command: all stops, nothing of the past is left, all works afterwards."""

from dataclasses import fields
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator

from tabla.host.engines.host_loop import Host, Outputs, Request
from tabla.host.engines.port_machine import DUMP, LOAD, RUN, pack, signed
from tabla.hw.accelerator import Accelerator
from tabla.hw.reset import reset_cycles
from tabla.sim.machine import as_beats
from tabla.sim.model.cycle_model import CycleModel
from tests.sim.hand_images import linear

CASE = linear(2, samples=4, large=15)
SHAPE = CASE.image.parameters
COUNTERS = ("lane_overflows", "root_overflows", "domain_errors")
HELD = reset_cycles(CASE.image)
QUIET = 300
"""Cycles in which a machine without reset would have gone on: more than a run takes."""


def request(code: int) -> Request:
    """The command of the case with its beats."""
    rows = {LOAD: CASE.load, RUN: CASE.beats, DUMP: []}[code]
    return Request(
        code=code,
        count={LOAD: 1, RUN: CASE.samples, DUMP: CASE.dump}[code],
        beats=pack(as_beats(rows, SHAPE.stream_words), SHAPE.width),
        sample_beats={LOAD: CASE.image.stream_load.beats, RUN: CASE.image.stream_run.beats, DUMP: 1}[code],
        outputs={LOAD: 0, RUN: len(CASE.outputs or []), DUMP: len(CASE.models or [])}[code],
    )


class Bench:
    """The accelerator of the case with its reset, in a simulation that has begun."""

    def __init__(self, context: Any, hardware: Accelerator, domain: ClockDomain) -> None:
        self.context, self.hardware, self.domain = context, hardware, domain
        self.cycle = 0

    def shown(self) -> dict[str, int]:
        """What the ports show in this cycle."""
        return {f.name: self.context.get(getattr(self.hardware, f.name)) for f in fields(Outputs)}

    def counters(self) -> list[int]:
        """The event counters."""
        return [self.context.get(getattr(self.hardware, name)) for name in COUNTERS]

    async def tick(self) -> None:
        """To the next cycle."""
        await self.context.tick()
        self.cycle += 1

    async def play(self, code: int, most: int = 100_000) -> Host:
        """Play a command, or its first `most` cycles."""
        host = Host(request(code))
        begun = self.cycle
        while not host.done and self.cycle - begun < most:
            shown, inputs = self.shown(), host.drive()
            for name, value in vars(inputs).items():
                if name in self.hardware.signature.members:
                    self.context.set(getattr(self.hardware, name), value)
            host.observe(self.cycle, inputs, Outputs(**shown))
            await self.tick()
        return host

    async def reset(self) -> None:
        """Reset as the data sheet asks; the host lets go of its ports, and after one cycle all stands still."""
        for name in ("command_valid", "in_valid", "out_ready"):
            self.context.set(getattr(self.hardware, name), 0)
        self.context.set(self.domain.rst, 1)
        for _ in range(HELD):
            await self.tick()
            self.stands_still()
        self.context.set(self.domain.rst, 0)

    def stands_still(self) -> None:
        """No command is under way and nothing is offered."""
        shown = self.shown()
        still = {name: shown[name] for name in ("busy", "out_valid", "sample_start", "update")}
        assert not any(still.values()), still


def simulate(script: Any) -> None:
    """Run ``script(bench)`` to its end."""
    hardware = Accelerator(CASE.image)
    top = Module()
    top.domains.sync = domain = ClockDomain()
    top.submodules.hardware = hardware
    simulator = Simulator(top)
    simulator.add_clock(1e-8)

    async def bench(context: Any) -> None:
        await script(Bench(context, hardware, domain))

    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize(
    ("code", "cut"),
    [(LOAD, 7), (RUN, 3), (RUN, 30), (RUN, 75), *((RUN, cut) for cut in range(137, 142)), (DUMP, 25), (DUMP, 40)],
)
def test_reset_in_the_midst_of_a_command(code: int, cut: int) -> None:
    async def script(bench: Bench) -> None:
        if code != LOAD:
            await bench.play(LOAD)
        if code == DUMP:
            assert (await bench.play(RUN)).seen.counters == []
            assert any(bench.counters())
        host = await bench.play(code, most=cut)
        assert not host.done
        assert bench.shown()["busy"]
        await bench.reset()
        for _ in range(QUIET):
            bench.stands_still()
            assert not any(bench.counters())
            await bench.tick()
        assert bench.shown()["command_ready"]
        # The memories keep their words, so the models are loaded anew; all else is as after power-up.
        for command, words in ((LOAD, []), (RUN, CASE.outputs), (DUMP, CASE.models)):
            done = await bench.play(command)
            assert signed(done.seen.outputs, SHAPE.width) == words
            if command == RUN:
                starts, counted = done.seen.starts, bench.counters()
        model = CycleModel(CASE.image)
        model.load(CASE.load)
        expected = model.run(CASE.beats, CASE.samples)
        assert [at - starts[0] for at in starts] == [at - expected.starts[0] for at in expected.starts]
        assert counted == [getattr(expected.counters, name) for name in COUNTERS]

    simulate(script)
