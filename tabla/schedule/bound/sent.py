"""Words that lanes have to send up the tree, by the ways of statements.

What a statement makes in lanes over an index lies spread along that index. Another statement finds it there if it runs
over lanes along the same axis. Otherwise the words go up the tree, one a cycle in each group (decision 3). Each takes a
slot of all lanes of its group and a slot of the group's root.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from tabla.graph.graph import Divide, Function, Graph, Linear, Read, Statement
from tabla.schedule.bound.choice import EVERYWHERE, UNDIVIDED
from tabla.schedule.bound.claims import Claim, Claims, met, pinned_indices
from tabla.schedule.bound.distances import LATE, NEVER, NOW, Distances, Times, joins
from tabla.schedule.bound.products import root_slots
from tabla.schedule.bound.windows import Work
from tabla.templates.template import timing


def moved(graph: Graph, forward: Claims, backward: Claims, distances: Distances) -> list[Work]:
    """Return the work of moving the words that `forward` claims as made and `backward` as wanted elsewhere."""
    updates = {following: model for model, following in graph.updates.items()}
    makers: dict[str, list[Statement]] = {}
    for statement in graph.statements:
        makers.setdefault(updates.get(statement.target, statement.target), []).append(statement)
    found = []
    for tensor, claim in forward.items():
        if len(makers.get(tensor, ())) != 1:
            continue
        (maker,) = makers[tensor]
        found += _crossing(graph, maker, claim, backward, distances)
        if distances.way(maker) == "lane":
            found += _up_the_tree(graph, maker, tensor, claim, backward, distances)
    return found


def _up_the_tree(
    graph: Graph, maker: Statement, tensor: str, claim: Claim, backward: Claims, distances: Distances
) -> Iterator[Work]:
    """Yield what lanes and roots do for words that lanes make and other statements take elsewhere."""
    template, slot = distances.template, claim.times.lane - distances.operation
    # Of several readers the one that takes most words.
    if sent := list(_sent(graph, maker, tensor, claim.pins, backward, distances)):
        extents, wanted = max(sent, key=_words)
        words = math.prod(extents.values()) - _as_made(maker, extents, distances)
        each = template.pes if distances.along(maker) == UNDIVIDED else template.lanes
        tail = Times(NEVER, distances.operation + distances.up + wanted)
        if words:
            slots = words * each // max(1, template.sequencers)
            yield Work(multiplies=0, slots=slots, head=Times(NEVER, slot), tail=tail)
    # A word that joins an operation of the root takes no other.
    if apart := list(_sent(graph, maker, tensor, claim.pins, backward, distances, joining=False)):
        extents, wanted = max(apart, key=_words)
        yield taken(math.prod(extents.values()), maker, slot + distances.up, wanted, distances)


def _as_made(maker: Statement, extents: Mapping[str, int], distances: Distances) -> int:
    """Return how many of these words, by extents along each axis, can go up in a slot that they take anyway.

    A word has to be alone in its slot. Where a word takes one operation, that is one word of each row of lanes. A sum
    of several terms that is computed alone takes more slots than a sum that is sent later, unless no other sum lies in
    its row.
    """
    index, words = distances.choices[maker.id].index, math.prod(extents.values())
    lanes = max(1, distances.template.lanes // max(1, distances.template.sequencers))
    if index not in extents:
        return words
    rows, rest = divmod(extents[index], lanes)
    if math.prod(index.extent for index in maker.reduced) > 1:
        rows = rows if lanes == 1 else 0
        rest = rest if rest == 1 else 0
    return words // extents[index] * (rows + (rest > 0))


def taken(words: int, maker: Statement, slot: int, wanted: int, distances: Distances) -> Work:
    """Return what roots do for words that come up the tree.

    The roots take the words from cycle `slot` on, and their results are wanted at least `wanted` cycles before v.
    """
    outs = [index.name for index in maker.indices]
    slots = root_slots(words, outs, distances.template.roots, distances.along(maker))
    head, tail = Times(slot, NEVER), Times(distances.operation + wanted, NEVER)
    return Work(multiplies=0, slots=slots, head=head, tail=tail)


def _crossing(graph: Graph, maker: Statement, claim: Claim, backward: Claims, distances: Distances) -> list[Work]:
    """Return what lanes and roots do for words of which each group makes a part and takes all."""
    groups, template, tensor = distances.groups, distances.template, maker.target
    if tensor not in groups.crossing:
        return []
    readers = (statement for statement in graph.statements if statement.id in groups.whole[tensor])
    sent = [_wanted(graph, maker, reader, tensor, claim.pins, backward, distances) for reader in readers]
    if not any(sent):
        return []
    extents, wanted = max((words for words in sent if words is not None), key=_words)
    words, roots = math.prod(extents.values()), max(1, template.roots)
    # A word that lanes make may go up as it is made, and its slot in the lanes of its own group is counted already.
    at_root = isinstance(maker.operation, Function | Divide) or distances.way(maker) == "root"
    lanes, takes = (template.pes, roots) if at_root else (template.pes - template.lanes, roots - 1)
    slot = min(claim.times.root + timing().broadcast, claim.times.lane - distances.operation)
    if maker.reduced and distances.way(maker) in (None, "tree"):
        slot = claim.times.root - distances.operation - distances.up
    up = Times(NEVER, distances.operation + distances.across + wanted)
    at = Times(slot + distances.across, NEVER)
    return [
        Work(multiplies=0, slots=words * lanes, head=Times(NEVER, slot), tail=up),
        Work(multiplies=0, slots=words * takes, head=at, tail=Times(distances.operation + wanted, NEVER)),
    ]


def _words(sent: tuple[Mapping[str, int], int]) -> tuple[int, int]:
    """The order of what readers take: first by the number of words, then by how early they are wanted."""
    extents, wanted = sent
    return math.prod(extents.values()), wanted


def _sent(
    graph: Graph,
    maker: Statement,
    tensor: str,
    pins: frozenset[int],
    backward: Claims,
    distances: Distances,
    *,
    joining: bool = True,
) -> Iterator[tuple[Mapping[str, int], int]]:
    """Yield what each reader takes up the tree: how many words along each axis, and how early a root must have them.

    Unless `joining`, readers at the root that only add the words are left out.
    """
    for reader in graph.statements:
        reads = list(dict.fromkeys(read for read in reader.reads if read.tensor == tensor))
        if not joining and joins(reader, tensor) and distances.way(reader) in (None, "root"):
            continue
        if len(reads) == 1 and not found_where_made(reader, reads[0], maker, distances):
            found = _wanted(graph, maker, reader, tensor, pins, backward, distances)
            if found is not None:
                yield found


def _wanted(
    graph: Graph,
    maker: Statement,
    reader: Statement,
    tensor: str,
    pins: frozenset[int],
    backward: Claims,
    distances: Distances,
) -> tuple[Mapping[str, int], int] | None:
    """Return how many words a reader takes along each axis of the maker, and how many cycles before v."""
    reads = list(dict.fromkeys(read for read in reader.reads if read.tensor == tensor))
    if reader.target not in backward or len(reads) != 1:
        return None
    target = backward[reader.target]
    pinned = pinned_indices(reader.write, target.pins, reader.box)
    wanted = None if pinned is None else met(reader, reads[0], pinned, graph)
    if wanted is None:
        return None
    shape = graph.tensors[tensor].shape
    names = [",".join(subscript.names) or str(axis) for axis, subscript in enumerate(maker.write)]
    extents = {names[axis]: extent for axis, extent in enumerate(shape) if axis not in pins | wanted}
    saved = distances.operation - LATE if joins(reader, tensor) else 0
    return extents, distances.wanted(reader, tensor, target.times, NOW).root - saved


def found_where_made(reader: Statement, read: Read, maker: Statement, distances: Distances) -> bool:
    """Return whether a reader can find words in the lanes that make them."""
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
