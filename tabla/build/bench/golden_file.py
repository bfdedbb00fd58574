"""Golden vectors as two files: ``golden.json`` for what is small, and ``golden.bin`` for the words of units.

``golden.bin`` holds arrays one after another. An array of words lies in two's complement, the lowest byte first, in
containers of 1, 2, 4 or 8 bytes: the smallest that hold the words of the format. An array of marks has a bit for each
mark, the first in the lowest bit. In place of an array ``golden.json`` has an object with one entry:

- ``{"words": [offset, count, bytes of a container]}``;
- ``{"beats": [offset, beats, words of a beat, bytes of a container]}``;
- ``{"marks": [offset, count]}``.

Offsets count bytes. The test bench reads both with the standard library alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Container = np.dtype[np.signedinteger[Any]]


def container(width: int) -> Container:
    """Return the smallest type of integers that holds words of `width` bits."""
    return np.dtype(f"<i{1 << max(0, (width - 1).bit_length() - 3)}")


def signed(words: NDArray[np.int64], width: int) -> NDArray[np.signedinteger[Any]]:
    """Return the words that ports of `width` bits show of integers, with their signs, in their container.

    A constant may have more bits than the format, of which the ports show the lowest.
    """
    half = 1 << (width - 1)
    shown = words + half
    shown &= (1 << width) - 1
    shown -= half
    return shown.astype(container(width))


def golden_files(golden: Mapping[str, Any]) -> dict[str, str | bytes]:
    """Return the content of both files by their names, from the vectors of
    :func:`tabla.build.bench.vectors.golden`.
    """
    blocks: list[bytes] = []
    content = _without_arrays(golden, blocks)
    return {"golden.json": json.dumps(content) + "\n", "golden.bin": b"".join(blocks)}


def _without_arrays(value: Any, blocks: list[bytes]) -> Any:
    """Return a value with an object in place of each array, and append the bytes of the arrays to `blocks`."""
    match value:
        case np.ndarray():
            offset = sum(map(len, blocks))
            if value.dtype == np.bool_:
                blocks.append(np.packbits(value, bitorder="little").tobytes())
                return {"marks": [offset, len(value)]}
            blocks.append(value.tobytes())
            kind = "words" if value.ndim == 1 else "beats"
            return {kind: [offset, *value.shape, value.itemsize]}
        case Mapping():
            return {key: _without_arrays(entry, blocks) for key, entry in value.items()}
        case list():
            return [_without_arrays(entry, blocks) for entry in value]
        case _:
            return value
