"""The figures of a build: what ``tabla gen`` prints and the manifest begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tabla.report.costs import Costs, costs
from tabla.schedule.schedule import Schedule

SCHEMA = "tabla-report-1"
ROOT_COPIES = 3  # one for each operand (decision 3, 3.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """Cycles are per sample in the steady state; `bound_terms` say what no schedule could beat.

    With minibatches, `cycles`, the bounds and `multiplies` are a step's divided by its samples, whole where that is;
    `latency` and `costs` are a step's. Words of a memory are per PE; `memory_bits` is what the memories of all PEs and
    the roots', of which there are three copies each, hold at least.
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
    costs: Costs

    @property
    def binding(self) -> str:
        """The term that makes the bound."""
        return max(sorted(self.bound_terms), key=lambda term: self.bound_terms[term])

    def text(self) -> str:
        """For people."""
        array = f"{self.pes} PEs, {self.pes_per_pu} per PU"
        array += f", {self.roots} roots" if self.roots > 1 else ""
        terms = ", ".join(f"{name} {cycles}" for name, cycles in self.bound_terms.items())
        steps = f"; a step takes {self.minibatch} samples" if self.minibatch > 1 else ""
        lane = f"per PE {self.model_words} of model, {self.data_words} of data, {self.interim_words} interim"
        return "\n".join(
            [
                f"{self.name}: {array}, {self.format}, words per beat: {self.stream_words}",
                f"cycles       {self.cycles} per sample, {self.ratio:.2f} of the bound{steps}",
                f"bound        {self.bound} by {self.binding} ({terms})",
                f"latency      {self.latency}",
                f"multiplies   {self.multiplies} per sample, {100 * self.utilisation:.1f} % of the multipliers' slots",
                f"lanes        {self.costs.headline}",
                f"words        {self.microcode_words} of microcode; {lane}; {self.memory_bits:,} bits in all",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        statements = [cost.as_json() for cost in self.costs.statements]
        more = {"binding": self.binding, "idle_cycles": self.costs.idle, "statements": statements}
        return {"schema": SCHEMA, **self.numbers(), **more}

    def numbers(self) -> dict[str, Any]:
        """All figures by name, ratios to six digits."""
        fields = asdict(self)
        del fields["costs"]
        fields["bound_terms"] = dict(self.bound_terms)
        return {**fields, "ratio": round(self.ratio, 6), "utilisation": round(self.utilisation, 6)}


def figures(schedule: Schedule) -> BuildReport:
    """The figures of a schedule."""
    depths, slots = schedule.depths, schedule.ring_slots
    words = schedule.template.pes * (depths.model + depths.data * slots + depths.interim)
    words += max(1, schedule.template.roots) * ROOT_COPIES * (depths.root_data * slots + depths.root_memory)
    return BuildReport(
        name=schedule.graph.name,
        format=str(schedule.format),
        pes=schedule.template.pes,
        pes_per_pu=schedule.template.pes_per_pu,
        roots=max(1, schedule.template.roots),
        minibatch=schedule.graph.samples,
        cycles=schedule.per_sample(schedule.cycles),
        latency=schedule.latency,
        bound=schedule.per_sample(schedule.bound),
        ratio=schedule.ratio,
        multiplies=schedule.per_sample(schedule.multiplies),
        utilisation=schedule.utilisation,
        bound_terms={name: schedule.per_sample(term) for name, term in schedule.bound_terms.items()},
        microcode_words=schedule.microcode_words,
        model_words=schedule.model_words,
        data_words=depths.data * slots,
        interim_words=depths.interim,
        memory_bits=words * schedule.format.width,
        stream_words=schedule.stream_words,
        costs=costs(schedule),
    )
