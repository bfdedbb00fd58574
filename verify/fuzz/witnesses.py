"""The witnesses of a random program: evaluation, compiled evaluation, cycle model, and Verilog in simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume

from tabla.base.source import TablaError
from tabla.graph.compiled.plans import CompiledFixedPlan
from tabla.graph.compiled.text import UnsupportedError
from tabla.graph.evaluate import FixedPlan
from tabla.host.engines.session import open_machine
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.schedule.check import check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.changes import named_changes
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.build import refuse_too_deep, schedule_mapping
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.compare import Stimulus, compare
from tabla.sim.machine import Machine
from tabla.sim.model.cycle_model import CycleModel
from tests.schedule.agreement import agree_on, draw_words
from verify.fuzz.drawing import Drawn
from verify.fuzz.overlays import OVERLAYS, Opened, Shown

SAMPLES = 3
_MOST_CHANGES = 40
_RARE = ("keeping", "as_made", "divided", "taken_early_in_part")
_ONE_IN = 50
"""Of so many programs on overlays, one runs in the second simulator, too."""


def hold(case: Drawn, overlays: Sequence[Opened], engine: str | None) -> tuple[Schedule, list[str]]:
    """Hold a program against all witnesses: on its overlay if it fits, or on hardware of its own in an `engine`.

    The first of the `overlays` runs all programs, and the others run one in 50. Return the schedule and what else was
    tried.
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
        if overlays and (image := _for_overlay(schedule, case.onto)) is not None:
            for each in overlays if case.words % _ONE_IN == 0 else overlays[:1]:
                _hold_machine(schedule, each.machine(case.onto, image, schedule), inputs, models)
                tried.append(f"overlay in {each.engine}")
            tried.append(case.onto)
    elif engine is not None:
        with open_machine(encode(schedule), engine, "fuzz") as machine:
            _hold_machine(schedule, machine, inputs, models)
        tried.append(f"engine {engine}")
    return schedule, tried


def _scheduled(case: Drawn) -> tuple[Schedule, list[str]]:
    """Schedule a program with the least search, or with one change of the mapping that it finds.

    The search finds one root cheaper for most small programs. Where several were drawn, each more is a gain.
    A program whose lanes can keep a copy of a model always takes that change: fewer than one in a hundred has it.
    """
    effort = replace(EFFORTS[0], root_price=-case.template.pes)
    schedule = schedule_graph(case.graph, case.template, case.format, effort)
    by_kind = _by_kind(schedule.mapping)
    if case.change is None and _RARE[0] not in by_kind:
        return schedule, []
    kind, number = case.change or (_RARE[0], case.words)
    if not by_kind:
        return schedule, []
    # The kind of which nearly all programs have none, or the one that was drawn, or another rare one.
    name = next(each for each in (_RARE[0], kind, *_RARE, *by_kind) if each in by_kind)
    mapping = by_kind[name][number % len(by_kind[name])]
    changed = schedule_mapping(case.graph, mapping, case.format)
    if changed is None:  # the search drops such a change, too
        return schedule, []
    refuse_too_deep(changed, case.template)
    check(changed)
    return changed, [f"change {name}"]


def _by_kind(mapping: Mapping) -> dict[str, list[Mapping]]:
    """Return the first changes of a mapping by the names of their kinds."""
    found: dict[str, list[Mapping]] = {}
    for name, change in named_changes(mapping, EFFORTS[DEFAULT_EFFORT]):
        if len(found.setdefault(name, [])) < _MOST_CHANGES:
            found[name].append(change)
    return found


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
        load=host.load_beats(models),
        beats=host.sample_beats(inputs),
        samples=SAMPLES,
        dump=host.dump_count,
        chunk=2,
        shown=host.shown,
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
