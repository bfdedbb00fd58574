"""The cycles between two words u and v of a circuit, given the work that must lie between them.

Some operations are far from u, and some are far from v. Any part of the operations takes the shortest way from u to its
first operation, the issue of all, and the shortest way from its last operation to v. This is the bound of jobs with
heads and tails on one machine (J. Carlier, The one-machine sequencing problem, European Journal of Operational
Research 11, 1982). The layers of a network wait for each other, and the work of a layer is such a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabla.schedule.bound.distances import NEVER, Times
from tabla.schedule.bound.shares import issue_cycles
from tabla.templates.template import Template, timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Operations of one term that lie between u and v.

    No operation issues earlier than `head` cycles after u, or later than `tail` cycles before v, at the place where it
    is done. Both are NEVER at a place where it is not done. `multiplies` counts the operations that multiply. `slots`
    counts all that they take, including slots that stay idle beside them. `aside` names the model that some group does
    not have, so that this group has no part of the work.
    """

    multiplies: int
    slots: int
    head: Times
    tail: Times
    aside: str = ""

    @property
    def way(self) -> Times:
        """The cycles from u to v through one of the operations."""
        return Times(self.head.root + self.tail.root, self.head.lane + self.tail.lane)


def longest(before: Sequence[Work], after: Sequence[Work], template: Template) -> int:
    """Return the cycles from u to v with work of u's sample `before` and of v's `after`; -1 if there is no work."""
    if not before and not after:
        return -1
    issue = _issue([work.multiplies for work in before], [work.multiplies for work in after], template)
    whole = issue - 1 + timing().multiply + timing().accumulate + timing().round
    every = [*before, *after]
    roots, lanes = _roots(every), _lanes(every)
    parts = [*_parts(every, lane=True), *_parts(roots, lane=False)]
    # If roots do some of the work, the lanes' work is looked at alone as well.
    parts += _parts(lanes, lane=True) if len(lanes) < len(every) else []
    cycles = [whole, *(_cycles(part, way, template.pes, max(1, template.roots)) for part, way in parts)]
    for model in sorted({each.aside for each in every} - {""}):
        own = [each for each in every if each.aside == model]
        parts = [*_parts(_roots(own), lane=False), *_parts(_lanes(own), lane=True)]
        cycles += (_cycles(part, way, template.pes - template.lanes, template.roots - 1) for part, way in parts)
    return max(cycles)


def issued(work: Sequence[Work], template: Template) -> Times:
    """Return the cycles in which the roots, and the lanes, issue the work that is theirs alone."""
    roots, lanes = _roots(work), _lanes(work)
    return Times(
        -(-sum(each.slots for each in roots) // max(1, template.roots)),
        -(-sum(each.slots for each in lanes) // template.pes),
    )


def behind(work: Sequence[Work], template: Template) -> Times:
    """Return the cycles to v from an operation that comes before all of this work on its unit."""
    cycles = issued(work, template)
    return Times(
        cycles.root + min((each.tail.root for each in _roots(work)), default=0),
        cycles.lane + min((each.tail.lane for each in _lanes(work)), default=0),
    )


def _roots(work: Sequence[Work]) -> list[Work]:
    """Return the work that no lane does."""
    return [each for each in work if each.way.lane >= NEVER]


def _lanes(work: Sequence[Work]) -> list[Work]:
    """Return the work that no root does."""
    return [each for each in work if each.way.root >= NEVER]


def _parts(work: Sequence[Work], *, lane: bool) -> Iterator[tuple[list[int], Times]]:
    """Yield every part of the work that is at least so far from u and at least so far from v.

    With the slots of a part goes the way from u to v: the shortest head and the shortest tail in it. Distances are
    those in the lanes or at the roots.
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
    """Return the cycles from u to v with a part of the work, in whatever order lanes and roots do it."""
    alone = [way.root - (-sum(slots) // roots), way.lane - (-sum(slots) // lanes)]
    if max(way.root, way.lane) >= NEVER:
        return min(alone) - 1
    idle = Times(way.root - way.least, way.lane - way.least)
    shared = issue_cycles(slots, lanes, roots, lanes_idle=idle.lane, roots_idle=idle.root)
    return min(*alone, way.least + max(shared, idle.root + 1, idle.lane + 1)) - 1


def _issue(before: Sequence[int], after: Sequence[int], template: Template) -> int:
    """Return the cycles from the first issue to the last of multiplies before a model is written and after that."""
    laws, roots = timing(), max(1, template.roots)
    # A word goes from a root to the lanes, and what they make of it goes back, beside the operations themselves.
    away = laws.broadcast + 1 + template.tree_levels * laws.tree_level
    # No multiply after the write issues before a word of the model is written, and none before the write issues so
    # late that no word can be read again. Each kind lacks these cycles. A root's write may follow a late addend.
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
