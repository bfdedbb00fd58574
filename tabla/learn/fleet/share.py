"""The program of one device of a fleet: the same program, with a minibatch of its share of the samples."""

from __future__ import annotations

from dataclasses import replace

from tabla.base.source import TablaError
from tabla.build.stages import Stages
from tabla.learn.fleet.devices import DEVICES


def share_of(build: Stages, devices: int) -> Stages:
    """Return the build of each of so many `devices` that take the steps of `build` together.

    The learning rate is that of a sample, so a share of a step is a step with fewer samples, and nothing else changes.
    Raises `TablaError` for a program that takes no steps, and for a minibatch that the devices do not divide.
    """
    if not build.sample.updates:
        raise TablaError(
            f"--devices: '{build.reading.text.original.name}' has no gradient, so it takes no steps",
            hint="leave --devices out",
        )
    size = build.options.minibatch
    if size % devices:
        below, above = size - size % devices, size - size % devices + devices
        most = DEVICES.high or size
        fitting = [n for n in range(2, min(size, most) + 1) if size % n == 0]
        fewer = f", or --devices {max((n for n in fitting if n <= devices), default=1)}" if fitting else ""
        raise TablaError(
            f"a minibatch of {size} samples does not divide among {devices} devices",
            hint=f"use --minibatch {f'{below} or {above}' if below else above}{fewer}",
        )
    return Stages(
        name=build.name,
        options=replace(build.options, minibatch=size // devices),
        reading=build.reading,
        template=build.template,
        format=build.format,
        format_choice=build.format_choice,
    )
