"""Words as residues: copies stay as they are, everything else is told apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tabla.graph.graph import CompareOp
from tabla.schedule.check.residues import (
    PRIME,
    Residues,
    Sum,
    applied,
    contracted,
    drawn,
    empty_extreme,
    gathered,
    half_unit,
    power_of_two,
)

WORD = drawn("a word", (1, 5))
OTHER = drawn("another", (1, 5))
NONE: Residues = np.zeros((1, 1), dtype=np.int64)


def held(total: Residues, parts: int, halves: int = 0) -> Sum:
    return Sum(total=total % PRIME, halves=NONE + halves, parts=NONE + parts)


def test_the_modulus_is_a_prime_below_31_bits() -> None:
    assert PRIME < 2**31 and all(PRIME % divisor for divisor in range(2, 46_341))


@pytest.mark.parametrize("shift", [0, 1, 10, 30])
@pytest.mark.parametrize("rounded", [False, True])
def test_one_word_alone_comes_out_as_it_went_in(shift: int, rounded: bool) -> None:
    half = half_unit(shift) if rounded else 0
    alone = held(WORD * power_of_two(shift) + half, 1, half)
    for mode in ("sum", "max", "min"):
        np.testing.assert_array_equal(alone.word(shift, mode), WORD)


def test_several_halves_make_another_word() -> None:
    """As when every lane adds its own to the one word that goes up the tree."""
    halves = 4 * half_unit(10)
    alone, none = held(WORD * power_of_two(10) + halves, 1, halves), held(NONE + halves, 0, halves)
    assert not (alone.word(10, "sum") == WORD).any() and none.word(10, "sum").all()


def test_an_empty_sum_is_nothing_and_an_empty_extreme_an_end() -> None:
    half = half_unit(10)
    assert not held(NONE + half, 0, half).word(10, "sum").any()
    ends = {empty_extreme("max"), empty_extreme("min")}
    assert len(ends) == 2 and {int(held(NONE, 0).word(10, mode)[0, 0]) for mode in ("max", "min")} == ends


def test_what_differs_gives_other_words() -> None:
    """Other sums, shifts, halves, functions, operands in another order, offsets: no word twice."""
    both = WORD * OTHER % PRIME
    words = [
        held(both, 2).word(10, "sum"),
        held(both, 2).word(11, "sum"),
        held(both + half_unit(10), 2).word(10, "sum"),
        held(WORD + OTHER, 2).word(10, "max"),
        held(WORD + OTHER, 2).word(10, "min"),
        *(held(both, 2).compared(op) for op in ("<", "<=", ">", ">=", "==", "!=")),
        *(applied(code, WORD) for code in (1, 2, 9)),
        applied(7, WORD, OTHER),
        applied(7, OTHER, WORD),
        *(gathered("table", NONE + offset, WORD) for offset in (0, 1, -1)),
        gathered("another", NONE, WORD),
    ]
    found = np.concatenate([word.reshape(-1) for word in words])
    assert len(np.unique(found)) == len(found)


@pytest.mark.parametrize(("op", "turned"), [("<", ">"), ("<=", ">="), ("==", "=="), ("!=", "!=")])
def test_comparisons_may_be_turned_round(op: CompareOp, turned: CompareOp) -> None:
    one, other = held(WORD - OTHER, 2), held(OTHER - WORD, 2)
    np.testing.assert_array_equal(one.compared(op), other.compared(turned))


@pytest.mark.parametrize("terms", [1, 7, 70_000])
def test_sums_of_products_never_wrap(terms: int) -> None:
    left, right = (np.full((1, 2, terms), PRIME - n, dtype=np.int64) for n in (1, 2))
    found = contracted([left, right], 2, [terms])
    assert (found == 2 * terms % PRIME).all()
    assert (contracted([left], 2, [terms]) == -terms % PRIME).all()


def test_sums_of_products_are_those_of_integers() -> None:
    left, right = drawn("left", (1, 3, 1, 4)), drawn("right", (1, 1, 2, 4))
    found = contracted([left, right], 3, [4])
    for i, j in itertools.product(range(3), range(2)):
        exact = sum(int(left[0, i, 0, k]) * int(right[0, 0, j, k]) for k in range(4)) % PRIME
        assert found[0, i, j] == exact
