"""How many scalar operations a statement of a graph makes, in closed form.

What is counted is the least that any machine must do. An operation whose operands do not mention an index gives the
same word for all values of the index, and counts once. Per statement:

- A term of two factors is a *multiply*. With a factor that is always 0 or 1 (the result of a comparison, or a product
  or copy of such values) it is a *select*. With a constant factor 0, 1 or -1 it is neither.
- A sum of n summands makes n - 1 *additions*. A summed index that a term does not mention scales its summand.
- The product `pi` over n points makes n - 1 multiplies, or n with an initial word. The largest or smallest of n words
  makes n - 1 comparisons. Comparisons, functions and divisions count as themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from tabla.graph.constraints import points as points_of
from tabla.graph.constraints import reached
from tabla.graph.graph import (
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Graph,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    Term,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """Numbers of scalar operations. `functions` counts by name; divisions are under ``divide``, those of integers under
    ``quotient``.
    """

    multiplies: int = 0
    selects: int = 0
    additions: int = 0
    comparisons: int = 0
    functions: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Operations) -> Operations:
        functions = Counter(self.functions)
        functions.update(other.functions)
        return Operations(
            multiplies=self.multiplies + other.multiplies,
            selects=self.selects + other.selects,
            additions=self.additions + other.additions,
            comparisons=self.comparisons + other.comparisons,
            functions=dict(sorted(functions.items())),
        )


def count_statement(statement: Statement, flags: frozenset[str]) -> Operations:
    """Return the operations of one statement. `flags` are the tensors that :func:`zero_or_one` names."""
    outputs = outer(statement)
    points = points_of(statement, outputs)
    operation = statement.operation
    match operation:
        case Linear(terms=terms, test=test):
            made = Counter({kind: 0 for kind in ("multiply", "select", "none")})
            for term in terms:
                named = mentioned(term.factors) & set(statement.box)
                made[kind_of(term, flags)] += points_of(statement, named, term.reduce)
            additions = _joined(statement, [(mentioned(term.factors), term.reduce) for term in terms])
            return Operations(
                multiplies=made["multiply"],
                selects=made["select"],
                additions=additions,
                comparisons=points if test is not None else 0,
            )
        case Product(reduce=reduce, initial=initial):
            return Operations(multiplies=_joined(statement, [(set(reduce), reduce), *_alone(initial)]))
        case Extreme(operands=operands, reduce=reduce, initial=initial):
            words = [(mentioned([operand]), reduce) for operand in operands]
            return Operations(comparisons=_joined(statement, [*words, *_alone(initial)]))
        case Compare():
            return Operations(comparisons=points)
        case Function(name=name):
            return Operations(functions={name: points})
        case Divide(unit=unit):
            return Operations(functions={unit: points})
        case Gather() | Scatter():
            return Operations()
        case _:
            assert_never(operation)


def outer(statement: Statement) -> set[str]:
    """Return the output indices on which the words depend: those that operands mention, and those that constraints tie
    to its sums.
    """
    summed = {index.name for index in statement.reduced}
    tied = {name for c in statement.constraints if summed.intersection(c.names) for name in c.names}
    return (mentioned(statement.operands) | tied) - summed


def _alone(initial: Operand | None) -> list[tuple[set[str], tuple[str, ...]]]:
    """Return the part that an initial word adds: one more word, for itself."""
    return [] if initial is None else [(set(), ())]


def _joined(statement: Statement, parts: Sequence[tuple[set[str], tuple[str, ...]]]) -> int:
    """Return how many operations join n words into one, n - 1 each. `parts` are what a word mentions and what it is
    reduced over.
    """
    outputs = outer(statement)
    words = sum(points_of(statement, outputs | (set(reduce) & mentioned), reduce) for mentioned, reduce in parts)
    if not statement.constraints:
        return words - points_of(statement, outputs)
    begun = np.broadcast_to(
        reached(statement, [reduce for _, reduce in parts]), [index.extent for index in statement.indices]
    )
    away = tuple(axis for axis, index in enumerate(statement.indices) if index.name not in outputs)
    return words - int(np.count_nonzero(begun.any(axis=away)))


def zero_or_one(graph: Graph) -> frozenset[str]:
    """Return the tensors whose words are all 0 or 1: those written by comparisons, or by copies and products of such
    tensors.
    """
    written: set[str] = set()
    flags: set[str] = set()
    for statement in graph.statements:
        match statement.operation:
            case Compare() | Linear(test="<" | ">="):
                flag = True
            case Linear(terms=(Term(sign=1, reduce=(), factors=factors),), shift=0):
                flag = all(_is_flag(factor, flags) for factor in factors)
            case _:
                flag = False
        if not flag:
            flags.discard(statement.target)
        elif statement.target not in written:
            flags.add(statement.target)
        written.add(statement.target)
    values = {name for name, tensor in graph.tensors.items() if tensor.role == "value"}
    return frozenset(flags & values)


def _is_flag(operand: Operand, flags: Set[str]) -> bool:
    match operand:
        case Read(tensor=tensor):
            return tensor in flags
        case Constant(value=value):
            return value in (0, 1)
        case Ordinal():
            return False
        case _:
            assert_never(operand)


def kind_of(term: Term, flags: frozenset[str]) -> str:
    """Say whether a term is a ``multiply``, a ``select`` or neither (``none``).

    `flags` are what `zero_or_one` names.
    """
    if len(term.factors) == 1 or any(isinstance(f, Constant) and f.value in (0, 1, -1) for f in term.factors):
        return "none"
    return "select" if any(_is_flag(factor, flags) for factor in term.factors) else "multiply"


def mentioned(operands: Sequence[Operand]) -> set[str]:
    """Return the indices that operands depend on."""
    names: set[str] = set()
    for operand in operands:
        match operand:
            case Read(subscripts=subscripts):
                names.update(name for subscript in subscripts for name in subscript.names)
            case Ordinal(value=value):
                names.update(value.names)
            case Constant():
                pass
            case _:
                assert_never(operand)
    return names
