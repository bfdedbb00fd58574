"""The reference tool, where it is installed, and what both tools say about a program."""

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen

PLACE = re.compile(r"^(?P<file>[^\n]+?):(?P<line>\d+):\d+: error: ", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The two outputs of an accepted program, or the place of the first fault of a refused one.

    Only outputs and places are compared; `message` is for the reader of a failure.
    """

    records: str = ""
    json: str = ""
    place: tuple[str, int] | None = None
    accepted: bool = True
    message: str = ""

    def differs(self, other: "Outcome") -> str:
        """Where two outcomes part; empty if nowhere."""
        if self.accepted != other.accepted:
            return f"one accepts: {self.message or 'accepted'} / {other.message or 'accepted'}"
        if not self.accepted:
            # Some faults of the reference tool have no place at all.
            same = self.place is None or other.place is None or self.place == other.place
            return "" if same else f"{self.place}: {self.message} / {other.place}: {other.message}"
        for ours, theirs in zip(self.records.split("\n"), other.records.split("\n"), strict=False):
            if ours != theirs:
                return f"{ours!r} / {theirs!r}"
        if self.records != other.records:
            return "one output is longer"
        return "" if self.json == other.json else "the JSON differs"


Run = Callable[[Path, Sequence[str]], Outcome]


def _ours(path: Path, options: Sequence[str] = ()) -> Outcome:
    include_dirs = [option[2:] for option in options if option.startswith("-I")]
    macros = [option[2:] for option in options if option.startswith("-D")]
    llvm = next((int(option.removeprefix("--llvm=")) for option in options if option.startswith("--llvm=")), 14)
    try:
        records = tablegen.load(path, include_dirs=include_dirs, macros=macros, llvm=llvm)
    except TablaError as fault:
        place = (Path(fault.file).name, fault.line or 0) if fault.file else None
        return Outcome(accepted=False, place=place, message=str(fault))
    return Outcome(
        records=tablegen.backend.print_records(records.keeper), json=tablegen.backend.dump_json(records.keeper)
    )


def _reference(tool: str, path: Path, options: Sequence[str] = ()) -> Outcome:
    outputs = []
    for action in ("-print-records", "-dump-json"):
        done = subprocess.run([tool, action, *options, str(path)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            place = PLACE.search(done.stderr)
            where = (Path(place["file"]).name, int(place["line"])) if place else None
            return Outcome(accepted=False, place=where, message=done.stderr[:500])
        outputs.append(done.stdout)
    return Outcome(records=outputs[0], json=outputs[1])


@pytest.fixture(scope="session")
def ours() -> Run:
    """Our outcome for a program."""
    return _ours


@pytest.fixture(scope="session")
def reference_of() -> Callable[[int], Run]:
    """The outcome of a version of the reference tool."""

    def of(version: int) -> Run:
        tool = shutil.which(f"llvm-tblgen-{version}")
        if tool is None:
            pytest.skip(f"llvm-tblgen-{version} is not installed (Debian: apt-get install llvm-{version})")
        return partial(_reference, tool)

    return of


@pytest.fixture(scope="session")
def reference(reference_of: Callable[[int], Run]) -> Run:
    """The outcome of version 14 of the reference tool."""
    return reference_of(14)
