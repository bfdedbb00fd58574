"""The products of sums: which are multiplies, and how many issue slots those of a term take, counted in multiplies.

Lanes go in step: a slot is one of all lanes, so a row that does not fill them counts as full. An array of several
groups divides a statement among them along one index (DESIGN 4). A unit has one sum in its accumulator until it is
done.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tabla.bound.choice import APART, UNDIVIDED, Choice
from tabla.ir.graph import Linear, Read, Statement, Term
from tabla.ir.scan import scan_of
from tabla.ir.work import mentioned, multiplied
from tabla.templates.template import Template


def issued_terms(operation: Linear, binary: frozenset[str]) -> list[Term]:
    """The terms of which each point takes an operation at the least: the multiplies, or the widest term if none is."""
    return multiplied(operation, binary) or [max(operation.terms, key=lambda term: len(mentioned(term)))]


def points(statement: Statement, term: Term, pinned: frozenset[str]) -> int:
    """Multiplies of a term where some indices stand at 0.

    A product is made once for all points that differ in indices which it does not mention.
    """
    return math.prod(statement.box[name].extent for name in mentioned(term) - pinned)


def per_group(extents: Mapping[str, int], groups: int, along: str | None = None) -> int:
    """The points of a box that some group has at the least, if all have parts of it along one index: this one, or any.

    If it is none of the box, each group has all of it; if it is `APART`, some group has none.
    """
    whole = math.prod(extents.values())
    if along == APART:
        return -(-whole // max(1, groups - 1))
    axes = extents.values() if along is None else [extents[along]] if along in extents else []
    return min((whole // extent * -(-extent // groups) for extent in axes), default=whole)


@dataclass(frozen=True, slots=True)
class Turns:
    """The least that a term takes: cycles, in which groups do their parts, and all groups' slots of so many units.

    Other statements may have the slots that a group has no part for (DESIGN 4: tensors may share a pass).
    """

    cycles: int
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """The points of a term: extents by index of the sums, and of what one of them sums, but for the index over lanes;
    all, and those that are asked for.
    """

    sums: Mapping[str, int]
    terms: Mapping[str, int]
    asked: Mapping[str, int]
    over: int
    over_asked: int

    @property
    def every(self) -> int:
        """How many sums, but for those side by side."""
        return math.prod(self.sums.values())

    @property
    def each(self) -> int:
        """How many terms a sum has, but for those side by side."""
        return math.prod(self.terms.values())

    @property
    def one(self) -> int:
        """Of the last sum those that are asked for."""
        return math.prod(self.asked.values())


def turns_of(
    statement: Statement,
    term: Term,
    pinned: frozenset[str],
    choice: Choice | None,
    template: Template,
    along: str | None = None,
) -> Turns:
    """The same with what stays empty beside them: at the roots slots of all roots, in the lanes of all lanes.

    Of a sum of which one term is asked for, the others of that sum may have come before. With no choice the fewest.
    `along`: see `per_group`.
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
    # Of so many sums begun before, one term each; all others whole.
    each, one = (math.prod(e) for e in ([box[n].extent for n in names - outs], [extents[n] for n in names - outs]))
    return Turns(0, total + max(0, found.every - template.pes) * (each - one))


def _in_lanes(box: _Box, over: str, template: Template, along: str | None, *, together: bool) -> Turns:
    """Sums in lanes over an index, or all of them in every lane."""
    roots = max(1, template.roots)
    rows = _rows(box.over_asked, template.lanes)
    array = _rows(box.over_asked, template.lanes * _groups(roots, along)) * box.every
    group = rows * per_group(box.sums, roots, along)
    most = array if over and along == over else group
    if over and along in (None, APART):
        most = min(array, group)
    return _divided(most, rows * box.every, box.each, box.one, roots, template.lanes, together=together)


def _up_the_tree(box: _Box, over: str, template: Template, along: str | None, *, together: bool) -> Turns:
    """Sums over an index over lanes: groups divide the sums, the index, or other terms of each sum."""
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
    """So many rows, a group the most, each of whole sums but for one that each group has begun; or all groups do as
    many together.
    """
    roots, cycles = max(1, roots), (most - 1) * whole + part
    begun = min(rows, roots)
    return Turns(cycles, cycles * roots * units if together else ((rows - begun) * whole + begun * part) * units)


def _groups(roots: int, along: str | None) -> int:
    """The groups that do a part at the most."""
    return max(1, roots - 1) if along == APART else roots


def _rows(extent: int, lanes: int) -> int:
    return -(-extent // lanes)


def root_slots(words: int, outs: Iterable[str], roots: int, along: str | None) -> int:
    """All roots' slots for words that one statement makes of what comes up: all take what every group makes, and the
    sums of all groups.
    """
    return words if along in (None, APART) or along in outs else words * max(1, roots)


@dataclass(frozen=True, slots=True)
class Slots:
    """Issue slots on a template, kept once they are known."""

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
        """Cycles from the first to the last operation that takes words of a tensor, at the least.

        `pinned`: indices that stand at 0. Of several terms that with the fewest; 0 where nothing is chosen.
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
        """Whole cycles of all roots, or of all lanes, that these operations take: others may have the rest."""
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
    """The terms of a sum that read a tensor; none if not all are work of the lanes that send them up."""
    uses = _uses(statement, tensor)
    if choice and choice.way == "tree" and not all(choice.index in term.reduce for term in uses):
        return []
    return uses


def _uses(statement: Statement, tensor: str) -> list[Term]:
    """The terms of a sum that read a tensor."""
    terms = statement.operation.terms if isinstance(statement.operation, Linear) else ()
    return [t for t in terms if any(isinstance(factor, Read) and factor.tensor == tensor for factor in t.factors)]
