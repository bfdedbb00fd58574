"""Schedules that are kept on disk: finding one takes seconds or minutes, and reading it back does not.

The key is everything that the search sees: the graph with its places in the text, the array, the format, the effort,
and the files of this package. So a schedule is never that of another program or of another version.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from tabla import _version
from tabla.base.caches import Cache, key_of
from tabla.base.record_text import NotPlain, text_of, value_of

Made = TypeVar("Made")
LARGEST = 256_000_000
"""How many bytes all kept schedules may have. One has 10 kB to some MB."""
_FILE = "schedule.json"


def cached(parts: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Return what `make` returns, or what it returned before for the same `parts`, which are records."""
    schedules = Cache.of("schedules", LARGEST)
    if schedules is None:
        return make()
    try:
        seen = text_of(parts)
    except NotPlain:  # a class of the user's, of which nobody can say when it changes
        return make()
    key = key_of(_version.VERSION, platform.python_version(), _files(), hashlib.sha256(seen.encode()).hexdigest())
    found = schedules.read(key, _read)
    if found is not None:
        return cast(Made, found[0])
    made = make()
    try:
        text = text_of(made)
        schedules.add(key, lambda entry: (entry / _FILE).write_text(text, encoding="utf-8"))
    except (NotPlain, OSError):  # OSError: a full disk
        pass
    return made


def _read(entry: Path) -> tuple[object]:
    """Return what an entry holds. Raises OSError for a text of nothing, so that the entry is removed."""
    try:
        return (value_of((entry / _FILE).read_text(encoding="utf-8")),)
    except ValueError as fault:
        raise OSError(str(fault)) from fault


@cache
def _files() -> str:
    """Name the state of all files of this package: a change of the compiler may change every schedule."""
    found = []
    for path in sorted(Path(_version.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".td"):
            stat = path.stat()
            found.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
    return key_of(*found)
