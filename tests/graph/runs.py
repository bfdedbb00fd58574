"""One sample or many, from given models: what tests most often ask of the two evaluators of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabla.graph.evaluate import FixedPlan, Run, Words
from tabla.graph.evaluate_float import FloatPlan, FloatRun, Reals
from tabla.graph.format import Format
from tabla.graph.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FloatEvaluation:
    """One sample: every tensor's values, and the models after the sample."""

    values: Mapping[str, Reals]
    models: Mapping[str, Reals]


def run_fixed(
    graph: Graph,
    fmt: Format,
    samples: Mapping[str, Words],
    models: Mapping[str, Words] | None = None,
    *,
    keep: Sequence[str] = (),
    count: int | None = None,
) -> Run:
    """Many samples in sequence in words, one step each; `keep` and `count` as in :meth:`FixedPlan.run`."""
    plan = FixedPlan.of(graph, fmt)
    plan.load(models or {})
    return plan.run(samples, keep, count)


def evaluate_float(
    graph: Graph, inputs: Mapping[str, Reals], models: Mapping[str, Reals] | None = None
) -> FloatEvaluation:
    """One sample in float64. Missing arrays and wrong shapes are the user's fault (`TablaError`)."""
    plan = FloatPlan.of(graph)
    plan.load(models or {})
    plan.memory.feed(inputs)
    plan.compute()
    values = plan.memory.values()
    plan.memory.commit()
    return FloatEvaluation(values=values, models=plan.memory.models())


def run_float(
    graph: Graph,
    samples: Mapping[str, Reals],
    models: Mapping[str, Reals] | None = None,
    *,
    keep: Sequence[str] = (),
    count: int | None = None,
) -> FloatRun:
    """Many samples in sequence in float64; `keep` and `count` as in `run_fixed`."""
    plan = FloatPlan.of(graph)
    plan.load(models or {})
    return plan.run(samples, keep, count)
