"""Printing the table of networks, with what changed since the rows were recorded."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.networks.measure import HEAD, RUNS, NetworkRow, measure, record, recorded
from benchmarks.networks.problems import NETWORKS, Network


def bench_networks(
    chosen: Sequence[Network] = NETWORKS, *, runs: int = RUNS, effort: int | None = None, recording: bool = False
) -> tuple[list[NetworkRow], bool]:
    """Measure networks and print each row as soon as it is known.

    Rows of the default effort are compared with the recorded ones, and with `recording` they take their place. Return
    the rows, and whether the aims are reached.
    """
    print(f"\n{HEAD}", flush=True)
    before, rows, met = recorded() if effort is None else {}, [], True
    for network in chosen:
        row = measure(network, runs=runs, effort=effort)
        rows.append(row)
        met &= not row.missed(network)
        print(row.line(network), flush=True)
        if network.name in before:
            for change in row.changes(before[network.name]):
                print(f"    since it was recorded: {change}", flush=True)
        if recording:
            record(row, {each.name: each for each in NETWORKS})
    return rows, met
