"""Functions with more than eight parameters are left where users call them, and where parameters are ports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST = 8
FACES = {
    "tabla/build/files/c_driver.py": "the header of the C driver has what several rooms say of a program",
    "tabla/learn/explore/request.py": "explore, which users call",
    "tabla/sklearn/linear.py": "constructors of estimators, as scikit-learn has them",
    "tabla/sklearn/perceptron.py": "constructors of estimators, as scikit-learn has them",
    "tabla/graph/compiled/units.py": "functions that become a part of generated code",
}
"""Files that may have more, and why."""
PORTS = "tabla/hw/"
"""The parameters of a component are the widths of its ports."""


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The functions of a file, each with the number of its parameters."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            own = node.args
            yield node.name, len(own.posonlyargs) + len(own.args) + len(own.kwonlyargs)


def long(root: Path) -> set[str]:
    """The files with a function of more parameters."""
    found = (path for path in (root / "tabla").rglob("*.py") if any(count > MOST for _, count in functions(path)))
    return {path.relative_to(root).as_posix() for path in found}


def test_only_faces_have_many_parameters() -> None:
    found = {name for name in long(ROOT) if not name.startswith(PORTS)}
    assert found == set(FACES)


@pytest.mark.parametrize(("count", "refused"), [(MOST, False), (MOST + 1, True)])
def test_a_long_function_is_seen(count: int, refused: bool, tmp_path: Path) -> None:
    (tmp_path / "tabla").mkdir()
    names = ", ".join(f"p{number}" for number in range(count))
    (tmp_path / "tabla" / "new.py").write_text(f"def long(a, *, {names[4:]}): ...\n", encoding="utf-8")
    assert long(tmp_path) == ({"tabla/new.py"} if refused else set())
