"""Affine constraints of a statement: where ``constraint >= 0``, as masks over boxes.

Everything here grows with the extents of the indices that constraints mention, never with the whole box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.graph.graph import Affine, Index, Statement
from tabla.graph.windows import ramp

Mask = NDArray[np.bool_]
MOST_POINTS = 1 << 25
"""The most points that are ever listed one by one: of a tensor that is written in parts, of a box that constraints tie.
The largest array holds a quarter of that."""


class TooManyPoints(TablaError):
    """A statement for which more than `MOST_POINTS` points would have to be listed."""


def refuse_many(extents: Iterable[int], what: str) -> None:
    """Raise `TooManyPoints` if so many points are too many. `what` begins the sentence."""
    if (points := prod(extents)) > MOST_POINTS:
        count = f"{points:,}" if points < 10**30 else "more than 10^30"
        raise TooManyPoints(f"{what} has {count} points; the limit is {MOST_POINTS:,}", hint="make its extents smaller")


def satisfied(constraints: Sequence[Affine], indices: Sequence[Index]) -> Mask:
    """Return where all constraints hold over a box: one axis per index, of extent 1 where no constraint mentions the
    index.

    The constraints may mention indices of the box only.
    """
    mask: Mask = np.ones((1,) * len(indices), dtype=np.bool_)
    mentioned = {name for constraint in constraints for name in constraint.names}
    refuse_many((index.extent for index in indices if index.name in mentioned), "what a condition ties")
    for constraint in constraints:
        # Two sides compared, so that no array of integers as large as the mask is made.
        left = Affine.make(0, dict(constraint.coefficients[:1]))
        right = Affine.make(constraint.constant, dict(constraint.coefficients[1:]))
        mask = mask & (ramp(right, indices) >= -ramp(left, indices))
    return mask


def applying(constraints: Iterable[Affine], indices: Iterable[Index]) -> tuple[Affine, ...]:
    """Return the constraints that mention nothing but these indices."""
    names = {index.name for index in indices}
    return tuple(c for c in constraints if names.issuperset(c.names))


def components(constraints: Iterable[Affine]) -> list[tuple[frozenset[str], tuple[Affine, ...]]]:
    """Split the constraints into groups that share no index. Each group comes with the indices that it mentions."""
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
    """Return the values of the named indices at the points of the box that satisfy the constraints, one array per
    index.

    Points that differ only in indices that no constraint ties to the named ones count once. The result is None if no
    point satisfies the constraints.
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
    refuse_many((index.extent for index in box), "what a condition restricts")
    mask = satisfied([c for group in tied for c in group[1]], box)
    where = np.nonzero(np.broadcast_to(mask, [index.extent for index in box]))
    return {index.name: index.low + axis for index, axis in zip(box, where, strict=True)}


def ends(affine: Affine, constraints: Iterable[Affine], indices: Sequence[Index]) -> tuple[int, int] | None:
    """Return the smallest and the largest value of an affine form over the points that satisfy the constraints.

    Groups of constraints are independent, so the ends are sums of the groups' ends, and no list of points is made. The
    result is None if no point satisfies the constraints.
    """
    groups = components(constraints)
    tied = frozenset[str]().union(*(names for names, _ in groups))
    free = Affine.make(affine.constant, {n: c for n, c in affine.coefficients if n not in tied})
    low, high = free.bounds({index.name: index for index in indices})
    for names, members in groups:
        box = [index for index in indices if index.name in names]
        mask = np.broadcast_to(satisfied(members, box), [index.extent for index in box])
        part = Affine.make(0, {n: c for n, c in affine.coefficients if n in names})
        away = tuple(axis for axis, index in enumerate(box) if index.name not in part.names)
        left = np.asarray(mask.any(axis=away))
        if not left.any():
            return None
        mentioned = [index for index in box if index.name in part.names]
        taken = np.broadcast_to(ramp(part, mentioned), left.shape)[left]
        low, high = low + int(taken.min()), high + int(taken.max())
    return low, high


def possible(constraints: Iterable[Affine], indices: Sequence[Index]) -> bool:
    """Return whether some point of the box satisfies all constraints."""
    return ends(Affine(), constraints, indices) is not None


def failures(constraints: Sequence[Affine], indices: Sequence[Index]) -> Iterator[tuple[Affine, ...]]:
    """Yield constraints of the parts of a box in which each of `constraints` is the first that fails.

    The parts are disjoint, and they are all that does not satisfy the constraints. Parts without a point are left out.
    """
    for number, constraint in enumerate(constraints):
        rest = (*constraints[:number], constraint.fails)
        if possible(rest, indices):
            yield rest


def values(affine: Affine, at: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the values of an affine form at the points that :func:`coordinates` gave."""
    total = np.full(len(next(iter(at.values()))) if at else 1, affine.constant, dtype=np.int64)
    for name, coefficient in affine.coefficients:
        total = total + coefficient * at[name]
    return total


def points(statement: Statement, names: Iterable[str], summed: Iterable[str] = ()) -> int:
    """Return how many combinations of values the named indices take at points that the constraints on the output
    indices and on `summed` allow.
    """
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
    """Return at which output points at least one of several sums has a point left to add. Each sum runs over `summed`
    indices.

    The result has one axis per output index, of extent 1 where no constraint mentions the index.
    """
    box, outputs = statement.box, len(statement.indices)
    found: Mask = np.zeros((1,) * outputs, dtype=np.bool_)
    for names in summed:
        over = [*statement.indices, *(box[name] for name in names)]
        mask = satisfied(applying(statement.constraints, over), over)
        found = found | mask.any(axis=tuple(range(outputs, len(over))))
    return found
