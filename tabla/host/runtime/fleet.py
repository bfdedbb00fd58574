"""Several devices that learn one model, from a build folder alone (``docs/decisions/0034-fleet.md``)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tabla.base.source import TablaError, TablaTypeError
from tabla.graph.fleet import combined
from tabla.graph.rate import RATE
from tabla.graph.words import Reals
from tabla.host.runtime.accelerator import Accelerator, by_name
from tabla.host.runtime.codec import Codec
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.machines import STEPS, MachineTransport
from tabla.host.runtime.transport import DeviceFault, Words


class Fleet:
    """Accelerators of one program that share every step; it is a context manager, and closes them.

    A step has the minibatches of all devices: with folders of ``--minibatch 16``, four devices take steps of 64
    samples. Each device starts from the same models, and the host adds up what they have learnt
    (:mod:`tabla.graph.fleet`). The models lie at the host, so a device that fails takes nothing with it: `models`
    returns those after the last step that all devices have finished, and another fleet may go on from them.
    """

    def __init__(self, devices: Sequence[Accelerator]) -> None:
        if not isinstance(devices, Sequence) or not all(isinstance(device, Accelerator) for device in devices):
            raise TablaTypeError("a fleet is a list of accelerators", hint="write Fleet([connect(...), connect(...)])")
        if not devices or len({id(device) for device in devices}) < len(devices):
            raise TablaError("a fleet has one or more devices, each of them once", hint="connect each device")
        self.devices = tuple(devices)
        self.folder = devices[0].folder
        for number, device in enumerate(devices):
            if device.folder.fingerprint != self.folder.fingerprint:
                raise TablaError(
                    f"device {number + 1} runs '{device.folder.path}', and device 1 '{self.folder.path}': these are"
                    " different builds",
                    hint="connect all devices with the same folder",
                )
        self._codec = Codec(self.folder)
        self._types = {name: self._codec.model_type(name) for name in self._codec.models}
        self._models: dict[str, Words] | None = None
        rate = self.folder.rate
        self._rate: dict[str, ArrayLike] = {} if rate is None else {RATE: float(rate.built)}

    @property
    def step(self) -> int:
        """The samples of a step of all devices."""
        return self.folder.minibatch * len(self.devices)

    def load(self, models: Mapping[str, ArrayLike] | None = None, /, **named: ArrayLike) -> None:
        """Load the models into all devices, as `Accelerator.load` does. All devices learn at the same rate."""
        given = {**self._rate, **by_name(models, named, "load")}
        for device in self.devices:
            device.load(given)
        if self._rate:
            self._rate = {RATE: given[RATE]}
        self._models = {name: kind.to_words(given[name]) for name, kind in self._types.items()}

    def run(self, given: Mapping[str, ArrayLike] | None = None, /, **named: ArrayLike) -> dict[str, Reals]:
        """Learn from samples in order, and return their results by name. Arrays have a leading axis of samples.

        A device that fails is a `DeviceFault`, which names it and holds the results of all steps that are finished.
        """
        if self._models is None:
            raise TablaError("no models have been loaded", hint="call load with all models first")
        arrays = by_name(given, named, "run")
        units, stacked = self._codec.sample_units(arrays)  # every fault of the arrays is found here
        count = len(units) * self.folder.minibatch
        if not stacked or not count or count % self.step:
            raise TablaError(
                f"{count} samples do not fill steps of {self.step}, the minibatches of {len(self.devices)} devices",
                hint=f"give a multiple of {self.step} samples, with a leading axis",
            )
        done: list[dict[str, Reals]] = []
        with ThreadPoolExecutor(len(self.devices)) as threads:
            for first in range(0, count, self.step):
                try:
                    done.append(self._learnt(threads, arrays, first))
                except DeviceFault as fault:
                    fault.samples, fault.results = first, _joined(done)
                    raise
        return _joined(done)

    def models(self) -> dict[str, Reals]:
        """Return the models after the last step that all devices have finished."""
        if self._models is None:
            raise TablaError("no models have been loaded", hint="call load with all models first")
        return {name: np.asarray(self._types[name].to_reals(words)) for name, words in self._models.items()}

    def close(self) -> None:
        """Give all devices back."""
        for device in self.devices:
            device.close()

    def _learnt(self, threads: ThreadPoolExecutor, arrays: Mapping[str, ArrayLike], first: int) -> dict[str, Reals]:
        """Take one step, and return its results."""
        assert self._models is not None
        before, size = {**self.models(), **self._rate}, self.folder.minibatch
        under_way = [
            threads.submit(_share, device, before, {n: np.asarray(a)[at : at + size] for n, a in arrays.items()})
            for device, at in zip(self.devices, range(first, first + self.step, size), strict=True)
        ]
        after, results = [], []
        for number, future in enumerate(under_way):
            try:
                models, found = future.result()
            except TablaError as fault:
                where = f"device {number + 1} of {len(self.devices)}"
                raise DeviceFault(f"{where}: {fault.message}", hint=fault.hint) from None
            after.append({name: self._types[name].to_words(array) for name, array in models.items()})
            results.append(found)
        for name, words in self._models.items():
            self._models[name] = combined(words, [each[name] for each in after], self._types[name].limits)[0]
        return _joined(results)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _share(
    device: Accelerator, models: Mapping[str, ArrayLike], share: Mapping[str, ArrayLike]
) -> tuple[dict[str, Reals], dict[str, Reals]]:
    """Have a device take its share of a step. Return its models after it, and its results."""
    device.load(models)
    results = device.run(share)
    return device.models(), results


def _joined(parts: Sequence[Mapping[str, Reals]]) -> dict[str, Reals]:
    return {name: np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())}


@contextmanager
def on_workers(
    build_folder: str | os.PathLike[str], scheduler: str, count: int, *, engine: str = "model"
) -> Iterator[list[Accelerator]]:
    """Give `count` accelerators of a build folder, simulated by the workers of the Dask scheduler at an address.

    Each worker has one of them, so there have to be as many workers. The image travels to them, and ``cxxrtl`` needs
    its tools there. A scheduler or worker that is not there is a `TablaError` within two seconds.
    """
    from tabla.host.workers import machines

    folder = BuildFolder.open(build_folder)
    with machines(folder.image(), folder.module, None, scheduler, engine, count) as found:
        if len(found) < count:
            raise TablaError(
                f"the Dask scheduler at '{scheduler}' has {len(found)} workers, and {count} devices are asked for",
                hint=f"start more with 'dask worker {scheduler}', or ask for fewer devices",
            )
        steps = STEPS.get(engine, 1)
        yield [Accelerator(folder, MachineTransport(folder, machine, steps, None, 0)) for machine in found]
