"""Counting the scalar operations of a program text, the measure of work that published figures use.

An operator or a function counts once for each point of its indices. A sum of n summands counts as n - 1 additions. An
update counts twice for each weight: once for ``mu * g`` and once for ``w - ...``. The accelerator does fewer
operations, because the compiler computes a value once if it does not depend on an index, and multiplies `mu` into the
smaller factor.
"""

from __future__ import annotations

from math import prod

from tabla.languages.tabla.operators import GroupFunction
from tabla.languages.tabla.program import (
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
    """Return the number of scalar operations for a sample."""
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
            # A norm also squares every summand, and takes a square root.
            norm = points + 1 if function is GroupFunction.NORM else 0
            return points * _count(body) + points - 1 + norm
