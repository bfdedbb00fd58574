"""Texts that become categories, and missing values: fitted to the training part, kept, and used again."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabla
from tabla.base.arrays import write_npz
from tabla.base.source import Source, TablaError
from tabla.learn.data.dataset import Data, Tensors
from tabla.learn.data.gathered import Gathered
from tabla.learn.data.preparation import Preparation, separated

TABLE = """age,port,fare,y
20,S,1,0
40,C,2,1
,S,3,0
60,?,4,1
30,Q,5,0
"""
COLUMNS = {"x": ["age", "port", "fare"], "y": "y"}
Gather = Callable[..., Gathered]


def tensors(width: int) -> Tensors:
    return Tensors(inputs={"x": (width,)}, labels={"y": ()})


@pytest.fixture
def gather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gather:
    """Return a function that gathers a table for an input of a width and a label."""
    monkeypatch.chdir(tmp_path)

    def gathered(
        text: str,
        width: int,
        stored: Preparation | None = None,
        *,
        fits: bool = True,
        whole: bool = False,
        **options: Any,
    ) -> Gathered:
        Path("d.csv").write_text(text)
        data = Data("d.csv", **{"columns": COLUMNS, **options})
        return data.arrays(tensors(width), stored=stored, fits=fits, whole=whole)

    return gathered


def beside(preparation: Preparation) -> Preparation:
    """Return a preparation that has been written beside models and read again."""
    file = io.BytesIO()
    write_npz(file, preparation.stored())
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        return separated(dict(archive))[1]


def test_the_mean_and_the_most_frequent_category(gather: Gather) -> None:
    found = gather(TABLE, 5, missing="mean")
    mean = (20 + 40 + 60 + 30) / 4
    assert found.arrays["x"].tolist() == [
        [20, 0, 0, 1, 1],
        [40, 1, 0, 0, 2],
        [mean, 0, 0, 1, 3],
        [60, 0, 0, 1, 4],
        [30, 0, 1, 0, 5],
    ]
    assert found.preparation.fills["x"].tolist() == [mean, 0, 0, 1, 3]
    assert found.preparation.categories == {"x": {"age": (), "port": ("C", "Q", "S"), "fare": ()}}
    assert found.treated.filled == {"age": 1, "port": 1}
    assert found.origin.elements["x"] == ("age", "port=C", "port=Q", "port=S", "fare")


def test_rows_are_left_out_and_keep_their_numbers(gather: Gather) -> None:
    found = gather(TABLE, 5, missing="drop")
    assert found.arrays["x"][:, 0].tolist() == [20, 40, 30]
    assert [found.origin.place(k) for k in range(3)] == [f"row {n} of 'd.csv'" for n in (2, 3, 6)]
    assert (found.treated.left_out, found.treated.rows) == (2, 5)
    assert found.preparation.missing == "drop"


def test_what_is_not_learnt_from_is_not_looked_at(gather: Gather) -> None:
    """Of five rows the last two are held out: Q is no category, and 60 and 30 are in no mean."""
    found = gather(TABLE, 4, missing="mean", split_last=0.4)
    assert found.preparation.categories["x"]["port"] == ("C", "S")
    assert found.preparation.fills["x"].tolist() == [30, 0, 1, 2]
    assert found.arrays["x"][4].tolist() == [30, 0, 0, 5]
    assert found.treated.unknown == {"port": 1}
    with pytest.raises(TablaError, match="row 6, column 'port': 'Q' is none of the categories C, S") as fault:
        gather(TABLE, 4, missing="mean", split_last=0.4, unknown="error")
    assert fault.value.hint is not None and "--unknown zeros" in fault.value.hint


@pytest.mark.parametrize("missing", ["mean", "drop"])
def test_new_data_are_prepared_as_the_training_part_was(gather: Gather, missing: str) -> None:
    kept = beside(gather(TABLE, 5, missing=missing).preparation)
    assert kept.missing == missing
    new = gather("fare,age,port\n7,,Q\n8,50,X\n9,10,\n", 5, kept, fits=False, whole=True, columns=None)
    x = new.arrays["x"]
    assert x[1].tolist() == [50, 0, 0, 0, 8]
    if missing == "mean":
        assert x[0].tolist() == [37.5, 0, 1, 0, 7] and x[2].tolist() == [10, 0, 0, 1, 9]
        assert new.gaps is None
    else:
        assert new.gaps is not None and new.gaps.tolist() == [True, False, True]
    assert new.treated.unknown == {"port": 1}


def test_a_row_without_a_label_is_left_out(gather: Gather) -> None:
    text = TABLE.replace("40,C,2,1", "40,C,2,")
    found = gather(text, 4, missing="mean")
    assert found.arrays["y"].tolist() == [0, 0, 1, 0] and found.treated.left_out == 1
    with pytest.raises(TablaError, match="row 3, column 'y': the label is missing"):
        gather(text.replace(",S,3", "5,S,3").replace("?", "C"), 5)


def test_categories_that_are_asked_for(gather: Gather) -> None:
    text = "age,port,fare,y\n1,NA,2,0\n2,EU,1,1\n10,NA,2,0\n"
    found = gather(text, 6, categories={"fare": (), "port": ("EU", "NA", "AS")})
    assert found.preparation.categories["x"] == {"age": (), "port": ("EU", "NA", "AS"), "fare": ("1", "2")}
    assert found.arrays["x"].tolist() == [[1, 0, 1, 0, 0, 1], [2, 1, 0, 0, 1, 0], [10, 0, 1, 0, 0, 1]]
    with pytest.raises(TablaError, match=r"--categories: 'd\.csv' has no column 'prot'"):
        gather(text, 6, categories=["prot"])


def test_categories_stay_as_they_are_when_the_rest_is_standardised() -> None:
    rows = {"a": [1.0, 2, 3, 4], "kind": ["p", "q", "p", "p"], "y": [0.0, 1, 0, 1]}

    class Frame(dict[str, Any]):
        columns = tuple(rows)

        def to_numpy(self) -> None: ...

    data = Data(Frame(rows), columns={"x": ["kind", "a"], "y": "y"}, standardise=True)
    found = data.arrays(tensors(3))
    preparation = data.fitted(tensors(3), found.arrays, found.preparation)
    assert preparation.means["x"].tolist() == [0, 0, 2.5]
    assert preparation.deviations["x"].tolist() == [1, 1, np.std([1, 2, 3, 4])]
    assert found.arrays["x"][:, :2].tolist() == [
        [1, 0],
        [0, 1],
        [1, 0],
        [1, 0],
    ]


REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "dates": (
        "age,port,fare,y\n2020-01-02,S,1,0\n2020-01-03,C,1,1\n",
        {},
        "row 2, column 'age': '2020-01-02' is a date",
        "days since",
    ),
    "a date among numbers": (
        "age,port,fare,y\n5,S,1,0\n1.2.2020,C,1,1\n",
        {},
        "row 3, column 'age': '1.2.2020' is a date",
        "days since",
    ),
    "thousands": (
        'age,port,fare,y\n5,S,1,0\n6,C,"1,234",1\n',
        {},
        "row 3, column 'fare': '1,234' has a thousands separator",
        "write 1234",
    ),
    "nothing but thousands": (
        'age,port,fare,y\n5,S,"5,678",0\n6,C,"1,234",1\n',
        {},
        "row 2, column 'fare': '5,678' has a thousands separator",
        "write 5678",
    ),
    "a text among numbers": (
        "age,port,fare,y\n5,S,1,0\nold,C,1,1\n",
        {},
        "row 3, column 'age': 'old' is not a number",
        "--categories",
    ),
    "names": (
        "age,port,fare,y\n" + "".join(f"5,harbour {n},1,{n % 2}\n" for n in range(30)),
        {},
        "row 2, column 'port': 'harbour 0' is one of 30 texts in 30 rows",
        "--categories port",
    ),
    "another width": (TABLE, {"missing": "drop"}, "are 5 numbers with their categories (port 3)", "declare 'x[5]'"),
    "a gap": (TABLE, {}, "row 4, column 'age': the value is missing", "--missing drop"),
    "a gap among categories": (
        TABLE.replace(",S,3", "5,S,3"),
        {},
        "row 5, column 'port': the value is missing ('?')",
        "--missing mean",
    ),
    "gaps alone": ("age,port,fare,y\n,S,1,0\n,C,1,1\n", {"missing": "drop"}, "every row of the data", "--missing mean"),
    "a column of gaps": (
        "age,port,fare,y\n,S,1,0\n,C,1,1\n",
        {"missing": "mean"},
        "column 'age' has no value in the training part",
        "leave",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(gather: Gather, case: str) -> None:
    text, options, message, cure = REFUSED[case]
    with pytest.raises(TablaError) as fault:
        gather(text, 7 if case == "another width" else 4, **options)
    assert message in fault.value.message
    assert fault.value.hint is not None and cure in fault.value.hint


def test_models_that_know_no_means_fill_nothing(gather: Gather) -> None:
    kept = beside(gather(TABLE, 5, missing="drop").preparation)
    with pytest.raises(TablaError, match="do not keep what stands for missing values of 'x'"):
        gather(TABLE, 5, kept, fits=False, missing="mean")


def test_texts_in_new_data_are_no_categories(gather: Gather) -> None:
    """What was a number when the models were learnt is a number later, too."""
    kept = beside(gather("age,port,fare,y\n1,2,3,0\n4,5,6,1\n", 3).preparation)
    with pytest.raises(TablaError, match="row 2, column 'port': 'S' is not a number"):
        gather("age,port,fare,y\n1,S,3,0\n", 3, kept, fits=False)


def test_gaps_of_arrays() -> None:
    x = np.array([[1.0, np.nan], [3, 4], [5, 6], [np.nan, 8]])
    y = np.array([0.0, 1, np.nan, 1])
    shapes = tensors(2)
    with pytest.raises(TablaError, match=r"'x' holds nan at \[0, 1\]"):
        Data({"x": x, "y": y}).arrays(shapes)
    mean = Data({"x": x, "y": y}, missing="mean").arrays(shapes)
    assert mean.arrays["x"].tolist() == [[1, 6], [3, 4], [2, 8]] and mean.arrays["y"].tolist() == [0, 1, 1]
    assert mean.treated.filled == {"x": 2} and mean.treated.left_out == 1
    assert mean.origin.place(2) == "sample 4"
    drop = Data({"x": x, "y": y}, missing="drop").arrays(shapes)
    assert drop.arrays["x"].tolist() == [[3, 4]] and drop.treated.left_out == 3


def test_the_summary_counts_what_is_left_out(gather: Gather) -> None:
    gather(TABLE, 5, missing="drop")
    data = Data("d.csv", columns=COLUMNS, missing="drop", categories=["fare"])
    summary = data.summary()
    assert summary.head == "d.csv: 3 samples"
    assert [row.holds for row in summary.rows] == [
        "numbers",
        "3 texts: C (1), Q (1), S (1)",
        "3 categories: 1 (1), 2 (1), 5 (1)",
        "numbers",
    ]
    rows = Data("d.csv", columns=COLUMNS, missing="mean").summary().rows
    assert [row.holds for row in rows[:2]] == ["numbers, 1 missing", "3 texts: C (1), Q (1), S (2), and 1 missing"]
    assert (rows[0].least, rows[0].mean) == (20, 37.5)


def test_estimators_take_categories_of_the_training_part(gather: Gather) -> None:
    gather(TABLE, 5, missing="drop")
    data = Data("d.csv", columns=COLUMNS, missing="mean", test="d.csv")
    inputs, labels = data.pair()
    assert inputs.shape == (5, 5) and labels.tolist() == [0, 1, 0, 1, 0]
    assert data.pair(held_out=True)[0].tolist() == inputs.tolist()


CELLS = st.one_of(st.sampled_from(["", "?", "NA"]), st.integers(-9, 9).map(str))
KINDS = st.sampled_from(["", "null", "red", "green", "blue"])


@given(rows=st.lists(st.tuples(CELLS, KINDS), min_size=2, max_size=12))
def test_filling_is_what_a_plain_loop_does(
    rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    numbers = [float(cell) for cell, _ in rows if cell.lstrip("-").isdigit()]
    kinds = [kind for _, kind in rows if kind in ("red", "green", "blue")]
    if not numbers or not kinds:
        return
    path = tmp_path_factory.mktemp("filled") / "d.csv"
    path.write_text("\n".join(["a,k,y", *(f"{cell},{kind},0" for cell, kind in rows)]) + "\n")
    known = sorted(set(kinds))
    most = max(known, key=lambda kind: (kinds.count(kind), -known.index(kind)))
    expected = [
        [
            float(cell) if cell.lstrip("-").isdigit() else sum(numbers) / len(numbers),
            *(float(one == (kind if kind in known else most)) for one in known),
        ]
        for cell, kind in rows
    ]
    data = Data(path, columns={"x": ["a", "k"], "y": "y"}, missing="mean")
    found = data.arrays(tensors(1 + len(known))).arrays["x"]
    assert np.allclose(found, expected, rtol=0, atol=1e-12)


# ---- numbers of rows

RATINGS = "user,film,stars\nbob,7,1\nann,9,2\nbob,,3\neve,7,4\n"


def rows_of(text: str, stored: Preparation | None = None, **options: Any) -> Gathered:
    Path("d.csv").write_text(text)
    columns = {"u": ["user"], "m": ["film"], "y": "stars"}
    data = Data("d.csv", columns=columns, **options)
    whole = Tensors(inputs={"u": (), "m": ()}, labels={"y": ()}, integers=frozenset({"u", "m"}))
    return data.arrays(whole, stored=stored, fits=stored is None)


def test_a_category_is_the_number_of_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts need no naming, numbers do; a held-out sample has its row, too; a gap takes the most frequent row."""
    monkeypatch.chdir(tmp_path)
    found = rows_of(RATINGS, categories={"film": ()}, missing="mean", test=0.5, standardise=True)
    assert found.arrays["u"].tolist() == [1, 0, 1, 2]
    assert found.preparation.categories == {"u": {"user": ("ann", "bob", "eve")}, "m": {"film": ("7", "9")}}
    assert set(found.arrays["m"].tolist()) == {0, 1} and found.treated.filled == {"film": 1}
    again = rows_of("user,film,stars\neve,9,1\n", beside(found.preparation), missing="mean")
    assert (again.arrays["u"].tolist(), again.arrays["m"].tolist()) == ([2], [1])
    with pytest.raises(TablaError) as caught:
        rows_of("user,film,stars\nzoe,9,1\n", beside(found.preparation), missing="mean")
    assert "row 2, column 'user': 'zoe' is none of the categories ann, bob, eve, so no row of the model" in str(
        caught.value
    )


def test_many_texts_are_rows_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of one row for each user has many users, and a column of 0 and 1 for each would be too much."""
    monkeypatch.chdir(tmp_path)
    text = "user,film,stars\n" + "".join(f"u{row:03},1,{row}\n" for row in range(200))
    found = rows_of(text)
    assert found.arrays["u"].tolist() == list(range(200))
    with pytest.raises(TablaError, match="none of the categories"):
        rows_of("user,film,stars\nu200,1,1\n", beside(found.preparation), unknown="zeros")


def test_numbers_of_rows_are_not_standardised() -> None:
    random = np.random.default_rng(1)
    rows, x, y = random.integers(0, 4, 40), random.normal(5, 2, 40), random.normal(size=40)
    text = "model_input u, x; model_output y; model U[4], w; gradient gU -> U, gw -> w;"
    build = tabla.compile(Source.from_text(text + "e = U[u] + w * x - y; gU[u] = e; gw = e * x;"), pes=2, effort=0)
    data = Data({"u": rows, "x": x, "y": y}, standardise=True)
    trained = build.train(data, seed=1, engine="model")
    kept = trained.stored()
    assert "u.mean" not in kept and abs(kept["x.mean"] - x.mean()) < 1e-12
