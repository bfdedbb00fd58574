"""The registers and memories of the array, as the cycle model keeps them.

The model evaluates an operation at once, in the cycle in which it issues. It stores each result with the cycle from
which the hardware shows it. A later operation that reads a register thus finds what the register holds in its cycle.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabla.program.image import Parameters
from tabla.sim.machine import Counters
from tabla.sim.model.faults import MachineFault
from tabla.templates.template import timing

Lanes = npt.NDArray[Any]
"""One integer for each lane: int64, or Python integers where accumulators are wider than 63 bits."""

_COUNTER_LIMIT = (1 << 32) - 1


@dataclass(slots=True, eq=False, kw_only=True)
class Sample:
    """A sample in flight: its number, and the offsets that its ring slot adds to addresses of lanes and of roots."""

    number: int
    lane_window: int = 0
    root_window: int = 0


@dataclass(slots=True, kw_only=True)
class LaneResult:
    """The result of one lane issue, with one number for each lane of its sequencer.

    The accumulators hold their value from cycle `shown` on, and the result registers hold theirs in cycle `due`. Where
    lanes have several sequencers, the results that are marked `up` join the sum of the tree that begins in `shown`.
    """

    shown: int
    due: int
    sample: Sample
    accumulator: Lanes
    last: bool
    up: bool
    words: Lanes | None
    shift: int
    post: str
    negate: bool = False
    wide: bool = False


class Root:
    """The state of one root.

    Reading a register in a cycle in which it holds nothing of the reading sample raises MachineFault.
    """

    def __init__(self, parameters: Parameters, number: int) -> None:
        self.number = number
        self.memories: dict[str, list[int]] = {
            "data": [0] * parameters.root_data_depth,
            "memory": [0] * parameters.root_memory_depth,
        }
        self.rest()

    def rest(self) -> None:
        """Forget everything in flight, as the machine does between commands."""
        self.results: deque[tuple[int, int, Sample, bool]] = deque(maxlen=12)
        self.positions: deque[tuple[int, int, Sample]] = deque(maxlen=12)
        self.accumulator = 0
        self.owner = Sample(number=-1)
        self.functions: dict[int, tuple[int, Sample]] = {}

    def result_at(self, cycle: int, sample: Sample) -> tuple[int, bool]:
        """Return the word in the result register in `cycle`, and whether it has guard bits."""
        for due, word, owner, wide in reversed(self.results):
            if due == cycle and owner is sample:
                return word, wide
        raise MachineFault(f"cycle {cycle}: no result of sample {sample.number} in the root's result register")

    def position_at(self, cycle: int, sample: Sample) -> int:
        """Return the word in the position register in `cycle`, the latest that was put there."""
        for begin, word, owner in reversed(self.positions):
            if begin <= cycle:
                if owner is sample:
                    return word
                break
        raise MachineFault(f"cycle {cycle}: no position of sample {sample.number} in the root's position register")

    def function_at(self, cycle: int, sample: Sample) -> int:
        """Return the word in the function register in `cycle`."""
        found = self.functions.get(cycle)
        if found is None or found[1] is not sample:
            raise MachineFault(f"cycle {cycle}: no value of sample {sample.number} in the function register")
        return found[0]

    def put_function(self, cycle: int, word: int, sample: Sample) -> None:
        """Store a function value that the function register holds in `cycle`; two in one cycle are a MachineFault."""
        if cycle in self.functions:
            raise MachineFault(f"cycle {cycle}: two function pipelines end at once")
        if len(self.functions) > 256:
            # The longest pipeline is far shorter than this many cycles.
            self.functions = {due: entry for due, entry in self.functions.items() if due > cycle - 256}
        self.functions[cycle] = (word, sample)


def _marks(parameters: Parameters, memory: str, depth: int) -> npt.NDArray[np.bool_] | None:
    """Return which words of a memory the lanes have, of shape [depth, PEs]; None if they have all."""
    needed = parameters.needed.get(memory)
    if needed is None:
        return None
    marks = np.zeros((depth, parameters.pes), dtype=np.bool_)
    for lane, ranges in enumerate(needed):
        for begin, end in ranges:
            marks[begin:end, lane] = True
    return marks


class Datapath:
    """The state of lanes, bus, tree and roots; all words are signed integers.

    Lane memories have shape [depth, PEs], so that an address selects a row. Each root has `lanes` lanes, and those of
    root r begin with lane r * `lanes`. An operation that reads where the laws of the machine put nothing raises
    MachineFault.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.pes = parameters.pes
        self.lanes = parameters.lanes
        self.sequencers = parameters.sequencers
        # Products of words always fit 64 bits; sums of them do unless the accumulator is wider.
        self.number: type[np.int64] | type[object] = np.int64 if parameters.accumulator <= 63 else object
        self.guard = parameters.model_guard
        # The limits of words, and of results with guard bits.
        self.limits = {wide: self._limits(parameters.width + wide * self.guard) for wide in (False, True)}
        self.lowest, self.highest = self.limits[False]
        self.one = 1 << parameters.fraction
        pus = parameters.pes // parameters.pes_per_pu
        above = (pus - 1).bit_length() * timing().tree_level
        self.tree_cycles = (parameters.pes_per_pu - 1).bit_length() * timing().tree_level
        self.array_cycles = self.tree_cycles + above
        if parameters.roots == 1:
            self.tree_cycles = self.array_cycles
        self.law = timing()
        self.memories: dict[str, Lanes] = {
            name: np.zeros((depth, self.pes), dtype=self.number) for name, depth in parameters.lane_depths.items()
        }
        self.roots = [Root(parameters, number) for number in range(parameters.roots)]
        self.needed = {name: _marks(parameters, name, depth) for name, depth in parameters.lane_depths.items()}
        self.lane_overflows = 0
        self._last_overflow = -1
        self.root_overflows = 0
        self.domain_errors = 0
        self.updates: list[int] = []
        self.outputs: list[int] = []
        self.dumping = self.predicting = False
        self.rest()

    @staticmethod
    def _limits(width: int) -> tuple[int, int]:
        return -(1 << (width - 1)), (1 << (width - 1)) - 1

    def extra(self, memory: str) -> int:
        """Return by how many bits the numbers in a memory are wider than words. Words lie in their upper bits there."""
        return self.guard if memory in self.parameters.wide_memories else 0

    def fetched(self, memory: str, wide: bool) -> int:
        """Return by how many bits a number from a memory is shifted down to become an operand.

        Only the addend of a wide operation has the guard bits. Where the memory has none it is a MachineFault.
        """
        if wide and not self.extra(memory):
            raise MachineFault(f"an operation takes guard bits from {memory}, which has none")
        return 0 if wide else self.extra(memory)

    def put(self, memory: str, wide: bool) -> int:
        """Return by how many bits a result is shifted up on its way to a memory.

        A wide result that is written to a memory without guard bits is a MachineFault.
        """
        if wide and not self.extra(memory):
            raise MachineFault(f"a result with guard bits is written to {memory}, which has none")
        return 0 if wide else self.extra(memory)

    def rest(self) -> None:
        """Forget everything in flight, as the machine does between commands."""
        zeros: Lanes = np.zeros(self.pes // self.sequencers, dtype=self.number)
        nobody = Sample(number=-1)
        start = LaneResult(
            shown=-1, due=-1, sample=nobody, accumulator=zeros, last=False, up=False, words=zeros, shift=0, post="none"
        )
        # By sequencer; deep enough to look back over the tree.
        depth = self.array_cycles + 12
        self.lane_results: list[deque[LaneResult]] = [deque([start], maxlen=depth) for _ in range(self.sequencers)]
        self.bus: deque[tuple[int, Lanes | int, Sample]] = deque(maxlen=8)
        for root in self.roots:
            root.rest()

    def lanes_of(self, sequencer: int) -> tuple[int, int]:
        """Return the lanes [begin, end) of each group that a sequencer drives."""
        each = self.lanes // self.sequencers
        return sequencer * each, (sequencer + 1) * each

    def columns_of(self, sequencer: int) -> slice:
        """Return the columns of the lane memories that belong to a sequencer's lanes.

        With several roots there is only one sequencer, to which all columns belong.
        """
        return slice(*self.lanes_of(sequencer)) if len(self.roots) == 1 else slice(None)

    def count_lane_overflow(self, cycle: int) -> None:
        """Count `cycle` as one in which lanes overflow, once however many of them do."""
        if cycle != self._last_overflow:
            self._last_overflow = cycle
            self.lane_overflows += 1

    def counters(self) -> Counters:
        """Return the three counters as the hardware's saturating counters of 32 bits show them."""
        return Counters(
            lane_overflows=min(self.lane_overflows, _COUNTER_LIMIT),
            root_overflows=min(self.root_overflows, _COUNTER_LIMIT),
            domain_errors=min(self.domain_errors, _COUNTER_LIMIT),
        )

    def beyond(self, what: str, *, does: str = "reads") -> int:
        """Return what a read beyond the end of a memory gives. `does` says what an operation does there.

        A dump counts through memories of unequal depth, so there it is zero. While the array predicts, labels may be
        any positions, so there it is zero, too. Elsewhere it is a MachineFault.
        """
        if self.dumping or self.predicting:
            return 0
        raise MachineFault(f"{does} {what} words")

    def finish(self, result: LaneResult) -> Lanes:
        """Return the words that a lane issue puts into the result registers, shifted and saturated on first use.

        Rounding has happened in the accumulator. The words of a comparison are there from the start.
        """
        if result.words is None:
            result.words = self.clamp(result.accumulator >> result.shift, result.wide)
        return result.words

    def clamp(self, values: Lanes, wide: bool = False) -> Lanes:
        """Saturate numbers to the range of words, or of words with guard bits if `wide`."""
        lowest, highest = self.limits[wide]
        words: Lanes = np.minimum(np.maximum(values, lowest), highest)
        return words

    def lane_result_at(self, cycle: int, sample: Sample, sequencer: int = 0) -> tuple[Lanes, bool]:
        """Return the words in the result registers of a sequencer's lanes in `cycle`, which must be the sample's, and
        whether they have guard bits.
        """
        for result in reversed(self.lane_results[sequencer]):
            if result.due == cycle and result.sample is sample:
                return self.finish(result), result.wide
            if result.due < cycle:
                break
        raise MachineFault(f"cycle {cycle}: no result of sample {sample.number} in the lanes' result registers")

    def active(self, low: int, high: int) -> slice | npt.NDArray[np.int64]:
        """Return an index that selects the lanes [low, high) of every group out of all lanes."""
        if len(self.roots) == 1:
            return slice(low, high)
        return np.arange(self.pes).reshape(len(self.roots), self.lanes)[:, low:high].reshape(-1)

    def broadcast(self, cycle: int, words: list[int], sample: Sample) -> None:
        """Put one word of each root on the bus of its lanes, from `cycle` on."""
        every = words[0] if len(words) == 1 else np.repeat(np.array(words, dtype=self.number), self.lanes)
        self.bus.append((cycle, every, sample))

    def bus_at(self, cycle: int, sample: Sample) -> Lanes | int:
        """Return the bus word that lanes see in `cycle`; with several roots, the words of all lanes."""
        for shown, word, owner in reversed(self.bus):
            if shown <= cycle:
                if owner is not sample:
                    break
                return word
        raise MachineFault(f"cycle {cycle}: sample {sample.number} has put no word on the bus yet")

    def tree_at(self, cycle: int, sample: Sample, root: int) -> int:
        """Return what a root's tree gives in `cycle`: the sum, least or greatest of its lanes' earlier accumulators."""
        if self.sequencers > 1:
            return self._tree_of_several(cycle, sample)
        result = self._sent(cycle, self.tree_cycles, sample)
        words = [int(word) for word in result.accumulator[root * self.lanes : (root + 1) * self.lanes].tolist()]
        if result.post == "extreme":
            return min(words) if result.negate else max(words)
        return sum(words)

    def array_at(self, cycle: int, sample: Sample) -> int:
        """Return the sum over the lanes of all groups that arrives at the roots in `cycle`."""
        return sum(int(word) for word in self._sent(cycle, self.array_cycles, sample).accumulator.tolist())

    def _sent(self, cycle: int, before: int, sample: Sample) -> LaneResult:
        for result in reversed(self.lane_results[0]):
            if result.shown <= cycle - before:
                if result.sample is not sample or not result.last:
                    break
                return result
        raise MachineFault(f"cycle {cycle}: the tree shows no finished sum of sample {sample.number}")

    def _tree_of_several(self, cycle: int, sample: Sample) -> int:
        """Return what the tree gives in `cycle` where lanes have several sequencers.

        Only the lanes of those sequencers count that show a result marked `up` in the cycle in which the sum begins.
        """
        meeting = [
            result
            for results in self.lane_results
            for result in results
            if result.up and result.shown == cycle - self.tree_cycles
        ]
        if not meeting or any(result.sample is not sample for result in meeting):
            raise MachineFault(f"cycle {cycle}: the tree shows no sum of sample {sample.number} alone")
        if any(result.post == "extreme" for result in meeting):
            raise MachineFault(f"cycle {cycle}: the tree of several sequencers only adds")
        return sum(int(word) for result in meeting for word in result.accumulator.tolist())
