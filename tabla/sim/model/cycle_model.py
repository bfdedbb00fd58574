"""The independent cycle model: microcode words in, words and cycles out.

It reads the records in ``templates/machine.td`` and the laws in ``docs/decisions/0003-machine.md`` and shares no code
with the hardware or the assembler. The border gives all cycles of a command. For the time between two tokens, the
issues of all samples in flight are merged into one list. The list is kept and used again whenever the same distances
between tokens come back, so that idle cycles cost nothing.

The border says in which cycles beats are taken, tokens start and output words leave. What happens inside the array
follows each token at fixed distances. So these cycles, which depend on the host's pauses but on no data, decide all
cycles of a command (``docs/decisions/0003-machine.md``, sections 3.6, 3.7, 3.10).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tabla.base import progress
from tabla.program.image import Entry, FirstWords, Image
from tabla.sim.machine import BeatRows, Machine, RunResult, Stalls, as_beats, require_prediction
from tabla.sim.model.datapath import Datapath, Sample
from tabla.sim.model.faults import MachineFault
from tabla.sim.model.lane_units import LANE_MEMORIES, Run, lane_issue, lane_write
from tabla.sim.model.root_units import PORTS, root_issue, root_write
from tabla.sim.model.stream_unit import StreamUnit, check_release
from tabla.sim.model.strict import MemoryLaws
from tabla.sim.model.trace import ORDER, Issue, sample_trace
from tabla.templates.template import timing

CREDIT = 2
"""Cycles from a word leaving to the first token that may use its place (decision 3.10)."""


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The cycles of one command.

    `starts`, `first_words` and `last_words` have an entry for each sample, `leaves` has one for each output word.
    """

    starts: list[int] = field(default_factory=list)
    first_words: list[int] = field(default_factory=list)
    last_words: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The last cycle in which a token starts, a beat is taken or a word leaves; 0 when nothing does."""
        return max((cycles[-1] for cycles in (self.starts, self.last_words, self.leaves) if cycles), default=0)


def _pause(pauses: Sequence[int], index: int) -> int:
    return pauses[index % len(pauses)] if pauses and index else 0


def timeline(
    image: Image,
    *,
    samples: int,
    beats: int,
    period: int,
    outputs: Sequence[int],
    stalls: Stalls,
    origin: int,
    stages: int = 1,
) -> Timeline:
    """Return the cycles of a command of `samples` tokens that begins in cycle `origin`.

    Each sample takes `beats` beats; 0 stands for a program without input. Tokens are at least `period` cycles apart.
    `outputs` has, for each word that a sample puts out, the cycle of its root write counted from the token. Words of
    one write leave one after the other, or several of them in a beat. With more than one of `stages` the controller
    goes on with tokens of no sample while samples are under way. A program whose sample puts out more words than the
    output buffer holds raises MachineFault.
    """
    law = timing()
    depth, together = image.parameters.output_depth, image.parameters.port_words
    waits_for_turn = image.parameters.split_results and together < image.parameters.roots
    to_port = law.broadcast + (law.queue if waits_for_turn else 0)
    if len(outputs) > depth:
        raise MachineFault(f"a sample puts out {len(outputs)} words, the output buffer holds {depth}")
    result = Timeline()
    taken = origin - 1  # cycle of the latest beat
    beat = 0
    for sample in range(samples):
        start = origin
        if beats:
            slot_free = origin
            if sample >= image.parameters.ring_slots:
                slot_free = result.starts[sample - image.parameters.ring_slots] + image.release + 1
            taken = max(taken + 1 + _pause(stalls.inputs, beat), slot_free)
            result.first_words.append(taken)
            if stalls.inputs:
                taken += sum(1 + _pause(stalls.inputs, beat + later) for later in range(1, beats))
            else:
                taken += beats - 1
            result.last_words.append(taken)
            beat += beats
            start = max(start, taken + law.ready)
        # The token needs the place of the word that left `depth` words before its own last one.
        needed = (sample + 1) * len(outputs) - depth - 1
        if outputs and needed >= 0:
            start = max(start, result.leaves[needed] + CREDIT)
        if result.starts:
            start = _following(result.starts[-1], start, period, stages)
        result.starts.append(start)
        for cycle in outputs[::together]:
            shown = start + cycle + to_port
            if result.leaves:
                shown = max(shown, result.leaves[-1] + 1 + _pause(stalls.outputs, len(result.leaves) // together))
            result.leaves += [shown] * together
    return result


def _following(before: int, ready: int, period: int, stages: int) -> int:
    """Return the cycle of the first token of a sample after that of cycle `before`, if it could come in cycle `ready`.

    A sample is under way for the tokens of `stages` - 1 periods after its own. Each of them that finds no sample ready
    is one of no sample, and the token after the last of them may come at any time.
    """
    token = before + period
    for _ in range(stages - 1):
        if ready <= token:
            return token
        token += period
    return max(ready, token)


Event = tuple[int, int, Run, tuple[int, ...], Issue]
"""Cycle counted from the latest token; place of the sample, 0 for the latest; closure; its addresses; the issue."""

_BUILDERS: dict[str, tuple[Callable[[Datapath, Issue], Run], tuple[str, ...]]] = {
    "lane_issue": (lane_issue, LANE_MEMORIES),
    "lane_write": (lane_write, ("address",)),
    "root_issue": (root_issue, PORTS),
    "root_write": (root_write, ("address",)),
}


class _Program:
    """The run program or the dump program, unrolled for one sample and bound to a datapath.

    `words` is the number of words that one writing operation of the root puts out.
    """

    def __init__(self, path: Datapath, image: Image, entry: Entry, *, words: int = 1) -> None:
        self.entry = entry
        self.issues = sample_trace(image, entry)
        self.cycles = [issue.cycle for issue in self.issues]
        self.span = self.cycles[-1] + 1 if self.cycles else 0
        kinds: dict[tuple[object, ...], Run] = {}
        self.runs: list[tuple[Run, tuple[int, ...]]] = []
        for issue in self.issues:
            build, generators = _BUILDERS[issue.kind]
            values = issue.values
            kind = (
                id(issue.operation),
                *(issue.first, issue.last, issue.gate_open, values.get("low"), values.get("high")),
            )
            run = kinds.get(kind)
            if run is None:
                run = kinds[kind] = build(path, issue)
            self.runs.append((run, tuple(values[name] for name in generators)))
        # One operation may put out a word of each root. A queue takes them at once, or else they follow each other.
        queue = image.parameters.split_results
        puts = [i.cycle for i in self.issues if i.unit == "root_write" and i.operation.numbers["to_output"]]
        self.output_cycles = [cycle + (0 if queue else later) for cycle in puts for later in range(words)]
        if len(self.output_cycles) != entry.outputs:
            raise MachineFault(f"a token puts out {len(self.output_cycles)} words, the image says {entry.outputs}")
        if any(after < before + (1 if queue else words) for before, after in pairwise(puts)):
            raise MachineFault("two words leave in one cycle")
        self._merged: dict[tuple[int, ...], list[Event]] = {}
        self.proven: set[tuple[int, ...]] = set()

    def merged(self, length: int, ages: tuple[int, ...]) -> list[Event]:
        """Return the events of the `length` cycles that begin with the latest token.

        `ages[k]` is the number of cycles from the token of the k-th latest sample to the latest token.
        """
        key = (length, *ages)
        found = self._merged.get(key)
        if found is None:
            found = []
            for place, age in enumerate(ages):
                begin, end = bisect_left(self.cycles, age), bisect_left(self.cycles, age + length)
                for number in range(begin, end):
                    run, at = self.runs[number]
                    found.append((self.cycles[number] - age, place, run, at, self.issues[number]))
            found.sort(key=lambda event: (event[0], ORDER[event[4].kind]))
            self._merged[key] = found
        return found


class CycleModel(Machine):
    """The cycle model of the machine with the program `image`.

    A program that breaks a law of the machine raises MachineFault; `strict` adds the checks of the laws on memories.
    """

    def __init__(self, image: Image, *, strict: bool = True) -> None:
        self.image = image
        self.path = Datapath(image.parameters)
        windows = {"data": image.data_window, "root data": image.root_data_window}
        self.laws = MemoryLaws(self.path, windows=windows) if strict else None
        own = image.parameters.roots if image.parameters.split_results else 1
        self._run_program = _Program(self.path, image, image.run, words=own)
        self._dump_program = _Program(self.path, image, image.dump, words=image.parameters.roots)
        self._stream_run = StreamUnit(self.path, image, image.stream_run, self.laws)
        self._stream_load = StreamUnit(self.path, image, image.stream_load, self.laws)
        check_release(image, self._run_program.issues)
        loading_only = self._stream_run.targets() - {"data", "root data"}
        if loading_only:
            raise MachineFault(f"samples are written to {', '.join(sorted(loading_only))}, which only loads may do")
        self._now = 0
        if image.first is not None:
            self._begin_with(image.first)

    def _begin_with(self, first: FirstWords) -> None:
        """Give the memories the words that they have before any load, which are those that a load would write."""
        for name, lanes in first.lanes.items():
            self.path.memories[name][:] = np.array(lanes, dtype=np.int64).T
        for root, words in zip(self.path.roots, first.roots, strict=True):
            root.memories["memory"][:] = words
        self._stream_load.mark_written(0)

    def take_over(self, other: CycleModel) -> None:
        """Take the words and the counters of a machine of the same shape, whose microcode `other` has had until now."""
        for name, rows in other.path.memories.items():
            self.path.memories[name][:] = rows
        for own, root in zip(self.path.roots, other.path.roots, strict=True):
            for name, words in root.memories.items():
                own.memories[name][:] = words
        if self.laws is not None and other.laws is not None:
            self.laws.written = {name: rows.copy() for name, rows in other.laws.written.items()}
            self.laws.root_written = {name: words.copy() for name, words in other.laws.root_written.items()}
        for name in ("lane_overflows", "root_overflows", "domain_errors"):
            setattr(self.path, name, getattr(other.path, name))

    @property
    def cycles(self) -> int:
        """The cycles that have passed since reset."""
        return self._now

    def load(self, beats: BeatRows) -> None:
        """Run the load program once (command 0)."""
        rows = as_beats(beats, self.image.parameters.stream_words, self.image.stream_load.beats)
        self._stream_load.write(rows, 0)
        self._now += len(rows) + timing().ready

    def predict(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Run `samples` samples, and write no model (command 1 with `command_predict`)."""
        require_prediction(self.image)
        self.path.predicting = True
        try:
            return self.run(beats, samples, stalls)
        finally:
            self.path.predicting = False

    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Run `samples` samples (command 1)."""
        entry, each = self.image.run, self.image.stream_run.beats
        rows = as_beats(beats, self.image.parameters.stream_words, samples * each)
        times = timeline(
            self.image,
            samples=samples,
            beats=each,
            period=entry.period,
            outputs=self._run_program.output_cycles,
            stalls=stalls or Stalls(),
            origin=self._now,
            stages=self.image.parameters.stages,
        )
        slots, parameters = self.image.parameters.ring_slots, self.image.parameters

        def sample(number: int) -> Sample:
            slot = number % slots
            if each:
                self._stream_run.write(rows[number * each : (number + 1) * each], slot)
            return Sample(
                number=number,
                lane_window=slot * self.image.data_window,
                root_window=slot * self.image.root_data_window,
            )

        self._execute(self._run_program, times, sample, slots)
        self.path.outputs, outputs = [], self.path.outputs
        self.path.updates, updates = [], self.path.updates
        self._now = times.end + entry.drain + parameters.ring_slots
        return RunResult(
            samples=samples,
            outputs=outputs,
            starts=times.starts,
            first_words=times.first_words,
            last_words=times.last_words,
            updates=sorted(set(updates)),
            leaves=times.leaves,
            counters=self.path.counters(),
            ring_slots=slots,
        )

    def dump(self, count: int) -> list[int]:
        """Return the words of `count` tokens of the dump program (command 2)."""
        entry = self.image.dump
        times = timeline(
            self.image,
            samples=count,
            beats=0,
            period=entry.period,
            outputs=self._dump_program.output_cycles,
            stalls=Stalls(),
            origin=self._now,
        )
        laws, self.laws = self.laws, None  # a dump may read words that nobody wrote
        self.path.dumping = True
        try:
            self._execute(
                self._dump_program, times, lambda n: Sample(number=n, lane_window=n, root_window=n), count or 1
            )
        finally:
            self.path.dumping, self.laws = False, laws
        self.path.outputs, outputs = [], self.path.outputs
        self._now = times.end + entry.drain
        return outputs

    def close(self) -> None:
        """Do nothing: the model holds no process."""

    def _execute(self, program: _Program, times: Timeline, sample_of: Callable[[int], Sample], slots: int) -> None:
        """Run the issues of all tokens in the order of their cycles."""
        self.path.rest()
        starts = times.starts
        flight: list[tuple[int, Sample]] = []  # latest token first
        for number, start in enumerate(starts):
            if not self.path.dumping:
                progress.tell("simulation", number, len(starts), "sample")
            flight = [(start, sample_of(number)), *(s for s in flight if s[0] + program.span > start)]
            length = starts[number + 1] - start if number + 1 < len(starts) else program.span
            length = min(length, program.span)
            ages = tuple(start - token for token, _ in flight)
            events = program.merged(length, ages)
            samples = [sample for _, sample in flight]
            if self.laws is not None and (key := (number % slots, length, *ages)) not in program.proven:
                for offset, age, run, at, issue in events:
                    self.laws.check(issue, start + offset, samples[age])
                    run(start + offset, samples[age], at)
                program.proven.add(key)
            else:
                for offset, age, run, at, _ in events:
                    run(start + offset, samples[age], at)
