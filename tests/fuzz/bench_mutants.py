"""The test bench that `gen` writes against faults in its own Verilog: ``python -m tests.fuzz.bench_mutants``."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tabla
from tests.fuzz.equivalence import proved_equivalent
from tests.fuzz.mutation_page import PAGE, page
from tests.fuzz.verdicts import judged, keep, keep_only, known
from tests.fuzz.verilog_mutants import Mutant, mutants

NETWORK = """n = 5; k = 6; m = 3;
mu = 0.125;
model_input x[n]; model_output y[m];
model u[k][n], w[m][k];
gradient gu[k][n] -> u, gw[m][k] -> w;
iterator i[0:n]; iterator j[0:k]; iterator o[0:m];
h[j] = sigmoid(sum[i](u[j][i] * x[i]));
p[o] = sigmoid(sum[j](w[o][j] * h[j]));
e[o] = p[o] - y[o];
gw[o][j] = e[o] * h[j];
d[j] = sum[o](w[o][j] * e[o]) * (1 - h[j]) * h[j];
gu[j][i] = d[j] * x[i];
"""
"""A 5-6-3 network."""
_LONGEST = 300.0
"""Seconds after which a bench counts as hung, which is a fault that it found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the bench found a fault, and in how many seconds. `equivalent` says that no bench can: it is proved that
    the hardware behaves as before.
    """

    mutant: Mutant
    killed: bool
    seconds: float
    equivalent: bool = False


def network(folder: Path) -> Path:
    """Write the output folder of the network on 4 PEs, and return it."""
    program = folder / "net.t"
    program.write_text(NETWORK, encoding="utf-8")
    return tabla.compile(program, pes=4, results=("p",)).write(folder / "out")


def run_bench(folder: Path) -> bool:
    """Return whether the test bench of an output folder passes."""
    run = [sys.executable, str(folder / "tb" / "run.py")]
    try:
        return subprocess.run(run, capture_output=True, timeout=_LONGEST, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def verdicts(folder: Path, count: int, seed: int, skip: frozenset[str] = frozenset()) -> Iterator[Verdict]:
    """Run the bench of an output folder on so many faults of its Verilog, but on none of those in `skip`."""
    verilog = folder / "net.v"
    reset_cycles = json.loads((folder / "net.json").read_text(encoding="utf-8"))["reset_cycles"]
    for mutant in mutants(verilog.read_text(encoding="utf-8"), count, seed):
        if mutant.key in skip:
            continue
        with tempfile.TemporaryDirectory(prefix="tabla-mutant-") as home:
            copy = Path(shutil.copytree(folder, Path(home) / "out"))
            (copy / "net.v").write_text(mutant.text, encoding="utf-8")
            began = time.monotonic()
            passes = run_bench(copy)
            seconds = time.monotonic() - began
            sound = verilog.read_text(encoding="utf-8")
            equivalent = passes and proved_equivalent(sound, mutant, reset_cycles)
            yield Verdict(mutant=mutant, killed=not passes, seconds=seconds, equivalent=equivalent)


def main() -> None:
    """Judge the faults that were not judged yet, and write the page with the verdicts on all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    # The bench was written with the faults of the first seed in sight. Those of any other one show whether it fits them
    # alone.
    campaign = "bench" if asked.seed == 1 else "bench, drawn anew"
    with tempfile.TemporaryDirectory(prefix="tabla-mutants-") as home:
        folder = network(Path(home))
        drawn = mutants((folder / "net.v").read_text(encoding="utf-8"), asked.count, asked.seed)
        keep_only(campaign, [mutant.key for mutant in drawn])
        for verdict in verdicts(folder, asked.count, asked.seed, skip=frozenset(judged(campaign))):
            mutant = verdict.mutant
            record = {
                "file": "net.v",
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
                "caught": verdict.killed,
                "equivalent": verdict.equivalent,
                "seconds": round(verdict.seconds, 1),
            }
            keep(campaign, asked.count, mutant.key, record)
            word = "found" if verdict.killed else "no fault" if verdict.equivalent else "MISSED"
            print(f"{word} in {verdict.seconds:.0f} s, line {mutant.line}:", flush=True)
            print(f"  {mutant.before}\n  {mutant.after}", flush=True)
    PAGE.write_text(page(known()), encoding="utf-8")


if __name__ == "__main__":
    main()
