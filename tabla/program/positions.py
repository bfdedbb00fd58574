"""Where every element lies in the streams of an accelerator: the arrays of ``<name>.layout.npz``.

A *unit* is one load, one step of samples, the results of one step, or one dump. Positions are counted in words from the
start of a unit, padding included: word p is in bits ``(p mod S) * width`` and up of beat ``p div S``, for a stream of S
words a beat. So a host writes its words over a copy of the unit's template, and reads words at their positions. It
needs to know nothing else about the array.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tabla.program.host import GUARD, Host, Integers, Numbers, Words
from tabla.schedule.strands.streams import dump_words

Positions = NDArray[np.int32]


def positions(host: Host) -> dict[str, Positions]:
    """Return the arrays of ``<name>.layout.npz``, all of them int32.

    - ``load/<model>`` and ``sample/<input or label>``, of shape (copies, *shape of the tensor): the places of each
      element. A word has to be written to all of them; where elements have fewer places than others, the last one is
      repeated.
    - ``dump/<model>`` and ``result/<name>``, in the shape of the tensor: one place an element.
    - ``load/<model>.guard`` and ``dump/<model>.guard``: the places of the guard bits of a wide model.
    - ``load.template``, ``sample.template``, ``dump.template`` and ``result.template``: one whole unit each, with the
      constants of the program where they belong, and 0 where an element or padding lies.
    """
    schedule = host.schedule
    graph = schedule.graph
    shapes = {name: tensor.shape for name, tensor in graph.tensors.items()}
    roles = {name: tensor.role for name, tensor in graph.tensors.items()}
    models = {name: np.zeros(shapes[name], dtype=np.int64) for name, role in roles.items() if role == "model"}
    inputs = {
        name: np.zeros((1, *shapes[name]), dtype=np.int64) for name, role in roles.items() if role in ("input", "label")
    }
    guards = {f"{name}{GUARD}": models[name] for name in models if graph.tensors[name].guard}
    dumped = host.dump_count * dump_words(schedule.template, schedule.mapped.model_guard)
    models_at_0 = (part.astype(np.int32).reshape(-1) for part in host.load_parts(models))
    return {
        **{f"load/{name}": places for name, places in _copies(host.load_elements(), {**models, **guards}).items()},
        **{f"sample/{name}": places[:, 0] for name, places in _copies(host.sample_elements(), inputs).items()},
        # A unit whose words are their own positions tells where each word lies.
        **{f"result/{name}": _narrow(places[0]) for name, places in host.results(range(schedule.outputs)).items()},
        **{f"dump/{name}{end}": places for name, end, places in _dumped(host, dumped)},
        "load.template": np.concatenate([np.zeros(0, dtype=np.int32), *models_at_0]),
        "sample.template": _narrow(host.sample_beats(inputs).reshape(-1)),
        "result.template": np.zeros(schedule.outputs, dtype=np.int32),
        "dump.template": np.zeros(dumped, dtype=np.int32),
    }


def _narrow(array: Integers) -> Positions:
    return array.astype(np.int32, copy=False)


def _dumped(host: Host, words: int) -> Iterator[tuple[str, str, Positions]]:
    """Yield the places of each model in a dump of so many words, and those of its guard bits."""
    for name, parts in (host.dumped(np.arange(words, dtype=np.int32)) if words else {}).items():
        yield from ((name, end, _narrow(places)) for end, places in zip(("", GUARD), parts, strict=False))


def _copies(parts: Iterable[tuple[str, Numbers]], wanted: Mapping[str, Words]) -> dict[str, Positions]:
    """Return the places of each element of the tensors in `wanted`, with an axis of copies in front.

    `parts` are those of a unit in order: a tensor, and the number of its element in each word; what is no element has
    the tensor's size, or more.
    """
    places: dict[str, list[tuple[Numbers, Positions]]] = {name: [] for name in wanted}
    start = 0
    for name, numbers in parts:
        flat = numbers.reshape(-1)
        if name in places:
            here = _narrow(np.flatnonzero(flat < wanted[name].size))
            places[name].append((flat[here], here + np.int32(start)))
        start += flat.size
    return {name: _by_element(found, wanted[name].shape) for name, found in places.items() if found}


def _by_element(parts: list[tuple[Numbers, Positions]], shape: tuple[int, ...]) -> Positions:
    """Return places with an axis of copies in front, from the elements and the places of each part of a unit."""
    elements = np.concatenate([one for one, _ in parts])
    places = np.concatenate([one for _, one in parts])
    size = math.prod(shape)
    if elements.size == size:  # every element has a place, so each has just one
        alone = np.empty(size, dtype=np.int32)
        alone[elements] = places
        return alone.reshape(1, *shape)
    order = np.lexsort((places, elements))
    elements, places = elements[order], places[order]
    counts = np.bincount(elements, minlength=size)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    copies = np.minimum(np.arange(int(counts.max(initial=1)))[:, None], counts - 1)
    return np.asarray(places[begins + copies].reshape(-1, *shape), dtype=np.int32)
