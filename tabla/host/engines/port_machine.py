"""What the engines that drive the accelerator's ports share.

Commands become requests to the ports, and what is seen at the ports becomes results.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from tabla.host.engines.host_loop import PREDICT, RUN, Observation, Request
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_words import Status, program_words
from tabla.sim.machine import BeatRows, Counters, Machine, RunResult, Stalls, Words, as_beats, require_prediction

LOAD, DUMP, PROGRAM = 0, 2, 3
PROGRAM_PATIENCE = 64
"""The cycles after its last word in which an overlay says what became of an image."""


def pack(rows: Words, width: int) -> list[int]:
    """Pack beats of signed words, shape [n, S], into one unsigned integer each; word 0 has the lowest bits."""
    mask = (1 << width) - 1
    packed = []
    for row in rows.tolist():
        value = 0
        for word in reversed(row):
            value = value << width | (word & mask)
        packed.append(value)
    return packed


def signed(words: list[int], width: int) -> list[int]:
    """Read the port's unsigned words of `width` bits as signed ones."""
    found = np.array(words, dtype=np.int64)
    return [int(word) for word in found - ((found >> (width - 1)) << width)]


class PortMachine(Machine):
    """A machine that is reached through its ports only; an engine implements `_command`.

    With an `overlay` the hardware is that of the overlay. It has no program until `program` gives it one, and then
    takes one after the other.
    """

    def __init__(self, image: Image, overlay: Overlay | None = None) -> None:
        self.image, self.overlay = image, overlay

    @property
    def content(self) -> Image | Overlay:
        """What the hardware is built for."""
        return self.image if self.overlay is None else self.overlay

    def program(self, image: Image) -> None:
        """Load another image, between two commands. The models have to be loaded after it."""
        assert self.overlay is not None, "hardware that is built for one program takes no other"
        status, _ = self.send(program_words(image, self.overlay))
        if status != Status.RUNS:
            raise AssertionError(f"the overlay refuses the image: {status.name}")
        self.image = image

    def send(self, words: Sequence[int]) -> tuple[Status, int]:
        """Give an overlay the words of an image. Return what became of it, and the cycles that it took."""
        seen = self._program(list(words))
        return Status(seen.outputs[0]), seen.leaves[0] - seen.starts[0]

    @abstractmethod
    def _program(self, words: list[int]) -> Observation:
        """Give the words of an image to the overlay, one after the other.

        What is seen is the status as the only word of `outputs`, and the cycles of the first and the last step.
        """

    @abstractmethod
    def _command(self, request: Request, rows: Words) -> Observation:
        """Play one command. `rows` are its beats, shape [n, S], so that each engine may pack them in its own way."""

    def _patience(self, stalls: Stalls) -> int:
        """Return a number of cycles that never pass without an event at the ports, unless the machine hangs."""
        image = self.image
        quiet = max(image.run.drain, image.dump.drain, image.run.period, image.dump.period, image.release)
        return 10_000 + 4 * quiet + max((*stalls.inputs, *stalls.outputs), default=0)

    def _play(self, code: int, count: int, rows: Words, each: int, outputs: int, stalls: Stalls) -> Observation:
        request = Request(
            code=code,
            count=count,
            sample_beats=each,
            outputs=outputs,
            input_pauses=list(stalls.inputs),
            output_pauses=list(stalls.outputs),
            patience=self._patience(stalls),
            port_words=self.image.parameters.port_words,
            width=self.image.parameters.width,
        )
        seen = self._command(request, rows)
        tokens = 0 if code == LOAD else count
        if (len(seen.starts), len(seen.outputs)) != (tokens, outputs):
            raise AssertionError(
                f"command {code} gave {len(seen.starts)} tokens and {len(seen.outputs)} words, "
                f"not {tokens} and {outputs}"
            )
        return seen

    def load(self, beats: BeatRows) -> None:
        """Load the model words and constants (command 0)."""
        each = self.image.stream_load.beats
        self._play(LOAD, 1, as_beats(beats, self.image.parameters.stream_words, each), each, 0, Stalls())

    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Run `samples` samples (command 1)."""
        return self._samples(RUN, beats, samples, stalls)

    def predict(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Run `samples` samples, and write no model (command 1 with `command_predict`)."""
        require_prediction(self.image)
        return self._samples(PREDICT, beats, samples, stalls)

    def _samples(self, code: int, beats: BeatRows, samples: int, stalls: Stalls | None) -> RunResult:
        each = self.image.stream_run.beats
        rows = as_beats(beats, self.image.parameters.stream_words, samples * each)
        seen = self._play(code, samples, rows, each, samples * self.image.run.outputs, stalls or Stalls())
        lane_overflows, root_overflows, domain_errors = seen.counters
        return RunResult(
            samples=samples,
            outputs=signed(seen.outputs, self.image.parameters.width),
            starts=seen.starts,
            first_words=seen.first_words,
            last_words=seen.last_words,
            updates=seen.updates,
            leaves=seen.leaves,
            counters=Counters(
                lane_overflows=lane_overflows, root_overflows=root_overflows, domain_errors=domain_errors
            ),
            ring_slots=self.image.parameters.ring_slots,
        )

    def dump(self, count: int) -> list[int]:
        """Return the words of `count` tokens of the dump program (command 2)."""
        rows = as_beats([], self.image.parameters.stream_words)
        seen = self._play(DUMP, count, rows, 0, count * self.image.dump.outputs, Stalls())
        return signed(seen.outputs, self.image.parameters.width)
