"""The tables of docs/networks.md, which are made from the records of the benchmarks of networks.

python -m benchmarks.networks.page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.networks import drawn, fitting, routed

PAGE = Path(__file__).parents[2] / "docs" / "networks.md"


def drawn_table(rows: Sequence[drawn.DrawnRow]) -> str:
    """Return networks with their sizes as a table of the page."""
    figures = "cycles | block RAMs | s a million multiply-adds | block RAMs a thousand words"
    lines = [
        f"| network | nodes | million multiply-adds | thousand words | {figures} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        lines.append(
            f"| {row.name} | {row.layers} | {row.multiply_adds / 1e6:.3f} | {row.words / 1e3:.1f} | {row.cycles:,} |"
            f" {row.block_rams:,} | {row.seconds_a_million:.1f} | {row.blocks_a_thousand:.1f} |"
        )
    return "\n".join(lines)


def sections() -> dict[str, str]:
    """Return the parts of the page that are made from the records, by their names."""
    table, others = drawn.rows_of_the_table(), drawn.recorded()
    return {
        "fitted": fitting.fitted_table(list(fitting.recorded().values())),
        "routed": routed.routed_table(list(routed.recorded().values())),
        "table": drawn_table(table),
        "drawn": drawn_table(others),
        "worst": "\n".join(f"- {line[0].upper()}{line[1:]}." for line in drawn.comparison(table, others).splitlines()),
    }


def with_sections(page: str, parts: Mapping[str, str]) -> str:
    """Return a page with its parts replaced. A part without a place on the page is an AssertionError."""
    for name, text in parts.items():
        begin, end = f"<!-- made by make bench-networks: {name} -->", f"<!-- end of {name} -->"
        assert page.count(begin) == page.count(end) == 1, f"the page has no place for {name}"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_sections(PAGE.read_text(encoding="utf-8"), sections()), encoding="utf-8")
