"""The strands of the stream, which bring samples and models, and those that read models back (*dump*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabla.schedule.mapping.mapping import static_tensors
from tabla.schedule.mapping.places import Place
from tabla.schedule.strands.layout import Key, Layout, is_scratch, preloaded
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.templates.template import Template, limits, timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """How the words of a place arrive in beats.

    Each address of the place takes `row` words, one for each lane and group that has words of its own. The first of
    them goes to lane `first`. With `all`, every lane of a group takes the same word; with `same`, every tap group takes
    the same words.
    """

    row: int
    first: int
    all: bool
    same: bool

    @staticmethod
    def of(layout: Layout, key: Key, template: Template) -> Filling:
        """Return how a place is filled: it depends on the spot, and on whether the tensor is cut between groups."""
        place = layout.places[key]
        spread = place.spot.kind == "lane"
        split = layout.graph.tensors[key[0]].split >= 0
        groups = max(1, template.roots) if split else 1
        return Filling(
            row=groups * (place.pes if spread else 1),
            first=place.spot.span.first if spread else 0,
            all=place.spot.kind == "every",
            same=template.roots > 1 and not split,
        )

    def blocks(self, stream_words: int) -> range:
        """Return the blocks of lanes that the beats of an address go to; a block has a lane for each word of a beat."""
        return range(self.first // stream_words, -(-(self.first + self.row) // stream_words))


def streamed(layout: Layout) -> list[Key]:
    """Return the places that a sample's words go to, in the order of the stream: by tensor as defined, then by spot."""
    order = {name: n for n, name in enumerate(layout.graph.tensors)}
    keys = [k for k, p in layout.places.items() if layout.graph.tensors[k[0]].role in ("input", "label")]
    return sorted(keys, key=lambda k: (order[k[0]], k[1]))


def _fill(
    place: Place, filling: Filling, stream_words: int, fields: dict[str, int], *, window: bool, comment: str
) -> Strand:
    """Return the strand of the stream that fills one place, address by address, each address block by block.

    `fields` name the memories, and `window` says whether they are those of the sample's slot in the ring. A stored word
    of a wide model takes two beats: the first has its upper bits, and the second, which writes, its guard bits.
    """
    rows, reach = filling.row > 1 or filling.first > 0, filling.blocks(stream_words)
    counts: tuple[int, ...] = (place.words, len(reach)) if rows else (place.words,)
    inner = (0,) if rows else ()
    marks = {name: 1 for name, wanted in (("all", filling.all), ("same", filling.same)) if wanted}
    operation = Operation(
        fields={**fields, **marks},
        addresses={
            "address": Address(base=place.base, strides=(1, *inner), window=window),
            "block": Address(base=reach.start, strides=(0, *(1 for _ in inner))),
        },
    )
    body: tuple[Operation, ...] = (operation,)
    if place.guard:
        body = (replace(operation, fields=marks), operation.with_fields(wide=1))
    return Strand(unit="stream", start=0, body=body, counts=counts, comment=comment)


def beats_of(strands: Sequence[Strand]) -> int:
    """Return the beats that some strands of the stream take: one for each operation."""
    return sum(strand.iterations * len(strand.body) for strand in strands)


def sample_strands(layout: Layout, stream_words: int, template: Template) -> list[Strand]:
    """Return the strands of the stream that bring one sample, in beats of `stream_words` words."""
    out = []
    for key in streamed(layout):
        place = layout.places[key]
        fields = {"to_root_data": 1} if place.spot.kind == "root" else {"to_data": 1}
        filling = Filling.of(layout, key, template)
        out.append(_fill(place, filling, stream_words, fields, window=True, comment=f"{key[0]} to {key[1]}"))
    return out


def loaded(layout: Layout) -> list[Key]:
    """Return the places that are loaded with the models, in the order of the stream."""
    found = preloaded(layout, static_tensors(layout.graph))
    scratch = [k for k in layout.places if is_scratch(k[1])]
    return sorted({*found, *scratch})


def load_strands(layout: Layout, stream_words: int, template: Template) -> list[Strand]:
    """Return the strands of the stream that load models and constants.

    Of the partial words of a product only the first of each run is loaded: the word that the product begins with.
    """
    out = []
    for key in loaded(layout):
        place = layout.places[key]
        if is_scratch(key[1]):
            run = place.shape[-1]
            operation = Operation(
                fields={"to_root_memory": 1, **({"same": 1} if template.roots > 1 else {})},
                addresses={"address": Address(base=place.base, strides=(run,)), "block": Address(strides=(0,))},
            )
            counts = (place.words // run,)
            out.append(Strand(unit="stream", start=0, body=(operation,), counts=counts, comment=f"ones of {key[0]}"))
            continue
        fields = {"to_root_memory": 1} if place.spot.kind == "root" else {f"to_{b}": 1 for b in place.banks}
        filling = Filling.of(layout, key, template)
        out.append(_fill(place, filling, stream_words, fields, window=False, comment=f"{key[0]} to {key[1]}"))
    return out


def dump_strands(layout: Layout, template: Template, wide_shift: int) -> list[Strand]:
    """Return the strands that read models back: one address of every memory for each token.

    For token n, the lanes pass the words of their model memories at address n up the tree, one lane after the other.
    The word of the root's memory at address n follows. With several roots every group does so, and operations are as
    many cycles apart as there are groups, because the groups' words leave one after the other.

    Where there are wide models, the guard bits of all these words follow, in the same order and by the same way;
    `wide_shift` is the position of a shift of wide models in the table of shifts. The guard bits of a word in a memory
    without wide models mean nothing.
    """
    laws, every = timing(), max(1, template.roots)
    pes = template.lanes
    up = 1 + template.tree_levels * laws.tree_level
    send = Operation(
        fields={"a": "model", "up": 1},
        addresses={
            "model": Address(base=0, strides=(0,), window=True),
            "low": Address(base=0, strides=(1,)),
            "high": Address(base=1, strides=(1,)),
        },
    )
    take = Operation(fields={"a": "zero", "base": "tree"})
    put = Operation(fields={"source": "result", "to_output": 1})
    fetch = Operation(fields={"a": "zero", "c": "memory", "base": "addend"}, addresses={"c": Address(window=True)})
    parts = [(send, take, fetch, put)]
    if memories := layout.wide_memories:
        wide: dict[str, str | int] = {"wide": 1, "shift": wide_shift}
        whole = send.with_fields(a="zero", c="model", base="addend", **wide)
        both = (whole, take.with_fields(**wide)) if "model" in memories else (send, take)
        own = fetch.with_fields(**wide) if "root memory" in memories else fetch
        parts.append((*both, own, put.with_fields(wide=1)))
    strands = []
    for number, (sent, taken, fetched, out) in enumerate(parts):
        start, after = number * (pes + 1) * every, "'s guard bits" if number else ""
        strands += [
            Strand(
                unit="lane_issue",
                start=start,
                interval=every,
                body=(sent,),
                counts=(pes,),
                comment=f"dump: a lane's model word{after}",
            ),
            Strand(
                unit="root_issue",
                start=start + up,
                interval=every,
                body=(taken,),
                counts=(pes,),
                comment=f"dump: through the tree{after}",
            ),
            Strand(
                unit="root_issue",
                start=start + up + pes * every,
                body=(fetched,),
                comment=f"dump: the root's word{after}",
            ),
            Strand(
                unit="root_write",
                start=start + up + laws.result,
                interval=every,
                body=(out,),
                counts=(pes + 1,),
                comment=f"dump: out{after}",
            ),
        ]
    return strands


def dump_words(template: Template, guard: int) -> int:
    """Return the number of words that leave for one token of a dump: two for each place if there are guard bits."""
    return (template.lanes + 1) * max(1, template.roots) * (2 if guard else 1)


def dump_count(layout: Layout) -> int:
    """Return the number of tokens that bring back every model: the highest address of a model, and one more."""
    ends = [
        layout.places[k].base + layout.places[k].words
        for k in loaded(layout)
        if layout.graph.tensors[k[0]].role == "model"
    ]
    return max(ends, default=0)


def widest(template: Template) -> int:
    """Return the words of a beat of the widest stream that an array can use: a power of two."""
    return min(limits().stream_words, 1 << (template.pes - 1).bit_length())
