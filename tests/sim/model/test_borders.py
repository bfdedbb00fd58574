"""The controller's recurrence: rings, periods, stalls and credits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.sim.machine import Stalls
from tabla.sim.model.cycle_model import CycleModel, timeline
from tabla.templates.template import timing
from tests.sim.hand_assembler import Nest, assemble, parameters, root, root_write, stream
from tests.sim.hand_images import linear

READY = timing().ready


@settings(max_examples=80, deadline=None)
@given(beats=st.integers(1, 20), period=st.integers(1, 40), release=st.integers(0, 60), slots=st.integers(2, 5))
def test_the_steady_state_is_the_formula(beats: int, period: int, release: int, slots: int) -> None:
    image = assemble(parameters(2, ring_slots=slots), {}, period=period, release=release)
    times = timeline(image, samples=400, beats=beats, period=period, outputs=(), stalls=Stalls(), origin=7)
    assert times.first_words[0] == 7
    first, last = times.starts[200], times.starts[200 + 20 * slots]
    loop = beats + READY + release
    # The law's round-up is what one period costs on average when the ring binds.
    assert (last - first) / (20 * slots) == pytest.approx(max(period, beats, loop / slots), abs=0.51)


def test_by_hand() -> None:
    image = assemble(parameters(2, ring_slots=2), {}, period=10, release=20)
    times = timeline(image, samples=4, beats=3, period=10, outputs=(), stalls=Stalls(), origin=0)
    assert times.first_words == [0, 3, 29, 39]
    assert times.starts == [8, 18, 37, 47]
    slow = timeline(image, samples=2, beats=3, period=10, outputs=(), stalls=Stalls(inputs=(1, 2, 0)), origin=0)
    # Pauses before beats 1, 2, 3, 4, 5: 2, 0, 1, 2, 0.
    assert (slow.first_words, slow.last_words) == ([0, 6], [4, 10])


def test_credits_hold_tokens_back() -> None:
    image = assemble(parameters(2, output_depth=5), {}, period=4)
    stalls = Stalls(outputs=(9,))
    times = timeline(image, samples=4, beats=0, period=4, outputs=(0, 1), stalls=stalls, origin=0)
    free = timeline(image, samples=4, beats=0, period=4, outputs=(0, 1), stalls=Stalls(), origin=0)
    assert free.starts == [0, 4, 8, 12]
    assert times.leaves[:4] == [3, 13, 23, 33]
    # The third token needs two of five places, four of them taken: the first word must have left.
    assert times.starts[:4] == [0, 4, 8, times.leaves[2] + 2]


@pytest.mark.parametrize("seed", range(4))
def test_stalls_change_cycles_but_no_word(seed: int) -> None:
    case = linear(4, samples=9, seed=seed)
    image = replace(case.image, parameters=replace(case.image.parameters, output_depth=5 + seed))
    results = []
    for stalls in (None, Stalls.random(seed, share=0.8, longest=60)):
        machine = CycleModel(image)
        machine.load(case.load)
        results.append((machine.run(case.beats, case.samples, stalls), machine.dump(case.dump)))
    (plain, models), (stalled, stalled_models) = results
    assert (plain.outputs, models) == (stalled.outputs, stalled_models) == (case.outputs, case.models)
    assert plain.relative().starts != stalled.relative().starts


def test_samples_in_flight_overlap() -> None:
    # Twelve cycles from data to output, a sample every two.
    nests = {
        "root_issue": [Nest(counts=(2,), body=[root(a="data", b="one", shift=1, at_a=(0, 1), windows=("a",))])],
        "root_write": [Nest(start=7, counts=(2,), body=[root_write(to_output=1)])],
    }
    image = assemble(
        parameters(1, ring_slots=16),
        nests,
        period=2,
        samples=[Nest(counts=(2,), body=[stream(to_root_data=1, address=(0, 1), windows=("address",))])],
        root_data_window=2,
        release=13,
    )
    words = list(range(100, 180))
    machine = CycleModel(image)
    result = machine.run([[word] for word in words], 40)
    assert result.outputs == words
    assert result.cycles == 2
    # Token, front, issue, result, output: eight cycles for the two beats and READY.
    assert result.latencies == [1 + READY + 12 + 7 + 3 + 2] * 40


def test_a_run_goes_on_where_the_last_one_ended() -> None:
    case = linear(3, samples=8)
    whole, halves = CycleModel(case.image), CycleModel(case.image)
    each = case.image.stream_run.beats
    whole.load(case.load)
    halves.load(case.load)
    outputs = whole.run(case.beats, 8).outputs
    first = halves.run(case.beats[: 3 * each], 3)
    second = halves.run(case.beats[3 * each :], 5)
    assert first.outputs + second.outputs == outputs
    assert whole.dump(case.dump) == halves.dump(case.dump) == case.models
    assert next(e.words for e in halves.epochs(case.beats, 8, 2, case.dump)) != case.models
