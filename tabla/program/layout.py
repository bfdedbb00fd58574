"""Where each field lies in a microcode word, read from ``templates/machine.td``.

An operation word holds, from bit 0: the record's ``Inst`` bits; then for each generator, in the record's order,
`base`, a `window` bit, and one `delta` per loop level, innermost (level 0) first. Low and high generators are
signed (`guard_bits`), all others unsigned modulo 2^`address_bits`. A strand word holds the fields of
``StrandWord``, then ``count - 1`` per level, innermost first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabla.program.image import Parameters
from tabla.templates.template import OperationFormat, operation_format, strand_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Bits [offset, offset + width) of a word."""

    name: str
    offset: int
    width: int

    def extract(self, word: int) -> int:
        """The field's unsigned value."""
        return (word >> self.offset) & ((1 << self.width) - 1)

    def insert(self, value: int) -> int:
        """The field's bits in place; negative values in two's complement."""
        return (value & ((1 << self.width) - 1)) << self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLayout:
    """All fields of one kind of word, by name, and its width."""

    fields: Mapping[str, Field]
    width: int


def generator_width(unit: str, generator: str, parameters: Parameters) -> int:
    """Bits of a generator's value."""
    if generator in ("low", "high"):
        return parameters.guard_bits
    if generator == "block":
        return parameters.block_bits
    return parameters.address_bits[unit]


def _pack(widths: list[tuple[str, int]]) -> WordLayout:
    fields, offset = {}, 0
    for name, width in widths:
        fields[name] = Field(name=name, offset=offset, width=width)
        offset += width
    return WordLayout(fields=fields, width=offset)


def operation_layout(unit: str, parameters: Parameters) -> WordLayout:
    """Layout of an operation word of a unit; generator fields are ``<generator>.base``, ``.window``,
    ``.delta<l>``; then the bits that only arrays with several sequencers have."""
    form: OperationFormat = operation_format(unit)
    widths: list[tuple[str, int]] = [(f.name, f.width) for f in form.fields]
    for generator in form.generators:
        bits = generator_width(unit, generator, parameters)
        widths.append((f"{generator}.base", bits))
        widths.append((f"{generator}.window", 1))
        widths += [(f"{generator}.delta{level}", bits) for level in range(parameters.levels)]
    return _pack([*widths, *((name, 1) for name in form.several)])


def strand_layout(unit: str, parameters: Parameters) -> WordLayout:
    """Layout of a strand word of a unit: start, interval, reduce, body (first operation word), length, count<l>."""
    width = {
        "start": parameters.start_bits,
        "interval": parameters.interval_bits,
        "reduce": 3,
        "body": max(1, (parameters.operation_depth[unit] - 1).bit_length()),
        "length": parameters.body.bit_length(),
    }
    widths = [(name, width[name]) for name in strand_fields()]
    widths += [(f"count{level}", parameters.count_bits) for level in range(parameters.levels)]
    return _pack(widths)
