"""The accelerator on a board as an engine: commands, beats and results go over a serial line."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from tabla.base.source import TablaError
from tabla.host.link.port import SerialPort
from tabla.host.link.requests import Requests, Status
from tabla.program.image import Image
from tabla.program.protocol import BAUD, MAGIC, OUTPUT_WORDS, LinkShape, PredictRequest, Request, fingerprint
from tabla.sim.machine import BeatRows, Counters, Machine, RunResult, Stalls, Words, as_beats, require_prediction

PREFIX = "serial:"
_FRAME_BYTES = 4096
_READ_WORDS = 4096
_REFUSED_PAUSE = 0.002
_WAITS = 20
"""A board that works answers so many times a second that it does."""
_LARGEST = (1 << 32) - 1


def place_of(engine: str) -> tuple[str, int]:
    """Return the path and the baud rate of ``serial:PATH[@BAUD]``. Any other text is a `TablaError`."""
    path, at, baud = engine.removeprefix(PREFIX).rpartition("@")
    if not at:
        path, baud = baud, str(BAUD)
    if not engine.startswith(PREFIX) or not path or not baud.isascii() or not baud.isdigit():
        raise TablaError(
            f"'{engine}' does not name a serial line",
            hint=f"write {PREFIX}/dev/ttyUSB0, or {PREFIX}/dev/ttyUSB0@115200",
        )
    return path, int(baud)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardResult(RunResult):
    """The outcome of a run on a board, which counts the cycles of some samples only.

    `interval` is the number of cycles between the starts of the last two samples while beats were waiting.
    `first_latency` is the latency of the first sample after a load, in cycles. Both are 0 if the board did not count
    them. The lists of cycles that a simulator fills are empty.
    """

    interval: int
    first_latency: int

    @property
    def latencies(self) -> list[int]:
        """The latency of the first sample, or an empty list."""
        return [self.first_latency] if self.first_latency else []

    @property
    def cycles(self) -> int:
        """Cycles per sample in the steady state."""
        return self.interval


@dataclass(slots=True, kw_only=True, eq=False)
class _Kept:
    """The beats of samples that were sent to the board since the load.

    `parts` is None if the board no longer holds all of them. `beats` is their number. `bytes` is the most
    that a replay has taken on the line, apart from results; it is 0 before the first replay.
    """

    parts: list[Words] | None = field(default_factory=list)
    beats: int = 0
    bytes: int = 0

    def add(self, rows: Words, room: int) -> None:
        """Add beats that were sent. The board has `room` for so many beats in all."""
        self.beats += len(rows)
        if self.parts is not None:
            self.parts.append(rows.copy())
        if self.beats > room:
            self.lose()

    def lose(self) -> None:
        """Note that the board does not hold all beats."""
        self.parts = None

    def holds(self, rows: Words) -> bool:
        """Return whether the board holds exactly these beats."""
        if not self.parts or len(rows) != self.beats:
            return False
        self.parts = [np.concatenate(self.parts)]
        return np.array_equal(self.parts[0], rows)

    def sentence(self, room: int) -> str:
        """Return the sentence of the report; it is empty if every sample was run once."""
        if self.bytes:
            return f"the board keeps the samples: an epoch after the first takes {self.bytes} bytes on the line"
        if self.parts is None:
            return f"every epoch is sent anew: the samples do not fit into the {room:,} beats that the board keeps"
        return ""


def _counters(status: Status) -> Counters:
    return Counters(
        lane_overflows=status.lane_overflows,
        root_overflows=status.root_overflows,
        domain_errors=status.domain_errors,
    )


def greeted(requests: Requests, path: str) -> Status:
    """Reset the board at a path, and return its status. One that speaks another protocol is a `TablaError`."""
    status = requests.reset()
    if status.magic != MAGIC:
        raise TablaError(
            f"the board at '{path}' speaks another version of the protocol", hint="build its bitstream again"
        )
    return status


class SerialMachine(Machine):
    """The board at ``serial:PATH[@BAUD]``, which must hold the microcode of `image`.

    A board that does not answer or holds other microcode, and a line that fails, are a `TablaError`. A board counts as
    gone after so many seconds of `silence`; None leaves that to the link. The line may be open already, as `requests`.
    """

    def __init__(
        self, image: Image, engine: str, silence: float | None = None, requests: Requests | None = None
    ) -> None:
        self.image = image
        self._shape = LinkShape.of(image)
        path, baud = place_of(engine)
        self._requests = requests or Requests(SerialPort(path, baud), silence)
        self._fresh = True
        self._kept = _Kept()
        try:
            self._greet(path)
        except BaseException:
            self._requests.close()
            raise

    def _greet(self, path: str) -> None:
        status = greeted(self._requests, path)
        if status.program != fingerprint(self.image):
            cure = "build a bitstream of this program with the same options, and load it"
            if status.overlay is not None:
                cure = "the board has an overlay: bring the program's image to it with connect_overlay"
            raise TablaError(f"the board at '{path}' holds another program", hint=cure)
        self._buffer = status.buffer
        self._patience = min(status.clock // _WAITS, _LARGEST)

    def load(self, beats: BeatRows) -> None:
        """Send the load command and its beats."""
        each = self.image.stream_load.beats
        rows = as_beats(beats, self.image.parameters.stream_words, each)
        self._ask(Request.LOAD, 1)
        self._send(rows)
        self._rest()
        self._fresh = True
        self._ask(Request.KEEP, 0)
        self._kept = _Kept()

    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Send run commands and the beats of the samples.

        Each command covers as many samples as the buffers of the board hold. So the accelerator does not wait for the
        line within a command, and the cycles that the board counts are those of its steady state.

        If these samples are all that came since the load, and the board still holds them, they are not sent again.
        """
        rows = self._rows(beats, samples, stalls)
        if self.keeps(rows) and (result := self._replay(Request.REPLAY, samples)) is not None:
            return result
        self._kept.add(rows, self._buffer)
        return self._samples(Request.RUN, rows, samples)

    def predict(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Send commands that predict, and the beats of the samples, as `run` does.

        Samples that the board keeps are not sent again. Others take the place of those that the board has kept until
        now: the next run sends its samples, and later runs of the same samples do not.
        """
        require_prediction(self.image)
        rows = self._rows(beats, samples, stalls)
        if self.keeps(rows) and (result := self._replay(PredictRequest.PREDICT_KEPT, samples)) is not None:
            return result
        found = self._samples(PredictRequest.PREDICT, rows, samples)
        self._keep()
        return found

    def _rows(self, beats: BeatRows, samples: int, stalls: Stalls | None) -> Words:
        """Return the beats of samples as an array."""
        if stalls is not None:
            raise ValueError("a board takes no stalls: its line has its own")
        return as_beats(beats, self.image.parameters.stream_words, samples * self.image.stream_run.beats)

    def _keep(self) -> None:
        """Have the board keep the samples that follow, and no others."""
        self._ask(Request.KEEP, 0)
        self._kept = _Kept(bytes=self._kept.bytes)

    def _samples(self, code: Request | PredictRequest, rows: Words, samples: int) -> BoardResult:
        """Send the beats of samples, with as many commands of a code as it takes."""
        each, outputs = self.image.stream_run.beats, self.image.run.outputs
        fresh = self._fresh and code == Request.RUN
        words: list[int] = []
        interval = latency = done = 0
        counters = Counters()
        while done < samples:
            count = 1 if fresh else min(samples - done, self.most)
            status = self._chunk(code, rows[done * each : (done + count) * each], count, count * outputs, words)
            if fresh:
                latency = 1 + (status.last_update or status.last_output)
                fresh = self._fresh = False
            if count > 1:
                interval = status.interval
            counters = _counters(status)
            done += count
        return self._result(samples, words, counters, interval, latency)

    def _result(self, samples: int, words: list[int], counters: Counters, interval: int, latency: int) -> BoardResult:
        return BoardResult(
            samples=samples,
            outputs=words,
            starts=[],
            first_words=[],
            last_words=[],
            updates=[],
            leaves=[],
            counters=counters,
            ring_slots=self.image.parameters.ring_slots,
            interval=interval,
            first_latency=latency,
        )

    @property
    def kept_beats(self) -> int:
        """How many beats of samples the board holds since the load."""
        return self._kept.beats if self._kept.parts else 0

    def keeps(self, beats: BeatRows) -> bool:
        """Return whether the board holds these beats of samples, so that a run of all of them need not send them."""
        return self._kept.holds(as_beats(beats, self.image.parameters.stream_words))

    def _replay(self, code: Request | PredictRequest, samples: int) -> BoardResult | None:
        """Run all samples that the board keeps once more, with the request that has this code. Return None if the board
        no longer holds them.

        Where their outputs do not all fit into the buffer of the board, the accelerator waits for the line, so there is
        no interval.
        """
        before = self._requests.traffic
        if self._requests.ask(code, samples) is None:
            self._kept.lose()
            return None
        reading = self._requests.traffic
        count = samples * self.image.run.outputs
        words = self._read(count)
        resting = self._requests.traffic
        status = self._rest()
        self._check_tokens(status, samples)
        self._kept.bytes = max(self._kept.bytes, self._requests.traffic - resting + reading - before)
        interval = status.interval if count <= OUTPUT_WORDS else 0
        return self._result(samples, words, _counters(status), interval, 0)

    @property
    def remark(self) -> str:
        """A sentence for the report on whether samples are sent once or in every epoch."""
        return self._kept.sentence(self._buffer)

    @property
    def most(self) -> int:
        """The number of samples whose beats and whose outputs both fit into the buffers of the board."""
        each, outputs = self.image.stream_run.beats, self.image.run.outputs
        return max(1, min(self._buffer // max(1, each), OUTPUT_WORDS // max(1, outputs)))

    def _chunk(self, code: Request | PredictRequest, rows: Words, count: int, outputs: int, words: list[int]) -> Status:
        """Run `count` samples with one command of a code, append their `outputs` words to `words`, and return the
        status.
        """
        fits = len(rows) <= self._buffer
        if fits:
            self._send(rows)
        self._ask(code, count)
        if not fits:
            self._send(rows)
        words += self._read(outputs)
        status = self._rest()
        self._check_tokens(status, count)
        return status

    def _check_tokens(self, status: Status, count: int) -> None:
        if status.tokens != count:
            raise _unsound(f"the board ran {status.tokens} samples, not {count}")

    def dump(self, count: int) -> list[int]:
        """Send the dump command and return the words."""
        self._ask(Request.DUMP, count)
        words = self._read(count * self.image.dump.outputs)
        self._rest()
        return words

    def _ask(self, code: Request | PredictRequest, argument: int) -> bytes:
        reply = self._requests.ask(code, argument)
        if reply is None:
            raise _unsound(f"the board refuses request {code.name}")
        return reply

    def _send(self, rows: Words) -> None:
        """Send beats, as fast as the accelerator takes them from the buffer of the board."""
        each = max(1, min(_FRAME_BYTES // self._shape.beat_bytes, self._buffer // 2))
        for first in range(0, len(rows), each):
            part = rows[first : first + each]
            text = packed(part, self.image.parameters.width)
            while self._requests.ask(Request.BEATS, len(part), text) is None:
                if not self._requests.status().busy:
                    raise _unsound("the board has no room for beats, and does nothing")
                time.sleep(_REFUSED_PAUSE)

    def _read(self, count: int) -> list[int]:
        """Read `count` signed words from the board."""
        size, width = self._shape.word_bytes, self.image.parameters.width
        found: list[int] = []
        while len(found) < count:
            part = min(_READ_WORDS, count - len(found))
            text = self._ask(Request.READ, part)
            if len(text) != part * size:
                raise _unsound(f"the board sent {len(text)} bytes for {part} words")
            sheet = np.frombuffer(text, dtype=np.uint8).reshape(part, size).astype(np.int64)
            words = (sheet << (8 * np.arange(size))).sum(axis=1)
            found += (words - ((words >> (width - 1)) << width)).tolist()
        return found

    def _rest(self) -> Status:
        """Wait until no command is under way, and return the status."""
        while (status := self._requests.status(self._patience)).busy:
            pass
        return status

    def close(self) -> None:
        """Close the line. The board keeps its state."""
        self._requests.close()


def _unsound(message: str) -> TablaError:
    """Return the error of a board that answers, but not as a board of `tabla build` does."""
    return TablaError(message, hint="load its bitstream again, and start anew; if it happens again, build it anew")


def packed(rows: Words, width: int) -> bytes:
    """Return beats as bytes. `rows` has shape [beats, words per beat] and holds signed words of `width` bits.

    Each beat takes a whole number of bytes, with word 0 in its lowest bits.
    """
    beats, words = rows.shape
    bits = np.unpackbits(rows.astype("<i8").view(np.uint8).reshape(beats, words, 8), axis=2, bitorder="little")
    return np.packbits(bits[:, :, :width].reshape(beats, words * width), axis=1, bitorder="little").tobytes()
