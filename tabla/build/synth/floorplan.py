"""The floor plan: the places of the block RAMs and multipliers on the chip, decided before the placer starts.

Left alone, the placer spreads the hundred blocks of an array over rows that cross the whole chip, and the logic follows
them. The memories of a lane then lie far from its multiplier. This module uses the hierarchy of the design instead. A
multiplier and the block RAMs in the innermost scope that has both, such as a lane or a root, form a cluster. The block
RAMs of any other part of the top module, such as a sequencer, form a cluster, too.

The clusters are placed side by side, in the columns of block RAMs next to the middle of the chip. The rows of one
column are filled upwards and those of the next downwards, so that neighbours in a tree of sums are neighbours on the
chip. Everything else is left to the placer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tabla.templates.targets import Sites, Target

Place = tuple[int, int, str]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Blocks that should lie close together, as names of cells: multipliers and block RAMs."""

    scope: str
    dsps: list[str] = field(default_factory=list)
    rams: list[str] = field(default_factory=list)


def floorplan(cells: Mapping[str, Mapping[str, Any]], target: Target, sites: Sites) -> dict[str, str]:
    """Return the site of each block RAM and of the multiplier of each cluster, by the name of the cell.

    `cells` are those of a flat netlist; their names show the hierarchy. Sites have the names of nextpnr, and no site is
    used twice. A multiplier that is in no cluster, and a block for which no site is left, are not in the answer.
    """
    clusters = _in_order(_clusters(cells, target))
    wanted = sum(len(cluster.rams) for cluster in clusters)
    near, far = _ram_places(sites, wanted)
    free = [
        (column + offset, row, name)
        for column in sites.columns
        for row in sites.dsp_rows
        for offset, name in sites.dsps
    ]
    placed: dict[str, Place] = {}
    for cluster in clusters:
        taken = []
        for ram in sorted(cluster.rams, key=_natural):
            # The rows far from multipliers are used only if the other rows are too few, and for memories that belong
            # to no multiplier first.
            source = far if far and (not near or (not cluster.dsps and wanted > len(near))) else near
            if not source:
                break
            placed[ram] = source.pop(0)
            taken.append(placed[ram])
            wanted -= 1
        for dsp in sorted(cluster.dsps, key=_natural) if taken else ():
            if free:
                placed[dsp] = min(free, key=lambda place: _distance(place, taken, sites))
                free.remove(placed[dsp])
    return {cell: f"X{x}/Y{y}/{name}" for cell, (x, y, name) in placed.items()}


def _clusters(cells: Mapping[str, Mapping[str, Any]], target: Target) -> list[Cluster]:
    kinds = {
        kind: {cell["type"] for cell in cells.values() if target.taken({cell["type"]: 1})[kind]}
        for kind in ("DSP", "RAM")
    }
    rams = [name for name, cell in cells.items() if cell["type"] in kinds["RAM"]]
    around = {scope for ram in rams for scope in _scopes(ram)}
    found: dict[str, Cluster] = {}
    for name, cell in cells.items():
        if cell["type"] in kinds["DSP"]:
            scope = next((scope for scope in _scopes(name) if scope in around), None)
            if scope is not None:
                found.setdefault(scope, Cluster(scope=scope)).dsps.append(name)
    for ram in rams:
        scopes = _scopes(ram)
        scope = next((scope for scope in scopes if scope in found and found[scope].dsps), scopes[-1] if scopes else "")
        found.setdefault(scope, Cluster(scope=scope)).rams.append(ram)
    return list(found.values())


def _scopes(name: str) -> list[str]:
    """Return the scopes around a cell, the innermost first."""
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]


def _natural(name: str) -> list[Any]:
    """Return a key by which names are sorted with their numbers as numbers, so that lane 10 comes after lane 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _in_order(clusters: list[Cluster]) -> list[Cluster]:
    """Return the clusters in the order of their places.

    Clusters whose scopes differ only in numbers, such as those of lanes, are spread evenly over the order. A cluster
    that is the only one of its kind comes in the middle.
    """
    alike: dict[str, list[Cluster]] = {}
    for cluster in sorted(clusters, key=lambda cluster: _natural(cluster.scope)):
        alike.setdefault(_NUMBER.sub("#", cluster.scope), []).append(cluster)
    placed = [
        ((2 * number + 1) / (2 * len(same)), pattern, number, cluster)
        for pattern, same in alike.items()
        for number, cluster in enumerate(same)
    ]
    return [cluster for *_, cluster in sorted(placed, key=lambda entry: entry[:3])]


def _ram_places(sites: Sites, wanted: int) -> tuple[list[Place], list[Place]]:
    """Return the places for block RAMs, in the order in which they are used: those near multipliers, and the others.

    `wanted` is the number of block RAMs; it decides how many columns are used.
    """
    gap = {row: min(abs(row - other) for other in sites.dsp_rows) for row in sites.ram_rows}
    rows = [row for row in sites.ram_rows if gap[row] == min(gap.values())]
    columns = min(len(sites.columns), -(-wanted // (len(rows) * len(sites.rams))))
    first = (len(sites.columns) - columns) // 2
    middle = len(sites.columns) // 2
    near = [
        (column + offset, row, name)
        for number, column in enumerate(sites.columns[first : first + columns])
        for row in (rows[::-1] if number % 2 else rows)
        for offset, name in sites.rams
    ]
    far = [
        (sites.columns[number] + offset, row, name)
        for number in sorted(range(len(sites.columns)), key=lambda number: abs(number - middle))
        for row in sites.ram_rows
        if row not in rows
        for offset, name in sites.rams
    ]
    return near, far


def _distance(place: Place, rams: list[Place], sites: Sites) -> tuple[float, int]:
    """Return the distance from a place for a multiplier to the memories of its cluster, with a second value for ties.

    The distance is in columns, from their mean, plus rows, to the farthest. Of two equal places, the one nearer to the
    middle row of the chip is taken.
    """
    column = sum(x for x, _, _ in rams) / len(rams)
    rows = max(abs(place[1] - y) for _, y, _ in rams)
    return abs(place[0] - column) + rows, abs(place[1] - sites.ram_rows[len(sites.ram_rows) // 2])
