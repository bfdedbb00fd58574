"""Backward statements as graphs, in float64 as the notation evaluates them, and word for word on the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tabla.build.options import Options
from tabla.graph.format import Format
from tabla.graph.graph import Compare
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tile import load, trace
from tabla.languages.tile.lower import lower
from tests.graph.runs import evaluate_float
from tests.languages.tile.meaning import evaluate
from tests.languages.tile.references import PROGRAMS, REFERENCES
from tests.languages.tile.test_gradient import REFUSED, loss_of
from tests.schedule.agreement import agree

FORMAT = Format(integer=6, fraction=10)
# Each takes a while to schedule, and some take many seconds.
NAMES = sorted(REFERENCES.keys() - REFUSED)
LONG = {"reductions:distances", "layers:attention", "layers:gelu", "layers:layer_norm", "layers:normalise"}


def programs() -> Iterator[Any]:
    """Every program. Every fourth one is quick, unless it takes long."""
    for number, name in enumerate(NAMES):
        yield pytest.param(name, marks=[pytest.mark.slow] if number % 4 or name in LONG else [])


@pytest.mark.parametrize("name", list(programs()))
def test_a_gradient_on_the_machine(name: str) -> None:
    program, arrays = trace(loss_of(name), REFERENCES[name].shapes), REFERENCES[name].draw(3)
    graph = lower(program, number_format=Format.parse("q16.16"))
    values, expected = evaluate_float(graph, arrays).values, evaluate(program, arrays)
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor], expected[shown], rtol=1e-8, atol=1e-8)
    words = run_passes(lower(program, number_format=FORMAT), FORMAT)
    agree(words, Options(pes=4).chosen_template(), FORMAT, samples=2)


@pytest.mark.parametrize("pes", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_a_step_of_a_convolutional_network(pes: int) -> None:
    """Its weights after each sample, word for word."""
    function = load(PROGRAMS / "network.py", "convolutional")
    shapes = {"X": (6, 6), "Y": (3,), "K": (3, 3, 2), "W": (2, 2, 2, 3)}
    graph = lower(trace(function, shapes, {"learning_rate": 0.25}), number_format=FORMAT)
    assert graph.updates == {"K": "K.next", "W": "W.next"}
    assert [name for name, tensor in graph.tensors.items() if tensor.role == "label"] == ["Y"]
    compiled = run_passes(graph, FORMAT)
    comparisons = sum(isinstance(statement.operation, Compare) for statement in compiled.statements)
    assert comparisons == 2, "the comparison of max is made once, forwards and backwards"
    agree(compiled, Options(pes=pes).chosen_template(), FORMAT, samples=3)
