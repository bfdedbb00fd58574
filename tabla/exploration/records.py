"""The file of records: each figure is written as soon as it is made, so that an interrupted exploration can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabla.source import TablaError

SCHEMA = "tabla-explore-records-1"
NAME = "records.jsonl"
OWN = (NAME, "explore.json")
"""The files by which a folder is known as one of explorations."""


@dataclass(slots=True, kw_only=True)
class Records:
    """The figures of tasks by their keys, and the file that holds them, if there is one.

    The first line of the file names the question, and each further line has one task. A last line that an interrupt
    cut off is dropped. `finish` puts the lines in order, so that the file does not depend on which worker was first.
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
        if (folder / NAME).is_file():
            records._read()
        return records

    def add(self, key: str, figures: dict[str, Any]) -> None:
        """Keep the figures of a task."""
        self.found[key] = figures
        if self.path is not None:
            if not self.path.is_file():
                self._made = [self.path] if self.path.parent.is_dir() else [self.path, self.path.parent]
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._write_all([])
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(key, figures))

    def finish(self, keys: Iterable[str]) -> None:
        """Write the file anew in the order of `keys`. Tasks of earlier explorations come after them, by their keys."""
        first = [key for key in dict.fromkeys(keys) if key in self.found]
        if self.path is not None:
            self._write_all([*first, *sorted(self.found.keys() - set(first))])

    def discard(self) -> None:
        """Remove what this process has written, because no figure of it is worth keeping."""
        for path in self._made:
            path.rmdir() if path.is_dir() else path.unlink()
        self._made = []

    def _write_all(self, keys: list[str]) -> None:
        assert self.path is not None
        text = json.dumps({"schema": SCHEMA, "question": self.question}) + "\n"
        text += "".join(_line(key, self.found[key]) for key in keys)
        new = self.path.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        os.replace(new, self.path)

    def _read(self) -> None:
        assert self.path is not None
        try:
            head, *lines = self.path.read_text(encoding="utf-8").split("\n")
            first = json.loads(head)
            known = first["schema"] == SCHEMA
        except (OSError, ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise TablaError(f"'{self.path}' holds no records of tabla explore", hint="name another folder with -o")
        if first.get("question") != self.question:
            raise TablaError(
                f"'{self.path.parent}' holds the exploration of another program, other options, other data or"
                " another release of tabla",
                hint="name another folder with -o, or remove this one",
            )
        # What follows the last line end was cut off when the exploration was interrupted.
        for line in lines[:-1]:
            try:
                record = json.loads(line)
                self.found[record.pop("task")] = record
            except (ValueError, KeyError, TypeError, AttributeError):
                raise TablaError(
                    f"'{self.path}' is damaged: {line[:60]!r}", hint="remove the line, or the folder, and start again"
                ) from None
        self._write_all(list(self.found))


def check_folder(folder: Path) -> None:
    """Raise `TablaError` for a folder that cannot hold a report: one that cannot be made, or has other files."""
    if folder.exists() and not folder.is_dir():
        raise TablaError(f"'{folder}' is not a folder", hint="name a folder for the report with -o")
    if not folder.exists():
        _check_made(folder)
    elif any(folder.iterdir()) and not any((folder / name).is_file() for name in OWN):
        raise TablaError(
            f"'{folder}' is not empty, and tabla explore did not write it",
            hint="name a new folder with -o",
        )


def _check_made(folder: Path) -> None:
    """Raise `TablaError` for a folder that cannot be made. It is made when there is a figure to keep."""
    first = folder
    while not first.parent.exists():
        first = first.parent
    try:
        first.mkdir()
        first.rmdir()
    except OSError as fault:
        raise TablaError(
            f"cannot make the folder '{folder}': {fault.strerror or fault}", hint="name another folder with -o"
        ) from None


def _line(key: str, figures: dict[str, Any]) -> str:
    return json.dumps({"task": key, **figures}, sort_keys=True) + "\n"
