"""The wrapper of an overlay as a model in Python, written from the description of its interface."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tabla.build.files.registers import register_entries
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_registers import overlay_registers
from tabla.sim.model.cycle_model import CycleModel
from tests.host.runtime.wrapper_model import ABORT, BUSY, DONE, LOADED, WrapperModel

TAKES, RUNS, FORM, FOREIGN, DAMAGED = 1, 2, 3, 4, 6


class OverlayModel(WrapperModel):
    """Registers and packets of an overlay's wrapper. `programs` has, by the words of an image, what the image is.

    `writes` are the registers that were written, in order. A damaged image has `length` words. Faults: with `lossy`
    one word of the next image is lost, and with `flips` one bit of each image changes.
    """

    def __init__(self, overlay: Overlay, programs: Mapping[tuple[int, ...], tuple[Image, dict[str, Any]]]) -> None:
        image, manifest = next(iter(programs.values()))
        assert overlay.bus is not None
        registers = register_entries({}, overlay_registers(overlay))
        bus = {"width": overlay.bus.bits, "container": 16, "bytes": {}, "registers": registers}
        super().__init__(image, {**manifest, "bus": bus})
        self.overlay, self.programs = overlay, programs
        self.words: list[int] | None = None
        self.writes: list[str] = []
        self.lossy = self.flips = False
        self.length = max(map(len, programs))

    def write(self, offset: int, word: int) -> None:
        name = self.names[offset]
        self.writes.append(name)
        if name == "COMMAND" and word == 4:
            assert not self.values["STATUS"] & BUSY
            self.words = []
            self.values["STATUS"] |= BUSY
            self.values["PROGRAM_STATUS"] = self.values["PROGRAM_STATUS"] & ~7 | TAKES
        elif name == "PROGRAM_DATA":
            self._word(word)
        elif name == "CONTROL" and word & ABORT and self.words is not None:
            self._outcome(TAKES)
        else:
            super().write(offset, word)

    def _word(self, word: int) -> None:
        if self.words is None:
            return
        if len(self.words) == 5 and self.flips:
            word ^= 1
        if len(self.words) == 5 and self.lossy:
            self.lossy = False
            return
        self.words.append(word)
        length = self.length
        if len(self.words) == 1 and word != 0x7AB1F004:
            self._outcome(FORM)
        elif len(self.words) == 2 and word != self.overlay.fingerprint:
            self._outcome(FOREIGN)
        elif tuple(self.words) in self.programs:
            self._run_program(*self.programs[tuple(self.words)])
        elif len(self.words) == length:
            sound = zlib.crc32(struct.pack(f"<{length - 1}I", *self.words[:-1])) == word
            assert not sound, "an image that nobody knows"
            self._outcome(DAMAGED)

    def _run_program(self, image: Image, manifest: dict[str, Any]) -> None:
        self.machine, self.image, self.bytes = CycleModel(image), image, manifest["bus"]["bytes"]
        self.dump_count = manifest["stream"]["dump"]["count"]
        self.type = np.dtype("<i2")
        self.values["FINGERPRINT"] = manifest["bus"]["fingerprint"]
        self.values["STATUS"] &= ~LOADED
        self._outcome(RUNS)
        self.values["PROGRAM_STATUS"] |= 1 << 8

    def _outcome(self, status: int) -> None:
        self.words = None
        self.values["PROGRAM_STATUS"] = self.values["PROGRAM_STATUS"] & ~7 | status
        self.values["STATUS"] = self.values["STATUS"] & ~BUSY | DONE
