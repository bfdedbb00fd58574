"""A row of the table: what ``tabla gen`` says of a problem and takes for it, and what the cycle model counts."""

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
from benchmarks.learning.problems import PES, Problem, problems
from benchmarks.process import measured
from tabla.bound import full
from tabla.driver import Build, build
from tabla.lang.tabla import parse
from tabla.runs import Simulation, shapes_of
from tabla.source import Source
from tabla.strands.streams import sample_strands

SEED = 1
SAMPLES = 3  # steps: the third one's start is a whole period after the second one's
NARROW = 32  # words a beat that designs of this size are expected to live with


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Figures are per sample, those of a minibatch divided by its samples; the memories are words per PE.

    `bound` is the full one, of ``tabla bound``. `operations`: scalar operations as the text writes them. `beats`: of a
    step's samples; `narrow_binds`: whether 32 words a beat would make the samples late. `gen_seconds` are on the
    processor. `aim`, `peer`: cycles, where there are such figures.
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
    aim: int | None
    ratio_aim: float

    @property
    def missed(self) -> tuple[str, ...]:
        """What is not reached, for people."""
        found = []
        if self.aim is not None and self.cycles > self.aim:
            found.append(f"cycles > {self.aim}")
        if self.ratio > self.ratio_aim:
            found.append(f"ratio > {self.ratio_aim:.2f}")
        if self.microcode_words > MICROCODE_WORDS:
            found.append(f"microcode > {MICROCODE_WORDS}")
        if self.gen_seconds > GEN_SECONDS or self.gen_megabytes > GEN_MEGABYTES:
            found.append(f"gen > {GEN_SECONDS:g} s, {GEN_MEGABYTES:g} MB")
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "missed": list(self.missed)}


def bench_learning(chosen: Iterable[Problem] | None = None, pes: Iterable[int] = PES) -> Iterator[Row]:
    """A row a problem and number of PEs, each as soon as it is there."""
    for problem in problems() if chosen is None else chosen:
        for number in pes:
            yield measure(problem, number)


def measure(problem: Problem, pes: int) -> Row:
    """Generate in a process of its own, then simulate; a word that differs from the evaluation is a fault."""
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
        stream_binds=schedule.cycles > schedule.period,
        narrow_binds=sum(s.iterations for s in narrow) > schedule.period,
        gen_seconds=round(usage.processor_seconds, 2),
        gen_megabytes=round(usage.megabytes, 1),
        peer=PEER.get((problem.name, pes)),
        aim=CYCLES.get((problem.name, pes)),
        ratio_aim=ratio_aim(problem, pes),
        **{name: report[name] for name in (*taken, *words)},
    )


def simulate(made: Build, samples: int, *, engine: str = "model") -> Simulation:
    """Random samples from random models, every word held against the evaluation."""
    chance = np.random.default_rng(SEED)
    shapes = shapes_of(made.sample, "input", "label")
    arrays = {name: chance.uniform(-1, 1, (samples, *shape)) for name, shape in shapes.items()}
    # Zeros would hide an update of the wrong weight.
    models = {name: chance.uniform(-0.5, 0.5, shape) for name, shape in shapes_of(made.sample, "model").items()}
    return made.simulate({**arrays, **models}, engine=engine)
