"""Several devices that learn one model: the judge that evaluates them, and the accelerators that play them.

Both work through steps whose arrays have the axes (steps, samples of a step, ...). Device d of N takes the d-th of N
equal shares of each step, from the same models. :mod:`tabla.graph.fleet` says what becomes of the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import LostError, TablaError
from tabla.graph.compiled.plans import Evaluators, WordsPlan
from tabla.graph.evaluate import Counts, FixedPlan, Run
from tabla.graph.fleet import combined
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.learn.evaluated import Accelerator

Words = NDArray[np.int64]
Arrays = Mapping[str, Words]
Played = tuple[Arrays, Arrays]
"""What a device made of the models in a step, and its results."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    """How a step is divided among `devices`. `graph` is that of the share of one device, in the format `format`."""

    graph: Graph
    format: Format
    devices: int

    def steps(self, samples: Arrays, count: int | None = None) -> int:
        """Return the number of steps; `count` says it for a program without inputs."""
        return len(next(iter(samples.values()))) if samples else count or 0

    def of_step(self, samples: Arrays, step: int) -> list[dict[str, Words]]:
        """Return the share of each device in a step, as arrays of one step of the device's own program."""
        each = self.graph.samples
        own: list[dict[str, Words]] = [{} for _ in range(self.devices)]
        for name, array in samples.items():
            # The single sample of a step has no axis of its own.
            whole = array[step] if self.devices * each > 1 else array[step : step + 1]
            for device, share in enumerate(own):
                part = whole[device * each : (device + 1) * each]
                share[name] = part[None] if each > 1 else part
        return own

    def joined(self, kept: Sequence[Arrays]) -> dict[str, Words]:
        """Return the results of a step from those of the devices, as an array of one step."""
        found = {}
        for name in kept[0] if kept else ():
            whole = np.concatenate([each[name][0] if self.graph.samples > 1 else each[name] for each in kept])
            found[name] = whole[None] if self.devices * self.graph.samples > 1 else whole
        return found

    def next_models(self, before: Arrays, after: Sequence[Arrays]) -> tuple[dict[str, Words], dict[str, int]]:
        """Return the models after a step, and how many words of each have saturated in the sum."""
        models, saturated = dict(before), {}
        for name in self.graph.updates:
            limits = self.format.limits(self.graph.tensors[name].guard)
            models[name], saturated[name] = combined(before[name], [each[name] for each in after], limits)
        return models, saturated


@dataclass(slots=True, kw_only=True, eq=False)
class FleetPlan:
    """The judge of a fleet: a plan in words that evaluates each device with `share`, the plan of one device.

    An overflow of a sum of models counts as one of the statement that updates the model.
    """

    share: WordsPlan
    shares: Shares
    _models: dict[str, Words] = field(default_factory=dict, init=False)
    _counts: list[NDArray[np.int64]] = field(default_factory=list, init=False)

    @property
    def graph(self) -> Graph:
        """The graph of one device."""
        return self.shares.graph

    def load(self, models: Arrays) -> None:
        """Set the models, and forget what was counted."""
        number = len(self.graph.statements)
        self._models = {name: np.asarray(words) for name, words in models.items()}
        self._counts = [np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64), np.zeros(2, dtype=np.int64)]

    def run(self, samples: Arrays, keep: Sequence[str] = (), count: int | None = None) -> Run:
        """Work through steps from the models as they are. `keep` names tensors to return for each sample."""
        rows: dict[str, list[Words]] = {name: [] for name in keep}
        for step in range(self.shares.steps(samples, count)):
            after, kept = [], []
            for own in self.shares.of_step(samples, step):
                self.share.load(self._models)
                ran = self.share.run(own, keep, 1)
                self._count(ran.counts)
                after.append(ran.models)
                kept.append(ran.kept)
            self._models, saturated = self.shares.next_models(self._models, after)
            self._count_saturated(saturated)
            for name, whole in self.shares.joined(kept).items():
                rows[name].append(whole)
        found = {name: np.concatenate(parts) for name, parts in rows.items() if parts}
        return Run(models=dict(self._models), kept=found, counts=self.counts())

    def counts(self) -> Counts:
        """Return what was counted on all devices since the models were loaded."""
        overflows, domain_errors, updates = self._counts
        return Counts(
            overflows_by_statement=tuple(map(int, overflows)),
            domain_errors_by_statement=tuple(map(int, domain_errors)),
            updates=int(updates[0]),
            zero_updates=int(updates[1]),
        )

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
    return plan if devices is None else FleetPlan(share=plan, shares=Shares(graph=graph, format=fmt, devices=devices))


def numpy_plan(graph: Graph, fmt: Format, devices: int | None) -> FixedPlan | FleetPlan:
    """Return the plan of `fixed_plan` in numpy."""
    plan = FixedPlan.of(graph, fmt)
    return plan if devices is None else FleetPlan(share=plan, shares=Shares(graph=graph, format=fmt, devices=devices))


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

    def load(self, models: Arrays) -> None:
        """Set the models to learn from here on."""
        self._models = dict(models)

    def keeps(self, samples: Arrays) -> bool:
        """Return False: every step sends its samples."""
        return False

    def learn(self, samples: Arrays) -> None:
        """Learn from the samples in order, one step each."""
        self.run(samples)

    def run(self, samples: Arrays, count: int | None = None) -> dict[str, Words]:
        """Work through steps, and return the results of each by the name that is shown.

        Others take the devices of a worker that is lost. The last one that is lost, and a worker that fails in another
        way, is the `TablaError` that it raises, with the names of the worker and of its device. `finished` counts the
        steps that are behind the models then.
        """
        rows: dict[str, list[Words]] = {}
        with ThreadPoolExecutor(len(self.workers)) as threads:
            for step in range(self.shares.steps(samples, count)):
                devices = self._step(threads, self.shares.of_step(samples, step))
                self._models, _ = self.shares.next_models(self._models, [after for after, _ in devices])
                self.finished += 1
                for name, whole in self.shares.joined([results for _, results in devices]).items():
                    rows.setdefault(name, []).append(whole)
        return {name: np.concatenate(parts) for name, parts in rows.items()}

    def models(self) -> dict[str, Words]:
        """Return the current models."""
        return dict(self._models)

    def _step(self, threads: ThreadPoolExecutor, own: Sequence[Arrays]) -> list[Played]:
        """Play all devices, each with its share of a step."""
        played: dict[int, Played] = {}
        while left := [device for device in range(self.shares.devices) if device not in played]:
            there = [number for number in range(len(self.workers)) if number not in self._lost]
            under_way = [
                threads.submit(self._play, number, left[place :: len(there)], own) for place, number in enumerate(there)
            ]
            for future in under_way:
                played.update(future.result())
        return [played[device] for device in range(self.shares.devices)]

    def _play(self, number: int, devices: Sequence[int], own: Sequence[Arrays]) -> dict[int, Played]:
        """Play some devices on one worker. Return those that were played before the worker was lost."""
        played: dict[int, Played] = {}
        for device in devices:
            try:
                played[device] = self._share(number, own[device])
            except LostError as fault:
                self._lost[number] = fault
                if len(self._lost) == len(self.workers):
                    raise self._named(fault, number, device) from None
                break
            except TablaError as fault:
                raise self._named(fault, number, device) from None
        return played

    def _share(self, number: int, own: Arrays) -> Played:
        worker = self.workers[number]
        worker.load(self._models)
        results = worker.run(own, 1)
        return {**self._models, **worker.models()}, results

    def _named(self, fault: TablaError, number: int, device: int) -> TablaError:
        where = f"device {device + 1} of {self.shares.devices}, {self.names[number]}"
        done = f"{self.finished} steps were finished"
        return TablaError(f"{where}: {fault.message} ({done})", hint=fault.hint)
