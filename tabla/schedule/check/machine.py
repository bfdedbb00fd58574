"""The machine over residues: all runs of a program, each evaluated after those of which it takes words or sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np

from tabla.schedule.check.evaluation import Evaluation
from tabla.schedule.check.expected import Events
from tabla.schedule.check.fields import Active
from tabla.schedule.check.residues import PRIME, Counts, Mode, Residues, Sum
from tabla.schedule.check.runs import independent
from tabla.schedule.check.surroundings import Made, Memory
from tabla.schedule.check.wiring import Sources, Wiring
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.regions import ScheduleFault
from tabla.schedule.strands.strand import Strand


@dataclass(slots=True, eq=False)
class Machine:
    """All runs of a program, evaluated in an order in which each finds what it takes.

    `rounded` counts the words whose overflows are counted, `applied` those of the function unit.
    """

    schedule: Schedule
    wiring: Wiring
    memory: Memory
    made: dict[int, Made] = field(default_factory=dict)
    rounded: Events = field(init=False)
    applied: Events = field(init=False)
    groups: int = field(init=False)

    def __post_init__(self) -> None:
        self.groups = max(1, self.schedule.template.roots)
        self.rounded, self.applied = Events.of(self.groups), Events.of(self.groups)
        for number in TopologicalSorter(self.wiring.needs).static_order():
            self.made[number] = Evaluation(self, self.wiring.runs[number]).made()

    @staticmethod
    def of(schedule: Schedule, units: dict[str, tuple[Strand, ...]], memory: Memory) -> Machine:
        """The machine of the programs of all units. Strands of which operations wait for others of the same strand are
        taken apart, into slots where each begins anew, else into iterations.
        """
        cuts: dict[tuple[str, int], str] = {}
        while True:
            wiring = Wiring(units, schedule.template, schedule.format, cuts)
            try:
                TopologicalSorter(wiring.needs).prepare()
            except CycleError as fault:
                runs = [wiring.runs[number] for number in fault.args[1]]
                whole = {(run.unit, run.place): units[run.unit][run.place] for run in runs}
                more = {key: "slots" if independent(strand) else "iterations" for key, strand in whole.items()}
                if more.keys() <= cuts.keys():
                    raise ScheduleFault(f"'{runs[0].strand.comment}' waits for its own words") from None
                cuts |= more
                continue
            return Machine(schedule, wiring, memory)

    def taken(self, sources: Sources) -> Residues:
        """Return the words of some sources, of shape [words, groups, lanes]; the words of a root have one lane."""
        parts = np.unique(sources.runs * 2 + sources.functions).tolist()
        out: Residues | None = None
        for part in parts:
            made, function = self.made[part // 2], bool(part % 2)
            chosen = (sources.runs == part // 2) & (sources.functions == function)
            operations = sources.operations[chosen]
            known, words = (made.value_operations, made.values) if function else (made.word_operations, made.words)
            found: Residues = words[np.searchsorted(known, operations)]
            if len(parts) == 1:
                return found
            if out is None:
                out = np.zeros((len(sources), *found.shape[1:]), dtype=np.int64)
            out[chosen] = found
        return np.zeros((0, 1, 1), dtype=np.int64) if out is None else out

    def sent(self, parts: list[tuple[Active, Sources]], *, everywhere: bool, mode: Mode, name: str) -> Sum:
        """Return the tree's word for the sums that sequencers have sent, of each group or (`everywhere`) of all."""
        count = len(parts[0][0])
        shape = (count, 1 if everywhere else self.groups, 1)
        total, halves = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        counts: Counts = np.zeros(shape, dtype=np.int64)
        for hit, sources in parts:
            for number in np.unique(sources.runs).tolist():
                made, chosen = self.made[number], sources.runs == number
                if mode != "sum" and (everywhere or self.schedule.template.sequencers > 1):
                    raise ScheduleFault(f"'{name}' wants the extreme of lanes where the tree only adds")
                if made.mode != mode:
                    raise ScheduleFault(f"'{name}' adds where lanes compare, or compares where they add")
                at = np.searchsorted(made.sum_operations, sources.operations[chosen])
                rows = np.flatnonzero(hit)[chosen]
                found = made.sums
                for table, held in ((total, found.total), (halves, found.halves), (counts, found.parts)):
                    own = np.broadcast_to(held[at], (len(at), self.groups, 1))
                    table[rows] += own.sum(axis=1, keepdims=True) if everywhere else own
        return Sum(total=total % PRIME, halves=halves % PRIME, parts=counts)
