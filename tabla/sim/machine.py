"""The protocol that every engine implements: the cycle model, each simulator of the hardware, and a board.

A word is a signed integer of the build's format. A beat is one row of S words, which the stream takes in one cycle.
Each engine counts cycles from an origin of its own, so that only differences between cycles mean anything. To
compare two engines, compare their :meth:`RunResult.relative` results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from tabla.base.source import TablaError
from tabla.program.image import Image

Words = npt.NDArray[np.int64]
BeatRows = Words | Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """The cycles for which the host holds back beats in both directions.

    `in_valid` stays low for `inputs[j]` cycles before beat j of a command, and `out_ready` stays low for `outputs[i]`
    cycles before beat i of the output. A tuple that is shorter than the command is repeated, each command begins with
    the first entry, and nothing is held back before the first beat. An empty tuple never pauses.
    """

    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()

    @staticmethod
    def random(seed: int, *, share: float = 0.3, longest: int = 5) -> Stalls:
        """Draw pauses of 1 to `longest` cycles before about `share` (0 to 1) of the beats.

        The same seed gives the same pauses.
        """
        chance = np.random.default_rng(seed)

        def pauses(period: int) -> tuple[int, ...]:
            lengths = chance.integers(1, longest + 1, period) * (chance.random(period) < share)
            return tuple(int(n) for n in lengths)

        # Prime periods of different length, so that the two patterns do not lock.
        return Stalls(inputs=pauses(97), outputs=pauses(89))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What the machine has counted since reset: cycles with a lane overflow, root overflows, and domain errors."""

    lane_overflows: int = 0
    root_overflows: int = 0
    domain_errors: int = 0


# `RunResult.cycles` is a mean over at most so many rounds of the ring of sample slots.
ROUNDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The output words of one run command, and the cycles in which things happened.

    `starts` has the cycle of each sample's token. `first_words` and `last_words` have the cycles in which the first and
    the last beat of each sample were taken; they are empty for a program without input. `updates` has every cycle
    in which a model word was written. `leaves` has the cycle in which each word of `outputs` left the machine; words
    of one beat leave in the same cycle.
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

    @property
    def last_updates(self) -> list[int]:
        """The cycle of each sample's last model write; empty for a program that does not write its model.

        Model writes of samples that overlap interleave, and may share a cycle. But the schedule is static, so each
        sample's last write follows its token after as many cycles as that of the last sample does.
        """
        if not self.updates or not self.starts:
            return []
        return [start + self.updates[-1] - self.starts[-1] for start in self.starts]

    @property
    def last_outputs(self) -> list[int]:
        """The cycle in which each sample's last output word left; empty for a program without outputs."""
        share = len(self.leaves) // self.samples if self.samples else 0
        return self.leaves[share - 1 :: share] if share else []

    def updates_after(self, cycles: Collection[int]) -> bool:
        """Return whether models were written in these cycles after each sample's token, and in no others."""
        return self.updates == sorted({start + cycle for start in self.starts for cycle in cycles})

    @property
    def latencies(self) -> list[int]:
        """The cycles that each sample takes from its first input to its last effect, both ends counted.

        The first input is the sample's first beat, or its token where the program has no input. The last effect is its
        last model write, or its last output word where it writes no model. A beat taken in cycle 3 and a last write in
        cycle 5 are 3 cycles.
        """
        begins = self.first_words or self.starts
        ends = self.last_updates or self.last_outputs
        return [end - begin + 1 for begin, end in zip(begins, ends, strict=False)]

    @property
    def cycles(self) -> int:
        """The cycles from token to token in the steady state, rounded up; 0 for a single sample.

        Where the ring of sample slots limits the machine, samples come in bursts of as many as the ring has slots.
        Therefore this is the mean over the last whole rounds of the ring, at most `ROUNDS` of them. A run that is
        shorter than one round gives the distance of its last two tokens.
        """
        each = self.ring_slots
        samples = min((len(self.starts) - 1) // each, ROUNDS) * each or 1
        return -(-(self.starts[-1] - self.starts[-1 - samples]) // samples) if len(self.starts) > 1 else 0

    def relative(self) -> RunResult:
        """Return the result with cycles counted from its first beat, or from its first token if there is no input."""
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
    """One pass over the data: its number, the result of the run, and the words that were dumped after it."""

    number: int
    result: RunResult
    words: list[int]


class Machine(ABC):
    """An accelerator with its program, run by some engine.

    Use it as a context manager, because simulators hold processes. Its state lives on between calls as it does in the
    hardware: call `load` once, then `run` and `dump` as often as needed.
    """

    image: Image

    @abstractmethod
    def load(self, beats: BeatRows) -> None:
        """Load the model words and constants (command 0); `beats` has shape [stream_load.beats, S]."""

    @abstractmethod
    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Compute `samples` samples (command 1); `beats` has shape [samples * stream_run.beats, S]."""

    def predict(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Run `samples` samples as `run` does, but keep every model word as it is (PREDICT, decision 38).

        The counters then count only what the results need. Raises `TablaError` if the machine does not predict.
        """
        raise TablaError("this machine does not predict", hint="run the samples, and load the models again")

    @abstractmethod
    def dump(self, count: int) -> list[int]:
        """Return the words of `count` tokens of the dump program (command 2), in the order in which they leave."""

    @property
    def kept_beats(self) -> int:
        """How many beats of samples the machine holds from runs before; 0 for a machine that keeps none."""
        return 0

    def keeps(self, beats: BeatRows) -> bool:
        """Return whether the machine holds exactly these beats of samples from runs before.

        If it does, a run of all of them needs no transfer.
        """
        return False

    @property
    def remark(self) -> str:
        """A sentence for the report of a training run; empty if there is nothing to say."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """End the simulator, if there is one; the machine cannot be used afterwards."""

    def epochs(self, beats: BeatRows, samples: int, count: int, dump: int) -> Iterator[Epoch]:
        """Run `count` times over the same samples, and dump `dump` tokens after each run (none for 0)."""
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


def require_prediction(image: Image) -> None:
    """Raise `TablaError` if the array of an image does not take PREDICT."""
    if not image.parameters.predicts:
        raise TablaError(
            f"'{image.parameters.name}' does not predict: only a program that updates models and returns results does",
            hint="name the results with --result; an overlay does not predict",
        )


def as_beats(beats: BeatRows, stream_words: int, expected: int | None = None) -> Words:
    """Return beats as an array of shape [beats, S]; raise ValueError when shape or number are not the program's."""
    rows = np.asarray(beats, dtype=np.int64)
    if rows.size == 0:
        rows = rows.reshape(0, stream_words)
    if rows.ndim != 2 or rows.shape[1] != stream_words:
        raise ValueError(f"beats have shape {rows.shape}, the stream takes rows of {stream_words} words")
    if expected is not None and len(rows) != expected:
        raise ValueError(f"{len(rows)} beats given, the program takes {expected}")
    return rows


def missing_tool(tool: str, engine: str, cure: str) -> TablaError:
    """Return the error of an engine that needs `tool`, which is not installed; `cure` says how to get it."""
    return TablaError(f"engine '{engine}' needs {tool}, which is not installed", hint=cure)
