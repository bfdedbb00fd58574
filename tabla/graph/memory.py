"""The buffers that an evaluation works in: one array per tensor, kept for all samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, TablaError
from tabla.graph.graph import Graph, Tensor

Element = TypeVar("Element", np.int64, np.float64)


def stored_name(model: str) -> str:
    """Return the name under which the stored integers of a wide model are kept; no tensor has a name like it."""
    return f"{model}.stored"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Memory(Generic[Element]):
    """Arrays by the name of their tensor. Elements that no statement writes are 0.

    In words, a wide model has a second array under the name `stored_name`: its stored integers. Its own array holds
    what everybody but its update reads, and that of its next value holds stored integers too.
    """

    graph: Graph
    buffers: Mapping[str, NDArray[Element]]
    guards: Mapping[str, int]

    @staticmethod
    def of(graph: Graph, element: type[Element]) -> Memory[Element]:
        """Return zeroed buffers for every tensor of a graph."""
        buffers = {name: np.zeros(tensor.shape, dtype=element) for name, tensor in graph.tensors.items()}
        wide = (tensor for tensor in graph.tensors.values() if tensor.role == "model" and element is np.int64)
        guards = {tensor.name: tensor.guard for tensor in wide if tensor.guard}
        buffers |= {stored_name(name): np.zeros_like(buffers[name]) for name in guards}
        return Memory(graph=graph, buffers=buffers, guards=guards)

    def load(self, models: Mapping[str, NDArray[Element]]) -> None:
        """Set every model, every constant to its words, and every next value to its model, so that elements without an
        update keep their words.

        A model that is missing or has another shape is the user's fault.
        """
        for tensor in self._of_role("model"):
            self._put(tensor.name, _fitting(models, tensor))
        for name, words in self.graph.words.items():
            exact = self.buffers[name].dtype == np.int64
            np.copyto(self.buffers[name], words if exact else np.ldexp(words, -self.graph.fraction))
        for model, following in self.graph.updates.items():
            np.copyto(self.buffers[following], self._whole(model))

    def feed(self, sample: Mapping[str, NDArray[Element]]) -> None:
        """Set every input and label."""
        for tensor in self.inputs():
            np.copyto(self.buffers[tensor.name], _fitting(sample, tensor))

    def inputs(self) -> list[Tensor]:
        """Return what a sample consists of, in the order of definition."""
        return [*self._of_role("input", "label")]

    def commit(self) -> None:
        """Let every model take its next value, all at once."""
        for model, following in self.graph.updates.items():
            self._put(model, self.buffers[following])

    def models(self) -> dict[str, NDArray[Element]]:
        """Return copies of the models as they are now; of wide models, the stored integers."""
        return {tensor.name: self._whole(tensor.name).copy() for tensor in self._of_role("model")}

    def _whole(self, model: str) -> NDArray[Element]:
        return self.buffers[stored_name(model) if model in self.guards else model]

    def _put(self, model: str, words: NDArray[Element]) -> None:
        """Set a model or a constant, and the words of a wide model that are read."""
        np.copyto(self._whole(model), words)
        if guard := self.guards.get(model):
            np.copyto(self.buffers[model], np.right_shift(self._whole(model), guard))

    def values(self, names: Sequence[str] | None = None) -> dict[str, NDArray[Element]]:
        """Return copies of some tensors, or of all."""
        return {name: self.buffers[name].copy() for name in (self.graph.tensors if names is None else names)}

    def run(
        self,
        step: Callable[[], None],
        samples: Mapping[str, NDArray[Element]],
        keep: Sequence[str],
        count: int | None,
    ) -> dict[str, NDArray[Element]]:
        """Work through samples, which are arrays with a leading axis, and stack the tensors that `keep` names after
        each sample.

        `count` is the number of samples where no input says it, as `streams` has it.
        """
        arrays, number = self.streams(samples, count)
        kept: dict[str, NDArray[Element]] = {}
        for name in keep:
            buffer: NDArray[Element] = self.buffers[name]
            kept[name] = np.zeros((number, *buffer.shape), dtype=buffer.dtype)
        for sample in range(number):
            for name, array in arrays.items():
                np.copyto(self.buffers[name], array[sample])
            step()
            for name, stack in kept.items():
                stack[sample] = self.buffers[name]
            self.commit()
        return kept

    def streams(
        self, samples: Mapping[str, NDArray[Element]], count: int | None
    ) -> tuple[dict[str, NDArray[Element]], int]:
        """Return the array of every input and label, with its leading axis, and the number of samples.

        `count` is that number where no input says it. Inputs with different numbers of samples are the user's fault.
        """
        arrays = {t.name: _fitting(samples, t, many=True) for t in self.inputs()}
        counts = {len(array) for array in arrays.values()} | ({count} if count is not None else set())
        if len(counts) != 1:
            raise TablaError(
                f"inputs hold different numbers of samples: {sorted(counts)}",
                hint="the leading axis counts the samples; give every input and label the same",
            )
        return arrays, counts.pop()

    def _of_role(self, *roles: str) -> Iterator[Tensor]:
        return (tensor for tensor in self.graph.tensors.values() if tensor.role in roles)


def _fitting(arrays: Mapping[str, NDArray[Element]], tensor: Tensor, *, many: bool = False) -> NDArray[Element]:
    """The array of a tensor, its shape checked."""
    labels = [Label(tensor.span, "declared here")] if tensor.span else []
    try:
        array: NDArray[Any] = np.asarray(arrays[tensor.name])
    except KeyError:
        raise TablaError(f"no values given for '{tensor.name}'", *labels, hint="add an array of that name") from None
    if array.ndim - many != len(tensor.shape) or array.shape[many:] != tensor.shape:
        shape = "x".join(map(str, array.shape)) or "scalar"
        wanted = "x".join(map(str, tensor.shape)) or "scalar"
        raise TablaError(
            f"'{tensor.name}' has shape {shape}, the program says {wanted}",
            *labels,
            hint="a leading axis counts the samples" if many else None,
        )
    return array
