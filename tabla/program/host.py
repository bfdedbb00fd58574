"""The host's side of a schedule: arrays become beats of the stream, and words of the machine become arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.graph.graph import Product
from tabla.graph.predicted_part import PredictedPart
from tabla.program.image import FirstWords, Parameters
from tabla.schedule.mapping.places import Spot
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import Key, is_scratch
from tabla.schedule.strands.leaving import elements
from tabla.schedule.strands.streams import Filling, dump_words, loaded, streamed

Words = NDArray[np.int64]
Integers = NDArray[np.signedinteger[Any]]
Numbers = NDArray[np.int32]
"""The row-major numbers of elements of a tensor."""
AT_ONCE = 1 << 18
"""The most words of a load that are gathered at once, so that a large load takes no second array of its size."""

GUARD = ".guard"
"""Ends the name under which a layout file has the places of the guard bits of a wide model."""


class Host:
    """Packs samples and models into beats, and unpacks results and models, for one schedule.

    All arrays hold words: integers of the build's format. Index arrays are made once, so packing is one gather.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        layout = schedule.layout
        self._sample = [(key[0], _beat_index(schedule, key)) for key in streamed(layout)]
        self._load = [(key, None if is_scratch(key[1]) else _beat_index(schedule, key)) for key in loaded(layout)]

    @property
    def dump_count(self) -> int:
        """The number of tokens of a dump that brings back every model."""
        return self.schedule.dump_count

    def load_elements(self) -> Iterator[tuple[str, Numbers]]:
        """Yield what the words of a load are, part by part: a tensor, and the row-major number of its element in each.

        Padding has the tensor's size for a number. A part of ones, which a product begins with, has no tensor. Of a
        wide model every beat of words comes before the beat of their guard bits, which belong to ``<model>.guard``.
        """
        for (tensor, spot), index in self._load:
            place = self.schedule.layout.places[(tensor, spot)]
            if index is None:
                yield "", np.zeros((place.words // place.shape[-1], self.schedule.stream_words), dtype=np.int32)
            elif place.guard:
                for beat in index.reshape(-1, self.schedule.stream_words):
                    yield tensor, beat
                    yield f"{tensor}{GUARD}", beat
            else:
                yield tensor, index

    def sample_elements(self) -> Iterator[tuple[str, Numbers]]:
        """Yield what the words of a step of samples are, as `load_elements` does."""
        yield from self._sample

    @property
    def prediction(self) -> PredictedPart | None:
        """What the results need of the program; None if it does not predict."""
        return PredictedPart.of(self.schedule.mapped)

    @property
    def ignored(self) -> tuple[int, ...]:
        """The words of a step of samples that a prediction ignores, counted from the start of the step, in order.

        These are the labels, and all other elements of which no result depends.
        """
        prediction = self.prediction
        unused = () if prediction is None else prediction.ignored(self.schedule.mapped)
        found, begin = list[int](), 0
        for tensor, index in self._sample:
            if tensor in unused:
                size = math.prod(whole_shape(self.schedule, tensor))
                found += (begin + np.flatnonzero(index.reshape(-1) < size)).tolist()
            begin += index.size
        return tuple(found)

    def load_beats(self, models: Mapping[str, Words]) -> Words:
        """Return the beats, of shape (beats, words of a beat), that load constants and models.

        `models` has the words of each model, in the shape that the program gives it; of wide models the stored
        integers, each of which takes two beats.
        """
        return np.concatenate([np.zeros((0, self.schedule.stream_words), dtype=np.int64), *self.load_parts(models)])

    def load_parts(self, models: Mapping[str, Words]) -> Iterator[Words]:
        """Yield the beats of `load_beats` in parts of at most `AT_ONCE` words, or of a beat if that has more."""
        stream_words, width = self.schedule.stream_words, self.schedule.format.width
        for (tensor, spot), index in self._load:
            place = self.schedule.layout.places[(tensor, spot)]
            if index is None:
                ones = np.zeros((place.words // place.shape[-1], stream_words), dtype=np.int64)
                ones[:, 0] = self._one(spot)
                yield ones
                continue
            record, held = self.schedule.mapped.tensors[tensor], self._words(tensor, models)
            rows = max(1, AT_ONCE // stream_words)
            for start in range(0, len(index), rows):
                stored = _gather(held, index[start : start + rows])
                if place.guard:
                    yield np.stack(halves(stored, place.guard, width), axis=1).reshape(-1, stream_words)
                else:
                    yield stored >> record.guard

    def first_words(self, models: Mapping[str, Words], parameters: Parameters) -> FirstWords:
        """Return what the memories hold after a load of `models`, which are those of `load_beats`.

        `parameters` are those of the machine, and have the depths of its memories. No model may be wide.
        """
        template = self.schedule.template
        roots, depths = max(1, template.roots), parameters.lane_depths
        lanes = {bank: np.zeros((depths[bank], roots, template.lanes), dtype=np.int64) for bank in ("model", "interim")}
        root = np.zeros((parameters.root_memory_depth, roots), dtype=np.int64)
        for key, index in self._load:
            place = self.schedule.layout.places[key]
            assert not place.guard, "a wide model has no first words"
            rows = slice(place.base, place.base + place.words)
            if index is None:
                root[rows][:: place.shape[-1]] = self._one(key[1])
                continue
            held = _gather(self._words(key[0], models), _elements(self.schedule, key))
            if place.spot.kind == "root":
                root[rows] = held[:, :, 0]
                continue
            first = place.spot.span.first if place.spot.kind == "lane" else 0
            last = first + place.pes if place.spot.kind == "lane" else template.lanes
            for bank in place.banks:
                lanes[bank][rows, :, first:last] = held
        return FirstWords(
            lanes={bank: tuple(map(tuple, words.reshape(len(words), -1).T.tolist())) for bank, words in lanes.items()},
            roots=tuple(map(tuple, root.T.tolist())),
        )

    def _words(self, tensor: str, models: Mapping[str, Words]) -> Words:
        """Return the words of a tensor that is loaded; what is neither a constant nor a model is 0."""
        match self.schedule.mapped.tensors[tensor].role:
            case "constant":
                return np.asarray(self.schedule.constants[tensor], dtype=np.int64)
            case "model":
                return np.asarray(models[tensor], dtype=np.int64)
            case _:
                return np.zeros(whole_shape(self.schedule, tensor), dtype=np.int64)

    def _one(self, scratch: Spot) -> int:
        """Return the word that a product begins with, by the spot of its partial words."""
        operation = self.schedule.mapped.statements[scratch.axis].operation
        assert isinstance(operation, Product)
        return 1 << (self.schedule.format.fraction + operation.shift)

    def sample_beats(self, inputs: Mapping[str, Words]) -> Words:
        """Return the beats of samples, of shape (samples * beats, words of a beat).

        The arrays of `inputs` have a leading axis of samples.
        """
        parts = []
        for tensor, index in self._sample:
            words = np.asarray(inputs[tensor], dtype=np.int64)
            flat = words.reshape(words.shape[0], -1)
            padded = np.concatenate([flat, np.zeros((flat.shape[0], 1), dtype=np.int64)], axis=1)
            parts.append(padded[:, index])
        if not parts:
            return np.zeros((0, self.schedule.stream_words), dtype=np.int64)
        return np.concatenate(parts, axis=1).reshape(-1, self.schedule.stream_words)

    def models(self, dump: Sequence[int]) -> dict[str, Words]:
        """Return the models, in the shapes of the program, from the words of a dump.

        Of wide models these are the stored integers.
        """
        out = {}
        for name, (upper, *lower) in self.dumped(dump).items():
            guard = self.schedule.mapped.tensors[name].guard
            out[name] = (upper << guard) | (lower[0] & ((1 << guard) - 1)) if lower else upper
        return out

    @property
    def shown(self) -> frozenset[int]:
        """The positions, in the words of a whole dump, that hold a word of a model."""
        count = self.dump_count * dump_words(self.schedule.template, self.schedule.mapped.model_guard)
        places = self.dumped(np.arange(count, dtype=np.int32)).values() if count else ()
        return frozenset(int(place) for words in places for array in words for place in array.reshape(-1))

    def dumped(self, dump: Sequence[int] | Integers) -> dict[str, tuple[Integers, ...]]:
        """Return the words of a dump in the shapes of the models: of each model its words, and of a wide model also
        those with its guard bits. The arrays have the type of `dump`, and int64 if that is no array.
        """
        template, halves = self.schedule.template, 2 if self.schedule.mapped.model_guard else 1
        words = dump if isinstance(dump, np.ndarray) else np.asarray(dump, dtype=np.int64)
        whole = words.reshape(-1, halves, template.lanes + 1, max(1, template.roots))
        upper, lower = self._models(whole[:, 0]), self._models(whole[:, -1])
        tensors = self.schedule.mapped.tensors
        return {name: (words, lower[name]) if tensors[name].guard else (words,) for name, words in upper.items()}

    def _models(self, words: Integers) -> dict[str, Integers]:
        """Return the models from words of shape (addresses, lanes and the root, groups)."""
        layout, out = self.schedule.layout, dict[str, Integers]()
        for key, _ in self._load:
            tensor, spot = key
            # A copy holds the words that the last sample read, not those that it wrote.
            copy = spot != self.schedule.mapping.homes.get(tensor, spot)
            if layout.graph.tensors[tensor].role != "model" or tensor in out or copy:
                continue
            place = layout.places[key]
            rows = words[place.base : place.base + place.words].transpose(0, 2, 1)
            held = rows[:, :, -1:] if spot.kind == "root" else rows[:, :, spot.span.first : -1]
            shape = self.schedule.graph.tensors[tensor].shape
            flat = np.zeros(int(np.prod(shape, dtype=np.int64)) + 1, dtype=words.dtype)
            elements = _elements(self.schedule, key)
            # One lane stands for all lanes that hold the same words, and one group for all groups that do.
            flat[elements] = held[:, : elements.shape[1], : elements.shape[2]]
            out[tensor] = flat[:-1].reshape(shape)
        return out

    def results(self, words: Sequence[int]) -> dict[str, Words]:
        """Return the results of samples, as arrays with a leading axis of samples, from the words that left."""
        flat = np.asarray(words, dtype=np.int64).reshape(-1, max(1, self.schedule.outputs))
        shapes = {shown: self.schedule.graph.tensors[tensor].shape for shown, tensor in self.schedule.graph.results}
        out = {shown: np.zeros((len(flat), math.prod(shape)), dtype=np.int64) for shown, shape in shapes.items()}
        at = 0
        for shown, places in result_elements(self.schedule):
            out[shown][:, places] = flat[:, at : at + len(places)]
            at += len(places)
        return {shown: words.reshape(-1, *shapes[shown]) for shown, words in out.items()}


def result_elements(schedule: Schedule) -> list[tuple[str, Words]]:
    """Return the results, or parts of results, in the order in which they leave.

    Each has the name of the result and, for each word, the row-major number of its element in the whole tensor.
    """
    tensors, roots = dict(schedule.graph.results), max(1, schedule.template.roots)
    found = []
    for shown, leaves in schedule.departures:
        record = schedule.mapped.tensors[tensors[shown]]
        places = elements(leaves, record.size)
        if schedule.split_results:
            # Each write sends out a word of every group, the first group's first. What all groups have leaves from all.
            own = np.stack(np.unravel_index(places, record.shape)) if record.shape else np.zeros((0, 1), dtype=np.int64)
            groups = np.repeat(own[:, :, None], roots, axis=2)
            if record.split >= 0:
                groups[record.split] += np.arange(roots) * record.shape[record.split]
            whole = whole_shape(schedule, record.name)
            flat = np.ravel_multi_index(tuple(groups), whole) if whole else np.zeros((1, roots), dtype=np.int64)
            places = flat.reshape(-1)
        found.append((shown, places))
    return found


def whole_shape(schedule: Schedule, tensor: str) -> tuple[int, ...]:
    """Return the shape of a tensor before it was cut between tap groups. Its axes may still be refined, which changes
    no row-major number of an element.
    """
    record = schedule.mapped.tensors[tensor]
    roots = max(1, schedule.template.roots)
    return tuple(n * roots if axis == record.split else n for axis, n in enumerate(record.shape))


def _elements(schedule: Schedule, key: Key) -> Numbers:
    """Return which element lies at each address of each lane, as an array of shape (addresses, groups, lanes).

    An element is given by its row-major number in the whole tensor; the tensor's size stands for padding. There is one
    group if all groups have the same words, and one lane if all lanes have the same words or the root has them.
    """
    place, record = schedule.layout.places[key], schedule.mapped.tensors[key[0]]
    spread = place.spot.axis if place.spot.kind == "lane" else -1
    groups = max(1, schedule.template.roots) if record.split >= 0 else 1
    whole = whole_shape(schedule, key[0])
    # Row-major numbers advance by so many for a step along each axis.
    steps = [math.prod(whole[axis + 1 :]) for axis in range(len(whole))]
    out = np.full((place.words, groups, place.pes if spread >= 0 else 1), math.prod(whole), dtype=np.int32)
    # An axis each, which broadcast to the shape of the place: a large tensor has one array of its size at a time.
    index = np.indices(place.shape, dtype=np.int32, sparse=True)
    address, number = np.zeros(place.shape, dtype=np.intp), np.zeros(place.shape, dtype=np.int32)
    for axis, stride in enumerate(place.strides):
        address += stride * (index[axis] // place.pes if axis == spread else index[axis])
        number += steps[axis] * index[axis]
    lane = index[spread] % place.pes if spread >= 0 else 0
    of_group = place.shape[record.split] * steps[record.split] if record.split >= 0 else 0
    for group in range(groups):
        out[address, group, lane] = number + group * of_group if group else number
    return out


def _beat_index(schedule: Schedule, key: Key) -> Numbers:
    """Return which element each word of each beat of a place is, as an array of shape (beats, words of a beat).

    An element is given as by `_elements`; padding is sent as 0.
    """
    filling = Filling.of(schedule.layout, key, schedule.template)
    elements = _elements(schedule, key)
    rows = elements.reshape(len(elements), filling.row)
    reach = filling.blocks(schedule.stream_words)
    begin = filling.first - reach.start * schedule.stream_words
    size = int(np.prod(whole_shape(schedule, key[0]), dtype=np.int64))
    padded = np.full((len(rows), len(reach) * schedule.stream_words), size, dtype=np.int32)
    padded[:, begin : begin + filling.row] = rows
    return padded.reshape(-1, schedule.stream_words)


def halves(stored: Words, guard: int, width: int) -> tuple[Words, Words]:
    """Return the two words of the stored integers of a wide model: the upper bits, and the guard bits as a pattern of a
    word's width.
    """
    low = stored & ((1 << guard) - 1)
    return stored >> guard, np.where(low >> (width - 1) > 0, low - (1 << width), low)


def _gather(words: Words, index: Numbers) -> Words:
    """Return the words of elements by their numbers, and 0 for padding."""
    flat = words.reshape(-1)
    return np.where(index < flat.size, flat.take(index, mode="clip"), 0)
