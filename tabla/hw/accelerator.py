"""The machine with one program."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib.wiring import In

from tabla.hw.array import Array
from tabla.hw.features import features_of
from tabla.hw.pipeline import delayed
from tabla.hw.predicting import described
from tabla.hw.sequencer import Sequencer
from tabla.hw.timing import Timing
from tabla.program.image import Image
from tabla.program.layout import operation_layout, strand_layout


def program_width(image: Image) -> int:
    """Return the bits of the widest microcode word of an image."""
    parameters = image.parameters
    units = ("stream", *image.units)
    return max(layout(unit, parameters).width for unit in units for layout in (strand_layout, operation_layout))


_PREDICTING = """
command_predict : In(1)
    Taken with the command. A run then writes no model, `update` stays 0, and the three counters count only what the
    results need.
"""


class Accelerator(Array):
    """The machine of ``docs/decisions/0003-machine.md`` for one image: samples stream in, results stream out.

    The clock is `clk`, and the synchronous reset is `rst`. No command is under way in the cycle after a reset. A reset
    that is held for ``reset_cycles`` also leaves the counters at 0, and no pipeline with an operation. Memories keep
    their words.

    Cycle c of a sample whose token fires in cycle T is cycle T + ``FRONT`` + c of the clock.

    Members
    -------
    command_valid : In(1), command_ready : Out(1), command_code : In(2), command_count : In(32)
        0 load, 1 run `command_count` samples, 2 dump `command_count` words of each memory.
    in_valid : In(1), in_ready : Out(1), in_data : In(stream_words * width)
        Word l of a beat in bits l * width and up.
    out_valid : Out(1), out_ready : In(1), out_data : Out(width)
    busy : Out(1)
        A command is under way.
    sample_start : Out(1)
        A token fires in this cycle.
    update : Out(1)
        A model word is written in this cycle.
    lane_overflows, root_overflows, domain_errors : Out(32)
        Since reset; they stay at their greatest value.
    program_valid : In(1), program_memory : In(4 or more), program_address : In(16), program_data : In(widest word)
        Writes a microcode word (see ``Image.memories``); only while no command is under way.
    stop : In(1)
        Only with `stoppable`: as ``Controller``.
    """

    def __init__(self, image: Image, *, stoppable: bool = False) -> None:
        self.image = image
        if image.parameters.predicts:
            self.data_sheet = described(self, _PREDICTING)
        super().__init__(
            parameters=image.parameters,
            features=features_of(image),
            timing=Timing.of(image),
            program={
                "program_valid": In(1),
                "program_memory": In(image.memory_bits),
                "program_address": In(16),
                "program_data": In(program_width(image)),
            },
            stoppable=stoppable,
            first=image.first,
        )

    def _program_of(self, unit: str) -> Sequencer:
        """Return what runs a unit's program."""
        return Sequencer(
            unit=unit,
            parameters=self.parameters,
            features=self.features[unit],
            strands=self.image.strands[unit],
            operations=self.image.operations[unit],
        )

    def _program_port(self, m: Module, unit: str, target: Any) -> None:
        """Write microcode words a cycle after they were given, which is soon enough for a machine at rest."""
        for kind, enable in (("strands", target.strand_write), ("operations", target.operation_write)):
            number = self.image.memories.index((unit, kind))
            m.d.sync += enable.eq(self.program_valid & (self.program_memory == number))
        data = delayed(m, self.program_data, 1, name=f"{unit}_program_data")
        address = delayed(m, self.program_address, 1, name=f"{unit}_program_address")
        m.d.comb += [target.write_address.eq(address), target.write_data.eq(data)]


class WideAccelerator(Accelerator):
    """The same for an image whose results leave in beats of several words, which its data sheet says (decision 33)."""


_BEAT = """Out(port_words * width)
        A beat of results or of a dump: word l in bits l * width and up."""
# The data sheet goes into the Verilog, which stays as it is where a beat has one word.
WideAccelerator.__doc__ = (Accelerator.__doc__ or "").replace("out_data : Out(width)", f"out_data : {_BEAT}")
