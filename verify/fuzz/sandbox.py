"""Runs many small cases in processes of their own, within limits, and says how each of them ended.

A process is forked for a number of cases, so that a case which crashes it, or never ends, takes no other case along.
Linux alone has what this module needs: ``fork``, and ``/proc/self`` for the memory of one case.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TypeVar

from tabla.base.source import TablaError

SECONDS = 5.0
"""The processor time that a case may take."""
BYTES = 1_000_000_000
"""The memory that a case may take beside what its process had before."""
_BATCH = 400
"""The cases that one process runs at most."""
_ADDRESSES = 6 * BYTES
"""The address space of a process. A case that asks for more gets a MemoryError, which is reported as a traceback."""
_PATIENCE = 40 * SECONDS
"""The seconds without a sign of life after which a process is killed. The machine may have other work."""

Case = TypeVar("Case")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a case ended.

    `kind` is ``result``, ``refused`` (with the whole text of the error in `said`), or a fault of ours: ``unplaced`` (an
    error that names neither a place nor a cure), ``traceback``, ``slow``, ``large`` or ``died``.
    """

    kind: str
    said: str = ""
    seconds: float = 0.0
    bytes: int = 0

    @property
    def faulty(self) -> bool:
        """Whether the case shows a fault of ours."""
        return self.kind not in ("result", "refused")


class _TooSlow(BaseException):
    """Raised in a case that has had its time. No handler for `Exception` may take it."""


def _alarm(_: int, __: FrameType | None) -> None:
    raise _TooSlow


def _peak() -> int:
    """Return the largest memory of this process since `_forget_peak`, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def outcome(run: Callable[[Case], object], case: Case) -> Outcome:
    """Run one case in this process, under its limits of time and memory.

    Raises nothing of what the case raises. The signal of the limit is SIGPROF.
    """
    _forget_peak()
    held, began = _peak(), time.process_time()
    previous = signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    kind, said = "result", ""
    try:
        run(case)
    except TablaError as fault:
        kind, said = _judged(fault)
    except _TooSlow:
        kind, said = "slow", traceback.format_exc(limit=-12)
    except BaseException:
        kind, said = "traceback", traceback.format_exc(limit=-12)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    seconds, taken = time.process_time() - began, max(0, _peak() - held)
    if kind in ("result", "refused") and seconds > SECONDS:
        kind = "slow"
    elif kind in ("result", "refused") and taken > BYTES:
        kind = "large"
    return Outcome(kind=kind, said=said, seconds=seconds, bytes=taken)


def _judged(fault: TablaError) -> tuple[str, str]:
    """Return the kind of an error, and its text. Each error has a place, or the name of a file, or a cure."""
    every = (fault, *fault.more)
    sound = all(one.message and (one.labels or one.hint or "'" in one.message) for one in every)
    return "refused" if sound else "unplaced", str(fault)


def outcomes(run: Callable[[Case], object], cases: Sequence[Case]) -> Iterator[Outcome]:
    """Yield the outcome of every case, in order. `run` does a case, and returns or raises as the tool would."""
    done = 0
    while done < len(cases):
        batch = cases[done : done + _BATCH]
        received = 0
        for found in _forked(run, batch):
            yield found
            received += 1
        if received < len(batch) and (received == 0 or not found.faulty):
            yield Outcome(kind="died", said=f"the process ended in the middle of the case {done + received}")
            received += 1
        done += received


def _forked(run: Callable[[Case], object], batch: Sequence[Case]) -> Iterator[Outcome]:
    """Yield the outcomes that a process of its own comes to. It ends after a case that was too slow or too large."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(run, batch, writing)
    os.close(writing)
    rest = b""
    try:
        while select.select([reading], [], [], _PATIENCE)[0]:
            text = os.read(reading, 1 << 16)
            if not text:
                break
            *lines, rest = (rest + text).split(b"\n")
            for line in lines:
                yield Outcome(**json.loads(line))
    finally:
        os.close(reading)
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(child, 0)


def _serve(run: Callable[[Case], object], batch: Sequence[Case], writing: int) -> None:
    """Run the cases in the forked process, and end it."""
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        with os.fdopen(writing, "wb", buffering=0) as stream:
            for case in batch:
                found = outcome(run, case)
                stream.write(json.dumps(asdict(found)).encode() + b"\n")
                if found.kind in ("slow", "large"):
                    break  # a thread of the case may still run, and its memory may still be held
        status = 0
    finally:
        os._exit(status)
