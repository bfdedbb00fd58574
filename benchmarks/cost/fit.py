"""Fitting the prices of the estimate: for each kind of part the least squares of what its cells are, with no price
below 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.cost.designs import design
from benchmarks.cost.measure import Row
from tabla.cost.estimate import sizes

_SHARED = {"group": "controls"}
"""Kinds of parts whose cells have the names of another kind."""
_RIDGE = 5e-5
"""How strongly prices are drawn towards 0, as a share of the largest value. It decides what the data leave open."""
_COUNTED = ("distributed", "at_hand", "ahead", "ranks")
"""Sizes that are numbers of LUT4s: those of distributed RAM. Their price is 1, also where no design shows it."""
RESOURCES = ("LUT", "FF")
Prices = dict[str, float]


def _kind(name: str) -> str:
    kind = name.partition(".")[0]
    return _SHARED.get(kind, kind)


def fitted(rows: Sequence[Row], all_sizes: Mapping[str, Mapping[str, float]]) -> tuple[Prices, Prices]:
    """Return the prices in LUT4s and in flip-flops. `all_sizes` has the sizes of each design, by its name.

    Errors count by their share of the whole design, because an estimate is held to a share of it.
    """
    found: tuple[Prices, Prices] = ({}, {})
    names = sorted({name for row in rows for name in all_sizes[row["design"]]})
    for kind in sorted({_kind(name) for name in names}):
        own = [name for name in names if _kind(name) == kind]
        values = np.array([[all_sizes[row["design"]].get(name, 0.0) for name in own] for row in rows])
        largest = np.where(values.max(axis=0) > 0, values.max(axis=0), 1.0)
        for number, resource in enumerate(RESOURCES):
            weights = np.array([1 / row["taken"][resource] for row in rows])
            cells = np.array([row["cells"].get(kind, [0, 0])[number] for row in rows], dtype=float)
            counted = [resource == "LUT" and name.partition(".")[2] in _COUNTED for name in own]
            found[number].update({name: 1.0 for name, known in zip(own, counted, strict=True) if known})
            cells -= values @ np.array(counted, dtype=float)
            scaled = values * ~np.array(counted) / largest * weights[:, None]
            ridge = np.eye(len(own)) * np.abs(scaled).max() * _RIDGE
            prices, _ = nnls(np.vstack([scaled, ridge]), np.concatenate([cells * weights, np.zeros(len(own))]))
            found[number].update(
                {name: float(f"{price:.4g}") for name, price in zip(own, prices / largest, strict=True) if price > 1e-9}
            )
    return found


def sizes_of(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """Return the sizes of the designs of some rows, by their names. The designs are compiled, functions are not."""
    return {row["design"]: row.get("sizes") or sizes(design(row["draw"]).build().image) for row in rows}


def line_through(rates: Sequence[float], causes: Sequence[Sequence[float]]) -> list[float]:
    """Return the base and the costs of a clock model, none below 0, by least squares of relative errors."""
    weights = 1 / np.array(rates)
    values = np.column_stack([np.ones(len(rates)), -np.array(causes, dtype=float)])
    # The base may be anything above 0, and so may the costs: all are found by one fit without negative numbers.
    shifted, _ = nnls(values * weights[:, None], np.ones(len(rates)))
    return [float(f"{value:.4g}") for value in shifted]


def as_content(luts: Prices, flip_flops: Prices, clocks: Mapping[str, Any], command: str, draws: list[int]) -> Any:
    """Return the table of the package as JSON values."""
    from tabla.cost.estimate import SCHEMA

    return {
        "schema": SCHEMA,
        "command": command,
        "draws": draws,
        "luts": luts,
        "flip_flops": flip_flops,
        "clocks": dict(clocks),
    }
