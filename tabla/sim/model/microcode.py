"""The cycle model's own reader of microcode words.

It takes the order of fields, their codes and the generators from the TableGen records, and the widths of words from the
image's parameters. It shares no code with the assembler, so that a fault of either shows as a difference between them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabla.program.image import Image, Parameters
from tabla.templates.instructions import operation_format, strand_fields

REDUCE_BITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """The generator of an address or of a bound on lanes.

    It begins with `base` and adds `deltas[l]` when loop level l steps; level 0 is the innermost. Its values have `bits`
    bits and wrap, as signed numbers if `signed` is set. If `window` is set, the sample's offset is added to them.
    """

    base: int
    window: bool
    deltas: tuple[int, ...]
    bits: int
    signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation word, taken apart.

    Fields for which the record has a list of choices are in `symbols`, all others in `numbers`.
    """

    symbols: dict[str, str]
    numbers: dict[str, int]
    generators: dict[str, Generator]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """One strand word with the operations of its body; `counts` has the iterations of each level, innermost first."""

    start: int
    interval: int
    reduce: int
    counts: tuple[int, ...]
    body: tuple[Operation, ...]

    @property
    def iterations(self) -> int:
        """How often the body is issued: the product of all counts."""
        total = 1
        for count in self.counts:
            total *= count
        return total

    @property
    def cycles(self) -> int:
        """The cycles from the first issue up to the cycle after the last one, in which the unit is free again."""
        return (self.iterations * len(self.body) - 1) * self.interval + 1


class _Bits:
    """Takes fields from a word, beginning with the least significant bits."""

    def __init__(self, word: int) -> None:
        self._word = word

    def take(self, width: int) -> int:
        value = self._word & ((1 << width) - 1)
        self._word >>= width
        return value

    def finish(self, what: str) -> None:
        if self._word:
            raise ValueError(f"{what} has bits beyond its last field")


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _generator(bits: _Bits, name: str, unit: str, parameters: Parameters) -> Generator:
    signed = name in ("low", "high")
    if signed:
        width = parameters.guard_bits
    else:
        width = parameters.block_bits if name == "block" else parameters.address_bits[unit]
    base = bits.take(width)
    window = bool(bits.take(1))
    deltas = tuple(bits.take(width) for _ in range(parameters.levels))
    return Generator(
        base=_signed(base, width) if signed else base, window=window, deltas=deltas, bits=width, signed=signed
    )


def decode_operation(word: int, unit: str, parameters: Parameters) -> Operation:
    """Read an operation word of `unit`; raise ValueError for a code without a symbol or bits beyond the last field."""
    form = operation_format(unit)
    bits = _Bits(word)
    width = sum(field.width for field in form.fields)
    instruction = bits.take(width)
    symbols: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for field in form.fields:
        value = (instruction >> field.offset) & ((1 << field.width) - 1)
        if not field.choices:
            numbers[field.name] = value
        elif value < len(field.choices):
            symbols[field.name] = field.choices[value]
        else:
            raise ValueError(f"field '{field.name}' of {unit} has no symbol for code {value}")
    generators = {name: _generator(bits, name, unit, parameters) for name in form.generators}
    numbers |= {name: bits.take(1) for name in form.several}
    if parameters.model_guard:
        numbers |= {name: bits.take(1) for name in form.wide_models}
    if parameters.far_shift_bits and form.far:
        near = next(field.width for field in form.fields if field.name == "shift")
        numbers["shift"] |= bits.take(parameters.far_shift_bits) << near
    bits.finish(f"operation word {word:#x} of {unit}")
    return Operation(symbols=symbols, numbers=numbers, generators=generators)


def decode_strand(word: int, unit: str, image: Image) -> Strand:
    """Read a strand word of `unit` and its body; raise ValueError when the body is not in the operation memory."""
    parameters = image.parameters
    widths = {
        "start": parameters.start_bits,
        "interval": parameters.interval_bits,
        "reduce": REDUCE_BITS,
        "body": max(1, (parameters.operation_depth[unit] - 1).bit_length()),
        "length": parameters.body.bit_length(),
    }
    bits = _Bits(word)
    fields = {name: bits.take(widths[name]) for name in strand_fields()}
    counts = tuple(bits.take(parameters.count_bits) + 1 for _ in range(parameters.levels))
    bits.finish(f"strand word {word:#x} of {unit}")
    words = image.operations[unit][fields["body"] : fields["body"] + fields["length"]]
    if len(words) != fields["length"] or not words:
        raise ValueError(f"a strand of {unit} has its body outside the operation memory")
    return Strand(
        start=fields["start"],
        interval=fields["interval"],
        reduce=fields["reduce"],
        counts=counts,
        body=tuple(decode_operation(w, unit, parameters) for w in words),
    )


def decode_strands(image: Image, unit: str, begin: int, strands: int) -> tuple[Strand, ...]:
    """Read the strands [begin, begin + strands) of a unit; raise ValueError when they are not in the memory."""
    words = image.strands[unit][begin : begin + strands]
    if len(words) != strands:
        raise ValueError(f"the program of {unit} lies outside its strand memory")
    return tuple(decode_strand(w, unit, image) for w in words)
