"""The conditions under which reads are made: ``c ? A(i) : 0`` reads A(i) where c holds, and nowhere else.

A condition on the way to a read is that of a choice, or the left operand of ``&&`` or ``||``. Comparisons of integers
that are made of indices and sizes say at which points of the domain the read is made. A comparison of data says nothing
about points: the read may be made wherever the comparison stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from tabla.languages.tc import program
from tabla.languages.tc.program import Value, parts, walk
from tabla.languages.tc.scalars import BOOL
from tabla.languages.tc.sizes import Size
from tabla.languages.tc.subscripts import Extents, Linear, linear_of

Path = tuple[tuple[Value, bool], ...]
"""Conditions on the way to a read, from the outermost one on, each with the truth value that leads to the read."""

Clauses = tuple[tuple[Value, ...], ...]
"""Alternatives: wherever a condition holds, exactly one of them does. An alternative holds if all of its values do."""

MOST_CLAUSES = 32
"""The most alternatives of one condition. Conditions with more are checked point by point, and are not split."""

_NEGATED: Mapping[str, tuple[str, ...]] = {
    "<": (">=",), "<=": (">",), ">": ("<=",), ">=": ("<",), "==": ("<", ">"), "!=": ("==",),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Conjunction:
    """Affine forms, all at least 0 where a read is made.

    With `exact` the forms say everything that the conditions do, apart from comparisons of data.
    """

    forms: tuple[Linear, ...]
    exact: bool


def guarded_reads(value: Value, path: Path = ()) -> Iterator[tuple[program.Read, Path]]:
    """Return the reads inside a value, left to right, each with the conditions under which it is made."""
    match value:
        case program.Choice(condition=condition, chosen=chosen, other=other):
            yield from guarded_reads(condition, path)
            yield from guarded_reads(chosen, (*path, (condition, True)))
            yield from guarded_reads(other, (*path, (condition, False)))
        case program.Binary(operator="&&" | "||" as operator, left=left, right=right):
            yield from guarded_reads(left, path)
            yield from guarded_reads(right, (*path, (left, operator == "&&")))
        case _:
            if isinstance(value, program.Read):
                yield value, path
            for part in parts(value):
                yield from guarded_reads(part, path)


def clauses(condition: Value, truth: bool = True) -> Clauses | None:
    """Return when a condition is true, or false: its alternatives, or None if there are more than `MOST_CLAUSES`.

    The values of an alternative are comparisons, and other booleans as they are.
    """
    match condition:
        case program.Unary(operator="!", operand=operand):
            return clauses(operand, not truth)
        case program.Binary(operator="&&" | "||" as operator, left=left, right=right):
            if truth == (operator == "&&"):
                return _all(clauses(left, truth), clauses(right, truth))
            return _either(clauses(left, truth), _all(clauses(left, not truth), clauses(right, truth)))
        case program.Choice(condition=inner, chosen=chosen, other=other):
            one = _all(clauses(inner, True), clauses(chosen, truth))
            return _either(one, _all(clauses(inner, False), clauses(other, truth)))
        case program.Binary(operator=operator, common=common) if common.integral and operator in _NEGATED:
            operators = (operator,) if truth else _NEGATED[operator]
            if operators == ("!=",):
                operators = ("<", ">")
            return tuple((replace(condition, operator=each),) for each in operators)
        case _ if truth:
            return ((condition,),)
        case _:
            return ((program.Unary(operator="!", operand=condition, scalar=BOOL, span=condition.span),),)


def clauses_of(path: Path) -> Clauses | None:
    """Return when all conditions of a path let through, as :func:`clauses` does."""
    found: Clauses | None = ((),)
    for condition, truth in path:
        found = _all(found, clauses(condition, truth))
    return found


def _all(one: Clauses | None, other: Clauses | None) -> Clauses | None:
    if one is None or other is None or len(one) * len(other) > MOST_CLAUSES:
        return None
    return tuple((*first, *second) for first, second in product(one, other))


def _either(one: Clauses | None, other: Clauses | None) -> Clauses | None:
    if one is None or other is None or len(one) + len(other) > MOST_CLAUSES:
        return None
    return one + other


def conjunctions(path: Path, extents: Extents, sizes: Mapping[str, Size]) -> tuple[Conjunction, ...]:
    """Return where a read with this path is made: wherever one of the conjunctions holds, and nowhere else."""
    alternatives = clauses_of(path)
    if alternatives is None:
        return (Conjunction(forms=(), exact=False),)
    found = []
    for alternative in alternatives:
        forms: list[Linear] = []
        exact = True
        for literal in alternative:
            own = forms_of(literal, extents, sizes)
            forms += own or ()
            exact &= own is not None or any(isinstance(part, program.Read) for part in walk(literal))
        found.append(Conjunction(forms=tuple(forms), exact=exact))
    return tuple(found)


def forms_of(comparison: Value, extents: Extents, sizes: Mapping[str, Size]) -> tuple[Linear, ...] | None:
    """Return affine forms that are at least 0 exactly where a comparison of integers holds, or None."""
    if not isinstance(comparison, program.Binary) or not comparison.common.integral:
        return None
    left, right = linear_of(comparison.left, extents, sizes), linear_of(comparison.right, extents, sizes)
    if left is None or right is None:
        return None
    more, less = left.plus(right, Size.number(-1)), right.plus(left, Size.number(-1))
    match comparison.operator:
        case ">=":
            return (more,)
        case ">":
            return (more.above(Size.number(1)),)
        case "<=":
            return (less,)
        case "<":
            return (less.above(Size.number(1)),)
        case "==":
            return more, less
        case _:
            return None
