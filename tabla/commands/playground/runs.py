"""The runs of the playground: at most one process works at a time, and a new run ends the one before it.

The main thread starts and ends the processes (`Runs.work`), because it is the thread that signals interrupt. The
threads of the server ask for runs, stop them, and read what they have found.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import tabla
from tabla.base.processes import running
from tabla.commands.playground.request import Request

JOB = "tabla.commands.playground.job"
RUNNING, DONE, FAULT, STOPPED, REPLACED = "running", "done", "fault", "stopped", "replaced"
"""The states of a run. One is replaced if another one was asked for before its end."""
_POLL = 0.5
"""Seconds after which the main thread looks for signals, on systems where nothing else wakes it."""
_LAST_LINES = 25


class Run:
    """What is known of a run. Every method may be called by any thread.

    A snapshot has a version, which grows with every change.
    """

    def __init__(self, number: int, request: Request) -> None:
        self.number, self.request = number, request
        self._changed = threading.Condition()
        self._version, self._state, self._step = 0, RUNNING, "starting"
        self._fault: dict[str, Any] | None = None
        self._warnings: list[str] = []
        self._notes: list[str] = []
        self._results: dict[str, tuple[int, str]] = {}

    def take(self, message: Mapping[str, Any]) -> None:
        """Take a message of the job, unless the run has ended."""
        with self._changed:
            if self._state != RUNNING:
                return
            self._version += 1
            match message:
                case {"step": str(step)}:
                    self._step = step
                case {"warning": str(warning)}:
                    self._warnings.append(warning)
                case {"note": str(note)}:
                    self._notes.append(note)
                case {"result": str(name), "text": str(text)}:
                    self._results[name] = (self._version, text)
                case {"fault": str(text)}:
                    self._fault = {"text": text, "places": message.get("places", [])}
            self._changed.notify_all()

    def end(self, state: str) -> None:
        """Say that the run has ended."""
        with self._changed:
            self._version += 1
            self._state = FAULT if self._fault and state == DONE else state
            self._changed.notify_all()

    def snapshot(self, after: int = -1, patience: float = 0.0) -> dict[str, Any]:
        """Return what is known, as JSON values, as soon as its version is above `after`, or after `patience` seconds.

        `results` has the version of each result, by name.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._version > after, patience)
            return {
                "run": self.number,
                "version": self._version,
                "state": self._state,
                "step": self._step,
                "fault": self._fault,
                "warnings": list(self._warnings),
                "notes": list(self._notes),
                "results": {name: version for name, (version, _) in self._results.items()},
            }

    def result(self, name: str) -> str | None:
        """Return a result, or None if there is none of that name."""
        with self._changed:
            return self._results[name][1] if name in self._results else None


@dataclass(frozen=True, slots=True)
class _Stop:
    """Somebody wants that the run of this number ends."""

    number: int


@dataclass(frozen=True, slots=True)
class _End:
    """The job of the run of this number has closed its output."""

    number: int


class Runs:
    """The runs of a server, of which the last one is kept."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[Run | _Stop | _End] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._last: Run | None = None

    def start(self, request: Request) -> Run:
        """Ask for a run, which ends the one before it. Any thread may call this method."""
        with self._lock:
            self._last = run = Run(1 if self._last is None else self._last.number + 1, request)
            self._inbox.put(run)
        return run

    def stop(self, number: int) -> None:
        """Ask for the end of a run, unless it has ended. Any thread may call this method."""
        self._inbox.put(_Stop(number))

    def find(self, number: int) -> Run | None:
        """Return a run, or None if it is not the last one. Any thread may call this method."""
        last = self._last
        return last if last is not None and last.number == number else None

    def work(self) -> NoReturn:
        """Carry out one run after the other, until a signal ends the command. Only the main thread may call this."""
        following: Run | None = None
        while True:
            asked = following or self._next()
            following = self._carry_out(asked) if isinstance(asked, Run) else None

    def _next(self) -> Run | _Stop | _End:
        while True:
            with suppress(queue.Empty):
                return self._inbox.get(timeout=_POLL)

    def _carry_out(self, run: Run) -> Run | None:
        """Carry out a run to its end. Return the run that was asked for meanwhile and has ended it, if there is one."""
        with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as folder:
            said = Path(folder, "errors")
            with (
                said.open("wb") as errors,
                running(
                    [sys.executable, "-P", "-m", JOB],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=folder,
                    env=_environment(folder),
                ) as process,
            ):
                threading.Thread(target=self._listen, args=(run, process), daemon=True).start()
                ended, following = self._await(run.number)
                status = process.wait() if ended else 0
            if status:
                last = said.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
                text = f"error: the run ended with status {status}, which is a fault of tabla"
                run.take({"fault": "\n".join([text, *last])})
        run.end(DONE if ended else STOPPED if following is None else REPLACED)
        return following

    def _listen(self, run: Run, process: subprocess.Popen[bytes]) -> None:
        """Tell the job what is asked for, and take its messages until it has closed its output."""
        assert process.stdin is not None
        assert process.stdout is not None
        # A job that is killed reads and writes no more.
        with suppress(OSError, ValueError):
            process.stdin.write(json.dumps(run.request.as_json()).encode())
            process.stdin.close()
            for line in process.stdout:
                run.take(json.loads(line))
        self._inbox.put(_End(run.number))

    def _await(self, number: int) -> tuple[bool, Run | None]:
        """Wait until a run has ended, is stopped, or another one is asked for.

        Return whether it has ended by itself, and the other run.
        """
        while True:
            match self._next():
                case Run() as other:
                    return False, other
                case _End(number=ended) if ended == number:
                    return True, None
                case _Stop(number=stopped) if stopped == number:
                    return False, None


def _environment(folder: str) -> dict[str, str]:
    """Return the environment of a job: it finds this tabla, and writes into temporary folders alone.

    The cache is shared by the runs of a server, and removed with its temporary folder.
    """
    package = str(Path(tabla.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    cache = str(Path(tempfile.gettempdir(), "cache"))
    return {**os.environ, "PYTHONPATH": path, "TABLA_CACHE": cache, "TMPDIR": folder}
