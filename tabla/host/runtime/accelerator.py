"""An accelerator as a host sees it: arrays in, arrays out, whatever carries them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.graph.rate import RATE
from tabla.graph.words import Reals
from tabla.host.runtime.codec import Codec
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.transport import Counters, DeviceFault, Transport, Words


class Accelerator:
    """A device that runs the program of a build folder. `tabla.runtime.connect` makes one; it is a context
    manager.

    Arrays hold real numbers under the names of the program. Arrays of samples have one leading axis of samples. All
    faults of arrays are found before anything is sent. A device that fails is a `DeviceFault`.
    """

    def __init__(self, folder: BuildFolder, transport: Transport) -> None:
        self.folder = folder
        self._transport = transport
        self._codec = Codec(folder)
        self._loaded, self._closed = transport.loaded, False
        rate = folder.rate
        self._rate: dict[str, ArrayLike] = {} if rate is None else {RATE: float(rate.built)}

    def load(self, models: Mapping[str, ArrayLike] | None = None, /, **named: ArrayLike) -> None:
        """Load the models, each in the shape that the program gives it; a program has to get all of them.

        Of a build with ``--runtime-rate``, `mu` is the learning rate of the runs that follow. Without it, the rate of
        the load before stays, at first the one that was compiled. With `mu` alone the models stay, too: they are read
        from the device, and loaded again. Loading also sets the counters of events to 0.
        """
        self._check_open()
        own = by_name(models, named, "load")
        if self._rate and own.keys() == {RATE}:
            own = {**self.models(), **own}
        given = {**self._rate, **own}
        unit = self._codec.load_unit(given)
        self._loaded = False  # until the device says otherwise, its models are undefined
        self._transport.load(unit)
        self._loaded = True
        if self.folder.rate is not None:
            self._rate = {RATE: given[RATE]}

    def run(
        self, given: Mapping[str, ArrayLike] | SupportsIndex | None = None, /, **named: ArrayLike
    ) -> dict[str, Reals]:
        """Run samples in order and return their results by name.

        Inputs and labels are given by keyword, or as a mapping. A number instead is the number of steps of a program
        that has no inputs. A single sample may be given without the leading axis; its results then have none either.
        A `DeviceFault` holds the results of all samples that are finished.
        """
        self._check_open()
        units, stacked = self._units(given, named, "run")
        return self._results(self._transport.run, units, stacked)

    def predict(
        self, given: Mapping[str, ArrayLike] | SupportsIndex | None = None, /, **named: ArrayLike
    ) -> dict[str, Reals]:
        """Return the results of samples, and keep the models as they are (PREDICT).

        Samples are given as for `run`, without the labels and without every other input that no result depends on.
        These may be given, and are ignored. The counters of events count only what the results need. A program that
        does not learn changes no models, so its prediction is a run. Raises `TablaError` for a program that learns and
        does not predict.
        """
        self._check_open()
        prediction = self.folder.prediction
        if prediction is None:
            raise TablaError(
                f"'{self.folder.name}' does not predict: its array was built without PREDICT",
                hint="name the results with tabla gen --result, without an overlay, or run the samples",
            )
        units, stacked = self._units(given, named, "predict")
        return self._results(self._transport.predict if prediction.holds else self._transport.run, units, stacked)

    def _results(self, play: Callable[[Words], Iterator[Words]], units: Words, stacked: bool) -> dict[str, Reals]:
        """Have the device play units of samples, and return their results by name."""
        if not self._loaded:
            self._load_constants()
        done: list[Words] = []
        try:
            for results in play(units) if len(units) else ():
                done.append(results)
        except DeviceFault as fault:
            self._keep(fault, done)
            raise
        return self._codec.results(self._joined(done), stacked=stacked)

    def stream(self, blocks: Iterable[Mapping[str, ArrayLike]]) -> Iterator[dict[str, Reals]]:
        """Run data that is larger than the memory: blocks of samples, each a mapping as `run` takes it.

        Yield the results of each block as soon as the device has finished it. `blocks` is read one block at a time.
        """
        if hasattr(blocks, "keys") or not isinstance(blocks, Iterable):
            raise TablaTypeError(
                f"stream takes blocks of samples, not one object of type {type(blocks).__name__}",
                hint="give a list or a generator of mappings; run takes a single one",
            )
        return (self.run(block) for block in blocks)

    def models(self) -> dict[str, Reals]:
        """Return the models as they are now."""
        self._check_open()
        if not self._codec.models:
            return {}
        if not self._loaded:
            raise TablaError("no models have been loaded", hint="call load with all models first")
        return self._codec.dumped(self._transport.dump())

    @property
    def counters(self) -> Counters:
        """What the device has counted."""
        self._check_open()
        return self._transport.counters()

    def close(self) -> None:
        """Give the device back. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._transport.close()

    def _check_open(self) -> None:
        if self._closed:
            raise TablaError("the accelerator is closed", hint="call connect again")

    def _units(
        self, given: Mapping[str, ArrayLike] | SupportsIndex | None, named: Mapping[str, ArrayLike], call: str
    ) -> tuple[Words, bool]:
        steps, inputs = _steps(given), self._codec.needed if call == "predict" else self._codec.inputs
        if steps is not None:
            if isinstance(given, (bool, np.bool_)) or inputs or named or steps < 0:
                names = ", ".join(inputs) or "none"
                raise TablaError(f"{given} is no number of steps of this program", hint=f"its inputs are {names}")
            try:
                return np.zeros((steps, len(self.folder.template("sample"))), dtype=np.int64), True
            except (MemoryError, ValueError, OverflowError):
                hint = "run fewer steps, several times"
                raise TablaValueError(f"{steps} steps do not fit into the memory", hint=hint) from None
        arrays = by_name(given, named, call)
        if not inputs and (call == "predict" or not arrays):
            what = "the program has no inputs" if call == "run" else "the results need no inputs"
            raise TablaError(what, hint=f"give the number of steps, as in {call}(5)")
        return self._codec.prediction_units(arrays) if call == "predict" else self._codec.sample_units(arrays)

    def _load_constants(self) -> None:
        if self._codec.models:
            raise TablaError("no models have been loaded", hint="call load with all models first")
        self.load({})

    def _joined(self, parts: list[Words]) -> Words:
        return np.concatenate([np.zeros((0, len(self.folder.template("result"))), dtype=np.int64), *parts])

    def _keep(self, fault: DeviceFault, done: list[Words]) -> None:
        """Give a fault the results that the device had acknowledged."""
        whole = self._joined(done + ([] if fault.units is None else [fault.units]))
        fault.units = whole
        fault.samples = len(whole) * self.folder.minibatch
        fault.results = self._codec.results(whole)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _steps(given: object) -> int | None:
    """Return a number of steps, which may be one of numpy; None for anything else."""
    if isinstance(given, np.bool_):
        return int(given)
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def by_name(given: Any, named: Mapping[str, ArrayLike], call: str) -> dict[str, ArrayLike]:
    """Return the arrays of a call by their names. What has keys will do, such as a table of pandas."""
    if given is not None and not hasattr(given, "keys"):
        raise TablaTypeError(
            f"{call} takes arrays by their names, not one object of type {type(given).__name__}",
            hint=f"write {call}(name=array), or {call}({{'name': array}})",
        )
    return dict(named) if given is None else {**given, **named}
