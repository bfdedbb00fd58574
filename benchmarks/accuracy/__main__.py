"""The benchmark of ``make bench-accuracy``: accuracy on held-out data by number format.

python -m benchmarks.accuracy [--seeds 20] [--only iris,wine] [--cells 'auto16;10 bits, G 8'] [--missing]
    [--json FILE] [--page FILE]

``--seeds N`` measures the split seeds 0 to N - 1, and ``--seeds A:B`` those from A to B - 1. ``--only`` names problems,
and ``--cells`` cells, separated by semicolons. FILE keeps the outcomes that it has, unless they are measured again, so
a long run can be done in parts; ``--missing`` measures only what it does not have. ``--page`` names a page whose tables
are written anew from FILE. With ``--seeds 0`` nothing is measured.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.accuracy.measure import CELLS, Bench
from benchmarks.accuracy.problems import PROBLEMS, SEEDS
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.table import rewrite

ORDER = dict.fromkeys(PROBLEMS, CELLS)


def measure(names: Sequence[str], seeds: Sequence[int], cells: Sequence[str], file: Path, *, missing: bool) -> None:
    """Measure cells of problems, and write the file after every split seed."""
    for name in names:
        bench = Bench(problem=PROBLEMS[name])
        for seed in seeds:
            known = Results.read(file)
            wanted = [cell for cell in cells if not (missing and seed in known.runs(name, cell))]
            if not wanted:
                continue
            began = time.perf_counter()
            found = dict(bench.measure(seed, wanted))
            Results.put(file, name, seed, found, ORDER)
            print(f"{name}, split {seed}: {len(found)} cells in {time.perf_counter() - began:.1f} s", flush=True)


def main(words: list[str]) -> int:
    """Measure, keep what was measured, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy")
    parser.add_argument("--seeds", default=str(SEEDS))
    parser.add_argument("--only", default="")
    parser.add_argument("--cells", default="")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/accuracy.json"))
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args(words)
    first, colon, last = asked.seeds.rpartition(":")
    names = [name.strip() for name in asked.only.split(",") if name.strip()] or list(PROBLEMS)
    cells = [cell.strip() for cell in asked.cells.split(";") if cell.strip()] or list(CELLS)
    for stranger in [*(set(names) - set(PROBLEMS)), *(set(cells) - set(CELLS))]:
        parser.error(f"there is no problem and no cell '{stranger}'; there are {', '.join(PROBLEMS)}")
    measure(names, range(int(first) if colon else 0, int(last)), cells, asked.json, missing=asked.missing)
    if asked.page:
        rewrite(asked.page, Results.read(asked.json), list(PROBLEMS.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
