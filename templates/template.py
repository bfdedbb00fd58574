"""The Python view of ``machine.td``: presets, latencies, instruction formats, function units.

Every number here comes from the records; nothing is repeated in Python.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tabla.lang import tablegen
from tabla.source import TablaError

MACHINE = Path(__file__).resolve().parent / "machine.td"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Latencies in cycles; see the comment of record ``Timing``."""

    memory_read: int
    multiply: int
    accumulate: int
    round: int
    memory_write: int
    tree_level: int
    broadcast: int
    front: int
    ready: int

    @property
    def operand(self) -> int:
        """Issue to the operand multiplexers."""
        return self.memory_read

    @property
    def accumulated(self) -> int:
        """Issue to the accumulator."""
        return self.memory_read + self.multiply + self.accumulate

    @property
    def result(self) -> int:
        """Issue to the result register."""
        return self.accumulated + self.round


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionField:
    """A named run of bits of an operation word; `choices` are its symbols by code, if it has any."""

    name: str
    offset: int
    width: int
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFormat:
    """The fields and the generators of one unit's operations."""

    unit: str
    fields: tuple[InstructionField, ...]
    generators: tuple[str, ...]

    def code(self, field: str, symbol: str) -> int:
        """Code of a symbol of a field."""
        found = next(f for f in self.fields if f.name == field)
        return found.choices.index(symbol)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionUnit:
    """A function of the function unit; latency = `latency` + `latency_per_bit` * bits of `kind`."""

    name: str
    code: int
    kind: str
    latency: int
    latency_per_bit: int

    def cycles(self, width: int, fraction: int) -> int:
        """Latency in a format of `width` bits with `fraction` fraction bits."""
        bits = {"sqrt": (width + fraction + 3) // 2, "divide": width + fraction}.get(self.kind, 0)
        return self.latency + self.latency_per_bit * bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """An array to build for. Depths and `stream_words` of 0: what the program needs."""

    name: str
    pes: int
    pes_per_pu: int
    sequencers: int = 1
    integer_bits: int = 6
    fraction_bits: int = 10
    stream_words: int = 0
    ring_slots: int = 2
    model_words: int = 0
    data_words: int = 0
    interim_words: int = 0
    levels: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.pes <= 128:
            raise TablaError(f"{self.pes} PEs are not supported", hint="ask for 1 to 128")
        if self.pes_per_pu < 1 or self.pes % self.pes_per_pu:
            raise TablaError(
                f"{self.pes_per_pu} PEs per PU do not divide {self.pes} PEs",
                hint=f"use a divisor of {self.pes}",
            )
        if self.sequencers != 1:
            raise TablaError(
                f"{self.sequencers} sequencers are not supported", hint="this version builds arrays with one sequencer"
            )
        if not 2 <= self.ring_slots <= 16:
            raise TablaError(f"a ring of {self.ring_slots} samples is not supported", hint="use 2 to 16")
        if self.stream_words and (self.stream_words & (self.stream_words - 1) or self.stream_words > 128):
            raise TablaError(
                f"{self.stream_words} stream words a beat are not supported", hint="use a power of two up to 128"
            )

    @property
    def tree_levels(self) -> int:
        """Registers of the reduction tree, PE to root."""
        pus = self.pes // self.pes_per_pu
        return (self.pes_per_pu - 1).bit_length() + (pus - 1).bit_length()


@cache
def _records(extra: str | None = None) -> tablegen.Records:
    return tablegen.load(extra or MACHINE, include_dirs=(str(MACHINE.parent),))


def _int(record: tablegen.Record, field: str) -> int:
    value = record[field]
    if not isinstance(value, int):
        raise TablaError(f"field '{field}' of record '{record.name}' is not set to an integer")
    return value


def _str(record: tablegen.Record, field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise TablaError(f"field '{field}' of record '{record.name}' is not set to a string")
    return value


@cache
def timing() -> Timing:
    """The latencies of the machine."""
    record = _records()["Timing"]
    return Timing(
        memory_read=_int(record, "MemoryRead"),
        multiply=_int(record, "Multiply"),
        accumulate=_int(record, "Accumulate"),
        round=_int(record, "Round"),
        memory_write=_int(record, "MemoryWrite"),
        tree_level=_int(record, "TreeLevel"),
        broadcast=_int(record, "Broadcast"),
        front=_int(record, "Front"),
        ready=_int(record, "Ready"),
    )


@cache
def functions() -> dict[str, FunctionUnit]:
    """All functions of the function unit, by name."""
    return {
        _str(r, "Name"): FunctionUnit(
            name=_str(r, "Name"),
            code=_int(r, "Code"),
            kind=_str(r, "Kind"),
            latency=_int(r, "Latency"),
            latency_per_bit=_int(r, "LatencyPerBit"),
        )
        for r in _records().of_class("FunctionUnit")
    }


def _template(record: tablegen.Record) -> Template:
    return Template(
        name=record.name,
        pes=_int(record, "Pes"),
        pes_per_pu=_int(record, "PesPerPu"),
        sequencers=_int(record, "Sequencers"),
        integer_bits=_int(record, "IntegerBits"),
        fraction_bits=_int(record, "FractionBits"),
        stream_words=_int(record, "StreamWords"),
        ring_slots=_int(record, "RingSlots"),
        model_words=_int(record, "ModelWords"),
        data_words=_int(record, "DataWords"),
        interim_words=_int(record, "InterimWords"),
        levels=_int(record, "Levels"),
    )


def presets(extra: str | None = None) -> dict[str, Template]:
    """Presets by name: ours, or those of a user's file, which may say ``include "machine.td"``."""
    return {r.name: _template(r) for r in _records(extra).of_class("Template")}


def pes_per_pu_for(pes: int) -> int:
    """The default tap group: the largest divisor of `pes` that is at most 16."""
    return max(d for d in range(1, min(pes, 16) + 1) if pes % d == 0)


def template_for(pes: int) -> Template:
    """The template that ``--pes N`` alone means."""
    return replace(presets()["Pe1"], name=f"Pe{pes}", pes=pes, pes_per_pu=pes_per_pu_for(pes) if pes > 0 else 1)


@cache
def _symbolic() -> dict[str, Any]:
    """The records as JSON: the form in which a bit that refers to a field still says so."""
    text: dict[str, Any] = json.loads(tablegen.run(MACHINE, action="dump-json"))
    return text


@cache
def operation_format(unit: str) -> OperationFormat:
    """The operation format of a unit; a field lies where its bits stand in ``Inst``."""
    record = next(r for r in _records().of_class("OperationFormat") if r["Unit"] == unit)
    found: dict[str, list[int]] = {}
    for position, bit in enumerate(_symbolic()[record.name]["Inst"]):
        found.setdefault(bit["var"], []).append(position)
    fields = []
    for name, positions in found.items():
        if positions != list(range(positions[0], positions[0] + len(positions))):
            raise TablaError(f"the bits of field '{name}' of record '{record.name}' are not in order")
        choices = record.get(f"{name}Choices")
        symbols = tuple(str(c) for c in choices) if isinstance(choices, list) else ()
        fields.append(InstructionField(name=name, offset=positions[0], width=len(positions), choices=symbols))
    generators = record["Generators"]
    assert isinstance(generators, list)
    return OperationFormat(unit=unit, fields=tuple(fields), generators=tuple(str(g) for g in generators))


@cache
def strand_fields() -> tuple[str, ...]:
    """The fixed fields of a strand word, least significant first."""
    fields = _records()["StrandWord"]["Fields"]
    assert isinstance(fields, list)
    return tuple(str(f) for f in fields)
