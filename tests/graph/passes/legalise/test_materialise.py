"""Constants and ordinals as tensors: which words they have, who shares them, and what does not fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Compare, Constant, Graph, Linear, Operand, Ordinal, Read, Term
from tabla.graph.passes.legalise.materialise import materialise
from tests.graph.examples import Builder, at, word
from tests.graph.graph_strategy import graphs, words
from tests.schedule.agreement import Q6_10

HALF, ONE = Constant(value=Fraction(1, 2)), Constant(value=Fraction(1))


def graph_of(*sums: tuple[Term, ...], extent: int = 4) -> Graph:
    """``y0[i] = ...; y1[i] = ...`` with inputs x and z of one axis."""
    builder = Builder()
    for name in "xz":
        builder.tensor(name, "input", extent)
    for number, terms in enumerate(sums):
        builder.tensor(f"y{number}", "value", extent)
        builder.let(f"y{number}", "i", Linear(terms=terms), i=extent)
    return builder.graph("constants", {}, tuple((f"y{n}", f"y{n}") for n in range(len(sums))))


def times(factor: Operand, tensor: str = "x") -> tuple[Term, ...]:
    return (Term(factors=(factor, at(tensor, "i"))),)


def made(*sums: tuple[Term, ...]) -> Graph:
    return materialise(graph_of(*sums), Q6_10)


def test_a_constant_is_a_scalar_with_the_nearest_word() -> None:
    found = made(times(Constant(value=Fraction(1, 3))))
    (name,) = found.words
    assert found.tensors[name].shape == () and found.tensors[name].role == "constant"
    assert found.words[name] == Q6_10.nearest(Fraction(1, 3)) == 341
    assert found.statements[0].reads[0] == Read(tensor=name)


def test_constants_of_one_word_are_one_tensor() -> None:
    """1/3 and 0.3333 are the same word of q6.10."""
    third, close = Constant(value=Fraction(1, 3)), Constant(value=Fraction(3333, 10000))
    assert len(made(times(third), times(close), times(HALF)).words) == 2


def test_a_factor_of_1_stays_beside_a_read() -> None:
    found = made(times(ONE))
    assert found.words == {} and found.statements[0].operands[0] == ONE


def test_a_1_without_a_read_beside_it_is_a_word() -> None:
    """Each term has a read; the machine has no port for two literal factors."""
    for terms in ((Term(factors=(ONE,)),), (Term(factors=(ONE, ONE)),)):
        found = made(terms)
        assert len(found.words) == 1
        assert sum(isinstance(operand, Read) for operand in found.statements[0].operands) == 1


def test_words_that_are_there_stay() -> None:
    graph = graph_of(times(HALF))
    given = {"positions": np.arange(4)}
    found = materialise(replace(graph, words=given), Q6_10)
    assert found.words["positions"] is given["positions"] and len(found.words) == 2


@pytest.mark.parametrize("fraction", [0, 10])
def test_an_ordinal_is_a_table_over_its_indices(fraction: int) -> None:
    """``2*i + 3`` for i from 0 to 3, as reals, or as the words of the integers themselves."""
    found = made(times(Ordinal(value=Affine.of(3, i=2), fraction=fraction)))
    (name,) = found.words
    np.testing.assert_array_equal(found.words[name], np.array([3, 5, 7, 9]) << (10 - fraction))
    assert found.tensors[name].shape == (4,)


def test_a_table_begins_where_its_index_begins() -> None:
    graph = graph_of(times(Ordinal(value=Affine.of(0, i=1))))
    statement = graph.statements[0]
    late = replace(statement.indices[0], low=2)
    graph = replace(graph, statements=(replace(statement, indices=(late,)),))
    found = materialise(graph, Q6_10)
    (name,) = found.words
    np.testing.assert_array_equal(found.words[name], np.array([2, 3]) << 10)
    assert found.statements[0].reads[0].subscripts == (Affine.of(-2, i=1),)


def test_tables_over_the_same_range_are_one() -> None:
    one, other = Ordinal(value=Affine.of(0, i=1)), Ordinal(value=Affine.of(1, i=1))
    assert len(made(times(one), times(one, "z")).words) == 1
    assert len(made(times(one), times(other)).words) == 2


@pytest.mark.parametrize("operand", [Constant(value=Fraction(32)), Ordinal(value=Affine.of(30, i=1))])
def test_a_value_that_the_format_cannot_hold_is_refused(operand: Operand) -> None:
    """Words of q6.10 end below 32; i + 30 reaches 33."""
    with pytest.raises(TablaError, match=r"does not fit q6\.10") as caught:
        made(times(operand))
    assert caught.value.hint == "use more integer bits"


def test_operands_of_comparisons_are_read_too() -> None:
    builder = Builder()
    builder.tensor("x", "input", 4)
    builder.tensor("y", "value", 4)
    builder.let("y", "i", Compare(op="<", left=at("x", "i"), right=ONE), i=4)
    found = materialise(builder.graph("compare", {}, (("y", "y"),)), Q6_10)
    assert all(isinstance(operand, Read) for operand in found.statements[0].operands)


@settings(max_examples=150)
@given(graphs(), st.sampled_from(["q2.6", "q6.10", "q16.16"]), st.integers(0, 2**20))
def test_no_word_changes(graph: Graph, format: str, seed: int) -> None:
    fmt = Format.parse(format)
    found = materialise(graph, fmt)
    inputs, models = words(graph, fmt, seed)
    before = evaluate_fixed(graph, fmt, inputs, models)
    after = evaluate_fixed(found, fmt, inputs, {**models, **found.words})
    for name in (statement.target for statement in graph.statements):
        np.testing.assert_array_equal(before.values[name], after.values[name], err_msg=name)


def test_a_graph_without_constants_stays_as_it_is() -> None:
    graph = graph_of((word(at("x", "i")), word(at("z", "i"))))
    assert materialise(graph, Q6_10) == graph
