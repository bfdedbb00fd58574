"""The largest array for each network that fits a part, and what it does there: the table of docs/networks.md.

python -m benchmarks.networks.fitting [--only lenet,cifar] [--record]

``--record`` writes the rows into the record.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tabla
from benchmarks.networks.measure import cached_in, one_run
from benchmarks.networks.problems import NETWORKS, Network
from benchmarks.networks.records import put_row, rows_in
from tabla.build.cost.capacity import named_part
from tabla.build.cost.estimate import Estimate, estimate
from tabla.build.files.figures import BuildReport

SCHEMA = "tabla-networks-on-parts-1"
RECORD = Path(__file__).with_name("fitting.json")
"""The rows that were recorded last."""
ARRAYS = (64, 32, 16, 8, 4, 2, 1)
"""The numbers of PEs that are tried, the largest first. 128 PEs have more block RAMs than the part in any case."""
BLOCK_WORDS = 1024
"""The words of 16 bits of a block RAM."""
PART, GRADE = "LFE5U-85F", "6"
OTHER = "XC7A200T"


def _limits(part: str) -> tuple[int, int, int]:
    """Return the block RAMs of 18 kbit, the multipliers and the LUTs of a part."""
    _, device = named_part(part)
    return device.capacity("RAM"), device.capacity("DSP"), device.capacity("LUT")


LIMITS = {part: _limits(part) for part in (PART, OTHER)}
"""What each part has. What an array takes is counted and estimated for the first part alone; a RAMB18E1 of the second
has 18 kbit, too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRow:
    """A network on the largest array that fits a part; on the smallest one that is tried if none fits.

    `part` is empty if none fits. `multiplies` are those of a sample, and `used` is their share of the slots of the
    multipliers. `block_rams` and `multipliers` are counted, `luts` and `megahertz` estimated, all for a Lattice ECP5.
    `megahertz` is 0 for another part. `processor_seconds` is the time of ``tabla gen`` without a schedule from before.
    """

    name: str
    part: str
    pes: int
    cycles: int
    multiplies: int
    used: float
    block_rams: int
    multipliers: int
    luts: int
    megahertz: float
    processor_seconds: float

    @property
    def per_second(self) -> float:
        """The samples a second at the estimated clock rate."""
        return self.megahertz * 1e6 / self.cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """An array that was tried: the part that it was built for, the figures of its schedule, and its size."""

    pes: int
    part: str
    report: BuildReport
    size: Estimate

    def fits(self, blocks: int, multipliers: int, luts: int) -> bool:
        """Whether a part with these resources holds the array."""
        size = self.size
        return size.block_rams <= blocks and size.multipliers <= multipliers and size.luts <= luts


def fitted(network: Network) -> FittedRow:
    """Return the row of a network: on the first part if one of `ARRAYS` fits, else on the large one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / f"{network.name.replace('-', '_')}.onnx"
        network.write(file)
        with cached_in(folder / "cache"):
            part, best = chosen(_tries(file))
        with cached_in(folder / "anew"):
            usage, _ = one_run(file, folder / "out", best.pes, {"part": best.part})
    return FittedRow(
        name=network.name,
        part=part,
        pes=best.pes,
        cycles=int(best.report.cycles),
        multiplies=int(best.report.multiplies),
        used=round(best.report.utilisation, 4),
        block_rams=best.size.block_rams,
        multipliers=best.size.multipliers,
        luts=best.size.luts,
        megahertz=round(best.size.megahertz[GRADE], 1) if part == PART else 0.0,
        processor_seconds=round(usage.processor_seconds, 1),
    )


def chosen(tries: Iterable[Try]) -> tuple[str, Try]:
    """Return the first array that fits the part it was built for, with that part; "" and the last one if none fits."""
    last = None
    for last in tries:
        if last.fits(*LIMITS[last.part]):
            return last.part, last
    assert last is not None
    return "", last


def _tries(file: Path) -> Iterator[Try]:
    """Yield builds of a network for each part on smaller and smaller arrays."""
    for part, (most, *_) in LIMITS.items():
        for pes in ARRAYS:
            build = tabla.compile(str(file), pes=pes, force=True, part=part)
            attempt = Try(pes=pes, part=part, report=build.report(), size=estimate(build.image))
            yield attempt
            # The models alone take these blocks, however few PEs there are.
            if -(-attempt.report.model_words * pes // BLOCK_WORDS) > most:
                break


def recorded(file: Path = RECORD) -> dict[str, FittedRow]:
    """Return the recorded rows by the name of their network."""
    return {row.name: row for row in rows_in(file, SCHEMA, FittedRow)}


def record(row: FittedRow, file: Path = RECORD) -> None:
    """Write a row into the record, in place of that of the same network."""
    put_row(file, SCHEMA, row, [network.name for network in NETWORKS])


def fitted_table(rows: Sequence[FittedRow]) -> str:
    """Return the rows as a table of the page."""
    figures = f"use of multipliers | block RAMs | LUT4 | MHz (grade {GRADE}) | samples a second | gen, s"
    lines = [
        f"| network | part | PEs | cycles | {figures} |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        clock = f"{row.megahertz:.0f} | {row.per_second:,.0f}" if row.megahertz else "not estimated | "
        lines.append(
            f"| {row.name} | {row.part or 'none'} | {row.pes} | {row.cycles:,} | {row.used:.1%} | {row.block_rams:,} |"
            f" {row.luts:,} | {clock} | {row.processor_seconds:.1f} |"
        )
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Measure networks on the largest arrays that fit, and print their rows."""
    names = [network.name for network in NETWORKS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks.fitting")
    parser.add_argument("--only", default="", help=f"names, separated by commas: {', '.join(names)}")
    parser.add_argument("--record", action="store_true", help="write the rows into the record")
    asked = parser.parse_args(words)
    only = [name.strip() for name in asked.only.split(",") if name.strip()] or names
    if strangers := set(only) - set(names):
        parser.error(f"there is no network {', '.join(sorted(strangers))}; there are {', '.join(names)}")
    for network in NETWORKS:
        if network.name not in only:
            continue
        row = fitted(network)
        print(fitted_table([row]).splitlines()[-1], flush=True)
        if asked.record:
            record(row)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
