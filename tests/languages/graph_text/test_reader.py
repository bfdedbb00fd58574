"""The text of a graph gives the graph back, and compiles to the same machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import tabla
from tabla.base.source import Source, TablaError
from tabla.graph.graph import Graph, Linear, Statement
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.text import graph_text
from tabla.languages.graph_text.reader import read_graph
from tabla.program.protocol import fingerprint
from tests.graph.examples import logistic
from tests.graph.graph_strategy import graphs

EXAMPLES = Path(tabla.__file__).parent / "examples"


def again(graph: Graph) -> Graph:
    return read_graph(Source.from_text(graph_text(graph), "x.graph")).graph


def plain(graph: Graph) -> Graph:
    """A graph without what its text leaves out: the names that the user knows, and a scale of products without any."""
    tensors = {name: replace(tensor, origin="") for name, tensor in graph.tensors.items()}
    return replace(graph, tensors=tensors, statements=tuple(map(scaled, graph.statements)))


def scaled(statement: Statement) -> Statement:
    match statement.operation:
        case Linear(terms=terms) as linear if all(len(term.factors) == 1 for term in terms):
            return replace(statement, operation=replace(linear, shift=0))
        case _:
            return statement


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_the_text_gives_the_graph_back(graph: Graph) -> None:
    assert again(graph) == plain(graph)
    assert graph_text(again(graph)) == graph_text(graph)


def built(tmp_path: Path, source: str | Path, **options: Any) -> tuple[tabla.Build, tabla.Build]:
    """A build, and the build of the text of its graph for the same array."""
    made = tabla.compile(source, effort=0, **options)
    path = tmp_path / f"{made.name}.graph"
    path.write_text(made.emit("graph"))
    kept = {name: options[name] for name in ("pes", "pes_per_pu", "sequencers", "runtime_rate") if name in options}
    return made, tabla.compile(path, effort=0, format=str(made.format), **kept)


TC = """def f(float(N) a, float(N) b) -> (c, d) {
  c(i) = a(i) > b(i) ? a(i) * 2.5 : tanh(b(i))
  d +=! c(i) where i in 1:N
}
"""
WHOLE = "def g(int32(N) a, int32(N) b) -> (c, p) { c(i) = a(i) / b(i) + i  p *=! a(i) where i in 0:N }"
FILES = {
    "linear": ("linear.t", {"pes": 4}),
    "guarded": ("logistic.t", {"pes": 4, "model_guard": 4, "defines": {"m": 6}}),
    "loaded rate": ("logistic.t", {"pes": 4, "runtime_rate": True, "defines": {"m": 6}}),
    "minibatch": ("backprop.t", {"pes": 8, "minibatch": 4}),
    "result": ("svm.t", {"pes": 4, "results": ("h",)}),
    "gathers": ("recommender.t", {"pes": 4}),
    "two layers": ("backprop2.t", {"pes": 8, "pes_per_pu": 2}),
}


@pytest.mark.parametrize("name", FILES)
def test_examples_give_the_same_microcode(name: str, tmp_path: Path) -> None:
    file, options = FILES[name]
    made, read = built(tmp_path, EXAMPLES / file, **options)
    assert made.graph.updates and fingerprint(read.image) == fingerprint(made.image)
    assert read.report().cycles == made.report().cycles


@pytest.mark.parametrize("text", [TC, WHOLE])
def test_kernels_give_the_same_microcode(text: str, tmp_path: Path) -> None:
    (tmp_path / "k.tc").write_text(text)
    made, read = built(tmp_path, tmp_path / "k.tc", pes=4, sizes={"N": 6})
    assert fingerprint(read.image) == fingerprint(made.image)
    assert read.integers == made.integers


def test_a_graph_learns_as_its_program_does(tmp_path: Path) -> None:
    import numpy as np

    made, read = built(tmp_path, EXAMPLES / "linear.t", pes=2, defines={"m": 3})
    chance = np.random.default_rng(0)
    data = {"x": chance.uniform(-1, 1, (20, 3)), "y": chance.uniform(-1, 1, 20)}
    ours, theirs = (build.train(data, epochs=2).models for build in (read, made))
    assert ours.keys() == theirs.keys() and all(np.array_equal(ours[key], theirs[key]) for key in theirs)


TEXT = graph_text(logistic(3))


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("p = sigmoid(s)", "p = sigmoid(q)", "12:15", "there is no tensor 'q'"),
        ("p = sigmoid(s)", "p = sigmoid(s[0])", "12:15", "'s' has 0 axes, not 1"),
        ("e = p - y", "e = p - ) y", "13:11", "')' does not fit here"),
        ("e = p - y", "e = p * y * s * s", "13:7", "a product has two operands"),
        ("e = p - y", "e p - y", "13:5", "'p' does not fit here"),
        ("e = p - y", "e = p ~ y", "13:9", "stray"),
        ("for i in [0, 3)\n  p", "for i in [3, 3)\n  p", "11:", "'i' has no value in [3, 3)"),
        ("value s\n", "value s\n  value s\n", "6:3", "'s' is declared twice"),
        ("result p", "result p = z", "", "has no tensor 'z'"),
        ("graph logistic\n", "", "", "no line says 'graph NAME'"),
        ("w[i]*x[i]", "w[i]*x[k]", "11:", "this is no sum of indices"),
        ("w.next[i] = w[i]", "w.next[i] = x[i] * 2^-3", "15:", "scales a product"),
        ("  e = p - y\n", "  e = p - y\n  e = p - y\n", "", "is no valid graph"),
    ],
)
def test_what_is_refused(old: str, new: str, place: str, message: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(TablaError) as fault:
        read_graph(Source.from_text(TEXT.replace(old, new), "x.graph"))
    told = str(fault.value)
    assert message in told and f"x.graph:{place}" in told if place else message in told
    assert fault.value.hint


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("gen x.graph --format q4.12 -o out", "is a graph for q6.10, and the array is for q4.12"),
        ("gen x.graph -D m=3 -o out", "-D: 'x.graph' is a graph, which holds that already"),
        ("gen steps.graph --minibatch 2 -o out", "--minibatch: 'steps.graph'"),
        ("gen x.graph --result q -o out", "--result q: the graph has no such tensor"),
        ("gen none.graph -o out", "cannot read 'none.graph'"),
    ],
)
def test_options_are_refused(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.graph").write_text(f"format q6.10\n{TEXT}")
    Path("steps.graph").write_text(f"format q6.10\n{graph_text(minibatched(logistic(3), 2))}")
    said = command(*words.split(), status=1)
    assert message in said and "hint:" in said and not Path("out").exists()
    command("gen", "x.graph", "--result", "s", "--pes", "2", "-o", "good", "-q")
    assert Path("good/x.v").exists()
