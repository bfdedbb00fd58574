"""Words that lanes have to send up, by the choices how statements are computed.

What a statement makes in lanes over an index lies spread along it. Others find it there if they run over lanes along
the same axis; else it goes up the tree, one word a cycle and group (decision 3), in a slot of all its lanes and one of
its root.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tabla.ir.graph import Divide, Function, Graph, Linear, Read, Statement
from tabla.schedule.choice import EVERYWHERE
from tabla.schedule.claims import Claims, met, pinned_indices
from tabla.schedule.distances import NEVER, NOW, Distances, Times
from tabla.schedule.products import per_group
from tabla.schedule.windows import Work


def moved(graph: Graph, forward: Claims, backward: Claims, distances: Distances) -> list[Work]:
    """The slots of lanes for words that `forward` claims as made and `backward` as wanted elsewhere."""
    updates = {following: model for model, following in graph.updates.items()}
    makers: dict[str, list[Statement]] = {}
    for statement in graph.statements:
        makers.setdefault(updates.get(statement.target, statement.target), []).append(statement)
    found = []
    for tensor, claim in forward.items():
        if len(makers.get(tensor, ())) == 1 and distances.way(maker := makers[tensor][0]) == "lane":
            sent = list(_sent(graph, maker, tensor, claim.pins, backward, distances))
            if sent:
                extents, wanted = max(sent, key=lambda words: (math.prod(words[0]), words[1]))
                slot, template = claim.times.lane + distances.memory, distances.template
                words = per_group(extents, max(1, template.roots))
                # A word may go up in the slot in which it is made.
                slots = words * template.pes // max(1, template.sequencers) - math.prod(extents)
                tail = Times(NEVER, distances.operation + distances.up + wanted)
                found.append(Work(multiplies=0, slots=slots, head=Times(NEVER, slot), tail=tail))
                found.append(taken(extents, slot, wanted, distances))
    return found


def taken(extents: Sequence[int], slot: int, wanted: int, distances: Distances) -> Work:
    """What roots do for words that come up from a `slot` of lanes, their results `wanted` so long before an end."""
    head, tail = Times(slot + distances.up, NEVER), Times(distances.operation + wanted, NEVER)
    roots = max(1, distances.template.roots)
    return Work(multiplies=0, slots=per_group(extents, roots) * roots, head=head, tail=tail)


def _sent(
    graph: Graph, maker: Statement, tensor: str, pins: frozenset[int], backward: Claims, distances: Distances
) -> Iterator[tuple[list[int], int]]:
    """For each reader that words go up for: how many along each axis, and how long before the end a root has them."""
    for reader in graph.statements:
        reads = list(dict.fromkeys(read for read in reader.reads if read.tensor == tensor))
        if reader.target not in backward or len(reads) != 1:
            continue
        if found_where_made(reader, reads[0], maker, distances):
            continue
        target = backward[reader.target]
        pinned = pinned_indices(reader.write, target.pins, reader.box)
        wanted = None if pinned is None else met(reader, reads[0], pinned, graph)
        if wanted is not None:
            shape = graph.tensors[tensor].shape
            extents = [extent for axis, extent in enumerate(shape) if axis not in pins | wanted]
            yield extents, distances.wanted(reader, tensor, target.times, NOW).root


def found_where_made(reader: Statement, read: Read, maker: Statement, distances: Distances) -> bool:
    """Whether a reader can find words in the lanes that make them."""
    if isinstance(reader.operation, Function | Divide):
        return False
    choice, made = distances.choice(reader), distances.choices[maker.id]
    if choice is None:
        return True
    if made == EVERYWHERE:
        return choice.way != "root"
    match choice.way:
        case "root":
            return False
        case "tree":
            assert isinstance(reader.operation, Linear)
            uses = [term for term in reader.operation.terms if read in term.factors]
            if not all(choice.index in term.reduce for term in uses):
                return False
    # Both run over the same axis.
    spread = zip(maker.write, read.subscripts, strict=True)
    return any(made.index in wrote.names and subscript.names == (choice.index,) for wrote, subscript in spread)
