"""Writes the words of beats into memories.

The stream's program becomes arrays of addresses and lanes, so that all words of a sample are written at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabla.program.image import Image, StreamEntry
from tabla.sim.machine import Words
from tabla.sim.model.datapath import Datapath
from tabla.sim.model.faults import MachineFault
from tabla.sim.model.strict import MemoryLaws
from tabla.sim.model.trace import Issue, stream_trace

LANE_TARGETS = {"to_data": "data", "to_model": "model", "to_interim": "interim"}
ROOT_TARGETS = {"to_root_data": "data", "to_root_memory": "memory"}


@dataclass(slots=True, kw_only=True)
class _LanePlaces:
    """The words of a sample that go to one lane memory.

    The lists run in parallel: address and lane of each word, and the beat and the column that it comes from. Words that
    are `wide` have their upper bits in the beat before.
    """

    window: bool
    wide: bool
    addresses: list[int] = field(default_factory=list)
    lanes: list[int] = field(default_factory=list)
    beats: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)


class StreamUnit:
    """One program of the stream, bound to a datapath."""

    def __init__(self, path: Datapath, image: Image, entry: StreamEntry, laws: MemoryLaws | None) -> None:
        self.path, self.image, self.laws = path, image, laws
        lanes: dict[tuple[str, bool, bool], _LanePlaces] = {}
        self.root: list[tuple[str, bool, bool, int, int, tuple[int | None, ...]]] = []
        for beat, issue in enumerate(stream_trace(image, entry)):
            self._lies_in_the_first_block(issue)
            window = issue.operation.generators["address"].window
            wide = bool(issue.operation.numbers.get("wide", 0))
            for flag, memory in LANE_TARGETS.items():
                if issue.operation.numbers[flag]:
                    path.fetched(memory, wide)
                    found = lanes.setdefault((memory, window, wide), _LanePlaces(window=window, wide=wide))
                    self._lane_words(found, issue, beat)
            for flag, memory in ROOT_TARGETS.items():
                if issue.operation.numbers[flag]:
                    path.fetched(f"root {memory}", wide)
                    self.root.append((memory, window, wide, issue.values["address"], beat, self._root_columns(issue)))
        self.lanes = [
            (memory, p.window, p.wide, np.array(p.addresses), np.array(p.lanes), np.array(p.beats), np.array(p.columns))
            for (memory, _, _), p in lanes.items()
        ]

    def _lies_in_the_first_block(self, issue: Issue) -> None:
        """Refuse a block other than 0 where the hardware does not look at it: with one root, word 0 of a beat goes to
        the root, or to all lanes, whatever the block is.
        """
        numbers, block = issue.operation.numbers, issue.values["block"]
        at_root = any(numbers[flag] for flag in ROOT_TARGETS)
        if len(self.path.roots) == 1 and block and (at_root or numbers["all"]):
            raise MachineFault(f"a beat for the root or for all lanes is of block {block}, not of block 0")

    def _lane_words(self, places: _LanePlaces, issue: Issue, beat: int) -> None:
        width = self.image.parameters.stream_words
        everyone, same = (bool(issue.operation.numbers[name]) for name in ("all", "same"))
        for lane in range(self.path.pes):
            group, own = divmod(lane, self.path.lanes)
            # Which of the words that arrive for this address is the lane's.
            word = (0 if same else group) if everyone else own if same else lane
            if word // width == issue.values["block"]:
                places.addresses.append(issue.values["address"])
                places.lanes.append(lane)
                places.beats.append(beat)
                places.columns.append(word % width)

    def _root_columns(self, issue: Issue) -> tuple[int | None, ...]:
        """Return, for each root, the column of its word in the beat; None where the beat has no word for it."""
        width = self.image.parameters.stream_words
        words = (0 if issue.operation.numbers["same"] else root for root in range(len(self.path.roots)))
        return tuple(word % width if word // width == issue.values["block"] else None for word in words)

    def targets(self) -> set[str]:
        """Return the memories that the program writes: data, model, interim, root data, root memory."""
        return {memory for memory, *_ in self.lanes} | {f"root {memory}" for memory, *_ in self.root}

    def write(self, beats: Words, slot: int) -> None:
        """Write the beats of one sample, of shape [beats, S], into ring slot `slot`.

        An address beyond the end of its memory is a MachineFault.
        """
        for memory, window, wide, addresses, lanes, rows, columns in self.lanes:
            places = addresses + slot * self.image.data_window if window else addresses
            self._bounds(memory, int(places.max()), len(self.path.memories[memory]))
            words, has = self._stored(memory, wide, beats, rows, columns), self.path.needed[memory]
            # A word that a lane does not have stays 0.
            self.path.memories[memory][places, lanes] = words if has is None else words * has[places, lanes]
        for memory, window, wide, address, beat, columns_of_roots in self.root:
            place = address + slot * self.image.root_data_window if window else address
            for root, column in zip(self.path.roots, columns_of_roots, strict=True):
                self._bounds(f"root {memory}", place, len(root.memories[memory]))
                if column is not None:
                    root.memories[memory][place] = int(self._stored(f"root {memory}", wide, beats, beat, column))
        self.mark_written(slot)

    def mark_written(self, slot: int) -> None:
        """Tell the laws of the memories that the words of a sample in ring slot `slot` are written."""
        if self.laws is None:
            return
        for memory, window, _, addresses, lanes, _, _ in self.lanes:
            places = addresses + slot * self.image.data_window if window else addresses
            self.laws.written[memory][places, lanes] = True
        for memory, window, _, address, _, _ in self.root:
            self.laws.root_written[memory][address + slot * self.image.root_data_window if window else address] = True

    def _stored(self, memory: str, wide: bool, beats: Words, rows: Any, columns: Any) -> Any:
        """Return what a memory takes of the words of some beats."""
        words = beats[rows, columns]
        if wide:
            guard = self.path.guard
            return (beats[rows - 1, columns] << guard) | (words & ((1 << guard) - 1))
        return words << self.path.extra(memory)

    def _bounds(self, memory: str, address: int, depth: int) -> None:
        if address >= depth:
            raise MachineFault(f"the stream writes {memory} address {address} of {depth} words")


def check_release(image: Image, issues: Sequence[Issue]) -> None:
    """Raise MachineFault when a sample reads its ring slot after the slot is released to the next sample."""
    for issue in issues:
        symbols, generators = issue.operation.symbols, issue.operation.generators
        if issue.kind == "lane_issue":
            reads = generators["data"].window and "data" in (symbols["a"], symbols["b"], symbols["c"])
        elif issue.kind == "root_issue":
            reads = any(generators[port].window and symbols[port] == "data" for port in ("a", "b", "c"))
        else:
            reads = False
        if reads and issue.cycle > image.release:
            raise MachineFault(
                f"{issue.unit} reads its sample {issue.cycle} cycles after the token, "
                f"but the slot is free after {image.release}"
            )
