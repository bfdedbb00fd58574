"""Counts in closed form against counting, and the expanded graph against the evaluator."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from math import floor

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph import function_words
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.functions import FUNCTIONS, apply_to_words
from tabla.graph.graph import Compare, Constant, Graph, Linear, Term
from tabla.graph.operations import Operations, zero_or_one
from tests.graph.examples import Builder, at, backpropagation, logistic
from tests.graph.examples import product as times
from tests.graph.graph_strategy import graphs, words
from tests.graph.scalars import Scalar, count, expand


def scalars(dag: nx.DiGraph[str]) -> dict[str, Scalar]:
    return {node: dag.nodes[node]["scalar"] for node in dag}


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_counts_are_those_of_the_expansion(graph: Graph) -> None:
    dag = expand(graph)
    assert nx.is_directed_acyclic_graph(dag)
    kinds = Counter({"multiply": 0, "select": 0, "compare": 0})
    additions = 0
    for scalar in scalars(dag).values():
        # Constraints may leave no word at all, and nothing to join.
        joins = max(0, len(scalar.operands) - 1)
        if scalar.operation == "pi":
            kinds["multiply"] += joins
        elif scalar.operation == "sum":
            additions += joins
        elif scalar.operation in ("max", "min"):
            kinds["compare"] += joins
        kinds[scalar.operation] += scalar.operation != "pi"
    names = tuple(FUNCTIONS)
    assert count(graph) == Operations(
        multiplies=kinds["multiply"],
        selects=kinds["select"],
        additions=additions,
        comparisons=kinds["compare"],
        functions={name: kinds[name] for name in sorted(names) if kinds[name]},
    )


def real(scalar: Scalar, fmt: Format, operands: list[Fraction]) -> Fraction:
    """The value of one scalar operation; what is no product is a word."""
    ulp = Fraction(1, fmt.one)

    def word(value: Fraction) -> Fraction:
        return fmt.saturate(floor(value / ulp + Fraction(1, 2))) * ulp

    match scalar.operation:
        case "constant":
            return fmt.nearest(Fraction(scalar.detail)) * ulp
        case "ordinal":
            return Fraction(scalar.detail)
        case "multiply" | "select" | "scale":
            return operands[0] * operands[1]
        case "sum":
            return word(sum((w * v for w, v in zip(scalar.weights, operands, strict=True)), Fraction(0)))
        case "pi":
            scale = Fraction(2) ** int(scalar.detail.removeprefix("2^") or 0)
            value = 1 / scale
            for operand in operands:
                value = word(value * operand * scale)
            return value
        case "max":
            return max(operands, default=fmt.lowest * ulp)
        case "min":
            return min(operands, default=fmt.highest * ulp)
        case "compare":
            left, right = operands
            signs = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
            return Fraction({**signs, "==": left == right, "!=": left != right}[scalar.detail])
        case "divide":
            numerator, divisor = (np.array(int(v / ulp)) for v in operands)
            return int(function_words.divide(numerator, divisor, fmt).words) * ulp
        case "quotient":
            numerator, divisor = (np.array(int(v / ulp)) for v in operands)
            return int(function_words.quotient(numerator, divisor, fmt).words) * ulp
        case name:
            argument = np.array(int(operands[0] / ulp))
            return int(apply_to_words(name, argument, fmt).words) * ulp


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), fmt=st.sampled_from(["q2.6", "q6.10"]).map(Format.parse), seed=st.integers(0, 1 << 30))
def test_expanded_operations_compute_the_same(graph: Graph, fmt: Format, seed: int) -> None:
    inputs, models = words(graph, fmt, seed)
    expected = evaluate_fixed(graph, fmt, inputs, models).values
    given_arrays = inputs | models
    dag = expand(graph)
    values: dict[str, Fraction] = {}
    shifts = {s.id: s.operation.shift for s in graph.statements if isinstance(s.operation, Linear)}
    for node in nx.topological_sort(dag):
        scalar: Scalar = dag.nodes[node]["scalar"]
        if scalar.operation == "element":
            name, *places = node.replace("]", "").split("[")
            values[node] = Fraction(int(given_arrays[name][tuple(map(int, places))]), fmt.one)
            continue
        values[node] = real(scalar, fmt, [values[operand] for operand in scalar.operands])
        if scalar.operation in ("multiply", "select", "scale") and scalar.statement is not None:
            values[node] /= Fraction(2) ** shifts[scalar.statement]
    for element, node in dag.graph["elements"].items():
        name, *places = element.replace("]", "").split("[")
        assert values[node] * fmt.one == expected[name][tuple(map(int, places))], element


def test_closed_form_needs_no_expansion() -> None:
    start = time.perf_counter()
    operations = count(backpropagation(78_400, 784, 10))
    assert time.perf_counter() - start < 1
    weights = 78_400 * 784
    assert operations.multiplies == 2 * weights + 3 * 7_840 + 2 * 784, (
        "forward, backward, update; h*(1-h) and its product"
    )
    assert operations.functions == {"sigmoid": 794}


def test_logistic_regression_counts() -> None:
    operations = count(logistic(54))
    assert operations == Operations(multiplies=54 + 1 + 54, additions=53 + 1 + 54, functions={"sigmoid": 1})


def test_products_with_a_comparison_select() -> None:
    b = Builder()
    b.tensor("x", "input", 4)
    b.tensor("c", "value", 4)
    b.tensor("d", "value", 4)
    b.tensor("r", "value", 4)
    b.let("c", "i", Compare(op="<", left=at("x", "i"), right=Constant(value=Fraction(1, 2))), i=4)
    b.let("d", "i", Linear(terms=(times(at("c", "i"), at("c", "i")),)), i=4)
    b.let("r", "i", Linear(terms=(times(at("d", "i"), at("x", "i")), times(at("x", "i"), at("x", "i")))), i=4)
    graph = b.graph("hinge", {})
    assert zero_or_one(graph) == {"c", "d"}
    assert count(graph) == Operations(multiplies=4, selects=8, additions=4, comparisons=4)


@pytest.mark.parametrize(("factor", "multiplies"), [(0, 0), (1, 0), (-1, 0), (2, 3), (-2, 3)])
def test_trivial_constants_multiply_nothing(factor: int, multiplies: int) -> None:
    b = Builder()
    b.tensor("x", "input", 3)
    b.tensor("r", "value", 3)
    scaled = Term(factors=(Constant(value=Fraction(factor)), at("x", "i")))
    b.let("r", "i", Linear(terms=(scaled,), shift=1), i=3)
    assert count(b.graph("scaled", {})) == Operations(multiplies=multiplies)


def test_what_mentions_no_index_counts_once() -> None:
    b = Builder()
    b.tensor("x", "input")
    b.tensor("r", "value", 5)
    b.let("r", "i", Linear(terms=(Term(factors=(at("x"), at("x")), reduce=("k",)),)), "k", i=5, k=7)
    graph = b.graph("repeats", {})
    assert count(graph) == Operations(multiplies=1, additions=0)
    dag = expand(graph)
    assert [s.weights for s in scalars(dag).values() if s.operation == "sum"] == [(7,)]
    assert set(dag.graph["elements"].values()) == {"0()"}


def test_large_graphs_are_not_expanded() -> None:
    with pytest.raises(ValueError, match="more than 1000 scalar operations"):
        expand(backpropagation(100, 100, 10), most=1000)
