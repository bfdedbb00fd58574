"""Microcode with other loops, which issues the same operations in the same cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.build.bench.mutated_loops import mutated_loops
from tabla.build.options import Options
from tabla.driver import build
from tabla.hw.features import hardware_of, is_lean
from tabla.program.image import Image
from tabla.program.layout import strand_layout
from tabla.sim.model.trace import Issue, stream_trace, unit_trace


def _issued(issue: Issue) -> tuple[Any, ...]:
    operation = issue.operation
    numbers = {name: value for name, value in operation.numbers.items() if name != "gate"}
    windows = {name: generator.window for name, generator in operation.generators.items()}
    when = issue.cycle, issue.first, issue.last, issue.gate_open
    return *when, issue.values, operation.symbols, numbers, windows


def _work(image: Image) -> list[tuple[Any, ...]]:
    """Return everything that the units issue in a run, a load and a dump."""
    timed = [
        issue for unit in image.units for entry in (image.run, image.dump) for issue in unit_trace(image, entry, unit)
    ]
    beats = [beat for entry in (image.stream_run, image.stream_load) for beat in stream_trace(image, entry)]
    return [_issued(issue) for issue in [*timed, *beats]]


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("examples/svm.t", Options(pes=4)),
        ("examples/logistic.t", Options(pes=8, sequencers=2)),
        ("examples/backprop.t", Options(pes=8)),
        ("examples/backprop.t", Options(pes=4, model_guard=4)),
    ],
)
def test_the_same_work_is_done_by_other_loops(program: str, options: Options) -> None:
    image = build(program, options).image
    hardware, work = hardware_of(image), _work(image)
    changed = {"interval": 0, "body": 0, "count0": 0, "reduce": 0}
    for seed in range(8):
        other = mutated_loops(image, hardware, np.random.default_rng(seed))
        assert _work(other) == work and hardware_of(other) == hardware
        for unit in image.units:
            fields = strand_layout(unit, image.parameters).fields
            for before, after in zip(image.strands[unit], other.strands[unit], strict=True):
                for name in changed:
                    changed[name] += fields[name].extract(before) != fields[name].extract(after)
    assert changed["body"]
    assert (changed["count0"] and changed["reduce"]) or is_lean(image.parameters), changed
