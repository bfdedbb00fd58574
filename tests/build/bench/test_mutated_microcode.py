"""Trials: other programs for the same hardware, which the cycle model accepts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabla.build.bench.mutated_microcode import LEAST, MUTANTS, mutated_programs
from tabla.build.options import Options
from tabla.driver import build
from tabla.hw.features import hardware_of
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.program.layout import WordLayout, operation_layout
from tabla.sim.machine import RunResult
from tabla.sim.model.cycle_model import CycleModel


def test_trials_are_programs_for_the_same_hardware() -> None:
    made = build("examples/svm.t", Options(pes=4))
    image, host, chance = made.image, Host(made.schedule), np.random.default_rng(1)
    model, samples = CycleModel(image), 2
    model.load(chance.integers(-900, 900, (image.stream_load.beats, image.parameters.stream_words)))
    beats = chance.integers(-900, 900, (samples * image.stream_run.beats, image.parameters.stream_words))
    first = _since_starts(model.run(beats, samples))
    found = list(mutated_programs(image, model, beats, samples, seed=1, cycles=1))
    assert len(found) == MUTANTS and host.dump_count == image.dump_count
    assert len(list(mutated_programs(image, model, beats, samples, seed=1, cycles=10**6))) == LEAST
    moving, layout = 0, operation_layout("lane_write", image.parameters)
    below = above = 0
    sign = 1 << (image.parameters.guard_bits - 1)
    for trial in found:
        changed = trial.image
        assert changed.operations != image.operations and changed.strands != image.strands
        assert hardware_of(changed) == hardware_of(image)
        assert _since_starts(trial.result) == first and trial.words
        moving += _moving(changed.operations["lane_write"], layout) != _moving(image.operations["lane_write"], layout)
        new = [set(_bounds(changed, name)) - set(_bounds(image, name)) for name in ("low", "high")]
        below += max(new[0], default=0) >= sign
        above += any(image.parameters.lanes < bound < sign for bound in new[1])
    assert below and above, "no trial has guards far below or above all lanes"
    assert len({tuple(trial.words) for trial in found}) > 1, "no trial changes a model"
    assert len({tuple(trial.result.last_words) for trial in found}) == MUTANTS, (
        "samples become ready in the same cycles"
    )
    assert moving, "no trial changes a guard that moves"


def _since_starts(result: RunResult) -> list[list[int]]:
    """Return when words leave and models are updated, from the start of each sample."""
    events = [np.reshape(seen, (len(result.starts), -1)) for seen in (result.leaves, result.updates)]
    return [(each - np.reshape(result.starts, (-1, 1))).reshape(-1).tolist() for each in events]


def _bounds(image: Image, name: str) -> list[int]:
    """Return the bases of the lower or upper guards of the lanes' writes, as they are in the words."""
    base = operation_layout("lane_write", image.parameters).fields[f"{name}.base"]
    return [base.extract(word) for word in image.operations["lane_write"]]


def _moving(words: Sequence[int], layout: WordLayout) -> list[int]:
    """Return the bases of the upper guards that change within their strand."""
    deltas = [field for name, field in layout.fields.items() if name.startswith("high.delta")]
    bases = layout.fields["high.base"]
    return sorted(bases.extract(word) for word in words if any(delta.extract(word) for delta in deltas))
