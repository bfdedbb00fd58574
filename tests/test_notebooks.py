"""The tutorials as notebooks: their cells are the blocks of the pages, and all of them run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from manual import notebooks
from tests.pages import DOCS, FENCE, agrees, blocks, command, own_modules

ROOT = DOCS.parent
NAMES = notebooks.names()
QUICK = "kernel"
"""A tutorial with files, sessions and Python that takes a few seconds."""


def cells(name: str, kind: str) -> list[dict[str, Any]]:
    """Return the cells of one kind of the notebook of a tutorial."""
    return [cell for cell in json.loads(notebooks.written(name))["cells"] if cell["cell_type"] == kind]


def run_cells(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> int:
    """Run the code cells of a notebook in their order, as Jupyter would, and return how many there are.

    All cells share their names. Of Jupyter's additions to Python, the notebooks have these three: a cell that writes a
    file, a line that runs a command, and a line that changes the folder.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["notebook"])
    monkeypatch.setenv("TABLA_CACHE_KINDS", "compiled,schedules,simulators")
    shared: dict[str, object] = {"__name__": "__main__"}
    code = cells(name, "code")
    with own_modules(folder):
        for cell in code:
            source = "".join(cell["source"])
            if head := re.match(r"%%writefile (\S+)\n", source):
                Path(head[1]).write_text(source[head.end() :] + "\n", encoding="utf-8")
            elif source.startswith(("!", "%cd ")):
                printed = command(source[1:], capsys)
                shown = "".join(line for output in cell["outputs"] for line in output["text"])
                assert agrees(f"$ {source[1:]}\n{shown}", printed), f"{name}: {source}\n{printed}"
            else:
                exec(compile(source, name, "exec"), shared)
                capsys.readouterr()
        shared.clear()
    return len(code)


def test_a_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cells(QUICK, tmp_path, monkeypatch, capsys) > 5


@pytest.mark.docs
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [name for name in NAMES if name != QUICK])
def test_all_notebooks_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cells(name, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_are_the_blocks_of_the_page(name: str) -> None:
    """Nothing of a page is lost: its files, its Python, its commands with what they print, and its prose."""
    text = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    expected = []
    for block in blocks(text):
        if block.file:
            expected.append((f"%%writefile {block.file}\n{block.body}".rstrip("\n"), "", block.slow))
        elif block.kind == "python":
            expected.append((block.body.strip("\n"), "", block.slow))
        elif block.kind == "console":
            for one in block.body.removeprefix("$ ").split("\n$ "):
                line, _, shown = one.partition("\n")
                magic = "%" if line.startswith("cd ") else "!"
                expected.append((f"{magic}{line}", shown.rstrip("\n"), block.slow))
    code = [
        (
            "".join(cell["source"]),
            "".join(line for output in cell["outputs"] for line in output["text"]).rstrip("\n"),
            "slow" in cell["metadata"].get("tags", []),
        )
        for cell in cells(name, "code")
    ]
    assert code == expected
    prose = "\n".join("".join(cell["source"]) for cell in cells(name, "markdown"))
    kept, whole = (FENCE.sub("", one).replace(".html", ".md").split() for one in (prose, text))
    assert kept == whole


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_has_the_format_of_jupyter(name: str) -> None:
    text = notebooks.written(name)
    assert text == notebooks.written(name)
    read = json.loads(text)
    assert (read["nbformat"], read["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in read["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[\w-]{1,64}", one) for one in ids)
    assert all(set(cell) >= {"cell_type", "metadata", "source"} for cell in read["cells"])
    code = [cell for cell in read["cells"] if cell["cell_type"] == "code"]
    assert code and all({"execution_count", "outputs"} <= set(cell) for cell in code)
    # Jupyter would fill in braces and dollars of a command with values of Python.
    lines = ["".join(cell["source"]) for cell in code]
    assert not [line for line in lines if line.startswith("!") and re.search(r"[{}$]", line)]


def test_links_lead_to_the_pages_of_the_site() -> None:
    """`tests/test_site.py` builds the site, in which the notebooks lie beside the pages."""
    made = notebooks.notebook("# One\n[a](../fpga.md#b), [c](d.md), [e](https://f.md)\n\n```console\n$ cd work\n```\n")
    prose, code = made["cells"]
    assert prose["source"][1] == "[a](../fpga.html#b), [c](d.html), [e](https://f.md)"
    assert code["source"] == ["%cd work"]


def test_a_command_writes_all_notebooks(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "manual.notebooks"]
    done = subprocess.run([*words, str(tmp_path / "n")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.stem for path in (tmp_path / "n").iterdir()) == NAMES
    assert (tmp_path / "n" / f"{QUICK}.ipynb").read_text(encoding="utf-8") == notebooks.written(QUICK)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "FOLDER" in done.stderr
