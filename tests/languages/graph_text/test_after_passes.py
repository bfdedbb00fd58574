"""The text of a graph after each legalising pass is the same program, for all kinds of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabla
from tabla.base.source import Source, TablaError
from tabla.graph.compiled.plans import CompiledFixedPlan
from tabla.graph.evaluate import FixedPlan, evaluate_fixed
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.framework import Setting
from tabla.graph.passes.pipeline import LEGALISE, PassRun, pass_runs
from tabla.graph.text import MOST_INLINE, graph_file_text
from tabla.languages.graph_text.reader import read_graph
from tabla.program.protocol import fingerprint
from tabla.schedule.mapping.partition import cuts, partition
from tests.graph.graph_strategy import graphs, words
from tests.languages.graph_text.test_reader import EXAMPLES, FILES, TC, WHOLE, plain

LOOKUP = """def f(float(N,M) T, int32(K) P, int32(K) Q, float(N) x, float(N,N) A) -> (y, z, c, g) {
  y(i,j) = T(P(i),j) * 0.3 where i in 0:K, j in 0:M
  g(i) = T(P(i), Q(i)) where i in 0:K
  z(i) +=! i > j ? A(i,j) * x(j) : 0.25
  c(i) = x(i % 3) + 2.5 where i in 0:N
}
"""
CIRCLE = """mu = 0.125; model_input x[4]; model_output y; model u[4], v[4];
gradient gu[4] -> u; gradient gv[4] -> v; iterator i[0:4];
e = sum[i](u[i] * v[i] * x[i]) - y;
gu[i] = e * v[i]; gv[i] = e * u[i];
"""
TEXTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "choices and functions": ("k.tc", TC, {"sizes": {"N": 6}}),
    "integers": ("k.tc", WHOLE, {"sizes": {"N": 6}}),
    "positions, conditions and remainders": ("k.tc", LOOKUP, {"sizes": {"N": 6, "M": 2, "K": 5}}),
    "updates in a circle": ("circle.t", CIRCLE, {}),
    "several roots": ("backprop.t", (EXAMPLES / "backprop.t").read_text(), {"pes": 16, "pes_per_pu": 4}),
}
PROGRAMS = {**{name: (file, "", options) for name, (file, options) in FILES.items()}, **TEXTS}
ARRAY = ("pes", "pes_per_pu", "sequencers", "runtime_rate")


def legalising(made: tabla.Build) -> Iterator[PassRun]:
    return (run for run in made.pass_runs() if run.group == LEGALISE.name)


def compiled(name: str, folder: Path) -> tuple[tabla.Build, dict[str, Any]]:
    """The build of a program, and the options of its array."""
    file, text, options = PROGRAMS[name]
    options = {"pes": 4, **options}
    if text:
        (folder / file).write_text(text)
    made = tabla.compile(folder / file if text else EXAMPLES / file, effort=0, **options)
    return made, {key: options[key] for key in ARRAY if key in options}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_microcode_is_the_same(name: str, tmp_path: Path) -> None:
    made, array = compiled(name, tmp_path)
    path, built = tmp_path / "x.graph", set[str]()
    runs = list(legalising(made))
    assert [run.which for run in runs] == list(LEGALISE.passes)
    for run in runs:
        text = graph_file_text(run.after, made.format, made.integers)
        if text not in built:
            built.add(text)
            path.write_text(text)
            read = tabla.compile(path, effort=0, format=str(made.format), **array)
            assert fingerprint(read.image) == fingerprint(made.image), run.which.name
            assert read.integers >= made.integers & read.graph.tensors.keys()


def test_the_examples_need_what_the_text_has_for_them(tmp_path: Path) -> None:
    """Constants, flat gathers, boxes and copies: otherwise the test above says nothing about them."""
    made, _ = compiled("positions, conditions and remainders", tmp_path)
    assert made.legal.flat_gathers and made.legal.words and len(made.legal.statements) > len(made.graph.statements)
    assert "u.old" in compiled("updates in a circle", tmp_path)[0].legal.tensors
    assert compiled("several roots", tmp_path)[0].schedule.template.roots > 1


@settings(max_examples=100)
@given(graphs(), st.sampled_from(["q4.8", "q6.10", "q2.14"]).map(Format.parse), st.integers(0, 1 << 20))
def test_the_text_gives_legalised_graphs_back(graph: Graph, fmt: Format, seed: int) -> None:
    for run in pass_runs(graph, Setting(fmt=fmt), LEGALISE):
        again = read_graph(Source.from_text(graph_file_text(run.after, fmt), "x.graph")).graph
        assert again == plain(run.after)
        assert {name: array.tolist() for name, array in again.words.items()} == {
            name: array.tolist() for name, array in run.after.words.items()
        }
    inputs, models = words(graph, fmt, seed)
    before, after = evaluate_fixed(graph, fmt, inputs, models), evaluate_fixed(again, fmt, inputs, models)
    for (_, tensor), (_, other) in zip(graph.results, again.results, strict=True):
        np.testing.assert_array_equal(before.values[tensor], after.values[other])


def test_a_legalised_program_runs_as_its_program_does(tmp_path: Path) -> None:
    """In words, on the simulated machine, and in float64."""
    made, array = compiled("positions, conditions and remainders", tmp_path)
    path = tmp_path / "x.graph"
    path.write_text(graph_file_text(made.legal, made.format, made.integers))
    read = tabla.compile(path, effort=0, format=str(made.format), **array)
    chance = np.random.default_rng(1)
    arrays = {name: chance.uniform(-1, 1, made.lowered.tensors[name].shape) for name in ("T", "x", "A")}
    arrays |= {"P": np.array([5, 0, 3, 1, 4]), "Q": np.array([0, 1, 1, 0, 1])}
    wanted = made.evaluate(arrays)
    for found in (read.evaluate(arrays), read.simulate(arrays).arrays):
        assert found.keys() == wanted.keys() and all(np.array_equal(found[name], wanted[name]) for name in wanted)
    real, reference = read.evaluate(arrays, float64=True), made.evaluate(arrays, float64=True)
    for name in reference:  # the constant 0.3 is a word in the legalised program
        np.testing.assert_allclose(real[name], reference[name], atol=2 / made.format.one if name == "y" else 1e-12)


FLAT = """format q8.8
integers p, q
graph lookup
  flat gathers
  input p[4]
  input q[4]
  model m[3][5]
  value y[4]

  y[i] = m[p[i]][q[i]+1]   for i in [0, 4)
"""


def flat_graph() -> Graph:
    return read_graph(Source.from_text(f"{FLAT}\n  result y\n", "x.graph")).graph


def test_a_flat_position_may_leave_an_axis_and_not_the_tensor() -> None:
    """In numpy and compiled, in words and in reals: word 5 * p + q + 1 of the table."""
    fmt, graph = Format.parse("q8.8"), flat_graph()
    samples = {"p": np.array([[2, 0, 1, -1]]), "q": np.array([[3, 9, -6, 10]])}
    table = {"m": np.arange(15).reshape(3, 5) * 7}
    expected = [[98, 70, 0, 42]]
    for plan in (FixedPlan.of(graph, fmt), CompiledFixedPlan.of(graph, fmt)):
        plan.load(table)
        assert plan.run(samples, ["y"]).kept["y"].tolist() == expected
        with pytest.raises(TablaError, match="15"):
            plan.run({**samples, "q": np.array([[4, 0, 0, 0]])}, ["y"])
        with pytest.raises(TablaError):
            plan.run({**samples, "q": np.array([[0, -2, 0, 0]])}, ["y"])
    real = FloatPlan.of(graph)
    real.load({"m": table["m"].astype(float)})
    assert real.run({n: a.astype(float) for n, a in samples.items()}, ["y"]).kept["y"].tolist() == expected


def test_the_text_of_a_graph_that_is_cut_between_tap_groups(tmp_path: Path) -> None:
    """Such a graph is that of one group. Its text keeps the axes that are split, and the sums across the groups."""
    made, _ = compiled("several roots", tmp_path)
    parts = (partition(made.legal, cut, 2) for cut in cuts(made.legal, 2))
    part = next(part for part in parts if any(statement.crosses for statement in part.statements))
    assert {tensor.split for tensor in part.tensors.values()} >= {-1, 0}
    table = next(tensor for tensor in part.tensors.values() if tensor.split == 0)
    shape = (2 * table.shape[0], *table.shape[1:])  # two groups have a part each
    held = np.arange(2 * table.size).reshape(shape)
    part = replace(
        part, tensors={**part.tensors, "t": replace(table, name="t", role="constant")}, words={**part.words, "t": held}
    )
    text = graph_file_text(part, made.format)
    again = read_graph(Source.from_text(text, "x.graph")).graph
    assert again == plain(part) and again.words["t"].tolist() == held.tolist()
    assert "   across groups\n" in text and " split at axis 0" in text
    with pytest.raises(TablaError, match=f"'t' has {table.size} elements and {2 * table.size + 1} words"):
        read_graph(Source.from_text(text.replace(" split at axis 0 words", " split at axis 0 words 9"), "x.graph"))


def test_words_of_large_constants_are_in_a_file_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.tc").write_text("def f(float(N) a) -> (c, d) { c(i) = a(i) * sin(i)  d(i) = a(i) + i where i in 0:4 }")
    command("check", "k.tc", "--size", f"N={MOST_INLINE + 1}", "--print-after", "snapshot", "--format", "q8.8")
    made = tabla.compile("k.tc", sizes={"N": MOST_INLINE + 1}, pes=4, effort=0, format="q8.8")
    Path("x.graph").write_text(graph_file_text(made.graph, made.format))
    command("pass", "precompute", "x.graph", "-o", "y.graph")
    command("pass", "materialise", "y.graph", "-o", "z.graph")
    assert "words in z.graph.npz" in Path("z.graph").read_text()
    assert " words 0 256 512 768\n" in Path("z.graph").read_text()
    read = tabla.compile("z.graph", pes=4, effort=0, format="q8.8")
    assert fingerprint(read.image) == fingerprint(made.image)
    Path("elsewhere").mkdir()
    Path("z.graph").rename("elsewhere/z.graph")
    assert "cannot read 'elsewhere/z.graph.npz'" in command("pass", "drop-dead", "elsewhere/z.graph", status=1)
    np.savez("elsewhere/z.graph.npz", other=np.arange(3))
    assert "has no array" in command("pass", "drop-dead", "elsewhere/z.graph", status=1)


CONSTANT = "format q6.10\ngraph g\n  constant c[3] words 1 2 3\n  value y[3]\n\n  y[i] = c[i]   for i in [0, 3)\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" words 1 2 3", "", "the constant 'c' has no words"),
        (" words 1 2 3", " words 1 2", "'c' has 3 elements and 2 words"),
        (" words 1 2 3", " words 1 2 99999", "words of q6.10 lie between -32768 and 32767"),
        ("constant c[3] words 1 2 3", "input c[3] words 1 2 3", "'c' is no constant, so it has no words"),
        ("format q6.10\n", "", "words belong to a format, and the text names none"),
        (" words 1 2 3", " words one", "does not fit here"),
    ],
)
def test_wrong_words_are_refused(old: str, new: str, message: str) -> None:
    assert read_graph(Source.from_text(CONSTANT, "x.graph")).graph.words["c"].tolist() == [1, 2, 3]
    with pytest.raises(TablaError) as fault:
        read_graph(Source.from_text(CONSTANT.replace(old, new), "x.graph"))
    assert message in str(fault.value) and fault.value.hint and "x.graph:" in str(fault.value)
