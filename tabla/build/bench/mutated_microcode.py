"""Trials: microcode that the test bench of ``tabla gen`` loads through the program port to try more of the hardware.

A trial is the program of the build with other guards, signs, halves and gates, and with loops on other levels. Its
cycles stay as they are, and so do its addresses, so what the machine does is as well defined as with the program of the
build. The host holds back the last beat of each sample, in each trial for a cycle longer, so that
samples become ready in other cycles before or behind a start. The cycle model tells what comes out. The hardware has
only what the program of the build uses, so every trial asks for the same hardware.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tabla.build.bench.mutated_loops import mutated_loops
from tabla.hw.features import Features, hardware_of
from tabla.program.image import Image
from tabla.program.layout import WordLayout, operation_layout, strand_layout
from tabla.sim.machine import BeatRows, RunResult, Stalls
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.faults import MachineFault
from tabla.templates.instructions import kind_of, operation_format

MUTANTS = 16
"""The most trials of a build."""
LEAST = 2
"""The trials of a build, however large it is."""
EFFORT = 100_000
"""The cycles of all trials of a build, times its PEs, on which the time of a simulator depends."""
_ATTEMPTS = 6
"""How often a trial is drawn that the cycle model refuses, each time with half as many changes."""
_STANDING = 0.3
"""The share of the guards that move with a loop which become the same in every turn, so that they can be far away."""
_KINDS = ("lane_issue", "lane_write", "root_issue")
Place = tuple[str, int]
"""A unit, and the address of an operation word of it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MutatedProgram:
    """A program to load, the pauses of the host in its run, what the run gives, and the words of a dump after it."""

    image: Image = field(repr=False)
    stalls: Stalls
    result: RunResult
    words: list[int] = field(repr=False)


def mutated_programs(
    image: Image, begun: CycleModel, beats: BeatRows, samples: int, seed: int, cycles: int
) -> Iterator[MutatedProgram]:
    """Yield trials to run one after the other.

    `begun` is the cycle model of `image` with the models loaded, after a run. Each run has the same `samples`, and
    takes about so many `cycles` with its dump. A large build has fewer trials.
    """
    hardware, before = hardware_of(image), begun
    for number in range(min(MUTANTS, max(LEAST, EFFORT // (cycles * image.parameters.pes)))):
        chance, stalls = np.random.default_rng([seed, number]), _stalls(image, number)
        for attempt in range(_ATTEMPTS):
            changed = _changed(image, hardware, chance, share=0.5**attempt)
            if changed is None:
                continue
            changed = mutated_loops(changed, hardware, chance)
            model = CycleModel(changed)
            model.take_over(before)
            try:
                result = model.run(beats, samples, stalls).relative()
                words = model.dump(image.dump_count)
            except MachineFault:
                continue
            before = model
            yield MutatedProgram(image=changed, stalls=stalls, result=result, words=words)
            break


def _stalls(image: Image, cycles: int) -> Stalls:
    """Return pauses of so many cycles before the last beat of each sample."""
    beats = image.stream_run.beats
    return Stalls(inputs=(*[0] * (beats - 1), cycles) if beats else ())


def _changed(image: Image, hardware: Features, chance: np.random.Generator, share: float) -> Image | None:
    """Return an image with that share of the operations of its runs changed; None if the hardware has no such one."""
    operations = {unit: list(words) for unit, words in image.operations.items()}
    for unit, address in _run_operations(image):
        if chance.random() < share:
            operations[unit][address] = _other(image, hardware, unit, operations[unit][address], chance)
    changed = replace(image, operations={unit: tuple(words) for unit, words in operations.items()})
    same = changed.operations == image.operations or hardware_of(changed) != hardware
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


def _other(image: Image, hardware: Features, unit: str, word: int, chance: np.random.Generator) -> int:
    """Return an operation word with other guards, sign, gate and half, where the hardware has them."""
    parameters, kind = image.parameters, kind_of(unit)
    layout, form, lanes = operation_layout(unit, parameters), operation_format(unit), parameters.lanes
    if hardware[unit].guarded:
        most = (1 << (parameters.guard_bits - 1)) - 1
        # Most guards let some lanes through, so that a trial computes something.
        drawn = chance.integers(lanes + 1, size=2)
        low, high = np.sort(drawn).tolist() if chance.random() < 0.8 else drawn.tolist()
        for name, bound in (("low", low), ("high", high)):
            if layout.fields[f"{name}.window"].extract(word):
                continue
            deltas = [f"{name}.delta{level}" for level in range(parameters.levels)]
            if chance.random() < _STANDING:
                word = _with_all(layout, deltas, word, 0)
            if not any(layout.fields[delta].extract(word) for delta in deltas):
                bound = _beyond(bound, lanes, most, chance)
            word = _with(layout, f"{name}.base", word, min(most, bound))
    if kind != "lane_write":
        if layout.fields["post"].extract(word) == form.code("post", "none"):
            word = _with(layout, "negate", word, int(chance.integers(0, 2)))
        # A gate over more levels lets fewer products through, so no operand is read that was not read before.
        gate = layout.fields["gate"]
        spans = range(gate.extract(word), min(parameters.levels, (1 << gate.width) - 1) + 1)
        word = _with(layout, "gate", word, int(chance.choice(spans)))
    if kind == "lane_issue":
        used = sorted(form.code("half", choice) for choice in hardware[unit].values["half"])
        word = _with(layout, "half", word, int(chance.choice(used)))
    return word


def _beyond(bound: int, lanes: int, most: int, chance: np.random.Generator) -> int:
    """Return another place for a bound that is 0 or the number of lanes: further below or above all lanes.

    The distance is a power of two, or one less, so each bit of a bound can decide. One bound in ten is replaced by 0 or
    by the number of lanes beforehand.
    """
    if chance.random() < 0.1:
        bound = int(chance.choice([0, lanes]))
    distance = (1 << int(chance.integers(0, (most + 1).bit_length()))) - int(chance.integers(0, 2))
    if bound == 0:
        return max(-most - 1, -distance)
    return min(max(lanes, most), lanes + distance) if bound == lanes else bound


def _with(layout: WordLayout, name: str, word: int, value: int) -> int:
    field = layout.fields[name]
    return word & ~field.insert(-1) | field.insert(value)


def _with_all(layout: WordLayout, names: list[str], word: int, value: int) -> int:
    for name in names:
        word = _with(layout, name, word, value)
    return word
