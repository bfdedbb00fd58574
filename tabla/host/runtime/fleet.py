"""Several devices that learn one model, from a build folder alone (``docs/decisions/0034-fleet.md``)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tabla.base.source import TablaError, TablaTypeError
from tabla.graph.fleet import Models, Played, Samples, Shares, joined
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
        limits = {name: kind.limits for name, kind in self._types.items()}
        self._shares = Shares(devices=len(devices), samples=self.folder.minibatch, limits=limits)
        self._models: dict[str, Words] | None = None
        rate = self.folder.rate
        self._rate: dict[str, ArrayLike] = {} if rate is None else {RATE: float(rate.built)}

    @property
    def step(self) -> int:
        """The samples of a step of all devices."""
        return self._shares.step

    def load(self, models: Mapping[str, ArrayLike] | None = None, /, **named: ArrayLike) -> None:
        """Load the models into all devices, as `Accelerator.load` does. All devices learn at the same rate."""
        own = by_name(models, named, "load")
        if self._models is not None and self._rate and own.keys() == {RATE}:
            own = {**self._reals(self._models), **own}
        given = {**self._rate, **own}
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
        samples = {name: np.asarray(array) for name, array in arrays.items()}
        with ThreadPoolExecutor(len(self.devices)) as threads:
            try:
                for step in self._shares.steps(self._models, samples, partial(self._play, threads)):
                    self._models = step.models
                    done.append(step.results)
            except DeviceFault as fault:
                fault.samples, fault.results = len(done) * self.step, joined(done)
                raise
        return joined(done)

    def models(self) -> dict[str, Reals]:
        """Return the models after the last step that all devices have finished."""
        if self._models is None:
            raise TablaError("no models have been loaded", hint="call load with all models first")
        return self._reals(self._models)

    def close(self) -> None:
        """Give all devices back."""
        for device in self.devices:
            device.close()

    def _reals(self, models: Models) -> dict[str, Reals]:
        return {name: np.asarray(self._types[name].to_reals(words)) for name, words in models.items()}

    def _play(self, threads: ThreadPoolExecutor, models: Models, shares: Sequence[Samples]) -> list[Played]:
        """Have all devices take their shares of a step, at the same time."""
        before = {**self._reals(models), **self._rate}
        under_way = [
            threads.submit(_share, device, before, share) for device, share in zip(self.devices, shares, strict=True)
        ]
        played: list[Played] = []
        for number, future in enumerate(under_way):
            try:
                after, results = future.result()
            except TablaError as fault:
                where = f"device {number + 1} of {len(self.devices)}"
                raise DeviceFault(f"{where}: {fault.message}", hint=fault.hint) from None
            played.append(({name: self._types[name].to_words(array) for name, array in after.items()}, results))
        return played

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _share(
    device: Accelerator, models: Mapping[str, ArrayLike], share: Samples
) -> tuple[dict[str, Reals], dict[str, Reals]]:
    """Have a device take its share of a step. Return its models after it, and its results."""
    device.load(models)
    results = device.run(share)
    return device.models(), results


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
