"""Workers on the cores of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from tabla.base.source import TablaError
from tabla.learn.explore.question import Question, Record, answer
from tabla.learn.explore.space import Task

_DEATHS = 2
"""How often a worker may die over a task before the exploration ends."""


def _deaf() -> None:
    """Leave Ctrl-C to the process that started this one, and let SIGTERM end this one at once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """Processes of this machine, `count` of them."""

    count: int

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        """Yield the tasks with their figures as they are made.

        When a worker dies, all tasks that are left are done one at a time, each by a process of its own, so that the
        one that kills its worker is named in a `TablaError`.
        """
        if self.count == 1 or len(tasks) == 1:
            yield from ((task, answer(question, task)) for task in tasks)
            return
        left = list(tasks)
        try:
            for task, found in self._pooled(question, left, self.count):
                left.remove(task)
                yield task, found
        except BrokenProcessPool:
            yield from self._one_by_one(question, left)

    def _pooled(self, question: Question, tasks: Sequence[Task], count: int) -> Iterator[tuple[Task, Record]]:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(count, len(tasks)), mp_context=context, initializer=_deaf)
        try:
            under_way: dict[Future[Record], Task] = {pool.submit(answer, question, task): task for task in tasks}
            while under_way:
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield under_way[future], future.result()
                    del under_way[future]
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _one_by_one(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        for task in tasks:
            for death in range(_DEATHS):
                try:
                    yield from self._pooled(question, [task], 1)
                    break
                except BrokenProcessPool:
                    if death + 1 == _DEATHS:
                        raise TablaError(
                            f"a worker process died over {task.point.name}",
                            hint="the memory of this machine may be too small for two workers: try --workers 1",
                        ) from None


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
