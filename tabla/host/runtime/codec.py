"""Between arrays of real numbers and units of words, by a build folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.npz import RESERVED
from tabla.base.source import TablaError, TablaValueError
from tabla.graph.rate import RATE
from tabla.graph.words import Reals, WordType, real_numbers
from tabla.host.runtime.folder import BuildFolder, Entry
from tabla.host.runtime.transport import Words

GUARD = ".guard"


class Codec:
    """Packs models and samples into units, and unpacks results and models.

    Arrays hold real numbers under the names of the program. Every array is checked before any word is made: its name,
    its shape, and that the number format holds its values. A fault is a `TablaError`.
    """

    def __init__(self, folder: BuildFolder) -> None:
        self._folder, self._format = folder, folder.format
        self._entries = {role: _of_role(folder, role) for role in ("model", "input", "label", "result")}

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, of which a load takes all. The rate of ``--runtime-rate`` is not among them."""
        rate = RATE if self._folder.rate is not None else None
        return tuple(name for name in self._entries["model"] if name in self._folder.places("load") and name != rate)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs and labels that a sample has to have."""
        return tuple(self._folder.places("sample"))

    def model_type(self, name: str) -> WordType:
        """Return what the words of a model stand for."""
        return self._entries["model"][name].words

    def load_unit(self, models: Mapping[str, ArrayLike]) -> Words:
        """Return the unit that loads these models, one array for each.

        A learning rate that is loaded may be among them as `RATE`; without it, the one that was compiled is loaded.
        What ``tabla train -o`` says of the models beside them is left out.
        """
        models = {name: array for name, array in models.items() if not name.startswith(RESERVED)}
        entries = self._entries["model"]
        _check_names(models, entries, self.models, "model")
        unit = self._folder.template("load").astype(np.int64)
        places = self._folder.places("load")
        for name in self.models:
            entry = entries[name]
            array = _real(models[name], name)
            if array.shape != entry.shape:
                raise TablaError(f"model '{name}' has shape {array.shape}, not {entry.shape}", hint="give that shape")
            words, guard = entry.words.to_words(array), entry.words.guard
            _place(unit[None], places[name], words[None] >> guard)
            if guard:
                _place(unit[None], places[name + GUARD], _pattern(words[None], guard, self._format.width))
        if (rate := self._folder.rate) is not None:
            given = _real(models.get(RATE, float(rate.built)), RATE)
            if given.shape != ():
                raise TablaError(f"the learning rate '{RATE}' has shape {given.shape}", hint="give one number")
            _place(unit[None], places[RATE], np.full((1,), rate.word(float(given), self._format), dtype=np.int64))
        return unit

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the inputs that a prediction has to have."""
        prediction = self._folder.prediction
        return self.inputs if prediction is None else prediction.inputs

    def prediction_units(self, arrays: Mapping[str, ArrayLike]) -> tuple[Words, bool]:
        """Return units of samples as `sample_units` does, of the inputs that a prediction needs.

        Others may be among them, so that a board knows samples that it keeps. They are left out if the number format
        does not hold them.
        """
        entries = {**self._entries["input"], **self._entries["label"]}
        _check_names(arrays, entries, self.needed, "input")
        return self._units({n: array for n, array in arrays.items() if n in self.needed or _fits(array, entries[n])})

    def sample_units(self, arrays: Mapping[str, ArrayLike]) -> tuple[Words, bool]:
        """Return the units of samples, of shape (steps, words of a unit), and whether the arrays had a leading axis.

        All arrays have one leading axis of samples, or none of them has and there is one sample.
        """
        entries = {**self._entries["input"], **self._entries["label"]}
        _check_names(arrays, entries, self.inputs, "input")
        return self._units(arrays)

    def _units(self, arrays: Mapping[str, ArrayLike]) -> tuple[Words, bool]:
        entries = {**self._entries["input"], **self._entries["label"]}
        real = {name: _real(array, name) for name, array in arrays.items()}
        own = {name: self._own_shape(entries[name]) for name in real}
        stacked = any(array.ndim != len(own[name]) for name, array in real.items())
        if not stacked:
            real = {name: array[None] for name, array in real.items()}
        self._check_samples(real, own)
        count, size = len(next(iter(real.values()))), self._folder.minibatch
        units = np.tile(self._folder.template("sample").astype(np.int64), (count // size, 1))
        places = self._folder.places("sample")
        for name, array in real.items():
            words = entries[name].words.to_words(array)
            if name in places:
                _place(units, places[name], words.reshape(-1, *entries[name].shape))
        return units, stacked

    def _check_samples(self, arrays: Mapping[str, Reals], own: Mapping[str, tuple[int, ...]]) -> None:
        for name, array in arrays.items():
            if array.shape[1:] != own[name] or not array.ndim:
                shape = ", ".join(["samples", *map(str, own[name])])
                raise TablaError(f"'{name}' has shape {array.shape}, not ({shape})", hint="give that shape")
        counts = {name: len(array) for name, array in arrays.items()}
        if len(set(counts.values())) > 1:
            said = ", ".join(f"'{name}' {count}" for name, count in counts.items())
            raise TablaError(f"the arrays have different numbers of samples: {said}", hint="give as many of each")
        count, size = max(counts.values(), default=0), self._folder.minibatch
        if count % size:
            raise TablaError(
                f"{count} samples do not fill minibatches of {size}", hint=f"give a multiple of {size} samples"
            )

    def _own_shape(self, entry: Entry) -> tuple[int, ...]:
        """Return the shape of one sample of a tensor."""
        return entry.shape[1:] if self._folder.minibatch > 1 else entry.shape

    def results(self, units: Words, *, stacked: bool = True) -> dict[str, Reals]:
        """Return the results of steps from their words, of shape (steps, words of a unit).

        The arrays have a leading axis of samples, or of steps where a result is one of the whole minibatch.
        """
        size, found = self._folder.minibatch, {}
        places = self._folder.places("result")
        for name, entry in self._entries["result"].items():
            real = entry.words.to_reals(units[:, places[name]])
            if size > 1 and entry.shape[:1] == (size,):
                real = real.reshape(-1, *entry.shape[1:])
            found[name] = real if stacked or size > 1 else real[0]
        return found

    def dumped(self, unit: Words) -> dict[str, Reals]:
        """Return the models from the words of a dump."""
        places, found = self._folder.places("dump"), {}
        for name in self.models:
            words, kind = unit[places[name]], self.model_type(name)
            if kind.guard:
                words = (words << kind.guard) | (unit[places[name + GUARD]] & ((1 << kind.guard) - 1))
            # A number without axes stays an array.
            found[name] = np.asarray(kind.to_reals(words))
        return found


def _of_role(folder: BuildFolder, role: str) -> dict[str, Entry]:
    return {entry.name: entry for entry in folder.tensors if entry.role == role}


def _check_names(given: Mapping[str, object], known: Mapping[str, Entry], wanted: Sequence[str], kind: str) -> None:
    for name in given:
        if name not in known:
            names = ", ".join(known) or "none"
            raise TablaError(f"the program has no {kind} '{name}'", hint=f"its {kind}s are {names}")
    for name in wanted:
        if name not in given:
            raise TablaError(f"the {kind} '{name}' is missing", hint=f"give {', '.join(wanted)}")


def _real(array: ArrayLike, name: str) -> Reals:
    try:
        given = np.asarray(array)
    except (ValueError, TypeError):
        raise TablaValueError(
            f"'{name}' is no array of numbers", hint="give numbers, or lists that all have the same length"
        ) from None
    return real_numbers(given, name)


def _fits(array: ArrayLike, entry: Entry) -> bool:
    """Return whether an array holds nothing but numbers of the format."""
    try:
        entry.words.to_words(_real(array, entry.name))
    except TablaError:
        return False
    return True


def _place(units: Words, places: NDArray[np.int32], words: Words) -> None:
    """Write the words of each unit to all of their places. `places` has an axis of copies in front."""
    flat = words.reshape(len(units), places[0].size)
    for copy in places.reshape(len(places), -1):
        units[:, copy] = flat


def _pattern(stored: Words, guard: int, width: int) -> Words:
    """Return the guard bits of stored integers as words: patterns of a word's width, sign-extended."""
    low = stored & ((1 << guard) - 1)
    return np.where(low >> (width - 1) > 0, low - (1 << width), low)
