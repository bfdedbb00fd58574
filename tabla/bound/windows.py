"""How long work takes between two words of a circuit, at the least: all of it, and what is far from both.

Of the multiplies between words u and v some are far from u, some far from v. Any part of them takes the shortest way
from u to its first, its issue, and the shortest way from its last to v, as jobs on a machine do that have heads and
tails (J. Carlier, The one-machine sequencing problem, European Journal of Operational Research 11, 1982). A
network's layers wait for each other, and what is done between two of them is such a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabla.bound.distances import NEVER, Times
from tabla.bound.shares import issue_cycles
from tabla.templates.template import Template, timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """So many multiplies of a term, none less than `head` cycles after u, and each at least `tail` before v, by where
    they are done: NEVER where they are not.

    `slots`: these, with what stays empty beside them; in the lanes all of them. `aside`: the model that some group has
    not, so that this group has no part of the work.
    """

    multiplies: int
    slots: int
    head: Times
    tail: Times
    aside: str = ""

    @property
    def way(self) -> Times:
        """From u to v through one of them."""
        return Times(self.head.root + self.tail.root, self.head.lane + self.tail.lane)


def longest(before: Sequence[Work], after: Sequence[Work], template: Template) -> int:
    """Cycles from u to v around so much work of u's sample and of v's; negative if there is none."""
    if not before and not after:
        return -1
    issue = _issue([work.multiplies for work in before], [work.multiplies for work in after], template)
    whole = issue - 1 + timing().multiply + timing().accumulate + timing().round
    every = [*before, *after]
    roots, lanes = _roots(every), _lanes(every)
    parts = [*_parts(every, lane=True), *_parts(roots, lane=False)]
    # What no root does is looked at alone if a root does some of the rest.
    parts += _parts(lanes, lane=True) if len(lanes) < len(every) else []
    cycles = [whole, *(_cycles(part, way, template.pes, max(1, template.roots)) for part, way in parts)]
    for model in sorted({each.aside for each in every} - {""}):
        own = [each for each in every if each.aside == model]
        parts = [*_parts(_roots(own), lane=False), *_parts(_lanes(own), lane=True)]
        cycles += (_cycles(part, way, template.pes - template.lanes, template.roots - 1) for part, way in parts)
    return max(cycles)


def issued(work: Sequence[Work], template: Template) -> Times:
    """Cycles in which the roots, and the lanes, issue all of this work that is theirs alone."""
    roots, lanes = _roots(work), _lanes(work)
    return Times(
        -(-sum(each.slots for each in roots) // max(1, template.roots)),
        -(-sum(each.slots for each in lanes) // template.pes),
    )


def behind(work: Sequence[Work], template: Template) -> Times:
    """Cycles to v from an operation that goes before all this work on its unit, a root's or the lanes'."""
    cycles = issued(work, template)
    return Times(
        cycles.root + min((each.tail.root for each in _roots(work)), default=0),
        cycles.lane + min((each.tail.lane for each in _lanes(work)), default=0),
    )


def _roots(work: Sequence[Work]) -> list[Work]:
    """What no lane does."""
    return [each for each in work if each.way.lane >= NEVER]


def _lanes(work: Sequence[Work]) -> list[Work]:
    """What no root does."""
    return [each for each in work if each.way.root >= NEVER]


def _parts(work: Sequence[Work], *, lane: bool) -> Iterator[tuple[list[int], Times]]:
    """The slots of all that is so far from u, and so far from v, in the lanes or at the roots, and the shortest ways
    to some of it and from some of it.
    """

    def at(times: Times) -> int:
        return times.lane if lane else times.root

    for least in sorted({at(each.head) for each in work}):
        far = sorted((each for each in work if at(each.head) >= least), key=lambda each: -at(each.tail))
        slots, head, tail = [], far[0].head, far[0].tail
        for number, each in enumerate(far, start=1):
            slots.append(each.slots)
            head, tail = head.sooner(each.head), tail.sooner(each.tail)
            if number == len(far) or at(far[number].tail) < at(each.tail):
                yield list(slots), Times(head.root + tail.root, head.lane + tail.lane)


def _cycles(slots: Sequence[int], way: Times, lanes: int, roots: int) -> int:
    """Cycles from u to v around a part of the work, in whatever order so many lanes and roots do it."""
    alone = [way.root - (-sum(slots) // roots), way.lane - (-sum(slots) // lanes)]
    if max(way.root, way.lane) >= NEVER:
        return min(alone) - 1
    idle = Times(way.root - way.least, way.lane - way.least)
    shared = issue_cycles(slots, lanes, roots, lanes_idle=idle.lane, roots_idle=idle.root)
    return min(*alone, way.least + max(shared, idle.root + 1, idle.lane + 1)) - 1


def _issue(before: Sequence[int], after: Sequence[int], template: Template) -> int:
    """Cycles from the first possible issue to the last of so many multiplies of each term, before the model is written
    and after it.
    """
    laws, roots = timing(), max(1, template.roots)
    # From a root to lanes, and what they make of it to a root, beside the cycles of operations.
    away = laws.broadcast + 1 + template.tree_levels * laws.tree_level
    # None of those after is issued before a word of the model is written, none of those before so late that no word
    # is read again: each kind lacks these cycles, a root's write following an addend that came late.
    written = laws.result + laws.memory_write
    late = laws.late_operand - laws.operand

    def enough(work: Sequence[int], lanes: int, root: int) -> int:
        return issue_cycles(work, template.pes, roots, lanes_idle=lanes, roots_idle=root)

    alone = -(-sum((*before, *after)) // roots)
    shared = max(
        enough((*before, *after), away, 0),
        enough(before, away + written, written - late),
        enough(after, away + written, written - late),
        away + written + 1,
    )
    return min(alone, shared)
