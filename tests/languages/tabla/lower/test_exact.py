"""Lowering changes no value: tree and graph agree in exact numbers, on random programs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.verify import verify
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.languages.tabla.program import Kind, Program
from tests.languages.tabla.lower.exact import Values, run_graph, run_tree
from tests.languages.tabla.random_programs import programs

WIDE = Format.parse("q16.16")


def data(program: Program, seed: int) -> Values:
    chance = random.Random(seed)
    return {
        (variable.name, element): Fraction(chance.randint(-8, 8), chance.choice((1, 2, 4)))
        for variable in program.variables
        if variable.kind in (Kind.INPUT, Kind.LABEL, Kind.MODEL)
        for element in product(*map(range, variable.shape))
    }


def agree(program: Program, graph: Graph, seed: int) -> None:
    given_values = data(program, seed)
    expected, found = run_tree(program, given_values), run_graph(graph, given_values)
    tensors = {name: name for name in graph.updates.values()} | dict(graph.results)
    for name, tensor in tensors.items():
        for element in product(*map(range, graph.tensors[tensor].shape)):
            if name in graph.updates.values():
                assert found.get((tensor, element)) == expected.get((name, element)), (name, element)
            else:
                assert found[tensor, element] == expected.get((name, element), 0), (name, element)
    assert expected.keys() >= {key for key in found if key[0].endswith(".next")}


@settings(max_examples=200, deadline=None)
@given(programs(smooth=True), st.integers(0, 9))
def test_training_programs(text: str, seed: int) -> None:
    program = parse(Source.from_text(text))
    agree(program, lower(program, number_format=WIDE), seed)


@settings(max_examples=150, deadline=None)
@given(programs(smooth=True), st.integers(0, 9))
def test_results_of_training_programs(text: str, seed: int) -> None:
    program = parse(Source.from_text(text))
    names = sorted({assignment.target for assignment in program.assignments})
    graph = lower(program, number_format=WIDE, results=names)
    assert [name for name, _ in graph.results] == names
    agree(program, graph, seed)


@settings(max_examples=150, deadline=None)
@given(programs(smooth=True, learns=False), st.integers(0, 9))
def test_inference_programs(text: str, seed: int) -> None:
    program = parse(Source.from_text(text))
    agree(program, lower(program, number_format=WIDE), seed)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_statements_are_sound(text: str) -> None:
    program = parse(Source.from_text(text))
    graph = lower(program, number_format=WIDE)
    verify(graph)
    written: set[str] = set()
    for at, statement in enumerate(graph.statements):
        assert statement.id == at and statement.target in graph.tensors
        mentioned = {name for affine in statement.write for name in affine.names}
        assert mentioned == {index.name for index in statement.indices}
        assert not mentioned & {index.name for index in statement.reduced}
        for read in statement.reads:
            tensor = graph.tensors[read.tensor]
            assert tensor.role in ("input", "label", "model") or read.tensor in written
            assert read.tensor != statement.target
            for affine, size in zip(read.subscripts, tensor.shape, strict=True):
                low, high = affine.bounds(statement.box)
                assert 0 <= low and high < size
        written.add(statement.target)
    # Nobody reads a tensor that somebody still writes: dependences between tensors have no circle.
    for statement in graph.statements:
        for read in statement.reads:
            assert all(writer.id < statement.id for writer in graph.writers(read.tensor))
    assert lower(parse(Source.from_text(text)), number_format=WIDE) == graph
