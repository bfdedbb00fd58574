"""The issue slots that the products of a statement take.

Lanes go in step, so that a row that does not fill the lanes takes a slot of all of them. The groups of an array divide
a statement along one index. A unit holds one sum in its accumulator until the sum is done. Slots are counted as
multiplies are: one operation of one lane or root is one slot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tabla.graph.graph import Linear, Read, Statement, Term
from tabla.graph.scan import scan_of
from tabla.graph.work import mentioned, multiplied
from tabla.schedule.bound.choice import APART, UNDIVIDED, Choice
from tabla.templates.template import Template


def issued_terms(operation: Linear, binary: frozenset[str]) -> list[Term]:
    """Return the terms that take an operation at each point: those that multiply, or the widest if none does."""
    return multiplied(operation, binary) or [max(operation.terms, key=lambda term: len(mentioned(term)))]


def points(statement: Statement, term: Term, pinned: frozenset[str]) -> int:
    """Return the multiplies of a term while the `pinned` indices are 0.

    A product is made once for all points that differ only in indices that it does not mention.
    """
    return math.prod(statement.box[name].extent for name in mentioned(term) - pinned)


def per_group(extents: Mapping[str, int], groups: int, along: str | None = None) -> int:
    """Return how many points of a box the group with most points has at the least.

    The groups divide the box along one index: `along`, or any index if it is None. If `along` is no index of the box,
    each group has all of the box. If it is `APART`, some group has nothing of it.
    """
    whole = math.prod(extents.values())
    if along == APART:
        return -(-whole // max(1, groups - 1))
    axes = extents.values() if along is None else [extents[along]] if along in extents else []
    return min((whole // extent * -(-extent // groups) for extent in axes), default=whole)


@dataclass(frozen=True, slots=True)
class Turns:
    """The least that a term takes: cycles in which the groups do their parts, and slots of all groups together.

    A slot in which a group has no part of the term may serve another statement, because tensors may share a pass.
    """

    cycles: int
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """The points of a term, without the index over the lanes.

    `sums` has the extents of the sums, `terms` the extents of what each sums, and `asked` those of the terms that are
    asked for. `over` and `over_asked` are the extents of the index over the lanes.
    """

    sums: Mapping[str, int]
    terms: Mapping[str, int]
    asked: Mapping[str, int]
    over: int
    over_asked: int

    @property
    def every(self) -> int:
        """The number of sums, where sums side by side in the lanes count once."""
        return math.prod(self.sums.values())

    @property
    def each(self) -> int:
        """The number of terms of a sum, where terms side by side in the lanes count once."""
        return math.prod(self.terms.values())

    @property
    def one(self) -> int:
        """The number of terms of the last sum that are asked for."""
        return math.prod(self.asked.values())


def turns_of(
    statement: Statement,
    term: Term,
    pinned: frozenset[str],
    choice: Choice | None,
    template: Template,
    along: str | None = None,
) -> Turns:
    """Return what a term takes, including the slots that must stay idle beside it.

    A statement at one root idles the same slot of every other root, and a row idles the lanes that it does not fill.
    Of a sum of which one term is asked for, the other terms may have come before. Without a choice the fewest slots of
    all ways count. `along` is as in `per_group`.
    """
    total, names = points(statement, term, pinned), mentioned(term)
    outs = frozenset(index.name for index in statement.indices)
    if not outs <= names or scan_of(statement) is not None:
        return Turns(0, total)
    box, over = statement.box, choice.index if choice else ""
    extents = {name: 1 if name in pinned else box[name].extent for name in names}
    found = _Box(
        sums={name: extents[name] for name in outs if name != over},
        terms={name: box[name].extent for name in names - outs if name != over},
        asked={name: extents[name] for name in names - outs if name != over},
        over=box[over].extent if over in names else 1,
        over_asked=extents.get(over, 1),
    )
    together = along == UNDIVIDED or (along is not None and along in names - outs)
    match choice:
        case Choice("root"):
            most = per_group(found.sums, max(1, template.roots), along)
            return _divided(most, found.every, found.each, found.one, template.roots, 1, together=together)
        case Choice("lane", index) if template.sequencers <= 1 and (not index or index in names):
            return _in_lanes(found, index, template, along, together=together)
        case Choice("tree") if template.sequencers <= 1 and over in names:
            return _up_the_tree(found, over, template, along, together=together)
    # So many sums may have begun before, and have one term left; all others come as a whole.
    each, one = (math.prod(e) for e in ([box[n].extent for n in names - outs], [extents[n] for n in names - outs]))
    return Turns(0, total + max(0, found.every - template.pes) * (each - one))


def _in_lanes(box: _Box, over: str, template: Template, along: str | None, *, together: bool) -> Turns:
    """Return what sums take in lanes over an index, or in every lane."""
    roots = max(1, template.roots)
    rows = _rows(box.over_asked, template.lanes)
    array = _rows(box.over_asked, template.lanes * _groups(roots, along)) * box.every
    group = rows * per_group(box.sums, roots, along)
    most = array if over and along == over else group
    if over and along in (None, APART):
        most = min(array, group)
    return _divided(most, rows * box.every, box.each, box.one, roots, template.lanes, together=together)


def _up_the_tree(box: _Box, over: str, template: Template, along: str | None, *, together: bool) -> Turns:
    """Return what sums over lanes take: the groups divide the sums, the index over lanes, or the terms of each sum."""
    roots, lanes = max(1, template.roots), template.lanes
    groups, others = _groups(roots, along), None if along == APART else along
    whole, part = _rows(box.over, lanes), _rows(box.over_asked, lanes)
    most = per_group(box.sums, roots, along)
    by_sums = _divided(most, box.every, whole * box.each, part * box.one, roots, lanes, together=together)
    cycles = (box.every - 1) * whole * per_group(box.terms, groups, others)
    cycles += part * per_group(box.asked, groups, others)
    by_terms = Turns(cycles, cycles * groups * lanes)
    whole, part = _rows(box.over, lanes * groups), _rows(box.over_asked, lanes * groups)
    cycles = (box.every - 1) * whole * box.each + part * box.one
    by_index = Turns(cycles, cycles * groups * lanes)
    ways = [by_index if along == over else by_terms if along in box.terms else by_sums]
    if along in (None, APART):
        ways = [by_index, by_sums, by_terms]
    return Turns(min(way.cycles for way in ways), min(way.slots for way in ways))


def _divided(most: int, rows: int, whole: int, part: int, roots: int, units: int, *, together: bool) -> Turns:
    """Return what `rows` rows take, of which some group has `most`.

    A row takes `whole` cycles; the row that a group has begun before takes `part`. If all groups go `together`, each
    of them takes the slots of the largest part.
    """
    roots, cycles = max(1, roots), (most - 1) * whole + part
    begun = min(rows, roots)
    return Turns(cycles, cycles * roots * units if together else ((rows - begun) * whole + begun * part) * units)


def _groups(roots: int, along: str | None) -> int:
    """Return how many groups do a part of a statement, at the most."""
    return max(1, roots - 1) if along == APART else roots


def _rows(extent: int, lanes: int) -> int:
    return -(-extent // lanes)


def root_slots(words: int, outs: Iterable[str], roots: int, along: str | None) -> int:
    """Return the slots of all roots for words that come up the tree.

    Each root takes the words of its own group. If every group makes all words, or the words are sums of all groups,
    every root takes all of them.
    """
    return words if along in (None, APART) or along in outs else words * max(1, roots)


@dataclass(frozen=True, slots=True)
class Slots:
    """The issue slots of terms on one template; each is computed once."""

    template: Template
    _known: dict[tuple[int, int, frozenset[str], Choice | None, str | None], Turns] = field(default_factory=dict)
    _issues: dict[tuple[int, str, frozenset[str], Choice, str | None], int] = field(default_factory=dict)

    def of(
        self,
        statement: Statement,
        term: Term,
        pinned: frozenset[str],
        choice: Choice | None,
        along: str | None = None,
    ) -> Turns:
        """See :func:`turns_of`."""
        key = statement.id, id(term), pinned, choice, along
        if key not in self._known:
            self._known[key] = turns_of(statement, term, pinned, choice, self.template, along)
        return self._known[key]

    def issue(
        self,
        statement: Statement,
        tensor: str,
        pinned: frozenset[str],
        choice: Choice | None,
        along: str | None = None,
    ) -> int:
        """Return the cycles from the first to the last operation that takes words of a tensor, at the least.

        The `pinned` indices are 0. Of several terms the one with the fewest cycles counts. Without a choice it is 0.
        """
        if choice is None:
            return 0
        key = statement.id, tensor, pinned, choice, along
        if key not in self._issues:
            self._issues[key] = self._issue(statement, tensor, pinned, choice, along)
        return self._issues[key]

    def share(
        self,
        statement: Statement,
        tensor: str,
        pinned: frozenset[str],
        choice: Choice | None,
        along: str | None = None,
    ) -> int:
        """Return the whole cycles of all roots, or all lanes, that these operations take; others may share the rest."""
        uses = _joined(statement, tensor, choice)
        units = max(1, self.template.roots) if choice and choice.way == "root" else self.template.pes
        return min((self.of(statement, term, pinned, choice, along).slots // units for term in uses), default=0)

    def _issue(
        self, statement: Statement, tensor: str, pinned: frozenset[str], choice: Choice, along: str | None
    ) -> int:
        units = max(1, self.template.roots) if choice.way == "root" else self.template.pes
        turns = (self.of(statement, term, pinned, choice, along) for term in _joined(statement, tensor, choice))
        return min((max(each.cycles, -(-each.slots // units)) for each in turns), default=1) - 1


def _joined(statement: Statement, tensor: str, choice: Choice | None) -> list[Term]:
    """Return the terms of a sum that read a tensor; none if some of them join at the root only."""
    uses = _uses(statement, tensor)
    if choice and choice.way == "tree" and not all(choice.index in term.reduce for term in uses):
        return []
    return uses


def _uses(statement: Statement, tensor: str) -> list[Term]:
    """Return the terms of a sum that read a tensor."""
    terms = statement.operation.terms if isinstance(statement.operation, Linear) else ()
    return [t for t in terms if any(isinstance(factor, Read) and factor.tensor == tensor for factor in t.factors)]
