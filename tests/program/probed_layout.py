"""Where every element lies in the units of the streams, found by probing: numbered elements are packed and looked for.

It is the witness of `tabla.program.positions`, and takes nothing from there.

A position counts the words of a unit from its start. A unit is one load, one step's samples, one step's results or one
dump. On a bus each word has a container of its own, so positions count containers, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tabla.program.host import Host, result_elements
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.streams import dump_words, streamed

Positions = NDArray[np.int32]


def layout_arrays(schedule: Schedule) -> dict[str, Positions]:
    """Return the arrays of the layout file, by name.

    ``load/<model>`` and ``sample/<tensor>`` have the shape (copies, *shape of the tensor): an element lies in all those
    places. ``result/<tensor>`` and ``dump/<model>`` have the shape of the tensor. Of a wide model,
    ``load/<model>.guard`` and ``dump/<model>.guard`` are the places of its guard bits. The four templates are whole
    units, with constants, ones and zeros where no element lies.
    """
    host = Host(schedule)
    shapes = {name: tensor.shape for name, tensor in schedule.graph.tensors.items()}
    models = {name: shapes[name] for name, tensor in schedule.graph.tensors.items() if tensor.role == "model"}
    inputs = {name: shapes[name] for name in dict.fromkeys(tensor for tensor, _ in streamed(schedule.layout))}
    out: dict[str, Positions] = {}

    nothing = {name: np.zeros(shape, dtype=np.int64) for name, shape in models.items()}
    template = host.load_beats(nothing).reshape(-1)
    for name, numbered in _numbered(models):
        # Where the words differ from those of models of zeros, they are numbers of elements.
        guard = schedule.mapped.tensors[name].guard
        words = host.load_beats({**nothing, name: numbered << guard}).reshape(-1) - template
        out[f"load/{name}"] = _places(words, numbered)
        if guard:
            # The guard bits of a word come a beat after it, but not to every copy.
            with_guard = host.load_beats({**nothing, name: np.ones_like(numbered)}).reshape(-1) != template
            behind = np.where(with_guard, np.roll(words, schedule.stream_words), 0)
            out[f"load/{name}.guard"] = _places(behind, numbered)
    out["load.template"] = template.astype(np.int32)

    nothing = {name: np.zeros((1, *shape), dtype=np.int64) for name, shape in inputs.items()}
    for name, numbered in _numbered(inputs):
        words = host.sample_beats({**nothing, name: numbered[None]}).reshape(-1)
        out[f"sample/{name}"] = _places(words, numbered)
    out["sample.template"] = host.sample_beats(nothing).reshape(-1).astype(np.int32)

    at = 0
    for name, elements in result_elements(schedule):
        places = out.setdefault(f"result/{name}", np.zeros(shapes[dict(schedule.graph.results)[name]], dtype=np.int32))
        places.reshape(-1)[elements] = np.arange(at, at + len(elements))
        at += len(elements)
    out["result.template"] = np.zeros(at, dtype=np.int32)

    words_of_dump = host.dump_count * dump_words(schedule.template, schedule.mapped.model_guard)
    for name, (words, *guards) in (host.dumped(range(words_of_dump)) if words_of_dump else {}).items():
        out[f"dump/{name}"] = words.astype(np.int32)
        out |= {f"dump/{name}.guard": positions.astype(np.int32) for positions in guards}
    out["dump.template"] = np.zeros(words_of_dump, dtype=np.int32)
    return out


def _numbered(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield arrays whose elements are their own numbers, from 1 on, because 0 stands where no element lies."""
    for name, shape in shapes.items():
        yield name, np.arange(1, 1 + int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(shape)


def _places(words: NDArray[np.int64], numbered: NDArray[np.int64]) -> Positions:
    """Return the places of each number in `words`, as an array of shape (copies, *shape of `numbered`).

    An element with fewer copies than others names its last place several times.
    """
    at = np.flatnonzero(words)
    numbers = words[at] - 1
    order = np.argsort(numbers, kind="stable")
    at, numbers = at[order], numbers[order]
    counts = np.bincount(numbers, minlength=numbered.size)
    starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
    copies = int(counts.max(initial=0))
    index = starts[None, :] + np.minimum(np.arange(copies)[:, None], counts[None, :] - 1)
    found: Positions = at[index].astype(np.int32).reshape(copies, *numbered.shape)
    return found
