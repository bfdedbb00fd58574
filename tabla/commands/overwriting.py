"""The files that a command writes must be other files than those that it reads."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from tabla.base.folder import check_file
from tabla.base.source import TablaError

_READ = ("file", "graph", "inputs", "data", "weights", "test", "templates")
"""The options that name a file to read, by their names in Python."""
_FOLDERS = ("gen", "build", "examples", "explore", "overlay")
"""The commands whose ``-o`` names a folder. They check it themselves."""


def check_outputs(arguments: Namespace) -> None:
    """Raise `TablaError` for an output that would destroy a file of the user, before the command does any work.

    ``--json``, ``-o`` and the ``-d`` of ``tabla tblgen`` may not name a file that the command reads. The models of
    ``--weights`` are the exception: ``tabla train --weights w.npz -o w.npz`` goes on with the training of these models.
    The files of ``--json`` and ``-d`` must be ones that can be written, and no other output.
    """
    output = None if arguments.command in _FOLDERS else getattr(arguments, "output", None)
    more = {"--json": getattr(arguments, "json", None), "-d": getattr(arguments, "dependencies", None)}
    written = {option: name for option, name in more.items() if name and name != "-"}
    for option, name in written.items():
        check_file(Path(name))
        if output and _clash(name, output):
            raise TablaError(f"{option} and -o both name '{name}'", hint="name another file in one of them")
    for option, name in (*written.items(), ("-o", output)):
        if name:
            check_unread(option, name, (file for of, file in _files(arguments) if (option, of) != ("-o", "weights")))


def check_unread(option: str, written: str, read: Iterable[str]) -> None:
    """Raise `TablaError` if the file that an option names is one of those that the command reads."""
    if any(_same(written, file) for file in read):
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
    if isinstance(onto := getattr(arguments, "onto", None), str) and Path(onto).is_dir():
        for file in sorted(Path(onto).iterdir()):
            yield "onto", str(file)


def _clash(one: str, other: str) -> bool:
    """Return whether two outputs are one file, which need not exist yet. A device holds nothing that could be lost."""
    device = Path(one).exists() and not Path(one).is_file()
    return not device and (Path(one).resolve() == Path(other).resolve() or _same(one, other))


def _same(one: str, other: str) -> bool:
    """Return whether both paths are those of one file. A device, such as /dev/null, loses nothing."""
    try:
        return os.path.samefile(one, other) and Path(one).is_file()
    except OSError:
        return False
