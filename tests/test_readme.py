"""The README: its console session and its Python block are run, and every path and target in it exists.

``pytest --update-golden`` writes the output of the session anew.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tabla.commands.cli import main
from tests.pages import agrees

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the console session and the Python block run."""
    return tmp_path_factory.mktemp("readme")


def test_console_session(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    pytest.importorskip("sklearn", reason="the data set comes with scikit-learn")
    monkeypatch.chdir(folder)
    text = README.read_text(encoding="utf-8")
    found = SESSION.search(text)
    assert found
    seen = ""
    for line in re.findall(r"^\$ (.*)$", found[1], re.MULTILINE):
        program, *words = shlex.split(line)
        assert program == "tabla"
        assert main(words) == 0, capsys.readouterr().err
        seen += f"$ {line}\n{capsys.readouterr().out}"
    if request.config.getoption("--update-golden") and "\n...\n" not in found[1]:
        README.write_text(text[: found.start(1)] + seen + text[found.end(1) :], encoding="utf-8", newline="\n")
    else:
        assert agrees(found[1], seen), f"the page shows\n{found[1]}\nand printed is\n{seen}"


def test_it_is_short() -> None:
    """It has one picture and one table, and its lines of Python are six."""
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(re.findall(r"!\[", text)) == 1 and len(re.findall(r"^\|---", text, re.MULTILINE)) == 1
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) == 6


def test_python_block(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="the data set comes with scikit-learn")
    monkeypatch.chdir(folder)
    assert main(["examples", "logistic", "-o", "work"]) == 0
    found = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    exec(compile(found[1], "README.md", "exec"), {})
    assert (folder / "work/from_python/logistic.v").is_file()


def test_program_shown_is_the_example() -> None:
    text = README.read_text(encoding="utf-8")
    found = re.search(r"```\n(m = 30;.*?)```", text, re.DOTALL)
    assert found
    code = [line for line in (ROOT / "examples/logistic.t").read_text().splitlines() if not line.startswith("//")]
    assert [line.split("//")[0].rstrip() for line in found[1].splitlines()] == [
        line.split("//")[0].rstrip() for line in code
    ][1:]


def test_paths_named_exist() -> None:
    """Pages, docstrings and comments name files of the repository by paths that there are."""
    folders = "tabla|docs|examples|tests|verify|benchmarks|manual|templates|hw|sim"
    path = re.compile(rf"`((?:{folders})/[\w./-]*|(?:[\w-]+/)+[\w-]+\.(?:py|md|td|tc))`")
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    sources = [
        file for top in ("tabla", "tests", "verify", "benchmarks", "manual") for file in (ROOT / top).rglob("*.py")
    ]
    missing = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in (*pages, *sources)
        for name in path.findall(file.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_make_targets_named_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        for name in re.findall(r"make ([\w-]+)[`\s]", (ROOT / page).read_text()):
            if name not in ("and", "it"):
                assert name in targets, f"{page}: make {name}"
