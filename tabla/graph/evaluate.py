"""The meaning of a graph in words, bit for bit (``docs/decisions/0002-graph-and-rounding.md``).

A :class:`FixedPlan` looks at the graph once and then works through any number of samples; `evaluate_fixed` takes one
sample. Arrays are int64 words of the format in the tensors' shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.graph.fixed_kernels import Kernel, Tally, fixed_kernel
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.memory import Memory

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The events since the models were loaded. The tuples are indexed by the number of the statement.

    `overflows_by_statement` counts results that saturated. `domain_errors_by_statement` counts function arguments
    outside the domain, and divisions by zero. `updates` counts the elements of next values that were computed, and
    `zero_updates` those of them whose change was not zero and yet left the word as it was.
    """

    overflows_by_statement: tuple[int, ...]
    domain_errors_by_statement: tuple[int, ...]
    updates: int
    zero_updates: int

    @property
    def overflows(self) -> int:
        """Overflows of all statements."""
        return sum(self.overflows_by_statement)

    @property
    def domain_errors(self) -> int:
        """Domain errors of all statements."""
        return sum(self.domain_errors_by_statement)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """What one sample gives: the words of every tensor, the models after the sample, and what was counted."""

    values: Mapping[str, Words]
    models: Mapping[str, Words]
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """What many samples give: the models after the last one, and the kept tensors after each, with a leading axis of
    samples.
    """

    models: Mapping[str, Words]
    kept: Mapping[str, Words]
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedPlan:
    """A graph made ready to work in a number format. `memory` holds the words of the last sample."""

    graph: Graph
    format: Format
    memory: Memory[np.int64]
    kernels: tuple[Kernel, ...] = field(repr=False)
    tally: Tally = field(repr=False)

    @staticmethod
    def of(graph: Graph, fmt: Format) -> FixedPlan:
        """Make a graph ready. A constant or the value of an index that the format cannot hold is a `TablaError` at its
        place.
        """
        memory = Memory.of(graph, np.int64)
        tally = Tally.of(len(graph.statements))
        kernels = tuple(fixed_kernel(graph, s, fmt, memory.buffers, tally) for s in graph.statements)
        return FixedPlan(graph=graph, format=fmt, memory=memory, kernels=kernels, tally=tally)

    def load(self, models: Mapping[str, Words]) -> None:
        """Set the models and forget what was counted."""
        self.memory.load(models)
        self.tally.clear()

    def compute(self) -> None:
        """Compute every statement once, from the inputs in memory.

        The models keep their words until `memory.commit`.
        """
        for kernel in self.kernels:
            kernel()

    def run(self, samples: Mapping[str, Words], keep: Sequence[str] = (), count: int | None = None) -> Run:
        """Work through samples (arrays with a leading axis) from the models as they are.

        `keep` names tensors to return after each sample (a model: before its update); `count` is the number of
        samples of a graph without inputs.
        """
        kept = self.memory.run(self.compute, samples, keep, count)
        return Run(models=self.memory.models(), kept=kept, counts=self.counts())

    def counts(self) -> Counts:
        """Return what was counted so far."""
        return Counts(
            overflows_by_statement=tuple(self.tally.overflows),
            domain_errors_by_statement=tuple(self.tally.domain_errors),
            updates=self.tally.updates,
            zero_updates=self.tally.zero_updates,
        )


def evaluate_fixed(
    graph: Graph, fmt: Format, inputs: Mapping[str, Words], models: Mapping[str, Words] | None = None
) -> Evaluation:
    """Evaluate one sample in words. Missing arrays and wrong shapes are the user's fault (`TablaError`)."""
    plan = FixedPlan.of(graph, fmt)
    plan.load(models or {})
    plan.memory.feed(inputs)
    plan.compute()
    values = plan.memory.values()
    plan.memory.commit()
    return Evaluation(values=values, models=plan.memory.models(), counts=plan.counts())
