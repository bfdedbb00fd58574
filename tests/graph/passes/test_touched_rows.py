"""Updates of named rows: the graph with scatters has the words and the events of the graph that updates all rows."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Scatter
from tabla.graph.passes import touched_rows
from tabla.graph.passes.pipeline import legalise, shaped

FORMAT = "q8.5"
ALWAYS = -(10**9)
"""So many cycles fewer than it takes make every scatter worth its while."""
PROGRAMS = {
    "one row": "gU[u][k] = e * U[u][1] * V[k];",
    "the row read": "gU[u][k] = e * U[u][k];",
    "two rows": "gU[u][k] = e * U[v + 1][k]; gU[v + 1][k] = e * U[u][k];",
    "three rows": "h = U[u][0] - U[v][1] + U[at[0]][2]; gU[u][k] = h; gU[v][k] = x * V[k]; gU[at[0]][k] = e * x;",
    "a bag": "h = sum[n](U[at[n]][0]); gU[at[n]][k] = h * V[k];",
    "a bag that is read": "gU[at[n]][k] = e * U[at[n]][k];",
    "a bag and a row": "h = sum[n](U[at[n]][0]) + U[u][1]; gU[at[n]][k] = h * x; gU[u][k] = V[k];",
    "rows and columns": "gU[u][v] = e - U[u][v];",
    "twice the same": "gU[u][k] = e; gU[u][k] = x * U[u][k];",
    "by the last axis": "gU[k][u] = e * U[k][u];",
    "a gradient that is read": "gU[u][k] = e * U[u][k]; gV[k] = gU[v][k];",
    "one column": "gU[u][1] = e * U[u][0];",
    "a part of each row": "gU[u][p] = e * U[u][p - 1];",
    "parts of their own": "gU[u][0] = e * x; gU[u][p] = e * U[u][0];",
    "parts of two rows": "gU[u][0] = e; gU[v][0] = x; gU[u][p] = e * U[v][p]; gU[v][p] = e * U[u][p];",
    "a part of a bag": "h = sum[n](U[at[n]][0]); gU[at[b]][k] = h * V[k];",
    "one of a bag": "h = sum[n](U[at[n]][0]); gU[at[1]][k] = h * V[k];",
    "one of pairs": "h = sum[n][q](U[pair[n][q]][0]); gU[pair[b][0]][k] = h; gU[pair[b][q]][1] = h * x;",
    "columns of two rows": "h = U[u][0] + U[v][2]; gU[u][0] = h; gU[v][2] = h * x;",
    "columns that add up": "gU[u][0] = e * U[u][1]; gU[u][p] = x; gU[v][0] = x * U[v][2];",
    "a bag from its second": "h = sum[b](U[at[b]][0]); gU[at[b]][k] = h * V[k];",
    "a bag with another position": "gU[at[b]][k] = e * U[at[b]][k]; gU[at[0]][0] = x * U[at[0]][0];",
    "a column of a bag": "h = sum[n](U[at[n]][0]); gU[at[n]][2] = h * V[0];",
    "pairs": "h = sum[n][q](U[pair[n][q]][0]); gU[pair[n][q]][k] = h * V[k];",
    "pairs that are read": "gU[pair[n][q]][k] = e * U[pair[n][q]][k];",
    "pairs of a part": "gU[pair[b][q]][p] = e * U[pair[b][q]][p];",
    "pairs and a row": "h = sum[n][q](U[pair[n][q]][1]) + U[u][0]; gU[pair[n][q]][k] = h; gU[u][0] = h;",
}
HEAD = """mu = 0.25; rows = 6;
model_input u, v, at[{many}], pair[{many}][2], x; model_output y;
model U[{shape}], V[3]; gradient gU -> U, gV -> V; iterator k[0:3], n[0:{many}], p[1:3], b[1:{many}], q[0:2];
e = x - y; gV[k] = e;
"""


def graphs(text: str, many: int, samples: int, rate: bool) -> tuple[Graph, Graph, Format]:
    """Return the lowered graph of a program, and what is compiled of it with as many scatters as there can be."""
    shape = "3][rows" if "gU[k][u]" in text else "rows][3"
    source = Source.from_text(HEAD.format(many=many, shape=shape) + text)
    made = build(source, Options(pes=4, format=FORMAT, minibatch=samples, runtime_rate=rate, effort=0))
    with patch.object(touched_rows, "_ROOT_CYCLES", ALWAYS):
        after = shaped(made.lowered, made.format, pes=4)
    return made.lowered, legalise(after, made.format, pes=4), made.format


def scatters(graph: Graph) -> int:
    return sum(isinstance(statement.operation, Scatter) for statement in graph.statements)


@settings(deadline=None, max_examples=15)
@given(
    name=st.sampled_from(sorted(PROGRAMS)),
    many=st.integers(2, 4),
    samples=st.integers(1, 3),
    rate=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_words_and_events(name: str, many: int, samples: int, rate: bool, seed: int) -> None:
    """Few rows, so that positions are often the same, and large words, so that sums saturate."""
    before, after, fmt = graphs(PROGRAMS[name], many, samples, rate)
    assert scatters(after) == 1
    draw = np.random.default_rng(seed)
    plans = [FixedPlan.of(graph, fmt) for graph in (before, after)]
    for _ in range(6):
        given_words = {}
        for tensor in before.tensors.values():
            positions = tensor.name in ("u", "v", "at", "pair")
            low, high = (0, 3 if "[u][v]" in PROGRAMS[name] else 5) if positions else (fmt.lowest, fmt.highest)
            given_words[tensor.name] = draw.integers(low, high, tensor.shape)
        found = []
        for plan in plans:
            plan.load({name: given_words[name] for name, t in before.tensors.items() if t.role == "model"})
            plan.memory.feed({n: given_words[n] for n, t in before.tensors.items() if t.role in ("input", "label")})
            plan.compute()
            plan.memory.commit()
            found.append((plan.memory.models(), plan.counts()))
        (models, counts), (others, other_counts) = found
        assert counts.overflows == other_counts.overflows
        for model, words in models.items():
            np.testing.assert_array_equal(words, others[model], err_msg=model)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_scatters(name: str) -> None:
    assert scatters(graphs(PROGRAMS[name], 2, 1, False)[1]) == 1


def test_a_small_table_is_learnt_in_the_lanes() -> None:
    """Six rows take the lanes fewer cycles than the root takes for one."""
    made = build(Source.from_text(HEAD.format(many=2, shape="rows][3") + PROGRAMS["one row"]), Options(pes=4, effort=0))
    assert scatters(made.graph) == 0


@pytest.mark.parametrize(
    ("rows", "most"),
    [("rows = 1000; gU[u][k] = U[u][k] - e;", 90), ("rows = 8000; gU[u][k] = U[v][k]; gU[v][k] = U[u][k];", 120)],
)
def test_cycles_are_those_of_the_rows_touched(rows: str, most: int) -> None:
    size, _, text = rows.partition(";")
    head = HEAD.format(many=2, shape="rows][3").replace("rows = 6", size)
    made = build(Source.from_text(head + text), Options(pes=4, effort=0, format="q12.6"))
    assert made.schedule.cycles <= most


def test_a_table_of_more_words_than_a_word_counts_is_learnt_in_the_lanes() -> None:
    """Positions at the root count words, and 16 bits count 32,767 of them."""
    head = HEAD.format(many=2, shape="rows][3").replace("rows = 6", "rows = 11000")
    made = build(Source.from_text(head + PROGRAMS["one row"]), Options(pes=64, effort=0))
    assert scatters(made.graph) == 0


def test_an_array_that_cannot_scatter_learns_in_the_lanes() -> None:
    """An overlay is such an array."""
    lowered, _, fmt = graphs(PROGRAMS["two rows"], 2, 1, False)
    with patch.object(touched_rows, "_ROOT_CYCLES", ALWAYS):
        assert [scatters(shaped(lowered, fmt, pes=1, scatters=able)) for able in (True, False)] == [1, 0]


def test_a_position_that_may_be_no_row_learns_in_the_lanes() -> None:
    """Nothing reads the row, so a position outside changes nothing, and is no error."""
    assert scatters(graphs("gU[u][k] = e * V[k];", 2, 1, False)[1]) == 0
    # What is read has more rows, so a position may be right there and outside of U.
    more = "W[9][3]; gU[u][k] = e * W[u][k];"
    assert scatters(graphs(f"model {more}", 2, 1, False)[1]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "gU[2*u - 2000][k] = U[2*u - 2000][k];",  # words of the format cannot count so far
        "h = sum[b](U[at[b]][0]); gU[at[n]][k] = h;",  # nothing reads the row of the first position
        "h = sum[q](U[pair[q][q]][0]); gU[pair[0][q]][k] = h;",  # nor those of pairs that are not equal
        "h = U[at[0]][0]; gU[at[0] + 1][k] = h;",
    ],
)
def test_what_the_root_cannot_do_is_learnt_in_the_lanes(text: str) -> None:
    assert scatters(graphs(text, 2, 1, False)[1]) == 0
