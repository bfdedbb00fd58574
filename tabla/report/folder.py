"""An output folder that is there whole or not at all.

Files are written into a new folder beside the wanted one, which takes its name at the end. A folder that holds a
manifest of ours is replaced; any other folder with something in it is left alone, and that is the user's fault.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabla.source import TablaError

MANIFEST_SCHEMA, BOARD_SCHEMA = "tabla-manifest-1", "tabla-board-1"


def _made_by_us(folder: Path) -> bool:
    """Whether a manifest in `folder` says that we made it."""
    for path in sorted(folder.glob("*.json")):
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict) and manifest.get("schema") in (MANIFEST_SCHEMA, BOARD_SCHEMA):
            return True
    return False


def check_replaceable(folder: Path) -> None:
    """Refuse, before any work, a path that must not be replaced."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise TablaError(f"'{folder}' is not a folder", hint="choose another one with -o")
    if Path.cwd().is_relative_to(folder.resolve()):
        raise TablaError(f"'{folder}' is the current folder, or above it", hint="name a folder inside it with -o")
    if folder.is_dir() and any(folder.iterdir()) and not _made_by_us(folder):
        raise TablaError(
            f"folder '{folder}' is not empty, and tabla gen did not make it",
            hint="choose another one with -o, or empty it yourself",
        )


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """A new empty folder that becomes `folder` when the block ends without an exception; else nothing changes."""
    check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as fault:
        raise TablaError(f"cannot write into '{folder.parent}': {fault.strerror or fault}") from None
    try:
        fresh = work / "new"
        fresh.mkdir()
        yield fresh
        # The old folder steps aside first: a rename onto a folder with files fails.
        check_replaceable(folder)
        if folder.is_dir():
            folder.rename(work / "old")
        try:
            fresh.rename(folder)
        except OSError as fault:
            if (work / "old").is_dir():
                (work / "old").rename(folder)
            raise TablaError(f"cannot write '{folder}': {fault.strerror or fault}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_file(path: Path) -> None:
    """Refuse, before any work, a path at which no file can be."""
    if path.is_dir():
        raise TablaError(f"'{path}' is a folder", hint="name a file")
    if not path.parent.is_dir():
        raise TablaError(f"cannot write '{path}': there is no folder '{path.parent}'", hint="make it first")


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends without an exception; else nothing changes.

    A device or a pipe at `path`, such as ``/dev/null``, stays what it is and is written to.
    """
    check_file(path)
    special = path.exists() and not path.is_file()
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=None if special else path.parent))
    except OSError as fault:
        raise TablaError(f"cannot write '{path}': {fault.strerror or fault}") from None
    try:
        # The same name: numpy adds its suffix to names without one.
        yield work / path.name
        if special:
            path.write_bytes((work / path.name).read_bytes())
        else:
            (work / path.name).replace(path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
