"""What every way to a device has in common: five requests, and one kind of error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError

Words = NDArray[np.int64]
"""Signed words of the build's format."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What the accelerator has counted.

    `lane_overflows`, `root_overflows` and `domain_errors` count events since the last load. The others are those of the
    last run, and only a wrapper on a host's bus has them; elsewhere they are None. `samples` counts steps, and the rest
    are cycles: all of them, those in which the array waited for a word, and those in which a word waited for room. A
    run of several packets has the sums.
    """

    lane_overflows: int = 0
    root_overflows: int = 0
    domain_errors: int = 0
    samples: int | None = None
    cycles: int | None = None
    wait_in: int | None = None
    wait_out: int | None = None


class DeviceFault(TablaError):
    """A device does not do what it was told, or has gone.

    Nothing that the device had acknowledged is lost: `samples` is the number of samples that are finished, counted from
    the start of the call that failed, and `results` has their results, as `run` would have returned them. `units` has
    the same as words, for those who call a transport themselves.
    """

    def __init__(self, message: str, *, hint: str | None = None, units: Words | None = None) -> None:
        super().__init__(message, hint=hint)
        self.units = units
        self.samples = 0
        self.results: Mapping[str, NDArray[np.float64]] = _NOTHING


class Transport(Protocol):
    """The way to a device, in units of words. Positions in a unit are those of ``<name>.layout.npz``.

    Every method ends: with an answer, or with a `DeviceFault` after the time-out of the transport.
    """

    @property
    def loaded(self) -> bool:
        """Whether the device has had a load before this host came."""

    def load(self, unit: Words) -> None:
        """Load constants and models; `unit` has the words of one load."""

    def run(self, units: Words) -> Iterator[Words]:
        """Run steps. `units` has shape (steps, words of a sample's unit).

        Yield the results in the order of the steps, each time those of one or more steps that are finished, as an array
        of shape (steps, words of a result's unit).
        """

    def predict(self, units: Words) -> Iterator[Words]:
        """Run steps that keep the models, as `run` does. Only a device that predicts is asked."""

    def dump(self) -> Words:
        """Return the words of a dump."""

    def counters(self) -> Counters:
        """Return what the device has counted."""

    def close(self) -> None:
        """Give the device back."""
