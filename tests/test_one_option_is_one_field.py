"""A new option is one field of a record: the command line, Python, the reference and the checks follow from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.logistic_program import LOGISTIC

ROOT = Path(__file__).resolve().parent.parent
BEFORE = "    pes: int | None = option("
FIELD = """    spare_rows: int | None = option(
        WholeNumber(low=1, high=9),
        "rows that stay free",
        group=_ARRAY,
        commands=BUILDS,
        metavar="N",
        example="3",
        unit="rows",
    )
"""
ASKED = """
import inspect, tabla
print(inspect.signature(tabla.compile).parameters["spare_rows"])
print("* `spare_rows`: rows that stay free; 1 to 9." in tabla.compile.__doc__)
print(tabla.compile("model.t", spare_rows=3).options.spare_rows)
try:
    tabla.compile("model.t", spare_rows=12)
except ValueError as fault:
    print(fault.message)
try:
    tabla.compile("model.t", spare_row=1)
except TypeError as fault:
    print(fault.hint)
"""
TYPED = """
from tabla.learn.keywords import CompileOptions
good: CompileOptions = {"spare_rows": 3}
wrong: CompileOptions = {"spare_rows": "three"}
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, with one field more."""
    folder = tmp_path_factory.mktemp("changed")
    for name in ("tabla", "manual"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "tabla" / "build" / "options.py"
    text = file.read_text(encoding="utf-8")
    assert text.count(BEFORE) == 1
    file.write_text(text.replace(BEFORE, FIELD + BEFORE), encoding="utf-8")
    (folder / "model.t").write_text(LOGISTIC, encoding="utf-8")
    return folder


def run(folder: Path, *words: str, status: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_the_command_line_has_it(changed: Path) -> None:
    said = run(changed, "-m", "tabla", "gen", "--help")
    assert "--spare-rows N        rows that stay free\n" in said
    wrong = run(changed, "-m", "tabla", "gen", "model.t", "--spare-rows", "12", status=2)
    assert wrong.startswith("error: argument --spare-rows: 12 is more than 9\n")


def test_python_has_it(changed: Path) -> None:
    said = run(changed, "-c", ASKED).splitlines()
    assert said == [
        "spare_rows: 'int | None' = None",
        "True",
        "3",
        "spare_rows: 12 is more than 9",
        "did you mean 'spare_rows'?",
    ]


def test_the_reference_has_it(changed: Path) -> None:
    said = run(changed, "-c", "from manual.command_line import pages; print(pages(('gen',))['gen'])")
    assert "| `--spare-rows N` | rows that stay free | 1 to 9 (rows) | `--spare-rows 3` |" in said


def test_a_checker_of_types_knows_it(changed: Path) -> None:
    run(changed, "-m", "manual.keywords")
    (changed / "typed.py").write_text(TYPED, encoding="utf-8")
    mypy = ("-m", "mypy", "--strict", "--follow-imports=skip", "--cache-dir", str(changed / "cache"))
    said = run(changed, *mypy, "tabla/learn/keywords.py", "typed.py", status=1)
    assert 'typed.py:4: error: Incompatible types (expression has type "str", TypedDict item "spare_rows"' in said
    assert "typed.py:3" not in said
