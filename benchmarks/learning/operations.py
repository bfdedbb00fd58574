"""Scalar operations as the text writes them, the measure of work that the published figures use.

An operator and a function count one for each point of their indices, a sum of n summands n - 1 additions, and an
update two for each weight (`mu * g`, `w - ...`). The compiler needs fewer: what does not depend on an index is
computed once, and `mu` goes into the smaller factor.
"""

from __future__ import annotations

from math import prod

from tabla.lang.tabla.operators import GroupFunction
from tabla.lang.tabla.program import (
    Call,
    Constant,
    Expression,
    Group,
    Index,
    Iterator,
    Negation,
    Number,
    Operation,
    Program,
    Read,
)


def operations(program: Program) -> int:
    """All of a sample."""
    total = 0
    for assignment in program.assignments:
        if assignment.constant is None:
            total += _points(assignment.iterators) * _count(assignment.value)
    for gradient in program.gradients:
        total += 2 * prod(program.variable(gradient.model).shape)
    return total


def _points(iterators: tuple[Iterator, ...]) -> int:
    return prod(i.stop - i.start for i in iterators)


def _count(value: Expression) -> int:
    match value:
        case Number() | Constant() | Index() | Read():
            return 0
        case Negation(operand=operand):
            return 1 + _count(operand)
        case Operation(left=left, right=right):
            return 1 + _count(left) + _count(right)
        case Call(arguments=arguments):
            return 1 + sum(map(_count, arguments))
        case Group(function=function, iterators=iterators, body=body):
            points = _points(iterators)
            # A norm squares every summand, and takes a root.
            norm = points + 1 if function is GroupFunction.NORM else 0
            return points * _count(body) + points - 1 + norm
