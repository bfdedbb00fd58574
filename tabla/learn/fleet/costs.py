"""What a step of a fleet costs, in cycles and in bytes, and how that scales with the number of devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from tabla.base.layout import laid_out
from tabla.base.source import TablaError
from tabla.build.stages import Stages
from tabla.learn.fleet.share import share_of
from tabla.learn.fleet.step_cost import StepCost
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.schedule.strands.streams import dump_words
from tabla.sim.model.cycle_model import CycleModel

DEVICES = (1, 2, 4, 8, 16)
"""The numbers of devices that a table of `scaling` has."""
_CONTAINERS = (8, 16, 32)


def step_cost(share: Stages, devices: int) -> StepCost:
    """Return what a step costs whose `devices` have the build `share`."""
    schedule, image, host = share.schedule, share.image, Host(share.schedule)
    container = next(bits for bits in _CONTAINERS if bits >= share.format.width) // 8
    words = image.parameters.stream_words
    dumped = host.dump_count * dump_words(schedule.template, schedule.mapped.model_guard)
    load, run, dump = (0, schedule.cycles, 0) if devices == 1 else _counted(image, host.dump_count)
    return StepCost(
        devices=devices,
        samples=share.lowered.samples,
        load=load,
        run=run,
        dump=dump,
        load_bytes=image.stream_load.beats * words * container if devices > 1 else 0,
        sample_bytes=image.stream_run.beats * words * container,
        result_bytes=image.run.outputs * container,
        dump_bytes=dumped * container if devices > 1 else 0,
    )


def _counted(image: Image, dump_count: int) -> tuple[int, int, int]:
    """Return the cycles of a load, of a run of one step, and of a dump. No word changes them, so all words are 0."""
    model, words = CycleModel(image), image.parameters.stream_words
    times = [model.cycles]
    model.load(np.zeros((image.stream_load.beats, words), dtype=np.int64))
    times.append(model.cycles)
    model.run(np.zeros((image.stream_run.beats, words), dtype=np.int64), 1)
    times.append(model.cycles)
    model.dump(dump_count)
    times.append(model.cycles)
    load, run, dump = (after - before for before, after in pairwise(times))
    return load, run, dump


def scaling(build: Stages, devices: Sequence[int] = DEVICES) -> tuple[StepCost, ...]:
    """Return what a step of `build` costs with each number of devices that its minibatch divides among."""
    if not build.sample.updates:
        raise TablaError(f"--scaling: '{build.name}' has no gradient, so it takes no steps", hint="leave it out")
    return tuple(
        step_cost(build if number == 1 else share_of(build, number), number)
        for number in devices
        if build.options.minibatch % number == 0
    )


def scaling_lines(costs: Sequence[StepCost], width: int | None = None) -> Iterator[str]:
    """Yield the table of `scaling`, which fits `width` columns. Its end is the rate in multiples of the first row's."""
    rows: list[tuple[str, ...]] = [
        ("devices", "samples each", "load", "run", "dump", "bytes a step", "samples/s", "times")
    ]
    for cost in costs:
        numbers = (cost.samples, cost.load, cost.run, cost.dump, cost.bytes, cost.samples_per_second)
        times = cost.samples_per_second / costs[0].samples_per_second
        rows.append((str(cost.devices), *(f"{number:,}" for number in numbers), f"{times:.2f}"))
    if costs:
        yield from ("", *laid_out(rows, width))
