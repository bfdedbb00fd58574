"""Where each field lies in a microcode word, as ``templates/machine.td`` says.

An operation word holds, from bit 0 on, the ``Inst`` bits of its record. For each address generator, in the record's
order, follow its `base`, a `window` bit, and a `delta` for each loop, the innermost (level 0) first. The guards `low`
and `high` are signed numbers of `guard_bits` bits; all other generators are unsigned, modulo 2^`address_bits`.

A strand word holds the fields of ``StrandWord``, and then ``count - 1`` for each loop, the innermost first. In
arrays on which samples overlap its last field is ``stage``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabla.program.image import Parameters
from tabla.templates.instructions import OperationFormat, operation_format, overlapping_strand_fields, strand_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a word: the bits [offset, offset + width)."""

    name: str
    offset: int
    width: int

    def extract(self, word: int) -> int:
        """Return the unsigned value of the field in a word."""
        return (word >> self.offset) & ((1 << self.width) - 1)

    def insert(self, value: int) -> int:
        """Return a word with a value in the field and 0 elsewhere; a negative value is in two's complement."""
        return (value & ((1 << self.width) - 1)) << self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLayout:
    """All fields of one kind of word, by name, and the width of the word in bits."""

    fields: Mapping[str, Field]
    width: int

    def shift(self, word: int) -> int:
        """Return the number of the shift that an operation word names, with its upper bits where the word has them."""
        near, far = self.fields["shift"], self.fields.get("far_shift")
        return near.extract(word) | (far.extract(word) << near.width if far is not None else 0)


def generator_width(unit: str, generator: str, parameters: Parameters) -> int:
    """Return the width, in bits, of an address generator's values."""
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
    """Return the layout of the operation words of a unit.

    The fields of a generator are ``<generator>.base``, ``<generator>.window`` and ``<generator>.delta<level>``. The
    last fields are those that only arrays with several sequencers have, those of arrays with wide models, those of
    arrays that predict, those of arrays that scatter, and that of arrays with more than four shifts and of overlays.
    """
    form: OperationFormat = operation_format(unit)
    widths: list[tuple[str, int]] = [(f.name, f.width) for f in form.fields]
    for generator in form.generators:
        bits = generator_width(unit, generator, parameters)
        widths.append((f"{generator}.base", bits))
        widths.append((f"{generator}.window", 1))
        widths += [(f"{generator}.delta{level}", bits) for level in range(parameters.levels)]
    wide = form.wide_models if parameters.model_guard else ()
    predicting = form.predicting if parameters.predicts else ()
    scattering = form.scattering if parameters.scatters else ()
    more = (*form.several, *wide, *predicting, *scattering)
    far = [(name, parameters.far_shift_bits) for name in form.far if parameters.far_shift_bits]
    return _pack([*widths, *((name, 1) for name in more), *far])


def strand_layout(unit: str, parameters: Parameters) -> WordLayout:
    """Return the layout of the strand words of a unit.

    The fields are `start`, `interval`, `reduce`, `body` (the address of the first operation word), `length` (of the
    body) and ``count<level>``. In arrays on which samples overlap the units that begin with tokens have `stage`, too.
    """
    width = {
        "start": parameters.start_bits,
        "interval": parameters.interval_bits,
        "reduce": 3,
        "body": max(1, (parameters.operation_depth[unit] - 1).bit_length()),
        "length": parameters.body.bit_length(),
    }
    widths = [(name, width[name]) for name in strand_fields()]
    widths += [(f"count{level}", parameters.count_bits) for level in range(parameters.levels)]
    if parameters.stages > 1 and unit != "stream":
        widths += [(name, parameters.stage_bits) for name in overlapping_strand_fields()]
    return _pack(widths)
