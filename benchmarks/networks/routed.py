"""Networks placed and routed for the part that they fit: the second table of docs/networks.md.

python -m benchmarks.networks.routed [--only resnet] [--seeds 1] [--record]

Each network has the array of `benchmarks/networks/fitting.json`. Synthesis takes five to eight minutes of processor
time, and each seed ten to fifteen more. ``--record`` writes the rows into the record.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tabla
from benchmarks.networks import fitting
from benchmarks.networks.problems import NETWORKS, Network
from benchmarks.networks.records import put_row, rows_in

SCHEMA = "tabla-networks-routed-1"
RECORD = Path(__file__).with_name("routed.json")
"""The rows that were recorded last."""
USUAL = ("keywords", "resnet")
"""The networks that are placed and routed unless others are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedRow:
    """A network that was placed and routed for the part of `benchmarks.networks.fitting`, in its grade.

    `luts` are LUT4s, and `megahertz` is the rate of the best of the seeds 1 to `seeds`.
    """

    name: str
    pes: int
    cycles: int
    luts: int
    multipliers: int
    block_rams: int
    seeds: int
    megahertz: float

    @property
    def per_second(self) -> float:
        """The samples a second at the routed clock rate."""
        return self.megahertz * 1e6 / self.cycles


def routed(network: Network, pes: int, seeds: int) -> RoutedRow:
    """Return the row of a network on `pes` PEs. A design that does not fit, or has no route, is a `TablaError`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{network.name.replace('-', '_')}.onnx"
        network.write(file)
        build = tabla.compile(str(file), pes=pes, part=fitting.PART)
        report = build.synthesise("ecp5", device="85k", speed=int(fitting.GRADE), place_and_route=True, seeds=seeds)
    assert report.megahertz is not None
    return RoutedRow(
        name=network.name,
        pes=pes,
        cycles=build.schedule.cycles,
        luts=report.taken["LUT"],
        multipliers=report.taken["DSP"],
        block_rams=report.taken["RAM"],
        seeds=seeds,
        megahertz=round(report.megahertz, 1),
    )


def recorded(file: Path = RECORD) -> dict[str, RoutedRow]:
    """Return the recorded rows by the name of their network."""
    return {row.name: row for row in rows_in(file, SCHEMA, RoutedRow)}


def record(row: RoutedRow, file: Path = RECORD) -> None:
    """Write a row into the record, in place of that of the same network."""
    put_row(file, SCHEMA, row, [network.name for network in NETWORKS])


def routed_table(rows: Sequence[RoutedRow]) -> str:
    """Return the rows as a table of the page."""
    resources = "LUT4 | multipliers | block RAMs"
    lines = [
        f"| network | PEs | cycles | {resources} | MHz (grade {fitting.GRADE}) | seeds | samples a second |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        lines.append(
            f"| {row.name} | {row.pes} | {row.cycles:,} | {row.luts:,} | {row.multipliers} | {row.block_rams} |"
            f" {row.megahertz:.1f} | {row.seeds} | {row.per_second:,.0f} |"
        )
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Place and route networks, and print their rows. The exit status is 0; what fails is an error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks.routed")
    parser.add_argument("--only", default=",".join(USUAL), help="names, separated by commas")
    parser.add_argument("--seeds", type=int, default=1, help="how often each is placed and routed (default 1)")
    parser.add_argument("--record", action="store_true", help="write the rows into the record")
    asked = parser.parse_args(words)
    fitted = fitting.recorded()
    fits = {name: row.pes for name, row in fitted.items() if row.part == fitting.PART}
    names = [name.strip() for name in asked.only.split(",") if name.strip()]
    if strangers := [name for name in names if name not in fits]:
        parser.error(f"{', '.join(strangers)} fit no {fitting.PART} in the record; {', '.join(fits)} do")
    for network in (each for each in NETWORKS if each.name in names):
        row = routed(network, fits[network.name], asked.seeds)
        print(routed_table([row]).splitlines()[-1], flush=True)
        if asked.record:
            record(row)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
