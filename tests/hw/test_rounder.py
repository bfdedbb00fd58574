"""A rounder without logic before its word gives what the one with it gives; words from elsewhere pass it."""

import random
from typing import Any

import pytest

from tabla.hw.rounder import Rounder
from tests.hw.bench import corners, played

WIDTH, FRACTION, BITS, SHIFT = 16, 10, 37, 13


def sums(chance: random.Random) -> list[int]:
    """Sums of every size, at and around the ends of the word among them."""
    found = [(word << SHIFT) + near for word in corners(WIDTH) for near in (-1, 0, 1)]
    found += [side * (1 << WIDTH + SHIFT - 1) + near for side in (-2, -1, 1, 2) for near in (-(1 << SHIFT), -1, 0, 1)]
    return found + [chance.randrange(-(1 << size), 1 << size) for size in range(1, BITS) for _ in range(6)]


def rounder(**options: Any) -> Rounder:
    return Rounder(
        width=WIDTH, fraction=FRACTION, accumulator=BITS, shifts=(SHIFT,), posts=("none",), loads=True, **options
    )


def fits(total: int) -> bool:
    return -(1 << WIDTH - 1) <= total >> SHIFT < 1 << WIDTH - 1


@pytest.mark.parametrize("beside", [False, True])
def test_plain_and_not_the_same_results(beside: bool) -> None:
    chance = random.Random(5)
    totals = sums(chance)
    inverted = [chance.randint(0, 1) for _ in totals]
    kept = [~total if turned else total for total, turned in zip(totals, inverted, strict=True)]
    row = {"load": 0, "loaded": 0, "post": 0, "valid": 1}
    known = played(rounder(), [row | {"accumulator": k, "inverted": i} for k, i in zip(kept, inverted, strict=True)])
    rows = []
    for total, k, i in zip(totals, kept, inverted, strict=True):
        rows.append(row | {"accumulator": k, "inverted": i})
        if beside:
            here = chance.randint(0, 1)
            rows[-1] |= {"joined": k * here, "joined_outside": here & (not fits(total)), "accumulator": k * (1 - here)}
    seen = played(rounder(plain=True, joins=beside), rows)
    late = Rounder.LATENCY
    assert [(s["result"], s["saturated"]) for s in seen[late:]] == [(s["result"], s["saturated"]) for s in known[late:]]
    assert {s["saturated"] for s in seen[late:]} == {0, 1}


def test_a_word_that_passes_takes_the_place_of_a_result_and_hides_no_overflow() -> None:
    chance = random.Random(6)
    totals = sums(chance)
    load = [chance.randint(0, 1) for _ in totals]
    words = [chance.randrange(-(1 << WIDTH - 1), 1 << WIDTH - 1) for _ in totals]
    rows = []
    for cycle, total in enumerate(totals):
        passes = cycle > 0 and load[cycle - 1]
        loaded = words[cycle - 1] & ((1 << WIDTH) - 1) if passes else 0
        rows.append({"accumulator": total, "inverted": 0, "load": load[cycle], "loaded": loaded, "valid": 1})
    seen = played(rounder(plain=True), rows)
    low, high = -(1 << WIDTH - 1), (1 << WIDTH - 1) - 1
    for cycle, total in enumerate(totals[: -Rounder.LATENCY]):
        shown = seen[cycle + Rounder.LATENCY]
        assert shown["saturated"] == (not fits(total))
        assert shown["result"] == (words[cycle] if load[cycle] else max(low, min(high, total >> SHIFT)))
