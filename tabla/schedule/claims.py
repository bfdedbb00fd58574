"""What depends on one word, and what that word depends on, counted symbolically: of elements by axes.

Of each tensor a set of *pinned* axes, along which only the first element is claimed; along the others every element is.
A claim is never too large. With it goes how many cycles each of these elements is away from the word, on any schedule:
the longest chain of shortest ways from place to place (:mod:`tabla.schedule.distances`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from tabla.ir.constraints import points
from tabla.ir.graph import Affine, Graph, Index, Read, Statement
from tabla.schedule.distances import NOW, Distances, Times

Pins = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Elements of a tensor, by pinned axes, and the fewest cycles from the word to each of them, or from each to it.

    `times`: both as results, the element by where it is made.
    """

    pins: Pins
    times: Times


Claims = Mapping[str, Claim]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is claimed of tensors, in a word's own sample and, through models, in the one beside it."""

    own: Claims
    other: Claims


def dependent(graph: Graph, tensor: str, distances: Distances) -> Reach:
    """What depends on the first word of `tensor`: in its sample, and through models in the next."""
    own = _spread(graph, {tensor: _first_word(graph, tensor)}, distances)
    models = {
        model: replace(own[following], times=distances.kept(own[following].times))
        for model, following in graph.updates.items()
        if following in own and whole(graph, following)
    }
    return Reach(own=own, other=_spread(graph, models, distances))


def needed(graph: Graph, tensor: str, distances: Distances, *, every: bool = False) -> Claims:
    """What the first word of `tensor` depends on in its sample; of `every` word, what the last to come waits for."""
    claim = Claim(pins=frozenset(), times=NOW) if every else _first_word(graph, tensor)
    return _gathered(graph, {tensor: claim}, distances, NOW)


def needed_before(graph: Graph, own: Claims, distances: Distances, floor: Times) -> Claims:
    """What a word depends on in the sample before, through models, from what it depends on in its `own`.

    `floor`: cycles from each operand of the sample before to the word at the least, by where the operand is.
    """
    before = {
        following: replace(own[model], times=distances.kept(own[model].times))
        for model, following in graph.updates.items()
        if model in own
    }
    return _gathered(graph, before, distances, floor)


def _first_word(graph: Graph, tensor: str) -> Claim:
    return Claim(pins=frozenset(range(len(graph.tensors[tensor].shape))), times=NOW)


def whole(graph: Graph, tensor: str) -> bool:
    """Whether its statements write every element."""
    written = sum(points(s, [index.name for index in s.indices]) for s in graph.writers(tensor))
    return written >= graph.tensors[tensor].size


def pinned_indices(subscripts: tuple[Affine, ...], pins: Pins, box: Mapping[str, Index]) -> frozenset[str] | None:
    """The indices that stand at 0 where the pinned axes do; None if that cannot be said."""
    names = [_plain(subscripts[axis], box) for axis in sorted(pins)]
    return None if "" in names else frozenset(names)


def largest(claims: Iterable[frozenset[str]]) -> frozenset[str] | None:
    """The largest claim: that with the fewest pinned indices."""
    return min(claims, key=_size, default=None)


def _size(pinned: frozenset[str]) -> tuple[int, list[str]]:
    """Smaller for a larger claim; ties by name."""
    return len(pinned), sorted(pinned)


def _plain(subscript: Affine, box: Mapping[str, Index]) -> str:
    """The index that a subscript is, if it begins at 0; empty otherwise."""
    if subscript.constant or len(subscript.coefficients) != 1:
        return ""
    name, factor = subscript.coefficients[0]
    return name if factor == 1 and box[name].low == 0 else ""


# ---- forwards


def _spread(graph: Graph, known: Claims, distances: Distances) -> Claims:
    found = dict(known)
    for name in dict.fromkeys(s.target for s in graph.statements):
        if name in known:
            continue
        pins: set[int] = set()
        times: list[Times] = []
        for statement in graph.writers(name):
            written = _written(statement, found, distances)
            if written is None:
                break
            pins |= written.pins
            times.append(written.times)
        else:
            # What several statements write counts with the quickest of them.
            found[name] = Claim(pins=frozenset(pins), times=reduce(Times.sooner, times))
    return found


def _written(statement: Statement, claims: Claims, distances: Distances) -> Claim | None:
    """What a statement makes of what is claimed; None if that cannot be said."""
    read = sources(statement, statement.reads, claims)
    pinned = largest(read.values())
    if pinned is None:
        return None
    axes = [axis for axis, subscript in enumerate(statement.write) if pinned.intersection(subscript.names)]
    if not all(_plain(statement.write[axis], statement.box) for axis in axes):
        return None
    operands = {name: claims[name].times for name, each in read.items() if each == pinned}
    return Claim(pins=frozenset(axes), times=distances.made(statement, operands, pinned))


def sources(statement: Statement, reads: Iterable[Read], claims: Claims) -> dict[str, frozenset[str]]:
    """For each tensor that is read and claimed: the indices that stand at 0 where a read meets what is claimed."""
    found: dict[str, frozenset[str]] = {}
    for read in reads:
        if read.tensor in claims:
            pinned = pinned_indices(read.subscripts, claims[read.tensor].pins, statement.box)
            if pinned is not None:
                found[read.tensor] = min(pinned, found.get(read.tensor, pinned), key=_size)
    return found


# ---- backwards


def _gathered(graph: Graph, known: Claims, distances: Distances, floor: Times) -> Claims:
    found = dict(known)
    for statement in reversed(graph.statements):
        if statement.target not in found:
            continue
        target = found[statement.target]
        pinned = pinned_indices(statement.write, target.pins, statement.box)
        if pinned is None:
            continue
        for read in statement.reads:
            pins = met(statement, read, pinned, graph)
            if pins is None:
                continue
            here = Claim(pins=pins, times=distances.wanted(statement, read.tensor, target.times, floor))
            before = found.get(read.tensor)
            if before is None or len(pins) < len(before.pins):
                found[read.tensor] = here
            elif pins == before.pins:
                found[read.tensor] = replace(here, times=here.times.later(before.times))
    return found


def met(statement: Statement, read: Read, pinned: frozenset[str], graph: Graph) -> Pins | None:
    """The pinned axes of the elements that a read meets; None if along some axis it is not the first, or all."""
    box, pins, seen = statement.box, set(), set()
    for axis, (subscript, extent) in enumerate(zip(read.subscripts, graph.tensors[read.tensor].shape, strict=True)):
        if subscript == Affine():
            pins.add(axis)
            continue
        name = _plain(subscript, box)
        if not name or name in seen:
            return None
        seen.add(name)
        if name in pinned:
            pins.add(axis)
        elif box[name].high != extent:
            return None
    return frozenset(pins)
