"""The command as a process: its streams, its arguments and its folder, where any of them is not as usual."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TEXT = "model_input x[2]; iterator i[0:2]; y = sum[i](x[i]);\n"
ODD = b"\xff\xfe".decode("utf-8", "surrogateescape")
"""A name that is not UTF-8."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="closes numbers of files, and has names of bytes")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "m.t").write_text(TEXT)
    np.savez(tmp_path / "d.npz", x=np.ones((3, 2)))
    return tmp_path


def ran(work: Path, shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which ``tabla`` is the command. Its output has a buffer, as that of users has."""
    tabla = f'tabla() {{ "{sys.executable}" -m tabla "$@"; }}\n'
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    given = {**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "", "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        ["sh", "-c", tabla + shell], cwd=work, env=given, capture_output=True, text=True, errors="surrogateescape"
    )


@pytest.mark.parametrize(
    "closed",
    [">&-", pytest.param("2>&-", marks=pytest.mark.slow), pytest.param("<&- >&- 2>&-", marks=pytest.mark.slow)],
)
def test_closed_streams(work: Path, closed: str) -> None:
    """What goes to a stream that is closed is lost, and nothing else: no file gets its number."""
    ended = ran(work, f"tabla gen m.t --pes 1 -o open >/dev/null 2>&1; tabla gen m.t --pes 1 -o closed {closed}")
    assert (ended.returncode, ended.stderr) == (0, "") if "2>" in closed else ended.returncode == 0, ended.stderr
    files = sorted(path.relative_to(work / "open") for path in (work / "open").rglob("*") if path.is_file())
    assert len(files) > 5
    for file in files:
        assert (work / "open" / file).read_bytes() == (work / "closed" / file).read_bytes(), file
    assert ran(work, f"tabla check none.t {closed}").returncode == 1


@pytest.mark.parametrize("words", ["gen --help", "targets", "--version"])
def test_a_reader_that_has_ended(work: Path, words: str) -> None:
    ended = ran(work, f"(sleep 0.5; tabla {words}; echo $? >&2) | true")
    assert ended.stderr == "1\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", ["gen --help", "targets", "--version"])
def test_an_output_that_is_full(work: Path, words: str) -> None:
    ended = ran(work, f"tabla {words} > /dev/full")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ") and "No space left on device\n" in ended.stderr
    assert "Traceback" not in ended.stderr and "Exception" not in ended.stderr


@pytest.mark.parametrize("words", ["check m.t", "gen m.t --pes 1 -o out", "tblgen a.td"])
def test_a_python_without_docstrings(work: Path, words: str) -> None:
    """PLY finds the rules of its grammars in docstrings."""
    (work / "a.td").write_text("def a;")
    ended = ran(work, f"tabla {words}", PYTHONOPTIMIZE="2")
    assert ended.returncode == 1
    assert ended.stderr == (
        "error: python -OO leaves out the docstrings, which hold the grammars\n"
        "hint: use python -O, or PYTHONOPTIMIZE=1\n"
    )
    assert ran(work, f"tabla {words}", PYTHONOPTIMIZE="1").returncode == 0


def test_a_folder_that_has_been_removed(work: Path) -> None:
    (work / "gone").mkdir()
    ended = ran(work, "cd gone; rmdir ../gone; tabla gen ../m.t --pes 1; tabla gen /dev/null --pes 1 -o out")
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    (work / "gone").mkdir()
    ended = ran(work, f"cd gone; rmdir ../gone; tabla gen '{work / 'm.t'}' --pes 1")
    assert ended.returncode == 1
    assert ended.stderr == "error: the current folder has been removed\nhint: go to a folder that exists\n"


@pytest.mark.parametrize("encoding", ["utf-8:strict", pytest.param("ascii:strict", marks=pytest.mark.slow)])
def test_names_that_are_not_utf_8(work: Path, encoding: str) -> None:
    """Files of such names are read and written, and a program needs another one, which its files have."""
    os.rename(work / "d.npz", work / f"d{ODD}.npz")
    (work / f"m{ODD}.t").write_text(TEXT)
    (work / f"f{ODD}").mkdir()
    (work / f"f{ODD}" / "m.t").write_text(TEXT)

    def said(*words: str) -> tuple[int, str]:
        line = " ".join(f"'{word}'" for word in ("tabla", *words)).replace("'tabla'", "tabla", 1)
        ended = ran(work, line, PYTHONIOENCODING=encoding)
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended.returncode, ended.stdout + ended.stderr

    assert said("eval", "m.t", "--inputs", f"d{ODD}.npz", "-o", f"e{ODD}.npz")[0] == 0
    assert (work / f"e{ODD}.npz").is_file()
    assert said("gen", f"f{ODD}/m.t", "--pes", "1", "-o", f"o{ODD}", "--bus", "axi")[0] == 0
    assert (work / f"o{ODD}" / "m.v").is_file()
    assert said("examples", "linear", "-o", f"x{ODD}")[0] == 0
    assert said("preprocess", f"m{ODD}.t") == (0, TEXT)
    for command in ("check", "gen"):
        status, text = said(command, f"m{ODD}.t")
        assert status == 1
        assert text == (
            "error: the name of 'm\\udcff\\udcfe.t' is not UTF-8, and what is made of a program has its name\n"
            "hint: rename the file\n"
        )
