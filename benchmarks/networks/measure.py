"""Measuring ``tabla gen`` of a network: its schedule, the block RAMs of the array, time and peak memory."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tabla
from benchmarks.networks.problems import PES, Network
from benchmarks.networks.records import put_row, rows_in
from benchmarks.networks.yardstick import yardstick
from benchmarks.process import Usage, measured
from tabla.build.cost.blocks import block_rams
from tabla.hw.features import features_of

SCHEMA = "tabla-networks-1"
RECORD = Path(__file__).with_name("measured.json")
"""The rows that were recorded last."""
RUNS = 3
PERCEPTRON = 6.9
"""The yardsticks that ``gen`` of the perceptron took when this table began. Aims are multiples of it."""
MOST_MEGABYTES = 500.0
LEAST_CHANGE, LEAST_CHANGE_OF_TIME = 0.02, 0.15
"""The relative changes of a row that are reported: those of cycles and block RAMs, and those of time."""
HEAD = (
    f"{f'networks at {PES} PEs':<18} {'cycles':>9} {'bound':>8} {'ratio':>6} {'RAMs':>6} {'gen s':>7} {'yards':>7}"
    f" {'times':>6} {'aim':>5} {'MB':>6} {'written':>8}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRow:
    """The figures of a network.

    `cycles` and `bound` are those of a sample. `block_rams` counts the DP16KD, of 18 kbit, of a Lattice ECP5 that the
    array takes. `processor_seconds` is the median of the runs of ``gen``, and `yardsticks` the median of their ratios
    to the yardstick, which is measured before and after each run. `megabytes` is the largest peak memory of a run, and
    `written_megabytes` the size of all files that it writes, both in 10^6 bytes.
    """

    name: str
    cycles: int
    bound: int
    block_rams: int
    processor_seconds: float
    yardsticks: float
    megabytes: float
    written_megabytes: float

    @property
    def times(self) -> float:
        """The time of ``gen`` as a multiple of that of the perceptron when the table began."""
        return self.yardsticks / PERCEPTRON

    def missed(self, network: Network) -> tuple[str, ...]:
        """Return the aims that the row misses, as text for people."""
        missed = []
        if network.most is not None and self.times > network.most:
            missed.append(f"times > {network.most:g}")
        if self.megabytes > MOST_MEGABYTES:
            missed.append(f"MB > {MOST_MEGABYTES:g}")
        return tuple(missed)

    def changes(self, before: NetworkRow) -> tuple[str, ...]:
        """Return what differs from a recorded row, as text for people."""
        limits = {"cycles": LEAST_CHANGE, "block_rams": LEAST_CHANGE, "yardsticks": LEAST_CHANGE_OF_TIME}
        changes = []
        for figure, limit in limits.items():
            old, new = getattr(before, figure), getattr(self, figure)
            if abs(new - old) > limit * old:
                changes.append(f"{figure.replace('_', ' ')} {old:,} -> {new:,} ({new / old - 1:+.0%})")
        return tuple(changes)

    def line(self, network: Network) -> str:
        """Return the row as a line of the table."""
        aim = "" if network.most is None else f"{network.most:g}"
        numbers = f"{self.cycles:>9,} {self.bound:>8,} {self.cycles / self.bound:>6.2f} {self.block_rams:>6,}"
        times = f"{self.processor_seconds:>7.1f} {self.yardsticks:>7.1f} {self.times:>6.2f} {aim:>5}"
        sizes = f"{self.megabytes:>6.0f} {self.written_megabytes:>8.1f}"
        missed = ", ".join(self.missed(network))
        return f"{self.name:<18} {numbers} {times} {sizes}  {f'MISSED {missed}' if missed else ''}".rstrip()


def measure(network: Network, *, runs: int = RUNS, effort: int | None = None) -> NetworkRow:
    """Run ``gen`` of a network several times without any schedule from before.

    `effort` is that of the search; None stands for the default.
    """
    words = {} if effort is None else {"effort": effort}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{network.name.replace('-', '_')}.onnx"
        network.write(file)
        usages, ratios = [], []
        for run in range(runs):
            cache, output = Path(folder) / f"cache{run}", Path(folder) / f"out{run}"
            with cached_in(cache):
                usage, ratio = one_run(file, output, PES, words)
            usages.append(usage)
            ratios.append(ratio)
        manifest = json.loads((output / f"{file.stem}.json").read_text(encoding="utf-8"))
        size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
        # The schedule of the last run is read back from its cache.
        with cached_in(cache):
            image = tabla.compile(str(file), pes=PES, force=True, **words).image
        return NetworkRow(
            name=network.name,
            cycles=manifest["cycles"],
            bound=manifest["bound"],
            block_rams=block_rams(image, features_of(image)),
            processor_seconds=round(statistics.median(usage.processor_seconds for usage in usages), 2),
            yardsticks=round(statistics.median(ratios), 2),
            megabytes=round(max(usage.megabytes for usage in usages), 1),
            written_megabytes=round(size / 1e6, 2),
        )


def one_run(file: Path, output: Path, pes: int, words: Mapping[str, int | str]) -> tuple[Usage, float]:
    """Run ``gen`` once for `pes` PEs, with the options `words`.

    Return what it took, and the ratio of its processor time to the mean of two yardsticks.
    """
    options = [text for name, value in words.items() for text in (f"--{name}", str(value))]
    before = yardstick()
    # No part of today holds the larger networks.
    usage = measured(["gen", str(file), "-o", str(output), "-q", "--force", "--pes", str(pes), *options])
    return usage, usage.processor_seconds / ((before + yardstick()) / 2)


@contextmanager
def cached_in(folder: Path) -> Iterator[None]:
    """Keep schedules, and nothing else, in a folder for as long as the context lasts."""
    values = {"TABLA_CACHE": str(folder), "TABLA_CACHE_KINDS": "schedules"}
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


def recorded(file: Path = RECORD) -> dict[str, NetworkRow]:
    """Return the recorded rows by the name of their network."""
    if not file.is_file():
        return {}
    return {row.name: row for row in rows_in(file, SCHEMA, NetworkRow)}


def record(row: NetworkRow, order: Mapping[str, Network], file: Path = RECORD) -> None:
    """Write a row into the record, in place of that of the same network. `order` has all networks by name."""
    put_row(file, SCHEMA, row, order)
