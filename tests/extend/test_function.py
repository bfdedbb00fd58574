"""Functions that the package does not have, added from outside as ``docs/extend/function.md`` says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, signed

from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.graph.format import Format
from tabla.graph.function_tables import Table
from tabla.graph.function_words import Applied, Words
from tabla.graph.functions import FUNCTIONS, UnitFunction
from tabla.graph.graph import Function, Graph
from tabla.hw.function_unit import PIPELINES
from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline
from tabla.program.image import FunctionTable
from tabla.sim.model.root_units import KINDS, Value
from tabla.templates.template import FunctionKind, FunctionUnit, function_kinds, functions
from tests.extend.pages import PAGES, shown, snippets

PROGRAM = """n = 6;
model_input x[n]; model w[n]; iterator i[0:n];
h[i] = sigmoid(w[i] * x[i]);
"""
CODE = 11
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True, eq=False)
class WithFunction(Build):
    """A build in whose graph another function stands for every sigmoid. No notation has a name for it."""

    function: str

    @cached_property
    def sample(self) -> Graph:
        graph = super().sample
        renamed = [
            replace(s, operation=replace(s.operation, name=self.function)) if isinstance(s.operation, Function) else s
            for s in graph.statements
        ]
        return replace(graph, statements=tuple(renamed))


def built(path: Path, function: str, **options: Any) -> WithFunction:
    (path / "model.t").write_text(PROGRAM)
    plain = build(path / "model.t", Options(results=("h",), **options))
    return WithFunction(
        name=plain.name,
        options=plain.options,
        reading=replace(plain.reading, kernel=None),  # the kernel has the sigmoid
        template=plain.template,
        format=plain.format,
        function=function,
    )


def agree(program: WithFunction, exactly: Callable[[np.ndarray], np.ndarray], error: float) -> None:
    """Evaluator, cycle model and Amaranth hardware give the same words, which lie near the real function's values."""
    chance = np.random.default_rng(1)
    inputs = {"x": chance.integers(-64, 64, (5, 6)) / 16, "w": np.arange(-3, 3) * 0.625}
    words = program.evaluate(inputs)["h"]
    for engine in ("model", "amaranth"):
        assert np.array_equal(program.simulate(inputs, engine=engine).arrays["h"], words), engine
    assert np.abs(words - program.evaluate(inputs, float64=True)["h"]).max() < error
    assert np.abs(words - exactly(inputs["w"] * inputs["x"])).max() < error


@pytest.mark.parametrize("options", [{"pes": 2}, {"pes": 4, "format": "q4.12"}])
def test_the_page_adds_a_function_of_a_kind_that_there_is(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the page puts into the two tables goes again at the end of the test.
    for known in (FUNCTIONS, functions()):
        monkeypatch.setitem(known, "softsign", None)
    (code,) = snippets("function.md")
    exec(compile(code, "function.md", "exec"), {})
    assert "softsign" not in function_kinds()
    program = built(tmp_path, "softsign", **options)
    # Half a unit of rounding in the product, whose slope is at most 1, and of the function, and the table's error.
    agree(program, FUNCTIONS["softsign"].reals, 1.5 / program.format.one)


def test_a_function_takes_the_files_that_the_page_names() -> None:
    """`gaussian` is named by its record, its descriptor, the kernel and TABLA; all else takes it from these.

    Three files know some functions for speed or for closer bounds. A function that is not in them works as well.
    """
    found = {
        shown(path.relative_to(ROOT))
        for path in sorted((ROOT / "tabla").rglob("*"))
        if path.suffix in (".py", ".td") and "gaussian" in path.read_text(encoding="utf-8").lower()
    }
    languages = {"tabla/languages/kernel/signatures.py", "tabla/languages/tabla/operators.py"}
    assert found == languages | {
        "templates/machine.td",
        "tabla/graph/functions.py",
        "tabla/graph/compiled/reals.py",
        "tabla/graph/compiled/units.py",
        "tabla/graph/intervals.py",
        "tabla/languages/kernel/slopes.py",
    }
    text = (PAGES / "function.md").read_text(encoding="utf-8")
    for file in (*found, *re.findall(r"`((?:tabla|hw|sim|templates|tests|docs)/[\w/.-]+)`", text)):
        assert f"`{file}`" in text and (ROOT / file).exists(), file


def test_a_function_made_of_others_takes_the_files_that_the_page_names() -> None:
    """`atan2` is in TABLA, Tensor Comprehensions, Tile and kernels, and on the machine."""
    text = (PAGES / "function.md").read_text(encoding="utf-8").partition("## A function made of others")[2]
    listed = set(re.findall(r"^\d\. `(tabla/[\w/.]+)`", text, re.MULTILINE))
    found = {
        str(path.relative_to(ROOT))
        for folder in ("tabla", "hw", "sim", "templates")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".td") and re.search(r"(?<!\w)atan2(?!\w)", path.read_text(encoding="utf-8"))
    }
    assert found == listed
    assert len(found) <= 8, "an operation of the graph touches at most 8 files"


def _cube_words(made: Table, words: Words, fmt: Format) -> Applied:
    exact = [(int(w) ** 3 + (1 << 2 * fmt.fraction >> 1)) >> (2 * fmt.fraction) for w in words.flat]
    clamped = np.clip(exact, fmt.lowest, fmt.highest).reshape(words.shape)
    return Applied(words=clamped, overflows=int(np.count_nonzero(clamped.reshape(-1) != exact)))


CUBE = UnitFunction(
    name="cube",
    kind="cube",
    reals=lambda t: t**3,
    table=lambda fmt: Table(name="cube", kind="cube"),
    words=_cube_words,
)


class Cube(FunctionPipeline):
    """``x * x * x`` rounded half up, and saturated. Members: as ``FunctionPipeline``."""

    latency = 3 + REGISTER

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        operand = Signal(signed(self.width))
        square = Signal(signed(2 * self.width))
        again = Signal(signed(self.width))
        cube = Signal(signed(3 * self.width))
        m.d.sync += [operand.eq(self.operand), again.eq(operand), square.eq(operand * operand), cube.eq(square * again)]
        word, beyond = self.saturated((cube + (1 << 2 * self.fraction >> 1)) >> (2 * self.fraction))
        m.d.comb += [self.value.eq(word), self.overflow.eq(beyond)]
        return m


def _cube(table: FunctionTable, width: int, fraction: int) -> Callable[[int, int], Value]:
    def evaluate(operand: int, divisor: int) -> Value:
        value = (operand * operand * operand + (1 << 2 * fraction >> 1)) >> (2 * fraction)
        word = max(-(1 << (width - 1)), min((1 << (width - 1)) - 1, value))
        return Value(word=word, overflow=word != value)

    return evaluate


def test_a_function_of_a_kind_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = FunctionKind(
        name="cube", latency=Cube.latency, per_width=0, per_fraction=0, more=0, divisor=1, divides=False
    )
    monkeypatch.setitem(function_kinds(), "cube", kind)
    monkeypatch.setitem(functions(), "cube", FunctionUnit(name="cube", code=CODE, pipeline=kind))
    monkeypatch.setitem(FUNCTIONS, "cube", CUBE)
    monkeypatch.setitem(KINDS, "cube", _cube)
    monkeypatch.setitem(PIPELINES, "cube", lambda table, width, fraction, tight: Cube(width=width, fraction=fraction))
    program = built(tmp_path, "cube", pes=2, format="q12.12")
    # The product is off by half a unit, which the slope of the cube, at most 3 * 8 * 8, makes larger.
    agree(program, CUBE.reals, (192 * 0.5 + 0.5) / program.format.one)
