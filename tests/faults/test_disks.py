"""Real disks that are full or read-only, no home, no temporary folder, and outputs that are links."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tabla.base import disk
from tabla.base.folder import check_file, check_replaceable, replaced_file
from tabla.base.source import TablaError
from tabla.base.unfinished import PREFIX, clear
from tabla.commands.cli import main
from tests.faults.homes import content
from tests.linear_program import linear_text

ROOT = Path(__file__).resolve().parents[2]
GEN = ("gen", "line.t", "--pes", "1", "--effort", "0", "-q", "-o")
LEARN = ("--data", "data.npz", "--epochs", "1", "--pes", "1", "--effort", "0", "--engine", "model", "-q")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a program and data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.t").write_text(linear_text(2))
    x = np.random.default_rng(1).uniform(-1, 1, (8, 2))
    np.savez("data.npz", x=x, y=x.sum(axis=1))
    return tmp_path


def command(*words: str, out: str | None = None, **environment: str) -> tuple[int, str]:
    """Run a command of the tool, and return its status and its errors."""
    with open(out or os.devnull, "w", encoding="utf-8") as file:
        done = subprocess.run(
            [sys.executable, "-m", "tabla", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    return done.returncode, done.stderr


@contextmanager
def small_disk(where: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a file system of so many kilobytes, or skip the test where nobody may mount one."""
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(where)]
    if os.name != "posix" or os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield where
    finally:
        subprocess.run(["umount", str(where)], check=True)


def refused(said: str, *expected: str) -> None:
    """Check an error of a disk: it has a cure, and no traceback."""
    assert said.startswith("error: ") and "hint: " in said and "Traceback" not in said, said
    for text in expected:
        assert text in said, said


FULL = {
    "gen": (*GEN, "disk/build"),
    "train": ("train", "line.t", *LEARN, "-o", "disk/w.npz"),
    "check": ("check", "line.t", "-q", "--json", "disk/c.json"),
    "explore": ("explore", "line.t", "--pes", "1", "--workers", "1", "-q", "-o", "disk/report"),
}


@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize("kilobytes", [12, *(pytest.param(more, marks=pytest.mark.slow) for more in (16, 24, 64))])
def test_a_full_disk(name: str, kilobytes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The disk holds the old output and as much of the new one as happens to fit."""
    with small_disk(tmp_path / "disk", kilobytes) as where:
        (where / "build").mkdir()
        (where / "build" / "line.json").write_text('{"schema": "tabla-manifest-1"}')
        (where / "w.npz").write_bytes(b"old")
        before = content(where)
        (where / "filler").write_bytes(b"x" * 4096)
        status = main(FULL[name])
        said = capsys.readouterr().err
        (where / "filler").unlink()
        assert status == 1 or (status == 0 and kilobytes > 12)
        if status:
            refused(said, "No space left on device", "free some space on that disk")
            found = content(where)
            assert isinstance(found, dict) and isinstance(before, dict)
            assert {file: data for file, data in found.items() if file in before} == before
            assert all(file.startswith("report/") for file in found.keys() - before.keys()), found.keys()
        assert not list(where.rglob(f"{PREFIX}*"))
        subprocess.run(["mount", "-o", "remount,size=2m", str(where)], check=True)
        assert main(FULL[name]) == 0


@pytest.mark.parametrize("name", FULL)
def test_a_read_only_disk(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_disk(tmp_path / "disk", 2000) as where:
        assert name == "gen" or main(FULL[name]) == 0
        before = content(where)
        subprocess.run(["mount", "-o", "remount,ro", str(where)], check=True)
        capsys.readouterr()
        assert main(FULL[name]) == 1
        refused(capsys.readouterr().err, "Read-only file system")
        assert content(where) == before


@pytest.mark.skipif(os.name != "posix" or not os.geteuid(), reason="root may write into every folder")
def test_a_folder_without_rights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "disk").mkdir(mode=0o500)
    for words in FULL.values():
        assert main(words) == 1
        refused(capsys.readouterr().err, "Permission denied")


@pytest.mark.slow
def test_a_full_cache_and_no_home_change_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4) as where:
        (where / "full").write_bytes(b"x" * 4096)
        for name, environment in (
            ("cache", {"TABLA_CACHE": str(where / "cache"), "TABLA_CACHE_KINDS": "schedules"}),
            ("home", {"HOME": str(where / "none"), "TABLA_CACHE_KINDS": "schedules,compiled"}),
        ):
            assert command(*GEN, name, **environment)[0] == 0
    assert content(tmp_path / "cache") == content(tmp_path / "home")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["cxxrtl", "icarus"])
def test_a_full_temporary_folder(engine: str, tmp_path: Path) -> None:
    """A simulator that cannot be built for want of space is no fault of ours, and its error names the folder."""
    np.savez("inputs.npz", x=np.zeros((2, 2)), y=np.zeros(2), w=np.zeros(2), b=np.zeros(()))
    with small_disk(tmp_path / "disk", 64) as where:
        (where / "filler").write_bytes(b"x" * 40_000)
        words = ("sim", "line.t", "--pes", "1", "--effort", "0", "--engine", engine, "--inputs", "inputs.npz", "-q")
        status, said = command(*words, TMPDIR=str(where), TABLA_CACHE=str(tmp_path / "cache"))
        if "is not installed" in said or "no Icarus" in said:
            pytest.skip("a tool is missing")
        assert status == 1
        refused(said, "No space left on device" if "full" not in said else "is full")


def test_no_temporary_folder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`train` needs none. A missing folder in TMPDIR is passed over, as by every program of Python."""
    monkeypatch.setenv("TMPDIR", "/none/at/all")
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert main(["train", "line.t", *LEARN, "-o", "one.npz"]) == 0
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/none/at/all"])
    assert main(["train", "line.t", *LEARN, "-o", "two.npz"]) == 0
    assert content(Path("one.npz")) == content(Path("two.npz"))
    capsys.readouterr()
    assert main(["synth", "line.t", "--pes", "1", "--target", "ecp5", "-q"]) == 1
    refused(capsys.readouterr().err, "No usable temporary directory found", "TMPDIR")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_standard_output() -> None:
    status, said = command("targets", out="/dev/full")
    assert status == 1
    refused(said, "No space left on device")


def test_a_tool_that_failed_for_want_of_space(tmp_path: Path) -> None:
    disk.refuse_full(tmp_path, "a fault of the design")
    with pytest.raises(TablaError, match=f"'{tmp_path.parent}' is full") as caught:
        disk.refuse_full(tmp_path, "cannot write: No space left on device")
    assert "TMPDIR" in (caught.value.hint or "")
    with small_disk(tmp_path / "disk", 32) as where, pytest.raises(TablaError, match="is full"):
        disk.refuse_full(where, "a fault that says nothing of it")


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("there", "not-yet"):
        (tmp_path / name).symlink_to(tmp_path / "data" / name)
    (tmp_path / "data" / "there").write_text("old")
    for name in ("there", "not-yet"):
        with replaced_file(tmp_path / name) as fresh:
            fresh.write_text("new")
        assert (tmp_path / name).is_symlink() and (tmp_path / "data" / name).read_text() == "new"
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["not-yet", "there"]
    (tmp_path / "nowhere").symlink_to(tmp_path / "none" / "file")
    with pytest.raises(TablaError, match=f"there is no folder '{tmp_path / 'none'}'"):
        check_file(tmp_path / "nowhere")


def test_a_link_is_no_output_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(TablaError, match="is not a folder"):
        check_replaceable(tmp_path / "link")


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o600)
    with replaced_file(path) as fresh:
        fresh.write_text("new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o600


def test_what_is_removed_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither another user's folder goes, nor a link, nor anything where a file system has no locks."""
    (tmp_path / f"{PREFIX}mine").mkdir()
    (tmp_path / f"{PREFIX}mine" / "file").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "data")
    (tmp_path / f"{PREFIX}file").touch()
    everything = sorted(path.name for path in tmp_path.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        clear(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(disk, "fcntl", None)
        clear(tmp_path)
        with replaced_file(tmp_path / "out") as fresh:
            fresh.write_text("new")
    (tmp_path / "out").unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == everything
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(set(everything) - {f"{PREFIX}mine"})
