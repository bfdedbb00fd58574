"""The products of sums: which are multiplies, and how many issue slots those of a term take, counted in multiplies.

Lanes go in step: a slot is one of all lanes, so a row that does not fill them counts as full. An array of several
groups divides a statement among them along one index (DESIGN 4). A unit has one sum in its accumulator until it is
done.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from tabla.ir.graph import Constant, Linear, Operand, Read, Statement, Term
from tabla.ir.running import running
from tabla.schedule.choice import Choice
from tabla.templates.template import Template


def multiplied(operation: Linear, binary: frozenset[str]) -> list[Term]:
    """The terms that are multiplies: products of two words of which none is easy."""
    return [t for t in operation.terms if len(t.factors) == 2 and not any(easy(f, binary) for f in t.factors)]


def issued_terms(operation: Linear, binary: frozenset[str]) -> list[Term]:
    """The terms of which each point takes an operation at the least: the multiplies, or the widest term if none is."""
    return multiplied(operation, binary) or [max(operation.terms, key=lambda term: len(mentioned(term)))]


def easy(operand: Operand, binary: frozenset[str]) -> bool:
    """Whether a product with the operand is no multiply: with 0, 1, -1, or a 0/1 value."""
    match operand:
        case Constant(value=value):
            return abs(value) in (0, 1)
        case Read(tensor=tensor):
            return tensor in binary
        case _:
            return False


def mentioned(term: Term) -> frozenset[str]:
    """The indices that a product depends on."""
    return frozenset[str]().union(*(factor.names for factor in term.factors if isinstance(factor, Read)))


def points(statement: Statement, term: Term, pinned: frozenset[str]) -> int:
    """Multiplies of a term where some indices stand at 0.

    A product is made once for all points that differ in indices which it does not mention.
    """
    return math.prod(statement.box[name].extent for name in mentioned(term) - pinned)


def per_group(extents: Iterable[int], groups: int) -> int:
    """The fewest points of a box that some group has, if all have parts of it along one axis."""
    axes = list(extents)
    whole = math.prod(axes)
    return min((whole // extent * -(-extent // groups) for extent in axes), default=whole)


def slots_of(
    statement: Statement, term: Term, pinned: frozenset[str], choice: Choice | None, template: Template
) -> int:
    """The same with what stays empty beside them: at the roots slots of all roots, in the lanes of all lanes.

    Of a sum of which one term is asked for, the others of that sum may have come before. With no choice the fewest.
    """
    total, names = points(statement, term, pinned), mentioned(term)
    outs = frozenset(index.name for index in statement.indices)
    if not outs <= names or running(statement) is not None:
        return total
    box, roots, over = statement.box, max(1, template.roots), choice.index if choice else ""
    extents = {name: 1 if name in pinned else box[name].extent for name in names}
    sums = [extents[name] for name in outs if name != over]
    each = math.prod(box[name].extent for name in names - outs)
    one = math.prod(extents[name] for name in names - outs)
    match choice:
        case Choice("root"):
            return ((per_group(sums, roots) - 1) * each + one) * roots
        case Choice("lane", "") if template.sequencers <= 1:
            return ((per_group(sums, roots) - 1) * each + one) * template.pes
        case Choice("lane") if template.sequencers <= 1 and over in names:
            array = -(-extents[over] // template.pes) * math.prod(sums)
            group = -(-extents[over] // template.lanes) * per_group(sums, roots)
            return ((min(array, group) - 1) * each + one) * template.pes
        case Choice("tree") if template.sequencers <= 1 and over in names:
            others = [box[name].extent for name in names - outs if name != over]
            asked = [extents[name] for name in names - outs if name != over]

            def rows(extent: int, lanes: int) -> int:
                return -(-extent // lanes)

            # Groups divide the index over lanes, or the sums, or other terms of each.
            ways = [
                (
                    math.prod(sums),
                    rows(box[over].extent, template.pes) * math.prod(others),
                    rows(extents[over], template.pes) * math.prod(asked),
                ),
                (
                    per_group(sums, roots),
                    rows(box[over].extent, template.lanes) * math.prod(others),
                    rows(extents[over], template.lanes) * math.prod(asked),
                ),
                (
                    math.prod(sums),
                    rows(box[over].extent, template.lanes) * per_group(others, roots),
                    rows(extents[over], template.lanes) * per_group(asked, roots),
                ),
            ]
            return min((turns - 1) * whole + part for turns, whole, part in ways) * template.pes
    # Of so many sums begun before, one term each; all others whole.
    return total + max(0, math.prod(sums) - template.pes) * (each - one)


@dataclass(frozen=True, slots=True)
class Slots:
    """Issue slots on a template, kept once they are known."""

    template: Template
    _known: dict[tuple[int, int, frozenset[str], Choice | None], int] = field(default_factory=dict)
    _issues: dict[tuple[int, str, frozenset[str], Choice], int] = field(default_factory=dict)

    def of(self, statement: Statement, term: Term, pinned: frozenset[str], choice: Choice | None) -> int:
        """See :func:`slots_of`."""
        key = statement.id, id(term), pinned, choice
        if key not in self._known:
            self._known[key] = slots_of(statement, term, pinned, choice, self.template)
        return self._known[key]

    def issue(self, statement: Statement, tensor: str, pinned: frozenset[str], choice: Choice | None) -> int:
        """Cycles from the first to the last operation that takes words of a tensor, at the least.

        `pinned`: indices that stand at 0. Of several terms that with the fewest; 0 where nothing is chosen.
        """
        if choice is None:
            return 0
        key = statement.id, tensor, pinned, choice
        if key not in self._issues:
            self._issues[key] = self._issue(statement, tensor, pinned, choice)
        return self._issues[key]

    def _issue(self, statement: Statement, tensor: str, pinned: frozenset[str], choice: Choice) -> int:
        uses = _uses(statement, tensor)
        if not uses or (choice.way == "tree" and not all(choice.index in term.reduce for term in uses)):
            # What joins at the root is no work of the lanes.
            return 0
        units = max(1, self.template.roots) if choice.way == "root" else self.template.pes
        return min(-(-self.of(statement, term, pinned, choice) // units) for term in uses) - 1


def _uses(statement: Statement, tensor: str) -> list[Term]:
    """The terms of a sum that read a tensor."""
    terms = statement.operation.terms if isinstance(statement.operation, Linear) else ()
    return [t for t in terms if any(isinstance(factor, Read) and factor.tensor == tensor for factor in t.factors)]
