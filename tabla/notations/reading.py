"""What every notation becomes before it is lowered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.lang.preprocess import Preprocessed

Reals = NDArray[np.float64]


class Lower(Protocol):
    """Checked program -> graph."""

    def __call__(self, number_format: Format, results: Sequence[str]) -> Graph:
        """The graph, with `results` to return beside what the program returns; faults are `TablaError`."""


class EvaluateFloat(Protocol):
    """A notation's own meaning in float64, where that says more than the graph's."""

    def __call__(self, arrays: Mapping[str, Reals], calls: int | None) -> dict[str, Reals]:
        """Results by name, given inputs by name; `calls` are how many of the first, when arrays hold several."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A program that has been read and checked.

    `name` is the stem of its file; `text` leads from the places of faults back to the file; `trainable` says that it
    has models, which are returned with its results; `values` are the names that ``--predict`` may ask for;
    `integers` are the inputs and results whose words are integers.
    """

    name: str
    text: Preprocessed = field(repr=False)
    ast: Callable[[], str] = field(repr=False)
    lower: Lower = field(repr=False)
    evaluate_float: EvaluateFloat | None = field(default=None, repr=False)
    trainable: bool = False
    values: tuple[str, ...] = ()
    integers: frozenset[str] = frozenset()
