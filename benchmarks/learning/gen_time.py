"""Time and peak memory of ``tabla gen`` against the number of features of one neuron."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.learning.problems import PES, Problem
from benchmarks.line_chart import line_chart
from benchmarks.process import measured

FEATURES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 16_384)
TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GenTime:
    """The processor time and the peak memory of ``tabla gen``, in seconds and 10^6 bytes.

    The time is that of the quickest of a few runs, because other work on the machine can only add to it.
    """

    features: int
    pes: int
    seconds: float
    megabytes: float


def bench_sizes() -> Iterator[GenTime]:
    """Yield the time of linear regression for every number of features on every size of array."""
    for pes in PES:
        for features in FEATURES:
            problem = Problem(kind="linear", sizes=(features,))
            with tempfile.TemporaryDirectory() as folder:
                runs = [measured(["gen", *problem.words(pes), "-q", "-o", f"{folder}/out"]) for _ in range(TRIES)]
            yield GenTime(
                features=features,
                pes=pes,
                seconds=round(min(run.processor_seconds for run in runs), 2),
                megabytes=round(max(run.megabytes for run in runs), 1),
            )


def picture(times: Sequence[GenTime]) -> str:
    """SVG: a line for each array."""
    lines = {f"{pes} PEs": [(float(t.features), t.seconds) for t in times if t.pes == pes] for pes in PES}
    return line_chart(
        {name: points for name, points in lines.items() if points},
        title="tabla gen, linear regression",
        across="features",
        upwards="seconds on the processor",
    )


def table(times: Sequence[GenTime]) -> str:
    """Markdown: a line a size, seconds and megabytes for each array."""
    found = {(t.features, t.pes): t for t in times}
    lines = [
        "| features | " + " | ".join(f"{pes} PEs" for pes in PES) + " |",
        "|---|" + "---|" * len(PES),
    ]
    for features in FEATURES:
        row = [found[features, pes] for pes in PES]
        cells = " | ".join(f"{t.seconds:.2f} s, {t.megabytes:.0f} MB" for t in row)
        lines.append(f"| {features:,} | {cells} |")
    return "\n".join(lines) + "\n"
