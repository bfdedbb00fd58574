"""Measuring the TableGen front end on the intrinsics of LLVM, which have 14,854 defs.

They took 1.7 to 1.9 seconds of processor time in Python 3.11, and llvm-tblgen 14 takes 0.1. By a profile, a quarter of
that time is the loop of the LR parser, a tenth is the lexer, and another quarter puts template arguments into records.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.process import measured

INCLUDE = Path("/usr/lib/llvm-14/include")
FILE = INCLUDE / "llvm" / "IR" / "Intrinsics.td"
MOST_SECONDS, MOST_MEGABYTES = 10.0, 1000.0


def bench_records() -> dict[str, Any]:
    """Return the processor time and the peak memory, or `missing` if Debian's package llvm-14-dev is not installed."""
    if not FILE.is_file():
        return {"missing": "llvm-14-dev is not installed"}
    return asdict(measured(["tblgen", str(FILE), "-I", str(INCLUDE), "-o", os.devnull]))
