"""What a step of a fleet costs: cycles of one device, and bytes between the host and all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

MEGAHERTZ = 100
"""The clock rate at which samples a second are named; they grow with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """What a step costs with so many `devices`, each of which takes `samples` samples of it.

    `load`, `run` and `dump` are the cycles of the three commands of a step on one device, as the cycle model counts
    them. A single device keeps its models: it has neither load nor dump, and `run` is the step's in the steady state.
    `load_bytes`, `sample_bytes`, `result_bytes` and `dump_bytes` are those of one device. A word takes 1, 2 or 4 bytes,
    as on a host's bus.
    """

    devices: int
    samples: int
    load: int
    run: int
    dump: int
    load_bytes: int
    sample_bytes: int
    result_bytes: int
    dump_bytes: int

    @property
    def cycles(self) -> int:
        """The cycles of a step. All devices work at the same time."""
        return self.load + self.run + self.dump

    @property
    def cycles_per_sample(self) -> int | float:
        """The cycles of a step for each of its samples: whole where it divides, else with three decimals."""
        samples = self.devices * self.samples
        return self.cycles // samples if self.cycles % samples == 0 else round(self.cycles / samples, 3)

    @property
    def bytes(self) -> int:
        """The bytes of a step between the host and all devices."""
        return self.devices * (self.load_bytes + self.sample_bytes + self.result_bytes + self.dump_bytes)

    @property
    def samples_per_second(self) -> int:
        """The samples a second at `MEGAHERTZ`, where every device has a link of a beat a cycle for itself."""
        return int(MEGAHERTZ * 1e6 * self.devices * self.samples / self.cycles)

    def lines(self) -> list[str]:
        """Return what the report of a training run says of its fleet."""
        sizes = f"load {self.load_bytes:,}, samples {self.sample_bytes:,}, dump {self.dump_bytes:,}"
        sizes += f", results {self.result_bytes:,}" if self.result_bytes else ""
        parts = f"load {self.load:,} + run {self.run:,} + dump {self.dump:,}"
        return [
            f"{'devices':<24}{self.devices}, each with {self.samples} of {self.devices * self.samples} samples a step",
            f"{'cycles of a step':<24}{self.cycles:,} = {parts}",
            f"{'samples a second':<24}{self.samples_per_second:,} at {MEGAHERTZ} MHz",
            f"{'bytes of a step':<24}{self.bytes:,}; each device: {sizes}",
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        found = {"cycles": self.cycles, "bytes": self.bytes, "samples_per_second": self.samples_per_second}
        return {**asdict(self), **found}
