"""What the tables of mistakes share: a folder with good files, and the rules for a command that is refused."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from tabla.commands.cli import main
from tests.logistic_program import LOGISTIC
from tests.mistakes.mistake import Mistake

LONGEST = 20
"""Seconds until a command counts as hanging; each takes less than one, but other work may run on the same machine."""

KERNEL = """def dot(float(N) A, float(N) B) -> (C) { C +=! A(i) * B(i) }
"""
LAYER = """from tabla.tile import *

def double(I):
    return I + I
"""
PRESETS = """include "machine.td"
def Mine : Template<12, 4> { let FractionBits = 12; }
"""

Refused = Callable[[Mistake], str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder of a command, with a good file of each kind.

    ``model.t`` is a logistic regression, ``data.npz`` and ``data.csv`` have 20 samples of it, ``in.npz`` has them and
    models, ``weights.npz`` has the models. ``kernel.tc``, ``layer.py`` and ``mine.td`` are good, too.
    """
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    x = np.random.default_rng(1).uniform(-1, 1, (20, 4))
    y = (x[:, 0] > 0).astype(float)
    np.savez(folder / "data.npz", x=x, y=y)
    np.savez(folder / "in.npz", x=x, y=y, w=np.zeros(4))
    np.savez(folder / "weights.npz", w=np.zeros(4))
    rows = [",".join(f"{value:.4f}" for value in (*row, label)) for row, label in zip(x, y, strict=True)]
    (folder / "data.csv").write_text("\n".join(("x[0],x[1],x[2],x[3],y", *rows, "")))
    for name, text in (("model.t", LOGISTIC), ("kernel.tc", KERNEL), ("layer.py", LAYER), ("mine.td", PRESETS)):
        (folder / name).write_text(text)
    return folder


def _content(folder: Path) -> dict[str, bytes]:
    """Return everything below a folder: files with their content, and other things by their name alone."""
    # Python writes the byte code of modules that it imports. That is not an output of the command.
    found = (p for p in sorted(folder.rglob("*")) if p.name != "__pycache__" and p.suffix != ".pyc")
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in found}


def _too_long(_: int, __: FrameType | None) -> None:
    raise AssertionError(f"the command took more than {LONGEST} seconds")


@pytest.fixture
def refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Return a function that runs a mistake, holds it against the rules, and returns the error message.

    The rules: the exit status is the expected one, standard output is empty, the first line of the message begins with
    ``error: ``, there is no traceback, no file is left or changed in the working or in the temporary folder, and the
    command comes to its end.
    """

    def refuse(mistake: Mistake) -> str:
        for name, content in mistake.files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        before = _content(tmp_path)
        handler = signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LONGEST)
        try:
            status = main(mistake.words)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, handler)
        said = capsys.readouterr()
        assert (status, said.out) == (mistake.status, ""), said.err
        remarks = ("warning: ", "note: ")
        lines = [line for line in said.err.splitlines() if not line.startswith(remarks)]
        assert lines and lines[0].startswith("error: "), said.err
        assert "Traceback" not in said.err
        for text in mistake.says:
            assert text in said.err, said.err
        assert _content(tmp_path) == before
        return said.err

    return refuse
