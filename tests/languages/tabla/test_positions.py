"""Subscripts that inputs say: ``U[u][k]`` reads a row of a model, and ``gU[u][k] = e;`` learns that row alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tabla
from tabla.base.source import Source, TablaError
from tabla.languages.kernel.text import kernel_text
from tabla.languages.tabla import parse
from tabla.languages.tabla.kernel import kernel_of
from tabla.languages.tabla.text import program_text
from tests.end_to_end.algorithms import need

HEAD = """mu = 0.25;
model_output y;
model U[{rows}][3], b[{rows}];
gradient gU -> U, gb -> b;
iterator k[0:3], n[0:{many}], j[0:{rows}];
"""
BY_NUMBER = """model_input at[{many}], x[{many}];
h = sum[n](x[n] * (sum[k](U[at[n] + {offset}][k] * k) + b[at[n] + {offset}]));
e = h - y;
gU[at[n] + {offset}][k] = e * x[n];
gb[at[n] + {offset}] = e;
"""
BY_ONES = """model_input one[{many}][{rows}], x[{many}];
row[n][k] = sum[j](one[n][j] * U[j][k]);
own[n] = sum[j](one[n][j] * b[j]);
h = sum[n](x[n] * (sum[k](row[n][k] * k) + own[n]));
e = h - y;
change[n] = e * x[n];
gU[j][k] = sum[n](one[n][j] * change[n]);
gb[j] = sum[n](one[n][j] * e);
"""
"""The same program, whose samples bring a 1 in the place of each row."""
RATINGS = """mu = 0.125;
model_input u, m; model_output y;
model U[6][2], M[5][2], b[5];
gradient gU -> U, gM -> M, gb -> b;
iterator k[0:2];
h = sum[k](U[u][k] * M[m][k]) + b[m];
e = h - y;
gU[u][k] = e * M[m][k];
gM[m][k] = e * U[u][k];
gb[m] = e;
"""
Arrays = dict[str, NDArray[Any]]


def ratings(count: int, seed: int = 3) -> Arrays:
    random = np.random.default_rng(seed)
    users, films = random.integers(0, 6, count), random.integers(0, 5, count)
    return {"u": users, "m": films, "y": np.sin(users * 2.0 + films)}


def models(seed: int = 4) -> Arrays:
    random = np.random.default_rng(seed)
    return {name: random.normal(0, 0.5, shape) for name, shape in (("U", (6, 2)), ("M", (5, 2)), ("b", 5))}


def learnt(data: Arrays, given: Arrays) -> Arrays:
    """What numpy learns from ratings in float64."""
    after = {name: array.copy() for name, array in given.items()}
    for u, m, y in zip(data["u"], data["m"], data["y"], strict=True):
        user, film = after["U"][u].copy(), after["M"][m].copy()
        e = user @ film + after["b"][m] - y
        after["U"][u] -= 0.125 * e * film
        after["M"][m] -= 0.125 * e * user
        after["b"][m] -= 0.125 * e
    return after


def test_the_kernel_looks_up_and_adds() -> None:
    """A gradient is computed for every row, and the value that is added once."""
    text = "model_input u, x; model_output y; model U[4][2]; gradient gU -> U; iterator k[0:2];"
    text += "gU[u + 1][k] = x * U[u][k]; gU[2][k] = gU[2][k] + y; gU[u][k] = y;"
    shown = kernel_text(kernel_of(parse(Source.from_text(text)))).splitlines()
    assert [line for line in shown if " = " in line or "integer" in line] == [
        "input u: integer;",
        "gU.added0[k] = x * U[u, k] for k in 0:2;",
        "gU[gU.row0, k] = select(u + 1 == gU.row0, gU.added0[k], 0.0) for gU.row0 in 0:4, k in 0:2;",
        "gU[2, k] = gU[2, k] + y for k in 0:2;",
        "gU[gU.row0, k] = gU[gU.row0, k] + select(u == gU.row0, y, 0.0) for gU.row0 in 0:4, k in 0:2;",
    ]


def test_iterators_of_the_place_alone_are_summed() -> None:
    """The same row may come several times in a sample; an iterator of another subscript names an element of its own."""
    text = "model_input u[3], x[3]; model_output y; model U[4][3]; gradient gU -> U; iterator n[0:3], k[0:3];"
    shown = kernel_text(kernel_of(parse(Source.from_text(f"{text} gU[u[n]][k] = x[n]; gU[u[n]][n] = y;"))))
    lines = [line for line in shown.splitlines() if line.startswith("gU[")]
    assert lines == [
        "gU[gU.row0, k] = sum[n in 0:3](select(u[n] == gU.row0, x[n], 0.0)) for gU.row0 in 0:4, k in 0:3;",
        "gU[gU.row0, n] = gU[gU.row0, n] + select(u[n] == gU.row0, y, 0.0) for gU.row0 in 0:4, n in 0:3;",
    ]


def test_parts_of_a_gradient_begin_as_0_one_by_one() -> None:
    """A part without a value begins as 0, and one that has a value is added to, whatever the other parts have."""
    text = "model_input u, x; model_output y; model U[4][3]; gradient gU -> U; iterator p[1:3];"
    text += "gU[u][0] = x; gU[u][p] = y * U[u][p]; gU[u + 1][p] = x;"
    shown = kernel_text(kernel_of(parse(Source.from_text(text)))).splitlines()
    assert [line for line in shown if line.startswith("gU[")] == [
        "gU[gU.row0, 0] = select(u == gU.row0, x, 0.0) for gU.row0 in 0:4;",
        "gU[gU.row0, p] = select(u == gU.row0, gU.added0[p-1], 0.0) for gU.row0 in 0:4, p in 1:3;",
        "gU[gU.row0, p] = gU[gU.row0, p] + select(u + 1 == gU.row0, x, 0.0) for gU.row0 in 0:4, p in 1:3;",
    ]
    with pytest.raises(TablaError, match="of which only some have a value"):
        parse(Source.from_text(text.replace("gU[u][0] = x;", "") + "iterator k[0:3]; gU[u][k] = x;"))


def test_the_checked_text_parses_to_itself() -> None:
    text = "model_input u, next[4]; model_output y; model U[5][2]; gradient gU -> U; iterator k[0:2];"
    text += "gU[2*next[u] - 1][k] = U[next[u]][k] + next[u] * u - y;"
    shown = program_text(parse(Source.from_text(text)))
    assert shown.splitlines()[-1] == "gU[2 * next[u] - 1][k] = U[next[u]][k] + next[u] * u - y;"
    assert program_text(parse(Source.from_text(shown))) == shown


@settings(deadline=None, max_examples=12)
@given(
    rows=st.integers(1, 7),
    many=st.integers(1, 3),
    offset=st.integers(-2, 2),
    seed=st.integers(0, 10**6),
    pes=st.sampled_from((1, 4)),
)
def test_words_are_those_of_ones(rows: int, many: int, offset: int, seed: int, pes: int) -> None:
    """A sum of a word and zeros is exact, so a program that multiplies by ones learns the same words."""
    random = np.random.default_rng(seed)
    places = random.integers(0, rows, (5, many))
    shared = {"x": random.normal(size=(5, many)), "y": random.normal(size=5)}
    shared |= {"U": random.normal(size=(rows, 3)), "b": random.normal(size=rows)}
    made = {"at": places - offset}, {"one": np.eye(rows)[places]}
    found = []
    for text, inputs in zip((BY_NUMBER, BY_ONES), made, strict=True):
        program = (HEAD + text).format(rows=rows, many=many, offset=offset)
        build = tabla.compile(Source.from_text(program), pes=pes, effort=0)
        simulated = build.simulate({**shared, **inputs})
        assert simulated.cycles_simulated == simulated.cycles_predicted
        found.append(simulated.arrays)
    assert found[0].keys() == found[1].keys()
    for name, array in found[0].items():
        assert np.array_equal(array, found[1][name]), name


@pytest.mark.parametrize("compiled", [False, True])
def test_float64_is_numpy(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In float64 a number of a row is that number, in machine code and in numpy, and as data beside."""
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr("tabla.graph.compiled.plans.LONG", 0.0)
    data, given_models = ratings(40), models()
    build = tabla.compile(Source.from_text(RATINGS), pes=2, effort=0)
    trained = build.train(data, weights=given_models, epochs=2, engine="model")
    expected = learnt({name: np.tile(array, 2) for name, array in data.items()}, given_models)
    for name, array in expected.items():
        assert np.abs(trained.models[name] - array).max() < 0.02, name
    predicted = (expected["U"][data["u"]] * expected["M"][data["m"]]).sum(axis=1) + expected["b"][data["m"]]
    assert np.isclose(trained.reference[-1].loss, np.mean((predicted - data["y"]) ** 2), rtol=1e-9)
    once = build.evaluate({**data, **given_models}, float64=True)
    for name, array in learnt(data, given_models).items():
        assert np.allclose(once[name], array, rtol=0, atol=1e-12), name


@pytest.mark.parametrize("engine", ["cxxrtl", "icarus"])
def test_verilog(engine: str) -> None:
    need(engine)
    build = tabla.compile(Source.from_text(RATINGS), pes=4, effort=0)
    found = build.simulate({**ratings(6), **models()}, engine=engine)
    assert found.cycles_simulated == found.cycles_predicted  # the words are compared with the evaluation by simulate


def test_a_prediction_needs_no_gradient() -> None:
    build = tabla.compile(Source.from_text(RATINGS), pes=2, effort=0)
    data = ratings(10)
    inference = build.inference(models())
    after = inference.evaluate({"u": data["u"], "m": data["m"]}, float64=True)["h"]
    given_models = models()
    rows, columns = given_models["U"][data["u"]], given_models["M"][data["m"]]
    assert np.allclose(after, (rows * columns).sum(axis=1) + given_models["b"][data["m"]])


def test_a_row_that_is_none_is_refused() -> None:
    build = tabla.compile(Source.from_text(RATINGS), pes=2, effort=0)
    with pytest.raises(TablaError, match=r"'u' gives position 6 on axis 0 of 'U', which has 6"):
        build.evaluate({**ratings(3), **models(), "u": np.array([0, 6, 1])})
    with pytest.raises(TablaError, match="'u' is a tensor of integers, but its array has fractions"):
        build.evaluate({**ratings(3), **models(), "u": np.array([0, 0.5, 1])})


def test_a_format_holds_more_rows_than_reals() -> None:
    """A row is an integer of the machine in every format: q4.12 has reals up to 8."""
    text = "model_input u; model_output y; model U[200]; gradient gU -> U; e = U[u] - y; gU[u] = e;"
    build = tabla.compile(Source.from_text(text), pes=4, effort=0, format="q4.12")
    after = build.simulate({"u": [199, 3, 199], "y": [1.0, 1.0, 2.0], "U": np.zeros(200)}).arrays["U"]
    assert after[199] == 2.0 and after[3] == 1.0 and np.count_nonzero(after) == 2


def test_data_choose_the_format() -> None:
    """Numbers of rows need no integer bits: they are words in every format."""
    text = RATINGS.replace("U[6]", "U[90]")
    random = np.random.default_rng(5)
    users, films = random.integers(0, 90, 400), random.integers(0, 5, 400)
    data = {"u": users, "m": films, "y": np.cos(users) / 2 + films / 10}
    build = tabla.compile(Source.from_text(text), data=data, pes=2, effort=0, format="auto", seed=2, epochs=3)
    assert build.format.integer <= 4 and build.integers == {"u", "m"}
    trained = build.train(data, seed=2, epochs=3, engine="model")
    assert trained.machine[-1].loss < 0.3 * trained.machine[0].loss


@pytest.mark.parametrize("compiled", [False, True])
def test_float64_reads_where_a_kernel_computes_the_row(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No input is an integer here, and the row is one all the same."""
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr("tabla.graph.compiled.plans.LONG", 0.0)
    text = """input x: real; label y: real; model U[4]: real; value gU[4]: real; value h: real; value e: real;
h = U[integer(x)]; e = h - y; gU[r] = select(integer(x) == r, e, 0.0) for r in 0:4; update U -= 0.5 * gU;"""
    build = tabla.compile(Source.from_text(text, "rows.kernel"), pes=2, effort=0)
    rows = np.random.default_rng(0).integers(0, 4, 60)
    trained = build.train({"x": rows + 0.5, "y": rows * 0.5}, seed=1, epochs=5, engine="model")
    assert trained.reference[0].loss > 0.1 and trained.reference[-1].loss < 1e-6 and trained.machine[-1].loss < 1e-4
