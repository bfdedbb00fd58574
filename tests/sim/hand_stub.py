"""The stub of ``stub.v`` and what it does, for tests of engines without the real hardware."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tabla.program.image import Image, StreamEntry
from tabla.sim.machine import Machine, Stalls
from tests.sim.hand_assembler import assemble, parameters

VERILOG = (Path(__file__).resolve().parent / "stub.v").read_text(encoding="utf-8")


def stub_image() -> Image:
    """An image with the stub's numbers of beats and words."""
    image = assemble(parameters(2), {}, period=1)
    return replace(
        image,
        run=replace(image.run, outputs=1),
        dump=replace(image.dump, outputs=1),
        stream_run=StreamEntry(begin=0, strands=0, beats=2),
        stream_load=StreamEntry(begin=0, strands=0, beats=1),
    )


def exercise(machine: Machine) -> None:
    """Checks words, cycles and counters of a machine that runs the stub."""
    machine.load([[5, 0]])
    result = machine.run([[1, 9], [9, -100], [-10, 0], [0, 7]], 2)
    assert result.outputs == [6 - 100, -4 + 7]
    relative = result.relative()
    assert (relative.first_words, relative.last_words) == ([0, 3], [1, 4])
    assert (relative.starts, relative.leaves) == (relative.updates, [2, 5]) == ([1, 4], [2, 5])
    assert result.counters.lane_overflows == 5 and result.counters.root_overflows == 7
    slow = machine.run([[1, 0], [0, 0], [1, 0], [0, 0]], 2, Stalls(inputs=(9, 2, 1), outputs=(4, 0))).relative()
    # Beats 1 and 2 wait for 2 and 1 cycles, beat 3 (pause 9 again) for nine.
    assert (slow.first_words, slow.last_words) == ([0, 5], [3, 15])
    assert slow.outputs == [-3, -2]
    assert machine.dump(3) == [-2, -2, -2]
