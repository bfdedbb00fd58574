"""Statements and sums under conditions: in float64, in the graph, and element by element."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Index
from tabla.graph.verify import verify as verify_graph
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.tree import Expression, Kernel, Number, Position, Read, Reduce, Statement, Tensor
from tabla.languages.kernel.verify import verify
from tests.languages.kernel.naive import run

SIZE = 4
WIDE = Format.parse("q16.16")
ROW, COLUMN, DEPTH = (Index(name=name, low=0, high=SIZE) for name in "ijk")


@st.composite
def conditions(draw: st.DrawFn, names: str) -> tuple[Affine, ...]:
    forms = st.dictionaries(st.sampled_from(names), st.sampled_from([-2, -1, 1, 2]), min_size=1, max_size=2)
    return tuple(Affine.make(draw(st.integers(-3, 5)), draw(forms)) for _ in range(draw(st.integers(0, 2))))


@st.composite
def values(draw: st.DrawFn, names: str, known: list[str], depth: int = 0) -> Expression:
    """A value at an index of each name. Every read is at an index, so it is inside."""
    match draw(st.integers(0, 7 if depth < 3 else 2)):
        case 0:
            return Number(value=draw(st.fractions(-3, 3, max_denominator=4)))
        case 1:
            return apply("real", Position(index=draw(st.sampled_from(names))))
        case 2 | 3:
            tensor = draw(st.sampled_from(known))
            return Read(tensor=tensor, subscripts=tuple(Affine.of(**{draw(st.sampled_from(names)): 1}) for _ in "ab"))
        case 4 if "k" not in names:
            body = draw(values(names + "k", known, depth + 1))
            if draw(st.booleans()):
                return Reduce(reduction="max", indices=(DEPTH,), body=body)
            return Reduce(reduction="sum", indices=(DEPTH,), body=body, conditions=draw(conditions(names + "k")))
        case 5:
            compared = apply("less", draw(values(names, known, depth + 1)), draw(values(names, known, depth + 1)))
            return apply("real", compared)
        case _:
            function = draw(st.sampled_from(["add", "subtract", "multiply", "min", "max"]))
            return apply(function, *(draw(values(names, known, depth + 1)) for _ in "ab"))


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """Statements that write all of a matrix, or parts of it under conditions, some of them mirrored."""
    known, statements = ["x"], []
    for _ in range(draw(st.integers(1, 4))):
        target = draw(st.sampled_from("abc"))
        under = draw(conditions("ij"))
        turned = draw(st.booleans())
        write = (Affine.of(SIZE - 1, i=-1) if turned else Affine.of(i=1), Affine.of(j=1))
        value = draw(values("ij", known))
        statements.append(Statement(target=target, write=write, indices=(ROW, COLUMN), value=value, conditions=under))
        known = list(dict.fromkeys([*known, target]))
    tensors = [Tensor(name="x", shape=(SIZE, SIZE), role="input")]
    tensors += [Tensor(name=name, shape=(SIZE, SIZE), role="value") for name in known[1:]]
    return Kernel(
        name="k", tensors={t.name: t for t in tensors}, statements=tuple(statements), results=tuple(known[1:])
    )


def assume_meaning(kernel: Kernel) -> None:
    """Verify a kernel. One with a condition that never holds is drawn anew."""
    try:
        verify(kernel)
    except TablaError as fault:
        assume("meet the conditions" not in fault.message)
        raise


@settings(max_examples=250, deadline=None)
@given(kernels(), st.integers(0, 5))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    assume_meaning(kernel)
    assert parse(Source.from_text(kernel_text(kernel)), "k") == kernel
    x = np.random.default_rng(seed).integers(-8, 9, (SIZE, SIZE)) / 4
    expected = run(kernel, {"x": {at: float(x[at]) for at in np.ndindex(x.shape)}})
    found = evaluate(kernel, {"x": x})
    try:
        graph = lower(kernel, number_format=WIDE)
    except TablaError as fault:
        # A constant, or a value of indices, that the format cannot hold.
        assert "does not fit" in fault.message or "rounds to" in fault.message, fault
        graph = None
    if graph is not None:
        verify_graph(graph)
        plan = FloatPlan.of(graph)
        kept = plan.run({"x": x[None]}, [tensor for _, tensor in graph.results], 1).kept
    for name in kernel.results:
        for at in product(range(SIZE), repeat=2):
            real = expected[name, at]
            assert found[name][at] == pytest.approx(real, rel=1e-9, abs=1e-9), (name, at)
            if graph is not None:
                assert kept[dict(graph.results)[name]][0][at] == pytest.approx(real, rel=1e-9, abs=1e-9), (name, at)


def test_a_read_outside_is_none_where_a_condition_excludes_it() -> None:
    text = "input x[4]: real; value d[4]: real; d[i] = x[i] - x[i - 1] for i in 0:4 where i >= 1; return d;"
    kernel = parse(Source.from_text(text), "k")
    assert evaluate(kernel, {"x": np.array([1.0, 4.0, 9.0, 16.0])})["d"].tolist() == [0, 3, 5, 7]
    plan = FloatPlan.of(graph := lower(kernel, number_format=WIDE))
    kept = plan.run({"x": np.array([[1.0, 4.0, 9.0, 16.0]])}, [graph.results[0][1]], 1).kept
    assert kept[graph.results[0][1]].tolist() == [[0, 3, 5, 7]]


def test_a_stride_leaves_zeros() -> None:
    text = "input x[3]: real; value y[6]: real; y[2 * i + 1] = x[i] for i in 0:3; return y;"
    kernel = parse(Source.from_text(text), "k")
    x = np.array([1.0, 2.0, 4.0])
    assert evaluate(kernel, {"x": x})["y"].tolist() == [0, 1, 0, 2, 0, 4]
    plan = FloatPlan.of(graph := lower(kernel, number_format=WIDE))
    kept = plan.run({"x": x[None]}, [graph.results[0][1]], 1).kept
    assert kept[graph.results[0][1]].tolist() == [[0, 1, 0, 2, 0, 4]]


@pytest.mark.parametrize(("reduction", "expected"), [("product", [1, 2, 10]), ("norm", [0, 2, 29**0.5])])
def test_reductions_of_no_values(reduction: str, expected: list[float]) -> None:
    text = f"input x[3]: real; value y[3]: real; y[i] = {reduction}[j in 0:3 where j < i](x[j]) for i in 0:3; return y;"
    kernel = parse(Source.from_text(text), "k")
    x = np.array([2.0, 5.0, 7.0])
    assert evaluate(kernel, {"x": x})["y"].tolist() == pytest.approx(expected)
    plan = FloatPlan.of(graph := lower(kernel, number_format=WIDE))
    kept = plan.run({"x": x[None]}, [graph.results[0][1]], 1).kept
    assert kept[graph.results[0][1]][0].tolist() == pytest.approx(expected)


def test_an_equation_is_two_conditions() -> None:
    text = "input x[3, 3]: real; value t: real; t = sum[i in 0:3, j in 0:3 where i == j, 0 < i](x[i, j]); return t;"
    kernel = parse(Source.from_text(text), "k")
    assert evaluate(kernel, {"x": np.arange(9.0).reshape(3, 3)})["t"] == 12
    assert "where i-j >= 0, -i+j >= 0, i-1 >= 0" in kernel_text(kernel)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y[i] = x[i - 1] for i in 0:3 where i >= 0;", "the subscript i-1 of 'x' is -1 somewhere"),
        ("y[i] = x[i] for i in 0:3 where i >= 3;", "no values of the indices meet the conditions"),
        ("y[i] = x[i] for i in 0:3 where i + 1;", "a condition compares sums of indices"),
        ("y[i] = x[i] for i in 0:3 where i != 1;", "a condition compares sums of indices"),
        ("y[i] = x[i] for i in 0:3 where 0 < i < 2;", "two comparisons in one condition"),
        ("y[i] = x[i] for i in 0:3 where x[i] > 0.0;", "a condition is about indices"),
        ("y[i] = x[i] for i in 0:3 where j >= 1;", "no index and no tensor 'j'"),
        ("s = max[i in 0:3 where i > 2](x[i]);", "no values of the indices meet"),
        ("y[i] = max[j in 0:3 where j > i](x[j]) for i in 0:3;", "a max of no values at some point"),
        ("y[i] = x[i] for i in 0:2; y[i] = 0.5 for i in 0:3 where i > 1;", "a part of 'y' is written, and"),
        ("y[i] = x[i] for i in 0:2; s = sum[i in 0:3 where i >= 1](y[i]);", r"'y\[2\]' is read"),
    ],
)
def test_faults(text: str, message: str) -> None:
    head = "input x[3]: real; value y[3]: real; value s: real; "
    with pytest.raises(TablaError, match=message):
        parse(Source.from_text(f"{head}{text} return y;"), "k")


def test_integers_that_the_text_knows_are_numbers() -> None:
    text = "input x: real; value n: integer; value s: real; n = 7 / 2 + integer(-2.5); s = real(n) * x; return s;"
    graph = lower(parse(Source.from_text(text), "k"), number_format=WIDE)
    kept = FloatPlan.of(graph).run({"x": np.array([2.0])}, [graph.results[0][1]], 1).kept
    assert kept[graph.results[0][1]].tolist() == [2.0]
