"""What is kept on disk from one command to the next: folders of entries that any process may lose and make again.

An entry is a folder of files. It is made whole beside its place and then renamed, so two processes never see half of
one. A sum over its files says whether it is whole; what is not, is made anew. When all entries of a cache are larger
than its limit together, those that were not used for longest go.

Entries are run as code. So a folder that another user may write is not used, which a `SharedCacheWarning` tells, and
neither is such an entry.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")
_SUM, _NEW, _OLD = "sum", ".new-", ".old-"
ABANDONED = 3600.0
"""Seconds after which what is half made belongs to a process that was killed."""


class SharedCacheWarning(UserWarning):
    """The folder of the caches is one that another user may write, so nothing in it is used."""


def shared(path: Path) -> str:
    """Say why another user may write a file or a folder: whose it is, or its rights. It is "" if nobody else may.

    Where a path leads to is what counts. OSError is that of the system. Windows has no such rights.
    """
    if os.name != "posix":
        return ""
    found = path.stat()
    if found.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    return "others may write it" if found.st_mode & 0o022 else ""


def _private(where: Path) -> bool:
    """Make a folder that others cannot enter, and return whether nobody else may write the one that is there."""
    where.mkdir(parents=True, exist_ok=True, mode=0o700)
    why = shared(where)
    if why:
        cure = f"chmod go-w '{where}'" if "may write" in why else "name a folder of your own with TABLA_CACHE"
        message = f"the cache '{where}' is not used, because {why}, and what it holds is run: {cure}"
        warnings.warn(message, SharedCacheWarning, stacklevel=2)
    return not why


def folder() -> Path | None:
    """Return the folder of all caches, or None if the environment variable ``TABLA_CACHE`` is empty.

    ``TABLA_CACHE`` names the folder. Without it, the folder is where the platform wants caches:
    ``$XDG_CACHE_HOME/tabla`` or ``~/.cache/tabla``, on macOS ``~/Library/Caches/tabla``, on Windows
    ``%LOCALAPPDATA%\\tabla``. These are three lines, so no package is needed for them.
    """
    given = os.environ.get("TABLA_CACHE")
    if given is not None:
        return Path(given).expanduser() if given else None
    match sys.platform:
        case "darwin":
            base = Path.home() / "Library" / "Caches"
        case "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        case _:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "tabla"


def keeps(kind: str) -> bool:
    """Return whether entries of a kind are kept: all kinds are, unless ``TABLA_CACHE_KINDS`` lists others only."""
    kinds = os.environ.get("TABLA_CACHE_KINDS")
    return kinds is None or kind in kinds.split(",")


def key_of(*parts: str) -> str:
    """Return the name of an entry that depends on these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """The entries of one kind, in a folder of their own. All together they have at most `largest` bytes."""

    where: Path
    largest: int

    @staticmethod
    def of(kind: str, largest: int) -> Cache | None:
        """Return the cache of a kind, or None where nothing can be kept."""
        try:
            base = folder()
            if base is None or not keeps(kind):
                return None
            where = base / kind
            if not _private(base) or not _private(where):
                return None
        except (OSError, RuntimeError):  # a folder that cannot be written, or no home
            return None
        return Cache(where=where, largest=largest) if os.access(where, os.W_OK) else None

    def read(self, key: str, reader: Callable[[Path], Made]) -> Made | None:
        """Return what `reader` makes of an entry. An entry that is missing or broken gives None.

        `reader` may raise OSError for files that went away meanwhile.
        """
        entry = self.where / key
        try:
            owned = not any(shared(path) for path in (entry, *entry.rglob("*")))
            if owned and (entry / _SUM).read_text(encoding="ascii") == _sum(entry):
                os.utime(entry)
                return reader(entry)
        except FileNotFoundError:
            if not entry.exists():
                return None
        except (OSError, UnicodeDecodeError):
            pass
        self._remove(entry)
        return None

    def add(self, key: str, writer: Callable[[Path], Made]) -> Made:
        """Make an entry in the folder that `writer` is given, and return what `writer` returns.

        Where another process was faster, the entry stays that one's. OSError is that of the disk.
        """
        made = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.where))
        try:
            result = writer(made)
            (made / _SUM).write_text(_sum(made), encoding="ascii")
            for path in made.rglob("*"):
                path.chmod(path.stat().st_mode & ~0o022)
            try:
                made.rename(self.where / key)
            except OSError:
                pass
            self._tidy()
            return result
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def _remove(self, entry: Path) -> None:
        """Remove an entry at one stroke: another process finds it whole, or not at all."""
        try:
            old = Path(tempfile.mkdtemp(prefix=_OLD, dir=self.where))
            try:
                entry.rename(old / entry.name)
            finally:
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            pass

    def _tidy(self) -> None:
        """Remove what killed processes left, and the entries that were not used for longest."""
        total = 0
        for used, path in sorted(self._entries(), reverse=True):
            if path.name.startswith((_NEW, _OLD)):
                if time.time() - used > ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)
                continue
            total += sum(_size(file) for file in path.rglob("*"))
            if total > self.largest:
                self._remove(path)

    def _entries(self) -> Iterator[tuple[float, Path]]:
        for path in self.where.iterdir():
            try:
                yield path.stat().st_mtime, path
            except OSError:
                continue


def _sum(entry: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(p for p in entry.rglob("*") if p.is_file() and p.name != _SUM):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(entry).as_posix()} {len(content)}\0".encode() + content)
    return whole.hexdigest()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
