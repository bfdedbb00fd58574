"""The finished schedule: the strands of all units, the memory map, the borders and the figures."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.work import multiplies
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.frames import Framed, framed
from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.layout import Depths, Layout
from tabla.schedule.strands.leaving import Nest, words_per_write
from tabla.schedule.strands.strand import Strand, by_unit
from tabla.schedule.strands.streams import dump_count
from tabla.templates.template import Template, timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Everything that is known between mapping and microcode.

    Cycles count from the token of a sample, less the front latency. With minibatches, the machine's sample is a step of
    ``graph.samples`` samples of the user, and every figure is one of a step.

    Strands: `strands` are those of a sample, `dump` those that read models back, and `stream_sample` and `stream_load`
    those of the stream. `placed` has the tasks that the strands of a sample come from. `shifts` is the table of shifts;
    from position `wide_from` on they are those of updates of wide models.

    Borders: `stream_words` is the number of words of a beat, `beats` the number of beats of a sample, and `outputs`
    the number of words that a sample sends out, `port_words` of them in a beat. The ring holds `ring_slots` samples,
    and a slot is free `release` cycles after the token. `output_depth` is the depth of the output buffer, in words.

    With more than one of `stages` the units work on so many samples in turns (:mod:`tabla.schedule.placing.frames`).

    Figures, in cycles: `initiation_interval` is what the array allows between tokens. `cycles` is what a sample takes
    in steady state, with its stream. `latency` goes from the first beat to the last update, or to the last word out.
    `end` is the last cycle of any write.

    `graph` is the program before the legalising passes.
    """

    graph: Graph
    mapping: Mapping
    layout: Layout
    format: Format
    shifts: tuple[int, ...]
    wide_from: int
    placed: tuple[Placed, ...]
    strands: tuple[Strand, ...]
    dump: tuple[Strand, ...]
    stream_sample: tuple[Strand, ...]
    stream_load: tuple[Strand, ...]
    stream_words: int
    ring_slots: int
    initiation_interval: int
    stages: int
    release: int
    beats: int
    outputs: int
    output_depth: int
    port_words: int
    end: int
    cycles: int
    latency: int

    @property
    def mapped(self) -> Graph:
        """The legal graph that one tap group runs."""
        return self.mapping.graph

    @property
    def constants(self) -> Map[str, NDArray[np.int64]]:
        """The words of the constants of the legal graph, by tensor."""
        return self.mapping.graph.words

    @property
    def template(self) -> Template:
        """The array, its number of roots and sequencers chosen."""
        return self.mapping.template

    @property
    def depths(self) -> Depths:
        """The words used of each memory."""
        return self.layout.depths

    def per_sample(self, figure: int) -> int | float:
        """Return a figure of a step as one of a sample: whole where it divides, else with three decimals."""
        samples = self.graph.samples
        return figure // samples if figure % samples == 0 else round(figure / samples, 3)

    @property
    def update_cycles(self) -> tuple[int, ...]:
        """The cycles after a sample's token in which words of models are written, in order, each once."""
        writes = (
            strand.cycles(slot)
            for strand in self.strands
            for slot, operation in enumerate(strand.body)
            if strand.unit.endswith("write") and operation.field("model")
        )
        return tuple(sorted({timing().front + int(cycle) for cycles in writes for cycle in cycles}))

    @property
    def multiplies(self) -> int:
        """The number of multiplies of a sample (:mod:`tabla.graph.work`)."""
        return multiplies(self.graph, self.format)

    @property
    def utilisation(self) -> float:
        """The multiplies of a sample as a fraction of the multiplications that the lanes could do in its cycles."""
        return self.multiplies / (self.template.pes * self.cycles)

    @property
    def dump_count(self) -> int:
        """The number of tokens of a dump that bring back every model."""
        return dump_count(self.layout)

    @property
    def dump_period(self) -> int:
        """The cycles between two tokens of a dump: the words of all roots leave after the last operation of a token."""
        return max(s.end for s in self.dump) + max(1, self.template.roots) - 1

    @property
    def split_results(self) -> bool:
        """Whether each tap group has its part of some result."""
        return words_per_write(self.mapped, self.template) > 1

    @property
    def beats_out(self) -> int:
        """The number of beats in which the words of a sample leave."""
        return self.outputs // self.port_words

    @property
    def departures(self) -> list[tuple[str, tuple[Nest, ...]]]:
        """The names of results in the order in which their words leave, each with the elements that leave then.

        A name may come several times, for parts of a result. Without elements, all of them leave, row-major.
        """
        begin = {
            p.start
            + min(
                strand.start
                for strand in p.task.strands
                if strand.unit == "root_write" and any(o.field("to_output") for o in strand.body)
            ): (p.task.shows, p.task.leaves)
            for p in self.placed
            if p.task.shows
        }
        return [departure for _, departure in sorted(begin.items())]

    @property
    def units(self) -> dict[str, tuple[Strand, ...]]:
        """The strands of a sample by unit, in the order of their start cycles."""
        return by_unit(self.strands, self.template.sequencers)

    @property
    def frames(self) -> dict[str, tuple[Framed, ...]]:
        """The strands of a sample by unit, in the order in which the unit runs them between two tokens."""
        return {unit: framed(strands, self.initiation_interval) for unit, strands in self.units.items()}

    @property
    def microcode_words(self) -> int:
        """The number of strand words and operation words; a strand of several sequencers counts for each of them."""
        units = [*by_unit((*self.strands, *self.dump), self.template.sequencers).values()]
        return sum(1 + len(s.body) for strands in (*units, self.stream_sample, self.stream_load) for s in strands)

    @property
    def model_words(self) -> int:
        """The words of model memory that each PE needs."""
        return self.depths.model

    def text(self) -> str:
        """Return the schedule as text, for people and golden tests."""
        lines = [
            f"schedule {self.graph.name}: {self.template.pes} PEs, {self.format}, {self.stream_words} words a beat",
            f"cycles {self.cycles} (period {self.initiation_interval}, {self.beats} beats, ring of {self.ring_slots})",
            f"latency {self.latency}",
        ]
        for unit, strands in self.units.items():
            lines.append(f"{unit}:")
            for s in strands:
                nest = "x".join(str(c) for c in s.counts) or "1"
                every = f" every {s.interval}" if s.interval > 1 else ""
                fold = f" sum {s.reduce}" if s.reduce else ""
                lines.append(f"  {s.start:6d} .. {s.end:6d}  {nest}{every}{fold}  {s.comment}")
        return "\n".join(lines) + "\n"
