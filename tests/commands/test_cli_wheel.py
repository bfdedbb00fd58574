"""The package as pip installs it: nothing is missing, and it works far from the checkout."""

from __future__ import annotations

import configparser
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ("tabla", "setup.cfg", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed package. pip builds in the folder of the sources, so the package is installed from a copy."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed (pip install '.[test]')")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in BUILD:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, source / name)
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--no-compile", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    return target


def tabla(installed: Path, folder: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tabla", *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_is_there(installed: Path) -> None:
    for path in (ROOT / "tabla").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert (installed / path.relative_to(ROOT)).is_file(), f"{path} is not in the wheel"
    assert list(installed.glob("tabla_fpga-*.dist-info/licenses/LICENSE"))


def test_only_tabla_is_installed(installed: Path) -> None:
    assert {p.name.split("-")[0] for p in installed.iterdir()} <= {"tabla", "tabla_fpga", "bin"}


def test_commands_work_far_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the data set comes with scikit-learn")
    where = [sys.executable, "-P", "-c", "import tabla; print(tabla.__file__)"]
    found = subprocess.run(where, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True)
    assert str(installed) in found.stdout.decode()
    assert "linear regression" in tabla(installed, tmp_path, "examples")
    tabla(installed, tmp_path, "examples", "linear")
    tabla(installed, tmp_path, "gen", "linear.t")
    assert (tmp_path / "build/linear.v").stat().st_size > 10_000
    assert (tmp_path / "build/tb/host_loop.py").is_file()
    data = ("--data", "diabetes.npz", "--samples", "20", "--epochs", "1", "--engine", "model")
    assert "predicted = " in tabla(installed, tmp_path, "train", "linear.t", *data)
    assert "Pe16" in tabla(installed, tmp_path, "templates")


IMPORTED = {"scikit-learn": "sklearn", "pyserial": "serial"}


def modules_of(extras: list[str]) -> set[str]:
    """The names by which the packages of these extras are imported."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = "\n".join(config["options.extras_require"][extra] for extra in extras).splitlines()
    names = [re.split(r"[\[<>=]", line)[0] for line in lines if line and not line.startswith("#")]
    return {IMPORTED.get(name, name.replace("-", "_")) for name in names}


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_session_needs_no_more_than_its_page_installs(page: str, installed: Path, tmp_path: Path) -> None:
    """Packages of other extras are as if they were not there. The page also says how a virtual environment is made."""
    pytest.importorskip("sklearn", reason="the data set comes with scikit-learn")
    text = (ROOT / page).read_text(encoding="utf-8")
    before, session = text.split("```console\n", 1)
    assert "python3 -m venv" in before
    named = re.findall(r"^ *pip install '\.\[(\w+)\]'", before, re.MULTILINE)
    extras = [extra for extra in named if extra != "all"]
    missing = modules_of(["all"]) - modules_of(extras)
    assert "numba" in missing and "sklearn" not in missing
    program = f"import sys; sys.modules.update(dict.fromkeys({sorted(missing)}))\n"
    program += "from tabla.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    commands = re.findall(r"^\$ tabla (.*)$", session.split("```")[0], re.MULTILINE)
    assert commands[0].startswith("examples ") and len(commands) > 1
    for command in commands:
        words = [sys.executable, "-P", "-c", program, *shlex.split(command)]
        environment = {**os.environ, "PYTHONPATH": str(installed)}
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"$ tabla {command}\n{done.stderr}"
