"""Chains that begin with sums of the tree: one strand of the root takes each sum and computes what follows from it.

While lanes sum the terms of one word, the root has cycles to spare. In these it computes the statements that follow,
word by word, each from the result register. In a strand of their own they would have to wait until the root has
taken the last sum.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabla.graph.graph import FLIPPED, Compare, Extreme, Linear, Read, Statement
from tabla.schedule.strands.bodies import RootContext, root_sum, tested
from tabla.schedule.strands.broadcasts import broadcast, fed_task
from tabla.schedule.strands.extremes import root_extreme
from tabla.schedule.strands.finish import Delivered, finish
from tabla.schedule.strands.loops import Loop
from tabla.schedule.strands.regions import TooLarge
from tabla.schedule.strands.single import name_of, tree_sum
from tabla.schedule.strands.site import Site
from tabla.schedule.strands.strand import Operation, Owner, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing

MOST_SLOTS = 64
"""The most operations of a body."""
IDLE = Operation(fields={"a": "zero"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rhythm:
    """When the operations of a chain issue: `places` are their slots in a body of `slots`, `interval` cycles apart."""

    places: tuple[int, ...]
    slots: int
    interval: int


def joined_task(site: Site, delivered: Delivered, chain: Sequence[Statement]) -> Task:
    """Return the task of a chain whose first statement goes up the tree.

    Raises `TooLarge` if the root has too few cycles between two sums.
    """
    first, last = chain[0], chain[-1]
    fit = site.chosen.fits[first.id]
    found = tree_sum(site, first, fit)
    if len(found.above) > 1:
        raise TooLarge
    operations, late, loops = [found.above[0]], list[bool](), found.outs
    for before, statement in itertools.pairwise(chain):
        loops = _renamed(loops, before, statement)
        (operation,) = _pointwise(site, statement, RootContext(layout=site.layout, loops=loops, shown=before.target))
        operations.append(operation)
        late.append(operation.field("c") == "result" and "result" not in (operation.field("a"), operation.field("b")))
    rhythm = _rhythm(late, found.slots)
    body = [IDLE] * rhythm.slots
    for number, (place, operation) in enumerate(zip(rhythm.places, operations, strict=True)):
        apart = (place - rhythm.places[number - 1]) * rhythm.interval if number else 0
        soon = bool(number) and apart < timing().result - timing().operand
        body[place] = operation.with_fields(c="late_result") if soon else operation
    name = " + ".join(name_of(statement) for statement in chain)
    taken = found.slots - 1 + site.up(first)
    root = Strand(
        unit="root_issue",
        start=taken - rhythm.places[0] * rhythm.interval,
        body=tuple(body),
        counts=tuple(loop.count for loop in loops),
        interval=rhythm.interval,
        comment=name,
    )
    own = Owner(statement=first.id)
    issue = replace(found.issue, comment=name, owner=own)
    strands, extras = finish(site, delivered, last, None, root, loops)
    feed = tuple(replace(s, owner=own) for s in broadcast(site, first, fit, found.loops, len(issue.body)))
    return fed_task(site, last, (issue, *strands), feed, fit, issue, name, extras)


def _rhythm(late: Sequence[bool], spacing: int) -> _Rhythm:
    """Return the rhythm with the fewest slots for a chain whose first operation comes every `spacing` cycles.

    `late` says, for each operation but the first, whether the word before is only added, so that it may show a cycle
    later than a factor.
    """
    laws = timing()
    soonest = laws.result - laws.late_operand
    waits = [(soonest, laws.result - laws.operand) if each else (laws.result - laws.operand,) for each in late]
    found = []
    for choice in itertools.product(*waits):
        ends = list(itertools.accumulate(choice, initial=0))
        for interval in range(1, spacing + 1):
            slots = spacing // interval
            fits = spacing % interval == 0 and slots <= MOST_SLOTS and all(end % interval == 0 for end in ends)
            if fits and ends[-1] < spacing:
                # The last operation has the last slot of the body.
                places = tuple(slots - 1 - (ends[-1] - end) // interval for end in ends)
                found.append(_Rhythm(places=places, slots=slots, interval=interval))
    if not found:
        raise TooLarge
    return min(found, key=lambda rhythm: (rhythm.slots, rhythm.places))


def _renamed(loops: Sequence[Loop], before: Statement, after: Statement) -> tuple[Loop, ...]:
    """Return the loops of a statement in terms of the indices of the next one, which reads the same elements."""
    read = next(read for read in after.reads if read.tensor == before.target)
    names = {w.names[0]: r.names[0] for w, r in zip(before.write, read.subscripts, strict=True) if w.names}
    return tuple(replace(loop, name=names[loop.name], low=after.box[names[loop.name]].low) for loop in loops)


def _pointwise(site: Site, statement: Statement, context: RootContext) -> tuple[Operation, ...]:
    """Return the operations of a statement that sums over nothing, one for each of its words."""
    match statement.operation:
        case Linear(terms=terms, guard=guard):
            ordered, shift = site.early_first(terms), site.shift(statement)
            found = root_sum(context, ordered, start="fresh", shift=shift, levels=0, wide=bool(guard))
            return _alone(tested(statement, found))
        case Extreme() as extreme:
            return _alone(root_extreme(extreme, context))
        case Compare(op=op, left=Read() as left, right=Read() as right):
            if left.tensor == context.shown:
                # The word that comes last becomes the addend.
                return (context.operation({"a": right, "c": left}, negate=1, base="addend", post=op, emit=1),)
            return (context.operation({"a": left, "c": right}, negate=1, base="addend", post=FLIPPED[op], emit=1),)
        case _:
            raise TooLarge


def _alone(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    if len(operations) > 1:
        raise TooLarge
    return operations
