"""Affine constraints of a statement: where ``constraint >= 0``, as masks over boxes.

Everything here grows with the extents of the indices that constraints mention, never with the whole box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from tabla.ir.graph import Affine, Index, Statement
from tabla.ir.windows import ramp

Mask = NDArray[np.bool_]


def satisfied(constraints: Iterable[Affine], indices: Sequence[Index]) -> Mask:
    """Where all constraints hold over a box: one axis per index, extent 1 where no constraint mentions it.

    Constraints mention indices of the box only.
    """
    mask: Mask = np.ones((1,) * len(indices), dtype=np.bool_)
    for constraint in constraints:
        mask = mask & (ramp(constraint, indices) >= 0)
    return mask


def applying(constraints: Iterable[Affine], indices: Iterable[Index]) -> tuple[Affine, ...]:
    """The constraints that mention nothing but these indices."""
    names = {index.name for index in indices}
    return tuple(c for c in constraints if names.issuperset(c.names))


def components(constraints: Iterable[Affine]) -> list[tuple[frozenset[str], tuple[Affine, ...]]]:
    """Constraints in groups that share no index, each with its indices."""
    groups: list[tuple[frozenset[str], tuple[Affine, ...]]] = []
    for constraint in constraints:
        names: frozenset[str] = frozenset(constraint.names)
        members: tuple[Affine, ...] = (constraint,)
        apart = []
        for group in groups:
            if group[0] & names:
                names, members = names | group[0], (*group[1], *members)
            else:
                apart.append(group)
        groups = [*apart, (names, members)]
    return groups


def coordinates(
    constraints: Iterable[Affine], indices: Sequence[Index], names: Iterable[str]
) -> Mapping[str, NDArray[np.int64]] | None:
    """Values of the named indices at the points of the box that satisfy the constraints; one array an index.

    Points that differ only in indices that nothing ties to the named ones count once. None if there is no point.
    """
    wanted, tied = set(names), []
    for group in components(constraints):
        if group[0] & wanted:
            tied.append(group)
        elif not satisfied(group[1], [index for index in indices if index.name in group[0]]).any():
            return None
    wanted.update(*(group[0] for group in tied))
    box = [index for index in indices if index.name in wanted]
    if not box:
        return {}
    mask = satisfied([c for group in tied for c in group[1]], box)
    where = np.nonzero(np.broadcast_to(mask, [index.extent for index in box]))
    return {index.name: index.low + axis for index, axis in zip(box, where, strict=True)}


def values(affine: Affine, at: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """An affine form at each of the points that :func:`coordinates` gave."""
    total = np.full(len(next(iter(at.values()))) if at else 1, affine.constant, dtype=np.int64)
    for name, coefficient in affine.coefficients:
        total = total + coefficient * at[name]
    return total


def points(statement: Statement, names: Iterable[str], summed: Iterable[str] = ()) -> int:
    """How many values the named indices take together, at points that the constraints on outputs and `summed` allow."""
    box, wanted = statement.box, set(names)
    over = [*statement.indices, *(box[name] for name in summed)]
    total = 1
    for tied, members in components(applying(statement.constraints, over)):
        indices = [box[name] for name in sorted(tied)]
        mask = np.broadcast_to(satisfied(members, indices), [index.extent for index in indices])
        away = tuple(axis for axis, index in enumerate(indices) if index.name not in wanted)
        total *= int(np.count_nonzero(mask.any(axis=away)))
        wanted -= tied
    return total * prod(box[name].extent for name in wanted)


def reached(statement: Statement, summed: Iterable[Sequence[str]]) -> Mask:
    """Output points at which, for one at least of some sums over the `summed` indices, a point is left to add.

    One axis per output index, extent 1 where no constraint mentions it.
    """
    box, outputs = statement.box, len(statement.indices)
    found: Mask = np.zeros((1,) * outputs, dtype=np.bool_)
    for names in summed:
        over = [*statement.indices, *(box[name] for name in names)]
        mask = satisfied(applying(statement.constraints, over), over)
        found = found | mask.any(axis=tuple(range(outputs, len(over))))
    return found


def inside(constraints: Sequence[Affine], at: Iterable[dict[str, int]]) -> Iterator[dict[str, int]]:
    """Those of some points at which all constraints hold."""
    return (point for point in at if all(constraint.at(point) >= 0 for constraint in constraints))
