"""Tile programs as graphs: the numbers of the language's own evaluation, and of the machine, word for word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.text import graph_text
from tabla.graph.verify import verify
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.tile import TensorIndexes, TensorOutput
from tests.graph.runs import evaluate_float
from tests.languages.tile.meaning import evaluate
from tests.languages.tile.random_contractions import Drawn, contractions
from tests.languages.tile.references import REFERENCES, traced
from tests.schedule.agreement import agree

FORMAT = Format.parse("q12.20")


def lowered(name: str) -> Graph:
    graph = lower(traced(name), number_format=FORMAT)
    verify(graph)
    return graph


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_graph_means_the_program(name: str) -> None:
    graph, arrays = lowered(name), REFERENCES[name].draw(5)
    expected = evaluate(traced(name), arrays)
    values = evaluate_float(graph, arrays).values
    words = {k: np.floor(v * FORMAT.one + 0.5).astype(np.int64) for k, v in arrays.items()}
    fixed = evaluate_fixed(graph, FORMAT, words)
    assert [shown for shown, _ in graph.results] == list(expected)
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor], expected[shown], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(fixed.values[tensor] / FORMAT.one, expected[shown], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("pes", [4, 16])
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_machine_computes_the_same_words(name: str, pes: int) -> None:
    template = Options(pes=pes).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(traced(name), number_format=words), words), template, words, samples=3)


@settings(max_examples=60, phases=[Phase.generate])
@given(contractions(), st.sampled_from([1, 4, 5]), st.integers(0, 999))
def test_random_contractions_on_the_machine(drawn: Drawn, pes: int, seed: int) -> None:
    try:
        program = drawn.traced()
    except TablaError as fault:
        assert "assigned more than once" in fault.message
        return
    template = Options(pes=pes).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(program, number_format=words), words), template, words, samples=2, seed=seed)


def test_where_no_point_is_valid_is_asked_of_the_machine_if_nothing_else_says_it() -> None:
    assert "max(0, max[k](1))" in graph_text(lowered("reductions:irregular_maxima"))


@pytest.mark.parametrize("name", ["seed:complex_conv_2d", "reductions:antidiagonal_maxima", "layers:attention"])
def test_the_graph_is_the_same_under_any_hash_seed(name: str) -> None:
    module = "tests.languages.tile.lower.test_programs"
    command = f"from {module} import lowered, graph_text; print(graph_text(lowered({name!r})))"
    texts = [
        subprocess.run(
            [sys.executable, "-c", command],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[4])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1] and texts[0]


def test_what_is_nested_too_deep_is_said() -> None:
    def chain(A: Any, steps: int, twice: bool) -> Any:
        values = [A]
        for _ in range(steps):
            values.append(values[-1] * 0.5 + 1)
        return tuple(values[1::50]) if twice else values[-1]

    assert lower(trace(chain, {"A": (3,)}, {"steps": 120, "twice": False}), number_format=FORMAT).statements
    assert lower(trace(chain, {"A": (3,)}, {"steps": 2000, "twice": True}), number_format=FORMAT).statements
    with pytest.raises(TablaError, match="nested more than 250 deep") as caught:
        lower(trace(chain, {"A": (3,)}, {"steps": 2000, "twice": False}), number_format=FORMAT)
    assert caught.value.hint and caught.value.file == __file__


def test_a_contraction_stays_one_statement() -> None:
    """Whatever its size, and in no time."""

    def large(A: Any, B: Any) -> Any:
        i, j, k = TensorIndexes(3)
        C = TensorOutput(784, 784)
        C[i, j] += A[i, k] * B[k, j]
        C.add_constraint(i - k < 784)
        return C

    graph = lower(trace(large, {"A": (784, 784), "B": (784, 784)}), number_format=FORMAT)
    assert len(graph.statements) == 1 and len(graph.statements[0].constraints) == 1
