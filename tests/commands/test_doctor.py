"""`tabla doctor`: what is found and what is not, by tools that are made up, and on this machine."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import sys
from configparser import ConfigParser
from importlib import metadata
from pathlib import Path

import pytest

from tabla.commands import doctor
from tabla.commands.cli import main


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """What the command says as JSON."""
    assert main(["doctor", "--json", "-"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_on_a_machine_without_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is missing so badly that the command would fail, and each gap has its cure."""

    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(metadata, "version", absent)
    for module in ("tabla.commands.doctor", "tabla.host.engines.cocotb_run", "tabla.host.engines.cxxrtl_run"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
    monkeypatch.setenv("TABLA_CACHE", "")
    content = told(capsys)
    assert all(tool["version"] == "" and tool["cure"] for tool in content["tools"])  # type: ignore[attr-defined, index]
    missing = {engine["name"]: engine["missing"] for engine in content["engines"]}  # type: ignore[attr-defined, index]
    assert [name for name, gap in missing.items() if not gap] == ["model", "amaranth"]
    assert (
        "C++ compiler" in missing["cxxrtl"] and "cocotb" in missing["icarus"] and "pyserial" in missing["serial:PATH"]
    )
    assert content["cache"] == {"folder": None, "bytes": 0}
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "not found (apt-get install iverilog)" in text
    assert "cannot run: engine 'cxxrtl' needs a C++ compiler" in text
    assert "keeps nothing" in text


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_what_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Versions of programs and packages, and the size of the cache."""
    programs, kept = tmp_path / "bin", tmp_path / "cache"
    programs.mkdir()
    for name, says in (("iverilog", "Icarus Verilog version 12.3 (stable)"), ("make", "no number here")):
        (programs / name).write_text(f"#!{shutil.which('sh')}\necho '{says}'\nexit 1\n")
        (programs / name).chmod(0o755)
    (programs / "perl").write_text("no program\n")
    (programs / "perl").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    (kept / "deep").mkdir(parents=True)
    (kept / "deep" / "entry").write_bytes(b"x" * 1234)
    (kept / "other").write_bytes(b"y" * 66)
    monkeypatch.setenv("TABLA_CACHE", str(kept))
    content = told(capsys)
    versions = {tool["name"]: tool["version"] for tool in content["tools"]}  # type: ignore[attr-defined, index]
    assert versions["iverilog"] == "12.3"
    assert versions["make"] == "found"
    assert versions["perl"] == versions["g++"] == ""
    assert versions["amaranth"] == metadata.version("amaranth")
    assert content["cache"] == {"folder": str(kept), "bytes": 1300}
    assert content["python"] == sys.version.split()[0]
    assert main(["doctor"]) == 0
    assert f"1,300 bytes in {kept}" in capsys.readouterr().out


def test_every_extra_of_the_package_is_known() -> None:
    """Each package of the extras is in the table, with an extra that has it."""
    setup = ConfigParser()
    setup.read(Path(__file__).resolve().parents[2] / "setup.cfg")
    extras = {extra for _, _, extra in doctor._PACKAGES if extra}
    assert len(extras) >= 6
    for extra in extras:
        for requirement in setup["options.extras_require"][extra].split():
            package = re.split("[<>=[]", requirement)[0]
            if package:
                assert package in [known for known, _, _ in doctor._PACKAGES], requirement


def installed(folder: Path, name: str, summary: str, script: str) -> None:
    """Write what pip writes about a distribution that it has installed in `folder`."""
    about = folder / f"{name}-0.0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\nSummary: {summary}\n")
    if script:
        (about / "entry_points.txt").write_text(f"[console_scripts]\ntabla = {script}\n")


@pytest.mark.parametrize(
    ("summary", "script", "said"),
    [
        ("Generate LaTeX tables with Python", "", "is another project: Generate LaTeX tables with Python;"),
        ("From the gradient", "tabla.__main__:main", "is an older one of this project;"),
    ],
)
def test_a_distribution_that_has_our_name(
    summary: str,
    script: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The package index has another project as tabla. Its files have the names of ours, so doctor names it."""

    def distribution(name: str) -> metadata.Distribution:
        for found in metadata.distributions(name=name, path=[str(tmp_path)]):
            return found
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", distribution)
    installed(tmp_path, "tabla_fpga", "From the gradient", "tabla.__main__:main")
    assert doctor.in_the_way() is None
    installed(tmp_path, "tabla", summary, script)
    found = doctor.in_the_way()
    assert found is not None and found.ours == bool(script)
    monkeypatch.setattr(doctor, "tools", tuple)
    monkeypatch.setattr(doctor, "engines", tuple)
    assert told(capsys)["in_the_way"] == dataclasses.asdict(found)
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert f"in the way: tabla 0.0.1 in {tmp_path} {said}" in text
    assert "pip uninstall tabla, then install tabla-fpga again" in text
