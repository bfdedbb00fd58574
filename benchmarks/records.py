"""Our TableGen on LLVM's intrinsics: 14,854 defs, in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

INCLUDE = Path("/usr/lib/llvm-14/include")
FILE = INCLUDE / "llvm" / "IR" / "Intrinsics.td"
MOST_SECONDS, MOST_MEGABYTES = 10.0, 1000.0


def bench_records() -> dict[str, Any]:
    """Seconds on the processor and peak memory; `missing` where Debian's llvm-14-dev is not installed."""
    if not FILE.is_file():
        return {"missing": "llvm-14-dev is not installed"}
    began = time.perf_counter()
    words = ["-m", "tabla", "tblgen", str(FILE), "-I", str(INCLUDE), "-o", os.devnull]
    process = os.posix_spawn(sys.executable, [sys.executable, *words], os.environ)
    _, status, usage = os.wait4(process, 0)
    assert status == 0, "tblgen failed"
    return {
        "seconds": time.perf_counter() - began,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
    }
