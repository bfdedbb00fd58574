"""The learning rate among the models that a user gives (decision 23).

Users give the rate itself, under the name `RATE`. The graph has its mantissa there, which differs by a power of two.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Arrays, Reals
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.rate import RATE


def built_rate(graph: Graph) -> dict[str, Reals]:
    """Return the rate with which the program was compiled, by its name; nothing without ``--runtime-rate``."""
    return {} if graph.rate is None else {RATE: np.asarray(float(graph.rate.built))}


def with_mantissa(graph: Graph, number_format: Format, models: Arrays) -> dict[str, Reals]:
    """Return the models with the mantissa in the place of the rate.

    Raises `TablaError` for a rate that the word does not hold.
    """
    if graph.rate is None:
        return dict(models)
    mantissa = graph.rate.mantissa(float(models[RATE]), number_format)
    return {**models, RATE: np.asarray(float(mantissa))}


def without_rate(graph: Graph, models: Mapping[str, NDArray[np.float64]]) -> dict[str, Reals]:
    """Return the models that learn, and those that stay as they are, without the rate."""
    return {name: array for name, array in models.items() if graph.rate is None or name != RATE}
