"""The text of a kernel gives the kernel back, and both mean the same and become the same graph."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.signatures import SIGNATURES, apply
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.tree import Expression, Kernel, Number, Position, Read, Reduce, Statement, Tensor
from tabla.languages.kernel.verify import verify
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.kernel import kernel_of
from tests.languages.tabla.random_programs import programs

ROOT = Path(__file__).parents[3]
FILES = sorted([*(ROOT / "tabla/examples").glob("*.t"), *(ROOT / "tests/programs/tabla/lowered").glob("*.t")])


def again(kernel: Kernel) -> Kernel:
    return parse(Source.from_text(kernel_text(kernel), "x.kernel"), kernel.name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_programs(path: Path) -> None:
    kernel = kernel_of(parse_tabla(Source.from_path(path)), path.stem)
    verify(kernel)
    number = Format.parse("q16.16")
    assert again(kernel) == kernel
    # Notes have places in different files.
    graphs = [replace(lower(each, number_format=number), notes=()) for each in (again(kernel), kernel)]
    assert graphs[0] == graphs[1]


@settings(max_examples=150, deadline=None)
@given(programs())
def test_random_programs(text: str) -> None:
    kernel = kernel_of(parse_tabla(Source.from_text(text)))
    verify(kernel)
    assert again(kernel) == kernel
    assert kernel_text(again(kernel)) == kernel_text(kernel)


NUMBERS = st.fractions(-9, 9, max_denominator=12)
ROWS = Index(name="i", low=-1, high=2)


def leaves(kind: str) -> st.SearchStrategy[Expression]:
    """Expressions that hold no others: an element of x[3] or of n[3], a number, an index."""
    here = (Affine.of(1, i=1),)
    if kind == "integer":
        number = st.integers(-9, 9).map(lambda value: Number(value=Fraction(value), type="integer"))
        return number | st.just(Position(index="i")) | st.just(Read(tensor="n", subscripts=here, type="integer"))
    return NUMBERS.map(lambda value: Number(value=value)) | st.just(Read(tensor="x", subscripts=here))


@st.composite
def expressions(draw: st.DrawFn, kind: str, depth: int = 0) -> Expression:
    """Any expression of a type, with every function that gives it."""
    if kind != "truth" and (depth > 3 or draw(st.integers(0, 3)) == 0):
        return draw(leaves(kind))
    if kind == "real" and draw(st.integers(0, 6)) == 0:
        over = Index(name=f"r{depth}", low=0, high=draw(st.integers(1, 3)))
        body = draw(expressions("real", depth + 1))
        body = apply("add", body, apply("real", Position(index=over.name)))
        return Reduce(
            reduction=draw(st.sampled_from(["sum", "product", "max", "min", "norm"])), indices=(over,), body=body
        )
    gives = {"real": ("numbers", "reals"), "integer": ("numbers",), "truth": ("comparison",)}[kind]
    name = draw(st.sampled_from([name for name, each in SIGNATURES.items() if each.rule in gives] + [kind]))
    signature = SIGNATURES[name]
    match signature.rule:
        case "conversion":
            takes = draw(st.sampled_from(["real", "integer", "truth"])) if depth < 3 else "real"
        case "comparison":
            takes = draw(st.sampled_from(["real", "integer"]))
        case _:
            takes = kind
    return apply(name, *(draw(expressions(takes, depth + 1)) for _ in range(signature.arity)))


def of(value: Expression) -> Kernel:
    """A kernel that computes one expression for three elements, beside a value of integers."""
    tensors = (
        Tensor(name="x", shape=(3,), role="input"),
        Tensor(name="n", shape=(3,), role="value", type="integer"),
        Tensor(name="t", shape=(3,), role="value", type=value.type),
    )
    write = (Affine.of(1, i=1),)
    whole = apply("integer", Read(tensor="x", subscripts=write))
    statements = (
        Statement(target="n", write=write, indices=(ROWS,), value=whole),
        Statement(target="t", write=write, indices=(ROWS,), value=value),
    )
    return Kernel(name="k", tensors={each.name: each for each in tensors}, statements=statements, results=("t",))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["real", "integer", "truth"]).flatmap(expressions))
def test_random_expressions(value: Expression) -> None:
    kernel = of(value)
    verify(kernel)
    assert again(kernel) == kernel
    x = {"x": np.array([-1.5, 0.25, 2.0])}
    assert np.array_equal(evaluate(again(kernel), x)["t"], evaluate(kernel, x)["t"], equal_nan=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("-(0.5)", "-(0.5)"),
        ("-0.5 * x", "-0.5 * x"),
        ("-(x * 2.0)", "-(x * 2.0)"),
        ("(x - (x - 1.0)) / fraction(-1, 3)", "(x - (x - 1.0)) / fraction(-1, 3)"),
        ("real((x < 1.0) == (x < 2.0))", ""),
        ("real(2 * 3 - 4) + x", "real(2 * 3 - 4) + x"),
        ("((x)) + ((1.50))", "x + 1.5"),
        ("max(x, -x) // the magnitude", "max(x, -x)"),
    ],
)
def test_texts(value: str, text: str) -> None:
    source = Source.from_text(f"input x: real; value for: real;\nfor = {value}\n; return for;", "x.kernel")
    if not text:
        with pytest.raises(TablaError, match="'==' is given truth and truth"):
            parse(source, "x")
        return
    assert kernel_text(parse(source, "x")).splitlines()[2] == f"for = {text};"


def test_a_long_chain() -> None:
    """It is no deeper for any of the walks."""
    chain = " + ".join(["x"] * 5000)
    kernel = parse(Source.from_text(f"input x: real; value y: real; y = {chain}; return y;"), "x")
    # Python itself compares trees to a bounded depth only.
    assert kernel_text(again(kernel)) == kernel_text(kernel)
    assert evaluate(kernel, {"x": np.array(1.0)})["y"] == 5000
    assert len(lower(kernel, number_format=Format.parse("q6.10")).statements) == 1
