"""Drawn dense networks with and without samples that overlap: what decision 56 gives.

python -m benchmarks.networks.dense [--count 20] [--pes 16,64]

A network has three to five layers of 16 to 64 units, with a rectifier behind all but the last. It is built twice for an
array, as `tabla gen` builds it by default and with samples one after the other. The cycle model runs both: every word
must be that of the evaluation, and the cycles those of the schedule.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import onnx

import tabla
from benchmarks.held import hold
from benchmarks.networks.layers import Layers
from tabla.driver import Build

COUNT, PES = 20, "16,64"
HEAD = (
    f"{'layers':<18} {'PEs':>4} {'products':>8} {'cycles':>7} {'now':>7} {'latency':>7} {'now':>7}"
    f" {'stages':>6} {'used':>5}"
)
JET = (16, 64, 32, 32, 5)
"""The layers of the jet classifier of hls4ml, without its softmax."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseRow:
    """The cycles a sample and the latency of a network without and with overlapping samples.

    `products` are the cycles in which every PE multiplies.
    """

    sizes: tuple[int, ...]
    pes: int
    products: int
    cycles: tuple[int, int]
    latency: tuple[int, int]
    stages: int

    @property
    def used(self) -> float:
        """The fraction of the multipliers' slots that multiply, with overlapping samples."""
        return self.products / self.cycles[1]

    def line(self) -> str:
        """Return the row as a line of the table."""
        name = "-".join(map(str, self.sizes))
        cycles = f"{self.cycles[0]:>7,} {self.cycles[1]:>7,}"
        late = f"{self.latency[0]:>7,} {self.latency[1]:>7,}"
        return f"{name:<18} {self.pes:>4} {self.products:>8,} {cycles} {late} {self.stages:>6} {100 * self.used:>5.1f}"


def drawn_sizes(seed: int) -> tuple[int, ...]:
    """Return the units of a network, the inputs first; the same for the same seed."""
    chance = np.random.default_rng(seed)
    return tuple(int(units) for units in chance.integers(16, 65, int(chance.integers(4, 7))))


def dense(sizes: Sequence[int], seed: int) -> onnx.ModelProto:
    """Return a network of dense layers."""
    layers, x = Layers([sizes[0]], seed), "x"
    for number, (wide, outputs) in enumerate(pairwise(sizes)):
        x = layers.dense(x, wide, outputs)
        if number < len(sizes) - 2:
            x = layers.relu(x)
    return layers.model(x, "dense")


def dense_row(sizes: Sequence[int], pes: int, seed: int) -> DenseRow:
    """Build a network twice, and hold both builds against the cycle model."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "dense.onnx"
        onnx.save(dense(sizes, seed), str(file))
        made = tabla.compile(str(file), pes=pes, force=True)
        alone: Build = replace(made, template=replace(made.template, samples_overlap=False))
        for build in (alone, made):
            hold(build)
    before, now = alone.schedule, made.schedule
    return DenseRow(
        sizes=tuple(sizes),
        pes=pes,
        products=-(-now.multiplies // pes),
        cycles=(before.cycles, now.cycles),
        latency=(before.latency, now.latency),
        stages=now.stages,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each network and array, and the median and the worst use of the multipliers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, metavar="N")
    parser.add_argument("--pes", default=PES, metavar="N,N")
    arguments = parser.parse_args(argv)
    print(HEAD)
    for pes in map(int, arguments.pes.split(",")):
        rows = []
        for seed, sizes in enumerate([JET, *(drawn_sizes(seed) for seed in range(1, arguments.count + 1))]):
            row = dense_row(sizes, pes, seed)
            print(row.line(), flush=True)
            rows += [row] if seed else []
        used = [100 * row.used for row in rows]
        if used:
            print(f"drawn, {pes} PEs: median {median(used):.1f} %, worst {min(used):.1f} % of the multipliers' slots")
    return 0


if __name__ == "__main__":
    sys.exit(main())
