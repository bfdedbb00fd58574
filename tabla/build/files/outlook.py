"""What a user may ask after a build: whether a part holds it, how many samples a second it takes, and what minibatches
would do for idle multipliers.

The block RAMs are counted one by one (`tabla.build.files.occupancy`). The others are estimates, and their lines say so.
The rate takes the clock that the cost model estimates (`tabla.build.cost`, decision 27), for the part that the user
names if it is of the family that the model is for, and else for the usual part. The minibatch takes the
schedule of single samples: a step of B samples waits once for what a sample waits for, and each further sample takes
the cycles of the busiest part of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tabla.build.cost import Estimate, clock_on, estimate
from tabla.build.cost.capacity import Part, named_part
from tabla.build.files.occupancy import USUAL, Occupancy, occupancy
from tabla.build.stages import Stages
from tabla.build.synth.nextpnr import chosen_grade
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.targets import KINDS, Device, Target
from tabla.templates.template import limits

TARGET = "ecp5"
"""The family of which figures are estimated: that of ``tabla explore``."""
IDLE = 0.5
"""Minibatches are spoken of where less than this share of the multipliers' slots multiplies."""
GAIN = 1.5
"""So many times the present share must be in reach."""
_ENOUGH = 0.8
"""A minibatch is large enough if it reaches this share of what the largest one could."""
MINIBATCHES = (2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The samples a second at the clock that is estimated for a part."""

    part: str
    megahertz: float
    samples_per_second: float

    def line(self) -> str:
        """Return the line that ``tabla gen`` prints."""
        figure = float(f"{self.samples_per_second:.3g}")
        return (
            f"samples      about {figure:,.0f} a second at {self.megahertz:.0f} MHz, as estimated for {self.part}"
            " (see tabla synth --pnr)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Logic and multipliers of which an array takes more than a `part` has: what it `takes`, and what the part `has`.

    Both are by the names of the family. Block RAMs are not among them.
    """

    part: str
    takes: Mapping[str, int]
    has: Mapping[str, int]

    def line(self) -> str:
        """Return the line that ``tabla gen`` prints."""
        each = ", ".join(f"{count:,} of the {self.has[name]:,} ({name})" for name, count in self.takes.items())
        return f"logic        about {each} of {self.part}, as estimated, more than there are"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """What steps of `minibatch` samples would do: the share of the multipliers' slots that would then multiply."""

    minibatch: int
    utilisation: float

    def line(self) -> str:
        """Return the line that ``tabla gen`` prints."""
        share = f"about {100 * self.utilisation:.0f} % or more"
        return f"minibatch    with --minibatch {self.minibatch} {share} of the multipliers' slots would multiply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a user may ask next. A part of it is None where there is nothing to say."""

    memory: Occupancy | None
    shortage: Shortage | None
    rate: Rate | None
    batching: Batching | None

    def lines(self) -> list[str]:
        """Return the lines that ``tabla gen`` prints."""
        every = (self.memory, self.shortage, self.rate, self.batching)
        return [part.line() for part in every if part is not None]

    def as_json(self) -> dict[str, Any]:
        """Return the entries of ``tabla gen --json``."""
        return {
            "block_rams": None if self.memory is None else self.memory.as_json(),
            "estimated_shortage": None if self.shortage is None else asdict(self.shortage),
            "estimated_rate": None if self.rate is None else asdict(self.rate),
            "estimated_minibatch": None if self.batching is None else asdict(self.batching),
        }


def outlook(build: Stages) -> Outlook:
    """Return what there is to say of a build. A program for an overlay has the clock and the steps of that overlay."""
    if build.overlay is not None:
        return Outlook(memory=None, shortage=None, rate=None, batching=None)
    (family, device), grade = _estimated(build)
    found = estimate(build.image)
    return Outlook(
        memory=occupancy(build),
        shortage=_shortage(build, found, family, device),
        rate=_rate(build, found, device, grade),
        batching=_batching(build),
    )


def _estimated(build: Stages) -> tuple[Part, int]:
    """Return the part of which figures are estimated, and its speed grade: the user's, or the usual part."""
    text, own = build.options.part or USUAL, build.options.records
    part = named_part(text, own)
    if part[0].name != TARGET:
        text, part = USUAL, named_part(USUAL, own)
    _, _, grade = text.partition(":")
    return part, chosen_grade(part[1], int(grade) if grade else None)


def _shortage(build: Stages, found: Estimate, family: Target, device: Device) -> Shortage | None:
    """Return what the part lacks; None if it lacks nothing, or if the user names a part of another family."""
    if build.options.part is not None and not device.called(build.options.part.partition(":")[0]):
        return None
    taken = found.as_json()["resources"]
    lacking = [kind for kind in KINDS if kind != "RAM" and taken[kind] > device.capacity(kind)]
    if not lacking:
        return None
    return Shortage(
        part=device.part,
        takes={family.title_of(kind): taken[kind] for kind in lacking},
        has={family.title_of(kind): device.capacity(kind) for kind in lacking},
    )


def _rate(build: Stages, found: Estimate, device: Device, grade: int) -> Rate | None:
    """Return the rate on a part; None if it has no room for the array, or a grade of which nothing was measured."""
    clock = clock_on(found.megahertz, device, grade)
    if clock is None or any(taken > device.capacity(kind) for kind, taken in found.as_json()["resources"].items()):
        return None
    cycles = build.schedule.per_sample(build.schedule.cycles)
    return Rate(part=f"{device.part}:{grade}", megahertz=clock, samples_per_second=round(1e6 * clock / cycles, 1))


def _batching(build: Stages) -> Batching | None:
    """Return the smallest minibatch that comes near to what minibatches can do, or None if they are of no use."""
    schedule = build.schedule
    if build.options.minibatch > 1 or not build.sample.updates or schedule.utilisation >= IDLE:
        return None
    each = _cycles_each(build)
    fitting = [size for size in MINIBATCHES if _holds(schedule, size)]
    if not fitting or not each:
        return None
    most = schedule.multiplies / (schedule.template.pes * each)
    shares = {size: _share(schedule, size, each) for size in fitting}
    chosen = next((size for size in fitting if shares[size] >= _ENOUGH * most), fitting[-1])
    if shares[chosen] < GAIN * schedule.utilisation:
        return None
    return Batching(minibatch=chosen, utilisation=round(shares[chosen], 4))


def _cycles_each(build: Stages) -> int:
    """Return the cycles that a further sample of a step takes: those of the busiest part of the machine."""
    units = {unit: sum(strand.length for strand in strands) for unit, strands in build.schedule.units.items()}
    lanes = max((cycles for unit, cycles in units.items() if unit.startswith("lane_issue")), default=0)
    terms = build.bound.terms
    return int(max(lanes, units.get("root_issue", 0), terms["functions"], terms["stream"]))


def _share(schedule: Schedule, size: int, each: int) -> float:
    cycles = schedule.cycles + (size - 1) * each
    return min(1.0, size * schedule.multiplies / (schedule.template.pes * cycles))


def _holds(schedule: Schedule, size: int) -> bool:
    """Return whether the memories of the machine hold the samples of a step and what is made of them."""
    depths, most = schedule.depths, limits().memory_words
    largest = max(depths.data, depths.root_data) * schedule.ring_slots
    return size * max(largest, depths.interim, depths.root_memory) <= most
