"""The table of the learning problems as text, as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from benchmarks.learning.measure import Row

COLUMNS = (
    *(("program", 24), ("PEs", 4), ("operations", 10), ("multiplies", 10), ("cycles", 9), ("simulated", 9)),
    *(("bound", 9), ("binds", 10), ("ratio", 5), ("use", 6), ("code", 4), ("model", 6), ("beat", 4)),
    *(("gen s", 6), ("MB", 4), ("peer", 5), ("aim", 6)),
)
HEAD = " ".join(name.ljust(width) if name in ("program", "binds") else name.rjust(width) for name, width in COLUMNS)
LEGEND = (
    "operations, multiplies, cycles, bound: per sample. operations: the scalar operations of the program text.\n"
    "simulated: the cycles that the cycle model counts. binds: the term that sets the bound. ratio: cycles / bound.\n"
    "use: the share of the lanes' multiplier slots in which a product is computed. code: microcode words of all\n"
    "sequencers. model: words of model memory per PE. beat: words that the input port takes per cycle (*: with 32\n"
    "words the samples would arrive too slowly; !: they do arrive too slowly). gen s, MB: processor time and peak\n"
    "memory of `tabla gen`. peer: cycles of VeriGOOD-ML's TABLA by its own simulator, without loading samples. aim:\n"
    "the most cycles that are accepted."
)
COLUMN_NOTES = """\
- **operations**: the scalar operations of the program text, per sample.
- **cycles**: cycles per sample in the steady state, as scheduled and as the cycle model counts them.
- **bound**: a lower bound on the cycles per sample of any schedule, as `tabla bound` prints it, with the term that sets
  the bound.
- **ratio**: the cycles divided by the bound.
- **use**: the share of the lanes' multiplier slots in which a product of the program is computed. A lane has one slot
  in each cycle.
- **model**: words of the model memory of each PE.
- **kbit**: the size of all memories of the array, in thousands of bits.
- **beat**: words that the input port takes per cycle. A `*` marks rows in which the samples would arrive too slowly
  with 32 words, and a `!` marks rows in which they do arrive too slowly.
- **gen**: processor time of `tabla gen`.
- **peer**: cycles per sample of VeriGOOD-ML's TABLA, another generator. They come from its own simulator, and do not
  contain the cycles that load a sample.
- **aim**: the most cycles per sample that are accepted.

An aim or a ratio in bold type is not reached.
"""
"""The columns of the Markdown table, explained; the page in `docs/` has the same text."""


def line(row: Row) -> str:
    """Return a row as a line of text, with the aims that it misses at its end."""
    mark = "!" if row.stream_binds else "*" if row.narrow_binds else " "
    cells = [
        row.program,
        str(row.pes),
        str(row.operations),
        f"{row.multiplies:g}" if isinstance(row.multiplies, float) else str(row.multiplies),
        str(row.cycles),
        str(row.simulated),
        str(row.bound),
        row.binding,
        f"{row.ratio:.2f}",
        f"{100 * row.utilisation:.1f}%",
        str(row.microcode_words),
        str(row.model_words),
        f"{row.stream_words}{mark}",
        f"{row.gen_seconds:.2f}",
        f"{row.gen_megabytes:.0f}",
        "" if row.peer is None else str(row.peer),
        "" if row.aim is None else str(row.aim),
    ]
    widths = [width for _, width in COLUMNS]
    made = [c.ljust(w) if n in (0, 7) else c.rjust(w) for n, (c, w) in enumerate(zip(cells, widths, strict=True))]
    missed = f"  NOT REACHED: {', '.join(row.missed)}" if row.missed else ""
    return (" ".join(made) + missed).rstrip()


def summary(rows: Sequence[Row]) -> str:
    """Return a line that counts the rows that reach their aims."""
    fine = sum(not row.missed for row in rows)
    aims = [row for row in rows if row.aim is not None]
    cycles = sum(row.aim is not None and row.cycles <= row.aim for row in aims)
    asked = [row for row in rows if row.ratio_aim is not None]
    ratios = sum(row.ratio_reached for row in asked)
    return f"reached: {cycles} of {len(aims)} aims in cycles, {ratios} of {len(asked)} ratios; all of a row: {fine}"


def as_csv(rows: Iterable[Row]) -> str:
    """Return the rows as CSV with every field, for spreadsheets."""
    made = [row.as_json() for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(made[0]), lineterminator="\n")
    writer.writeheader()
    for row in made:
        writer.writerow({**row, "missed": "; ".join(row["missed"])})
    return text.getvalue()


def as_markdown(rows: Iterable[Row]) -> str:
    """Return the rows as the Markdown table of ``docs/learning-benchmarks.md``.

    A row whose simulated cycles differ from the predicted ones is an AssertionError.
    """
    heads = ("program", "PEs", "operations", "cycles", "bound", "ratio", "use", "model", "kbit")
    heads += ("beat", "gen", "peer", "aim")
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        assert row.cycles == row.simulated, f"{row.program} at {row.pes} PEs: predicted is not simulated"
        mark = "!" if row.stream_binds else "*" if row.narrow_binds else ""
        aim = "" if row.aim is None else f"{row.aim:,}" if row.cycles <= row.aim else f"**{row.aim:,}**"
        cells = (
            *(row.program, str(row.pes), f"{row.operations:,}", f"{row.cycles:,}", f"{row.bound:,} {row.binding}"),
            f"{row.ratio:.2f}" if row.ratio_reached else f"**{row.ratio:.2f}**",
            *(f"{100 * row.utilisation:.0f} %", f"{row.model_words:,}", f"{row.memory_bits / 1000:,.0f}"),
            f"{row.stream_words}{mark}",
            *(f"{row.gen_seconds:.1f} s", "" if row.peer is None else f"{row.peer:,}", aim),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
