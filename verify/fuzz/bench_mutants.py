"""The test bench that `gen` writes against faults in its own Verilog: ``python -m verify.fuzz.bench_mutants``.

First the bench judges all faults that are drawn. Then those that it has missed are compared with the hardware without a
fault. Each step keeps its verdicts, so a run goes on where an earlier one has ended.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tabla
from verify.fuzz.equivalence import proved_equivalent
from verify.fuzz.mutation_page import PAGE, page
from verify.fuzz.planting import ROOT
from verify.fuzz.verdicts import judged, keep, keep_only, known
from verify.fuzz.verilog_mutants import Mutant, mutants

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
FUNCTIONS = """def functions(float(N,M) X) -> (Y, S) {
  S(n) +=! X(n, m) * X(n, m)
  Y(n, m) = tanh(X(n, m)) * S(n) + fmax(X(n, m), 0.25)
}
"""
"""A kernel with a function, which has no model."""
_LONGEST = 120
"""Seconds of processor time after which a bench counts as hung, which is a fault that it found. A bench without a fault
takes 9.
"""
_NO_END = 7200.0
"""Seconds after which a bench counts as hung that waits and takes no time of a processor."""


def network(folder: Path) -> Path:
    """Write the output folder of the network on 4 PEs, and return it."""
    program = folder / "net.t"
    program.write_text(NETWORK, encoding="utf-8")
    return tabla.compile(program, pes=4, results=("p",)).write(folder / "out")


def logistic(folder: Path) -> Path:
    """Write the output folder of the logistic regression of the examples on 4 PEs, and return it."""
    return tabla.compile(ROOT / "examples" / "logistic.t", pes=4).write(folder / "out")


def functions(folder: Path) -> Path:
    """Write the output folder of a kernel with a function on 4 PEs, and return it."""
    program = folder / "functions.tc"
    program.write_text(FUNCTIONS, encoding="utf-8")
    return tabla.compile(program, pes=4, sizes={"N": 3, "M": 4}).write(folder / "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """So many faults of the Verilog of a build, drawn with a seed. `made` writes the output folder of the build."""

    made: Callable[[Path], Path]
    count: int
    seed: int


DRAWINGS: Mapping[str, Drawing] = {
    "bench": Drawing(made=network, count=48, seed=1),
    "bench, drawn anew": Drawing(made=network, count=24, seed=2),
    "bench, third": Drawing(made=network, count=48, seed=4),
    "bench, fourth": Drawing(made=network, count=48, seed=6),
    "bench, fresh": Drawing(made=network, count=48, seed=8),
    "bench, logistic": Drawing(made=logistic, count=12, seed=1),
    "bench, functions": Drawing(made=functions, count=12, seed=1),
}
"""The drawings of the page, by the names under which their verdicts are kept."""


def _limit() -> None:
    """Limit the time of this process, and of each that it starts, which others on the machine do not lengthen."""
    resource.setrlimit(resource.RLIMIT_CPU, (_LONGEST, _LONGEST))


def run_bench(folder: Path) -> bool:
    """Return whether the test bench of an output folder passes."""
    run = [sys.executable, str(folder / "tb" / "run.py")]
    try:
        return subprocess.run(run, capture_output=True, timeout=_NO_END, preexec_fn=_limit, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def verilog_of(folder: Path) -> Path:
    """Return the Verilog of an output folder."""
    (found,) = folder.glob("*.v")
    return found


def found_by_bench(folder: Path, mutant: Mutant) -> bool:
    """Return whether the bench of an output folder finds a fault in its Verilog."""
    with tempfile.TemporaryDirectory(prefix="tabla-mutant-") as home:
        copy = Path(shutil.copytree(folder, Path(home) / "out"))
        verilog_of(copy).write_text(mutant.text, encoding="utf-8")
        return not run_bench(copy)


def changes_nothing(folder: Path, mutant: Mutant) -> bool:
    """Return whether it is proved that a fault in the Verilog of an output folder changes nothing."""
    verilog = verilog_of(folder)
    manifest = json.loads(verilog.with_suffix(".json").read_text(encoding="utf-8"))
    return proved_equivalent(verilog.read_text(encoding="utf-8"), mutant, manifest["reset_cycles"])


def verdicts(folder: Path, drawn: list[Mutant], given: Mapping[str, Any]) -> Iterator[tuple[Mutant, dict[str, Any]]]:
    """Yield the verdict on each fault that has none among those that are `given`, and then on each that was missed and
    that nobody has yet tried to prove to change nothing.
    """
    found = dict(given)
    for mutant in drawn:
        if mutant.key not in found:
            began = time.monotonic()
            caught = found_by_bench(folder, mutant)
            found[mutant.key] = {
                "file": verilog_of(folder).name,
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
                "caught": caught,
                "seconds": round(time.monotonic() - began, 1),
            }
            yield mutant, found[mutant.key]
    for mutant in drawn:
        verdict = found[mutant.key]
        if not verdict["caught"] and "equivalent" not in verdict:
            yield mutant, {**verdict, "equivalent": changes_nothing(folder, mutant)}


def told(mutant: Mutant, verdict: Mapping[str, Any]) -> str:
    """Return what is printed of a verdict."""
    missed = {True: "no fault", False: "MISSED", None: "missed, not compared yet"}[verdict.get("equivalent")]
    said = "found" if verdict["caught"] else missed
    return f"{said}, line {mutant.line}:\n  {mutant.before}\n  {mutant.after}"


def main() -> None:
    """Judge what was not judged yet of the drawings of the page, and write the page; or judge another drawing."""
    parser = argparse.ArgumentParser(prog="python -m verify.fuzz.bench_mutants", description=__doc__)
    parser.add_argument("--only", choices=sorted(DRAWINGS), help="one of the drawings of the page")
    parser.add_argument("--count", type=int, help="at most so many faults of each drawing")
    parser.add_argument("--seed", type=int, help="draw others, which are not kept")
    asked = parser.parse_args()
    for name, drawing in DRAWINGS.items():
        if asked.only in (None, name):
            _run(name, drawing, asked.count or drawing.count, asked.seed)
    PAGE.write_text(page(known()), encoding="utf-8")


def _run(name: str, drawing: Drawing, count: int, seed: int | None) -> None:
    """Judge a drawing of the page, or another one of the same build."""
    with tempfile.TemporaryDirectory(prefix="tabla-mutants-") as home:
        folder = drawing.made(Path(home))
        text = verilog_of(folder).read_text(encoding="utf-8")
        if seed is not None:
            for mutant, verdict in verdicts(folder, mutants(text, count, seed), {}):
                print(told(mutant, verdict), flush=True)
            return
        keep_only(name, [mutant.key for mutant in mutants(text, drawing.count, drawing.seed)])
        for mutant, verdict in verdicts(folder, mutants(text, count, drawing.seed), judged(name)):
            keep(name, drawing.count, mutant.key, verdict)
            print(f"{name}: {told(mutant, verdict)}", flush=True)


if __name__ == "__main__":
    main()
