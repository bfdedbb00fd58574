"""The list: which program, at which size, on how many PEs, with which stream of samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tabla.options import Options

FOLDER = Path(__file__).resolve().parent
PES = (16, 64, 128)

# The sizes that each program takes, in the order of its name in the tables: `backprop 16-32-3`.
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
NEURONS = ("linear", "logistic", "svm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A program of the list at a size; `minibatch` samples a step."""

    kind: str
    sizes: tuple[int, ...]
    minibatch: int = 1

    @property
    def name(self) -> str:
        """As the tables call it."""
        separator = "x" if self.kind == "reco" else "-"
        step = f", minibatch {self.minibatch}" if self.minibatch > 1 else ""
        return f"{self.kind} {separator.join(map(str, self.sizes))}{step}"

    @property
    def file(self) -> Path:
        """The program."""
        return FOLDER / f"{self.kind}.t"

    @property
    def defines(self) -> dict[str, str | float]:
        """The sizes, as ``-D`` gives them."""
        return {name: str(size) for name, size in zip(NAMES[self.kind], self.sizes, strict=True)}

    def options(self, pes: int) -> Options:
        """What to ask of a build."""
        return Options(pes=pes, defines=self.defines, minibatch=self.minibatch)

    def words(self, pes: int) -> list[str]:
        """The same for a command line, the program first."""
        sizes = [word for name, size in self.defines.items() for word in ("-D", f"{name}={size}")]
        return [str(self.file), *sizes, "--pes", str(pes), "--minibatch", str(self.minibatch)]


def problems() -> Iterator[Problem]:
    """Every one, in the order of the tables."""
    for kind, every in SIZES.items():
        for sizes in every:
            yield Problem(kind=kind, sizes=sizes)
            if (kind, sizes) == ("linear", (784,)):
                yield Problem(kind=kind, sizes=sizes, minibatch=8)
