"""``.ci/simulators`` on a made-up machine: what it installs, what it says, that one package does not stop another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "simulators"
WANTED = ["iverilog", "g++", "make", "perl", "llvm-14", "llvm-19", "libmlir-19-dev", "llvm-22", "libmlir-22-dev"]
APT = """for package; do :; done
[ "$package" = update ] && exit 0
case " $ABSENT " in *" $package "*) echo "E: Unable to locate package $package" >&2; exit 100;; esac
echo "$package" >> "$LOG"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs that has no simulator, and an apt-get that only writes down what it installs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "env", "grep", "head", "mkdir", "rm"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    for name, text in (
        ("apt-get", APT),
        ("dpkg-deb", ""),
        ("tar", ""),
        ("id", "echo 0\n"),
        ("python", f'exec {sys.executable} "$@"\n'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{text}")
        (programs / name).chmod(0o755)
    return programs


def setup(machine: Path, absent: str = "") -> tuple[list[str], str]:
    """The packages that the script installs, and what it says; it never fails."""
    log = machine.parent / "log"
    environment = {"PATH": str(machine), "LOG": str(log), "ABSENT": absent, "HOME": os.environ.get("HOME", "/")}
    command = [str(machine / "sh"), str(SCRIPT), str(machine / "python")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=machine.parent)
    assert done.stderr == ""
    return log.read_text().split() if log.exists() else [], done.stdout


def present(packages: list[str]) -> list[str]:
    """Without LLVM's records, which the script looks for at their own places, and Python's library."""
    here = [name for name in packages if not name.startswith("libpython")]
    return [
        name for name in here if name != "libmlir-14-dev" and not (name.startswith("llvm-") and name.endswith("-dev"))
    ]


def test_each_package_by_itself(machine: Path) -> None:
    installed, said = setup(machine)
    assert present(installed) == present(WANTED)
    assert "will be skipped" not in said


def test_a_package_that_the_system_does_not_have_stops_no_other(machine: Path) -> None:
    installed, said = setup(machine, absent="iverilog llvm-14")
    assert present(installed) == [name for name in WANTED if name not in ("iverilog", "llvm-14")]
    refused = [line for line in said.splitlines() if "will be skipped" in line]
    assert len(refused) == 2
    assert "no iverilog (E: Unable to locate package iverilog): the tests on Icarus Verilog" in refused[0]
    assert "no llvm-14 (E: Unable to locate package llvm-14): the comparisons with llvm-tblgen 14" in refused[1]


def test_the_library_of_the_systems_own_python(machine: Path) -> None:
    """Debian has it in a package of its own; another Python's library is not apt-get's to bring."""
    stub = 'import sys, types; m = types.ModuleType("find_libpython"); m.find_libpython = lambda: {found}'
    start = 'sys.modules["find_libpython"] = m; sys.base_prefix = "{prefix}"; exec(sys.argv.pop(1))'
    for found, prefix, expected in (("None", "/usr", True), ("None", "/opt/own", False), ("'/lib/so'", "/usr", False)):
        (machine.parent / "log").unlink(missing_ok=True)
        text = f"{stub.format(found=found)}; {start.format(prefix=prefix)}"
        (machine / "python").write_text(f"#!/bin/sh\nshift\nexec {sys.executable} -c '{text}' \"$@\"\n")
        installed, _ = setup(machine)
        version = f"libpython{sys.version_info.major}.{sys.version_info.minor}"
        assert [name for name in installed if name.startswith("libpython")] == [version] * expected


def test_without_apt_get_it_says_what_is_skipped(machine: Path) -> None:
    (machine / "apt-get").unlink()
    installed, said = setup(machine)
    assert installed == []
    assert "no g++ (there is no apt-get): the tests on CXXRTL and Verilator will be skipped" in said
