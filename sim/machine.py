"""One machine, many engines: what the cycle model and every simulator of the Verilog offer.

Words are signed integers of the build's format. A beat is one row of S words. Cycles are counted from an origin of
the engine's own choosing; only differences mean anything, so compare :meth:`RunResult.relative` results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from tabla.program.image import Image
from tabla.source import TablaError

Words = npt.NDArray[np.int64]
BeatRows = Words | Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """Pauses of the host, in cycles, used in turn and from the start in every command.

    `inputs[j]`: `in_valid` stays low so long before beat j (counted over the command; not before the first).
    `outputs[i]`: `out_ready` stays low so long before word i (not before the first). An empty tuple never pauses.
    """

    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()

    @staticmethod
    def random(seed: int, *, share: float = 0.3, longest: int = 5) -> Stalls:
        """Pauses before about `share` of the words, each 1 to `longest` cycles."""
        chance = np.random.default_rng(seed)

        def pauses(period: int) -> tuple[int, ...]:
            lengths = chance.integers(1, longest + 1, period) * (chance.random(period) < share)
            return tuple(int(n) for n in lengths)

        # Prime periods of different length, so that the two patterns do not lock.
        return Stalls(inputs=pauses(97), outputs=pauses(89))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The machine's counters since reset."""

    lane_overflows: int = 0
    root_overflows: int = 0
    domain_errors: int = 0


# Rounds of the ring over which cycles are taken.
ROUNDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run gave and when.

    `starts`: cycle of each sample's token. `first_words`, `last_words`: cycles in which a sample's first and last beats
    were taken (empty for programs without input). `updates`: each cycle in which a model word was written. `leaves`:
    cycle in which each word of `outputs` left.
    """

    samples: int
    outputs: list[int]
    starts: list[int]
    first_words: list[int]
    last_words: list[int]
    updates: list[int]
    leaves: list[int]
    counters: Counters
    ring_slots: int

    def _last_of_sample(self, cycles: list[int]) -> list[int]:
        share, left = divmod(len(cycles), self.samples) if self.samples else (0, 0)
        if left:
            raise ValueError(f"{len(cycles)} events do not divide among {self.samples} samples")
        return cycles[share - 1 :: share] if share else []

    @property
    def last_updates(self) -> list[int]:
        """Cycle of each sample's last model write; empty without updates."""
        return self._last_of_sample(self.updates)

    @property
    def last_outputs(self) -> list[int]:
        """Cycle in which each sample's last output word left; empty without outputs."""
        return self._last_of_sample(self.leaves)

    @property
    def latencies(self) -> list[int]:
        """Cycles from each sample's first word (or token, without input) to its last update, or else last output.

        Both ends count: a word taken in cycle 3 and a last update in cycle 5 are 3 cycles.
        """
        begins = self.first_words or self.starts
        ends = self.last_updates or self.last_outputs
        return [end - begin + 1 for begin, end in zip(begins, ends, strict=False)]

    @property
    def cycles(self) -> int:
        """Cycles from token to token in the steady state, rounded up; 0 for a single sample.

        Where the ring binds, as many samples as it has slots come in a burst: the mean over the last whole rounds
        counts, at most `ROUNDS` of them. Runs shorter than a round show the last two samples.
        """
        each = self.ring_slots
        samples = min((len(self.starts) - 1) // each, ROUNDS) * each or 1
        return -(-(self.starts[-1] - self.starts[-1 - samples]) // samples) if len(self.starts) > 1 else 0

    def relative(self) -> RunResult:
        """The same with cycles counted from the first word taken (or the first token)."""
        origin = (self.first_words or self.starts or [0])[0]

        def shifted(cycles: list[int]) -> list[int]:
            return [cycle - origin for cycle in cycles]

        return replace(
            self,
            starts=shifted(self.starts),
            first_words=shifted(self.first_words),
            last_words=shifted(self.last_words),
            updates=shifted(self.updates),
            leaves=shifted(self.leaves),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One pass over the data and the machine's words after it."""

    number: int
    result: RunResult
    words: list[int]


class Machine(ABC):
    """An accelerator with its program, on some engine. Use it as a context manager: simulators hold processes.

    State lives on between calls, as in the hardware: `load` once, then `run` and `dump` as often as wanted.
    """

    image: Image

    @abstractmethod
    def load(self, beats: BeatRows) -> None:
        """Command 0. `beats`: shape [stream_load.beats, S]."""

    @abstractmethod
    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Command 1. `beats`: shape [samples * stream_run.beats, S]."""

    @abstractmethod
    def dump(self, count: int) -> list[int]:
        """Command 2: all words of `count` tokens of the dump program, in order."""

    @abstractmethod
    def close(self) -> None:
        """Ends the simulator, if there is one; the machine is of no use afterwards."""

    def epochs(self, beats: BeatRows, samples: int, count: int, dump: int) -> Iterator[Epoch]:
        """`count` runs over the same samples, each followed by a dump of `dump` tokens (0: none)."""
        rows = as_beats(beats, self.image.parameters.stream_words)
        for number in range(count):
            result = self.run(rows, samples)
            yield Epoch(number=number, result=result, words=self.dump(dump) if dump else [])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def as_beats(beats: BeatRows, stream_words: int, expected: int | None = None) -> Words:
    """Beats as an array [beats, S]; ValueError when the shape or the number is not the program's."""
    rows = np.asarray(beats, dtype=np.int64)
    if rows.size == 0:
        rows = rows.reshape(0, stream_words)
    if rows.ndim != 2 or rows.shape[1] != stream_words:
        raise ValueError(f"beats have shape {rows.shape}, the stream takes rows of {stream_words} words")
    if expected is not None and len(rows) != expected:
        raise ValueError(f"{len(rows)} beats given, the program takes {expected}")
    return rows


def missing_tool(tool: str, engine: str, cure: str) -> TablaError:
    """The fault of an engine whose simulator is not installed."""
    return TablaError(f"engine '{engine}' needs {tool}, which is not installed", hint=cure)
