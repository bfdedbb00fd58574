"""The cycle model shares no code with what it testifies against: the hardware and the assembler.

The rule holds for everything that the cycle model imports, directly or through other files. Imports are read from the
text, those inside functions too, and so are the ``__init__.py`` of every package on the way.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.test_layers import LINKS

ROOT = Path(__file__).resolve().parent.parent
WITNESS = "tabla.sim.model.cycle_model"
# What the witness may be made of: itself, the protocol of a machine, the records of machine.td and our reader of
# TableGen, the room that knows no program, and the frozen image that is handed over. Everything else is the accused,
# or may come to use it.
ALLOWED = (
    "tabla._version",
    "tabla.program.image",
    "tabla.base",
    "tabla.sim.machine",
    "tabla.sim.model",
    "tabla.templates",
)
# `tabla.compile` and `tabla.Build` import the compiler when they are asked for (`__getattr__` of tabla/__init__.py).
PUBLIC = ("compile", "Build")
HIDDEN = {"import_module", "__import__", "run_module", "run_path", "exec", "eval"}


@dataclass(frozen=True, kw_only=True)
class Import:
    """One import: the line where it stands, and the dotted name of the module that it runs."""

    line: int
    module: str


def path_of(root: Path, module: str) -> Path | None:
    """The file of a module or package of ours; None if there is no such file."""
    parts = module.split(".")[1:]
    base = root.joinpath("tabla", *parts)
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _with_packages(module: str) -> Iterator[str]:
    """A module and the packages around it: Python runs them all."""
    parts = module.split(".")
    yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _modules(root: Path, module: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules that one statement imports; names that are no modules stand for the module that holds them."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
            # The name `tabla` is then at hand, and with it `tabla.compile`.
            if alias.name.split(".")[0] == "tabla" and (alias.asname is None or alias.name == "tabla"):
                yield "tabla.driver"
        return
    source = node.module or ""
    if node.level:
        path = path_of(root, module)
        package = path is not None and path.name == "__init__.py"
        parts = module.split(".")[: None if package and node.level == 1 else package - node.level]
        source = ".".join([*parts, *source.split(".")]) if source else ".".join(parts)
    yield source
    for alias in node.names:
        if source == "tabla" and alias.name in PUBLIC:
            yield "tabla.driver"
        elif alias.name == "*" or path_of(root, f"{source}.{alias.name}") is not None:
            yield f"{source}.{alias.name}".removesuffix(".*")


def _statements(module: str, tree: ast.Module) -> Iterator[ast.AST]:
    """What runs, or may run, when the module is imported and used.

    The functions of ``tabla/__init__.py`` and what it imports for type checkers only are left out: every file of the
    package would seem to import the compiler. Those who ask it for `compile` or `Build` import the driver instead.
    """
    if module != "tabla":
        yield from ast.walk(tree)
        return
    for statement in tree.body:
        lazy = isinstance(statement, ast.FunctionDef) and statement.name == "__getattr__"
        types = isinstance(statement, ast.If) and ast.unparse(statement.test) in ("_TYPE_CHECKING", "TYPE_CHECKING")
        if not (lazy or types):
            yield from ast.walk(statement)


# Texts of the same words have the same tree: the planted copies differ from the sources in one file.
_parse = cache(ast.parse)


def imports(root: Path, module: str) -> Iterator[Import]:
    """The imports of a module of ours, as far as they are of the package."""
    path = path_of(root, module)
    assert path is not None, module
    for node in _statements(module, _parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _modules(root, module, node):
                # `import hw` in a checkout runs the same files under another name.
                ours = f"tabla.{name}" if name.split(".")[0] in LINKS else name
                if ours.split(".")[0] == "tabla":
                    yield Import(line=node.lineno, module=ours)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in HIDDEN:
            yield Import(line=node.lineno, module=f"tabla.<{ast.unparse(node.func)}>")


def allowed(module: str) -> bool:
    """Whether the witness may use a module: one of `ALLOWED`, or a package around one of them."""
    inside = any(f"{module}.".startswith(f"{name}.") for name in ALLOWED)
    return inside or any(name.startswith(f"{module}.") for name in ALLOWED)


def borrowed(root: Path) -> Iterator[str]:
    """Every import in the closure of the witness that `ALLOWED` does not know, with the way that leads to it."""
    for name in (WITNESS, *ALLOWED):
        if path_of(root, name) is None:
            yield f"there is no {name}: tests/test_witness.py names a module that was moved"
    waiting = {package: package for package in _with_packages(WITNESS) if path_of(root, package) is not None}
    seen = dict(waiting)
    while waiting:
        module, way = waiting.popitem()
        for found in imports(root, module):
            for name in _with_packages(found.module):
                step = f"{way} -> {name}"
                if not allowed(name):
                    yield f"{step}, line {found.line} of {module}"
                elif name not in seen and path_of(root, name) is not None:
                    seen[name] = waiting[name] = step


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A copy of the sources, to plant imports in."""
    shutil.copytree(ROOT / "tabla", tmp_path / "tabla", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_the_witness_borrows_nothing() -> None:
    assert list(borrowed(ROOT)) == []


def test_the_closure_is_not_empty() -> None:
    """The walk reaches every file of the model and, through `templates`, the reader of TableGen."""
    reached, waiting = {WITNESS}, [WITNESS]
    while waiting:
        for found in imports(ROOT, waiting.pop()):
            if found.module not in reached and path_of(ROOT, found.module) is not None:
                reached.add(found.module)
                waiting.append(found.module)
    model = {f"tabla.sim.model.{path.stem}" for path in (ROOT / "tabla" / "sim" / "model").glob("*.py")}
    assert reached >= model - {"tabla.sim.model.__init__"}
    assert reached >= {"tabla.templates.template", "tabla.templates.records", "tabla.templates.tablegen.values"}


PLANTS = [
    "import tabla.hw",
    "from tabla import hw",
    "from tabla.hw import emit",
    "def _late():\n    from tabla.hw.lane import Lane",
    "import hw.lane",
    "from tabla.program import layout",
    "from tabla.program.layout import strand_word",
    "from tabla.schedule import bound",
    "from tabla.host.engines import amaranth_run",
    "from tabla import compile",
    "import tabla",
    "import importlib\nimportlib.import_module('tabla' + '.hw')",
]
PLACES = ["tabla/sim/model/datapath.py", "tabla/sim/model/lane_units.py", "tabla/sim/model/trace.py"]


@pytest.mark.parametrize("text", PLANTS)
def test_a_borrowed_import_is_refused(planted: Path, text: str) -> None:
    for place in PLACES:
        path = planted / place
        before = path.read_text(encoding="utf-8")
        path.write_text(f"{before}\n{text}\n", encoding="utf-8")
        found = list(borrowed(planted))
        assert found and all(
            place.removeprefix("tabla/").removesuffix(".py").replace("/", ".") in fault for fault in found
        ), (place, found)
        path.write_text(before, encoding="utf-8")
    assert list(borrowed(planted)) == []


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("tabla/sim/model/__init__.py", "from ..engines import port_machine"),
        ("tabla/sim/__init__.py", "import tabla.hw.accelerator"),
        ("tabla/sim/machine.py", "from .engines.host_loop import Host"),
        ("tabla/program/__init__.py", "from . import encode"),
        ("tabla/program/image.py", "from tabla.program import encode"),
        ("tabla/templates/tablegen/values.py", "from tabla.hw import emit"),
        ("tabla/templates/template.py", "def _late():\n    from tabla.schedule import bound"),
        ("tabla/__init__.py", "from tabla import driver"),
    ],
)
def test_a_detour_is_refused(planted: Path, place: str, text: str) -> None:
    path = planted / place
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{text}\n", encoding="utf-8")
    assert list(borrowed(planted))


@pytest.mark.parametrize("place", ["tabla/sim/model/cycle_model.py", "tabla/program/image.py", "tabla/sim/machine.py"])
def test_a_moved_file_is_noticed(planted: Path, place: str) -> None:
    (planted / place).unlink()
    assert any("was moved" in fault for fault in borrowed(planted))
