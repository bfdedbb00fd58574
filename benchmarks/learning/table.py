"""The table as text, as CSV and as Markdown."""

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
    "cycles, bound, multiplies: per sample. operations: scalar ones, as the text writes them. use: of the lanes'\n"
    "multiplier slots. code: microcode words of all sequencers. model: words per PE. beat: words a beat of the stream\n"
    "(* 32 would bind; ! the stream binds). gen: seconds on the processor and peak memory of `tabla gen` in a process\n"
    "of its own. peer: VeriGOOD-ML TABLA, its own simulator, computing only. aim: cycles, at most."
)


def line(row: Row) -> str:
    """A row for people, what is not reached at its end."""
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
    """How many rows reach everything."""
    fine = sum(not row.missed for row in rows)
    aims = [row for row in rows if row.aim is not None]
    cycles = sum(row.aim is not None and row.cycles <= row.aim for row in aims)
    ratios = sum(row.ratio <= row.ratio_aim for row in rows)
    return f"reached: {cycles} of {len(aims)} aims in cycles, {ratios} of {len(rows)} ratios; all of a row: {fine}"


def as_csv(rows: Iterable[Row]) -> str:
    """For spreadsheets: a line a row, every field."""
    made = [row.as_json() for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(made[0]), lineterminator="\n")
    writer.writeheader()
    for row in made:
        writer.writerow({**row, "missed": "; ".join(row["missed"])})
    return text.getvalue()


def as_markdown(rows: Iterable[Row]) -> str:
    """For the documentation: what people compare."""
    heads = ("program", "PEs", "operations", "cycles", "bound", "ratio", "use", "model", "kbit")
    heads += ("beat", "gen", "peer", "aim")
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        assert row.cycles == row.simulated, f"{row.program} at {row.pes} PEs: predicted is not simulated"
        mark = "!" if row.stream_binds else "*" if row.narrow_binds else ""
        aim = "" if row.aim is None else f"{row.aim:,}" if row.cycles <= row.aim else f"**{row.aim:,}**"
        cells = (
            *(row.program, str(row.pes), f"{row.operations:,}", f"{row.cycles:,}", f"{row.bound:,} {row.binding}"),
            f"{row.ratio:.2f}" if row.ratio <= row.ratio_aim else f"**{row.ratio:.2f}**",
            *(f"{100 * row.utilisation:.0f} %", f"{row.model_words:,}", f"{row.memory_bits / 1000:,.0f}"),
            f"{row.stream_words}{mark}",
            *(f"{row.gen_seconds:.1f} s", "" if row.peer is None else f"{row.peer:,}", aim),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
