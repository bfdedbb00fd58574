"""Loops as domains: the statements of one turn become statements over the index of the loop, or one sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.substitution import placed
from tabla.languages.kernel.tree import (
    Apply,
    Expression,
    Read,
    Reduce,
    Reduction,
    Statement,
    rewritten,
    walk,
)

_JOINS: Mapping[str, Reduction] = {"add": "sum", "max": "max", "min": "min"}


def reads_of(expression: Expression) -> Iterator[Read]:
    """Yield the reads of an expression."""
    return (part for part in walk(expression) if isinstance(part, Read))


def names_of(statement: Statement) -> set[str]:
    """Return the indices that a statement has itself, or sums over."""
    inner = {index.name for part in walk(statement.value) if isinstance(part, Reduce) for index in part.indices}
    return inner | {index.name for index in statement.indices}


def distributed(index: Index, statements: Sequence[Statement], own: frozenset[str]) -> list[Statement] | None:
    """Return the statements of a loop's body over its index, each on its own; None if turns touch each other.

    The tensors `own` are made anew in each turn, and get an axis for the index. Of every other tensor that is written,
    all accesses must have one subscript that is the same and tells the turns apart, so that no turn meets an element of
    another.
    """
    bound = {name for statement in statements for name in names_of(statement)}
    for name in {statement.target for statement in statements} - own:
        accesses = [statement.write for statement in statements if statement.target == name]
        accesses += [
            read.subscripts for statement in statements for read in reads_of(statement.value) if read.tensor == name
        ]
        if not any(
            _apart(index.name, [access[axis] for access in accesses], bound) for axis in range(len(accesses[0]))
        ):
            return None
    turn = Affine.make(-index.low, {index.name: 1})

    def leaf(part: Expression) -> Expression:
        if isinstance(part, Read) and part.tensor in own:
            return replace(part, subscripts=(turn, *part.subscripts))
        return part

    found = []
    for statement in statements:
        write = (turn, *statement.write) if statement.target in own else statement.write
        value = rewritten(statement.value, leaf)
        found.append(replace(statement, write=write, indices=(index, *statement.indices), value=value))
    return found


def _apart(index: str, subscripts: Sequence[Affine], bound: set[str]) -> bool:
    first = subscripts[0]
    same = all(subscript == first for subscript in subscripts)
    return same and first.coefficient(index) != 0 and not bound & set(first.names)


def summed(index: Index, statements: Sequence[Statement]) -> list[Statement] | None:
    """Return a loop that only adds to the same elements as one statement that adds a sum; None if it does other things.

    Maxima and minima are joined likewise.
    """
    if len(statements) != 1 or statements[0].conditions:
        return None
    (statement,) = statements
    if any(index.name in subscript.names for subscript in statement.write):
        return None
    value = joined(index, statement.value, statement.target, statement.write)
    return None if value is None else [replace(statement, value=value)]


def joined(index: Index, value: Expression, target: str, write: tuple[Affine, ...]) -> Expression | None:
    """Return what ``target[write] = value`` gives after all turns, if each turn adds to the element; else None."""
    match value:
        case Apply(function="add" | "max" | "min" as function, arguments=(left, right)):
            for old, new in ((left, right), (right, left)):
                if not isinstance(old, Read) or (old.tensor, old.subscripts) != (target, write):
                    continue
                if any(read.tensor == target for read in reads_of(new)):
                    continue
                return apply(function, old, Reduce(reduction=_JOINS[function], indices=(index,), body=new))
    return None


def parts(statement: Statement) -> Iterator[Statement]:
    """Yield a statement, or several whose elements fill boxes: those of diagonals and strides are written one by one.

    No point of the statement may read what another one writes.
    """
    if statement.dense:
        yield statement
        return

    def gaps(index: Index) -> bool:
        factors = [subscript.coefficient(index.name) for subscript in statement.write]
        return sum(factor != 0 for factor in factors) > 1 or any(abs(factor) > 1 for factor in factors)

    apart = next((index for index in statement.indices if gaps(index)), statement.indices[0])
    for turn in range(apart.low, apart.high):
        yield from parts(_at(statement, apart, turn))


def _at(statement: Statement, index: Index, turn: int) -> Statement:
    """Return a statement for one value of an index."""

    def form(old: Affine) -> Affine:
        return old.substituted({index.name: Affine.of(turn)})

    return replace(
        statement,
        write=tuple(map(form, statement.write)),
        indices=tuple(other for other in statement.indices if other is not index),
        value=placed(statement.value, form),
        conditions=tuple(map(form, statement.conditions)),
    )
