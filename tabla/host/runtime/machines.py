"""The engines of ``tabla sim`` and boards on a serial line as transports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tabla.base.source import TablaError
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.transport import Counters, DeviceFault, Words

if TYPE_CHECKING:
    from tabla.program.image import Image
    from tabla.sim.machine import Machine, RunResult

SERIAL = "serial:"
SIMULATORS = ("cxxrtl", "verilator", "icarus")
ENGINES = ("model", *SIMULATORS)
SIMULATED, LINE = 120.0, 1.2
"""Seconds that a simulator may take for one request, and for which a board may be silent."""
STEPS = {"model": 256, "cxxrtl": 1024, "verilator": 64, "icarus": 64}
"""The steps of one request. What a request has finished is acknowledged, and a time-out covers one request."""


class MachineTransport:
    """A machine of :mod:`tabla.sim.machine` as a transport. `open_machine` makes one.

    `steps` is the largest number of steps of one request. `stop` ends the machine from another thread; it is called
    `seconds` after the start of a request that has not ended. After a request that failed or was interrupted, a part of
    its answer may still be on the way. So the machine is closed, and every later request is a `DeviceFault`.
    """

    def __init__(
        self, folder: BuildFolder, machine: Machine, steps: int, stop: Callable[[], None] | None, seconds: float
    ) -> None:
        self._folder, self._machine, self._steps = folder, machine, steps
        self._stop, self._seconds = stop, seconds
        self._late = False
        self._dead: str | None = None
        self._now, self._before = Counters(), Counters()

    @property
    def loaded(self) -> bool:
        """A machine has no models when it is opened, unless its memories start with them."""
        return self._machine.image.first is not None

    def load(self, unit: Words) -> None:
        """Load constants and models."""
        with self._watched("load"):
            self._machine.load(unit.reshape(-1, self._beat))
        self._before = self._now

    def run(self, units: Words) -> Iterator[Words]:
        """Run steps, request by request."""
        return self._requests(self._machine.run, "run", units)

    def predict(self, units: Words) -> Iterator[Words]:
        """Run steps that keep the models, request by request."""
        return self._requests(self._machine.predict, "prediction", units)

    def _requests(self, play: Callable[[Words, int], RunResult], what: str, units: Words) -> Iterator[Words]:
        size = len(self._folder.template("result"))
        for first in range(0, len(units), self._steps):
            part = units[first : first + self._steps]
            with self._watched(what):
                found = play(part.reshape(-1, self._beat), len(part))
            self._now = Counters(
                lane_overflows=found.counters.lane_overflows,
                root_overflows=found.counters.root_overflows,
                domain_errors=found.counters.domain_errors,
            )
            yield np.array(found.outputs, dtype=np.int64).reshape(len(part), size)

    def dump(self) -> Words:
        """Return the words of a dump."""
        with self._watched("dump"):
            return np.array(self._machine.dump(self._folder.dump_count), dtype=np.int64)

    def counters(self) -> Counters:
        """Return the events since the last load. A machine counts them since its reset."""
        now, before = self._now, self._before
        return replace(
            now,
            lane_overflows=now.lane_overflows - before.lane_overflows,
            root_overflows=now.root_overflows - before.root_overflows,
            domain_errors=now.domain_errors - before.domain_errors,
        )

    def close(self) -> None:
        """End the simulator, or close the line."""
        self._machine.close()

    @property
    def _beat(self) -> int:
        return self._folder.beat_words

    @contextmanager
    def _watched(self, what: str) -> Iterator[None]:
        """Turn every way in which a machine fails into a `DeviceFault`, and end a request that takes too long."""
        from tabla.sim.model.faults import MachineFault

        if self._dead:
            raise DeviceFault(self._dead, hint="connect again")
        # An exception of any kind may come at any place, so only the end of the request takes this back.
        self._dead = "the last request was interrupted"
        watch = threading.Timer(self._seconds, self._expire) if self._stop else None
        try:
            if watch:
                watch.start()
            yield
            self._dead = None
        except TablaError as fault:
            self._dead = "the last request failed"
            if isinstance(fault, DeviceFault):
                raise
            raise DeviceFault(fault.message, hint=fault.hint) from None
        except (RuntimeError, OSError, AssertionError, MachineFault) as fault:
            self._dead = "the last request failed"
            raise self._failed(what, fault) from fault
        finally:
            if watch:
                watch.cancel()
            if self._dead:
                self._machine.close()

    def _expire(self) -> None:
        self._late = True
        if self._stop:
            self._stop()

    def _failed(self, what: str, fault: Exception) -> DeviceFault:
        if self._late:
            return DeviceFault(
                f"the simulator has not ended a {what} within {self._seconds:g} s, and was stopped",
                hint="give connect a longer timeout, or run fewer samples",
            )
        said = str(fault).strip().splitlines()
        return DeviceFault(
            f"the device fails in a {what}: {said[0] if said else type(fault).__name__}", hint="connect again"
        )


def open_machine(folder: BuildFolder, engine: str, seconds: float | None) -> MachineTransport:
    """Open an engine of `ENGINES`, or the board at ``serial:PATH[@BAUD]``.

    Raises `TablaError` for a tool that is missing, for a board that does not answer or holds another program, and for a
    folder that lacks what the engine needs.
    """
    image = folder.image()
    if engine.startswith(SERIAL):
        from tabla.host.link.machine import SerialMachine

        board = SerialMachine(image, engine, LINE if seconds is None else seconds)
        return MachineTransport(folder, board, board.most, None, 0)
    limit = SIMULATED if seconds is None else seconds
    if engine == "model":
        from tabla.sim.model.cycle_model import CycleModel

        return MachineTransport(folder, CycleModel(image), STEPS[engine], None, limit)
    machine = _simulator(folder, image, engine)
    return MachineTransport(folder, machine, STEPS[engine], machine.stop, limit)


def _simulator(folder: BuildFolder, image: Image, engine: str) -> _Stoppable:
    if engine == "cxxrtl":
        from tabla.host.engines.cxxrtl_run import CxxrtlMachine

        return CxxrtlMachine(image, folder.verilog(), folder.module)
    from tabla.host.engines.cocotb_run import CocotbMachine

    return CocotbMachine(image, folder.verilog(), folder.module, engine)


if TYPE_CHECKING:
    from tabla.host.engines.cocotb_run import CocotbMachine
    from tabla.host.engines.cxxrtl_run import CxxrtlMachine

    _Stoppable = CxxrtlMachine | CocotbMachine
