"""The host's side: words of arrays into beats of the stream, and words of the machine back into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.layout import ROOT, Place, is_scratch
from tabla.schedule.schedule import Schedule
from tabla.schedule.streams import blocks, loaded, streamed

Words = NDArray[np.int64]


class Host:
    """Packs and unpacks for one schedule. Index arrays are made once."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        layout = schedule.layout
        self._sample = [(k[0], _beat_index(layout.places[k], schedule.stream_words)) for k in streamed(layout)]
        self._load = [(k, _beat_index(layout.places[k], schedule.stream_words)) for k in loaded(layout)]

    @property
    def dump_count(self) -> int:
        """Tokens of a dump."""
        return self.schedule.dump_count

    def load_beats(self, models: Mapping[str, Words]) -> Words:
        """Beats (n, S) that load models (words in the program's shapes) and constants."""
        parts = []
        for (tensor, spot), index in self._load:
            if is_scratch(spot):
                place = self.schedule.layout.places[(tensor, spot)]
                ones = np.zeros((place.words // place.shape[-1], self.schedule.stream_words), dtype=np.int64)
                ones[:, 0] = self.schedule.format.one
                parts.append(ones)
                continue
            record = self.schedule.mapped.tensors[tensor]
            if record.role == "constant":
                words = self.schedule.constants[tensor]
            else:
                words = models[tensor] if record.role == "model" else np.zeros(record.shape, dtype=np.int64)
            parts.append(_gather(np.asarray(words, dtype=np.int64), index))
        return _stack(parts, self.schedule.stream_words)

    def sample_beats(self, inputs: Mapping[str, Words]) -> Words:
        """Beats (samples * beats, S) of samples; arrays have a leading axis of samples."""
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
        """Models from the words of a dump."""
        pes = self.schedule.template.pes
        words = np.asarray(dump, dtype=np.int64).reshape(-1, pes + 1)
        layout, out = self.schedule.layout, {}
        for (tensor, spot), _ in self._load:
            record = layout.graph.tensors[tensor]
            # A copy holds what the last sample read, not what it left.
            copy = spot != self.schedule.mapping.homes.get(tensor, spot)
            if record.role != "model" or tensor in out or copy:
                continue
            place = layout.places[(tensor, spot)]
            if place.spot == ROOT:
                out[tensor] = words[place.base : place.base + place.words, pes].reshape(record.shape)
            else:
                first = place.spot.span.first
                lanes = words[place.base : place.base + place.words, first : first + place.pes]
                out[tensor] = _scatter(place, lanes)
        return out

    def results(self, words: Sequence[int]) -> dict[str, Words]:
        """Results of samples: arrays with a leading axis of samples."""
        flat = np.asarray(words, dtype=np.int64).reshape(-1, max(1, self.schedule.outputs))
        out, at = {}, 0
        for shown, tensor in self.schedule.output_order:
            record = self.schedule.mapped.tensors[tensor]
            out[shown] = flat[:, at : at + record.size].reshape(-1, *record.shape)
            at += record.size
        return out


def _elements(place: Place) -> Words:
    """For a lane place: the flat element index at (address, lane of its span), or the tensor's size for padding."""
    size = int(np.prod(place.shape, dtype=np.int64))
    out = np.full((place.words, place.pes), size, dtype=np.int64)
    index = np.indices(place.shape, dtype=np.int64).reshape(len(place.shape), -1)
    address = np.zeros(index.shape[1], dtype=np.int64)
    for axis, stride in enumerate(place.strides):
        address += stride * (index[axis] // place.pes if axis == place.spot.axis else index[axis])
    out[address, index[place.spot.axis] % place.pes] = np.arange(size)
    return out


def _beat_index(place: Place, stream_words: int) -> Words:
    """Element index of every word of every beat of a place, (beats, S); the tensor's size stands for a padding
    zero."""
    if place.spot.kind != "lane":
        out = np.full((place.words, stream_words), place.words, dtype=np.int64)
        out[:, 0] = np.arange(place.words)
        return out
    elements = _elements(place)
    reach = blocks(place, stream_words)
    begin = place.spot.span.first - reach.start * stream_words
    size = int(np.prod(place.shape, dtype=np.int64))
    padded = np.full((place.words, len(reach) * stream_words), size, dtype=np.int64)
    padded[:, begin : begin + place.pes] = elements
    return padded.reshape(-1, stream_words)


def _gather(words: Words, index: Words) -> Words:
    return np.append(words.reshape(-1), 0)[index]


def _scatter(place: Place, lanes: Words) -> Words:
    size = int(np.prod(place.shape, dtype=np.int64))
    out = np.zeros(size + 1, dtype=np.int64)
    if place.spot.kind == "lane":
        out[_elements(place)] = lanes
        return out[:size].reshape(place.shape)
    return np.asarray(lanes[:, 0], dtype=np.int64).reshape(place.shape)


def _stack(parts: list[Words], stream_words: int) -> Words:
    return np.concatenate(parts) if parts else np.zeros((0, stream_words), dtype=np.int64)
