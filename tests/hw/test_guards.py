"""The comparison of a guard's bound with a lane's number."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from tabla.hw.pipeline import reaches


@pytest.mark.parametrize("width", [2, 5, 9, 11])
def test_a_bound_reaches_every_lane_from_it_on(width: int) -> None:
    m = Module()
    bound, lane, answer = Signal(width), Signal(8), Signal()
    m.d.comb += answer.eq(reaches(bound, lane))
    lanes = sorted({0, 1, 2, 7, 8, 15, 16, 100, 127, 128, 255})

    async def bench(context: Any) -> None:
        for number in lanes:
            context.set(lane, number)
            for value in range(-(1 << (width - 1)), 1 << (width - 1)):
                context.set(bound, value & ((1 << width) - 1))
                assert context.get(answer) == (value <= number), (value, number)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
