"""What every notation makes of a program before it is lowered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.prediction import Prediction
from tabla.graph.unread_parts import Conventions
from tabla.languages.kernel.tree import Kernel
from tabla.languages.preprocess import Preprocessed

Reals = NDArray[np.float64]
Merge = Callable[[Mapping[str, Reals]], dict[str, Reals]]
"""Makes the arrays of models that a file holds those of a program, which may be other arrays."""


class Lower(Protocol):
    """A function that lowers a checked program to its graph."""

    def __call__(self, number_format: Format, results: Sequence[str]) -> Graph:
        """Return the graph, with `results` to return beside what the program returns. Faults are `TablaError`."""


class EvaluateFloat(Protocol):
    """A notation's own meaning in float64, where that says more than the graph's."""

    def __call__(self, arrays: Mapping[str, Reals], calls: int | None) -> dict[str, Reals]:
        """Return results by name, given inputs by name. Where the arrays hold several calls, `calls` is how many of the
        first ones to evaluate.
        """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A program that has been read and checked.

    `name` is the stem of its file. `text` leads from the places of faults back to the file. `ast` gives the checked
    program as text, `kernel` what it says as a kernel, None where there is none, and `lower` its graph.
    `printed_kernel` is the kernel of a program that is not kept as one, and so has no `kernel`.
    `trainable` says that it has models, which are returned with its results.
    `values` are the names that ``--predict`` may ask for. `integers` are the inputs and results whose words are
    integers in every format, and `positions` returns those that are integers in one format. `models` are the values of
    models that the program brings, with what lies beside models in their files, such as ``x.mean``. `merge` makes the
    arrays of models that a file holds those of this program. `labels` are texts
    or numbers that the host returns for the positions that a result has. `scored_by` is the name that data have for
    the labels of a program that brings its models and has no label itself, and `scores` are the values that can be
    compared with it. Of an inference build, `predicts` is its prediction, and `unread` are the tensors of the text that
    it has not, so that data may have them.
    `warnings` are texts about what is legal and
    probably a slip, each with its place and its cure. `conventions` say what the notation's ranges tell of a part of a
    tensor that is never read; without them there is no warning about such parts.
    """

    name: str
    text: Preprocessed = field(repr=False)
    ast: Callable[[], str] = field(repr=False)
    kernel: Callable[[], Kernel] | None = field(default=None, repr=False)
    printed_kernel: Callable[[], Kernel] | None = field(default=None, repr=False)
    lower: Lower = field(repr=False)
    evaluate_float: EvaluateFloat | None = field(default=None, repr=False)
    trainable: bool = False
    values: tuple[str, ...] = ()
    integers: frozenset[str] = frozenset()
    positions: Callable[[Format], frozenset[str]] = field(default=lambda number_format: frozenset(), repr=False)
    models: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    merge: Merge = field(default=dict, repr=False)
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    scored_by: str = ""
    scores: tuple[str, ...] = ()
    unread: frozenset[str] = frozenset()
    predicts: Prediction | None = None
    warnings: tuple[str, ...] = ()
    conventions: Conventions | None = None
