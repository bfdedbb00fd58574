"""Makes builds, and records hashes of all that they write and print, so that two states of the tree can be compared.

python -m verify.builds make RECORD.json [--only WORD] [--keep FOLDER]
python -m verify.builds compare BEFORE.json AFTER.json

``make`` runs the commands of :mod:`verify.table` in a temporary folder. ``compare`` says which builds and files differ,
and has the status 1 if any does. Nothing of the package is imported, because its modules may have other names in the
other state. Two records are compared that were made on one machine, with the same releases of all packages.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from verify.hashes import hash_of, hash_of_file
from verify.inputs import write_inputs
from verify.table import BUILDS, Build

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = "tabla-builds-1"
PACKAGE_RECORDS = ("machine.td", "bus.td", "targets.td")
State = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a build did: its words and its exit status, and hashes of what it printed and of the files it wrote."""

    words: tuple[str, ...]
    status: int
    stdout: str
    stderr: str
    files: dict[str, str]


def main() -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m verify.builds", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="make the builds, and write the hashes")
    make.add_argument("record", type=Path, metavar="RECORD.json")
    make.add_argument("--only", default="", metavar="WORD", help="only builds with this in their name or command")
    make.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was written and printed, to look at it")
    compare = commands.add_parser("compare", help="say which builds and files differ")
    compare.add_argument("before", type=Path, metavar="BEFORE.json")
    compare.add_argument("after", type=Path, metavar="AFTER.json")
    asked = parser.parse_args()
    if asked.command == "compare":
        return _compare(_read(asked.before), _read(asked.after))
    return _make(asked.record, asked.only, asked.keep)


def _make(path: Path, word: str, keep: Path | None) -> int:
    """Make the builds, write the record, and return 1 if a build has not the status that the table gives it."""
    began, records, wrong = time.monotonic(), {}, []
    with tempfile.TemporaryDirectory(prefix="builds-") as temporary:
        folder = Path(temporary).resolve()
        work, environment = folder / "work", _environment(folder)
        (work / "in").mkdir(parents=True)
        write_inputs(work / "in")
        _copy_records(_package(work, environment), work / "in")
        for build in _asked(word):
            start = time.monotonic()
            records[build.name] = record = _run(build, work, environment)
            print(f"{build.name:<28} {time.monotonic() - start:6.1f} s  {len(record.files):3} files", flush=True)
            if record.status != build.status:
                wrong.append(f"{build.name}: status {record.status} instead of {build.status}")
        if keep:
            shutil.copytree(work, keep, dirs_exist_ok=True)
    content = {"schema": SCHEMA, "builds": {name: asdict(record) for name, record in records.items()}}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    files = sum(len(record.files) for record in records.values())
    spent, used = time.monotonic() - began, os.times()
    work_done = f"{spent:.0f} s, {used.children_user + used.children_system:.0f} s of processor time"
    print(*wrong, f"{len(records)} builds, {files} files, {work_done}", sep="\n")
    return 1 if wrong else 0


def _asked(word: str) -> list[Build]:
    """Return the builds with a word, and those whose files they need, in the order of the table."""
    wanted = {build.name for build in BUILDS if word in build.name or word in " ".join(build.words)}
    for build in reversed(BUILDS):
        if build.name in wanted:
            wanted |= build.needs()
    return [build for build in BUILDS if build.name in wanted]


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of all builds, which holds nothing of the user that could change an output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TABLA_", "PYTHON"))}
    return kept | {
        "PYTHONPATH": str(ROOT),
        # The order of sets is always the same, so a difference between two records is never one of chance.
        "PYTHONHASHSEED": "0",
        # Every schedule is made anew; only machine code is kept, from one build to the next.
        "TABLA_CACHE": str(folder / "cache"),
        "TABLA_CACHE_KINDS": "compiled",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        # The order in which numpy adds must not depend on the cores of the machine.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _package(work: Path, environment: dict[str, str]) -> Path:
    """Return the folder of the package, which must be the one in this tree, and not the one that is installed."""
    words = [sys.executable, "-c", "import tabla; print(tabla.__file__)"]
    found = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    if ROOT not in Path(found).resolve().parents:
        raise SystemExit(f"error: the package is that of {found}, not that of {ROOT}")
    return Path(found).parent


def _copy_records(package: Path, folder: Path) -> None:
    """Copy the records of the package to `folder`. They are found by name, since a move may give them a new place."""
    for name in PACKAGE_RECORDS:
        found = [path for path in package.rglob(name) if path.is_file()]
        if len(found) != 1:
            raise SystemExit(f"error: the package has {len(found)} files {name}, not one")
        shutil.copyfile(found[0], folder / name)


def _run(build: Build, work: Path, environment: dict[str, str]) -> Record:
    """Make a build in the folder of all builds, and return its record."""
    if any(word.startswith(f"{build.name}/") for word in build.words):
        (work / build.name).mkdir(exist_ok=True)
    before = _state(work)
    words = [sys.executable, "-m", "tabla", *build.words]
    done = subprocess.run(words, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    after = _state(work)
    changed = [Path(name) for name in sorted(after) if after[name] != before.get(name)]
    (work / "printed").mkdir(exist_ok=True)
    (work / "printed" / f"{build.name}.stdout").write_bytes(done.stdout)
    (work / "printed" / f"{build.name}.stderr").write_bytes(done.stderr)
    return Record(
        words=build.words,
        status=done.returncode,
        stdout=hash_of(done.stdout),
        stderr=hash_of(done.stderr),
        files={path.as_posix(): hash_of_file(path, (work / path).read_bytes()) for path in changed},
    )


def _state(work: Path) -> State:
    """Return size and time of every file. Python's own caches of Tile programs are no outputs."""
    found = (path for path in work.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(work).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def _read(path: Path) -> dict[str, Record]:
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("schema") != SCHEMA:
        raise SystemExit(f"error: {path} is no record of builds")
    return {name: Record(**{**each, "words": tuple(each["words"])}) for name, each in content["builds"].items()}


def _compare(before: dict[str, Record], after: dict[str, Record]) -> int:
    """Print what differs, and return 1 if anything does."""
    lines = [line for name in {**before, **after} for line in _differences(name, before.get(name), after.get(name))]
    files = sum(len(record.files) for record in before.values())
    print(*lines, f"{len(before)} builds with {files} files; differences: {len(lines)}", sep="\n")
    return 1 if lines else 0


def _differences(name: str, before: Record | None, after: Record | None) -> Iterator[str]:
    """Yield a line for each thing in which two records of a build differ."""
    if before is None or after is None:
        yield f"{name}: {'only after' if before is None else 'only before'}"
        return
    if before.words != after.words:
        yield f"{name}: the command is another one"
    if before.status != after.status:
        yield f"{name}: status {before.status} before, {after.status} after"
    for stream in ("stdout", "stderr"):
        if getattr(before, stream) != getattr(after, stream):
            yield f"{name}: {stream} differs"
    for path in sorted({*before.files, *after.files}):
        match before.files.get(path), after.files.get(path):
            case None, _:
                yield f"{name}: {path} is written only after"
            case _, None:
                yield f"{name}: {path} is written only before"
            case first, second if first != second:
                yield f"{name}: {path} differs"


if __name__ == "__main__":
    sys.exit(main())
