"""Measuring a learning problem: the figures and the time of ``tabla gen``, and the cycles that the model counts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning.aims import CYCLES, GEN_MEGABYTES, GEN_SECONDS, MICROCODE_WORDS, PEER, ratio_aim
from benchmarks.learning.operations import operations
from benchmarks.learning.problems import PES, Problem, minibatches, problems
from benchmarks.process import measured
from tabla.base.source import Source
from tabla.build.arrays import shapes_of
from tabla.driver import Build, build
from tabla.languages.tabla import parse
from tabla.learn.runs import Simulation
from tabla.schedule.bound import full
from tabla.schedule.strands.streams import sample_strands

SEED = 1
SAMPLES = 3  # the steps to simulate: from the second to the third start is one period of the steady state
NARROW = 32  # the words per beat that designs of this size are expected to have


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The figures of a learning problem on an array.

    `operations`, `multiplies`, `cycles`, `simulated` and `bound` are per sample; with minibatches, those of a step are
    divided by its samples. `operations` counts the scalar operations of the text. `bound` is the full lower bound, as
    ``tabla bound`` prints it, and `ratio` is `cycles` divided by `bound`. Memories are in words per PE. `beats` is the
    number of beats of a step. `stream_binds` says whether samples arrive more slowly than the array could take them,
    and `narrow_binds` whether they would with 32 words per beat. `gen_seconds` is processor time. `aim` and `peer` are
    cycles per sample, or None.
    """

    program: str
    pes: int
    operations: int
    multiplies: int | float
    cycles: int | float
    simulated: int | float
    latency: int
    bound: int | float
    binding: str
    ratio: float
    utilisation: float
    microcode_words: int
    model_words: int
    data_words: int
    interim_words: int
    memory_bits: int
    stream_words: int
    beats: int
    stream_binds: bool
    narrow_binds: bool
    gen_seconds: float
    gen_megabytes: float
    peer: int | None
    aim: float | None
    ratio_aim: float | None

    @property
    def ratio_reached(self) -> bool:
        """Whether the ratio is accepted, or has no aim."""
        return self.ratio_aim is None or self.ratio <= self.ratio_aim

    @property
    def missed(self) -> tuple[str, ...]:
        """The aims that the row misses, as text for people."""
        found = []
        if self.aim is not None and self.cycles > self.aim:
            found.append(f"cycles > {self.aim}")
        if not self.ratio_reached:
            found.append(f"ratio > {self.ratio_aim:.2f}")
        if self.microcode_words > MICROCODE_WORDS:
            found.append(f"microcode > {MICROCODE_WORDS}")
        if self.gen_seconds > GEN_SECONDS or self.gen_megabytes > GEN_MEGABYTES:
            found.append(f"gen > {GEN_SECONDS:g} s, {GEN_MEGABYTES:g} MB")
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**asdict(self), "missed": list(self.missed)}


def bench_minibatches() -> Iterator[Row]:
    """Yield the row of each step of many samples as soon as it is measured."""
    for problem, pes in minibatches():
        yield measure(problem, pes)


def bench_learning(chosen: Iterable[Problem] | None = None, pes: Iterable[int] = PES) -> Iterator[Row]:
    """Yield a row for each problem and number of PEs as soon as it is measured."""
    for problem in problems() if chosen is None else chosen:
        for number in pes:
            yield measure(problem, number)


def measure(problem: Problem, pes: int) -> Row:
    """Run ``tabla gen`` in a process of its own, then simulate the accelerator on the cycle model."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        usage = measured(["gen", *problem.words(pes), "-q", "-o", f"{folder}/out", "--json", str(file)])
        report = json.loads(file.read_text(encoding="utf-8"))
    made = build(problem.file, problem.options(pes))
    simulation = simulate(made, problem.minibatch * SAMPLES)
    schedule = made.schedule
    bound = full(made.graph, schedule.template, made.format)
    narrow = sample_strands(schedule.layout, NARROW, schedule.template)
    text = {name: str(size) for name, size in problem.defines.items()}
    taken = ("pes", "multiplies", "cycles", "latency", "utilisation")
    words = ("microcode_words", "model_words", "data_words", "interim_words", "memory_bits", "stream_words")
    return Row(
        program=problem.name,
        bound=schedule.per_sample(bound.cycles),
        binding=bound.binding,
        ratio=round(schedule.cycles / bound.cycles, 6),
        operations=operations(parse(Source.from_path(problem.file), text)),
        simulated=simulation.cycles_simulated,
        beats=schedule.beats,
        stream_binds=schedule.cycles > schedule.initiation_interval,
        narrow_binds=sum(s.iterations for s in narrow) > schedule.initiation_interval,
        gen_seconds=round(usage.processor_seconds, 2),
        gen_megabytes=round(usage.megabytes, 1),
        peer=PEER.get((problem.name, pes)),
        aim=CYCLES.get((problem.name, pes)),
        ratio_aim=ratio_aim(problem, pes),
        **{name: report[name] for name in (*taken, *words)},
    )


def simulate(made: Build, samples: int, *, engine: str = "model") -> Simulation:
    """Simulate random samples from random models, and compare every word with the evaluation."""
    chance = np.random.default_rng(SEED)
    shapes = shapes_of(made.sample, "input", "label")
    arrays = {name: chance.uniform(-1, 1, (samples, *shape)) for name, shape in shapes.items()}
    # The models do not start from zeros, because equal weights would hide an update of the wrong one.
    models = {name: chance.uniform(-0.5, 0.5, shape) for name, shape in shapes_of(made.sample, "model").items()}
    return made.simulate({**arrays, **models}, engine=engine)
