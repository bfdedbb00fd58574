"""Simulated accelerators on the workers of a Dask cluster: each worker has one machine, and calls of it travel there.

The models of a fleet lie at its host, so a machine that is lost takes nothing with it but the share that it was given.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tabla.base.cluster import client_of, scheduler_gone, workers_of, workers_there
from tabla.base.parameters import Whole, checked_text, checked_whole
from tabla.base.source import LostError, TablaError
from tabla.host.engines.session import checked_engine, open_machine
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.sim.machine import BeatRows, Machine, RunResult, Stalls

ANSWER = 1.5
"""Seconds within which a scheduler answers, and after which a worker that has gone is missed."""
_LOOK = 0.25
"""Seconds between two looks whether a worker is still there."""
PATIENCE = 120.0
"""Seconds that a call may take on a worker that is there."""
Fault = tuple[type[TablaError], str, str | None]
_HERE: dict[str, Machine] = {}
"""The machines of this process, if it is a worker, by their keys."""


def opened(key: str, image: Image, engine: str, module: str, overlay: Overlay | None) -> None:
    """Open a machine on the worker that runs this."""
    _HERE[key] = open_machine(image, engine, module, overlay)


def called(key: str, method: str, *arguments: Any) -> Any:
    """Call a method of a machine on the worker that runs this."""
    if key not in _HERE:
        raise LostError("the worker was started anew, and its machine is lost", hint="start the training again")
    return getattr(_HERE[key], method)(*arguments)


def closed(key: str) -> None:
    """Close a machine on the worker that runs this."""
    if key in _HERE:
        _HERE.pop(key).close()


def answered(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Fault | None]:
    """Return what a function returns, or the class, the message and the hint of the `TablaError` that it raises."""
    try:
        return function(*arguments), None
    except TablaError as fault:
        return None, (type(fault), fault.message, fault.hint)


@dataclass(slots=True, kw_only=True, eq=False)
class WorkerMachine(Machine):
    """A machine on the worker at the address `worker` of a cluster. It is a machine like any other.

    A worker that has gone is a `LostError` within two seconds, and so is one that takes longer than `patience` seconds
    for a call.
    """

    image: Image
    client: Any
    worker: str
    patience: float = PATIENCE
    _key: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)

    @property
    def name(self) -> str:
        """Where the machine is, for messages."""
        return f"the worker at '{self.worker}'"

    def open(self, engine: str, module: str, overlay: Overlay | None) -> None:
        """Open the machine on its worker."""
        self._ask(opened, self._key, self.image, engine, module, overlay)

    def load(self, beats: BeatRows) -> None:
        """Load the model words and constants."""
        self._ask(called, self._key, "load", beats)

    def run(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Compute samples."""
        found: RunResult = self._ask(called, self._key, "run", beats, samples, stalls)
        return found

    def predict(self, beats: BeatRows, samples: int, stalls: Stalls | None = None) -> RunResult:
        """Compute samples, and keep the models."""
        found: RunResult = self._ask(called, self._key, "predict", beats, samples, stalls)
        return found

    def dump(self, count: int) -> list[int]:
        """Return the words of a dump."""
        found: list[int] = self._ask(called, self._key, "dump", count)
        return found

    def close(self) -> None:
        """Close the machine on its worker. A worker that has gone has closed it."""
        self.patience = ANSWER
        try:
            self._ask(closed, self._key)
        except TablaError:
            return

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have the worker call a function, and return what it returns."""
        if self.client.status == "closed":  # it closes itself when the scheduler has gone
            raise scheduler_gone()
        future = self.client.submit(
            answered, function, arguments, pure=False, workers=[self.worker], allow_other_workers=False, retries=0
        )
        end = time.monotonic() + self.patience
        while True:
            try:
                found, fault = future.result(timeout=_LOOK)
                break
            except TimeoutError:
                self._check(future, end)
            except (CancelledError, OSError):
                raise scheduler_gone() from None
        if fault is not None:
            kind, message, hint = fault
            raise kind(message, hint=hint)
        return found

    def _check(self, future: Any, end: float) -> None:
        """Raise `LostError` if the worker has gone or has had its time, and `TablaError` if the scheduler has gone."""
        workers = workers_there(self.client)
        if workers is None:
            raise scheduler_gone() from None
        gone = self.worker not in workers
        if not gone and time.monotonic() < end:
            return
        if gone:
            raise LostError("it has gone", hint="start another worker, and then the training again")
        future.cancel(force=True)
        raise LostError(f"it has not answered for {self.patience:g} s", hint="look what the worker does")


@contextmanager
def machines(
    image: Image, module: str, overlay: Overlay | None, address: str, engine: str, most: int
) -> Iterator[list[WorkerMachine]]:
    """Open a machine of an image on each worker of the cluster at `address`, but at most so many.

    `module` is the name of its Verilog module. A scheduler that does not answer, a cluster without workers, and a
    worker of another version are a `TablaError`.
    """
    checked_text("scheduler", address, "tcp://host:8786")
    checked_whole("count", most, Whole(low=1))
    checked_engine(engine)
    with client_of(address, ANSWER) as client, ExitStack() as begun:
        found = []
        for worker in workers_of(client, address, ANSWER)[:most]:
            machine = WorkerMachine(image=image, client=client, worker=worker)
            begun.callback(machine.close)
            try:
                machine.open(engine, module, overlay)
            except TablaError as fault:
                raise TablaError(f"{machine.name}: {fault.message}", hint=fault.hint) from None
            found.append(machine)
        yield found
