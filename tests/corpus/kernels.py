"""The kernels of ``tests/corpus/kernels`` and of ``tests/programs/tc``, each with inputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabla.base.source import Source
from tabla.languages.tc import Function, parse
from tests.corpus.loops import Array
from tests.corpus.reader import Reader

ROOM = Path(__file__).parent / "kernels"
_MARKED = re.compile(r"^#! ?(.*)\n\s*def (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One ``def`` of a file, its sizes, and the ranges of its inputs; other inputs are drawn from -1.5 to 1.5."""

    file: str
    text: str
    name: str
    sizes: dict[str, int]
    draws: dict[str, tuple[float, float]]

    @property
    def function(self) -> Function:
        """The product's reading of the kernel."""
        return parse(Source.from_text(self.text, self.file)).function(self.name)

    def draw(self, seed: int) -> dict[str, np.ndarray[Any, Any]]:
        """Inputs from a seed; reals are multiples of 1/256, so that words hold them exactly."""
        random = np.random.default_rng(seed)
        found: dict[str, np.ndarray[Any, Any]] = {}
        definition = Reader(self.text).definitions()[self.name]
        given = {name: (kind, dimensions) for name, kind, dimensions in definition.inputs}
        for name, tensor in self.function.tensors.items():
            if tensor.initial:
                given[name] = ("float", [*self.function.statements[0].indices])  # type: ignore[union-attr]
        for name, (kind, dimensions) in given.items():
            shape = [self.sizes[d.upper()] if d.upper() in self.sizes else int(d) for d in dimensions]
            low, high = self.draws.get(name, (-1.5, 1.5))
            if kind == "bool":
                found[name] = random.random(shape) < 0.5
            elif "int" in kind:
                found[name] = random.integers(int(low), int(high), shape)
            else:
                found[name] = np.asarray(np.round(random.uniform(low, high, shape) * 256) / 256)
        return found


def _kernels() -> dict[str, Kernel]:
    found = {}
    for path in sorted(ROOM.glob("*.tc")):
        blocks = re.split(r"^(?=#!)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        named = {_MARKED.findall(block)[0][1]: block for block in blocks}
        for name, block in named.items():
            marks = _MARKED.findall(block)[0][0]
            # A function that it calls stands before it.
            called = [other for other in named if other != name and re.search(rf"\b{other}\(", block)]
            text = "".join(named[other] for other in (*called, name))
            sizes: dict[str, int] = {}
            draws: dict[str, tuple[float, float]] = {}
            for mark in marks.split():
                key, _, value = mark.partition("=")
                if ":" in value:
                    low, high = map(float, value.split(":"))
                    draws[key] = low, high
                else:
                    sizes[key] = int(value)
            found[f"{path.stem}:{name}"] = Kernel(path.name, text, name, sizes, draws)
    return found


KERNELS = _kernels()


def array_of(values: np.ndarray[Any, Any]) -> Array:
    """A numpy array as the interpreter of loops takes it."""
    elements = {tuple(map(int, at)): value.item() for at, value in np.ndenumerate(values)}
    return Array(elements, [(0, extent) for extent in values.shape])
