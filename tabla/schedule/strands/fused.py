"""Statements that share a task.

A function may share the root operation that makes its operand, or the one that takes its operand from the tree. The
statements of a chain at the root hand their words on in the result register.
"""

from __future__ import annotations

from collections.abc import Iterator

from tabla.graph.body import common_reduction
from tabla.graph.graph import Affine, Function, Linear, Read, Statement
from tabla.schedule.mapping.places import ROOT
from tabla.schedule.strands.site import Site
from tabla.schedule.strands.spread import pieces
from tabla.schedule.strands.uses import Uses

MOST_ROWS = 8
"""The most rows of lanes of a tensor that goes up the tree into a function: each row takes strands of its own."""


def passed_on(site: Site) -> dict[int, tuple[Statement, ...]]:
    """Find the chains at the root: by number of the last statement, the statements before it, in order.

    Each statement of a chain but the last makes words that only the next takes, from the result register.
    """
    passed: dict[str, tuple[Statement, ...]] = {}
    found: dict[int, tuple[Statement, ...]] = {}
    for statement, fit in zip(site.graph.statements, site.chosen.fits, strict=True):
        before = [passed[name] for name in statement.sources if name in passed]
        assert len(before) < 2, f"statement {statement.id} takes two words from one register"
        chain = before[0] if before else ()
        if fit.through:
            passed[statement.target] = (*chain, statement)
        elif chain:
            found[statement.id] = chain
    return found


def _functions(uses: Uses) -> Iterator[tuple[Statement, str, Statement]]:
    """Yield function statements, each with the tensor of its operands and the one statement that makes all of them."""
    for after in uses.graph.statements:
        if isinstance(after.operation, Function) and isinstance(after.operation.operand, Read):
            tensor = after.operation.operand.tensor
            writers = list(uses.graph.writers(tensor))
            if len(writers) == 1 and same_elements(writers[0], after) is not None:
                yield after, tensor, writers[0]


def fusions(site: Site) -> dict[int, int]:
    """Find the statements whose root operation feeds a function directly: by number, that of the function statement."""
    found: dict[int, int] = {}
    for after, tensor, before in _functions(site):
        alone = site.readers[tensor] == 1 and not site.copies(tensor)
        way = site.chosen.fits[before.id].way
        if (
            before.id not in found
            and isinstance(before.operation, Linear)
            and not before.constraints
            and before.operation.test is None
            and (way == "tree" or (way == "root" and common_reduction(before)))
            and (alone or site.scalar(tensor))
        ):
            found[before.id] = after.id
    return found


def rising(uses: Uses) -> dict[int, str]:
    """Find the functions that take words as these come up the tree: by number, the tensor of the lanes that comes up.

    Nobody else reads such a tensor, so no memory of the root holds it. A vector comes up in one strand. A tensor with
    more axes comes up row of lanes by row of lanes, at most `MOST_ROWS` of them.
    """
    found: dict[int, str] = {}
    for after, tensor, _ in _functions(uses):
        home, shape = uses.home(tensor), uses.graph.tensors[tensor].shape
        if (
            home.kind == "lane"
            and uses.readers[tensor] == 1
            and uses.copies(tensor) == [ROOT]
            and _whole(after, shape)
            and (
                len(pieces(0, shape[0], uses.lanes(home))) == 1
                if len(shape) == 1
                else -(-shape[home.axis] // uses.lanes(home)) <= MOST_ROWS
            )
        ):
            found[after.id] = tensor
    return found


def _whole(after: Statement, shape: tuple[int, ...]) -> bool:
    """Say whether a function takes every word of a tensor of a shape, each axis along an index of its own.

    An axis of a single element needs no index.
    """
    assert isinstance(after.operation, Function) and isinstance(after.operation.operand, Read)
    ends = [subscript.bounds(after.box) for subscript in after.operation.operand.subscripts]
    indexed = sum(bool(subscript.names) for subscript in after.operation.operand.subscripts)
    return len(after.indices) == indexed and ends == [(0, extent - 1) for extent in shape]


def same_elements(before: Statement, after: Statement) -> dict[str, Affine] | None:
    """Return, for each index of a function statement, the affine form of `before`'s indices that it equals.

    `before` makes the operands of `after`. The result is None if the two do not run over the same elements.
    """
    assert isinstance(after.operation, Function) and isinstance(after.operation.operand, Read)
    if len(before.indices) != len(after.indices):
        return None
    names: dict[str, Affine] = {}
    for mine, theirs in zip(after.operation.operand.subscripts, before.write, strict=True):
        if not mine.names and not theirs.names and mine == theirs:
            continue
        if len(mine.names) != 1 or len(theirs.names) != 1:
            return None
        (name,), (other,) = mine.names, theirs.names
        if mine.coefficient(name) != 1 or theirs.coefficient(other) != 1:
            return None
        shift = theirs.constant - mine.constant
        a, b = after.box[name], before.box[other]
        if (a.low, a.high) != (b.low + shift, b.high + shift):
            return None
        names[name] = Affine.make(shift, {other: 1})
    return names if len(names) == len(after.indices) else None
