"""The text form says all that a graph means, the same way every time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from tabla.graph.graph import Affine, Compare, Constant, Divide, Extreme, Graph, Linear, Ordinal, Product, Term
from tabla.graph.text import graph_text, operand_text, statement_text
from tests.graph.examples import Builder, at, logistic, word
from tests.graph.graph_strategy import graphs


def test_logistic_regression_reads_like_mathematics() -> None:
    assert graph_text(logistic(3)) == (
        "graph logistic\n"
        "  input x[3]\n"
        "  label y\n"
        "  model w[3]\n"
        "  value s\n"
        "  value p\n"
        "  value e\n"
        "  value e.m\n"
        "  next w.next[3]\n"
        "\n"
        "  s = sum[i](w[i]*x[i])   for i in [0, 3)\n"
        "  p = sigmoid(s)\n"
        "  e = p - y\n"
        "  e.m = 0.75*e\n"
        "  w.next[i] = w[i] - e.m*x[i]*2^-3   for i in [0, 3)\n"
        "\n"
        "  update w <- w.next\n"
        "  result p\n"
    )


def test_every_operation() -> None:
    b = Builder()
    b.tensor("x", "input", 2, 3)
    ordinal = Ordinal(value=Affine.of(-1, i=2))
    assert operand_text(replace(ordinal, fraction=10)) == "<(2*i-1)/2^10>"
    third = Constant(value=Fraction(-1, 3))
    b.let("a", "i", Product(operand=at("x", "i", "j"), reduce=("j",)), "j", i=2, j=3)
    b.let("a", "i", Compare(op="!=", left=ordinal, right=third), i=2)
    b.let("a", "i", Divide(left=at("x", "i", "i"), right=Constant(value=Fraction(5, 2))), i=2)
    b.let("a", "i", Linear(terms=(Term(factors=(third, ordinal), sign=-1), word(at("y"))), shift=-2), i=2)
    b.let("a", "i", Product(operand=at("x", "i", "j"), reduce=("j",), initial=at("y")), "j", i=2, j=3)
    b.let("a", "i", Extreme(op="max", operands=(at("x", "i", "j"), at("y")), reduce=("j",)), "j", i=2, j=3)
    b.let("a", "i", Extreme(op="min", operands=(at("x", "i", "i"), third)), i=2)
    assert [statement_text(statement) for statement in b.statements] == [
        "a[i] = pi[j](x[i][j])   for i in [0, 2), j in [0, 3)",
        "a[i] = <2*i-1> != (-1/3)   for i in [0, 2)",
        "a[i] = x[i][i] / 2.5   for i in [0, 2)",
        "a[i] = -(-1/3)*<2*i-1>*2^2 + y   for i in [0, 2)",
        "a[i] = y * pi[j](x[i][j])   for i in [0, 2), j in [0, 3)",
        "a[i] = max[j](x[i][j], y)   for i in [0, 2), j in [0, 3)",
        "a[i] = min(x[i][i], (-1/3))   for i in [0, 2)",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(1, 8), "0.125"),
        (Fraction(-5, 4), "(-1.25)"),
        (Fraction(2, 7), "(2/7)"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(-1, 2), "(-0.5)"),
    ],
)
def test_constants_are_exact(value: Fraction, text: str) -> None:
    assert operand_text(Constant(value=value)) == text


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_every_graph_has_a_text_of_one_line_a_statement(graph: Graph) -> None:
    text = graph_text(graph)
    assert all(f"  {statement_text(statement)}\n" in text for statement in graph.statements)
    assert text.count(" = ") >= len(graph.statements)


def test_warnings_are_shown() -> None:
    assert (
        graph_text(Graph(name="n", tensors={}, statements=(), notes=("a is small",))) == "graph n\n  note: a is small\n"
    )
