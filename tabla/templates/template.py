"""The Python view of ``machine.td``: presets, latencies, function units.

Every number here comes from the records; nothing is repeated in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

from tabla.base.source import Label, TablaError, TablaValueError
from tabla.templates import tablegen
from tabla.templates.records import MACHINE, bit, integer, record_of, records, string
from tabla.templates.stages import stage_cycle, wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Latencies in cycles, as the comment of record ``Timing`` explains them.

    The properties are stages of the path of an operation, counted from its issue, as the stage table has them.
    """

    memory_read: int
    multiply: int
    accumulate: int
    round: int
    memory_write: int
    tree_level: int
    broadcast: int
    front: int
    ready: int
    queue: int

    @property
    def operand(self) -> int:
        """The cycles from an issue to the operand multiplexers."""
        return stage_cycle("issue", "operand")

    @property
    def late_operand(self) -> int:
        """The cycles from an issue to the register behind the operand multiplexers, where a late addend joins."""
        return wanted("root_issue", "late_addend")

    @property
    def accumulated(self) -> int:
        """The cycles from an issue to the accumulator."""
        return stage_cycle("issue", "sum")

    @property
    def result(self) -> int:
        """The cycles from an issue to the result register."""
        return stage_cycle("issue", "result")

    @property
    def held(self) -> int:
        """The cycles from an issue at the root to the position register, where an operation asks for that."""
        return stage_cycle("issue", "held")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionKind:
    """A pipeline of the function unit, as record ``FunctionKind`` describes it.

    A kind that `divides` takes operand b too. A kind takes `fine` cycles more in formats with more than `fine_above`
    fraction bits.
    """

    name: str
    latency: int
    per_width: int
    per_fraction: int
    more: int
    divisor: int
    divides: bool
    fine: int = 0
    fine_above: int = 16

    def cycles(self, width: int, fraction: int) -> int:
        """Return the cycles from operand to result in a format of `width` bits with `fraction` fraction bits."""
        made = self.latency + (self.per_width * width + self.per_fraction * fraction + self.more) // self.divisor
        return made + (self.fine if fraction > self.fine_above else 0)

    @property
    def text(self) -> str:
        """The cycles in words: W and F are the bits of a word and of its fraction."""
        parts = [("W", self.per_width), ("F", self.per_fraction)]
        terms = [name if count == 1 else f"{count} {name}" for name, count in parts if count]
        terms += [str(self.more)] if self.more else []
        if not terms:
            late = f", or {self.latency + self.fine} where F > {self.fine_above}" if self.fine else ""
            return f"{self.latency}{late}"
        total = " + ".join(terms)
        late = f", and {self.fine} more where F > {self.fine_above}" if self.fine else ""
        return f"{self.latency} + " + (total if self.divisor == 1 else f"({total}) / {self.divisor}") + late


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionUnit:
    """A function of the function unit: its code in an operation of the root, and the pipeline that computes it."""

    name: str
    code: int
    pipeline: FunctionKind

    @property
    def kind(self) -> str:
        """The name of the pipeline."""
        return self.pipeline.name

    def cycles(self, width: int, fraction: int) -> int:
        """Return the cycles from operand to result in a format of `width` bits with `fraction` fraction bits."""
        return self.pipeline.cycles(width, fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """An array to build for.

    A depth of 0 or a `stream_words` of 0 stands for what the program needs. A `roots` or `sequencers` of 0 stands for
    what is fastest. With `samples_overlap` the units may work on several samples in turns, and with `scatters` the root
    may write where data say; an overlay has no hardware for either. No loop is written out to more than `body`
    operations of a strand, unless that is 0; an overlay has room for so many. The part has `block_rams` of 18 kbit, and
    what it does not hold is not worth building; 0 stands for any number, or for a part that nobody named. An array that
    cannot be built is a `TablaError`.
    """

    name: str
    pes: int
    pes_per_pu: int
    sequencers: int
    integer_bits: int
    fraction_bits: int
    stream_words: int
    ring_slots: int
    model_words: int
    data_words: int
    interim_words: int
    levels: int
    roots: int = 0
    samples_overlap: bool = field(default=True, repr=False)
    scatters: bool = field(default=True, repr=False)
    body: int = field(default=0, repr=False)
    block_rams: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        most = limits()
        if not 1 <= self.pes <= most.pes:
            raise TablaValueError(f"{self.pes} PEs are not supported", hint=f"ask for 1 to {most.pes}")
        if self.pes_per_pu < 1 or self.pes % self.pes_per_pu:
            raise TablaValueError(
                f"{self.pes_per_pu} PEs per PU do not divide {self.pes} PEs",
                hint=f"use a divisor of {self.pes}",
            )
        if self.sequencers < 0 or self.pes % max(1, self.sequencers):
            divisors = ", ".join(str(d) for d in range(1, self.pes + 1) if self.pes % d == 0)
            raise TablaValueError(
                f"{self.sequencers} sequencers do not divide {self.pes} PEs", hint=f"use one of {divisors}"
            )
        if self.roots < 0 or (self.roots > 1 and (self.pes % self.roots or self.sequencers > 1)):
            raise TablaValueError(
                f"{self.roots} roots do not fit {self.pes} PEs with {self.sequencers} sequencers",
                hint="roots divide the PEs, and arrays with several sequencers have one",
            )
        if not most.least_ring_slots <= self.ring_slots <= most.ring_slots:
            raise TablaValueError(
                f"a ring of {self.ring_slots} samples is not supported",
                hint=f"use {most.least_ring_slots} to {most.ring_slots}",
            )
        if self.stream_words and (self.stream_words & (self.stream_words - 1) or self.stream_words > most.stream_words):
            raise TablaValueError(
                f"{self.stream_words} stream words a beat are not supported",
                hint=f"use a power of two up to {most.stream_words}",
            )

    @property
    def lanes_per_sequencer(self) -> int:
        """The lanes that one sequencer drives: sequencer s drives those from s times as many on."""
        return self.pes // max(1, self.sequencers)

    @property
    def lanes(self) -> int:
        """The PEs that share a root: all, or those of a tap group."""
        return self.pes // max(1, self.roots)

    @property
    def tree_levels(self) -> int:
        """The levels of registers of the reduction tree, from a PE to its root."""
        if self.roots > 1:
            return (self.lanes - 1).bit_length()
        pus = self.pes // self.pes_per_pu
        return (self.pes_per_pu - 1).bit_length() + (pus - 1).bit_length()

    @property
    def array_levels(self) -> int:
        """The levels of registers of the tree from the groups' sums to the sum that every root sees."""
        return (max(1, self.roots) - 1).bit_length()

    def of_any_depth(self) -> Template:
        """Return the array with memories as deep as a program needs."""
        return replace(self, model_words=0, data_words=0, interim_words=0)

    def with_sequencers(self, sequencers: int) -> Template:
        """Return the array with so many sequencers."""
        return replace(self, sequencers=sequencers)

    def with_roots(self, roots: int) -> Template:
        """Return the array with so many roots. Where there are several, each stands over a tap group."""
        return replace(self, roots=roots, pes_per_pu=self.pes // roots if roots > 1 else self.pes_per_pu)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """A number format with a name. The sign counts among the `integer_bits`."""

    name: str
    integer_bits: int
    fraction_bits: int

    @property
    def text(self) -> str:
        """The format as ``--format`` takes it without a record, such as ``q6.10``."""
        return f"q{self.integer_bits}.{self.fraction_bits}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What can be built, as the comment of record ``Limits`` explains it."""

    pes: int
    pes_per_pu: int
    least_ring_slots: int
    ring_slots: int
    stream_words: int
    memory_words: int
    stages: int


@cache
def limits() -> Limits:
    """Return the limits of the machine."""
    record = records(MACHINE)["Limits"]
    return Limits(
        pes=integer(record, "Pes"),
        pes_per_pu=integer(record, "PesPerPu"),
        least_ring_slots=integer(record, "LeastRingSlots"),
        ring_slots=integer(record, "RingSlots"),
        stream_words=integer(record, "StreamWords"),
        memory_words=integer(record, "MemoryWords"),
        stages=integer(record, "Stages"),
    )


@cache
def timing() -> Timing:
    """Return the latencies of the machine."""
    record = records(MACHINE)["Timing"]
    return Timing(
        memory_read=integer(record, "MemoryRead"),
        multiply=integer(record, "Multiply"),
        accumulate=integer(record, "Accumulate"),
        round=integer(record, "Round"),
        memory_write=integer(record, "MemoryWrite"),
        tree_level=integer(record, "TreeLevel"),
        broadcast=integer(record, "Broadcast"),
        front=integer(record, "Front"),
        ready=integer(record, "Ready"),
        queue=integer(record, "Queue"),
    )


@cache
def function_kinds() -> dict[str, FunctionKind]:
    """Return the pipelines of the function unit by name."""
    return {
        string(r, "Name"): FunctionKind(
            name=string(r, "Name"),
            latency=integer(r, "Latency"),
            per_width=integer(r, "PerWidth"),
            per_fraction=integer(r, "PerFraction"),
            more=integer(r, "More"),
            divisor=integer(r, "Divisor"),
            divides=bit(r, "Divides"),
            fine=integer(r, "Fine"),
            fine_above=integer(r, "FineAbove"),
        )
        for r in records(MACHINE).of_class("FunctionKind")
    }


@cache
def functions() -> dict[str, FunctionUnit]:
    """Return all functions of the function unit by name.

    A function that you put in here has a code and a pipeline from then on, as if it were a record.
    """
    return {
        string(r, "Name"): FunctionUnit(
            name=string(r, "Name"),
            code=integer(r, "Code"),
            pipeline=function_kinds()[string(record_of(r, "Kind"), "Name")],
        )
        for r in records(MACHINE).of_class("FunctionUnit")
    }


def _template(record: tablegen.Record) -> Template:
    try:
        return _unchecked(record)
    except TablaError as fault:
        if fault.labels:
            raise
        raise TablaError(f"template '{record.name}': {fault.message}", Label(record.span), hint=fault.hint) from None


def _unchecked(record: tablegen.Record) -> Template:
    return Template(
        name=record.name,
        roots=integer(record, "Roots"),
        pes=integer(record, "Pes"),
        pes_per_pu=integer(record, "PesPerPu"),
        sequencers=integer(record, "Sequencers"),
        integer_bits=integer(record, "IntegerBits"),
        fraction_bits=integer(record, "FractionBits"),
        stream_words=integer(record, "StreamWords"),
        ring_slots=integer(record, "RingSlots"),
        model_words=integer(record, "ModelWords"),
        data_words=integer(record, "DataWords"),
        interim_words=integer(record, "InterimWords"),
        levels=integer(record, "Levels"),
    )


def formats(own: str | None = None) -> dict[str, NumberFormat]:
    """Return number formats by name: ours, and those of a user's own file."""
    found = records(MACHINE, own).of_class("NumberFormat")
    return {
        r.name: NumberFormat(
            name=r.name, integer_bits=integer(r, "IntegerBits"), fraction_bits=integer(r, "FractionBits")
        )
        for r in found
        if not r.is_anonymous
    }


def presets(own: str | None = None) -> dict[str, Template]:
    """Return presets by name: ours, and those of a user's own file.

    A preset that cannot be built is a `TablaError`.
    """
    return {r.name: _template(r) for r in records(MACHINE, own).of_class("Template")}


def default_preset() -> Template:
    """Return the array that is built where none is asked for."""
    return _template(record_of(records(MACHINE)["Default"], "Preset"))


def pes_per_pu_for(pes: int) -> int:
    """Return the default tap group: the largest divisor of `pes` that is no wider than the limit."""
    return max(d for d in range(1, min(pes, limits().pes_per_pu) + 1) if pes % d == 0)


def template_for(pes: int) -> Template:
    """Return the template that ``--pes N`` alone means."""
    per_pu = pes_per_pu_for(pes) if pes > 0 else 1
    return replace(default_preset(), name=f"Pe{pes}", pes=pes, pes_per_pu=per_pu)
