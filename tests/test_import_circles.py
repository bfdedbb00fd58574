"""No two modules of the package need each other.

Imports inside functions and under ``TYPE_CHECKING`` count as any other: two modules that can only be understood
together are one module in two files. That Python runs the ``__init__`` of a package before its modules does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

from tests.test_layers import ROOT

# Circles that are waiting to be broken, each as the set of its modules.
KNOWN: set[frozenset[str]] = set()


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name, with its file."""
    found = {}
    for path in sorted((root / "tabla").rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def needed(tree: ast.AST, package: str, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a file in `package` imports, wherever the import stands."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = ".".join(filter(None, (package if level else "", module)))
                for alias in names:
                    inner = f"{base}.{alias.name}"
                    yield inner if inner in known else base


def circles(root: Path) -> set[frozenset[str]]:
    """The strongly connected components of the import graph that have more than one module."""
    known = modules(root)
    graph = nx.DiGraph()
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph.add_edges_from((name, each) for each in needed(tree, package, known) if each in known)
    return {frozenset(one) for one in nx.strongly_connected_components(graph) if len(one) > 1}


def test_no_circles_but_the_known_ones() -> None:
    found = circles(ROOT)
    assert [sorted(one) for one in found - KNOWN] == [], "break the circle: move what both need into a third module"
    assert [sorted(one) for one in KNOWN - found] == [], "this circle is gone: take its line out of KNOWN"


def test_every_module_is_looked_at() -> None:
    """An import graph of the wrong folder has no circles either."""
    found = modules(ROOT)
    assert {"tabla", "tabla.graph.graph", "tabla.hw.accelerator", "tabla.templates.tablegen"} <= set(found)


@pytest.mark.parametrize(
    "back",
    [
        "from tabla.one import thing",
        "import tabla.one",
        "from tabla import one",
        "from . import one",
        "from .one import thing",
        "def later():\n    from tabla.one import thing",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tabla.one import Thing",
    ],
)
def test_every_kind_of_import_counts(tmp_path: Path, back: str) -> None:
    room = tmp_path / "tabla"
    (room / "hw").mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "one.py").write_text("from tabla.hw import part\n")
    (room / "hw" / "part.py").write_text("from tabla import two\n")
    (room / "two.py").write_text(back)
    assert circles(tmp_path) == {frozenset({"tabla.one", "tabla.hw.part", "tabla.two"})}
    (room / "two.py").write_text("from tabla import three\n")
    (room / "three.py").write_text("import tabla\n")
    assert circles(tmp_path) == set()
