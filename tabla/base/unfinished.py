"""The folder in which an output is made, beside its final place, and what becomes of it when its process is killed.

The folder is locked as long as its process lives. A process that is killed, or whose power is cut, leaves the folder
without its lock; the next command that writes beside it removes it. Where an old output was put aside in it and no new
one took its place, the old one comes back.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tabla.base.disk import locked
from tabla.base.interrupts import held

PREFIX = ".tabla-writing-"
OLD = "old"
"""The folder inside it that has the old output under its own name, while there is none at its place."""
_TRIES = 5


@contextmanager
def work_folder(where: Path) -> Iterator[Path]:
    """Yield a new folder in `where`, which is removed when the ``with`` block ends. OSError is that of the disk."""
    clear(where)
    with held():
        work, lock = _made(where)
    try:
        yield work
    finally:
        with held():
            shutil.rmtree(work, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _made(where: Path) -> tuple[Path, int | None]:
    """Make the folder and lock it. Before it is locked, another process may take it for one of a killed process."""
    for _ in range(_TRIES):
        work = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        with suppress(BlockingIOError, FileNotFoundError):
            return work, locked(work)
    raise FileNotFoundError(f"other processes remove '{work}' again and again")


def try_to_write(where: Path) -> None:
    """Make a folder in a folder and remove it. OSError tells why that is impossible."""
    clear(where)
    with held():
        work = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        with suppress(FileNotFoundError):  # another process has removed it
            work.rmdir()


def clear(where: Path) -> None:
    """Remove what killed processes of this user left in a folder. Where the file system has no locks, it stays."""
    with suppress(OSError):
        for entry in list(os.scandir(where)):
            if entry.name.startswith(PREFIX):
                with suppress(OSError):
                    _clear(Path(entry.path))


def _clear(work: Path) -> None:
    with held():
        lock = locked(work, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        if lock is None:
            return
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                _put_back(work)
                shutil.rmtree(work, ignore_errors=True)
        finally:
            os.close(lock)


def _put_back(work: Path) -> None:
    """Give an old output its place again, if there is none there."""
    if (work / OLD).is_dir():
        for old in (work / OLD).iterdir():
            if not (work.parent / old.name).exists():
                old.rename(work.parent / old.name)
