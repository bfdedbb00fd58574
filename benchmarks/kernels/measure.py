"""Measuring a kernel: the figures of ``tabla gen``, and the cycles that the cycle model counts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import tabla
from benchmarks.kernels.problems import FORMAT, LATENCY, PES, Kernel, kernels
from tabla.build.arrays import shapes_of
from tabla.schedule.bound import full, plain_path

CALLS = 3
HEAD = (
    f"{f'kernels, mostly at {PES} PEs':<40} {'cycles':>8} {'counted':>8} {'bound':>8} {'ratio':>7}  {'binding':<10}"
    f" {'multipliers':>13} {'aim':>7} {'peer':>8} {'latency':>8} {'path':>6} {'ratio':>5} {'gen s':>6}  busiest"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """The figures of a kernel.

    `cycles` are predicted, `counted` were counted on the cycle model, and `bound` is the full lower bound, all per call
    in the steady state. `latency` is in cycles, and `path` the plain path, below which no latency is. It is None where
    the search does not make the latency small, and for programs with constraints. `use` is the share of the multiplier
    slots of the lanes in which a product is computed, from 0 to 1, and `aim` the least value that is asked for. `most`
    is the most cycles that are asked for. `peer` is the number of cycles of another tool. `seconds` is the processor
    time of compiling. `busiest` works in the share `busy` of the cycles.
    """

    name: str
    cycles: int
    counted: int
    bound: int
    binding: str
    use: float
    aim: float | None
    most: int | None
    peer: int | None
    latency: int
    path: int | None
    seconds: float
    busiest: str
    busy: float

    @property
    def met(self) -> bool:
        """Whether the aims are reached, or there are none."""
        reached = (self.aim is None or self.use >= self.aim) and (self.most is None or self.cycles <= self.most)
        return reached and (self.path is None or self.latency <= LATENCY * self.path)

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**asdict(self), "met": self.met}

    def line(self) -> str:
        """Return the row as a line of the table."""
        aim = f"<= {self.most}" if self.most else "" if self.aim is None else f"{self.aim:.0%}"
        peer = "" if self.peer is None else f"{self.peer:,}"
        counts = f"{self.cycles:>8,} {self.counted:>8,} {self.bound:>8,} {self.cycles / self.bound:>7.2f}"
        path = f"{'':>12}" if self.path is None else f"{self.path:>6,} {self.latency / self.path:>5.2f}"
        rest = f"{self.use:>13.1%} {aim:>7} {peer:>8} {self.latency:>8,} {path} {self.seconds:>6.1f}"
        rest += f"  {self.busiest} {self.busy:.0%}"
        return f"{self.name:<40} {counts}  {self.binding:<10} {rest}  {'' if self.met else 'MISSED'}".rstrip()


def measure(kernel: Kernel) -> KernelRow:
    """Compile a kernel, run a few calls on the cycle model, and compare every word with the evaluation."""
    began = time.process_time()
    array: dict[str, Any] = {"pes": kernel.pes, "stream_words": kernel.stream_words, "objective": kernel.objective}
    build = tabla.compile(kernel.program, sizes=kernel.sizes, keep=kernel.keep, format=FORMAT, **array)
    _ = build.verilog
    seconds = time.process_time() - began
    chance = np.random.default_rng(1)
    inputs = {
        # The integers of these kernels are positions in tensors.
        name: chance.integers(0, min(kernel.sizes.values()), (CALLS, *shape))
        if name in build.reading.integers
        else chance.uniform(-1, 1, shape if name in kernel.keep else (CALLS, *shape))
        for name, shape in shapes_of(build.sample, "input", "model").items()
    }
    done = build.simulate(inputs, samples=CALLS)
    question = build.graph, build.schedule.template, build.format
    found, report = full(*question), build.report()
    return KernelRow(
        name=kernel.name,
        cycles=build.schedule.cycles,
        counted=done.cycles_simulated,
        bound=found.cycles,
        binding=found.binding,
        use=build.schedule.utilisation,
        aim=kernel.aim,
        most=kernel.most,
        peer=kernel.peer,
        latency=build.schedule.latency,
        path=plain_path(*question) if kernel.objective == "latency" else None,
        seconds=seconds,
        busiest=report.busiest,
        busy=report.busy,
    )


def bench_kernels(chosen: Iterable[Kernel] | None = None) -> Iterator[KernelRow]:
    """Yield the row of each kernel as soon as it is measured."""
    for kernel in chosen if chosen is not None else kernels():
        yield measure(kernel)
