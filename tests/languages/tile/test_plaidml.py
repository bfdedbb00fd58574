"""Texts that were written for PlaidML: without an import, with its import, and with its names."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tabla import tile
from tabla.base.source import TablaError
from tabla.languages.tile import edsl, load, trace
from tests.languages.tile.meaning import evaluate

IMPORTS = (
    "",
    "from plaidml.edsl import *\n",
    "from tabla.tile import *\n",
    "import plaidml.edsl as edsl\nfrom plaidml.edsl import Contraction, TensorIndexes\n",
    "import plaidml\nTensorIndexes = plaidml.edsl.TensorIndexes\n",
)
LEAST = """def least(I):
    i, j = TensorIndexes(2)
    N = -I
    return -Contraction().max(N[i, j]).build()
"""


def run(path: Path, text: str, name: str | None = None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    path.write_text(text)
    values = {"I": np.array([[0.5, -2.75], [3.0, 1.25]])}
    (found,) = evaluate(trace(load(path, name), {"I": (2, 2)}), values).values()
    return np.asarray(found, dtype=np.float64)


@pytest.mark.parametrize("head", IMPORTS)
def test_a_text_needs_no_import(tmp_path: Path, head: str) -> None:
    before = {name: sys.modules.get(name) for name in ("plaidml", "plaidml.edsl")}
    assert run(tmp_path / "f.py", head + LEAST) == -2.75
    assert {name: sys.modules.get(name) for name in before} == before


def test_what_a_file_defines_itself_counts(tmp_path: Path) -> None:
    text = "def exp(x):\n    return x + 1\n\ndef f(I):\n    return exp(I)\n"
    np.testing.assert_array_equal(run(tmp_path / "f.py", text, "f"), [[1.5, -1.75], [4.0, 2.25]])


def test_the_face_has_the_names_of_a_file() -> None:
    assert tile.__all__ == edsl.__all__
    assert all(getattr(tile, name) is getattr(edsl, name) for name in tile.__all__)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Contraction().sum(I[i, j]).build()", 2.0),
        ("Contraction().product(I[i, j]).build()", 0.5 * -2.75 * 3 * 1.25),
        ("Contraction().outShape().min(I[i, j]).build()", -2.75),
        ("Contraction().outShape().outAccess().max(I[i, j]).build()", 3.0),
        ("Contraction().sum(I[i, j]).add_constraint(i + j < 1).build()", 0.5),
        ("Contraction().sum(I[i, j]).init(1.0).build()", 3.0),
    ],
)
def test_a_single_value_needs_no_shape(tmp_path: Path, body: str, expected: float) -> None:
    found = run(tmp_path / "f.py", f"def f(I):\n    i, j = TensorIndexes(2)\n    return {body}\n")
    assert found.shape == () and found == expected


@pytest.mark.parametrize("name", [name for name in vars(edsl.DType) if name.isupper()])
def test_types_are_those_of_casts(tmp_path: Path, name: str) -> None:
    text = "def f(I):\n    return cast(I, {})\n"
    by_name = run(tmp_path / "f.py", text.format(f"DType.{name}"))
    np.testing.assert_array_equal(by_name, run(tmp_path / "g.py", text.format(repr(name.lower()))))


@pytest.mark.parametrize(
    ("body", "message", "hint"),
    [
        ("Placeholder(DType.FLOAT32, [2, 3])", "Placeholder makes no tensor here", "--shape I=2,3"),
        ("TensorLens('ij', 'ji')", "TensorLens gives no other order of axes here", "I[c, y, x]"),
        ("Contraction().outShape(2).sum(I[0, 0]).build()", "the contraction lacks outAccess", "outAccess(n)"),
        ("Contraction().build()", "the contraction lacks sum", "sum(I[n])"),
    ],
)
def test_what_is_refused(tmp_path: Path, body: str, message: str, hint: str) -> None:
    with pytest.raises(TablaError) as caught:
        run(tmp_path / "f.py", f"def f(I):\n    return {body}\n")
    assert message in caught.value.message and caught.value.line == 2
    assert hint in (caught.value.hint or "")


def test_the_hint_for_a_single_value_names_the_size(tmp_path: Path) -> None:
    text = "def avg(I):\n    x, y = TensorIndexes(2)\n    Sum = TensorOutput()\n    Sum[y] += I[x, y]\n    return Sum\n"
    with pytest.raises(TablaError) as caught:
        run(tmp_path / "f.py", text)
    assert caught.value.hint == "write [()] for the single value, or make it as TensorOutput(Y)"
