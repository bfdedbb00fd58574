"""The layout of a directed acyclic graph: boxes in layers from top to bottom, with few crossings and short edges.

This is the method of Sugiyama, Tagawa and Toda (1981). The longest path to a box gives its layer. An edge that passes a
layer gets a dummy point in it. The order within each layer comes from sweeps over the mean positions of the neighbours.
The horizontal places come from the same means, with overlaps pushed apart. Nothing is random, so the same graph always
gives the same picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 8
GAP = 26
DUMMY_WIDTH = 10
MOST_BENDS, LONGEST = 20_000, 4
"""If all edges together pass more than `MOST_BENDS` layers, an edge over more than `LONGEST` layers is drawn straight.

A reader could not follow so many edges anyway, and the layout would take too long.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The horizontal centre of a box in pixels, and its layer, counted from 0 at the top."""

    x: float
    layer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The places of all boxes, and for every edge the points that it passes between its ends.

    `width` is in pixels, and `layers` is the number of layers.
    """

    places: Mapping[str, Place]
    bends: Mapping[tuple[str, str], tuple[Place, ...]]
    width: float
    layers: int


def _layers(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each node: the length of the longest path to it.

    A node without a predecessor stands in the layer just above its first reader.
    """
    after: dict[str, list[str]] = {n: [] for n in nodes}
    before: dict[str, list[str]] = {n: [] for n in nodes}
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    layer: dict[str, int] = {}
    waiting = {n: len(before[n]) for n in nodes}
    ready = [n for n in nodes if not waiting[n]]
    order = []
    for n in ready:  # the loop itself appends to this list
        order.append(n)
        layer[n] = max((layer[p] + 1 for p in before[n]), default=0)
        for follower in after[n]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    for n in order:
        if not before[n] and after[n]:
            layer[n] = min(layer[f] for f in after[n]) - 1
    return layer


def arrange(widths: Mapping[str, float], edges: Sequence[tuple[str, str]]) -> Picture:
    """Arrange boxes, given by name with their widths in pixels. `edges` are pairs of names and must form no cycle."""
    nodes = list(widths)
    layer = _layers(nodes, edges)
    count = max(layer.values(), default=-1) + 1
    rows: list[list[str]] = [[] for _ in range(count)]
    width = dict(widths)
    up: dict[str, list[str]] = {n: [] for n in nodes}
    down: dict[str, list[str]] = {n: [] for n in nodes}
    chains: dict[tuple[str, str], list[str]] = {}
    for n in nodes:
        rows[layer[n]].append(n)
    span = {(a, b): layer[b] - layer[a] for a, b in edges}
    longest = LONGEST if sum(span.values()) > MOST_BENDS else count
    for a, b in edges:
        chain = [f"{a}\0{b}\0{k}" for k in range(layer[a] + 1, layer[b])] if span[a, b] <= longest else []
        chains[a, b] = chain
        for k, dummy in enumerate(chain, layer[a] + 1):
            rows[k].append(dummy)
            layer[dummy], width[dummy] = k, DUMMY_WIDTH
            up[dummy], down[dummy] = [], []
        for p, q in zip([a, *chain], [*chain, b], strict=True):
            down[p].append(q)
            up[q].append(p)
    _order(rows, up, down)
    x = _horizontal(rows, up, down, width)
    low = min((x[n] - width[n] / 2 for n in x), default=0.0)
    high = max((x[n] + width[n] / 2 for n in x), default=0.0)
    return Picture(
        places={n: Place(x=x[n] - low, layer=layer[n]) for n in nodes},
        bends={e: tuple(Place(x=x[d] - low, layer=layer[d]) for d in chain) for e, chain in chains.items()},
        width=high - low,
        layers=count,
    )


def _order(rows: list[list[str]], up: Mapping[str, list[str]], down: Mapping[str, list[str]]) -> None:
    """Sort each row by the mean position of its neighbours, in sweeps that go down and up in turn."""
    position = {n: k for row in rows for k, n in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours, walk = (up, rows) if sweep % 2 == 0 else (down, rows[::-1])
        for row in walk:
            mean = {
                n: sum(position[m] for m in neighbours[n]) / len(neighbours[n]) if neighbours[n] else position[n]
                for n in row
            }
            row.sort(key=lambda n: (mean[n], position[n]))
            position.update((n, k) for k, n in enumerate(row))


def _horizontal(
    rows: list[list[str]], up: Mapping[str, list[str]], down: Mapping[str, list[str]], width: Mapping[str, float]
) -> dict[str, float]:
    """Return the horizontal centre of each node, in pixels.

    Every node is moved to the mean of its neighbours. A sweep from the left and one from the right keep the nodes of a
    row apart, and the result is the mean of the two sweeps.
    """
    x: dict[str, float] = {}
    for row in rows:
        at = 0.0
        for n in row:
            x[n] = at + width[n] / 2
            at += width[n] + GAP
    for sweep in range(3 * SWEEPS):
        neighbours, walk = (up, rows) if sweep % 2 == 0 else (down, rows[::-1])
        for row in walk:
            wish = [sum(x[m] for m in neighbours[n]) / len(neighbours[n]) if neighbours[n] else x[n] for n in row]
            reach = [(width[a] + width[b]) / 2 + GAP for a, b in pairwise(row)]
            right = list(wish)
            for k in range(1, len(row)):
                right[k] = max(right[k], right[k - 1] + reach[k - 1])
            left = list(wish)
            for k in range(len(row) - 2, -1, -1):
                left[k] = min(left[k], left[k + 1] - reach[k])
            # Neither of the two placements has overlaps, so their mean has none.
            x.update((n, (a + b) / 2) for n, a, b in zip(row, left, right, strict=True))
    return x
