"""Integers, truth values and computed subscripts: in Python element by element, in float64, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod, trunc

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Index
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.verify import verify as verify_graph
from tabla.languages.kernel.constants import element
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.training import Learning, learning
from tabla.languages.kernel.tree import (
    Apply,
    Expression,
    Gather,
    Kernel,
    Limit,
    Number,
    Position,
    Read,
    Reduce,
    Statement,
    Tensor,
    Type,
)
from tabla.languages.kernel.verify import verify
from tests.draws import draws
from tests.languages.kernel.naive import points
from tests.schedule.agreement import agree

SIZE, MOST = 4, 2000
WIDE, NARROW = Format.parse("q12.20"), Format.parse("q6.10")
ROW, INNER = Index(name="i", low=0, high=SIZE), Index(name="k", low=1, high=SIZE)
GIVEN: Mapping[Type, str] = {"real": "x", "integer": "n", "truth": "m"}
Scalar = Fraction | int | bool


class NoValue(Exception):
    """A value is beyond the words of the format, or a divisor is 0."""


def integer(value: int) -> Number:
    return Number(value=Fraction(value), type="integer")


@st.composite
def values(draw: st.DrawFn, kind: Type, known: Mapping[str, Type], names: str = "i", depth: int = 0) -> Expression:
    """A value of a type. Real numbers are sums of quarters, so that words are exact."""

    def inner(own: Type, scope: str = names) -> Expression:
        return draw(values(own, known, scope, depth + 1))

    def read() -> Expression:
        tensor = draw(st.sampled_from([name for name, own in known.items() if own == kind]))
        name = draw(st.sampled_from(names))
        at = Affine.of(**{name: 1}) if draw(st.booleans()) else Affine.of(SIZE - 1, **{name: -1})
        return Read(tensor=tensor, subscripts=(at,), type=kind)

    def looked_up() -> Expression:
        tensor = draw(st.sampled_from([name for name, own in known.items() if own == kind]))
        within = apply("min", apply("max", inner("integer"), integer(0)), integer(SIZE - 1))
        return element(Tensor(name=tensor, shape=(SIZE,), role="value", type=kind), [within], None)

    def reduced() -> Expression:
        kinds = {"real": ["sum", "max", "min"], "integer": ["sum", "max", "min", "product"], "truth": ["max", "min"]}
        reduction = draw(st.sampled_from(kinds[kind]))
        own = Affine.make(draw(st.integers(-3, 3)), draw(st.sampled_from([{"i": 1, "k": -1}, {"k": 1}, {"i": 1}])))
        conditions = (own,) if draw(st.booleans()) else ()
        total = Reduce(reduction=reduction, indices=(INNER,), body=inner(kind, "ik"), conditions=conditions)
        if kind == "truth" or reduction not in ("max", "min"):
            return total
        return apply(reduction, Limit(end="lowest" if reduction == "max" else "highest", type=kind), total)

    if depth > 3 or draw(st.integers(0, 3)) == 0:
        return read()
    ways = [looked_up, lambda: apply("select", inner("truth"), inner(kind), inner(kind))]
    if "k" not in names:
        ways.append(reduced)
    match kind:
        case "real":
            functions = ["add", "subtract", "max", "min"]
            ways += [lambda: apply("real", inner("integer")), lambda: apply("real", inner("truth"))]
        case "integer":
            functions = ["add", "subtract", "multiply", "divide", "remainder", "max", "min"]
            ways += [lambda: apply("integer", inner(draw(st.sampled_from(["real", "truth"]))))]
            ways += [lambda: apply("abs", inner("integer")), lambda: apply("negate", inner("integer"))]
            ways += [lambda: integer(draw(st.integers(-3, 3))), lambda: Position(index=draw(st.sampled_from(names)))]
        case "truth":
            functions = ["and", "or"]
            compared = st.sampled_from(["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
            ways += [
                lambda: apply(draw(compared), inner("integer"), inner("integer")),
                lambda: apply(draw(compared), inner("real"), inner("real")),
                lambda: apply("not", inner("truth")),
                lambda: apply("truth", inner(draw(st.sampled_from(["real", "integer"])))),
            ]
    ways += [lambda: apply(draw(st.sampled_from(functions)), inner(kind), inner(kind))] * 2
    made: Expression = draw(st.sampled_from(ways))()
    return made


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    known: dict[str, Type] = {name: kind for kind, name in GIVEN.items()}
    statements = []
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["real", "integer", "truth"]))
        value, target = draw(values(kind, known)), f"y{number}"
        statements.append(Statement(target=target, write=(Affine.of(i=1),), indices=(ROW,), value=value))
        known[target] = kind
    tensors = {
        name: Tensor(name=name, shape=(SIZE,), role="input" if name in GIVEN.values() else "value", type=kind)
        for name, kind in known.items()
    }
    return Kernel(name="k", tensors=tensors, statements=tuple(statements), results=tuple(list(known)[3:]))


def quotient(left: int, right: int) -> int:
    if right == 0:
        raise NoValue
    return trunc(Fraction(left, right))


FUNCTIONS = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": quotient,
    "remainder": lambda a, b: a - b * quotient(a, b), "min": min, "max": max, "negate": lambda a: -a, "abs": abs,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "not": lambda a: not a, "real": Fraction,
    "integer": trunc, "truth": lambda a: a != 0, "select": lambda a, b, c: b if a else c,
}  # fmt: skip
REDUCTIONS = {"sum": sum, "product": prod, "max": max, "min": min}


def value_of(
    expression: Expression, point: dict[str, int], stored: Mapping[str, list[Scalar]], most: int = MOST
) -> Scalar:
    """The value of an expression at a point, in exact numbers. Every part of it fits a word, limits apart."""
    found: Scalar
    match expression:
        case Number(value=value, type=kind):
            found = value if kind == "real" else int(value)
        case Position(index=index):
            found = point[index]
        case Read(tensor=tensor, subscripts=(at,)):
            found = stored[tensor][at.at(point)]
        case Gather(tensor=tensor, subscripts=(at,)):
            assert not isinstance(at, Affine)
            found = stored[tensor][int(value_of(at, point, stored))]
        case Apply(function="max" | "min", arguments=(Limit(end=end), Reduce() as reduce)):
            reached = [value_of(reduce.body, each, stored) for each in points(reduce.indices, reduce.conditions, point)]
            if not reached:
                raise NoValue
            assert end == ("lowest" if expression.function == "max" else "highest")
            found = REDUCTIONS[expression.function](reached)
        case Apply(function=function, arguments=arguments):
            found = FUNCTIONS[function](*(value_of(argument, point, stored) for argument in arguments))
        case Reduce(reduction=reduction, body=body):
            reached = [
                value_of(body, each, stored) for each in points(expression.indices, expression.conditions, point)
            ]
            if body.type == "truth":
                found = any(reached) if reduction == "max" else all(reached)
            else:
                found = REDUCTIONS[reduction](reached)
        case _:
            raise AssertionError(expression)
    if abs(found) >= most:
        raise NoValue
    return found


@draws(100, 300)
@given(kernels(), st.integers(0, 2**20))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    try:
        verify(kernel)
    except TablaError as fault:
        assume("meet the conditions" not in fault.message and "division by zero" not in fault.message)
        raise
    assert parse(Source.from_text(kernel_text(kernel)), "k") == kernel
    random = np.random.default_rng(seed)
    arrays = {
        "x": random.integers(-12, 13, SIZE) / 4,
        "n": random.integers(-5, 6, SIZE),
        "m": random.integers(0, 2, SIZE).astype(bool),
    }
    stored: dict[str, list[Scalar]] = {
        "x": [Fraction(v) for v in arrays["x"]], "n": arrays["n"].tolist(), "m": arrays["m"].tolist(),
    }  # fmt: skip
    try:
        for statement in kernel.statements:
            stored[statement.target] = [value_of(statement.value, {"i": i}, stored) for i in range(SIZE)]
    except NoValue:
        assume(False)
    found = evaluate(kernel, arrays)
    for name in kernel.results:
        assert found[name].tolist() == stored[name], name
    try:
        graph = lower(kernel, number_format=WIDE)
    except TablaError as fault:
        assert "division by zero" in fault.message
        assume(False)
    verify_graph(graph)
    words = {name: (array * (1 if name == "n" else WIDE.one)).astype(np.int64) for name, array in arrays.items()}
    for made in (graph, run_passes(graph, WIDE)):
        given_back = evaluate_fixed(made, WIDE, words).values
        for name, tensor in made.results:
            one = 1 if kernel.tensors[name].type == "integer" else WIDE.one
            assert given_back[tensor].tolist() == [int(value * one) for value in stored[name]], name
    event("computed")
    if seed % 16:
        return
    smaller = run_passes(lower(kernel, number_format=NARROW), NARROW)
    integers = {"n": np.stack([arrays["n"]] * 2), "m": np.stack([arrays["m"] * NARROW.one] * 2)}
    agree(smaller, Options(pes=3).chosen_template(), NARROW, samples=2, given=integers)


@pytest.mark.parametrize(("reduction", "expected"), [("max", WIDE.lowest), ("min", WIDE.highest)])
@pytest.mark.parametrize("kind", ["real", "integer"])
@pytest.mark.parametrize("condition", ["j < i", "i > 0, j < i", "i > 0"])
def test_an_extreme_of_no_values_is_a_limit(reduction: str, expected: int, kind: str, condition: str) -> None:
    end = "lowest" if reduction == "max" else "highest"
    text = f"""input x[3]: {kind}; value y[3]: {kind};
        y[i] = {reduction}({end}({kind}), {reduction}[j in 0:3 where {condition}](x[j])) for i in 0:3; return y;"""
    kernel = parse(Source.from_text(text), "k")
    x = np.array([3, 1, 2])
    graph = lower(kernel, number_format=WIDE)
    one = WIDE.one if kind == "real" else 1
    words = evaluate_fixed(graph, WIDE, {"x": x * one}).values[graph.results[0][1]]
    inside = [[j for j in range(3) if i > 0 and (j < i or "j" not in condition)] for i in range(3)]
    of = {"max": max, "min": min}[reduction]
    assert words.tolist() == [expected] + [of(x[row]) * one for row in inside[1:]]
    float64 = evaluate(kernel, {"x": x})["y"]
    assert float64[1:].tolist() == [of(x[row]) for row in inside[1:]]
    if kind == "real":
        assert float64[0] == (-np.inf if reduction == "max" else np.inf)
    else:
        limits = np.iinfo(np.int64)
        assert float64[0] == (limits.min if reduction == "max" else limits.max)


def test_a_product_under_a_condition_outside_of_it() -> None:
    """The condition is not about the index of the product, which is 1 where it fails."""
    text = "input x[3]: real; value y[3]: real; y[i] = product[j in 0:3 where i > 0](x[j]) for i in 0:3; return y;"
    kernel = parse(Source.from_text(text), "k")
    graph = lower(kernel, number_format=WIDE)
    verify_graph(graph)
    words = evaluate_fixed(graph, WIDE, {"x": np.array([2, 3, 4]) * WIDE.one}).values[graph.results[0][1]]
    assert (words / WIDE.one).tolist() == evaluate(kernel, {"x": np.array([2.0, 3, 4])})["y"].tolist() == [1, 24, 24]


def test_the_callers_tensor_stays_as_it_came() -> None:
    text = "initial c[3]: real; input x[3]: real; c[i] = c[2 - i] + x[i] for i in 0:3; return c;"
    kernel = parse(Source.from_text(text), "k")
    assert parse(Source.from_text(kernel_text(kernel)), "k") == kernel
    c = np.array([1.0, 2.0, 4.0])
    assert evaluate(kernel, {"c": c, "x": np.ones(3)})["c"].tolist() == [5, 3, 2]
    assert c.tolist() == [1, 2, 4]
    graph = lower(kernel, number_format=WIDE)
    words = {"c": (c * WIDE.one).astype(np.int64), "x": np.full(3, WIDE.one)}
    assert evaluate_fixed(graph, WIDE, words).values[dict(graph.results)["c"]].tolist() == [5 * WIDE.one, 3 * WIDE.one,
                                                                                       2 * WIDE.one]  # fmt: skip


def test_a_position_outside_is_told() -> None:
    text = "input x[3]: real; input n: integer; value y: real; y = x[n]; return y;"
    kernel = parse(Source.from_text(text), "k")
    for n, wrong in ((3, 3), (-1, -1)):
        with pytest.raises(TablaError, match=f"'x' is read at {wrong} on axis 0, which has 3") as caught:
            evaluate(kernel, {"x": np.ones(3), "n": np.array(n)})
        assert caught.value.labels and caught.value.hint


EMBEDDING = """input n[3]: integer; input c: real; input u[4, 2]: real; value y[3, 2]: real; value z[2]: real;
y[i, k] = u[n[i], k] * (u[min(n[i] + 1, 3), 1 - k] + real(n[i])) for i in 0:3, k in 0:2;
z[k] = sum[i in 0:3](y[i, k]) % 1.5 + c * max(lowest(real), max[i in 0:3 where i > 0](y[i, k])) for k in 0:2;
return z;"""


def test_what_is_looked_up_learns() -> None:
    """The derivative by an element that several positions name is the sum of theirs."""
    kernel = parse(Source.from_text(EMBEDDING), "k")
    learnt = learning(kernel, Learning(train=("u",), loss="mse", rate=Fraction(1)))
    assert parse(Source.from_text(kernel_text(learnt)), "k") == learnt
    random = np.random.default_rng(3)
    arrays = {"n": np.array([2, 0, 2]), "c": np.array(0.75), "u": random.normal(size=(4, 2))}
    label = random.normal(size=2)

    def loss(u: np.ndarray) -> float:
        return float(((evaluate(kernel, arrays | {"u": u})["z"] - label) ** 2).sum()) / 2

    step, expected = 1e-6, np.zeros((4, 2))
    for at in product(range(4), range(2)):
        change = np.zeros((4, 2))
        change[at] = step
        expected[at] = (loss(arrays["u"] + change) - loss(arrays["u"] - change)) / (2 * step)
    gradient = arrays["u"] - evaluate(learnt, arrays | {"label": label})["u"]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    assert expected.any(axis=1).tolist() == [True, True, True, True]


def test_the_callers_tensor_has_a_derivative() -> None:
    text = "initial c[2]: real; input w: real; c[i] = w * c[i] for i in 0:1; c[i] = w + c[0] for i in 1:2; return c;"
    learnt = learning(parse(Source.from_text(text), "k"), Learning(train=("w",), loss="mse", rate=Fraction(1)))
    assert parse(Source.from_text(kernel_text(learnt)), "k") == learnt
    c, w, label = np.array([3.0, 5.0]), np.array(0.5), np.array([1.0, 1.0])
    # c becomes (3 w, w + 3 w), so the errors are 0.5 and 1.
    assert w - evaluate(learnt, {"c": c, "w": w, "label": label})["w"] == pytest.approx(0.5 * 3 + 1 * 4)


def test_integers_have_no_loss() -> None:
    text = "input n: integer; value y: integer; y = n + 1; return y;"
    with pytest.raises(TablaError, match="'y' holds integers, and a loss is of real numbers"):
        learning(parse(Source.from_text(text), "k"), Learning(train=("n",), loss="mse", rate=Fraction(1)))


def test_a_text_runs_on_the_machine() -> None:
    text = """input n[3]: integer; input m[3]: truth; input u[4]: real; value y[3]: real; value t: integer;
        y[i] = select(m[i], u[n[i] % 4], 0.5) for i in 0:3;
        t = sum[i in 0:3](n[i] / 2);
        return y, t;"""
    made = build(Source.from_text(text, "look.kernel"), Options(pes=4))
    inputs = {"n": np.array([5, 2, 7]), "m": np.array([1, 0, 1]), "u": np.array([0.25, 1.5, -2, 3])}
    for found in (made.evaluate(inputs), made.simulate(inputs).arrays, made.evaluate(inputs, float64=True)):
        assert found["y"].tolist() == [1.5, 0.5, 3] and found["t"] == 6
