"""What a power cut leaves of files, whose turn it is to write one, and the cure of a fault that the disk reports.

A name that is given to a file is worth nothing if a power cut takes what the file held. So a file, and the folder with
its name, are brought onto the disk before anybody relies on them.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tabla.base.source import TablaError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_LEAST = 65536
"""Bytes without which nothing of use can be written."""
_NO_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""What a system answers whose folders cannot be brought onto the disk on their own."""


def cure(fault: OSError, other: str) -> str:
    """Return the hint for a fault of the disk. `other` says what the user may choose instead."""
    return f"free some space on that disk, or {other}" if fault.errno in _FULL else other


def refuse_full(folder: Path, said: str) -> None:
    """Raise `TablaError` if the disk of a temporary folder is full, in which a tool has failed that has said `said`."""
    if os.strerror(errno.ENOSPC) in said or shutil.disk_usage(folder).free < _LEAST:
        raise TablaError(
            f"the disk of the temporary folder '{folder.parent}' is full",
            hint="free some space there, or let the environment variable TMPDIR name a folder on another disk",
        )


def settle(path: Path) -> None:
    """Bring a file, or a folder with all that is below it, onto the disk."""
    if not path.is_dir():
        # Windows does so only for a file that is open for writing, and the rights of others may forbid that.
        with path.open("rb" if os.name == "posix" else "r+b") as file:
            os.fsync(file.fileno())
        return
    for each in sorted(path.iterdir()):
        settle(each)
    settle_names(path)


def settle_names(folder: Path) -> None:
    """Bring the names of a folder's files onto the disk. Whoever may not read the folder cannot."""
    if os.name != "posix" or not os.access(folder, os.R_OK):
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as fault:
        if fault.errno not in _NO_FOLDERS:
            raise
    finally:
        os.close(number)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, and bring their names onto the disk."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        settle_names(path.parent)


def locked(path: Path, flags: int = os.O_RDONLY, *, wait: bool = False) -> int | None:
    """Lock a file or a folder until the number that is returned is closed, or until the process ends, however it ends.

    Return None where the file system has no locks. BlockingIOError tells that another process has the lock, and
    FileNotFoundError that the file is gone, perhaps while this process waited.
    """
    if fcntl is None:
        return None
    number = os.open(path, flags | os.O_NOFOLLOW)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if not os.path.samestat(os.fstat(number), os.stat(path)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except (BlockingIOError, FileNotFoundError):
        os.close(number)
        raise
    except OSError:
        os.close(number)
        return None
    return number


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let no other process that asks so write a file until the ``with`` block ends. The file need not exist.

    Whoever replaced the file while this process waited has made another one, and the wait begins anew.
    """
    number = None
    while path.exists():
        with suppress(FileNotFoundError):
            number = locked(path, wait=True)
            break
    try:
        yield
    finally:
        if number is not None:
            os.close(number)
