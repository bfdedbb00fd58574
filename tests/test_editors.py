"""Editors and tools see the whole package in a checkout: one real tree, and links to four of its folders at the top."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest
from setuptools import find_packages

from tests.test_layers import LINKS

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", LINKS)
def test_the_top_shows_folders_of_the_package(name: str) -> None:
    """On a system without symbolic links git writes the path of the folder as text, and the package works as well."""
    link = ROOT / name
    if link.is_symlink():
        assert link.readlink() == Path("tabla", name)
    else:
        assert link.read_text(encoding="utf-8") == f"tabla/{name}"
    assert (ROOT / "tabla" / name / "__init__.py").is_file()


def test_the_package_is_not_in_itself() -> None:
    """``tabla.tabla`` would be a second copy of every class."""
    done = subprocess.run([sys.executable, "-c", "import tabla.tabla"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "No module named 'tabla.tabla'" in done.stderr


def test_setup_cfg_finds_every_package() -> None:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert setup["options"]["packages"] == "find:"
    assert setup["options.packages.find"]["include"] == "tabla*"
    folders = {path.parent for path in (ROOT / "tabla").rglob("*.py")}
    found = find_packages(str(ROOT), include=["tabla*"])
    assert {".".join(folder.relative_to(ROOT).parts) for folder in folders} == set(found)


@pytest.mark.parametrize(
    ("module", "name", "file"),
    [
        ("tabla.hw.lane", "Lane", "tabla/hw/lane.py"),
        ("tabla.templates.template", "timing", "tabla/templates/template.py"),
        ("tabla.sim.machine", "Machine", "tabla/sim/machine.py"),
        ("tabla", "TablaError", "tabla/base/source.py"),
    ],
)
def test_an_editor_finds_definitions(module: str, name: str, file: str) -> None:
    """Jedi, which reads a checkout without running it, goes from an import to the definition."""
    jedi = pytest.importorskip("jedi")
    text = f"from {module} import {name}\n"
    script = jedi.Script(text, path=ROOT / "new.py", project=jedi.Project(ROOT))
    (place,) = script.goto(1, len(text) - 2, follow_imports=True)
    assert Path(place.module_path) == ROOT / file
    assert place.name == name


def test_ruff_knows_our_packages_as_first_party(tmp_path: Path) -> None:
    ours = tomllib.loads((ROOT / "ruff.toml").read_text(encoding="utf-8"))["lint"]["isort"]["known-first-party"]
    assert ours == ["tabla", "tests", "verify", "benchmarks", "manual"]
    file = tmp_path / "new.py"
    file.write_text("import zlib\n\nimport numpy\n\nimport tabla\n\nprint(zlib, numpy, tabla)\n", encoding="utf-8")
    ruff = [str(Path(sys.executable).with_name("ruff")), "check", "--config", str(ROOT / "ruff.toml"), "--no-cache"]
    assert subprocess.run([*ruff, str(file)], capture_output=True).returncode == 0
    file.write_text("import zlib\n\nimport numpy\nimport tabla\n\nprint(zlib, numpy, tabla)\n", encoding="utf-8")
    done = subprocess.run([*ruff, str(file)], capture_output=True, text=True)
    assert "I001" in done.stdout


def test_lint_checks_types_and_format_of_the_checkout() -> None:
    """``make lint`` installs nothing: mypy reads the checkout, as an editor does."""
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe is not None
    commands = [line.strip().removeprefix("$(BIN)/") for line in recipe[1].splitlines()]
    assert commands == ["ruff check .", "ruff format --check --quiet .", "python -m mypy -p tabla"]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    for command in ("ruff check", "ruff format --check", "python -m mypy -p tabla"):
        assert f"entry: .venv/bin/{command}\n" in hooks


def test_editors_and_ruff_agree_on_the_width_of_lines() -> None:
    wide = tomllib.loads((ROOT / "ruff.toml").read_text(encoding="utf-8"))["line-length"]
    assert f"max_line_length = {wide}\n" in (ROOT / ".editorconfig").read_text(encoding="utf-8")
