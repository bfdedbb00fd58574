"""The networks of ``make bench``, as a program of its own.

python -m benchmarks.networks [--only lenet,cifar] [--runs 3] [--effort 2] [--record]

``--only`` names networks. ``--runs`` is the number of runs of ``tabla gen`` of which the median counts. ``--record``
writes the rows into the record, with which later runs are compared.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.networks.measure import RUNS
from benchmarks.networks.problems import NETWORKS
from benchmarks.networks.table import bench_networks


def main(words: list[str]) -> int:
    """Measure networks, and print their rows. The exit status is 0 if the aims are reached."""
    names = [network.name for network in NETWORKS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks")
    parser.add_argument("--only", default="", help=f"names, separated by commas: {', '.join(names)}")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of gen for each row (default {RUNS})")
    parser.add_argument("--effort", type=int, help="the effort of the search (default: that of tabla gen)")
    parser.add_argument("--record", action="store_true", help="write the rows into the record")
    asked = parser.parse_args(words)
    only = [name.strip() for name in asked.only.split(",") if name.strip()] or names
    if strangers := set(only) - set(names):
        parser.error(f"there is no network {', '.join(sorted(strangers))}; there are {', '.join(names)}")
    if asked.runs < 1:
        parser.error("--runs: at least one run is needed")
    if asked.record and asked.effort is not None:
        parser.error("--record: the record holds rows of the default effort")
    chosen = [network for network in NETWORKS if network.name in only]
    _, met = bench_networks(chosen, runs=asked.runs, effort=asked.effort, recording=asked.record)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
