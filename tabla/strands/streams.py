"""Programs of the stream, of loading models and of reading them back."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.mapping.mapping import static_tensors
from tabla.mapping.places import Place
from tabla.strands.layout import Key, Layout, is_scratch, preloaded
from tabla.strands.strand import Address, Operation, Strand
from tabla.templates.template import Template, timing

MOST_STREAM_WORDS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """How the words of a place arrive: `row` words at each address, the first of them word `first` of the lanes' row.

    `same`: every tap group takes the same.
    """

    row: int
    first: int
    all: bool
    same: bool

    @staticmethod
    def of(layout: Layout, key: Key, template: Template) -> Filling:
        """By where the place lies, and whether the tensor is cut between groups."""
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
        """The beats of one address: S words a beat, from the lanes' first one on."""
        return range(self.first // stream_words, -(-(self.first + self.row) // stream_words))


def streamed(layout: Layout) -> list[Key]:
    """Places that a sample's words go to, in stream order: by definition of the tensor, then by spot."""
    order = {name: n for n, name in enumerate(layout.graph.tensors)}
    keys = [k for k, p in layout.places.items() if layout.graph.tensors[k[0]].role in ("input", "label")]
    return sorted(keys, key=lambda k: (order[k[0]], k[1]))


def _fill(
    place: Place, filling: Filling, stream_words: int, fields: dict[str, int], *, window: bool, comment: str
) -> Strand:
    """One place: its words in address order; each address a row of words for lanes or groups, in blocks."""
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
    return Strand(unit="stream", start=0, body=(operation,), counts=counts, comment=comment)


def sample_strands(layout: Layout, stream_words: int, template: Template) -> list[Strand]:
    """The beats of one sample."""
    out = []
    for key in streamed(layout):
        place = layout.places[key]
        fields = {"to_root_data": 1} if place.spot.kind == "root" else {"to_data": 1}
        filling = Filling.of(layout, key, template)
        out.append(_fill(place, filling, stream_words, fields, window=True, comment=f"{key[0]} to {key[1]}"))
    return out


def loaded(layout: Layout) -> list[Key]:
    """Places that are loaded with the models, in stream order."""
    found = preloaded(layout, static_tensors(layout.graph))
    scratch = [k for k in layout.places if is_scratch(k[1])]
    return sorted({*found, *scratch})


def load_strands(layout: Layout, stream_words: int, template: Template) -> list[Strand]:
    """The beats that load models and constants; of scratch words only the leading ones."""
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


def dump_strands(layout: Layout, template: Template) -> list[Strand]:
    """Lanes pass their model word at the window's offset up the tree, one after the other; then the root's
    memory word. With several roots every group does so, and a cycle each is left for their words to leave."""
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
    return [
        Strand(
            unit="lane_issue", start=0, interval=every, body=(send,), counts=(pes,), comment="dump: a lane's model word"
        ),
        Strand(
            unit="root_issue", start=up, interval=every, body=(take,), counts=(pes,), comment="dump: through the tree"
        ),
        Strand(unit="root_issue", start=up + pes * every, body=(fetch,), comment="dump: the root's word"),
        Strand(
            unit="root_write",
            start=up + laws.result,
            interval=every,
            body=(put,),
            counts=(pes + 1,),
            comment="dump: out",
        ),
    ]


def dump_words(template: Template) -> int:
    """Words of one token of the dump program."""
    return (template.lanes + 1) * max(1, template.roots)


def dump_count(layout: Layout) -> int:
    """Tokens that bring back every model."""
    ends = [
        layout.places[k].base + layout.places[k].words
        for k in loaded(layout)
        if layout.graph.tensors[k[0]].role == "model"
    ]
    return max(ends, default=0)


def widest(template: Template) -> int:
    """Words a beat of the widest stream."""
    return min(MOST_STREAM_WORDS, 1 << (template.pes - 1).bit_length())
