"""Workers of a Dask cluster: those of a scheduler that is named by its address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from tabla.base.cluster import client_of, identity, stranger, workers_of, workers_there
from tabla.base.source import TablaError
from tabla.learn.explore.question import Question, Record, answer
from tabla.learn.explore.space import Task

_CONNECT, _MOMENT = 15.0, 2.0
"""The most seconds that a scheduler may take to answer, and those that it always has."""
_LOOK = 1.0
"""Seconds after which tasks are looked at that may have taken too long."""


def answered(question: Question, task: Task, expected: str) -> Record:
    """Answer a task on a worker. A worker of another version computes nothing: its record has its `stranger`."""
    if identity() != expected:
        return {"stranger": identity()}
    return answer(question, task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The workers of the Dask scheduler at `address`.

    Dask gives a task of a worker that dies to another one, until four have died over it. A task that takes
    longer than `patience` seconds is given to another worker once more. `remark` takes lines about such events.
    """

    address: str
    patience: float = 600.0
    remark: Callable[[str], None] | None = None

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        """Yield the tasks with their figures as they are made.

        A scheduler that does not answer, a cluster without workers, workers of another version, and a task that no
        worker can do are a `TablaError`, which names the address.
        """
        with client_of(self.address, self._answering) as client:
            workers_of(client, self.address, self._answering)
            yield from self._answers(client, question.packed(), tasks)

    @property
    def _answering(self) -> float:
        """Seconds within which the scheduler has to answer, and in which a first worker has to be there."""
        # A worker that has just begun needs a moment, however short the points may take.
        return min(max(self.patience, _MOMENT), _CONNECT)

    def _answers(self, client: Any, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        import distributed

        finished: Any = distributed.wait
        sent = client.scatter(question, broadcast=True, hash=False)
        watch = _Watch(patience=self.patience, remark=self.remark or _silent)
        open_ = {self._submit(client, sent, task): task for task in tasks}
        while open_:
            try:
                with client.as_current():
                    done = finished(list(open_), timeout=_LOOK, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = set()
            # The order of the tasks, not that of a set: messages then do not depend on the hash seed.
            for future in [future for future in open_ if future in done]:
                task = open_.pop(future)
                yield task, self._result(client, future, task)
            try:
                late = watch.overdue(client, list(open_))
            except (OSError, CancelledError, ValueError):  # whatever the client says when nobody answers
                raise _gone(self.address) from None
            for future in late:
                task = open_.pop(future)
                others = watch.others(client, future, task)
                future.cancel(force=True)
                open_[self._submit(client, sent, task, others)] = task

    def _submit(self, client: Any, sent: Any, task: Task, workers: Sequence[str] | None = None) -> Any:
        return client.submit(answered, sent, task, identity(), pure=False, workers=workers, retries=0)

    def _result(self, client: Any, future: Any, task: Task) -> Record:
        from distributed import KilledWorker

        try:
            found: Record = future.result()
        except KilledWorker as fault:
            raise TablaError(
                f"workers died over {task.point.name}, the last one at '{fault.last_worker.address}'",
                hint="see what the worker says; its memory may be too small",
            ) from None
        except CancelledError:
            raise _gone(self.address) from None
        if "stranger" in found:
            places = client.who_has([future]).get(future.key) or ("",)
            raise stranger(places[0], found["stranger"])
        return found


@dataclass(slots=True, kw_only=True)
class _Watch:
    """Sees which tasks take too long. Only the time on a worker counts, and not that of waiting for one."""

    patience: float
    remark: Callable[[str], None]
    _began: dict[str, tuple[str, float]] = field(default_factory=dict)
    _late: dict[Task, str] = field(default_factory=dict)

    def overdue(self, client: Any, futures: Sequence[Any]) -> list[Any]:
        """Return the futures that have been with one worker for longer than the patience lasts."""
        now, found = time.monotonic(), dict[str, tuple[str, float]]()
        for worker, keys in client.processing().items():
            for key in keys:
                before = self._began.get(str(key))
                found[str(key)] = before if before and before[0] == worker else (worker, now)
        self._began = found
        return [f for f in futures if f.key in found and now - found[f.key][1] > self.patience]

    def others(self, client: Any, future: Any, task: Task) -> list[str]:
        """Return the workers that may try a task again. A second one that takes too long is a `TablaError`."""
        worker = self._began[future.key][0]
        left = [name for name in (workers_there(client) or ()) if name != worker]
        if task in self._late or not left:
            first = f" and '{self._late[task]}'" if task in self._late else ""
            raise TablaError(
                f"{task.point.name} takes more than {self.patience:g} s at '{worker}'{first}",
                hint="give it more time with --timeout",
            )
        self._late[task] = worker
        self.remark(f"note: '{worker}' takes more than {self.patience:g} s; another worker tries {task.point.name}")
        return sorted(left)


def _gone(address: str) -> TablaError:
    """Return the error of a scheduler that has gone during an exploration."""
    return TablaError(
        f"the Dask scheduler at '{address}' has gone",
        hint="start it again; with -o, the exploration goes on where it stopped",
    )


def _silent(_: str) -> None:
    """Ignore a remark."""
