"""Writing results to files. A file is written completely, or, after an error, not at all."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tabla.base.arrays import write_npz
from tabla.base.folder import check_file, replaced_file
from tabla.base.source import TablaError
from tabla.commands.console import Console


def check_arrays(where: str | None) -> None:
    """Raise `TablaError` if arrays cannot be written to `where`, before the command does any work."""
    if where is None:
        return
    if Path(where).suffix != ".npz":
        raise TablaError(f"arrays cannot be written to '{where}'", hint="name a file that ends in .npz with -o")
    check_file(Path(where))


def cycle_status(console: Console, *, as_predicted: bool) -> int:
    """Return the exit status of a command that counts cycles: 1 if they are not those that the schedule predicts."""
    if as_predicted:
        return 0
    console.fault(
        "error: the cycles that were counted are not those of the schedule\n"
        "hint: this is a fault of this tool: please report it with the program and its data"
    )
    return 1


def strict_status(arguments: Namespace, console: Console, events: int) -> int:
    """Return the exit status of a command with ``--strict`` after so many overflows and domain errors."""
    if not arguments.strict or not events:
        return 0
    console.fault(
        "error: --strict: there were overflows or domain errors\n"
        "hint: use more integer bits with --format, or scale the data"
    )
    return 1


def write_json(where: str, content: Mapping[str, Any], console: Console) -> None:
    """Write JSON to the file `where`, or to standard output if `where` is ``-``."""
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    if where == "-":
        console.result(text)
        return
    with replaced_file(Path(where)) as path:
        path.write_text(text, encoding="utf-8", newline="\n")


def write_arrays(where: str, arrays: Mapping[str, NDArray[Any]], console: Console) -> None:
    """Write real arrays to an ``.npz`` file, under the names that the program has for them."""
    with replaced_file(Path(where)) as path, path.open("wb") as file:
        write_npz(file, arrays)
    console.remark(f"written      {where}")
