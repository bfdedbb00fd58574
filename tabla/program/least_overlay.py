"""The least overlay that holds some programs."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.program.fit import features_of, tokens_of
from tabla.program.image import Image
from tabla.program.sizes import sum_bits
from tabla.program.timing import timing_numbers
from tabla.templates.overlays import FEATURES, RANGES, OverlayRoom


def least_room(images: Sequence[Image]) -> OverlayRoom:
    """Return the least room that holds each of some images, which are for arrays of the same shape.

    Each image is that of `least_image`, whose sizes are what its program needs.
    """
    needs = [image.parameters for image in images]
    first = needs[0]
    shifts = tuple(sorted({shift for p in needs for shift in p.shifts}))
    names = {f.code: f.name for p in needs for f in p.functions}
    features = {name for image in images for name in features_of(image)}
    terms = 1
    bits = max(p.accumulator for p in needs)
    while sum_bits(first.width, products=max(terms, first.pes), addends=1, place=max(shifts)) < bits:
        terms *= 2
    return OverlayRoom(
        model_words=max(p.model_depth for p in needs),
        data_words=max(p.data_depth for p in needs),
        interim_words=max(p.interim_depth for p in needs),
        root_data_words=max(p.root_data_depth for p in needs),
        root_memory_words=max(p.root_memory_depth for p in needs),
        output_words=max(p.output_depth for p in needs),
        stream_words=first.stream_words,
        levels=max(p.levels for p in needs),
        body=max(p.body for p in needs),
        cycles=max(RANGES["cycles"][0], *(_cycle_bits(image) for image in images)),
        intervals=max(p.interval_bits for p in needs),
        counts=max(p.count_bits for p in needs),
        guards=max(RANGES["guards"][0], *(p.guard_bits for p in needs)),
        strands=max(max(p.strand_depth.values()) for p in needs),
        operations=max(max(p.operation_depth.values()) for p in needs),
        tokens=max(RANGES["tokens"][0], *(tokens_of(image) for image in images)),
        terms=terms,
        shifts=tuple(shift - first.fraction for shift in shifts),
        functions=tuple(names[code] for code in sorted(names)),
        features=tuple(name for name in FEATURES if name in features),
    )


def _cycle_bits(image: Image) -> int:
    """Return the bits of cycles that an overlay needs: those of starts and waits, and one less than of the others."""
    found = [image.parameters.start_bits]
    for name, value in timing_numbers(image).items():
        kind = name.rpartition(".")[2]
        if kind == "wait":
            found.append(value.bit_length())
        elif kind in ("pause", "beats"):
            found.append(max(value, 0).bit_length())
        elif kind == "drain":
            found.append(value.bit_length() - 1)
    return max(found)
