"""One pass over samples: on an engine and in the evaluation, with every word compared. All runs that do not learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, TablaError
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.evaluate import Counts, Run
from tabla.host.engines.session import session
from tabla.sim.machine import Counters

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pass:
    """What a pass gave.

    `expected` is the evaluation of all steps. `results` are the words that the engine returned for its steps, and
    `models` those of the models after them. `cycles` are those of a step in the steady state, and `latency` those of
    the first sample. `counters` are the events that the engine counted. `updates_predicted` says whether models were
    written in exactly the cycles of the schedule.
    """

    expected: Run = field(repr=False)
    results: Mapping[str, Words] = field(repr=False)
    models: Mapping[str, Words] = field(repr=False)
    cycles: int
    latency: int
    counters: Counters
    updates_predicted: bool


def pass_over(
    build: Stages,
    engine: str,
    models: Mapping[str, Words],
    steps: Mapping[str, Words],
    count: int,
    rows: NDArray[np.int64] | None = None,
) -> Pass:
    """Work through `count` steps, all of them in the evaluation and on the engine, or there those at `rows` alone.

    A word that differs is an AssertionError, because it is a fault of this tool and not of the user. Without updates
    the engine may take any of the steps. Data that the program cannot take is a `TablaError`.
    """
    # The evaluation comes first, because it reports bad data: a machine would stop at a position outside its tensor.
    expected = expected_run(build, models, steps, count)
    part, kept = steps, expected
    if rows is not None:
        assert not build.lowered.updates, "steps that learn are taken in order"
        part = {name: array[rows] for name, array in steps.items()}
        kept = replace(expected, kept={name: array[rows] for name, array in expected.kept.items()})
    with session(build.schedule, build.image, engine, build.module, build.overlay) as machine:
        machine.load(models)
        results = machine.run(part, count if rows is None else len(rows))
        cycles, latency, counters = machine.cycles, machine.latency, machine.counters
        after = {**models, **machine.models()}
        hold_agreement(build, kept, after, results)
        return Pass(
            expected=expected,
            results=results,
            models=after,
            cycles=cycles,
            latency=latency,
            counters=counters,
            updates_predicted=machine.updates_predicted,
        )


def refuse_lost_integers(build: Stages, counts: Counts) -> None:
    """Raise `TablaError` at the statement in which an integer left the range of the number format.

    A real number that leaves the range saturates and is counted. A saturated integer would be wrong, so it is refused.
    """
    for statement, overflows in zip(build.lowered.statements, counts.overflows_by_statement, strict=True):
        tensor = build.lowered.tensors[statement.target]
        name = (tensor.origin or tensor.name).partition(".")[0]
        if overflows and name in build.integers:
            width = build.format.width
            labels = (Label(statement.span, "computed here"),) if statement.span else ()
            raise TablaError(
                f"the integers of '{name}' leave the range of {width} bits, {build.format.lowest:,} to"
                f" {build.format.highest:,} (overflows: {overflows:,})",
                *labels,
                hint="use a wider --format, or inputs that keep them smaller",
            )


def expected_run(build: Stages, models: Mapping[str, Words], samples: Mapping[str, Words], count: int) -> Run:
    """Return the fixed-point evaluation of a run. Raises `TablaError` for data that the program cannot take."""
    plan = Evaluators.of(build.lowered, build.format, count).fixed(build.lowered, build.format)
    plan.load(models)
    expected = plan.run(samples, [tensor for _, tensor in build.lowered.results], count)
    refuse_lost_integers(build, expected.counts)
    return expected


def hold_agreement(build: Stages, expected: Run, after: Mapping[str, Words], results: Mapping[str, Words]) -> None:
    """Compare every word of the machine with the fixed-point evaluation; a difference is an AssertionError."""
    for name, array in expected.models.items():
        assert np.array_equal(after[name], array), f"model {name} differs from the fixed-point evaluation"
    for shown, tensor in build.lowered.results:
        assert np.array_equal(results[shown], expected.kept[tensor]), f"result {shown} differs from the evaluation"
