"""The banks of a memory: block RAMs for the addresses that are needed, and for no others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tabla.hw.pipeline import bits_for
from tabla.program.image import Ranges
from tabla.templates.memories import FEW_WORDS, WIDEST

SHAPES = ((18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))
"""Bits and words of a block RAM of 18 kbit with a port that writes and one that reads, up to 18 bits."""
_RANK = 16
"""LUTs hold words in ranks of so many."""
_MOST = 3
"""The most banks of a memory that is divided. The word of each is masked and joined behind its register, which takes a
LUT a bit for two banks."""


@dataclass(frozen=True, slots=True, order=True)
class Bank:
    """The words [begin, begin + words) of a memory. `words` is a power of two, and `begin` a multiple of it."""

    begin: int
    words: int

    @property
    def end(self) -> int:
        return self.begin + self.words

    def around(self, other: "Bank") -> "Bank":
        """Return the smallest bank that has the words of both."""
        return _around(min(self.begin, other.begin), max(self.end, other.end))


def _around(begin: int, end: int) -> Bank:
    """Return the smallest bank with the words [begin, end)."""
    words = 1 << (begin ^ (end - 1)).bit_length()
    return Bank(begin // words * words, words)


def widths(bits: int) -> list[int]:
    """Return the bits of the memories into which words are divided, the lowest first."""
    return [min(WIDEST, bits - low) for low in range(0, bits, WIDEST)]


def block_rams(bits: int, words: int) -> int:
    """Return the block RAMs of a memory of at most 18 bits: those of the shape that takes the fewest."""
    return min(-(-bits // wide) * -(-words // deep) for wide, deep in SHAPES)


def banks_of(bits: int, depth: int, needed: Ranges | None = None) -> tuple[Bank, ...]:
    """Return the banks of a memory of `depth` words of `bits` bits, of which the addresses `needed` are read; None
    stands for all.

    A memory is one bank, of a power of two of words, unless more banks take fewer block RAMs. Then it has a bank for
    each run of whole block RAMs, as far as that is a power of two of them and begins at a multiple of it. A part of
    a block RAM of which `FEW_WORDS` words or fewer are needed is a bank of as many words, which lies in LUTs. There are
    at most `_MOST` banks, and none if nothing is needed.
    """
    whole = Bank(0, 1 << bits_for(depth))
    ranges = ((0, depth),) if needed is None else needed
    if whole.words <= FEW_WORDS:
        return (whole,)
    unit = min(whole.words, max(deep for wide, deep in SHAPES if min(bits, WIDEST) <= wide))
    banks = _merged(_pieces(ranges, unit), unit)
    while len(banks) > _MOST:
        joined = [_absorbed(banks, one.around(other)) for one, other in pairwise(banks)]
        banks = min(joined, key=lambda found: blocks_of(found, bits))
    return tuple(banks) if blocks_of(banks, bits) < blocks_of([whole], bits) else (whole,)


def blocks_of(banks: Iterable[Bank], bits: int) -> int:
    """Return the block RAMs of some banks of words of `bits` bits. Those of `FEW_WORDS` words or fewer lie in LUTs."""
    return sum(block_rams(wide, bank.words) for bank in banks if bank.words > FEW_WORDS for wide in widths(bits))


def _pieces(ranges: Ranges, unit: int) -> list[Bank]:
    """Return a bank for each block RAM of `unit` words of which some are needed."""
    found: dict[int, Bank] = {}
    for begin, end in ranges:
        for number in range(begin // unit, (end - 1) // unit + 1):
            own = _around(max(begin, number * unit), min(end, (number + 1) * unit))
            found[number] = own.around(found[number]) if number in found else own
    banks = []
    for number, bank in sorted(found.items()):
        few = _around(bank.begin // _RANK * _RANK, -(-bank.end // _RANK) * _RANK)
        banks.append(few if few.words <= min(FEW_WORDS, unit) else Bank(number * unit, unit))
    return banks


def _merged(banks: list[Bank], unit: int) -> list[Bank]:
    """Join two neighbours of equal size, whole block RAMs, where they are the halves of a bank."""
    found: list[Bank] = []
    for bank in banks:
        found.append(bank)
        while len(found) > 1 and found[-1].words == found[-2].words >= unit:
            both = found[-2].around(found[-1])
            if both.words != 2 * found[-1].words:
                break
            found[-2:] = [both]
    return found


def _absorbed(banks: Sequence[Bank], whole: Bank) -> list[Bank]:
    """Return banks with `whole` in place of those inside it."""
    outside = [bank for bank in banks if bank.end <= whole.begin or whole.end <= bank.begin]
    return sorted([*outside, whole])
