"""``x * (1 - o)`` becomes ``x - x * o``, one slot of a multiplier, where ``1 - o`` cannot leave the format.

The derivative of a sigmoid has this form. The words are the same, because the difference needs no rounding, so the
exact sum of both terms is the same. The statements that used to wait for the difference no longer do, and its slots are
saved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tabla.graph.format import Format
from tabla.graph.functions import FUNCTIONS
from tabla.graph.graph import Affine, Constant, Function, Graph, Linear, Read, Statement, Term
from tabla.graph.operations import zero_or_one
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import operand_at, read_once, with_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class _Complement:
    """``tensor[indices] = 1 - read``, for every element."""

    names: tuple[str, ...]
    read: Read


@graph_pass(
    "multiply-out",
    "make x * (1 - o) the sum x - x * o, where o lies between -1 and 1",
    condition=Condition(text="3 is a word of the format", holds=lambda fmt: 3 * fmt.one <= fmt.highest),
)
def multiply_out(graph: Graph, fmt: Format) -> Graph:
    """Multiply out the products with complements. The complements stay for `drop_dead`."""
    complements = _complements(graph)
    changed = []
    for statement in graph.statements:
        operation = statement.operation
        if isinstance(operation, Linear) and operation.shift == 0 and not statement.reduced:
            words = [term for term in operation.terms if len(term.factors) == 1]
            for number, term in enumerate(operation.terms):
                parts = _parts(term, complements)
                if parts is not None and not words:
                    terms = (*operation.terms[:number], *parts, *operation.terms[number + 1 :])
                    statement = replace(statement, operation=replace(operation, terms=terms))
                    break
        changed.append(statement)
    return with_statements(graph, changed)


def _parts(term: Term, complements: dict[str, _Complement]) -> tuple[Term, Term] | None:
    """Return x and -x*o, which replace x*(1 - o)."""
    if len(term.factors) < 2 or term.sign < 0:
        return None
    for x, other in (term.factors, term.factors[::-1]):
        if isinstance(x, Read) and isinstance(other, Read) and other.tensor in complements and x.tensor != other.tensor:
            complement = complements[other.tensor]
            read = operand_at(complement.read, dict(zip(complement.names, other.subscripts, strict=True)))
            return Term(factors=(x,)), Term(factors=(x, read), sign=-1)
    return None


def _complements(graph: Graph) -> dict[str, _Complement]:
    """Return the values of which each element is 1 minus a bounded value, and which a single product reads."""
    alone, bounded, found = read_once(graph), _bounded(graph), {}
    for statement in graph.statements:
        name = statement.target
        if name not in alone or statement.constraints or len(list(graph.writers(name))) != 1:
            continue
        read = _subtracted(statement)
        plain = statement.write == tuple(Affine.of(**{index.name: 1}) for index in statement.indices)
        if read is not None and read.tensor in bounded and plain and not graph.tensors[name].filled:
            found[name] = _Complement(names=tuple(index.name for index in statement.indices), read=read)
    return found


def _subtracted(statement: Statement) -> Read | None:
    """Return the read of ``1 - read``, or None for any other operation."""
    match statement.operation:
        case Linear(terms=(a, b), shift=0, test=None):
            for one, other in ((a, b), (b, a)):
                match one, other:
                    case (
                        Term(factors=(Constant(value=1),), sign=1, reduce=()),
                        Term(factors=(Read() as read,), sign=-1, reduce=()),
                    ):
                        return read
    return None


def _bounded(graph: Graph) -> frozenset[str]:
    """Return the values that stay within -1 and 1."""
    kinds: dict[str, bool] = {}
    for statement in graph.statements:
        fine = isinstance(statement.operation, Function) and FUNCTIONS[statement.operation.name].bounded
        kinds[statement.target] = kinds.get(statement.target, True) and fine
    return zero_or_one(graph) | frozenset(name for name, fine in kinds.items() if fine)
