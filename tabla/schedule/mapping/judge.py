"""How mappings are compared: each is scheduled exactly by a judge, which tells the figures that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from tabla.schedule.mapping.effort import Effort, weighed
from tabla.schedule.mapping.mapping import Mapping

Merit = tuple[float, int, int, int]
"""The figures by which two schedules are compared, in order; the smaller merit is the better one."""


_UNFIT = 1000.0
"""How many times as much a schedule weighs if the named part does not hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of an exact schedule of a mapping.

    `cycles` is the number of cycles of a sample, `latency` is in cycles, `microcode_words` counts strand and operation
    words, and `too_large` says whether some memory needs more words than the template allows. `further_blocks` counts
    the block RAMs of all lanes and roots beyond the first of each memory, and `blocks` all those of memories of many
    words. The units work on samples of so many `stages` in turns. `waits` has, for each statement of the mapped
    graph, the cycles that the busiest unit stands still right before it.
    """

    cycles: int
    latency: int
    microcode_words: int
    too_large: bool
    further_blocks: int
    waits: tuple[int, ...]
    blocks: int = 0
    stages: int = 1


Judge = Callable[[Mapping, float], Figures | None]
"""Schedules a mapping exactly. It returns None for a mapping that cannot be scheduled, and may return None for one that
takes more cycles a sample than the number that it is given.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A mapping with the figures of its exact schedule."""

    mapping: Mapping
    figures: Figures

    def merit(self, effort: Effort) -> Merit:
        """Weigh a schedule: cycles, then vectors that lanes take as they are made, then latency, then microcode.

        Cycles are multiplied by the price of the array's further roots, sequencers and block RAMs, and of further
        samples that overlap. If the part is named, block RAMs that it has cost nothing. For the objective ``latency``
        the latency comes first, without a price, and the cycles come third.

        A program that does not fit counts twice, because its error tells a user more than a schedule that leaves most
        of the array idle. A schedule that takes more block RAMs than the named part has loses against each that does
        not, and among those that do, the lacking block RAMs count. Words that lanes take straight from the root's
        result make long wires, so they are taken only where they save a cycle.
        """
        template, figures = self.mapping.template, self.figures
        more = effort.root_price * (max(1, template.roots) - 1) + effort.sequencer_price * (template.sequencers - 1)
        excess = 2.0 if figures.too_large else 1.0
        if template.block_rams:
            # Tables of functions and the words that leave take a few block RAMs more.
            lacking = figures.blocks + 2 * max(1, template.roots) + 1 - template.block_rams
            excess *= _UNFIT * (1 + lacking / template.block_rams) if lacking > 0 else 1
        else:
            more += effort.block_price * figures.further_blocks
            more += effort.far_block_price * max(0, figures.blocks - effort.room)
        cycles = weighed(figures.cycles, figures.stages) * (1 + more / template.pes) * excess
        as_made = sum(fit.as_made for fit in self.mapping.fits)
        if effort.objective == "latency":
            return figures.latency * excess, as_made, figures.cycles, figures.microcode_words
        return cycles, as_made, figures.latency, figures.microcode_words

    def aim(self, effort: Effort) -> int:
        """Return the figure that the objective of a search makes small, in cycles."""
        return self.figures.latency if effort.objective == "latency" else self.figures.cycles


def judged(mapping: Mapping, judge: Judge, most: float = inf) -> Judged | None:
    """Schedule a mapping; None if it cannot be scheduled, or perhaps if it takes more than `most` cycles a sample."""
    figures = judge(mapping, most)
    return None if figures is None else Judged(mapping=mapping, figures=figures)


def most_cycles(cycles: float, effort: Effort) -> float:
    """Return beyond how many cycles a mapping need not be judged, if those with more than `cycles` are not wanted.

    Where the latency counts first, a mapping with more cycles may still be the better one.
    """
    return cycles if effort.objective == "throughput" else inf
