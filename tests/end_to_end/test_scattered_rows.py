"""Rows that samples name, learnt by scattered writes: words as evaluated, cycles as predicted, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tabla
from tabla.base.source import Source
from tabla.driver import Build
from tabla.graph.graph import Scatter
from tabla.graph.words import to_words
from tabla.host.engines.session import open_machine
from tests.end_to_end.algorithms import need
from tests.schedule.held_models import SAMPLES, hold_prediction

TEXT = """mu = 0.25; rows = {rows};
model_input u, v, at[3], x; model_output y;
model U[rows][{width}], W[rows], c; gradient gU -> U, gW -> W, gc -> c;
iterator k[0:{width}], n[0:3];
h = sum[k](U[u][k] * U[v + 1][k]) + sum[n](W[at[n]]) + c;
e = h - y;
gU[u][k] = e * U[v + 1][k];
gU[v + 1][k] = e * U[u][k];
gW[at[n]] = e * x;
gc = e;
"""
PARTS = """mu = 0.25; rows = {rows};
model_input u, v, pair[2][2], x; model_output y;
model U[rows][{width}], W[rows][1]; gradient gU -> U, gW -> W;
iterator k[1:{width}], n[0:2], q[0:2], b[1:2];
bias = sum[n][q](W[pair[n][q]][0]);
h = U[u][0] + U[v][0] + sum[k](U[u][k] * U[v][k]) + bias;
e = h - y;
gU[u][0] = e;
gU[v][0] = e * x;
gU[u][k] = e * U[v][k];
gW[pair[n][q]][0] = e;
gW[pair[b][q]][0] = x * bias;
"""
"""Parts of rows, each learnt in its own way, a model with one column, and positions with two indices."""
SLOW = [pytest.param(engine, marks=pytest.mark.slow) for engine in ("amaranth", "cxxrtl", "verilator")]
Arrays = dict[str, NDArray[Any]]


def compiled(
    rows: int = 90, width: int = 2, pes: int = 2, text: str = TEXT, scatters: int = 1, **options: Any
) -> Build:
    made = tabla.compile(
        Source.from_text(text.format(rows=rows, width=width)), pes=pes, effort=0, format="q9.7", **options
    )
    assert sum(isinstance(statement.operation, Scatter) for statement in made.graph.statements) >= scatters
    return made


def given_words(build: Build, samples: int, rows: int, seed: int) -> Arrays:
    """Few different rows, so that one sample often names a row twice, and the next one names it again."""
    draw, found = np.random.default_rng(seed), Arrays()
    for tensor in build.sample.tensors.values():
        if tensor.role in ("input", "label"):
            positions = tensor.name in ("u", "v", "at", "pair")
            shape = (samples, *tensor.shape)
            found[tensor.name] = draw.integers(0, min(4, rows - 1), shape) if positions else draw.normal(size=shape)
        elif tensor.role == "model":
            found[tensor.name] = draw.normal(size=tensor.shape)
    return found


def hold(build: Build, rows: int, engine: str, samples: int = 6, seed: int = 3) -> None:
    words = given_words(build, samples, rows, seed)
    simulated, evaluated = build.simulate(words, engine=engine), build.evaluate(words)
    assert simulated.cycles_simulated == simulated.cycles_predicted
    for name, array in simulated.arrays.items():
        np.testing.assert_array_equal(array, evaluated[name], err_msg=name)


@pytest.mark.parametrize("engine", ["model", "icarus", *SLOW])
def test_engines(engine: str) -> None:
    need(engine)
    hold(compiled(), 90, engine)


@pytest.mark.parametrize("engine", ["model", "icarus", *SLOW])
def test_parts_of_rows(engine: str) -> None:
    need(engine)
    hold(compiled(400, 3, text=PARTS, scatters=2), 400, engine)


@pytest.mark.parametrize("engine", ["model", pytest.param("icarus", marks=pytest.mark.slow)])
def test_parts_of_rows_in_minibatches(engine: str) -> None:
    need(engine)
    hold(compiled(600, 3, text=PARTS, scatters=1, minibatch=3), 600, engine)


@settings(deadline=None, max_examples=4)
@given(
    rows=st.integers(300, 600),
    width=st.integers(2, 5),
    pes=st.sampled_from((1, 2, 4)),
    samples=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_drawn_parts_of_rows(rows: int, width: int, pes: int, samples: int, seed: int) -> None:
    hold(compiled(rows, width, pes, text=PARTS, minibatch=samples), rows, "model", seed=seed)


@settings(deadline=None, max_examples=6)
@given(rows=st.integers(60, 300), width=st.integers(1, 5), pes=st.sampled_from((1, 2, 4)), seed=st.integers(0, 10**6))
def test_drawn_shapes(rows: int, width: int, pes: int, seed: int) -> None:
    hold(compiled(rows, width, pes), rows, "model", seed=seed)


@pytest.mark.parametrize("width", [70, 67])
def test_a_row_of_more_words_than_a_body_has(width: int) -> None:
    """In two bodies of one size, and of two sizes."""
    hold(compiled(rows=150, width=width), 150, "model")


@pytest.mark.parametrize("options", [{"runtime_rate": True}, {"minibatch": 2}, {"results": ("h",)}])
def test_options(options: dict[str, Any]) -> None:
    hold(compiled(**options), 90, "model")


@pytest.mark.parametrize("engine", ["model", pytest.param("icarus", marks=pytest.mark.slow)])
def test_a_prediction_changes_no_row(engine: str) -> None:
    need(engine)
    build = compiled(results=("h",))
    given = given_words(build, SAMPLES, 90, seed=8)
    words = {name: array if array.dtype.kind == "i" else to_words(array, build.format) for name, array in given.items()}
    models = {name: array for name, array in words.items() if build.sample.tensors[name].role == "model"}
    inputs = {name: array for name, array in words.items() if name not in models}
    with open_machine(build.image, engine, "rows") as machine:
        hold_prediction(machine, build.schedule, words=(inputs, models))


def test_functions_of_tensor_comprehensions_learn_the_rows_that_they_look_up(
    tmp_path: Path, command: Callable[..., str]
) -> None:
    path = tmp_path / "f.tc"
    path.write_text("def f(float(R, K) table, int32 u, float(K) w) -> (o) { o +=! table(u, k) * w(k) }")
    words = ("--size", "R=200", "--size", "K=4", "--train", "table", "--loss", "mse", "--learning-rate", "0.125")
    said = command(
        "gen",
        str(path),
        *words,
        "--pes",
        "2",
        "--effort",
        "0",
        "--format",
        "q9.7",
        "--print-after",
        "touched-rows",
        "-o",
        str(tmp_path / "b"),
    )
    assert "= scatter(table[" in said
