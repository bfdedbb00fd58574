"""What a fleet computes: devices that share the samples of a step, and a host that adds up what each has learnt
(``docs/decisions/0034-fleet.md``).

Device d of N takes the d-th of N equal shares of each step. All devices start a step from the same models. `Shares` is
the loop over the steps; whoever has the devices says how they play one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.words import Words, WordType

Models = Mapping[str, Words]
Samples = Mapping[str, NDArray[Any]]
"""Samples or results by name, with a leading axis of samples. A share may have them as words or as real numbers."""
Played = tuple[Models, Samples]
"""What a device made of the models in a step, and the results of its share."""
Play = Callable[[Models, Sequence[Samples]], Sequence[Played]]
"""Plays one step: takes the models and the share of each device, and returns what each device made of them."""


def combined(before: Words, after: Sequence[Words], limits: tuple[int, int]) -> tuple[Words, int]:
    """Return the model of the next step, ``clamp(s + sum over d of (s'_d - s))``, and how many of its words saturate.

    `before` is the model s that every device started from, and `after` has what each device made of it. All of them are
    stored integers, and `limits` are the least and the greatest of these. The order of the devices does not matter,
    because the sum is exact.
    """
    total = before + sum(each - before for each in after)
    words = np.clip(total, *limits)
    return words, int(np.sum(words != total))


def joined(parts: Sequence[Samples]) -> dict[str, NDArray[Any]]:
    """Return arrays that were made one part after the other as whole arrays; of no parts there are none."""
    return {name: np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """The outcome of a step: the `models` of the next one, and the results of its samples.

    `saturated` counts the words of each model that learns whose sum left the range.
    """

    models: dict[str, Words]
    results: dict[str, NDArray[Any]]
    saturated: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    """How a step is divided: each of `devices` takes `samples` samples of it.

    `limits` are the least and the greatest stored integer of each model that learns, by its name.
    """

    devices: int
    samples: int
    limits: Mapping[str, tuple[int, int]]

    @staticmethod
    def of(graph: Graph, fmt: Format, devices: int) -> Shares:
        """Return the shares of so many `devices`, each of which has the program `graph`."""
        limits = {name: WordType.of(graph.tensors[name], fmt).limits for name in graph.updates}
        return Shares(devices=devices, samples=graph.samples, limits=limits)

    @property
    def step(self) -> int:
        """The number of samples of a step of all devices."""
        return self.devices * self.samples

    def steps(self, models: Models, samples: Samples, play: Play, count: int | None = None) -> Iterator[Step]:
        """Work through steps from some models, and yield the outcome of each. What `play` raises ends the steps.

        `count` is the number of steps of a program without inputs.
        """
        now = dict(models)
        for step in range(len(next(iter(samples.values()))) // self.step if samples else count or 0):
            played = play(now, self._of_step(samples, step))
            sums = {
                name: combined(now[name], [after[name] for after, _ in played], limits)
                for name, limits in self.limits.items()
            }
            now = {**now, **{name: words for name, (words, _) in sums.items()}}
            yield Step(
                models=now,
                results=joined([results for _, results in played]),
                saturated={name: outside for name, (_, outside) in sums.items()},
            )

    def _of_step(self, samples: Samples, step: int) -> list[Samples]:
        """Return the share of each device in a step."""
        starts = range(step * self.step, (step + 1) * self.step, self.samples)
        return [{name: array[at : at + self.samples] for name, array in samples.items()} for at in starts]
