"""Checks, while a program runs, that it keeps the laws on memories.

No operation may read a word in the cycle that writes it, or a word that was never written, or another sample's
words in the rings of data. Whether it does depends on control only, never on data. So the cycle model checks each
arrangement of samples in flight the first time that it meets it. Where a gathered operand is read, and where a
scattered write goes, data decide, so these laws do not look at either.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabla.sim.model.datapath import Datapath, Sample
from tabla.sim.model.faults import MachineFault
from tabla.sim.model.lane_units import LANE_MEMORIES, active_lanes, address_with_window
from tabla.sim.model.root_units import PORTS
from tabla.sim.model.trace import Issue
from tabla.templates.template import function_kinds


class MemoryLaws:
    """Records which words were written, and which are read in the current cycle.

    The arrays of written words have shape [depth, lanes] for lane memories and [depth] for the memories of a root.
    Groups use the same addresses in the same cycles, so that the first root stands for all.

    `windows` gives, for each memory that is a ring, how many words a sample has in it. No sample may read beyond
    its own words: what lies there depends on when the stream brings the next sample.
    """

    def __init__(self, path: Datapath, *, windows: Mapping[str, int]) -> None:
        self.path = path
        self.windows = windows
        self.written = {name: np.zeros(rows.shape, dtype=np.bool_) for name, rows in path.memories.items()}
        for name, has in path.needed.items():
            if has is not None:
                # Idle lanes may read words that they do not have, which are 0.
                self.written[name] |= ~has
        self.root_written = {
            name: np.zeros(len(words), dtype=np.bool_) for name, words in path.roots[0].memories.items()
        }
        self.cycle = -1
        self.reads: list[tuple[str, int, int, int]] = []

    def check(self, issue: Issue, cycle: int, sample: Sample) -> None:
        """Check one issue in its cycle and raise MachineFault when it breaks a law.

        Issues must come in the order of their cycles, and within a cycle reads must come before writes.
        """
        if cycle != self.cycle:
            self.cycle, self.reads = cycle, []
        match issue.kind:
            case "lane_issue":
                self._lane_reads(issue, sample)
            case "root_issue":
                self._root_reads(issue, sample)
            case "lane_write":
                self._lane_writes(issue, sample)
            case "root_write":
                self._root_write(issue, sample)

    def _address(self, issue: Issue, generator: str, offset: int) -> int:
        window, mask = address_with_window(issue, generator)
        return (issue.values[generator] + offset) & mask if window else issue.values[generator]

    def _lane_reads(self, issue: Issue, sample: Sample) -> None:
        symbols = issue.operation.symbols
        low, high = active_lanes(issue, self.path)
        used = {symbols["a"], symbols["b"]} if issue.gate_open and symbols["a"] != "zero" else set()
        if issue.first and symbols["base"] == "addend":
            used.add(symbols["c"])
        for memory in LANE_MEMORIES:
            if memory in used and low < high:
                self._own(memory, issue, memory, sample)
                address = self._address(issue, memory, sample.lane_window)
                self.reads.append((memory, address, low, high))
                written = self.written[memory]
                # Addresses beyond the memory are the datapath's to report.
                if address < len(written) and not written[address, low:high].all():
                    self._never(f"{memory} word {address}", sample)

    def _root_reads(self, issue: Issue, sample: Sample) -> None:
        symbols = issue.operation.symbols
        ports = {"a", "b"} if issue.gate_open and symbols["a"] != "zero" else set()
        if issue.first and symbols["base"] == "addend":
            ports.add("c")
        divide = [t.code for t in self.path.parameters.functions if function_kinds()[t.kind].divides]
        if issue.last and issue.operation.numbers["function"] in divide:
            ports.add("b")
        for port in PORTS:
            memory = symbols[port]
            if port in ports and memory in self.root_written:
                self._own(f"root {memory}", issue, port, sample)
                address = self._address(issue, port, sample.root_window)
                self.reads.append((f"root {memory}", address, 0, 1))
                words = self.root_written[memory]
                if address < len(words) and not words[address]:
                    self._never(f"root {memory} word {address}", sample)

    def _lane_writes(self, issue: Issue, sample: Sample) -> None:
        low, high = active_lanes(issue, self.path)
        address = self._address(issue, "address", sample.lane_window)
        for memory in ("model", "interim"):
            if issue.operation.numbers[f"to_{memory}"]:
                self._collide(memory, address, low, high)
                self.written[memory][address : address + 1, low:high] = True

    def _root_write(self, issue: Issue, sample: Sample) -> None:
        numbers = issue.operation.numbers
        if numbers["to_memory"] and not numbers.get("scattered", 0):
            address = self._address(issue, "address", sample.root_window)
            self._collide("root memory", address, 0, 1)
            self.root_written["memory"][address : address + 1] = True

    def _own(self, memory: str, issue: Issue, generator: str, sample: Sample) -> None:
        word = issue.values[generator]
        own = self.windows.get(memory)
        if own is not None and address_with_window(issue, generator)[0] and word >= own:
            what = f"{memory} word {word} of its own {own}"
            raise MachineFault(f"cycle {self.cycle}: sample {sample.number} reads {what}")

    def _collide(self, memory: str, address: int, low: int, high: int) -> None:
        for read, where, start, end in self.reads:
            if read == memory and where == address and max(low, start) < min(high, end):
                raise MachineFault(f"cycle {self.cycle}: {memory} word {address} is read in the cycle that writes it")

    def _never(self, what: str, sample: Sample) -> None:
        raise MachineFault(f"cycle {self.cycle}: sample {sample.number} reads {what}, which was never written")
