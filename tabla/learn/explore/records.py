"""The file of records: each figure is on the disk when it is made, so that an interrupted exploration can go on.

A file of records may be damaged. So figures are checked before an exploration relies on them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from tabla.base.disk import alone, cure, make_folder
from tabla.base.folder import check_writable, replaced_file
from tabla.base.source import TablaError
from tabla.templates.targets import KINDS

_LARGEST = 10**15
"""No figure is larger than that. It holds JSON's infinities back, too."""


def sound(key: str, figures: Mapping[str, Any]) -> bool:
    """Return whether figures have all that an exploration reads of the task with this key."""
    if not isinstance(figures.get("metric_name", ""), str):
        return False
    if "refused" in figures:
        return isinstance(figures["refused"], str) and isinstance(figures.get("cure"), str)
    match key.partition(" ")[0]:
        case "learn":
            return "metric_name" in figures and _number(figures.get("metric", ""), missing=True)
        case "build":
            clocks = figures.get("megahertz")
            whole = isinstance(clocks, dict) and all(_number(each, missing=True) for each in clocks.values())
            counted = all(_number(figures.get(name)) for name in ("cycles", "latency", "ratio"))
            return whole and counted and _taken(figures)
        case "synth":
            return _number(figures.get("megahertz", ""), missing=True) and _taken(figures)
        case _:
            return True


def _number(value: object, *, missing: bool = False) -> bool:
    return (missing and value is None) or (type(value) in (int, float) and -_LARGEST < value < _LARGEST)  # type: ignore[operator]


def _taken(figures: Mapping[str, Any]) -> bool:
    """Return whether there are the resources that a point takes."""
    taken = figures.get("resources")
    return isinstance(taken, dict) and taken.keys() <= set(KINDS) and all(map(_number, taken.values()))


SCHEMA = "tabla-explore-records-1"
NAME = "records.jsonl"
OWN = (NAME, "explore.json")
"""The files by which a folder is known as one of explorations."""
_OTHER = "name another folder with -o"


@dataclass(slots=True, kw_only=True)
class Records:
    """The figures of tasks by their keys, and the file that holds them, if there is one.

    The first line of the file names the question, and each further line has one task. A last line that an interrupt
    cut off is dropped. `finish` puts the lines in order, so that the file does not depend on which worker was first.
    Several explorations of one question may have one file: each adds its lines, and takes the others' at the end.
    """

    path: Path | None
    question: str
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    _made: list[Path] = field(default_factory=list, init=False)

    @staticmethod
    def of(folder: Path | None, question: str) -> Records:
        """Open the records in a folder, which is made if it is not there.

        Records of another question, and a folder that holds other files only, are a `TablaError`.
        """
        if folder is None:
            return Records(path=None, question=question)
        check_folder(folder)
        records = Records(path=folder / NAME, question=question)
        records._read()
        return records

    def add(self, key: str, figures: dict[str, Any]) -> None:
        """Keep the figures of a task. A disk that does not take them is a `TablaError`."""
        self.found[key] = figures
        if self.path is None:
            return
        with told(self.path):
            if not self.path.is_file():
                self._made = [self.path] if self.path.parent.is_dir() else [self.path, self.path.parent]
                make_folder(self.path.parent)
                self._write_all([])
            # Without a buffer, which would write again, when it is closed, what a full disk has refused.
            with alone(self.path), self.path.open("r+b", buffering=0) as file:
                _drop_half_a_line(file)
                line = _line(key, figures).encode()
                while line:
                    line = line[file.write(line) :]
                os.fsync(file.fileno())

    def finish(self, keys: Iterable[str]) -> None:
        """Write the file anew in the order of `keys`. Tasks of other explorations come after them, by their keys."""
        if self.path is not None and self.path.is_file():
            with alone(self.path):
                self._read()
                first = [key for key in dict.fromkeys(keys) if key in self.found]
                self._write_all([*first, *sorted(self.found.keys() - set(first))])

    def discard(self) -> None:
        """Remove what this process has written, because no figure of it is worth keeping."""
        for path in self._made:
            with suppress(OSError):  # another exploration has removed it, or writes there
                path.rmdir() if path.is_dir() else path.unlink()
        self._made = []

    def _write_all(self, keys: list[str]) -> None:
        assert self.path is not None
        text = json.dumps({"schema": SCHEMA, "question": self.question}) + "\n"
        text += "".join(_line(key, self.found[key]) for key in keys)
        with replaced_file(self.path, other=_OTHER) as fresh:
            fresh.write_text(text, encoding="utf-8", newline="\n")

    def _read(self) -> None:
        """Take the figures of the file that are not here. What follows its last line end was cut off, and is left."""
        assert self.path is not None
        if not self.path.is_file():
            return
        try:
            head, *lines = self.path.read_text(encoding="utf-8").split("\n")
            first = json.loads(head)
            known = first["schema"] == SCHEMA
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            raise TablaError(f"'{self.path}' holds no records of tabla explore", hint="name another folder with -o")
        if first.get("question") != self.question:
            raise TablaError(
                f"'{self.path.parent}' holds the exploration of another program, other options, other data or"
                " another release of tabla",
                hint="name another folder with -o, or remove this one",
            )
        for line in lines[:-1]:
            try:
                record = json.loads(line)
                key = record.pop("task")
                if not sound(key, record):
                    raise ValueError
                self.found.setdefault(key, record)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise TablaError(
                    f"'{self.path}' is damaged: {line[:60]!r}", hint="remove the line, or the folder, and start again"
                ) from None


def _drop_half_a_line(file: FileIO) -> None:
    """Go to the end of a file's last whole line, and remove what follows it: another process was killed meanwhile."""
    end = file.seek(0, os.SEEK_END)
    whole = end
    while whole:
        start = max(0, whole - 4096)
        file.seek(start)
        at = file.read(whole - start).rfind(b"\n")
        if at >= 0:
            whole = start + at + 1
            break
        whole = start
    if whole < end:
        file.truncate(whole)
    file.seek(whole)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn a fault of the disk in the ``with`` block into a `TablaError`."""
    try:
        yield
    except OSError as fault:
        raise TablaError(f"cannot write '{path}': {fault.strerror or fault}", hint=cure(fault, _OTHER)) from None


def check_folder(folder: Path) -> None:
    """Raise `TablaError` for a folder that cannot hold a report: one that cannot be made, or has other files."""
    if folder.exists() and not folder.is_dir():
        raise TablaError(f"'{folder}' is not a folder", hint="name a folder for the report with -o")
    check_writable(folder)  # this removes what a killed exploration left there
    if folder.exists() and any(folder.iterdir()) and not any((folder / name).is_file() for name in OWN):
        raise TablaError(
            f"'{folder}' is not empty, and tabla explore did not write it",
            hint="name a new folder with -o",
        )


def _line(key: str, figures: dict[str, Any]) -> str:
    return json.dumps({"task": key, **figures}, sort_keys=True) + "\n"
