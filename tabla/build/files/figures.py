"""The figures of a build. ``tabla gen`` prints them, and the manifest begins with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tabla.build.files.costs import Costs, costs
from tabla.build.files.report_page import report_html
from tabla.graph.program_text import Locate, as_it_is
from tabla.schedule.bound import Bound
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.streams import beats_of

SCHEMA = "tabla-report-1"
ROOT_COPIES = 3  # a root keeps a copy of its memory for each of three operands (decision 3, section 3.5)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BuildReport:
    """The figures of a build.

    `cycles` is the number of cycles per sample in the steady state. `bound` is a lower bound on it: the largest of the
    `bound_terms` that :func:`tabla.schedule.bound.quick` gives. `ratio` is `cycles` divided by `bound`. `latency` is
    the number of cycles from the first word of a sample to its last update or result. `multiplies` counts the products
    of a sample, and `utilisation` is their share of the multiplier slots of the lanes, from 0 to 1. With minibatches,
    `cycles`, `bound`, `bound_terms` and `multiplies` are those of a step divided by its samples, while `latency` and
    `costs` are those of a step.

    `model_words`, `data_words` and `interim_words` are the depths of the memories of each PE. `memory_bits` adds up the
    memories of all PEs and of all roots. `stream_words` is the number of words per beat, the words that the input port
    takes in one cycle. `busiest` names the part of the machine that works in the most cycles, and `busy` is their share
    of all cycles, from 0 to 1.

    `model_guard` is the number of guard bits of wide models. `load_cycles` and `dump_cycles` are what loading the
    models and reading them back takes, with a beat every cycle. These three are given where there are guard bits.

    `output_words` is the number of words that leave in one cycle, and is given where there are several. `stages` is the
    number of samples that the units work on in turns, and is given where they overlap.
    """

    name: str
    format: str
    pes: int
    pes_per_pu: int
    roots: int
    minibatch: int
    cycles: int | float
    latency: int
    bound: int | float
    ratio: float
    multiplies: int | float
    utilisation: float
    bound_terms: Mapping[str, int | float]
    microcode_words: int
    model_words: int
    data_words: int
    interim_words: int
    memory_bits: int
    stream_words: int
    busiest: str
    busy: float
    costs: Costs
    model_guard: int = 0
    load_cycles: int = 0
    dump_cycles: int = 0
    output_words: int = 1
    stages: int = 1

    def __repr__(self) -> str:
        array = f"{self.pes} PEs, {self.format}"
        return f"<BuildReport {self.name}: {array}, {self.cycles} cycles per sample, {self.ratio:.2f} times the bound>"

    def _repr_html_(self) -> str:
        return report_html(self.name, self.numbers(), self.costs)

    @property
    def binding(self) -> str:
        """The name of the largest term of the bound."""
        return max(sorted(self.bound_terms), key=lambda term: self.bound_terms[term])

    def text(self) -> str:
        """Return what ``tabla gen`` prints."""
        array = f"{self.pes} PEs, {self.pes_per_pu} per PU"
        array += f", {self.roots} roots" if self.roots > 1 else ""
        beats_out = f" in, {self.output_words} out" if self.output_words > 1 else ""
        terms = ", ".join(f"{name} {cycles}" for name, cycles in self.bound_terms.items())
        steps = f"; a step takes {self.minibatch} samples" if self.minibatch > 1 else ""
        lane = f"per PE {self.model_words} of model, {self.data_words} of data, {self.interim_words} interim"
        return "\n".join(
            [
                f"{self.name}: {array}, {self.format}, words per beat: {self.stream_words}{beats_out}",
                f"cycles       {self.cycles} per sample, {self.ratio:.2f} times the bound{steps}",
                f"bound        {self.bound}, set by {self.binding} ({terms})",
                f"latency      {self.latency}" + self._overlapping,
                f"multiplies   {self.multiplies} per sample, {100 * self.utilisation:.1f} % of the multipliers' slots",
                f"busiest      {self.busiest}, {100 * self.busy:.1f} % of the cycles",
                f"lanes        {self.costs.headline}",
                f"words        {self.microcode_words} of microcode; {lane}; {self.memory_bits:,} bits in all",
                *([self._models()] if self.model_guard else []),
            ]
        )

    @property
    def _overlapping(self) -> str:
        many = f"; the units work on {self.stages} samples in turns (--objective latency: on one)"
        return many if self.stages > 1 else ""

    def _models(self) -> str:
        guard = f"{self.model_guard} guard bit{'s' * (self.model_guard > 1)}"
        return f"models       {guard}; a load takes {self.load_cycles} cycles, a dump {self.dump_cycles}"

    def as_json(self) -> dict[str, Any]:
        """Return what ``tabla gen --json`` writes."""
        statements = [cost.as_json() for cost in self.costs.statements]
        more = {"binding": self.binding, "idle_cycles": self.costs.idle, "statements": statements}
        return {"schema": SCHEMA, **self.numbers(), **more}

    def numbers(self) -> dict[str, Any]:
        """Return all figures but the costs, by name. Ratios are rounded to six digits."""
        fields = asdict(self)
        del fields["costs"]
        if not self.model_guard:
            for name in ("model_guard", "load_cycles", "dump_cycles"):
                del fields[name]
        if self.output_words == 1:
            del fields["output_words"]
        if self.stages == 1:
            del fields["stages"]
        fields["bound_terms"] = dict(self.bound_terms)
        rounded = {name: round(getattr(self, name), 6) for name in ("ratio", "utilisation", "busy")}
        return {**fields, **rounded}


def busiest(schedule: Schedule, bound: Bound) -> tuple[str, int]:
    """Return the part of the machine that works in the most cycles of a sample, and the number of these cycles.

    If several parts are equally busy, the first in the order below is returned.
    """
    units = {unit: sum(strand.length for strand in strands) for unit, strands in schedule.units.items()}
    taken = {
        "the lanes": max((cycles for unit, cycles in units.items() if unit.startswith("lane_issue")), default=0),
        "the root": units.get("root_issue", 0),
        "the function unit": bound.terms["functions"],
        "words in": schedule.beats,
        "words out": schedule.beats_out,
    }
    name = max(taken, key=lambda each: taken[each])
    return name, taken[name]


def figures(schedule: Schedule, bound: Bound, locate: Locate = as_it_is) -> BuildReport:
    """Return the figures of a schedule, compared with a lower bound for its graph and array.

    `locate` leads from the places in the text that the front end has read to those in the file.
    """
    depths, slots = schedule.depths, schedule.ring_slots
    words = schedule.template.pes * (depths.model + depths.data * slots + depths.interim)
    name, cycles = busiest(schedule, bound)
    roots = max(1, schedule.template.roots)
    words += roots * ROOT_COPIES * (depths.root_data * slots + depths.root_memory)
    guard = schedule.mapped.model_guard
    return BuildReport(
        name=schedule.graph.name,
        format=str(schedule.format),
        pes=schedule.template.pes,
        pes_per_pu=schedule.template.pes_per_pu,
        roots=max(1, schedule.template.roots),
        minibatch=schedule.graph.samples,
        cycles=schedule.per_sample(schedule.cycles),
        latency=schedule.latency,
        bound=schedule.per_sample(bound.cycles),
        ratio=schedule.cycles / bound.cycles,
        multiplies=schedule.per_sample(schedule.multiplies),
        utilisation=schedule.utilisation,
        bound_terms={name: schedule.per_sample(term) for name, term in bound.terms.items()},
        microcode_words=schedule.microcode_words,
        model_words=schedule.model_words,
        data_words=depths.data * slots,
        interim_words=depths.interim,
        memory_bits=words * schedule.format.width + guard * _wide_words(schedule),
        stream_words=schedule.stream_words,
        busiest=name,
        busy=cycles / schedule.cycles,
        costs=costs(schedule, locate),
        model_guard=guard,
        load_cycles=beats_of(schedule.stream_load) if guard else 0,
        dump_cycles=schedule.dump_count * schedule.dump_period if guard else 0,
        output_words=schedule.port_words,
        stages=schedule.stages,
    )


def _wide_words(schedule: Schedule) -> int:
    """Return the words of all memories of wide models. Of a root's copies of its memory only one has guard bits."""
    depths, template = schedule.depths, schedule.template
    each = {
        "model": template.pes * depths.model,
        "interim": template.pes * depths.interim,
        "root memory": max(1, template.roots) * depths.root_memory,
    }
    return sum(each[memory] for memory in schedule.layout.wide_memories)
