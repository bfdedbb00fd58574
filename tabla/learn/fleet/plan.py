"""Several devices that learn one model: the judge that evaluates them, and the accelerators that play them.

Both take arrays of steps, with the axes (steps, samples of a step, ...). :mod:`tabla.graph.fleet` divides the steps
among the devices, and says what becomes of the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import LostError, TablaError
from tabla.graph.compiled.plans import Evaluators, WordsPlan
from tabla.graph.evaluate import Counts, FixedPlan, Run
from tabla.graph.fleet import Models, Played, Samples, Shares, joined
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.minibatch import as_samples, as_steps
from tabla.graph.words import Words
from tabla.learn.evaluated import Accelerator


@dataclass(slots=True, kw_only=True, eq=False)
class FleetPlan:
    """The judge of a fleet: a plan in words that evaluates each device with `share`, the plan of one device.

    `graph` is that of one device. An overflow of a sum of models counts as one of the statement that updates the model.
    """

    share: WordsPlan
    graph: Graph
    shares: Shares
    _models: dict[str, Words] = field(default_factory=dict, init=False)
    _counts: list[NDArray[np.int64]] = field(default_factory=list, init=False)

    def load(self, models: Models) -> None:
        """Set the models, and forget what was counted."""
        number = len(self.graph.statements)
        self._models = {name: np.asarray(words) for name, words in models.items()}
        self._counts = [np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64), np.zeros(2, dtype=np.int64)]

    def run(self, samples: Samples, keep: Sequence[str] = (), count: int | None = None) -> Run:
        """Work through steps from the models as they are. `keep` names tensors to return for each sample."""
        size, kept = self.shares.step, []
        for step in self.shares.steps(self._models, as_samples(samples, size), partial(self._play, keep), count):
            self._models = step.models
            self._count_saturated(step.saturated)
            kept.append(step.results)
        return Run(models=dict(self._models), kept=as_steps(joined(kept), size), counts=self.counts())

    def counts(self) -> Counts:
        """Return what was counted on all devices since the models were loaded."""
        overflows, domain_errors, updates = self._counts
        return Counts(
            overflows_by_statement=tuple(map(int, overflows)),
            domain_errors_by_statement=tuple(map(int, domain_errors)),
            updates=int(updates[0]),
            zero_updates=int(updates[1]),
        )

    def _play(self, keep: Sequence[str], models: Models, shares: Sequence[Samples]) -> list[Played]:
        """Evaluate all devices, one after the other."""
        size, played = self.shares.samples, list[Played]()
        for own in shares:
            self.share.load(models)
            ran = self.share.run(as_steps(own, size), keep, 1)
            self._count(ran.counts)
            played.append((ran.models, as_samples(ran.kept, size)))
        return played

    def _count(self, counts: Counts) -> None:
        self._counts[0] += counts.overflows_by_statement
        self._counts[1] += counts.domain_errors_by_statement
        self._counts[2] += (counts.updates, counts.zero_updates)

    def _count_saturated(self, saturated: Mapping[str, int]) -> None:
        for statement in self.graph.statements:
            for model, following in self.graph.updates.items():
                if statement.target == following:
                    self._counts[0][statement.id] += saturated[model]


def fixed_plan(evaluators: Evaluators, graph: Graph, fmt: Format, devices: int | None) -> WordsPlan:
    """Return the plan in words of a program, or of a fleet of so many `devices`, each of which has the `graph`."""
    plan = evaluators.fixed(graph, fmt)
    return plan if devices is None else FleetPlan(share=plan, graph=graph, shares=Shares.of(graph, fmt, devices))


def numpy_plan(graph: Graph, fmt: Format, devices: int | None) -> FixedPlan | FleetPlan:
    """Return the plan of `fixed_plan` in numpy."""
    plan = FixedPlan.of(graph, fmt)
    return plan if devices is None else FleetPlan(share=plan, graph=graph, shares=Shares.of(graph, fmt, devices))


@dataclass(slots=True, kw_only=True, eq=False)
class FleetSession:
    """Accelerators that play the devices of a fleet: each of `workers` takes every n-th device, one after the other.

    It is one `Accelerator`, and one learner. `names` are those of the workers in messages. The models lie here, and
    every share begins with a load of them, so a worker has no state that another one could not have: where one is lost,
    the others take its devices from then on.
    """

    workers: Sequence[Accelerator]
    names: Sequence[str]
    shares: Shares
    finished: int = field(default=0, init=False)
    _models: dict[str, Words] = field(default_factory=dict, init=False)
    _lost: dict[int, LostError] = field(default_factory=dict, init=False)
    cycles: int = field(default=0, init=False)

    @property
    def latency(self) -> int:
        """Cycles of the first share, from its first word to its last update."""
        return self.workers[0].latency

    @property
    def remark(self) -> str:
        """The workers that were lost; empty if all are there."""
        return "; ".join(
            f"{self.names[number]}: {fault.message}, and others took its shares"
            for number, fault in sorted(self._lost.items())
        )

    def load(self, models: Models) -> None:
        """Set the models to learn from here on."""
        self._models = dict(models)

    def keeps(self, samples: Samples) -> bool:
        """Return False: every step sends its samples."""
        return False

    def learn(self, samples: Samples) -> None:
        """Learn from the samples in order, one step each."""
        self.run(samples)

    def run(self, samples: Samples, count: int | None = None) -> dict[str, Words]:
        """Work through steps, and return the results of each by the name that is shown.

        Others take the devices of a worker that is lost. The last one that is lost, and a worker that fails in another
        way, is the `TablaError` that it raises, with the names of the worker and of its device. `finished` counts the
        steps that are behind the models then.
        """
        size, results = self.shares.step, []
        with ThreadPoolExecutor(len(self.workers)) as threads:
            play = partial(self._step, threads)
            for step in self.shares.steps(self._models, as_samples(samples, size), play, count):
                self._models = step.models
                self.finished += 1
                results.append(step.results)
        return as_steps(joined(results), size)

    def models(self) -> dict[str, Words]:
        """Return the current models."""
        return dict(self._models)

    def _step(self, threads: ThreadPoolExecutor, models: Models, shares: Sequence[Samples]) -> list[Played]:
        """Play all devices, each with its share of a step."""
        played: dict[int, Played] = {}
        while left := [device for device in range(self.shares.devices) if device not in played]:
            there = [number for number in range(len(self.workers)) if number not in self._lost]
            under_way = [
                threads.submit(self._play, number, left[place :: len(there)], models, shares)
                for place, number in enumerate(there)
            ]
            for future in under_way:
                played.update(future.result())
        return [played[device] for device in range(self.shares.devices)]

    def _play(
        self, number: int, devices: Sequence[int], models: Models, shares: Sequence[Samples]
    ) -> dict[int, Played]:
        """Play some devices on one worker. Return those that were played before the worker was lost."""
        played: dict[int, Played] = {}
        for device in devices:
            try:
                played[device] = self._share(number, models, shares[device])
            except LostError as fault:
                self._lost[number] = fault
                if len(self._lost) == len(self.workers):
                    raise self._named(fault, number, device) from None
                break
            except TablaError as fault:
                raise self._named(fault, number, device) from None
        return played

    def _share(self, number: int, models: Models, own: Samples) -> Played:
        worker, size = self.workers[number], self.shares.samples
        worker.load(models)
        results = worker.run(as_steps(own, size), 1)
        return {**models, **worker.models()}, as_samples(results, size)

    def _named(self, fault: TablaError, number: int, device: int) -> TablaError:
        where = f"device {device + 1} of {self.shares.devices}, {self.names[number]}"
        done = f"{self.finished} steps were finished"
        return TablaError(f"{where}: {fault.message} ({done})", hint=fault.hint)
