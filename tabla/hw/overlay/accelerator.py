"""The machine without a program, which takes one image after the other."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import In, Out

from tabla.hw.array import Array
from tabla.hw.controller import Controller
from tabla.hw.overlay.about import About
from tabla.hw.overlay.features import overlay_features
from tabla.hw.overlay.loader import Loader
from tabla.hw.overlay.sequencer import BankedSequencer
from tabla.hw.timing import Timing
from tabla.program.overlay import (
    CONTAINER,
    HOST_NUMBERS,
    PROGRAM_SHIFTS,
    Overlay,
    number_port,
    timing_layout,
    timing_widths,
)


class OverlayAccelerator(Array):
    """The machine of ``docs/decisions/0003-machine.md`` for whatever image is loaded: samples stream in, results stream
    out.

    The ports for commands and words are those of an ``Accelerator``. No command is taken before there is an image. A
    reset keeps the image that runs, and forgets one that is coming.

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
    program_start : In(1)
        An image begins.
    program_valid : In(1), program_ready : Out(1), program_data : In(32)
        The words of an image (see ``Loader``).
    program_status : Out(3)
        What became of the last image.
    about_index : In(5), about_word : Out(32)
        What the overlay has room for (see ``About``).
    stop : In(1)
        Only with `stoppable`: as ``Controller``.
    programmed : Out(1)
        Only with `stoppable`: there is a program.
    program_load_beats, program_stream_load_enable, program_run_beats, program_stream_run_enable, program_run_outputs,
    program_dump_count, program_run_overlap, program_fingerprint : Out
        Only with `stoppable`: numbers of the program that runs, as ``program_numbers`` has them.
    """

    def __init__(self, overlay: Overlay, *, stoppable: bool = False) -> None:
        self.overlay = overlay
        # A reset leaves both as they are: an array is reset before each load, and runs the same program then.
        self._bank = Signal(name="bank", reset_less=True)
        self._programmed = Signal(name="programmed", reset_less=True)
        layout = timing_layout(overlay)
        self._active = Signal(layout.width, name="timing", reset_less=True)
        numbers, most = dict[str, Any](), dict[str, int]()
        for name, (width, signed) in timing_widths(overlay).items():
            place = layout.fields[name]
            bits = self._active[place.offset : place.offset + width]
            numbers[name] = bits.as_signed() if signed else bits
            most[name] = (1 << (width - signed)) - 1
        super().__init__(
            parameters=overlay.parameters,
            features=overlay_features(overlay.parameters, overlay.room.posts),
            timing=Timing(numbers=numbers, most=most, tokens=overlay.room.tokens),
            program={
                "program_start": In(1),
                "program_valid": In(1),
                "program_ready": Out(1),
                "program_data": In(CONTAINER),
                "program_status": Out(3),
                "about_index": In(5),
                "about_word": Out(CONTAINER),
                **(self._host_ports(overlay) if stoppable else {}),
            },
            stoppable=stoppable,
        )

    @staticmethod
    def _host_ports(overlay: Overlay) -> dict[str, Any]:
        widths = timing_widths(overlay)
        return {"programmed": Out(1), **{number_port(name): Out(widths[name][0]) for name in HOST_NUMBERS}}

    def elaborate(self, platform: Any) -> Module:
        self._loader = loader = Loader(self.overlay)
        m = super().elaborate(platform)
        m.submodules.loader = loader
        m.submodules.about = about = About(self.overlay)
        m.d.comb += [
            loader.start.eq(self.program_start),
            loader.valid.eq(self.program_valid),
            loader.data.eq(self.program_data),
            loader.busy.eq(self.busy),
            self.program_ready.eq(loader.ready),
            self.program_status.eq(loader.status),
            about.index.eq(self.about_index),
            self.about_word.eq(about.word),
        ]
        if self.stoppable:
            m.d.comb += self.programmed.eq(self._programmed)
            m.d.comb += [getattr(self, number_port(name)).eq(self.timing[name]) for name in HOST_NUMBERS]
        with m.If(loader.switch):
            m.d.sync += [
                self._bank.eq(~self._bank),
                self._programmed.eq(1),
                self._active.eq(loader.part(len(self.overlay.memories) - 1, len(self._active))),
            ]
        return m

    def _controller(self, m: Module) -> Controller:
        """Take commands only while there is an image, and while none is about to run."""
        controller = super()._controller(m)
        may = Signal(name="may_begin")
        m.d.comb += [
            may.eq(self._programmed & ~self._loader.holds),
            controller.command_valid.eq(self.command_valid & may),
            self.command_ready.eq(controller.command_ready & may),
        ]
        return controller

    def _shifts(self) -> list[Any]:
        return [self.timing[f"shift.{number}"] for number in range(PROGRAM_SHIFTS)]

    def _program_of(self, unit: str) -> BankedSequencer:
        return BankedSequencer(unit=unit, parameters=self.parameters, features=self.features[unit])

    def _program_port(self, m: Module, unit: str, target: Any) -> None:
        """Write the words of an image to the bank that does not run."""
        overlay, loader = self.overlay, self._loader
        numbers = {kind: overlay.memories.index((unit, kind)) for kind in ("strands", "operations")}
        for kind, enable in (("strands", target.strand_write), ("operations", target.operation_write)):
            m.d.comb += enable.eq(loader.write & (loader.memory == numbers[kind]))
        m.d.comb += [
            target.bank.eq(self._bank),
            target.write_address.eq(loader.address),
            target.strand_data.eq(loader.part(numbers["strands"], overlay.width(unit, "strands"))),
            target.write_data.eq(loader.part(numbers["operations"], overlay.width(unit, "operations"))),
        ]
