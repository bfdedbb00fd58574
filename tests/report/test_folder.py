"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tabla.report.folder import replaced_file


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
