"""The caches: whole entries or none, whatever other processes do, and no more bytes than allowed."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest

from tabla.base import caches
from tabla.base.caches import Cache, SharedCacheWarning
from tabla.commands.cli import main


def cache_in(folder: Path, largest: int = 1000) -> Cache:
    return Cache(where=folder, largest=largest)


def write(folder: Path, text: str = "text") -> str:
    (folder / "file").write_text(text)
    return text


def read(folder: Path) -> str:
    return (folder / "file").read_text()


def test_an_entry_is_read_back(tmp_path: Path) -> None:
    assert cache_in(tmp_path).read("a", read) is None
    assert cache_in(tmp_path).add("a", write) == "text"
    assert cache_in(tmp_path).read("a", read) == "text"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("file", ["file", "sum"])
@pytest.mark.parametrize("broken", ["", "other", None])
def test_a_broken_entry_is_none_and_goes(tmp_path: Path, file: str, broken: str | None) -> None:
    cache_in(tmp_path).add("a", write)
    if broken is None:
        (tmp_path / "a" / file).unlink()
    else:
        (tmp_path / "a" / file).write_text(broken)
    assert cache_in(tmp_path).read("a", read) is None
    assert list(tmp_path.iterdir()) == []
    assert cache_in(tmp_path).add("a", write) == cache_in(tmp_path).read("a", read) == "text"


def test_the_longest_unused_entries_go(tmp_path: Path) -> None:
    small = cache_in(tmp_path, largest=700)  # an entry has 164 bytes, 64 of them for its sum
    for age, name in enumerate("abcd"):
        small.add(name, lambda folder: write(folder, "x" * 100))
        os.utime(tmp_path / name, (1000 + age, 1000 + age))
    small.read("a", read)  # used just now
    small.add("e", lambda folder: write(folder, "x" * 100))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c", "d", "e"]


def test_what_a_killed_process_left_goes_after_an_hour(tmp_path: Path) -> None:
    for name in (".new-x", ".old-y", ".new-z"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    for name in (".new-x", ".old-y"):
        os.utime(tmp_path / name, (1000, 1000))
    cache_in(tmp_path).add("a", write)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new-z", "a"]


def test_the_entry_of_a_faster_process_stays(tmp_path: Path) -> None:
    def slow(folder: Path) -> str:
        cache_in(tmp_path).add("a", lambda inner: write(inner, "first"))
        return write(folder, "second")

    assert cache_in(tmp_path).add("a", slow) == "second"
    assert cache_in(tmp_path).read("a", read) == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache_in(tmp_path).add("a", fail)
    assert list(tmp_path.iterdir()) == []


def other_user(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a folder be one of another user."""
    if os.geteuid():
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    else:
        os.chown(path, 4242, -1)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights")
@pytest.mark.parametrize("inner", ["", "kind"])
@pytest.mark.parametrize("why", ["group", "others", "owner"])
def test_a_folder_that_others_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inner: str, why: str
) -> None:
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "mine"))
    first = Cache.of("kind", 1000)
    assert first is not None and first.add("a", write) == "text"
    folder = tmp_path / "mine" / inner
    match why:
        case "group":
            folder.chmod(0o770)
        case "others":
            folder.chmod(0o777)
        case _:
            other_user(folder, monkeypatch)
    said = "it belongs to another user.*TABLA_CACHE$" if why == "owner" else r"others may write it.*: chmod go-w '.*'$"
    with pytest.warns(SharedCacheWarning, match=said):
        assert Cache.of("kind", 1000) is None


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights")
@pytest.mark.parametrize("part", ["", "file", "sum"])
def test_an_entry_that_others_may_write_is_made_anew(tmp_path: Path, part: str) -> None:
    cache_in(tmp_path).add("a", write)
    (tmp_path / "a" / part).chmod(0o777)
    assert cache_in(tmp_path).read("a", read) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights")
def test_what_is_made_is_private_whatever_the_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "mine"))
    before = os.umask(0)
    try:
        for _ in range(2):
            found = Cache.of("kind", 1000)
            assert found is not None
            found.add("a", write)
            assert found.read("a", read) == "text"
    finally:
        os.umask(before)


def test_a_command_says_that_the_cache_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command works without, and says so once."""
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path))
    (tmp_path / "m.t").write_text("model_input x[2]; iterator i[0:2]; y = sum[i](x[i]);")
    tmp_path.chmod(0o777)
    # Two kinds of entries are asked for, and what happens in between may change the filters of warnings.
    one = Cache.of

    def twice(kind: str, largest: int) -> Cache | None:
        one(kind, largest)
        warnings.simplefilter("error", FutureWarning)
        return one(kind, largest)

    monkeypatch.setattr(Cache, "of", twice)
    for _ in range(2):
        assert main(["gen", str(tmp_path / "m.t"), "--pes", "1", "-o", str(tmp_path / "out")]) == 0
        said = capsys.readouterr().err
        assert said.count(f"warning: the cache '{tmp_path}' is not used, because others may write it") == 1
    assert not (tmp_path / "schedules").exists()
    assert main(["doctor"]) == 0
    assert "are not used, because others may write it" in capsys.readouterr().out


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "mine"))
    found = Cache.of("kind", 1)
    assert found is not None
    assert found.where == tmp_path / "mine" / "kind"
    if os.name == "posix":
        assert found.where.stat().st_mode & 0o077 == 0
    for kinds, kept in [("kind", True), ("other,kind", True), ("other", False), ("", False)]:
        monkeypatch.setenv("TABLA_CACHE_KINDS", kinds)
        assert (Cache.of("kind", 1) is not None) == kept
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.setenv("TABLA_CACHE", "")
    assert Cache.of("kind", 1) is None
    monkeypatch.delenv("TABLA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert caches.folder() == tmp_path / "tabla"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setattr(sys, "platform", "win32")
    assert caches.folder() == tmp_path / "local" / "tabla"
    # A file in the place of the folder: nothing is kept, and nothing fails.
    (tmp_path / "file").touch()
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "file"))
    assert Cache.of("kind", 1) is None
