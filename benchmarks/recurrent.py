"""Recurrent learners against the bound: programs of drawn sizes whose state is a vector.

python -m benchmarks.recurrent [--count 20] [--pes 16]

Each is built as `tabla gen` builds it by default. The cycle model runs it: every word must be that of the evaluation,
and the cycles those of the schedule.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import tabla
from benchmarks.held import hold

COUNT, PES = 20, 16
HEAD = f"{'learner':<12} {'inputs':>6} {'units':>5} {'turns':>5} {'cycles':>7} {'bound':>7} {'times':>6}"

ELMAN = """
mu = 1;
model_input x[m]; model_output y;
model s[n], U[n][m], R[n][n], w[n];
gradient gs -> s, gU -> U, gR -> R, gw -> w;
iterator i[0:m], j[0:n], l[0:n];
a[j] = tanh(sum[i](U[j][i]*x[i]) + sum[l](R[j][l]*s[l]));
e = 0.03125 * (sum[j](w[j]*a[j]) - y);
d[j] = w[j]*e*(1 - a[j]*a[j]);
gs[j] = s[j] - a[j];
gw[j] = e*a[j];
gU[j][i] = d[j]*x[i];
gR[j][l] = d[j]*s[l];
"""
"""A network whose state is a model, which learns from one step."""

MINIMAL_GATED = """
mu = 1;
model_input x[m]; model_output y;
model s[n], Uf[n][m], Rf[n][n], Uc[n][m], Rc[n][n], w[n];
gradient gs -> s, gUf -> Uf, gRf -> Rf, gUc -> Uc, gRc -> Rc, gw -> w;
iterator i[0:m], j[0:n], l[0:n];
f[j] = sigmoid(sum[i](Uf[j][i]*x[i]) + sum[l](Rf[j][l]*s[l]));
q[j] = f[j]*s[j];
c[j] = tanh(sum[i](Uc[j][i]*x[i]) + sum[l](Rc[j][l]*q[l]));
a[j] = s[j] + f[j]*(c[j] - s[j]);
e = 0.03125 * (sum[j](w[j]*a[j]) - y);
d[j] = w[j]*e;
dc[j] = d[j]*f[j]*(1 - c[j]*c[j]);
df[l] = (d[l]*(c[l] - s[l]) + sum[j](Rc[j][l]*dc[j])*s[l])*f[l]*(1 - f[l]);
gs[j] = s[j] - a[j];
gw[j] = e*a[j];
gUf[j][i] = df[j]*x[i]; gRf[j][l] = df[j]*s[l];
gUc[j][i] = dc[j]*x[i]; gRc[j][l] = dc[j]*q[l];
"""
"""The minimal gated unit: the gate f keeps the state and weighs it, and learns from one step."""

THROUGH_TIME = """
mu = 0.0625;
model_input x[T][m]; model_output y;
model U[n][m], R[n][n], w[n];
gradient gU -> U, gR -> R, gw -> w;
iterator i[0:m], j[0:n], l[0:n], k[0:T], p[1:T];
iterator t[1:T] in order, u[0:T - 1] in reverse order;
s[0][j] = tanh(sum[i](U[j][i]*x[0][i]));
s[t][j] = tanh(sum[i](U[j][i]*x[t][i]) + sum[l](R[j][l]*s[t - 1][l]));
e = sum[j](w[j]*s[T - 1][j]) - y;
d[T - 1][j] = e*w[j]*(1 - s[T - 1][j]*s[T - 1][j]);
d[u][l] = sum[j](R[j][l]*d[u + 1][j])*(1 - s[u][l]*s[u][l]);
gw[j] = e*s[T - 1][j];
gU[j][i] = sum[k](d[k][j]*x[k][i]);
gR[j][l] = sum[p](d[p][j]*s[p - 1][l]);
"""
"""A network that learns by back-propagation through the turns of a series."""

OBSERVER = """
mu = 1;
model_input v[m], z[n];
model s[n], A[n][n], B[n][m], K[n];
gradient gs -> s, gA -> A;
iterator i[0:m], j[0:n], l[0:n];
b[j] = sum[l](A[j][l]*s[l]) + sum[i](B[j][i]*v[i]);
r[j] = z[j] - b[j];
gs[j] = s[j] - b[j] - K[j]*r[j];
gA[j][l] = -0.015625*r[j]*s[l];
"""
"""A linear system with an observer that corrects its state, and learns the system's matrix."""

TEXTS: Mapping[str, str] = {"elman": ELMAN, "gated": MINIMAL_GATED, "through time": THROUGH_TIME, "observer": OBSERVER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """A program and its sizes: inputs, units and turns. A program of one step has one turn."""

    name: str
    inputs: int
    units: int
    turns: int

    @staticmethod
    def drawn(seed: int) -> Learner:
        """Return a learner of a kind and sizes that are drawn, the same for the same seed."""
        chance = np.random.default_rng(seed)
        name = list(TEXTS)[seed % len(TEXTS)]
        inputs, units, turns = (int(chance.integers(*ends)) for ends in ((3, 25), (6, 41), (3, 7)))
        if name != "through time":
            return Learner(name=name, inputs=inputs, units=units, turns=1)
        return Learner(name=name, inputs=inputs, units=max(4, units // 2), turns=turns)

    @property
    def defines(self) -> dict[str, int]:
        """The constants of the program."""
        sizes = {"m": self.inputs, "n": self.units}
        return sizes if self.turns == 1 else sizes | {"T": self.turns}

    def text(self) -> str:
        """Return the program."""
        return "".join(f"{name} = {value};\n" for name, value in self.defines.items()) + TEXTS[self.name]


def build(learner: Learner, pes: int) -> tabla.Build:
    """Build a learner, and hold the build against the cycle model."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "learner.t"
        file.write_text(learner.text())
        made = tabla.compile(str(file), pes=pes, format="q6.12", force=True)
    hold(made)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each learner, and the median and the worst of the cycles in multiples of the bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, metavar="N")
    parser.add_argument("--pes", type=int, default=PES, metavar="N")
    arguments = parser.parse_args(argv)
    print(HEAD)
    ratios = []
    for learner in (Learner.drawn(seed) for seed in range(arguments.count)):
        made = build(learner, arguments.pes)
        cycles, bound = made.schedule.cycles, made.bound.cycles
        ratios.append(cycles / bound)
        sizes = f"{learner.name:<12} {learner.inputs:>6} {learner.units:>5} {learner.turns:>5}"
        print(f"{sizes} {cycles:>7,} {bound:>7,} {ratios[-1]:>6.2f}", flush=True)
    if ratios:
        print(f"{arguments.pes} PEs: median {median(ratios):.2f}, worst {max(ratios):.2f} times the bound")
    return 0


if __name__ == "__main__":
    sys.exit(main())
