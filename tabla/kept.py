"""Schedules that are kept on disk: finding one takes seconds or minutes, and reading it back does not.

The key is everything that the search sees: the graph with its places in the text, the array, the format, the effort,
and the files of this package. So a schedule is never that of another program or of another version.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from tabla._version import VERSION
from tabla.caches import Shelf, key_of

Kept = TypeVar("Kept")
LARGEST = 256_000_000
"""How many bytes all kept schedules may have. One has 10 kB to some MB."""
_FILE = "schedule.pickle"


def kept(parts: tuple[Any, ...], make: Callable[[], Kept]) -> Kept:
    """Return what `make` returns, or what it returned before for the same `parts`, which are records."""
    shelf = Shelf.of("schedules", LARGEST)
    if shelf is None:
        return make()
    key = key_of(VERSION, platform.python_version(), _files(), hashlib.sha256(pickle.dumps(parts)).hexdigest())

    def read(entry: Path) -> tuple[Kept]:
        return (pickle.loads((entry / _FILE).read_bytes()),)

    found = shelf.read(key, read)
    if found is not None:
        return found[0]
    made = make()
    try:
        shelf.add(key, lambda entry: (entry / _FILE).write_bytes(pickle.dumps(made)))
    except OSError:  # a full disk
        pass
    return made


@cache
def _files() -> str:
    """Name the state of all files of this package: a change of the compiler may change every schedule."""
    found = []
    # In a checkout the package lies in two folders.
    for root in sorted({Path(each) for each in sys.modules[__package__].__path__}):
        for folder in (root, *(root / name for name in ("hw", "sim", "templates"))):
            for path in sorted(folder.rglob("*")) if folder.is_dir() and (folder / "__init__.py").is_file() else ():
                if path.suffix in (".py", ".td"):
                    stat = path.stat()
                    found.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
    return key_of(*found)
