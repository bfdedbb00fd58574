"""Who may import whom.

The order of the rooms is the data flow: text, graph, schedule, program, hardware. A new room is a line here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Links to folders of the package, for people.
BESIDE = ("hw", "sim", "templates", "examples")
_LOWER = {"source", "lang", "templates", "ir", "lower", "passes", "mapping", "strands", "schedule", "bound", "program"}
_COMPILER = {*_LOWER, "backend"}
_USES = {
    "notations",
    "compiled",
    "caches",
    "kept",
    "record_text",
    "options",
    "parameters",
    "given",
    "cluster",
    "fleet",
    "simulation",
    "runs",
    "learning",
    "automatic",
    "scoring",
    "vectors",
    "trials",
    "other_loops",
    "artifacts",
}
_EVERYTHING = {*_COMPILER, *_USES, "hw", "sim", "link", "synth", "training", "report", "examples", "_version"}

# Every room may import itself and `source`.
MAY: dict[str, set[str]] = {
    "source": set(),
    # interrupts: signals as exceptions; processes: programs that end with the block that started them
    "interrupts": set(),
    "processes": {"interrupts"},
    # disk: what a power cut leaves of files
    "disk": set(),
    # progress: who works tells how far it is
    "progress": set(),
    "tile": {"lang"},
    "_version": set(),
    "lang": set(),
    "templates": {"lang"},
    "ir": set(),
    "caches": set(),
    # schedules on disk, from the compiler's point of view any record
    "kept": {"caches", "record_text", "_version"},
    "record_text": set(),
    # npz: archives of arrays, which may come from anywhere
    "npz": set(),
    # a graph as machine code; its judge is the evaluation in ir
    "compiled": {"ir", "caches", "_version"},
    "lower": {"lang", "ir"},
    "passes": {"ir"},
    "mapping": {"ir", "templates"},
    "strands": {"ir", "templates", "mapping"},
    "schedule": {"ir", "templates", "mapping", "strands", "progress"},
    # from a graph to its schedule, stage by stage
    "backend": {"ir", "passes", "templates", "mapping", "schedule"},
    # bound: what holds for every schedule may not look at one
    "bound": {"ir", "templates"},
    "program": {"ir", "templates", "mapping", "strands", "schedule"},
    # link: frames and the serial line; a board is one more machine
    "link": {"program", "sim"},
    "hw": {"templates", "program", "processes"},
    # templates: the cycle model reads machine.td with our TableGen front end, not through program/layout.py
    "sim": {"templates", "program", "hw", "caches", "disk", "processes", "progress"},
    "synth": {"templates", "hw", "program", "disk", "processes"},
    # cost: what hardware takes, told from its image and from what hw says of its own parts
    "cost": {"templates", "program", "hw"},
    "training": {"ir", "compiled", "npz"},
    "examples": {"disk", "report", "training"},
    # the rules of single values; ir has the widths of words, mapping the levels of effort
    "parameters": {"ir", "mapping"},
    "options": {"ir", "templates", "mapping", "passes", "schedule", "parameters", "program"},
    "notations": {"lang", "lower", "ir", "npz", "options", "training"},
    "simulation": {"program", "schedule", "hw", "sim", "link"},
    # vectors: the samples of the test bench that gen writes
    "vectors": {*_LOWER, "hw", "sim", "training", "stages", "runs", "trials"},
    # trials: programs beside the user's own, with which that test bench tries more of the hardware
    "trials": {*_LOWER, "hw", "sim", "other_loops"},
    # other_loops: such programs that do the same work
    "other_loops": {*_LOWER, "hw"},
    "artifacts": {*_LOWER, "progress", "hw", "synth", "report", "training", "stages", "vectors"},
    "given": {"npz", "parameters", "training"},
    # cluster: the workers of Dask, for explorations and fleets
    "cluster": {"_version"},
    # fleet: several devices that learn one model
    "fleet": {
        *{"cluster", "ir", "link", "parameters", "program", "sim", "simulation", "stages", "strands", "training"},
    },
    "runs": {"fleet", "given", "ir", "parameters", "sim", "simulation", "compiled", "training", "stages"},
    "learning": {"fleet", "given", "ir", "parameters", "runs", "simulation", "compiled", "training", "stages"},
    "automatic": {
        *{"compiled", "given", "ir", "learning", "options", "parameters", "passes", "runs", "training", "stages"},
    },
    # number formats compared: it compiles the program in each of them
    "comparison": {
        *{"automatic", "compiled", "driver", "given", "learning", "options", "parameters", "progress", "runs"},
        *{"stages", "training"},
    },
    # models that were trained elsewhere, from Python
    "held_estimator": {"driver", "lang"},
    "imported": {"driver", "held_estimator", "lang", "parameters"},
    # many arrays and number formats of one program; it compiles and scores the program in each of them
    "exploration": {
        *{"automatic", "cluster", "comparison", "cost", "disk", "driver", "ir", "lang", "learning", "mapping"},
        *{"notations", "options", "parameters", "progress", "report", "synth", "_version", "templates"},
    },
    "scoring": {"learning", "given", "ir", "parameters", "runs", "simulation", "compiled", "training", "stages"},
    "report": {*_COMPILER, "hw", "sim", "_version", "disk", "interrupts"},
    # runtime: the host of a build folder; it needs the compiler's image for simulators, and nothing else of it; fleet
    # only for devices on the workers of a cluster
    "runtime": {"fleet", "ir", "npz", "program", "sim", "link", "report"},
    "stages": {*_COMPILER, "training", "progress", "kept", "notations", "options", "hw", "report"},
    "driver": {*_EVERYTHING, "cost", "stages"},
    "commands": {*_EVERYTHING, "stages", "driver", "comparison", "exploration", "processes", "progress"},
    # sklearn: estimators of scikit-learn, a way to use the tool as the commands are
    "sklearn": {
        *{"automatic", "compiled", "driver", "ir", "options", "parameters", "report", "runs", "simulation", "stages"},
        "training",
    },
    "cli": {*_EVERYTHING, "stages", "driver", "commands", "disk", "interrupts", "progress"},
    "__main__": {"cli", "interrupts"},
    # the public names; driver only when it is asked for, so that `import tabla` stays light
    "__init__": {"driver", "comparison", "exploration", "imported", "_version"},  # all but `_version` in functions
}
# What a folder inside a room may import beside itself and `source`. What the cycle model imports through others:
# tests/test_witness.py.
FOLDERS: dict[str, set[str]] = {
    "tabla/sim/model": {"sim.machine", "templates", "program.image", "progress"},
    "tabla/sim/engines": {
        *{"sim.machine", "hw", "program.image", "program.overlay", "program.overlay_words"},
        *{"caches", "disk", "processes", "progress"},
    },
}
MAY_PRINT = {"cli.py", "__main__.py"}
PRINTS = {"print", "sys.exit", "exit", "quit"}
TEXTS = {".py", ".md", ".t", ".td", ".cfg", ""}


def rooms(root: Path) -> Iterator[tuple[str, Path]]:
    """Every room with its files."""
    for path in sorted((root / "tabla").iterdir()):
        if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py"))):
            yield path.stem, path


def files(where: Path) -> list[Path]:
    """The Python files of a room."""
    return sorted(where.rglob("*.py")) if where.is_dir() else [where]


def imported(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    """(line, level, dotted name) of every import, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module == "tabla":
                yield from ((node.lineno, node.level, f"tabla.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.level, module


def faults(root: Path) -> Iterator[str]:
    """Imports against the data flow."""
    for room, where in rooms(root):
        if room not in MAY:
            yield f"{where}: a room that tests/test_layers.py does not know"
            continue
        for path in files(where):
            relative = path.relative_to(root).as_posix()
            for line, level, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
                top, _, rest = name.partition(".")
                to = rest.split(".")[0]
                if level > 1:
                    yield f"{relative}:{line}: no '..' imports"
                if level:
                    continue
                if top in BESIDE:
                    yield f"{relative}:{line}: say tabla.{name}"
                public = room in ("examples", "commands") and to in ("TablaError", "compile", "")
                if top == "tabla" and not public and to not in MAY[room] | {room, "source"}:
                    yield f"{relative}:{line}: {room} may not import {to or 'tabla itself'}"


def folder_faults(root: Path) -> Iterator[str]:
    """Imports of the folders in `FOLDERS` that their lines do not allow."""
    for folder, allowed in FOLDERS.items():
        own = folder.removeprefix("tabla/").replace("/", ".")
        for path in files(root / folder) if (root / folder).is_dir() else []:
            for line, _, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
                inside = name.removeprefix("tabla.")
                known = any(f"{inside}.".startswith(f"{room}.") for room in {own, "source", *allowed})
                if name.startswith("tabla.") and not known:
                    yield f"{path.relative_to(root).as_posix()}:{line}: {folder} may not import {name}"


def test_rooms_import_with_the_data_flow() -> None:
    assert list(faults(ROOT)) == []


def test_folders_import_what_their_lines_allow() -> None:
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)
    assert list(folder_faults(ROOT)) == []


def test_only_the_command_line_prints_and_exits() -> None:
    found = []
    for _, where in rooms(ROOT):
        for path in files(where):
            if path.name in MAY_PRINT:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTS:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_hardware_keeps_its_annotations() -> None:
    """Amaranth reads the annotations of component members; as strings they are no members."""
    for path in files(ROOT / "tabla" / "hw"):
        assert "from __future__ import annotations" not in path.read_text(encoding="utf-8"), path


def test_no_machine_paths_in_the_tree() -> None:
    """Nothing that only one machine has: home folders and the like."""
    pattern = re.compile(r"/(?:root|home|work)/[a-z]")
    for top in ("tabla", "tests", "docs", "benchmarks", ".ci"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.is_file() and path.suffix in TEXTS and path != Path(__file__):
                found = pattern.search(path.read_text(encoding="utf-8", errors="replace"))
                assert found is None, f"{path}: {found}"


@pytest.mark.parametrize(
    ("room", "text", "complaint"),
    [
        ("tabla/ir/new.py", "from tabla.lower import tabla", "ir may not import lower"),
        ("tabla/ir/new.py", "def f():\n    import tabla.driver", "ir may not import driver"),
        ("tabla/hw/new.py", "from tabla.ir.graph import Graph", "hw may not import ir"),
        ("tabla/lower/new.py", "import templates", "say tabla.templates"),
        ("tabla/bound/new.py", "from tabla.mapping.search import Mapping", "bound may not import mapping"),
        ("tabla/schedule/new.py", "from tabla.bound import quick", "schedule may not import bound"),
        (
            "tabla/sim/model/new.py",
            "from tabla.sim.engines import host_loop",
            "sim/model may not import tabla.sim.engines",
        ),
        ("tabla/sim/model/new.py", "def f():\n    import tabla.hw", "sim/model may not import tabla.hw"),
        (
            "tabla/sim/engines/new.py",
            "from tabla.sim.model import datapath",
            "sim/engines may not import tabla.sim.model",
        ),
        ("tabla/driver.py", "from ..x import y", "no '..' imports"),
        ("tabla/corner.py", "", "does not know"),
    ],
)
def test_the_rules_bite(tmp_path: Path, room: str, text: str, complaint: str) -> None:
    path = tmp_path / room
    path.parent.mkdir(parents=True)
    (tmp_path / "tabla").mkdir(exist_ok=True)
    path.write_text(text)
    found = [*faults(tmp_path), *folder_faults(tmp_path)]
    assert any(complaint in fault for fault in found), found
