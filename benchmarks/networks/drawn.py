"""Drawn networks beside those of the table: whether the table is fair to networks that nobody looked at.

python -m benchmarks.networks.drawn [--count 20] [--seed 1] [--record]

A drawn network has two to seven convolutions of drawn kernels, strides, groups and pads, with rectifiers, maxima and
sums of two branches between them, and a fully connected layer at its end. Each is built for as many PEs as the table,
and the cycle model runs it: every word must be that of the evaluation, and the cycles those of the schedule.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx

import tabla
from benchmarks.held import hold
from benchmarks.networks.layers import Layers
from benchmarks.networks.measure import cached_in, one_run
from benchmarks.networks.measure import recorded as of_the_table
from benchmarks.networks.problems import NETWORKS, PES
from benchmarks.networks.records import rows_in, write_rows
from tabla.build.cost.blocks import block_rams
from tabla.hw.features import features_of

SCHEMA = "tabla-drawn-networks-1"
RECORD = Path(__file__).with_name("drawn.json")
COUNT, SEED = 20, 1
LEAST_WORK, MOST_WORK = 200_000, 2_000_000
"""The multiply-adds of a drawn network."""
HEAD = (
    f"{'network':<14} {'layers':>6} {'M mul-adds':>10} {'k words':>8} {'cycles':>8} {'RAMs':>5}"
    f" {'s/M':>6} {'RAMs/k':>7}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a model says of itself: the nodes, the multiply-adds of a sample, and the words of all tensors, which are
    weights, the input, and the result of every node.
    """

    layers: int
    multiply_adds: int
    words: int

    @staticmethod
    def of(model: onnx.ModelProto) -> Size:
        """Return the size of a model whose shapes are known. Zeros at borders count as multiply-adds, too."""
        values = (*model.graph.input, *model.graph.value_info, *model.graph.output)
        shapes = {value.name: [axis.dim_value for axis in value.type.tensor_type.shape.dim][1:] for value in values}
        weights = {array.name: list(array.dims) for array in model.graph.initializer if array.data_type == 1}
        work = 0
        for node in model.graph.node:
            if node.op_type in ("Conv", "Gemm"):
                # Every weight is multiplied once for each place of the map.
                places = np.prod(shapes[node.output[0]][1:], dtype=int)
                work += int(places * np.prod(weights[node.input[1]], dtype=int))
        held = sum(int(np.prod(shape, dtype=int)) for shape in (*shapes.values(), *weights.values()))
        return Size(layers=len(model.graph.node), multiply_adds=work, words=held)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRow:
    """The figures of a network: its size, cycles and block RAMs on `PES` PEs, and the processor time of ``gen``."""

    name: str
    layers: int
    multiply_adds: int
    words: int
    cycles: int
    block_rams: int
    processor_seconds: float

    @property
    def seconds_a_million(self) -> float:
        """The processor time of ``gen`` for a million multiply-adds of a sample."""
        return self.processor_seconds / self.multiply_adds * 1e6

    @property
    def blocks_a_thousand(self) -> float:
        """The block RAMs for a thousand words of tensors."""
        return self.block_rams / self.words * 1e3

    def line(self) -> str:
        """Return the row as a line of the table."""
        sizes = f"{self.layers:>6} {self.multiply_adds / 1e6:>10.3f} {self.words / 1e3:>8.1f}"
        figures = (
            f"{self.cycles:>8,} {self.block_rams:>5} {self.seconds_a_million:>6.1f} {self.blocks_a_thousand:>7.2f}"
        )
        return f"{self.name:<14} {sizes} {figures}"


def drawn(seed: int) -> onnx.ModelProto:
    """Return a network, the same for the same seed, of `LEAST_WORK` to `MOST_WORK` multiply-adds."""
    for attempt in range(1000):
        model = _network(np.random.default_rng([seed, attempt]), seed)
        if LEAST_WORK <= Size.of(model).multiply_adds <= MOST_WORK:
            return model
    raise AssertionError("no draw has a size between the limits")


def _network(chance: np.random.Generator, seed: int) -> onnx.ModelProto:
    channels, side = int(chance.choice([1, 2, 3, 4, 8])), int(chance.integers(9, 33))
    layers, x = Layers([channels, side, side], seed), "x"
    for _ in range(int(chance.integers(2, 8))):
        outputs = int(chance.choice([4, 6, 8, 12, 16, 24, 32, 48]))
        stride = int(chance.choice([1, 1, 2])) if side >= 6 else 1
        kernel = int(chance.choice([1, 3, 3, 5]))
        pads = 0 if chance.random() < 0.25 and side > kernel else None
        groups = int(chance.choice([1, 1, 1, channels, np.gcd(channels, outputs)]))
        if groups == channels > 1:
            outputs = channels * int(chance.choice([1, 1, 2]))
        if outputs % groups:
            groups = 1
        before, x = (
            x,
            layers.convolution(x, channels, outputs, (kernel, kernel), stride=stride, pads=pads, groups=groups),
        )
        if stride == 1 and pads is None and outputs == channels and chance.random() < 0.5:
            x = layers.add("Add", before, x)
        channels, side = outputs, (side - kernel) // stride + 1 if pads == 0 else -(-side // stride)
        if chance.random() < 0.8:
            x = layers.relu(x)
        if side >= 8 and chance.random() < 0.2:
            x, side = layers.halved(x), side // 2
    wide = channels if chance.random() < 0.6 else channels * side * side
    x = layers.mean(x) if wide == channels else layers.add("Flatten", x, axis=1)
    return layers.model(layers.dense(x, wide, int(chance.integers(2, 13))), f"drawn_{seed}")


def measured_row(model: onnx.ModelProto, name: str) -> DrawnRow:
    """Build a network, hold the words and the cycles of the cycle model against what is predicted, and measure ``gen``.

    Other words are a `TablaError`, and other cycles an AssertionError.
    """
    size = Size.of(model)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "net.onnx"
        onnx.save(model, str(file))
        with cached_in(Path(place) / "cache"):
            usage, _ = one_run(file, Path(place) / "out", PES, {})
            build = tabla.compile(str(file), pes=PES, force=True)
            hold(build)
            blocks = block_rams(build.image, features_of(build.image))
    return DrawnRow(
        name=name,
        layers=size.layers,
        multiply_adds=size.multiply_adds,
        words=size.words,
        cycles=build.schedule.cycles,
        block_rams=blocks,
        processor_seconds=round(usage.processor_seconds, 2),
    )


def rows_of_the_table() -> list[DrawnRow]:
    """Return the recorded figures of the networks of the table that have a convolution, with their sizes."""
    rows = []
    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as place:
            network.write(Path(place) / "net.onnx")
            model = onnx.load(str(Path(place) / "net.onnx"))
        if any(node.op_type == "Conv" for node in model.graph.node):
            size, row = Size.of(model), of_the_table()[network.name]
            rows.append(
                DrawnRow(
                    name=network.name,
                    **asdict(size),
                    cycles=row.cycles,
                    block_rams=row.block_rams,
                    processor_seconds=row.processor_seconds,
                )
            )
    return rows


def worst(rows: Iterable[DrawnRow]) -> tuple[DrawnRow, DrawnRow]:
    """Return the rows with the most seconds for a million multiply-adds, and with the most block RAMs for a word."""
    kept = list(rows)
    return max(kept, key=lambda row: row.seconds_a_million), max(kept, key=lambda row: row.blocks_a_thousand)


def comparison(table: Sequence[DrawnRow], others: Sequence[DrawnRow]) -> str:
    """Return the worst of the table beside the worst of the drawn networks, as text for people."""
    lines = []
    for whose, rows in (("table", table), ("drawn", others)):
        slow, large = worst(rows)
        lines.append(
            f"worst of the {whose}: {slow.seconds_a_million:.1f} s a million multiply-adds ({slow.name}),"
            f" {large.blocks_a_thousand:.2f} block RAMs a thousand words ({large.name})"
        )
    return "\n".join(lines)


def recorded(file: Path = RECORD) -> list[DrawnRow]:
    """Return the recorded rows of drawn networks, in the order of their seeds."""
    return rows_in(file, SCHEMA, DrawnRow)


def main(words: list[str]) -> int:
    """Measure drawn networks and print them beside those of the table. The exit status is 0; what fails is an error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks.drawn")
    parser.add_argument("--count", type=int, default=COUNT, help=f"networks to draw (default {COUNT})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"the seed of the first one (default {SEED})")
    parser.add_argument("--record", action="store_true", help="write the rows into the record")
    asked = parser.parse_args(words)
    if asked.count < 1:
        parser.error("--count: at least one network is needed")
    table = rows_of_the_table()
    print(HEAD, *(row.line() for row in table), sep="\n", flush=True)
    rows = []
    for seed in range(asked.seed, asked.seed + asked.count):
        rows.append(measured_row(drawn(seed), f"drawn {seed}"))
        print(rows[-1].line(), flush=True)
        if asked.record:
            write_rows(RECORD, SCHEMA, rows)
    print(comparison(table, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
