"""The order of the factors of a lane's product: which one is operand `a` and which is `b`.

The product is the same in either order. But each operand has a multiplexer in every lane, which is smaller the fewer
memories the operand is ever read from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from tabla.strands.strand import Operation, Strand
from tabla.templates.instructions import kind_of

# The memories that either operand may read. Each has one address generator, whichever operand reads it.
_EITHER = ("model", "data", "interim")
Pair = tuple[str, str]


def ordered_operands(memories: Mapping[str, Sequence[Strand]]) -> dict[str, list[Strand]]:
    """Return the strands of each unit, with the factors of the lanes ordered so that the multiplexers are small."""
    lanes = {unit for unit in memories if kind_of(unit) == "lane_issue"}
    pairs = {_pair(o) for unit in lanes for s in memories[unit] for o in s.body}
    free = sorted({(min(p), max(p)) for p in pairs if _turns(p)})
    fixed = [p for p in sorted(pairs) if not _turns(p)]
    wanted = min(
        (
            [pair[::-1] if turned else pair for pair, turned in zip(free, turns, strict=True)]
            for turns in _choices(free)
        ),
        key=lambda chosen: _luts([*fixed, *chosen]),
    )
    return {
        unit: [_ordered(s, wanted) for s in strands] if unit in lanes else list(strands)
        for unit, strands in memories.items()
    }


def _choices(free: Sequence[Pair]) -> Iterable[tuple[bool, ...]]:
    return product((False, True), repeat=len(free))


def _pair(operation: Operation) -> Pair:
    return str(operation.field("a", "zero")), str(operation.field("b", "one"))


def _turns(pair: Pair) -> bool:
    return pair[0] != pair[1] and all(source in _EITHER for source in pair)


def _ordered(strand: Strand, wanted: Collection[Pair]) -> Strand:
    body = []
    for operation in strand.body:
        a, b = _pair(operation)
        turn = _turns((a, b)) and (a, b) not in wanted
        body.append(operation.with_fields(a=b, b=a) if turn else operation)
    return replace(strand, body=tuple(body))


def _luts(pairs: Sequence[Pair]) -> int:
    """Return the LUT4 that both multiplexers take for each bit, given the pairs of sources of all products.

    A first LUT4 selects between two sources, and each further one adds one more.
    """
    cost = 0
    for sources in ({a for a, _ in pairs} - {"zero"}, {b for a, b in pairs if a != "zero"} - {"one"}):
        cost += max(1, len(sources) - 1)
    return cost
