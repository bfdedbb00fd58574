"""Words as residues modulo a prime: sums and products are the ring's, everything else is a fixed hash function.

This is random interpretation (Gulwani and Necula, "Random interpretation", POPL 2003): polynomial identity testing
after Schwartz (1980) and Zippel (1979), with operations that are no polynomials as functions of which nothing is known
but that equal operands give equal results (Ackermann, 1954). Extremes are multisets, told apart by the sum of their
words (Clarke et al., "Incremental multiset hash functions", 2003).

Every array here has int64 elements in [0, PRIME), and at least one axis.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tabla.graph.contraction import contract
from tabla.graph.graph import CompareOp

Residues = NDArray[np.int64]
Counts = NDArray[np.int64]
Mode = Literal["sum", "max", "min"]
"""What an accumulator collects: summands, or the operands of an extreme."""

PRIME = 2_147_483_629
"""The largest prime below 2^31 - 1, of which 2 has a small order: products of two residues fit 64 bits."""
SEED = 20_190_812
STORED = 1 << 40
"""What a stored integer counts among the parts of a sum: more than all whole words of a sum together."""

_ROUND, _EXTREME, _FUNCTION, _GATHER, _COMPARE, _NOTHING, _UPPER, _GUARD, _WIDE = range(1, 10)
_COMPARES: dict[CompareOp, tuple[int, int]] = {
    "<": (1, 1),
    ">": (1, -1),
    "<=": (2, 1),
    ">=": (2, -1),
    "==": (3, 0),
    "!=": (4, 0),
}
"""Of each comparison with zero the code and the sign of the number: ``x > 0`` is ``-x < 0``."""


def power_of_two(exponent: int) -> int:
    """2^exponent as a residue; the exponent may be negative."""
    return pow(2, exponent, PRIME)


def half_unit(shift: int) -> int:
    """What rounding by `shift` bits adds, as a residue; nothing where nothing is shifted out."""
    return power_of_two(shift - 1) if shift else 0


def drawn(name: str, shape: Sequence[int]) -> Residues:
    """Residues for the elements of a tensor: the same for every run, different for every name."""
    random = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    return random.integers(0, PRIME, size=tuple(shape), dtype=np.int64)


POISON = int(drawn("a word that no tensor holds", (1,))[0])
"""What lies at addresses that hold no element, and in elements that no statement writes."""


def _hashed(kind: int, key: int, *words: Residues) -> Residues:
    """A residue for each tuple of words; `kind` and `key` choose the function. The mixing is that of splitmix64."""
    start = np.uint64((SEED * 0x9E3779B97F4A7C15 + kind * 0xD1B54A32D192ED03 + key * 0x8CB92BA72F3D8DD7) & (2**64 - 1))
    state = np.full((1,) * words[0].ndim, start, dtype=np.uint64)
    for word in words:
        state = (state ^ word.astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(32)
    found: Residues = (state % np.uint64(PRIME)).astype(np.int64)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sum:
    """What an accumulator holds: `total`, half units included, and these alone as `halves`.

    `parts` says whether it is one word alone: 0 nothing was added, 1 one whole word, `STORED` one stored integer of a
    wide model, anything else several. Arrays that broadcast to each other.
    """

    total: Residues
    halves: Residues
    parts: Counts

    @staticmethod
    def of(total: Residues) -> Sum:
        """A sum of which several parts are known to be added."""
        many = np.full((1,) * total.ndim, 2, dtype=np.int64)
        return Sum(total=total, halves=np.zeros_like(many), parts=many)

    def word(self, shift: int, mode: Mode, *, wide: bool = False) -> Residues:
        """The accumulator shifted and saturated; to the bits of a word, or with guard bits if it is `wide`.

        One word alone comes out as it went in, and an empty sum is 0, with half a unit or without it; with several
        halves neither does.
        """
        several = self.several(wide)
        if mode == "sum":
            kind = _WIDE if wide else _ROUND
            if several.size and several.all():
                return _hashed(kind, shift, self.total)
            other, nothing = _hashed(kind, shift, self.total), 0
        else:
            other, nothing = _hashed(_EXTREME, ("max", "min").index(mode), self.total), empty_extreme(mode)
        alone = (self.total - self.halves) % PRIME * power_of_two(-shift) % PRIME
        plain = (self.halves == 0) | (self.halves == half_unit(shift))
        few = np.where(self.parts == 0, nothing, alone)
        found: Residues = np.where(plain & ~several, few, other)
        return found

    def several(self, wide: bool) -> NDArray[np.bool_]:
        """Where the result of an operation, `wide` or not, is more than one word of its own width alone."""
        found: NDArray[np.bool_] = (self.parts != 0) & (self.parts != (STORED if wide else 1))
        return found

    def compared(self, op: CompareOp) -> Residues:
        """The word of ``accumulator op 0``."""
        code, sign = _COMPARES[op]
        number = self.total % PRIME
        if sign < 0:
            number = -number % PRIME
        elif sign == 0:
            number = np.minimum(number, -number % PRIME)
        return _hashed(_COMPARE, code, number)


def empty_extreme(mode: Mode) -> int:
    """The lowest word of the format, or the highest for the smallest of no words."""
    return int(_hashed(_NOTHING, ("max", "min").index(mode), np.zeros(1, dtype=np.int64))[0])


def applied(code: int, word: Residues, divisor: Residues | None = None) -> Residues:
    """The value of function `code` of the function unit; a quotient also has a divisor."""
    return _hashed(_FUNCTION, code, word) if divisor is None else _hashed(_FUNCTION, code, word, divisor)


def upper(stored: Residues) -> Residues:
    """The words of stored integers of wide models: all that others than updates see of them."""
    return np.where(stored == POISON, POISON, _hashed(_UPPER, 0, stored))


def guard(stored: Residues) -> Residues:
    """The guard bits of stored integers, as words."""
    return np.where(stored == POISON, POISON, _hashed(_GUARD, 0, stored))


def joined(upper_bits: Residues, guard_bits: Residues) -> Residues:
    """What a memory takes of two words: upper bits, and guard bits."""
    either = (upper_bits == POISON) | (guard_bits == POISON)
    return np.where(either, POISON, _hashed(_GUARD, 1, upper_bits, guard_bits))


def gathered(tensor: str, offset: NDArray[np.int64], position: Residues) -> Residues:
    """The word of a tensor that lies `offset` words, row-major, after the one at a position that data decide.

    It stands for every position: nothing is drawn for it.
    """
    return _hashed(_GATHER, zlib.crc32(tensor.encode()), offset.astype(np.int64), position)


def contracted(factors: Sequence[Residues], outputs: int, summed: Sequence[int]) -> Residues:
    """The sum of products of one or two arrays: axes for `outputs` indices, then for summed ones of these extents."""
    made, repeats = contract(factors, outputs, summed)
    terms = max(1, int(np.prod([max(f.shape[outputs + k] for f in factors) for k in range(len(summed))], dtype=object)))
    if made.spec is None or len(made.arrays) == 1:
        total = made.value() % PRIME
    else:
        # One factor in limbs, so narrow that no sum of this many products leaves 63 bits.
        bits = min(16, 63 - 31 - (terms - 1).bit_length())
        left, right = made.arrays
        total = np.zeros(1, dtype=np.int64)
        for low in range(0, 31, bits):
            limb = (left >> low) & ((1 << bits) - 1)
            total = (total + made.value_of((limb, right)) % PRIME * power_of_two(low)) % PRIME
    whole: Residues = np.reshape(total, made.shape) * (repeats % PRIME) % PRIME
    return whole
