"""The resets of a board: the one of its start, and the one that a host asks for."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.sim import Simulator

from tabla.host.link.requests import frame
from tabla.hw.board.clock import PowerUp
from tabla.hw.board.link import HostLink
from tabla.hw.reset import reset_cycles
from tabla.program.protocol import Request
from tests.hw.bench import played
from tests.hw.board.test_link_parts import levels
from tests.sim.hand_images import linear

SYNCHRONISED = 2
"""The registers that an input of the board passes before anything looks at it."""


@pytest.mark.parametrize(("steady", "pressed"), [(0, None), (5, None), (0, 40), (3, 400)])
def test_a_board_is_in_reset_until_its_clock_has_been_steady_for_long(steady: int, pressed: int | None) -> None:
    """A button that is pressed begins the time anew."""
    inputs = [{"steady": int(cycle >= steady), "button": int(cycle == pressed)} for cycle in range(900)]
    seen = [cycle["reset"] for cycle in played(PowerUp(), inputs)]
    # The counter takes a cycle to be filled, and shows in the next one.
    runs_from = steady + SYNCHRONISED + PowerUp.CYCLES + 1
    wanted = [int(cycle < runs_from) for cycle in range(900)]
    if pressed is not None:
        begins = pressed + SYNCHRONISED + 2
        wanted = [int(level or begins <= cycle < begins + PowerUp.CYCLES) for cycle, level in enumerate(wanted)]
    assert seen == wanted


def test_the_machine_is_reset_for_as_long_as_its_registers_need() -> None:
    """At the start, and again when a host asks for it in the midst of everything."""
    image = linear(2).image
    link = HostLink(image=image, divisor=2, clock=25_000_000)
    asked = levels(frame(bytes([Request.RESET, 0, 0, 0, 0])), 2)
    line = [1] * 60 + asked + [1] * 100
    seen: list[int] = []

    async def bench(context: Any) -> None:
        for level in line:
            context.set(link.receive, level)
            seen.append(context.get(link.machine_reset))
            await context.tick()

    simulator = Simulator(link)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    text = "".join(map(str, seen))
    first, second = (part for part in text.split("0") if part)
    # The register in front of the reset adds a cycle to that of the start, which is one of reset itself.
    assert (len(first), len(second)) == (reset_cycles(image) + 1, reset_cycles(image))
