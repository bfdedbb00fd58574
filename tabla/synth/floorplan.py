"""Where the block RAMs and multipliers of a design lie on the chip, decided before the placer starts.

A placer spreads the hundred blocks of an array over rows that cross the whole chip, and moves the logic after them:
the memories of a lane end up far from its multiplier. Here the hierarchy says what belongs together. A multiplier and
the block RAMs of the innermost scope that has both (a lane, a root) are a cluster; the block RAMs of any other part
of the top, a sequencer, are one too. Clusters are laid side by side, column after column around the chip's middle, the
rows of each column to and fro, so that neighbours in a tree of sums are neighbours on the chip. Nothing else is fixed.
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
    """Blocks that shall lie close together; names of cells."""

    scope: str
    dsps: list[str] = field(default_factory=list)
    rams: list[str] = field(default_factory=list)


def floorplan(cells: Mapping[str, Mapping[str, Any]], target: Target, sites: Sites) -> dict[str, str]:
    """The site (nextpnr's name) of each block RAM and of the multipliers beside them, no site twice.

    `cells` are those of a flat netlist, with the names of the hierarchy. Multipliers without a memory near them in
    the hierarchy, and blocks for which there is no site left, are not in the answer.
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
            # Rows without multipliers at hand are for memories that need none, and only when the others are too few.
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
    """The scopes around a cell, the innermost first."""
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]


def _natural(name: str) -> list[Any]:
    """Lane 10 comes after lane 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _in_order(clusters: list[Cluster]) -> list[Cluster]:
    """Scopes that differ in their numbers only are spread evenly, what is there once comes in the middle."""
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
    """Places for block RAMs in the order they are taken: those with multipliers at hand, and the others."""
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
    """From a multiplier to its memories, the furthest row counting; among equals the inner rows of the chip."""
    column = sum(x for x, _, _ in rams) / len(rams)
    rows = max(abs(place[1] - y) for _, y, _ in rams)
    return abs(place[0] - column) + rows, abs(place[1] - sites.ram_rows[len(sites.ram_rows) // 2])
