"""Output folders and files that are written completely or not at all.

A folder is written under a temporary name beside its final place, brought onto the disk, and renamed at the end. An
existing folder is replaced only by one of the same kind: a program's folder by that of a program, and an overlay's by
that of an overlay. Any other folder that is not empty is left alone, and the command fails.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tabla.base.disk import cure, make_folder, settle, settle_names
from tabla.base.interrupts import held
from tabla.base.source import TablaError
from tabla.base.unfinished import OLD, try_to_write, work_folder

MANIFEST_SCHEMA, BOARD_SCHEMA, OVERLAY_SCHEMA = "tabla-manifest-1", "tabla-board-1", "tabla-overlay-1"
GEN, OVERLAY = "tabla gen", "tabla overlay"
"""The commands that make folders of the two kinds; ``tabla build`` is one of the first kind."""
_SCHEMAS = {GEN: (MANIFEST_SCHEMA, BOARD_SCHEMA), OVERLAY: (OVERLAY_SCHEMA,)}
_TRIES = 5
_OTHER = "choose another folder with -o"


def _made_by(maker: str, folder: Path) -> bool:
    """Return whether `folder` holds a manifest of a command."""
    for path in sorted(folder.glob("*.json")):
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(manifest, dict) and manifest.get("schema") in _SCHEMAS[maker]:
            return True
    return False


def _free(maker: str, folder: Path) -> bool:
    """Return whether a folder may be replaced: it is not there, it is empty, or a command of the kind made it.

    Another process may exchange the folder while its files are read, and then they are read again.
    """
    for _ in range(_TRIES):
        try:
            before = folder.stat()
            if not any(folder.iterdir()) or _made_by(maker, folder):
                return True
            if os.path.samestat(before, folder.stat()):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return True
    return False


def check_replaceable(folder: Path, maker: str = GEN) -> None:
    """Raise `TablaError` if a folder at this path must not be replaced by one of `maker`.

    Commands call this before they do any work.
    """
    try:
        there = folder.is_symlink() or folder.exists()
    except OSError as fault:  # the name is too long, for example
        message = f"cannot write into '{folder}': {fault.strerror or fault}"
        raise TablaError(message, hint="choose another folder with -o") from None
    if folder.is_symlink() or (there and not folder.is_dir()):
        raise TablaError(f"'{folder}' is not a folder", hint="choose another one with -o")
    if Path.cwd().is_relative_to(folder.resolve()):
        raise TablaError(f"'{folder}' is the current folder, or above it", hint="name a folder inside it with -o")
    if not _free(maker, folder):
        raise TablaError(
            f"folder '{folder}' is not empty, and {maker} did not make it",
            hint="choose another one with -o, or empty it yourself",
        )
    check_writable(folder.parent)


def _refused(place: str, fault: OSError, other: str) -> TablaError:
    """Return the fault of a user whose disk refuses an output. `other` is what the user may choose instead."""
    return TablaError(f"cannot write {place}: {fault.strerror or fault}", hint=cure(fault, other))


def check_writable(folder: Path) -> None:
    """Raise `TablaError` if nothing can be written into this folder, or if it cannot be made.

    Only a trial can tell: the rights of a file system know nothing of a disk that is read-only or full.
    """
    there = next(path for path in (folder, *folder.parents, Path(folder.anchor)) if path.exists() or path.is_symlink())
    if not there.is_dir():
        raise TablaError(f"cannot write into '{folder}': '{there}' is not a folder", hint="choose another one with -o")
    try:
        try_to_write(there)
    except OSError as fault:
        raise _refused(f"into '{there}'", fault, _OTHER) from None


@contextmanager
def replaced_folder(folder: Path, maker: str = GEN) -> Iterator[Path]:
    """Yield a new empty folder of `maker`, which becomes `folder` when the ``with`` block ends.

    After an exception in the block the old folder is unchanged, and after a power cut there is the old folder or the
    new one. A folder that must not be replaced, or cannot be written, is a `TablaError`.
    """
    check_replaceable(folder, maker)
    try:
        make_folder(folder.parent)
        with work_folder(folder.parent) as work:
            fresh = work / "new"
            fresh.mkdir()
            yield fresh
            check_replaceable(folder, maker)
            settle(fresh)
            with held():
                _put(fresh, folder, work / OLD / folder.name)
            settle_names(folder.parent)
    except OSError as fault:
        raise _refused(f"'{folder}'", fault, _OTHER) from None


def check_new(folder: Path) -> None:
    """Raise `TablaError` if there is something at this path already, or if no folder can be made there."""
    try:
        there = folder.is_symlink() or folder.exists()
    except OSError as fault:
        raise TablaError(f"cannot make '{folder}': {fault.strerror or fault}", hint="choose another name") from None
    if there:
        raise TablaError(f"'{folder}' is there already", hint="choose another name, or remove it")
    check_writable(folder.parent)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a new empty folder, which becomes `folder` when the ``with`` block ends.

    After an exception in the block there is no such folder. One that is there already is a `TablaError`.
    """
    check_new(folder)
    try:
        make_folder(folder.parent)
        with work_folder(folder.parent) as work:
            fresh = work / "new"
            fresh.mkdir()
            yield fresh
            settle(fresh)
            check_new(folder)
            fresh.rename(folder)
            settle_names(folder.parent)
    except OSError as fault:
        raise _refused(f"'{folder}'", fault, "choose another folder") from None


def _put(fresh: Path, folder: Path, old: Path) -> None:
    """Give a new folder the name of an old one, which may not exist. Another process may do the same meanwhile.

    Linux exchanges two folders at one stroke, so that at no time there is none of that name. Elsewhere the old one is
    renamed first, because a folder cannot be renamed to one that has files.
    """
    for _ in range(_TRIES):
        if folder.is_dir():
            if _exchanged(fresh, folder):
                return
            old.parent.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                folder.rename(old)
        try:
            fresh.rename(folder)
            return
        except OSError:
            if old.is_dir() and not folder.exists():
                old.rename(folder)
            elif old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            if not folder.is_dir():
                raise
    raise OSError(errno.EBUSY, "other processes write it again and again")


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange the names of two folders with Linux's `renameat2`. Return False where there is none."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


def _place(path: Path) -> Path:
    """Return where a file is written: a link stays, and the file that it names is replaced."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def check_file(path: Path) -> None:
    """Raise `TablaError` if no file can be written at this path. Commands call this before they do any work."""
    folder = _place(path).parent
    if path.is_dir():
        raise TablaError(f"'{path}' is a folder", hint="name a file")
    if not folder.is_dir():
        raise TablaError(f"cannot write '{path}': there is no folder '{folder}'", hint="make it first")
    if not path.exists() or path.is_file():
        try:
            try_to_write(folder)
        except OSError as fault:
            raise _refused(f"into '{folder}'", fault, "name a file in another folder") from None
    elif not os.access(path, os.W_OK):
        raise TablaError(f"cannot write '{path}': permission denied", hint="name another file")


@contextmanager
def replaced_file(path: Path, other: str = "name another file") -> Iterator[Path]:
    """Yield the path of a temporary file, which becomes `path` when the ``with`` block ends.

    After an exception in the block the old file is unchanged, and after a power cut there is the old file or the new
    one. A fault of the disk, in the block too, is a `TablaError` whose hint is `other`. The new file has the rights of
    the old one. A device or a pipe at `path`, such as ``/dev/null``, is not replaced: the content is written into it.
    """
    check_file(path)
    place = _place(path)
    try:
        # The temporary file has the final name, because numpy appends a suffix to a name that has none.
        if path.exists() and not path.is_file():
            with tempfile.TemporaryDirectory(prefix="tabla-") as name:
                yield Path(name) / path.name
                path.write_bytes((Path(name) / path.name).read_bytes())
            return
        with work_folder(place.parent) as work:
            fresh = work / place.name
            yield fresh
            with suppress(FileNotFoundError):
                shutil.copymode(place, fresh)
            settle(fresh)
            fresh.replace(place)
            settle_names(place.parent)
    except OSError as fault:
        raise _refused(f"'{path}'", fault, other) from None
