"""Fitting the prices of the estimate: least squares of what designs and their parts take, with no price below 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.cost.designs import design
from benchmarks.cost.measure import Row
from tabla.build.cost.estimate import sizes

_RIDGE = 1e-3
"""How strongly prices are drawn towards 0, as a share of the largest value. It decides what the data leave open."""
_OF_A_KIND = 2.0
"""The weight of the cells of a kind of part beside that of the whole design. Designs that are left out are estimated
best with about 2."""
_COUNTED = ("distributed", "at_hand", "ahead", "ranks")
"""Sizes that are numbers of LUT4s: those of distributed RAM. Their price is 1, also where no design shows it."""
RESOURCES = ("LUT", "FF")
Prices = dict[str, float]


def _kind(name: str) -> str:
    """Return the kind of the cells of a part. Registers of tap groups have the names of the controls, and those that
    all roots share the names of one of them.
    """
    kind = name.partition(".")[0]
    return {"group": "controls", "root_control": "root"}.get(kind, kind)


def fitted(rows: Sequence[Row], all_sizes: Mapping[str, Mapping[str, float]]) -> tuple[Prices, Prices]:
    """Return the prices in LUT4s and in flip-flops. `all_sizes` has the sizes of each design, by its name.

    Each design gives an equation for its whole, and one for each kind of part: synthesis moves cells
    between neighbours, such as an accumulator from the lane to the tree, so the name of a cell is not always that of
    its part. Errors count by their share of the whole design, because an estimate is held to a share of it.
    """
    names = sorted({name for row in rows for name in all_sizes[row["design"]]})
    kinds = sorted({_kind(name) for name in names})
    values = np.array([[all_sizes[row["design"]].get(name, 0.0) for name in names] for row in rows])
    largest = np.where(values.max(axis=0) > 0, values.max(axis=0), 1.0)
    found: tuple[Prices, Prices] = ({}, {})
    for number, resource in enumerate(RESOURCES):
        counted = np.array([resource == "LUT" and name.partition(".")[2] in _COUNTED for name in names])
        found[number].update({name: 1.0 for name, known in zip(names, counted, strict=True) if known})
        equations, goals = [], []
        for kind in (None, *kinds):
            own = np.array([kind in (None, _kind(name)) for name in names])
            cells = np.array([_cells(row, kind, number) for row in rows]) - (values * own) @ counted
            weights = np.array([1 / row["taken"][resource] for row in rows]) * (1 if kind is None else _OF_A_KIND)
            equations.append(values * (own & ~counted) / largest * weights[:, None])
            goals.append(cells * weights)
        ridge = np.eye(len(names)) * np.abs(equations[0]).max() * _RIDGE
        prices, _ = nnls(np.vstack([*equations, ridge]), np.concatenate([*goals, np.zeros(len(names))]))
        found[number].update(
            {name: float(f"{price:.4g}") for name, price in zip(names, prices / largest, strict=True) if price > 1e-9}
        )
    return found


def _cells(row: Row, kind: str | None, number: int) -> float:
    """Return the cells of a kind of part, or of all of them."""
    if kind is None:
        return float(sum(counts[number] for counts in row["cells"].values()))
    return float(row["cells"].get(kind, [0, 0])[number])


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
    from tabla.build.cost.estimate import SCHEMA

    return {
        "schema": SCHEMA,
        "command": command,
        "draws": draws,
        "luts": luts,
        "flip_flops": flip_flops,
        "clocks": dict(clocks),
    }
