"""Proofs that conditions keep a read inside its tensor, for sizes that are symbols or numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tabla.lang.tc.conditions import Conjunction
from tabla.lang.tc.constraints import Interval, extremes, sign
from tabla.lang.tc.sizes import Size, floor, maximum, minimum
from tabla.lang.tc.subscripts import Linear

MOST_COMBINED = 3
"""The most conditions that are added up in one proof."""


def implied(form: Linear, conjunction: Conjunction, solved: Mapping[str, Interval]) -> bool:
    """Return whether a form is known to be at least 0 wherever all forms of a conjunction are.

    Indices that are not solved may have any value. The proof subtracts multiples of the conjunction's forms and bounds
    what remains over the ranges of the solved indices, so it finds what conditions of programs need, and not all that
    is true.
    """
    box = narrowed(conjunction, solved)
    if box is None:
        return True
    for rest in _rests(form, conjunction.forms):
        if rest.coefficients.keys() <= solved.keys():
            least = extremes(rest, box)[0].least()
            if least is not None and least >= 0:
                return True
    return False


def narrowed(conjunction: Conjunction, solved: Mapping[str, Interval]) -> Mapping[str, Interval] | None:
    """Return the ranges of the solved indices without the ends that conditions on one index exclude.

    Return None where it is known that the conjunction holds nowhere.
    """
    box = dict(solved)
    for form in conjunction.forms:
        if not form.coefficients:
            most = (-form.constant).least()
            if most is not None and most > 0:
                return None
        if len(form.coefficients) != 1:
            continue
        ((name, factor),) = form.coefficients.items()
        if name not in box:
            continue
        old = box[name]
        if sign(factor) > 0:
            low = floor(-form.constant + factor - 1, factor)
            box[name] = Interval(low=maximum(old.low, low), high=old.high)
        elif sign(factor) < 0:
            high = floor(form.constant, -factor) + 1
            box[name] = Interval(low=old.low, high=minimum(old.high, high))
        emptiness = (box[name].low - box[name].high).least()
        if emptiness is not None and emptiness >= 0:
            return None
    return box


def certain(conjunction: Conjunction, solved: Mapping[str, Interval]) -> Mapping[str, Interval] | None:
    """Return the box of points at which a read under the conjunction may be made, whatever the data.

    Return None where the points are no box, or where there may be none.
    """
    box = narrowed(conjunction, solved)
    if box is None or not conjunction.exact:
        return None
    for form in conjunction.forms:
        least = form.constant.least()
        if len(form.coefficients) > 1 or (not form.coefficients and (least is None or least < 0)):
            return None
        if any(not sign(factor) for factor in form.coefficients.values()):
            return None
    extents = [interval.extent.least() for interval in box.values()]
    return box if all(extent is not None and extent >= 1 for extent in extents) else None


def _rests(form: Linear, given: Sequence[Linear]) -> Iterator[Linear]:
    """Yield the form less sums of given forms; a given form alone is also subtracted several times."""
    yield form
    for one in given:
        for times in _multiples(form, one):
            yield form.plus(one, Size.number(-times))
    for count in range(2, MOST_COMBINED + 1):
        for several in combinations(given, count):
            rest = form
            for one in several:
                rest = rest.plus(one, Size.number(-1))
            yield rest


def _multiples(form: Linear, given: Linear) -> list[int]:
    """How many times to subtract a form so that an index vanishes."""
    found = {1}
    for name, size in given.coefficients.items():
        own = form.coefficients.get(name)
        divisor, dividend = size.value, None if own is None else own.value
        if divisor and dividend and dividend % divisor == 0 and dividend // divisor > 0:
            found.add(dividend // divisor)
    return sorted(found)
