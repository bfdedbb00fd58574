"""The files that a command writes must be other files than those that it reads."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from tabla.report.folder import check_file
from tabla.source import TablaError

_READ = ("file", "inputs", "data", "weights", "test", "templates")
"""The options that name a file to read, by their names in Python."""
_FOLDERS = ("gen", "build", "examples")
"""The commands whose ``-o`` names a folder. They check it themselves."""


def check_outputs(arguments: Namespace) -> None:
    """Raise `TablaError` for an output that would destroy a file of the user, before the command does any work.

    ``--json`` and ``-o`` may not name a file that the command reads. The models of ``--weights`` are the exception:
    ``tabla train --weights w.npz -o w.npz`` goes on with the training of these models. The file of ``--json`` must be
    one that can be written, and no other output.
    """
    json, output = getattr(arguments, "json", None), getattr(arguments, "output", None)
    json = None if json == "-" else json
    output = None if arguments.command in _FOLDERS else output
    if json:
        check_file(Path(json))
        if output and Path(json).resolve() == Path(output).resolve():
            raise TablaError(f"--json and -o both name '{json}'", hint="name another file in one of them")
    for option, written in (("--json", json), ("-o", output)):
        for name, read in _files(arguments):
            if written and _same(written, read) and (option, name) != ("-o", "weights"):
                raise TablaError(
                    f"{option} {written}: the command reads this file, and would overwrite it",
                    hint="name another file for the output",
                )


def _files(arguments: Namespace) -> Iterator[tuple[str, str]]:
    """Yield the files that a command reads, each with the name of its option."""
    for name in _READ:
        if isinstance(file := getattr(arguments, name, None), str):
            yield name, file
            # The path of kernel.tc:def ends before the colon.
            yield name, file.rpartition(":")[0]


def _same(one: str, other: str) -> bool:
    """Return whether both paths are those of one file. A device, such as /dev/null, loses nothing."""
    try:
        return os.path.samefile(one, other) and Path(one).is_file()
    except OSError:
        return False
