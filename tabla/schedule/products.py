"""The products of sums: which are multiplies, and how many issue slots those of a term take, counted in multiplies.

Lanes go in step: a slot is one of all lanes, so a row that does not fill them counts as full. An array of several
groups divides a statement among them along one index (DESIGN 4). A unit has one sum in its accumulator until it is
done.
"""

from __future__ import annotations

import math

from tabla.ir.graph import Constant, Linear, Operand, Read, Statement, Term
from tabla.ir.running import running
from tabla.schedule.distances import Choice
from tabla.templates.template import Template


def multiplied(operation: Linear, binary: frozenset[str]) -> list[Term]:
    """The terms that are multiplies: products of two words of which none is easy."""
    return [t for t in operation.terms if len(t.factors) == 2 and not any(easy(f, binary) for f in t.factors)]


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
    reads = (factor for factor in term.factors if isinstance(factor, Read))
    return frozenset(name for read in reads for subscript in read.subscripts for name in subscript.names)


def points(statement: Statement, term: Term, pinned: frozenset[str]) -> int:
    """Multiplies of a term where some indices stand at 0.

    A product is made once for all points that differ in indices which it does not mention.
    """
    return math.prod(statement.box[name].extent for name in mentioned(term) - pinned)


def slots_of(
    statement: Statement, term: Term, pinned: frozenset[str], choice: Choice | None, template: Template
) -> int:
    """The same with what stays empty beside them: in the lanes, the slots of all lanes.

    Of a sum of which one term is asked for, the others of that sum may have come before. With no choice the fewest.
    """
    box, names = statement.box, mentioned(term)
    outs = frozenset(index.name for index in statement.indices)
    total = points(statement, term, pinned)
    if not outs <= names or running(statement) is not None:
        return total
    sums = math.prod(box[name].extent for name in outs - pinned)
    each, roots = math.prod(box[name].extent for name in names - outs), max(1, template.roots)
    one = math.prod(box[name].extent for name in names - outs - pinned)

    def together(units: int) -> int:
        """Of so many sums begun before, one term each; all others whole."""
        return total + max(0, sums - units) * (each - one)

    match choice:
        case None:
            return together(template.pes)
        case Choice("root"):
            return together(roots)
    if template.sequencers > 1:
        return together(template.pes)
    over = 1 if choice.index in pinned or choice.index not in names else box[choice.index].extent
    slots = []
    for lanes, groups in ((template.pes, 1), (template.lanes, roots)):
        rows = -(-over // lanes)
        if choice.way == "tree":
            inner = -(-box[choice.index].extent // lanes) if choice.index in names else 1
            # Groups divide the sums, or the terms of each.
            whole = inner * each // box[choice.index].extent if choice.index in names else each
            part = rows * one // over
            slots.append((-(-sums // groups) - 1) * whole + part)
            slots.append((sums - 1) * -(-whole // groups) + -(-part // groups))
        else:
            turns = rows * -(-(sums // over) // groups)
            slots.append((turns - 1) * each + one)
    return max(total, min(slots) * template.pes)
