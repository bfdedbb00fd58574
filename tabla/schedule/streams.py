"""Programs of the stream, of loading models and of reading them back."""

from __future__ import annotations

from tabla.mapping.places import Place
from tabla.mapping.search import static_tensors
from tabla.schedule.layout import Key, Layout, is_scratch, preloaded
from tabla.schedule.strands import Address, Operation, Strand
from tabla.templates.template import Template, timing


def blocks(place: Place, stream_words: int) -> range:
    """The beats of one row of a spread place, by the lanes that they reach: S a beat, from lane 0 on."""
    first = place.spot.span.first
    return range(first // stream_words, -(-(first + place.pes) // stream_words))


def streamed(layout: Layout) -> list[Key]:
    """Places that a sample's words go to, in stream order: by definition of the tensor, then by spot."""
    order = {name: n for n, name in enumerate(layout.graph.tensors)}
    keys = [k for k, p in layout.places.items() if layout.graph.tensors[k[0]].role in ("input", "label")]
    return sorted(keys, key=lambda k: (order[k[0]], k[1]))


def _fill(place: Place, stream_words: int, fields: dict[str, int], *, window: bool, comment: str) -> Strand:
    """One place: its words in address order; spread ones a row of lanes at a time, in blocks."""
    lane = place.spot.kind == "lane"
    reach = blocks(place, stream_words)
    counts: tuple[int, ...] = (place.words, len(reach)) if lane else (place.words,)
    inner = (0,) if lane else ()
    operation = Operation(
        fields={**fields, **({"all": 1} if place.spot.kind == "every" else {})},
        addresses={
            "address": Address(base=place.base, strides=(1, *inner), window=window),
            "block": Address(base=reach.start if lane else 0, strides=(0, *(1 for _ in inner))),
        },
    )
    return Strand(unit="stream", start=0, body=(operation,), counts=counts, comment=comment)


def sample_strands(layout: Layout, stream_words: int) -> list[Strand]:
    """The beats of one sample."""
    out = []
    for key in streamed(layout):
        place = layout.places[key]
        fields = {"to_root_data": 1} if place.spot.kind == "root" else {"to_data": 1}
        out.append(_fill(place, stream_words, fields, window=True, comment=f"{key[0]} to {key[1]}"))
    return out


def loaded(layout: Layout) -> list[Key]:
    """Places that are loaded with the models, in stream order."""
    found = preloaded(layout, static_tensors(layout.graph))
    scratch = [k for k in layout.places if is_scratch(k[1])]
    return sorted({*found, *scratch})


def load_strands(layout: Layout, stream_words: int) -> list[Strand]:
    """The beats that load models and constants; of scratch words only the leading ones."""
    out = []
    for key in loaded(layout):
        place = layout.places[key]
        if is_scratch(key[1]):
            run = place.shape[-1]
            operation = Operation(
                fields={"to_root_memory": 1},
                addresses={"address": Address(base=place.base, strides=(run,)), "block": Address(strides=(0,))},
            )
            counts = (place.words // run,)
            out.append(Strand(unit="stream", start=0, body=(operation,), counts=counts, comment=f"ones of {key[0]}"))
            continue
        fields = {"to_root_memory": 1} if place.spot.kind == "root" else {f"to_{b}": 1 for b in place.banks}
        out.append(_fill(place, stream_words, fields, window=False, comment=f"{key[0]} to {key[1]}"))
    return out


def dump_strands(layout: Layout, template: Template) -> list[Strand]:
    """Lanes pass their model word at the window's offset up the tree, one after the other; then the root's
    memory word."""
    laws = timing()
    pes = template.pes
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
        Strand(unit="lane_issue", start=0, body=(send,), counts=(pes,), comment="dump: a lane's model word"),
        Strand(unit="root_issue", start=up, body=(take,), counts=(pes,), comment="dump: through the tree"),
        Strand(unit="root_issue", start=up + pes, body=(fetch,), comment="dump: the root's word"),
        Strand(unit="root_write", start=up + laws.result, body=(put,), counts=(pes + 1,), comment="dump: out"),
    ]


def dump_count(layout: Layout) -> int:
    """Tokens that bring back every model."""
    ends = [
        layout.places[k].base + layout.places[k].words
        for k in loaded(layout)
        if layout.graph.tensors[k[0]].role == "model"
    ]
    return max(ends, default=0)
