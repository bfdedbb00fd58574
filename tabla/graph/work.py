"""How much a graph computes: the multiplies of a sample, counted from the graph alone.

A multiply is a product of two words of which none is 0, 1 or -1, nor a value that is always 0 or 1. A product with such
a value is a choice or a sign, which needs no multiplier. Statements that depend on indices alone are computed before
any sample comes, so they count nothing.
"""

from __future__ import annotations

from tabla.graph.constraints import points
from tabla.graph.format import Format
from tabla.graph.graph import Constant, Graph, Linear, Operand, Product, Read, Statement, Term
from tabla.graph.independent import independent
from tabla.graph.operations import zero_or_one
from tabla.graph.scan import scan_of


def multiplies(graph: Graph, format: Format) -> int:
    """Return the multiplies of a sample.

    A product with 0, 1, -1 or a word that is always 0 or 1 (:func:`tabla.graph.operations.zero_or_one`) is none, and
    what depends on indices alone is known before any sample comes.
    """
    return sum(n for _, _, n in work_by_term(graph))


def work_by_term(graph: Graph) -> list[tuple[Statement, Term | None, int]]:
    """Multiplies per sample of every statement, by term where there are terms."""
    binary, before = zero_or_one(graph), independent(graph)
    return [
        (statement, term, n)
        for statement in graph.statements
        if statement.id not in before
        for term, n in _multiplies(statement, binary)
    ]


def _multiplies(statement: Statement, binary: frozenset[str]) -> list[tuple[Term | None, int]]:
    outs = frozenset(i.name for i in statement.indices)
    match statement.operation:
        case Linear() as linear:
            products = multiplied(linear, binary)
            if scan_of(statement) is not None:
                # Each product is made once, for the first output that takes it, and stays in the accumulator.
                return [(None, points(statement, mentioned(term), term.reduce)) for term in products]
            return [(term, multiplicity(statement, outs | frozenset(term.reduce))) for term in products]
        case Product(reduce=reduce):
            if (found := scan_of(statement)) is not None:
                outs -= {found.index.name}
            # The first step multiplies by one.
            ones = 0 if statement.operation.initial is not None else multiplicity(statement, outs)
            return [(None, multiplicity(statement, outs | frozenset(reduce)) - ones)]
        case _:
            return []


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
    return frozenset[str]().union(*(factor.names for factor in term.factors if isinstance(factor, Read)))


def multiplicity(statement: Statement, names: frozenset[str]) -> int:
    """Points of the statement's box along some of its indices."""
    box = statement.box
    return points(statement, names & set(box), [index.name for index in statement.reduced if index.name in names])
