"""Statements that write a part of a tensor that exists: numpy, the language's evaluation, words and machine agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.verify import verify
from tabla.languages.tc import parse
from tabla.languages.tc.evaluate import evaluate
from tabla.languages.tc.lower import lower
from tests.draws import draws
from tests.languages.tc.lower.test_programs import words_of
from tests.schedule.agreement import agree

WIDE, NARROW = Format.parse("q12.20"), Format.parse("q6.10")
Array = np.ndarray[Any, Any]
N, M, K = 5, 4, 3
SIZES = {"N": N, "M": M, "K": K}
HEAD = "def f(float(N,M) A, float(N,M) B, float(K) V) -> (c, d)"
COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda old, new: old + new,
    "*": lambda old, new: old * new,
    "min": min,
    "max": max,
}
GREATEST = float(np.finfo(np.float32).max)
IDENTITY = {"+": 0.0, "*": 1.0, "min": GREATEST, "max": -GREATEST}


@dataclass(frozen=True)
class Range:
    """``name in low:high``, where the ends may mention the other index of the statement."""

    text: str
    holds: Callable[[int, int], bool]
    hull: tuple[int, int]


ROWS = [
    Range(f"i in {a}:{b}", lambda i, j, a=a, b=b: a <= i < b, (a, b)) for a in range(N) for b in range(a + 1, N + 1)
]
COLUMNS = [
    Range(f"j in {a}:{b}", lambda i, j, a=a, b=b: a <= j < b, (a, b)) for a in range(M) for b in range(a + 1, M + 1)
]
# An end of a range is a sum of indices, so these triangles stay inside for the rows that they are drawn with.
TRIANGLES = [
    Range("j in 0:i+1", lambda i, j: j <= i, (0, M)),
    Range("j in i:M", lambda i, j: j >= i, (0, M)),
]
HIGH = [row for row in ROWS if row.hull[1] <= M]


@dataclass(frozen=True)
class Value:
    """A value, as text and at a point; `old` reads ``c`` as it was before the statement. `summed` says that k runs."""

    text: str
    at: Callable[[Any, Array, Array, Array, int, int, int], float]
    summed: bool = False
    reads: bool = False


VALUES = [
    Value("A(i,j)", lambda old, a, b, v, i, j, k: a[i, j]),
    Value("B(i,j) * 0.5 - A(i,j)", lambda old, a, b, v, i, j, k: b[i, j] * 0.5 - a[i, j]),
    Value("2.0", lambda old, a, b, v, i, j, k: 2.0),
    Value("i > j ? A(i,j) : 0.0", lambda old, a, b, v, i, j, k: a[i, j] if i > j else 0.0),
    Value("A(i,j) > 0 ? B(i,j) : 0.5", lambda old, a, b, v, i, j, k: b[i, j] if a[i, j] > 0 else 0.5),
    Value("A(i,j) * V(k)", lambda old, a, b, v, i, j, k: a[i, j] * v[k], summed=True),
    Value("V(k) + B(i,j)", lambda old, a, b, v, i, j, k: v[k] + b[i, j], summed=True),
    Value("c(i,j) + A(i,j)", lambda old, a, b, v, i, j, k: old(i, j) + a[i, j], reads=True),
    Value("c(0,j) * 0.5", lambda old, a, b, v, i, j, k: old(0, j) * 0.5, reads=True),
]


class Witness:
    """The elements of ``c`` in a dictionary. Those in its ranges that the dictionary lacks are 0."""

    def __init__(self, inputs: dict[str, Array]) -> None:
        self.a, self.b, self.v = (inputs[name] for name in "ABV")
        self.elements: dict[tuple[int, int], float] = {}
        self.ranges: list[tuple[int, int]] = []

    def element(self, i: int, j: int) -> float:
        return self.elements.get((i, j), 0.0)

    def run(self, operator: str, value: Value, row: Range, column: Range) -> None:
        """One statement."""
        reduction = operator.rstrip("!").removesuffix("=")
        hulls = [row.hull, column.hull]
        pairs = zip(self.ranges or hulls, hulls, strict=True)
        self.ranges = [(min(a, c), max(b, d)) for (a, b), (c, d) in pairs]
        if operator.endswith("!"):
            whole = product(*(range(*ends) for ends in self.ranges))
            self.elements = dict.fromkeys(whole, IDENTITY[reduction])
        before = dict(self.elements)

        def old(i: int, j: int) -> float:
            return before.get((i, j), 0.0)

        for i, j in product(range(*row.hull), range(*column.hull)):
            if not (row.holds(i, j) and column.holds(i, j)):
                continue
            for k in range(K if value.summed else 1):
                new = value.at(old, self.a, self.b, self.v, i, j, k)
                known = self.element(i, j)
                self.elements[i, j] = COMBINE[reduction](known, new) if reduction else new

    def whole(self) -> Array:
        rows, columns = (range(*ends) for ends in self.ranges)
        return np.array([[self.element(i, j) for j in columns] for i in rows])


def inside(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


@st.composite
def statements(draw: st.DrawFn) -> list[tuple[str, Value, Range, Range] | None]:
    """Statements that write ``c``. None stands for one that reads all of it."""
    found: list[tuple[str, Value, Range, Range] | None] = []
    ranges = [(0, 0), (0, 0)]
    for number in range(draw(st.integers(2, 5))):
        if number and draw(st.integers(0, 4)) == 0:
            found.append(None)
            continue
        triangle = draw(st.integers(0, 3)) == 0
        row = draw(st.sampled_from(HIGH if triangle else ROWS))
        column = draw(st.sampled_from(TRIANGLES if triangle else COLUMNS))
        if triangle:
            hull = (0, row.hull[1]) if column is TRIANGLES[0] else (row.hull[0], M)
            column = Range(column.text, column.holds, hull)
        # What a statement updates, or starts anew, lies inside the ranges that the tensor has.
        known = bool(number) and inside(row.hull, ranges[0]) and inside(column.hull, ranges[1])
        usable = [v for v in VALUES if not v.reads or (known and ranges[0][0] == 0)]
        value = draw(st.sampled_from([v for v in usable if known or not number or not v.summed]))
        operators = ["+=", "*=", "min=", "max="] if known else []
        operators += ["+=!", "*=!", "min=!", "max=!"] if known or not number else []
        operators += [] if value.summed else ["=", "=", "="]
        found.append((draw(st.sampled_from(operators)), value, row, column))
        if not number:
            ranges = [row.hull, column.hull]
        ranges = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, (row.hull, column.hull), strict=True)]
    return found


def text_of(drawn: list[tuple[str, Value, Range, Range] | None]) -> str:
    lines = []
    for one in drawn:
        if one is None:
            lines.append("  d(i,j) = c(i,j) * 2.0")
        else:
            operator, value, row, column = one
            lines.append(f"  c(i,j) {operator} {value.text} where {row.text}, {column.text}")
    return "\n".join([f"{HEAD} {{", *lines, "  d(i,j) = c(i,j) * 2.0", "}"])


def drawn_inputs(seed: int) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    shapes = {"A": (N, M), "B": (N, M), "V": (K,)}
    return {name: random.integers(-8, 9, shape) / 8 for name, shape in shapes.items()}


@draws(100, 300)
@given(statements(), st.integers(0, 2**20))
def test_random_parts(drawn: list[tuple[str, Value, Range, Range] | None], seed: int) -> None:
    inputs, text = drawn_inputs(seed), text_of(drawn)
    function = parse(Source.from_text(text)).function()
    found = evaluate(function, inputs)
    witness = Witness(inputs)
    for one in drawn:
        if one is not None:
            witness.run(*one)
    np.testing.assert_allclose(found["c"], witness.whole(), rtol=1e-12)
    graph = lower(function, SIZES, number_format=WIDE)
    verify(graph)
    for made in (graph, run_passes(graph, WIDE)):
        words = evaluate_fixed(made, WIDE, words_of(function, inputs, WIDE)).values
        for shown, tensor in made.results:
            plain = np.abs(found[shown]) < 1000
            assert words[tensor].shape == found[shown].shape
            np.testing.assert_allclose(words[tensor][plain] / WIDE.one, found[shown][plain], rtol=1e-4, atol=1e-4)


A = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 3.0, -2.5])
B = np.array([1.0, 0.25, -0.75, 1.25, 2.5, -1.0, 0.5, 0.125])


def with_part(whole: Array, low: int, high: int, part: Array) -> Array:
    found = whole.copy()
    found[low:high] = part
    return found


PARTS: dict[str, tuple[str, Array]] = {
    "sum": ("c(i) = a(i)  c(i) += b(i) where i in 2:6", with_part(A, 2, 6, A[2:6] + B[2:6])),
    "plain": ("c(i) = a(i)  c(i) = b(i) where i in 2:6", with_part(A, 2, 6, B[2:6])),
    "product": ("c(i) = a(i)  c(i) *= b(i) where i in 0:3", with_part(A, 0, 3, A[:3] * B[:3])),
    "maximum": ("c(i) = a(i)  c(i) max= b(i) where i in 2:6", with_part(A, 2, 6, np.maximum(A, B)[2:6])),
    "minimum": ("c(i) = a(i)  c(i) min= b(i) where i in 5:8", with_part(A, 5, 8, np.minimum(A, B)[5:8])),
    "anew": ("c(i) = a(i)  c(i) +=! b(i) where i in 2:6", with_part(0 * A, 2, 6, B[2:6])),
    "a product anew": ("c(i) = a(i)  c(i) *=! b(i) where i in 2:6", with_part(0 * A + 1, 2, 6, B[2:6])),
    "itself anew": ("c(i) = a(i)  c(i) +=! c(i) + b(i)", B),
    "itself anew by a product": (
        "c(i) = a(i)  c(i) *=! c(i) * b(i) + c(0) where i in 2:6",
        with_part(0 * A + 1, 2, 6, B[2:6] + 1),
    ),
    "an element": ("c(i) = a(i)  c(i) = 2.0 where i in 3:4", with_part(A, 3, 4, np.array([2.0]))),
    "itself": ("c(i) = a(i)  c(i) = c(i) + b(i) where i in 2:6", with_part(A, 2, 6, A[2:6] + B[2:6])),
    "shifted": ("c(i) = a(i)  c(i) = c(i-1) where i in 2:6", with_part(A, 2, 6, A[1:5])),
    "a sum over k": ("c(i) = a(i)  c(i) += b(i) * b(k) where i in 2:6", with_part(A, 2, 6, A[2:6] + B[2:6] * B.sum())),
    "longer": ("c(i) = a(i) where i in 0:4  c(i) = b(i) where i in 2:8", with_part(A, 2, 8, B[2:8])),
    "a gap": ("c(i) = a(i) where i in 0:2  c(i) = b(i) where i in 6:8  c(i) += b(i) where i in 1:5",
              np.array([A[0], A[1] + B[1], *B[2:5], 0, *B[6:8]])),
    "a condition": ("c(i) = a(i)  c(i) = i > 3 ? b(i) : 0.0 where i in 2:6",
                    with_part(A, 2, 6, np.array([0, 0, *B[4:6]]))),
    "read between": ("c(i) = a(i)  e(i) = c(i) * 2.0  c(i) = e(i) where i in 2:6  c(i) += e(i) where i in 4:8",
                     np.array([*A[:2], *(2 * A[2:4]), *(4 * A[4:6]), *(3 * A[6:])])),
    "in a row": ("c(i) = a(i)  c(i) = 1.0 where i in 0:3  c(i) = 2.0 where i in 2:5  c(i) = 3.0 where i in 1:2",
                 np.array([1, 3, 2, 2, 2, *A[5:]])),
    "looked up": ("c(i) = a(i)  c(i) = b(i) where i in 0:4  c(i) = c(int32(p(i))) where i in 4:8",
                  np.array([*B[:4], B[0], A[7], B[3], B[1]])),
    "looked up beside": (
        "c(i) = a(i)  c(i) = b(i) where i in 0:4  c(i) = c(int32(p(i))) + c(i) where i in 4:8",
        np.array([*B[:4], B[0] + A[4], A[7] + A[5], B[3] + A[6], B[1] + A[7]]),
    ),
    "looked up before it grows": (
        "c(i) = a(i) where i in 0:4  e(i) = c(min(int32(p(i)), 3))  c(i) = e(i) where i in 4:8",
        np.array([*A[:4], A[0], A[3], A[3], A[1]]),
    ),
    "handed on before it grows": (
        "c(i) = a(i) where i in 0:4  g = twice(c)  c(i) = g(i-4) where i in 4:8",
        np.array([*A[:4], *(2 * A[:4])]),
    ),
    "zeros are read": (
        ("c(i) = a(i)  c(i) = i > 3 ? b(i) : 0.0 where i in 2:6\n"
        "  e(i) = c(i) where i in 2:6  c(i) += e(i) where i in 5:6"),
        np.array([*A[:2], 0, 0, B[4], 2 * B[5], *A[6:]]),
    ),
    "handed on": ("c(i) = a(i)  c(i) = b(i) where i in 2:6  g = twice(c)  c(i) = g(i) where i in 5:8",
                  np.array([*A[:2], *B[2:5], 2 * B[5], *(2 * A[6:])])),
    "brought back": ("c = twice(a)  c(i) += b(i) where i in 2:6", with_part(2 * A, 2, 6, 2 * A[2:6] + B[2:6])),
}  # fmt: skip
TWICE = "def twice(float(N) x) -> (y) { y(i) = x(i) * 2.0 }"


def kernel(name: str) -> str:
    return f"{TWICE}\ndef f(float(N) a, float(N) b, float(N) p) -> (c) {{\n  {PARTS[name][0]}\n}}"


INPUTS = {"a": A, "b": B, "p": np.array([0, 0, 0, 0, 0, 7, 3, 1], dtype=float)}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name: str) -> None:
    function, expected = parse(Source.from_text(kernel(name))).function(), PARTS[name][1]
    np.testing.assert_array_equal(evaluate(function, INPUTS)["c"], expected)
    graph = lower(function, {"N": 8}, number_format=WIDE)
    verify(graph)
    words = evaluate_fixed(graph, WIDE, words_of(function, INPUTS, WIDE)).values
    np.testing.assert_array_equal(words[dict(graph.results)["c"]] / WIDE.one, expected)


@pytest.mark.parametrize(
    "name", ["sum", "maximum", "a product anew", "a gap", "a condition", "read between", "in a row"]
)
def test_parts_on_the_machine(name: str) -> None:
    template = Options(pes=4).chosen_template()
    graph = lower(parse(Source.from_text(kernel(name))).function(), {"N": 8}, number_format=NARROW)
    agree(run_passes(graph, NARROW), template, NARROW, samples=2)


@pytest.mark.parametrize(
    ("limits", "holds"),
    [
        ("j in 0:i+1", lambda i, j: j <= i),
        ("j in i:i+2", lambda i, j: (i <= j) & (j < i + 2)),
        ("j in i:4-i", lambda i, j: (i <= j) & (j < 4 - i)),
    ],
)
def test_ranges_that_depend_on_each_other(limits: str, holds: Callable[[Any, Any], Any]) -> None:
    """Elements inside change, and the others of the box stay, also where a row has none inside."""
    text = f"def f(float(4,5) a, float(4,5) b) -> (c) {{ c(i,j) = a(i,j) c(i,j) min= b(i,j) where i in 0:4, {limits} }}"
    function = parse(Source.from_text(text)).function()
    graph = lower(function, {}, number_format=NARROW)
    random = np.random.default_rng(2)
    inputs = {name: random.integers(-64, 64, (4, 5)) / 32 for name in "ab"}
    words = evaluate_fixed(graph, NARROW, words_of(function, inputs, NARROW)).values[dict(graph.results)["c"]]
    i, j = np.indices((4, 5))
    chosen = holds(i, j)
    expected = np.where(chosen, np.minimum(inputs["a"], inputs["b"]), inputs["a"])
    np.testing.assert_array_equal(words / NARROW.one, expected)
    agree(run_passes(graph, NARROW), Options(pes=4).chosen_template(), NARROW, samples=2)


def test_integers_start_a_part_from_the_identity() -> None:
    text = """def f(int32(N) a) -> (c, d, e) { c(i) = a(i) c(i) *=! a(i) where i in 1:3
        d(i) = a(i) d(i) += a(i) * 2 where i in 1:3 e(i) = a(i) e(i) max=! a(i) where i in 1:3 }"""
    function, a = parse(Source.from_text(text)).function(), np.array([5, -7, 11, 3])
    graph = lower(function, {"N": 4}, number_format=NARROW)
    words = evaluate_fixed(graph, NARROW, {"a": a}).values
    found = {shown: words[tensor].tolist() for shown, tensor in graph.results}
    assert found == {"c": [1, -7, 11, 1], "d": [5, -21, 33, 3], "e": [NARROW.lowest, -7, 11, NARROW.lowest]}


def test_the_callers_tensor_is_updated_in_parts(tmp_path: Path) -> None:
    """`c` is the caller's: a part of it is updated, another one is written anew, and the rest goes out as it came."""
    path = tmp_path / "kernel.tc"
    path.write_text(
        "def f(float(N) a, float(N) w) -> (c) {\n"
        "  c(i) += a(i)\n  c(i) *= w(i) where i in 2:6\n  c(i) = 0.5 where i in 7:8\n}",
        encoding="utf-8",
    )
    made = build(str(path), Options(sizes={"N": 8}, keep=("w",), pes=4))
    inputs = {"c": B, "a": A, "w": np.full(8, 0.5)}
    expected = A + B
    expected[2:6] *= 0.5
    expected[7] = 0.5
    for found in (made.evaluate(inputs)["c"], made.simulate(inputs).arrays["c"]):
        np.testing.assert_array_equal(found, expected)


def test_a_result_between_parts_is_what_the_tensor_holds_at_last() -> None:
    text = "def f(float(N) a) -> (d) { c(i) = a(i) c(i) = 1.0 where i in 0:2 d(i) = c(i) c(i) = 2.0 where i in 1:3 }"
    function = parse(Source.from_text(text)).function()
    graph = lower(function, {"N": 4}, number_format=WIDE, results=("c",))
    words = evaluate_fixed(graph, WIDE, words_of(function, {"a": A[:4]}, WIDE)).values
    found = {shown: (words[tensor] / WIDE.one).tolist() for shown, tensor in graph.results}
    assert found == {"d": [1, 1, A[2], A[3]], "c": [1, 2, 2, A[3]]}


def test_parts_that_nobody_reads_together_are_not_copied() -> None:
    """Each statement reads one part, so that the rest stays where it is."""
    text = """def f(float(N) a) -> (d, e) { c(i) = a(i) * 2.0 c(i) = 1.0 where i in 0:2
        d(i) = c(i) where i in 0:2 e(i) = c(i) where i in 2:N }"""
    graph = lower(parse(Source.from_text(text)).function(), {"N": 6}, number_format=WIDE)
    assert [statement.target for statement in graph.statements] == ["c", "c.2", "d", "e"]
    assert [read.tensor for statement in graph.statements[2:] for read in statement.reads] == ["c.2", "c"]
