"""The published learning problems at full size: predicted cycles per sample, the bound, and what a build takes.

python -m benchmarks learning [FILE.json]
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tabla

PES = (16, 64, 128)
NEURON = """
mu = {mu};
model_input x[{n}]; model_output y; model w[{n}];
gradient g[{n}] -> w;
iterator i[0:{n}];
h = sum[i](w[i] * x[i]);
e = {error};
g[i] = e * x[i];
"""
RECO = """
mu = 0.0625;
model_input x1[{k}], x2[{k}], r1[{n}], r2[{m}]; model_output y1[{n}], y2[{m}]; model w1[{n}][{k}], w2[{m}][{k}];
gradient g1[{n}][{k}] -> w1, g2[{m}][{k}] -> w2;
iterator i[0:{n}]; iterator j[0:{m}]; iterator l[0:{k}];
e1[i] = sum[l](w1[i][l]*x2[l])*r1[i] - y1[i];
e2[j] = sum[l](w2[j][l]*x1[l])*r2[j] - y2[j];
g1[i][l] = e1[i]*x2[l];
g2[j][l] = e2[j]*x1[l];
"""
BACKPROP = """
mu = 0.125;
model_input x[{n}]; model_output y[{o}]; model w1[{h}][{n}], w2[{o}][{h}];
gradient g1[{h}][{n}] -> w1, g2[{o}][{h}] -> w2;
iterator i[0:{n}]; iterator j[0:{h}]; iterator k[0:{o}];
h[j] = sigmoid(sum[i](w1[j][i] * x[i]));
o[k] = sigmoid(sum[j](w2[k][j] * h[j]));
d[k] = (o[k] - y[k]) * o[k] * (1 - o[k]);
b[j] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]);
g2[k][j] = d[k] * h[j];
g1[j][i] = b[j] * x[i];
"""
ERRORS = {"linear": "h - y", "logistic": "sigmoid(h) - y", "svm": "(y*h < 1) * (0 - y)"}
FEATURES = {
    "linear": (55, 784, 8000, 16384),
    "logistic": (54, 200, 2000, 6033),
    "svm": (54, 200, 1740, 7129),
}
RATINGS = ((138, 130, 10), (1682, 943, 10), (2113, 10197, 20))
LAYERS = ((8, 16, 3), (16, 32, 3), (61, 128, 4), (64, 128, 10), (351, 1000, 40), (784, 784, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A program of the list, at a size."""

    name: str
    text: str


def problems() -> Iterator[Problem]:
    """The list of PEERS.md."""
    for kind, sizes in FEATURES.items():
        for n in sizes:
            yield Problem(name=f"{kind} {n}", text=NEURON.format(n=n, error=ERRORS[kind], mu=0.1))
    for n, m, k in RATINGS:
        yield Problem(name=f"reco {n}x{m}x{k}", text=RECO.format(n=n, m=m, k=k))
    for n, h, o in LAYERS:
        yield Problem(name=f"backprop {n}-{h}-{o}", text=BACKPROP.format(n=n, h=h, o=o))


def bench_learning() -> Iterator[dict[str, Any]]:
    """One row a problem and number of PEs: what the compiler predicts, and how long it took to say so."""
    for problem in problems():
        for pes in PES:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "problem.t"
                file.write_text(problem.text, encoding="utf-8")
                began = time.perf_counter()
                schedule = tabla.compile(file, pes=pes, stream_words=min(128, pes)).schedule
            yield {
                "program": problem.name,
                "pes": pes,
                "multiplies": schedule.multiplies,
                "cycles": schedule.cycles,
                "bound": schedule.bound,
                "ratio": schedule.ratio,
                "binding": max(sorted(schedule.bound_terms), key=lambda k: schedule.bound_terms[k]),
                "utilisation": schedule.utilisation,
                "microcode_words": schedule.microcode_words,
                "model_words": schedule.model_words,
                "seconds": time.perf_counter() - began,
            }


def show(row: dict[str, Any]) -> str:
    """A row of the table."""
    return (
        f"{row['program']:<24} {row['pes']:>4} {row['multiplies']:>10} {row['cycles']:>8} {row['bound']:>8}"
        f" {row['ratio']:>6.2f} {row['binding']:<10} {100 * row['utilisation']:>5.1f}% {row['microcode_words']:>6}"
        f" {row['model_words']:>7} {row['seconds']:>6.2f}"
    )


HEAD = (
    f"{'learning':<24} {'PEs':>4} {'multiplies':>10} {'cycles':>8} {'bound':>8} {'ratio':>6} {'binding':<10} {'use':>6}"
    f" {'words':>6} {'model':>7} {'s':>6}"
)
