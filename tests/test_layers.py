"""Who may import whom: the rooms of the package, from the entrance down, each with what it holds.

The lines go against the flow of the data: host, hardware, program, schedule, graph. A room is a folder or a module
directly below ``tabla``, or a folder inside one with a rule of its own. A new room is a line here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINKS = ("hw", "sim", "templates", "examples")
"""Links to folders of the package, for people."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room by its path below ``tabla``, what it holds, and which rooms and modules it may import beside itself."""

    name: str
    holds: str
    may: tuple[str, ...] = ()


_COMPILER = ("program", "schedule", "languages", "graph", "templates")
_BUILD = ("build", "hw", "sim", *_COMPILER)
_LEARN = ("learn", "host", *_BUILD)
ROOMS = (
    Room("__main__", "the entry point of the command line", ("commands",)),
    Room("commands", "the command line: only here something is printed", ("driver", "examples", "", *_LEARN)),
    Room("__init__", "the public names, most of them imported when asked for", ("driver", "imported", "learn")),
    Room("imported", "the face: models that were trained elsewhere", ("driver", "sklearn", *_LEARN)),
    Room("sklearn", "estimators of scikit-learn", ("driver", *_LEARN)),
    Room("driver", "the face: compile, and all that can be done with a build", _LEARN),
    Room("runtime", "the face: the host's side under its public name", ("host",)),
    Room("tile", "the face: the names of the Tile eDSL", ("languages.tile",)),
    Room("examples", "the published programs and their data", ("learn.data", "")),
    Room("learn", "data, training, testing, formats, fleets and explorations", ("host", *_BUILD)),
    Room("host", "engines, boards, the link to them, and the runtime of a build folder", _BUILD),
    Room("build", "the stages of a build, its files, test bench, synthesis and cost", ("hw", "sim", *_COMPILER)),
    Room("hw", "the machine", ("program", "templates")),
    # What the cycle model imports through others: tests/test_witness.py.
    Room("sim/model", "the cycle model, a witness of its own", ("sim.machine", "templates", "program.image")),
    Room("sim", "what every machine can do, and how two of them are compared", ("program.image",)),
    Room("program", "microcode: its image, encoding and layout for hosts", ("schedule", "graph", "templates")),
    Room("program/image.py", "the image, which the witness reads, too", ("templates",)),
    # What holds for every schedule may not look at one.
    Room("schedule/bound", "lower bounds of cycles", ("graph", "templates")),
    Room("schedule", "mapping, strands, their times, and the proof of a schedule", ("graph", "templates")),
    Room("languages", "the notations, from their texts to the graph", ("graph", "templates")),
    Room("graph", "the dataflow graph: its rules, its meaning, its passes"),
    Room("templates/tablegen", "the reader of TableGen"),
    Room("templates", "the records: machine, instruction set, parts and boards"),
    Room("_version", "the version"),
    Room("base", "places, errors, files, processes, caches, progress: what knows no program"),
)
"""The rooms, those that may not be seen from below first. Every room may import itself, ``base`` and ``_version``. An
empty name stands for the public names of ``tabla`` itself.
"""
PRINTS = {"print", "sys.exit", "exit", "quit"}
MAY_PRINT = {"tabla/commands/cli.py", "tabla/__main__.py"}
_MODULES = (
    *("graph/graph", "schedule/mapping", "schedule/compile", "languages/kernel", "learn/data", "learn/runs"),
    *("sim/compare", "program/layout", "program/image", "hw/lane", "driver"),
)
TEXTS = {".py", ".md", ".t", ".td", ".cfg", ""}


def files(where: Path) -> list[Path]:
    """The Python files of a folder, or a file itself."""
    return sorted(where.rglob("*.py")) if where.is_dir() else [where]


def room_of(path: Path) -> Room | None:
    """The room of a file, given by its path below ``tabla``: the one with the longest name."""
    text = path.as_posix()
    found = [each for each in ROOMS if text in (each.name, f"{each.name}.py") or text.startswith(f"{each.name}/")]
    return max(found, key=lambda each: len(each.name), default=None)


def imported(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    """(line, level, dotted name) of every import, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module == "tabla" or module.startswith("tabla."):
                yield from ((node.lineno, node.level, f"{module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.level, module


def module_of(root: Path, name: str) -> str:
    """The module of a dotted name below ``tabla``, which may name something inside a module."""
    parts = name.split(".")[1:]
    while parts and not (root / "tabla" / "/".join(parts)).is_dir():
        if (root / "tabla" / "/".join(parts)).with_suffix(".py").is_file():
            break
        parts.pop()
    return ".".join(parts)


def allowed(room: Room, module: str) -> bool:
    """Whether a room may import a module; both are below ``tabla``."""
    own = room.name.removesuffix(".py").replace("/", ".")
    for name in (own, "base", "_version", *room.may):
        if module == name or (name and module.startswith(f"{name}.")):
            return True
    return False


def faults(root: Path) -> Iterator[str]:
    """Imports that the lines of their rooms do not allow."""
    for path in files(root / "tabla"):
        relative = path.relative_to(root / "tabla")
        room = room_of(relative)
        if room is None:
            yield f"tabla/{relative}: a room that tests/test_layers.py does not know"
            continue
        for line, level, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"tabla/{relative.as_posix()}:{line}"
            if level:
                yield f"{place}: no relative imports"
            elif name.split(".")[0] in LINKS:
                yield f"{place}: say tabla.{name}"
            elif name.split(".")[0] == "tabla" and not allowed(room, module := module_of(root, name)):
                yield f"{place}: {room.name} may not import {module or 'tabla itself'}"


def test_rooms_import_with_the_data_flow() -> None:
    assert list(faults(ROOT)) == []


def test_every_line_has_a_room() -> None:
    for room in ROOMS:
        path = ROOT / "tabla" / room.name
        assert path.is_dir() or path.with_suffix(".py").is_file(), room.name


def test_no_room_sees_one_above_it() -> None:
    for place, room in enumerate(ROOMS):
        for name in filter(None, room.may):
            seen = room_of(Path(name.replace(".", "/")))
            assert seen is not None and ROOMS.index(seen) > place, f"{room.name} sees {name}"


def test_only_the_command_line_prints_and_exits() -> None:
    found = []
    for path in files(ROOT / "tabla"):
        if (name := path.relative_to(ROOT).as_posix()) not in MAY_PRINT:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTS:
                    found.append(f"{name}:{node.lineno}")
    assert found == []


def test_hardware_keeps_its_annotations() -> None:
    """Amaranth reads the annotations of component members; as strings they are no members."""
    for path in files(ROOT / "tabla" / "hw"):
        assert "from __future__ import annotations" not in path.read_text(encoding="utf-8"), path


def test_no_machine_paths_in_the_tree() -> None:
    """Nothing that only one machine has: home folders and the like."""
    pattern = re.compile(r"/(?:root|home|work)/[a-z]")
    for top in ("tabla", "tests", "verify", "docs", "benchmarks", ".ci"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.is_file() and path.suffix in TEXTS and path != Path(__file__):
                found = pattern.search(path.read_text(encoding="utf-8", errors="replace"))
                assert found is None, f"{path}: {found}"


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("graph/new.py", "from tabla.languages import kernel", "graph may not import languages"),
        ("graph/new.py", "def f():\n    import tabla.driver", "graph may not import driver"),
        ("hw/new.py", "from tabla.graph.graph import Graph", "hw may not import graph"),
        ("languages/new.py", "import templates", "say tabla.templates"),
        ("languages/new.py", "from tabla.schedule.compile import best", "languages may not import schedule"),
        ("schedule/bound/new.py", "from tabla.schedule.mapping import search", "bound may not import schedule.mapping"),
        ("schedule/new.py", "from tabla.program import image", "schedule may not import program"),
        ("sim/model/new.py", "from tabla.sim.compare import play", "sim/model may not import sim.compare"),
        ("sim/model/new.py", "def f():\n    import tabla.hw", "sim/model may not import hw"),
        ("sim/model/new.py", "from tabla.program.layout import Field", "sim/model may not import program.layout"),
        ("host/new.py", "from tabla.learn import runs", "host may not import learn"),
        ("build/new.py", "from tabla.learn import data", "build may not import learn"),
        ("build/new.py", "import tabla", "build may not import tabla itself"),
        ("driver.py", "from ..x import y", "no relative imports"),
        ("corner.py", "", "does not know"),
    ],
)
def test_the_rules_bite(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    for module in _MODULES:
        path = (tmp_path / "tabla" / module).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    path = tmp_path / "tabla" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    found = list(faults(tmp_path))
    assert any(complaint in fault for fault in found), found
