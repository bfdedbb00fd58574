"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tabla.base.folder import check_file, check_replaceable, new_folder, replaced_file
from tabla.base.source import TablaError
from tabla.commands.cli import main


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replaced_file(path) as fresh:
        fresh.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    with replaced_file(path) as fresh:
        fresh.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    """A pipe is not replaced by a file, and neither is a device such as ``/dev/null``."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The pipe is open for reading and writing, so that neither end waits for the other.
    held = os.open(pipe, os.O_RDWR)
    try:
        with replaced_file(pipe) as fresh:
            fresh.write_text("words")
        assert pipe.is_fifo()
        assert os.read(held, 5) == b"words"
    finally:
        os.close(held)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_to_a_device_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    with replaced_file(link) as fresh:
        fresh.write_text("words")
    assert link.is_symlink() and not link.is_file()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is a folder into which nobody can write")
def test_a_folder_into_which_nothing_can_be_written_is_found_by_a_trial(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for where in (
        Path("/proc/build"),
        Path("/proc/a/b/build"),
        tmp_path / "file" / "build",
        tmp_path / "file" / "a" / "b",
    ):
        with pytest.raises(TablaError, match="cannot write into"):
            check_replaceable(where)
    with pytest.raises(TablaError, match="cannot write into"):
        check_file(Path("/proc/out.npz"))
    check_replaceable(tmp_path / "new" / "build")
    check_file(tmp_path / "out.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "words",
    [
        ["gen", "none.t", "-o", "file/build"],
        ["gen", "none.t", "-o", "."],
        ["build", "none.t", "--board", "ulx3s-85f", "-o", "file/build"],
        ["eval", "none.t", "--inputs", "none.npz", "-o", "file/out.npz"],
        ["sim", "none.t", "--inputs", "none.npz", "-o", "file/out.npz"],
        ["train", "none.t", "--data", "none.npz", "-o", "file/out.npz"],
        ["tblgen", "none.td", "-o", "file/out.txt"],
        ["preprocess", "none.t", "-o", "file/out.t"],
        ["examples", "logistic", "-o", "file/examples"],
    ],
    ids=lambda words: words[0],
)
def test_a_bad_output_is_found_before_anything_else(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program does not exist either: a command that had begun to work would say so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr("tabla.commands.examples.write")  # the example does exist
    Path("file").write_text("")
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "none." not in said.err
    assert "file" in said.err or "current folder" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_new_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    with new_folder(tmp_path / "inner" / "new") as fresh:
        (fresh / "a.txt").write_text("a")
        assert not (tmp_path / "inner" / "new").exists()
    assert (tmp_path / "inner" / "new" / "a.txt").read_text() == "a"
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["new"]
    with pytest.raises(RuntimeError), new_folder(tmp_path / "other") as fresh:
        (fresh / "a.txt").write_text("a")
        raise RuntimeError
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_a_new_folder_replaces_nothing(tmp_path: Path, kind: str) -> None:
    there = tmp_path / "there"
    match kind:
        case "folder":
            there.mkdir()
        case "file":
            there.write_text("kept")
        case "link":
            there.symlink_to("nowhere")
    with pytest.raises(TablaError, match="is there already"), new_folder(there):
        pass
    with pytest.raises(TablaError, match="is there already"), new_folder(tmp_path / "late") as fresh:
        (fresh / "a.txt").write_text("a")
        (tmp_path / "late").mkdir()
    assert not list((tmp_path / "late").iterdir())
