"""The witnesses of a random program: evaluation, compiled evaluation, cycle model, and Verilog in simulation."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from hypothesis import assume
from tabla.sim.compare import Stimulus, compare
from tabla.sim.machine import Machine
from tabla.sim.model.cycle_model import CycleModel

from tabla.backend import schedule_graph
from tabla.compiled.plans import CompiledFixedPlan
from tabla.compiled.text import UnsupportedError
from tabla.ir.evaluate import FixedPlan
from tabla.mapping.changes import named_changes
from tabla.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.schedule.build import refuse_too_deep, schedule_mapping
from tabla.schedule.check import check
from tabla.schedule.schedule import Schedule
from tabla.simulation import open_machine
from tabla.source import TablaError
from tests.fuzz.drawing import Drawn
from tests.fuzz.overlays import OVERLAYS, Opened, Shown
from tests.schedule.agreement import agree_on, draw_words

SAMPLES = 3
_MOST_CHANGES = 40


def hold(case: Drawn, overlays: Opened | None, engine: str | None) -> tuple[Schedule, list[str]]:
    """Hold a program against all witnesses: on its overlay if it fits, or on hardware of its own in an `engine`.

    Return the schedule and what else was tried.
    """
    inputs, models = draw_words(case.graph, case.format, SAMPLES, case.words)
    try:
        judge = FixedPlan.of(case.graph, case.format)
        judge.load(models)
        expected = judge.run(inputs, [tensor for _, tensor in case.graph.results], SAMPLES)
        schedule, tried = _scheduled(case)
        agree_on(schedule, seed=case.words)
    except TablaError:  # a program that the array does not hold, or data with a position outside its tensor
        assume(False)
        raise
    _hold_compiled(case, inputs, models, expected)
    if case.onto is not None:
        if overlays is not None and (image := _for_overlay(schedule, case.onto)) is not None:
            _hold_machine(schedule, overlays.machine(case.onto, image, schedule), inputs, models)
            tried.append(case.onto)
    elif engine is not None:
        with open_machine(encode(schedule), engine, "fuzz") as machine:
            _hold_machine(schedule, machine, inputs, models)
        tried.append(f"engine {engine}")
    return schedule, tried


def _scheduled(case: Drawn) -> tuple[Schedule, list[str]]:
    """Schedule a program with the least search, or with one change of the mapping that it finds."""
    schedule = schedule_graph(case.graph, case.template, case.format, EFFORTS[0])
    if case.change is None:
        return schedule, []
    found = list(islice(named_changes(schedule.mapping, EFFORTS[DEFAULT_EFFORT]), _MOST_CHANGES))
    if not found:
        return schedule, []
    name, mapping = found[case.change % len(found)]
    changed = schedule_mapping(case.graph, mapping, case.format)
    if changed is None:  # the search drops such a change, too
        return schedule, []
    refuse_too_deep(changed, case.template)
    check(changed)
    return changed, [f"change {name}"]


def _for_overlay(schedule: Schedule, name: str) -> Image | None:
    """Return the image of a program for an overlay, or None if it does not fit."""
    try:
        return encode(schedule, OVERLAYS[name].overlay)
    except TablaError:
        return None


def _hold_machine(schedule: Schedule, machine: Machine, inputs: Any, models: Any) -> None:
    """Hold words, cycles, latencies and counters of hardware against those of the cycle model."""
    host = Host(schedule)
    stimulus = Stimulus(
        load=host.load_beats(models), beats=host.sample_beats(inputs), samples=SAMPLES, dump=host.dump_count, chunk=2
    )
    with CycleModel(encode(schedule)) as model:
        reference = Shown(model, schedule) if isinstance(machine, Shown) else model
        difference = compare({"model": reference, "hardware": machine}, stimulus)
    assert difference is None, str(difference)


def _hold_compiled(case: Drawn, inputs: Any, models: Any, expected: Any) -> None:
    try:
        plan = CompiledFixedPlan.of(case.graph, case.format)
    except UnsupportedError:
        return
    plan.load(models)
    found = plan.run(inputs, [tensor for _, tensor in case.graph.results], 3)
    assert found.counts == expected.counts, "counts of the compiled evaluation"
    for kind in ("models", "kept"):
        for name, words in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(found, kind)[name], words, err_msg=f"compiled {kind} {name}")
