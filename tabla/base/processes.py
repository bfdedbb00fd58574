"""Programs that this tool starts. None of them, and nothing that they started, outlives the block that started it.

Each program is the head of a process group of its own, so that a compiler ends together with the passes that it
runs. A terminal does not send Ctrl-C to that group, so only this module decides when it ends.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabla.base.interrupts import held

_PATIENCE = 0.5
"""Seconds to wait for killed processes of a group to disappear. The system needs milliseconds, if it is not loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended: its exit status, and all that it wrote to standard output and standard error."""

    status: int
    said: str


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program. The end of the ``with`` block kills it with its group, unless it has ended.

    The pipes of the program are closed, too. `options` are those of :class:`subprocess.Popen`.
    """
    process, line = None, _LifeLine()
    try:
        with held():
            process = subprocess.Popen(command, start_new_session=True, pass_fds=line.inherited, **options)
            line.passed_on()
        yield process
    finally:
        with held():
            if process is not None:
                _end(process, line)
            line.close()


class _LifeLine:
    """A pipe into which nobody writes. Its end tells that all processes are gone that inherited it.

    The system has no other way to wait for grandchildren: a process that was killed still has its number until its
    parent, or the system's first process, asks how it ended, which may take a second.
    """

    def __init__(self) -> None:
        self._ends: list[int] = list(os.pipe()) if os.name == "posix" else []
        self.inherited = tuple(self._ends[1:])

    def passed_on(self) -> None:
        """Close the end that the program has inherited."""
        for end in self._ends[1:]:
            os.close(end)
        del self._ends[1:]

    def await_end(self) -> None:
        """Wait until nobody holds the other end, or until the patience ends."""
        if self._ends:
            select.select(self._ends, [], [], _PATIENCE)

    def close(self) -> None:
        """Close what is open."""
        while self._ends:
            os.close(self._ends.pop())


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that `running` has started, with its group, unless it has ended."""
    # Without a living head the number of the group may belong to somebody else.
    if process.poll() is None:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows has no process groups
            process.kill()


def _end(process: subprocess.Popen[bytes], line: _LifeLine) -> None:
    if process.poll() is None:
        kill(process)
        # The others of the group may still write files for a moment.
        line.await_end()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):  # what was not yet written to a killed program is lost
                pipe.close()
    process.wait()


def run(
    command: Sequence[str], folder: Path | None = None, *, say: str = "", environment: Mapping[str, str] | None = None
) -> Outcome:
    """Run a program in `folder` to its end.

    `say` is its standard input, and `environment` replaces that of this process.
    """
    options: dict[str, Any] = {"cwd": folder, "env": environment}
    options |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with running(command, **options) as process:
        said, _ = process.communicate(say.encode())
        return Outcome(status=process.returncode, said=said.decode("utf-8", errors="replace"))


def run_side_by_side(commands: Sequence[Sequence[str]], folder: Path) -> list[Outcome]:
    """Run programs in `folder` at the same time, each to its end."""
    options = {"cwd": folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    outcomes = []
    with ExitStack() as stack:
        for process in [stack.enter_context(running(command, **options)) for command in commands]:
            said, _ = process.communicate()
            outcomes.append(Outcome(status=process.returncode, said=said.decode("utf-8", errors="replace")))
    return outcomes
