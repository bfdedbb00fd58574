"""Each rule of constant folding, and where it must hold back."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Graph,
    Index,
    Linear,
    Operation,
    Ordinal,
    Product,
    Read,
    Statement,
    Tensor,
    Term,
)
from tabla.graph.passes.fold_constants import fold_constants
from tabla.graph.text import statement_text

Q6_10 = Format.parse("q6.10")
A, B = Read(tensor="a"), Read(tensor="b")
V = Read(tensor="v", subscripts=(Affine.of(i=1),))


def number(value: str | int) -> Constant:
    return Constant(value=Fraction(value))


def term(*factors: Read | Constant | Ordinal, sign: int = 1, reduce: str = "") -> Term:
    return Term(factors=factors, sign=sign, reduce=tuple(reduce))


def linear(*terms: Term, shift: int = 0) -> Linear:
    return Linear(terms=terms, shift=shift)


def folded(operation: Operation, fmt: Format = Q6_10, extent: int = 3) -> str:
    """The right side after folding, in a box where i runs over [5, 5 + extent) and may be summed over."""
    summed = any("i" in t.reduce for t in operation.terms) if isinstance(operation, Linear) else False
    if isinstance(operation, Product | Extreme):
        summed = bool(operation.reduce)
    reduced = (Index(name="i", low=5, high=5 + extent),) if summed else ()
    statement = Statement(id=0, target="r", write=(), indices=(), operation=operation, reduced=reduced)
    tensors = {n: Tensor(name=n, shape=s, role="input") for n, s in (("a", ()), ("b", ()), ("v", (9,)))}
    tensors["r"] = Tensor(name="r", shape=(), role="value")
    after = fold_constants(Graph(name="g", tensors=tensors, statements=(statement,)), fmt)
    return statement_text(after.statements[0]).removeprefix("r = ")


OVER = "   for i in [5, 8)"


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (linear(term(A, number(0)), term(B)), "b"),
        (linear(term(A, number(0))), "0"),
        (linear(term(A, number(1)), term(number(-1), B, sign=-1)), "a + b"),
        (linear(term(A, number(-1))), "-a"),
        (linear(term(A, number(1)), shift=2), "a*1*2^-2"),
        (linear(term(A, number("0.5"))), "a*0.5"),
        (linear(term(A, B), term(A), term(B, A, sign=-1)), "a"),
        (linear(term(A), term(A, sign=-1)), "0"),
        (linear(term(A, A), term(A, sign=-1)), "a*a - a"),
        (linear(term(A), term(A)), "a + a"),
        (linear(term(A), term(A, sign=-1), term(A)), "a"),
        (linear(term(A), term(number("1.5")), term(number("0.25"), sign=-1)), "a + 1.25"),
        (linear(term(number("1.5")), term(A), term(number("1.5"), sign=-1)), "a"),
        (linear(term(number(1)), term(A, sign=-1)), "1 - a"),
        (linear(term(number(20)), term(A), term(number(20))), "20 + a + 20"),
        (linear(term(number("0.5"), number("0.5")), term(A)), "a + 0.25"),
        (linear(term(number("0.01"), number("0.01")), term(A)), "0.01*0.01 + a"),
        (linear(term(number("0.3"), number("0.5"))), "0.150390625"),
        (linear(term(number("1/3"))), "(1/3)"),
        (linear(term(number(30)), term(number(30))), "30 + 30"),
        (linear(term(number(2), reduce="i"), term(A)), "a + 6"),
        (linear(term(V, reduce="i"), term(number(0), A, reduce="i")), f"sum[i](v[i]){OVER}"),
        (linear(term(A, sign=-1), term(number(1)), shift=5), "-a + 1"),
        (Compare(op="<", left=A, right=A), "0"),
        (Compare(op=">=", left=A, right=A), "1"),
        (Compare(op="<", left=number(1), right=number(2)), "1"),
        (Compare(op="!=", left=number("1/3"), right=number("0.3333")), "0"),
        (Compare(op="<", left=A, right=number(2)), "a < 2"),
        (Function(name="sigmoid", operand=number(0)), "0.5"),
        (Function(name="sqrt", operand=number(4)), "2"),
        (Function(name="log", operand=number(-1)), "log((-1))"),
        (Function(name="exp", operand=number(30)), "exp(30)"),
        (Divide(left=number(1), right=number(3)), "0.3330078125"),
        (Divide(left=number(1), right=number(0)), "1 / 0"),
        (Divide(left=number(-7), right=number(2), fraction=10), "(-0.0029296875)"),
        (Divide(left=A, right=number(1), fraction=10), "trunc(a / 1)*2^-10"),
        (Divide(left=number(30), right=number("0.5")), "30 / 0.5"),
        (Divide(left=A, right=number(1)), "a"),
        (Divide(left=A, right=number(-4)), "a*(-0.25)"),
        (Divide(left=A, right=number(3)), "a / 3"),
        (Divide(left=A, right=number("1/3")), "a / (1/3)"),
        (Divide(left=A, right=number("1/64")), "a / 0.015625"),
        (Product(operand=V, reduce=("i",)), f"pi[i](v[i]){OVER}"),
        (Product(operand=number(2), reduce=("i",), initial=A), f"a * pi[i](2){OVER}"),
        (Extreme(op="max", operands=(A, A)), "a"),
        (Extreme(op="max", operands=(A, number(1), B, number(2))), "max(a, b, 2)"),
        (Extreme(op="min", operands=(number(1), number(2))), "1"),
        (Extreme(op="min", operands=(V, A), reduce=("i",)), f"min[i](v[i], a){OVER}"),
        (Extreme(op="min", operands=(number(3),), reduce=("i",)), "3"),
        (Product(operand=number("1.5"), reduce=("i",)), "3.375"),
        (Product(operand=number(5), reduce=("i",)), f"pi[i](5){OVER}"),
        (Compare(op="<", left=Ordinal(value=Affine(constant=3)), right=A), "3 < a"),
    ],
    ids=str,
)
def test_rules(operation: Operation, expected: str) -> None:
    assert folded(operation) == expected


def test_one_point_needs_no_product() -> None:
    assert folded(Product(operand=V, reduce=("i",)), extent=1) == "v[5]"
    ordinal = Ordinal(value=Affine.of(1, i=1))
    assert folded(linear(term(ordinal, A, reduce="i")), extent=1) == "sum[i](6*a)   for i in [5, 6)"


def test_one_word_has_a_place_beside_products_of_a_shift() -> None:
    """The machine adds one word, and so a product of constants stays one where there is a word already."""
    products = term(A, number(3)), term(number(2), number(2))
    assert folded(linear(*products, shift=1)) == "a*3*2^-1 + 2"
    assert folded(linear(term(B), *products, shift=1)) == "b + a*3*2^-1 + 2*2*2^-1"
