"""A power cut at any step of writing, two commands on one folder, and full disks: the old output or the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.artifacts import artifacts, write
from tabla.commands.console import Console
from tabla.commands.output import write_arrays
from tabla.driver import Build, build
from tabla.options import Options
from tabla.report import folder as folders
from tabla.report.folder import replaced_folder
from tabla.source import Source
from tests.linear_program import linear_text

ROOT = Path(__file__).resolve().parents[2]
CUT = 43
"""The status of a process whose power was cut."""
_STEPS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree", "ctypes.dlsym", "os.utime")


def content(path: Path) -> dict[str, bytes] | bytes | None:
    """Return a file, or the files of a folder by their names; None for nothing."""
    if path.is_dir():
        return {p.relative_to(path).as_posix(): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    return path.read_bytes() if path.exists() else None


def cut_at(step: int, work: Callable[[], object], home: Path) -> bool:
    """Do work in a process that ends, as if its power was cut, before its `step`-th step in `home`.

    Return whether it was cut. A step is whatever Python does to files, as its audit events tell.
    """
    child = os.fork()
    if child == 0:
        left = step

        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal left
            if event == "ctypes.dlsym" or (event in _STEPS and str(home) in str(arguments[0])):
                left -= 1
                if left < 0:
                    os._exit(CUT)

        try:
            sys.addaudithook(audit)
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, CUT)
    return code == CUT


def never_half(work: Callable[[], object], path: Path, new: dict[str, bytes] | bytes, *, fewest: int) -> None:
    """Cut the power before every step of `work`, which writes `path`. There must be the old content or the new."""
    old, seen, step = content(path), set(), 0
    while cut_at(step, work, path.parent):
        found = content(path)
        assert found in (old, new), f"half an output after step {step}"
        if found == new:
            seen.add("new")
        else:
            seen.add("old")
        step += 1
    assert content(path) == new and seen == {"old", "new"} and step >= fewest


def made(n: int) -> Build:
    return build(Source.from_text(linear_text(n), "line.t"), Options(pes=1, effort=0))


def test_a_folder_of_gen_is_never_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, other = made(1), made(2)
    # Only the writing is tried: the content is made once, and of its files a few are enough.
    first, whole = artifacts(old), artifacts(other)
    second = {name: whole[name] for name in ("line.json", *list(whole)[-6:])}
    monkeypatch.setattr("tabla.artifacts.artifacts", lambda build: first if build is old else second)
    write(other, tmp_path / "new")
    write(old, tmp_path / "out")
    new = content(tmp_path / "new")
    assert isinstance(new, dict) and new != content(tmp_path / "out")
    never_half(lambda: write(other, tmp_path / "out"), tmp_path / "out", new, fewest=20)


def test_a_file_of_models_is_never_half(tmp_path: Path) -> None:
    path, console = tmp_path / "models.npz", Console(out=sys.stdout, err=sys.stderr)
    write_arrays(str(path), {"w": np.ones(3)}, console)
    new = path.read_bytes()
    write_arrays(str(path), {"w": np.zeros(3)}, console)
    never_half(lambda: write_arrays(str(path), {"w": np.ones(3)}, console), path, new, fewest=3)


def test_without_an_exchange_the_old_folder_stays_until_the_last_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_exchanged", lambda one, other: False)
    for text in ("one", "two"):
        with replaced_folder(tmp_path / "out") as fresh:
            (fresh / "line.json").write_text(f'{{"schema": "tabla-manifest-1", "text": "{text}"}}')
    assert b"two" in (tmp_path / "out" / "line.json").read_bytes() and len(list(tmp_path.iterdir())) == 1


def command(*words: str, **environment: str) -> subprocess.Popen[str]:
    """Start a command of the tool."""
    return subprocess.Popen(
        [sys.executable, "-m", "tabla", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_commands_on_one_folder_and_one_cache(tmp_path: Path) -> None:
    """Four at once on an output that is not there, and again on one that is: all succeed, and the output is whole."""
    program = tmp_path / "line.t"
    program.write_text(linear_text(2))
    words = ("gen", str(program), "--pes", "1", "-q", "-o", str(tmp_path / "out"))
    cache = {"TABLA_CACHE": str(tmp_path / "cache"), "TABLA_CACHE_KINDS": "schedules"}
    found = []
    for _ in range(2):
        running = [command(*words, **cache) for _ in range(4)]
        for process in running:
            _, said = process.communicate(timeout=300)
            assert process.returncode == 0, said
        found.append(content(tmp_path / "out"))
    assert found[0] == found[1] != {} and sorted(p.name for p in tmp_path.iterdir()) == ["cache", "line.t", "out"]


@contextmanager
def small_disk(where: Path, kilobytes: int) -> Iterator[None]:
    """Mount a file system of so many kilobytes, or skip the test where nobody may mount one."""
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(where)]
    if os.name != "posix" or os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", str(where)], check=True)


def refused(*words: str, **environment: str) -> str:
    """Run a command that must fail with an error and no traceback, and return what it says."""
    process = command(*words, **environment)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1 and said.startswith("error: ") and "Traceback" not in said, said
    return said


@pytest.mark.parametrize("kilobytes", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_a_full_disk_leaves_the_old_output(kilobytes: int, tmp_path: Path) -> None:
    program = tmp_path / "line.t"
    program.write_text(linear_text(2))
    with small_disk(tmp_path / "disk", kilobytes):
        out = tmp_path / "disk" / "out"
        out.mkdir()
        (out / "line.json").write_text('{"schema": "tabla-manifest-1"}')
        said = refused("gen", str(program), "--pes", "2", "-q", "-o", str(out))
        assert "No space left on device" in said
        assert content(out) == {"line.json": b'{"schema": "tabla-manifest-1"}'}
        assert [path.name for path in (tmp_path / "disk").iterdir()] == ["out"]


@pytest.mark.slow
def test_a_full_cache_and_no_home_change_nothing(tmp_path: Path) -> None:
    program = tmp_path / "line.t"
    program.write_text(linear_text(2))
    words = ("gen", str(program), "--pes", "2", "-q", "-o")
    with small_disk(tmp_path / "disk", 4):
        (tmp_path / "disk" / "full").write_bytes(b"x" * 4096)
        for name, environment in (
            ("cache", {"TABLA_CACHE": str(tmp_path / "disk" / "cache"), "TABLA_CACHE_KINDS": "schedules"}),
            ("home", {"HOME": str(tmp_path / "disk" / "none"), "TABLA_CACHE_KINDS": "schedules,compiled"}),
        ):
            process = command(*words, str(tmp_path / name), **environment)
            _, said = process.communicate(timeout=300)
            assert process.returncode == 0, said
    assert content(tmp_path / "cache") == content(tmp_path / "home")


@pytest.mark.slow
def test_a_read_only_folder(tmp_path: Path) -> None:
    program = tmp_path / "line.t"
    program.write_text(linear_text(2))
    with small_disk(tmp_path / "disk", 100):
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        said = refused("gen", str(program), "--pes", "2", "-q", "-o", str(tmp_path / "disk" / "out"))
        assert "Read-only file system" in said and "hint: choose another folder with -o" in said
