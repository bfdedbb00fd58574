"""Other microcode for the same work: loops on other levels, bodies at other addresses, other intervals where one body
is issued once.

Every unit issues the same operations in the same cycles, with the same addresses and guards. So hardware that does its
work with the one program does it with the other, too, with other parts of its sequencers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tabla.hw.features import Features, hardware_of
from tabla.program.image import Image
from tabla.program.layout import WordLayout, operation_layout, strand_layout
from tabla.templates.instructions import operation_format

_TRIES = ((0.6, True), (0.6, False), (0.2, False), (0.05, False))
"""The share of the strands that is tried to be changed, and whether other levels are spanned, too: less, if the
hardware has no such features.
"""


def mutated_loops(image: Image, hardware: Features, chance: np.random.Generator) -> Image:
    """Return an image that does the same work on the same hardware; `image` itself if none is found."""
    for share, spans in _TRIES:
        changed = image
        for unit in ("stream", *image.units):
            changed = _changed(changed, unit, chance, share, spans=spans)
        if hardware_of(changed) == hardware:
            return changed
    return image


@dataclass(slots=True, kw_only=True, eq=False)
class _Body:
    """The operation words of a strand, which no other strand has, and where their fields lie."""

    layout: WordLayout
    generators: tuple[str, ...]
    words: list[int]

    def get(self, name: str) -> list[int]:
        """Return a field of each word."""
        return [self.layout.fields[name].extract(word) for word in self.words]

    def put(self, name: str, values: list[int]) -> None:
        """Set a field of each word."""
        self.words = [_with(self.layout, name, word, value) for word, value in zip(self.words, values, strict=True)]


def _changed(image: Image, unit: str, chance: np.random.Generator, share: float, *, spans: bool) -> Image:
    """Return an image in which that share of the strands of a unit has other loops, and its bodies other addresses."""
    layout, operations = strand_layout(unit, image.parameters), list(image.operations[unit])
    strands, form = list(image.strands[unit]), operation_format(unit)
    uses = np.zeros(len(operations), dtype=int)
    for word in strands:
        uses[_addresses(layout, word)] += 1
    for number, word in enumerate(strands):
        place = _addresses(layout, word)
        if chance.random() < share and (uses[place] == 1).all():
            body = _Body(
                layout=operation_layout(unit, image.parameters), generators=form.generators, words=operations[place]
            )
            word = _on_other_levels(layout, word, body, image.parameters.levels, chance)
            if spans:
                word = _with_other_spans(layout, word, body, image.parameters.levels, chance)
            strands[number] = _at_other_interval(layout, word, image.parameters.levels, chance)
            operations[place] = body.words
    strands, operations = _at_other_addresses(layout, strands, operations, chance)
    return replace(
        image,
        strands={**image.strands, unit: tuple(strands)},
        operations={**image.operations, unit: tuple(operations)},
    )


def _on_other_levels(layout: WordLayout, word: int, body: _Body, levels: int, chance: np.random.Generator) -> int:
    """Return a strand word that divides its turns otherwise between two adjacent levels that act as one loop."""
    if levels < 2:
        return word
    inner = int(chance.integers(levels - 1))
    counts = [layout.fields[f"count{level}"].extract(word) + 1 for level in (inner, inner + 1)]
    turns, moving = counts[0] * counts[1], inner if counts[0] > 1 else inner + 1
    deltas = {name: [body.get(f"{name}.delta{inner + side}") for side in (0, 1)] for name in body.generators}
    if turns == 1 or (min(counts) > 1 and any(first != second for first, second in deltas.values())):
        return word
    has_gate = "gate" in body.layout.fields
    bounds = [layout.fields["reduce"].extract(word), *(body.get("gate") if has_gate else ())]
    moved = [_outside(bound, inner, counts) for bound in bounds]
    most = 1 << layout.fields["count0"].width
    ways = [turn for turn in range(1, turns + 1) if turns % turn == 0 and max(turn, turns // turn) <= most]
    fitting = [bound for bound in moved if bound is not None and bound <= _most_levels(layout)]
    if len(fitting) < len(moved) or not ways:
        return word
    reduce, *gates = fitting
    first = int(chance.choice(ways))
    for level, count in ((inner, first), (inner + 1, turns // first)):
        word = _with(layout, f"count{level}", word, count - 1)
        for name, both in deltas.items():
            body.put(f"{name}.delta{level}", both[moving - inner])
    if has_gate:
        body.put("gate", gates)
    return _with(layout, "reduce", word, reduce)


def _outside(bound: int, inner: int, counts: list[int]) -> int | None:
    """Return how many of the innermost levels a sum or a gate spans if it spans both of two levels or none.

    The result is None if it has to span the inner level alone.
    """
    if bound != inner + 1:
        return bound
    return inner + 2 if counts[1] == 1 else inner if counts[0] == 1 else None


def _most_levels(layout: WordLayout) -> int:
    """Return how many levels a sum, or a gate, can span by its field of a word."""
    return (1 << layout.fields["reduce"].width) - 1


def _with_other_spans(layout: WordLayout, word: int, body: _Body, levels: int, chance: np.random.Generator) -> int:
    """Return a strand word whose sum, and whose gates, span more or fewer levels, which have one turn each."""
    alone = [layout.fields[f"count{level}"].extract(word) == 0 for level in range(levels)]

    def other(bound: int) -> int:
        first = next((level for level in range(bound, 0, -1) if not alone[level - 1]), 0)
        last = next((level for level in range(bound, levels) if not alone[level]), levels)
        return int(chance.integers(first, min(last, _most_levels(layout)) + 1))

    if "gate" in body.layout.fields:
        body.put("gate", [other(gate) for gate in body.get("gate")])
    return _with(layout, "reduce", word, other(layout.fields["reduce"].extract(word)))


def _at_other_interval(layout: WordLayout, word: int, levels: int, chance: np.random.Generator) -> int:
    """Return a strand word with any interval, if it issues one operation, which nothing has to wait for."""
    names = [f"count{level}" for level in range(levels)]
    if layout.fields["length"].extract(word) != 1 or any(layout.fields[name].extract(word) for name in names):
        return word
    return _with(layout, "interval", word, int(chance.integers(1, 1 << layout.fields["interval"].width)))


def _at_other_addresses(
    layout: WordLayout, strands: list[int], operations: list[int], chance: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Return strand words and operation words with the bodies in another order. Bodies that overlap stay together."""
    blocks = list(_blocks(layout, strands, len(operations)))
    order = [blocks[place] for place in chance.permutation(len(blocks))]
    moved, begins = list[int](), dict[int, int]()
    for block in order:
        begins |= {address: len(moved) + at for at, address in enumerate(block)}
        moved += [operations[address] for address in block]
    bodies = [begins[layout.fields["body"].extract(word)] for word in strands]
    return [_with(layout, "body", word, begin) for word, begin in zip(strands, bodies, strict=True)], moved


def _blocks(layout: WordLayout, strands: list[int], depth: int) -> Iterator[range]:
    """Yield the addresses of an operation memory in blocks that no body crosses."""
    inside = {at for word in strands for at in range(*_addresses(layout, word).indices(depth))[1:]}
    begins = [address for address in range(depth) if address not in inside]
    for begin, end in pairwise([*begins, depth]):
        yield range(begin, end)


def _addresses(layout: WordLayout, word: int) -> slice:
    begin = layout.fields["body"].extract(word)
    return slice(begin, begin + layout.fields["length"].extract(word))


def _with(layout: WordLayout, name: str, word: int, value: int) -> int:
    field = layout.fields[name]
    return word & ~field.insert(-1) | field.insert(value)
