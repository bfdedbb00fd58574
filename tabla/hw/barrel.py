"""Words that move by a number of places which is known only while the hardware works."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Mux

MULTIPLEXED = 4
"""For up to so many places a multiplexer takes no more logic than a rank of two-way choices for each bit."""


def distance(index: Any, places: Sequence[int]) -> list[Any]:
    """Return the bits of how far the place that an index names lies above the least of the places."""
    least = min(places)
    bits = (max(places) - least).bit_length()
    return [
        reduce(or_, (index == n for n, place in enumerate(places) if (place - least) >> bit & 1), Const(0, 1))
        for bit in range(bits)
    ]


def moved_up(word: Any, by: Sequence[Any]) -> Any:
    """Return a signed word moved up by the number whose bits are given. It is so wide that nothing is lost."""
    for bit, moves in enumerate(by):
        places = 1 << bit
        word = Mux(moves, Cat(Const(0, places), word), Cat(word, word[-1].replicate(places)))
    return word


def moved_down(word: Any, by: Sequence[Any], width: int) -> tuple[Any, Any]:
    """Return a signed word that is moved down and cut to `width` bits, and whether it has lost its value by the cut.

    `by` has the bits of the number of places, two bits or more. The flag says whether the highest bit that is left, or
    a bit above it, differs from the sign of `word`. It does not wait for the last two moves, so that it is little
    deeper than the word.
    """
    sign = word[-1]

    def unlike(bits: Any) -> Any:
        return (bits ^ sign.replicate(len(bits))).any()

    reach = width + (1 << len(by)) - 1
    beyond = [unlike(word[reach:])] if len(word) > reach else []
    word = Cat(word, sign.replicate(max(0, reach - len(word))))[:reach]
    for bit in reversed(range(2, len(by))):
        rest = width + (1 << bit) - 1
        beyond.append(~by[bit] & unlike(word[rest:]))
        word = Mux(by[bit], word[1 << bit :], word[:rest])
    one, two = by[0], by[1]
    for place, passed in ((3, Const(0, 1)), (2, one & two), (1, two), (0, one | two)):
        beyond.append(~passed & (word[width - 1 + place] ^ sign))
    word = Mux(two, word[2:], word[: width + 1])
    return Mux(one, word[1:], word[:width]), reduce(or_, beyond)
