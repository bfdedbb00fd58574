"""The published learning problems: programs with their sizes, and the numbers of PEs on which they are measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tabla.build.options import Options

FOLDER = Path(__file__).resolve().parent
PES = (16, 64, 128)

# The names of the sizes of each program, in the order in which the tables show them. For example `backprop 16-32-3` has
# 16 features, 32 hidden units and 3 classes.
NAMES: Mapping[str, tuple[str, ...]] = {
    "linear": ("features",),
    "logistic": ("features",),
    "svm": ("features",),
    "reco": ("users", "items", "factors"),
    "backprop": ("features", "hidden", "classes"),
}
SIZES: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "linear": ((55,), (784,), (8000,), (16384,)),
    "logistic": ((54,), (200,), (2000,), (6033,)),
    "svm": ((54,), (200,), (1740,), (7129,)),
    "reco": ((138, 130, 10), (1682, 943, 10), (2113, 10197, 20)),
    "backprop": ((8, 16, 3), (16, 32, 3), (61, 128, 4), (64, 128, 10), (351, 1000, 40), (784, 784, 10)),
}
# The kind, the sizes, the samples of a step and the number of PEs.
STEPS: tuple[tuple[str, tuple[int, ...], int, int], ...] = (
    ("linear", (55,), 64, 64),
    ("logistic", (54,), 32, 64),
    ("logistic", (54,), 64, 64),
    ("backprop", (8, 16, 3), 64, 64),
    ("backprop", (16, 32, 3), 32, 64),
    ("backprop", (16, 32, 3), 64, 64),
    ("backprop", (16, 32, 3), 32, 16),
    ("backprop", (64, 128, 10), 32, 64),
    ("backprop", (784, 784, 10), 32, 64),
)
NEURONS = ("linear", "logistic", "svm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A program with its sizes. Each step takes `minibatch` samples."""

    kind: str
    sizes: tuple[int, ...]
    minibatch: int = 1

    @property
    def name(self) -> str:
        """The name in the tables."""
        separator = "x" if self.kind == "reco" else "-"
        step = f", minibatch {self.minibatch}" if self.minibatch > 1 else ""
        return f"{self.kind} {separator.join(map(str, self.sizes))}{step}"

    @property
    def file(self) -> Path:
        """The file of the program."""
        return FOLDER / f"{self.kind}.t"

    @property
    def defines(self) -> dict[str, str | float]:
        """The sizes, as values of the option ``-D``."""
        return {name: str(size) for name, size in zip(NAMES[self.kind], self.sizes, strict=True)}

    def options(self, pes: int) -> Options:
        """Return the options of a build with so many PEs."""
        return Options(pes=pes, defines=self.defines, minibatch=self.minibatch, force=True)

    def words(self, pes: int) -> list[str]:
        """Return the program and the options as words of a command line.

        Some programs need more memory than any known part has.
        """
        sizes = [word for name, size in self.defines.items() for word in ("-D", f"{name}={size}")]
        return [str(self.file), *sizes, "--pes", str(pes), "--minibatch", str(self.minibatch), "--force"]


def problems() -> Iterator[Problem]:
    """Yield every problem in the order of the tables."""
    for kind, every in SIZES.items():
        for sizes in every:
            yield Problem(kind=kind, sizes=sizes)
            if (kind, sizes) == ("linear", (784,)):
                yield Problem(kind=kind, sizes=sizes, minibatch=8)


def minibatches() -> Iterator[tuple[Problem, int]]:
    """Yield the steps of many samples of their own table, each with its number of PEs."""
    for kind, sizes, samples, pes in STEPS:
        yield Problem(kind=kind, sizes=sizes, minibatch=samples), pes
