"""Plays one stimulus on several engines and describes the first place where they disagree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from tabla.program.image import Image
from tabla.sim.machine import BeatRows, Machine, RunResult, Stalls, as_beats


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulus:
    """The commands that a comparison plays: one load, then runs of `chunk` samples until all `samples` are through.

    A `chunk` of 0 puts all samples into one run. After each run `dump` tokens of the dump program are read; 0 means
    that nothing is dumped. Of the words of a dump those at the positions `shown` are compared, or all of them if it is
    None. The others hold no model, and engines may differ in them: a dump goes through the addresses of all memories,
    and behind the end of a shallower one the hardware begins anew.
    """

    load: BeatRows
    beats: BeatRows
    samples: int
    dump: int = 0
    chunk: int = 0
    stalls: Stalls | None = None
    shown: Collection[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one run of a stimulus gave: its first sample's number, its result, and the words dumped after it."""

    first: int
    result: RunResult
    words: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A disagreement of two engines: at `place`, `left` gave `left_value` and `right` gave `right_value`."""

    left: str
    right: str
    place: str
    left_value: object
    right_value: object

    def __str__(self) -> str:
        return f"{self.place}: {self.left} says {self.left_value}, {self.right} says {self.right_value}"


def play(machine: Machine, stimulus: Stimulus) -> list[Step]:
    """Play all commands of a stimulus on one machine; the cycles of each run count from its first beat or token."""
    image = machine.image
    each, width = image.stream_run.beats, image.parameters.stream_words
    rows = as_beats(stimulus.beats, width, stimulus.samples * each)
    if image.stream_load.beats:
        machine.load(stimulus.load)
    steps = []
    chunk = stimulus.chunk or max(1, stimulus.samples)
    for first in range(0, stimulus.samples, chunk):
        count = min(chunk, stimulus.samples - first)
        result = machine.run(rows[first * each : (first + count) * each], count, stimulus.stalls)
        words = machine.dump(stimulus.dump) if stimulus.dump else []
        if stimulus.shown is not None:
            words = [word if place in stimulus.shown else 0 for place, word in enumerate(words)]
        steps.append(Step(first=first, result=result.relative(), words=words))
    return steps


def difference(image: Image, left: tuple[str, list[Step]], right: tuple[str, list[Step]]) -> Difference | None:
    """Return the first difference between two plays of one stimulus, or None.

    Of each run the words are compared first, then the cycles, then the counters.
    """
    names = (left[0], right[0])
    for a, b in zip(left[1], right[1], strict=True):
        for found in _differences(image, a, b):
            place, left_value, right_value = found
            return Difference(
                left=names[0], right=names[1], place=place, left_value=left_value, right_value=right_value
            )
    return None


def _differences(image: Image, a: Step, b: Step) -> Iterable[tuple[str, object, object]]:
    outputs = max(1, image.run.outputs)
    for index, one, other in _unequal(a.result.outputs, b.result.outputs):
        yield f"sample {a.first + index // outputs}, output word {index % outputs}", one, other
    last = a.first + a.result.samples - 1
    for index, one, other in _unequal(a.words, b.words):
        yield f"{dump_place(image, index)} after sample {last}", one, other
    for name, what in (
        ("first_words", "cycle of the first word taken"),
        ("last_words", "cycle of the last word taken"),
        ("starts", "cycle of the token"),
    ):
        for index, one, other in _unequal(getattr(a.result, name), getattr(b.result, name)):
            yield f"sample {a.first + index}, {what}", one, other
    for index, one, other in _unequal(a.result.leaves, b.result.leaves):
        yield f"sample {a.first + index // outputs}, cycle in which output word {index % outputs} left", one, other
    for index, one, other in _unequal(a.result.updates, b.result.updates):
        yield f"samples {a.first} to {last}, cycle of model update {index}", one, other
    for field in fields(a.result.counters):
        one, other = getattr(a.result.counters, field.name), getattr(b.result.counters, field.name)
        if one != other:
            yield f"counter {field.name.replace('_', ' ')} after sample {last}", one, other


def _unequal(left: Sequence[int], right: Sequence[int]) -> Iterable[tuple[int, object, object]]:
    short = min(len(left), len(right))
    unequal = np.asarray(left[:short], dtype=np.int64) != np.asarray(right[:short], dtype=np.int64)
    for index in np.flatnonzero(unequal).tolist():
        yield index, left[index], right[index]
    if len(left) != len(right):
        more = left if len(left) > short else right
        one, other = (more[short], "nothing") if more is left else ("nothing", more[short])
        yield short, one, other


def dump_place(image: Image, index: int) -> str:
    """Say in words which memory word the `index`-th word of a dump is."""
    address, rest = divmod(index, (image.parameters.lanes + 1) * image.parameters.roots)
    lane, group = divmod(rest, image.parameters.roots)
    if lane == image.parameters.lanes:
        return f"root memory word {address}" + (f" of group {group}" if image.parameters.roots > 1 else "")
    return f"lane {group * image.parameters.lanes + lane}, model word {address}"


def compare(machines: Mapping[str, Machine], stimulus: Stimulus) -> Difference | None:
    """Play `stimulus` on machines of one image; return the first difference of any from the first machine, or None."""
    names = list(machines)
    reference = play(machines[names[0]], stimulus)
    for name in names[1:]:
        image = machines[name].image
        found = difference(image, (names[0], reference), (name, play(machines[name], stimulus)))
        if found is not None:
            return found
    return None
