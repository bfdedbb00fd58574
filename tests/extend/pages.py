"""What the pages of docs/extend show: files to write, and Python to run."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "extend"
FENCE = re.compile(r"```(\w+)(?: file=(\S+))?\n(.*?)```", re.DOTALL)


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page shows."""
    for _, name, body in FENCE.findall((PAGES / page).read_text(encoding="utf-8")):
        if name:
            (folder / name).write_text(body, encoding="utf-8")


def snippets(page: str) -> list[str]:
    """The Python of a page that is no file, in order."""
    found = FENCE.findall((PAGES / page).read_text(encoding="utf-8"))
    return [body for kind, name, body in found if kind == "python" and not name]


def shown(path: Path) -> str:
    """Return the path of a file of the checkout as pages write it, for example ``hw/lane.py``: through the links."""
    return re.sub(r"^tabla/(?=(hw|sim|templates|examples)/)", "", path.as_posix())
