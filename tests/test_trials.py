"""Trials: other programs for the same hardware, which the cycle model accepts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tabla.hw.features import hardware_of
from tabla.sim.model.cycle_model import CycleModel

from tabla.driver import build
from tabla.options import Options
from tabla.program.host import Host
from tabla.program.layout import WordLayout, operation_layout
from tabla.trials import LEAST, TRIALS, trials


def test_trials_are_programs_for_the_same_hardware() -> None:
    made = build("examples/svm.t", Options(pes=4))
    image, host, chance = made.image, Host(made.schedule), np.random.default_rng(1)
    model, samples = CycleModel(image), 2
    model.load(chance.integers(-900, 900, (image.stream_load.beats, image.parameters.stream_words)))
    beats = chance.integers(-900, 900, (samples * image.stream_run.beats, image.parameters.stream_words))
    first = model.run(beats, samples).relative()
    found = list(trials(image, model, beats, samples, seed=1, cycles=1))
    assert len(found) == TRIALS and host.dump_count == image.dump_count
    assert len(list(trials(image, model, beats, samples, seed=1, cycles=10**6))) == LEAST
    moving, layout = 0, operation_layout("lane_write", image.parameters)
    for changed, result, words in found:
        assert changed.operations != image.operations and changed.strands != image.strands
        assert hardware_of(changed) == hardware_of(image)
        assert (result.starts, result.leaves, result.updates) == (first.starts, first.leaves, first.updates)
        assert words
        moving += _moving(changed.operations["lane_write"], layout) != _moving(image.operations["lane_write"], layout)
    assert len({tuple(words) for _, _, words in found}) > 1, "no trial changes a model"
    assert moving, "no trial changes a guard that moves"


def _moving(words: Sequence[int], layout: WordLayout) -> list[int]:
    """Return the bases of the upper guards that change within their strand."""
    deltas = [field for name, field in layout.fields.items() if name.startswith("high.delta")]
    bases = layout.fields["high.base"]
    return sorted(bases.extract(word) for word in words if any(delta.extract(word) for delta in deltas))
