"""The host's end of the accelerator's ports, one cycle at a time; shared by every engine that Python drives.

Imports nothing of ours: `tabla gen` puts a copy beside the test bench that it writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

RUN, PREDICT = 1, 5
PATIENCE = 2_000_000
"""Cycles without any event at the borders after which a command counts as hung, unless the request knows better."""


@dataclass(kw_only=True)
class Request:
    """A command and what belongs to it.

    `code` is that of the command at the ports, or `PREDICT` for a run that predicts. `beats` holds each beat's
    words packed into one unsigned integer. `sample_beats` of them make a sample; `outputs` words are expected in
    all, `port_words` of them in a beat, each of `width` bits. `input_pauses[j]`, `output_pauses[i]` hold beat j of
    the input and beat i of the output back so many cycles, used in turn, not before the first. After `patience`
    cycles without an event the machine counts as hung.
    """

    code: int
    count: int
    beats: list[int] = field(default_factory=list)
    sample_beats: int = 0
    outputs: int = 0
    input_pauses: list[int] = field(default_factory=list)
    output_pauses: list[int] = field(default_factory=list)
    patience: int = PATIENCE
    port_words: int = 1
    width: int = 32


@dataclass(kw_only=True)
class Observation:
    """What was seen at the ports: unsigned output words, and the cycles of events since reset."""

    outputs: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    first_words: list[int] = field(default_factory=list)
    last_words: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    counters: list[int] = field(default_factory=list)


@dataclass(kw_only=True)
class Inputs:
    """What the host drives in a cycle; `in_data` is meaningless without `in_valid`.

    Only an accelerator that predicts has the input `command_predict`.
    """

    command_valid: int = 0
    command_code: int = 0
    command_count: int = 0
    command_predict: int = 0
    in_valid: int = 0
    in_data: int = 0
    out_ready: int = 0


@dataclass(kw_only=True)
class Outputs:
    """What the accelerator shows in a cycle; `out_data` counts with `out_valid` only."""

    command_ready: int
    in_ready: int
    out_valid: int
    out_data: int
    busy: int
    sample_start: int
    update: int


def _pause(pauses: list[int], index: int) -> int:
    return pauses[index % len(pauses)] if pauses and index else 0


class Host:
    """Plays one request: in each cycle `drive`, then `observe`, until `done`. RuntimeError when the machine hangs."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.seen = Observation()
        self.done = False
        self._accepted = False
        self._beat = 0
        self._input_pause = 0
        self._output_pause = 0
        self._idle = 0

    def drive(self) -> Inputs:
        """The inputs of this cycle."""
        request = self.request
        if not self._accepted:
            return Inputs(
                command_valid=1,
                command_code=RUN if request.code == PREDICT else request.code,
                command_count=request.count,
                command_predict=int(request.code == PREDICT),
            )
        offers = self._beat < len(request.beats) and not self._input_pause
        return Inputs(
            in_valid=int(offers),
            in_data=request.beats[self._beat] if offers else 0,
            out_ready=int(not self._output_pause),
        )

    def observe(self, cycle: int, driven: Inputs, shown: Outputs) -> None:
        """Take in what the machine showed in `cycle` beside the inputs `driven`."""
        seen, request = self.seen, self.request
        self._idle += 1
        if not self._accepted:
            self._accepted = bool(shown.command_ready)
        else:
            # Counting down first makes a pause of n hide exactly the n cycles after the event.
            self._input_pause = max(0, self._input_pause - 1)
            self._output_pause = max(0, self._output_pause - 1)
            if driven.in_valid and shown.in_ready:
                if self._beat % request.sample_beats == 0:
                    seen.first_words.append(cycle)
                self._beat += 1
                if self._beat % request.sample_beats == 0:
                    seen.last_words.append(cycle)
                self._input_pause = _pause(request.input_pauses, self._beat)
                self._idle = 0
            if driven.out_ready and shown.out_valid:
                seen.outputs += self._words(shown.out_data)
                seen.leaves += [cycle] * request.port_words
                self._output_pause = _pause(request.output_pauses, len(seen.outputs) // request.port_words)
                self._idle = 0
            finished = self._beat == len(request.beats) and len(seen.outputs) >= request.outputs
            # `busy` may still be low in the first cycle after the command was taken.
            self.done = finished and not shown.busy and self._idle > 2
        if shown.sample_start:
            seen.starts.append(cycle)
            self._idle = 0
        if shown.update:
            seen.updates.append(cycle)
            self._idle = 0
        if self._idle > request.patience:
            raise RuntimeError(
                f"the machine hangs in cycle {cycle}: command {'taken' if self._accepted else 'not taken'}, "
                f"{self._beat} of {len(request.beats)} beats taken, {len(seen.outputs)} of {request.outputs} words out"
            )

    def _words(self, beat: int) -> list[int]:
        """The words of a beat of the output, the first in the lowest bits."""
        width = self.request.width
        return [(beat >> (k * width)) & ((1 << width) - 1) for k in range(self.request.port_words)]


def request_from(fields: dict[str, Any]) -> Request:
    """A request from its JSON form; beats are hexadecimal there."""
    return Request(**{**fields, "beats": [int(beat, 16) for beat in fields["beats"]]})


def request_fields(request: Request) -> dict[str, Any]:
    """The JSON form of a request."""
    return {**vars(request), "beats": [f"{beat:x}" for beat in request.beats]}
