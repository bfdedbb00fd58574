"""Trials: microcode that the test bench of ``tabla gen`` loads through the program port to try more of the hardware.

A trial is the program of the build with other guards, signs and halves of its lane operations, and with loops on other
levels. Its cycles stay as they are, and so do its addresses, so what the machine does is as well defined as with the
program of the build. The cycle model tells what comes out. The hardware has only what the program of the build uses, so
every trial asks for the same hardware.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tabla.hw.features import Features, features_of, hardware_of
from tabla.other_loops import other_loops
from tabla.program.image import Image
from tabla.program.layout import WordLayout, operation_layout, strand_layout
from tabla.sim.machine import BeatRows, RunResult
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.faults import MachineFault
from tabla.templates.instructions import kind_of, operation_format

TRIALS = 16
"""The most trials of a build."""
LEAST = 2
"""The trials of a build, however large it is."""
EFFORT = 100_000
"""The cycles of all trials of a build, times its PEs, on which the time of a simulator depends."""
_ATTEMPTS = 4
"""How often a trial is drawn that the cycle model refuses, each time with half as many changes."""
_KINDS = ("lane_issue", "lane_write", "root_issue")
Place = tuple[str, int]
"""A unit, and the address of an operation word of it."""


def trials(
    image: Image, begun: CycleModel, beats: BeatRows, samples: int, seed: int, cycles: int
) -> Iterator[tuple[Image, RunResult, list[int]]]:
    """Yield images with other operations, what their runs give one after the other, and the words of a dump after each.

    `begun` is the cycle model of `image` with the models loaded, after a run. Each run has the same `samples`, and
    takes about so many `cycles` with its dump. A large build has fewer trials.
    """
    features, hardware, before = features_of(image), hardware_of(image), begun
    for number in range(min(TRIALS, max(LEAST, EFFORT // (cycles * image.parameters.pes)))):
        chance = np.random.default_rng([seed, number])
        for attempt in range(_ATTEMPTS):
            changed = _changed(image, features, chance, share=0.5**attempt)
            if changed is None:
                continue
            changed = other_loops(changed, hardware, chance)
            model = CycleModel(changed)
            model.take_over(before)
            try:
                result = model.run(beats, samples).relative()
                words = model.dump(image.dump_count)
            except MachineFault:
                continue
            before = model
            yield changed, result, words
            break


def _changed(image: Image, features: Features, chance: np.random.Generator, share: float) -> Image | None:
    """Return an image with that share of the operations of its runs changed; None if the hardware has no such one."""
    operations = {unit: list(words) for unit, words in image.operations.items()}
    for unit, address in _run_operations(image):
        if chance.random() < share:
            operations[unit][address] = _other(image, features, unit, operations[unit][address], chance)
    changed = replace(image, operations={unit: tuple(words) for unit, words in operations.items()})
    same = changed.operations == image.operations or features_of(changed) != features
    return None if same else changed


def _run_operations(image: Image) -> Iterator[Place]:
    """Yield the place of each operation of the lanes' and the roots' issues, and of the lanes' writes, in a run."""
    for unit in image.units:
        if kind_of(unit) in _KINDS:
            fields, begin = strand_layout(unit, image.parameters).fields, image.run.begin[unit]
            strands = image.strands[unit][begin : begin + image.run.strands[unit]]
            bodies = [(fields["body"].extract(word), fields["length"].extract(word)) for word in strands]
            for address in sorted({first + slot for first, length in bodies for slot in range(length)}):
                yield unit, address


def _other(image: Image, features: Features, unit: str, word: int, chance: np.random.Generator) -> int:
    """Return an operation word with other guards, another sign and another half, where the hardware has them."""
    parameters, kind = image.parameters, kind_of(unit)
    layout, form, lanes = operation_layout(unit, parameters), operation_format(unit), parameters.lanes
    if features[unit].guarded:
        most = (1 << (parameters.guard_bits - 1)) - 1
        # Most guards let some lanes through, so that a trial computes something.
        bounds = chance.integers(lanes + 1, size=2)
        ends = np.sort(bounds) if chance.random() < 0.8 else bounds
        for name, end in zip(("low", "high"), ends.tolist(), strict=True):
            # A bound that does not move is also far below or above all lanes.
            far = _stands(layout, name, word, parameters.levels) and chance.random() < 0.2
            bound = int(chance.choice([-most - 1, -1, most])) if far else min(most, end)
            if not layout.fields[f"{name}.window"].extract(word):
                word = _with(layout, f"{name}.base", word, bound)
    if kind != "lane_write":
        if layout.fields["post"].extract(word) == form.code("post", "none"):
            word = _with(layout, "negate", word, int(chance.integers(0, 2)))
    if kind == "lane_issue":
        used = sorted(form.code("half", choice) for choice in features[unit].values["half"])
        word = _with(layout, "half", word, int(chance.choice(used)))
    return word


def _stands(layout: WordLayout, guard: str, word: int, levels: int) -> bool:
    """Return whether a guard is the same in every turn of every loop."""
    names = [f"{guard}.window", *(f"{guard}.delta{level}" for level in range(levels))]
    return not any(layout.fields[name].extract(word) for name in names)


def _with(layout: WordLayout, name: str, word: int, value: int) -> int:
    field = layout.fields[name]
    return word & ~field.insert(-1) | field.insert(value)
