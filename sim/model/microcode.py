"""The cycle model's own reader of microcode words.

It takes field order, codes and generators from the TableGen records and word widths from the image's parameters;
it shares no code with the assembler, so that a slip in either shows as a difference between witnesses.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabla.templates.template import operation_format, strand_fields

from tabla.program.image import Image, Parameters

REDUCE_BITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """An address or bound: `base`, then `deltas[l]` added when level l (innermost 0) steps.

    Values wrap to `bits` bits, as a signed number if `signed`. `window`: the sample's offset is added.
    """

    base: int
    window: bool
    deltas: tuple[int, ...]
    bits: int
    signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation word: fields by name (symbols where the record has choices, else integers), generators."""

    symbols: dict[str, str]
    numbers: dict[str, int]
    generators: dict[str, Generator]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """One strand word with its body; `counts` per level, innermost first."""

    start: int
    interval: int
    reduce: int
    counts: tuple[int, ...]
    body: tuple[Operation, ...]

    @property
    def iterations(self) -> int:
        """Passes through the body."""
        total = 1
        for count in self.counts:
            total *= count
        return total

    @property
    def cycles(self) -> int:
        """Cycles from the first issue to the first free cycle, that after the last issue."""
        return (self.iterations * len(self.body) - 1) * self.interval + 1


class _Bits:
    """Takes fields off a word, least significant first."""

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
    """Read an operation word of `unit`; ValueError for a code without a symbol."""
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
    bits.finish(f"operation word {word:#x} of {unit}")
    return Operation(symbols=symbols, numbers=numbers, generators=generators)


def decode_strand(word: int, unit: str, image: Image) -> Strand:
    """Read a strand word of `unit` and the operations of its body."""
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
    """The strands [begin, begin + strands) of a unit."""
    words = image.strands[unit][begin : begin + strands]
    if len(words) != strands:
        raise ValueError(f"the program of {unit} lies outside its strand memory")
    return tuple(decode_strand(w, unit, image) for w in words)
