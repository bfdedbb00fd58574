"""Measuring the time and the peak memory of a command that runs in a process of its own.

The kernel counts the memory of the parent process into the peak of its child. So this file, run as a small program,
starts the command and prints the measured values.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The time of a command by the clock and on the processor, in seconds, and its peak memory in 10^6 bytes."""

    seconds: float
    processor_seconds: float
    megabytes: float


def measured(words: Sequence[str]) -> Usage:
    """Run ``python -m tabla WORDS`` and drop its output. A failure of the command is an AssertionError."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__, *words], stdout=subprocess.PIPE, env=os.environ, check=True
    )
    found = json.loads(done.stdout)
    assert found.pop("status") == 0, f"tabla {' '.join(words)} failed"
    return Usage(**found)


def _main(words: list[str]) -> None:
    began = time.perf_counter()
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "tabla", *words],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - began
    found = {"status": status, "seconds": seconds, "processor_seconds": usage.ru_utime + usage.ru_stime}
    print(json.dumps({**found, "megabytes": usage.ru_maxrss * 1024 / 1e6}))


if __name__ == "__main__":
    _main(sys.argv[1:])
