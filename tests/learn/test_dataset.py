"""The data of a run: read once, given to everything that takes data, and shown as a table."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.learn.data import dataset
from tabla.learn.data.options import DataOptions
from tests.logistic_program import LOGISTIC

PROGRAM = LOGISTIC.replace("m = 4", "m = 2")
SHARES = {"split": (0.25, 0.25), "split_seed": 3}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program and a table with a column of texts, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.t").write_text(PROGRAM, encoding="utf-8")
    chance = np.random.default_rng(1)
    lines = ["length,kind,width"]
    for _ in range(40):
        a, b = chance.normal(size=2)
        lines.append(f"{5 + 3 * a:.3f},{'long' if a > 0.1 * b else 'short'},{b:.3f}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "t.csv"


def options() -> dict[str, Any]:
    return {"columns": {"x": "*", "y": "kind"}, "classes": "y", "standardise": True, **SHARES}


def test_a_run_is_the_same_with_the_object_and_with_its_parts(table: Path) -> None:
    build = tabla.compile("model.t", pes=2, effort=0)
    parts = build.train(table, epochs=2, **options())
    whole = build.train(tabla.Data(table, **options()), epochs=2)
    assert parts.as_json() == whole.as_json()
    assert all(np.array_equal(parts.models[name], whole.models[name]) for name in parts.models)


def test_everything_takes_it(table: Path) -> None:
    data = tabla.Data(table, **options())
    build = tabla.compile("model.t", pes=2, effort=0, format="auto12", data=data, epochs=2)
    training = build.train(data, epochs=2)
    tested = build.test(data, weights=training.models)
    assert tested.samples == 10, "of data with a test part, that part is scored"
    assert training.score.test is not None
    assert tested.accelerator.metric == training.score.test.metric
    outputs = build.evaluate(data, weights=training.models)
    assert outputs["w"].shape == (2,)
    assert build.simulate(data, weights=training.models).samples == 40
    formats = tabla.formats("model.t", data, widths=(10,), guards=(0,), epochs=2)
    assert formats.samples == 20 and formats.validation_samples == 10
    found = tabla.explore("model.t", pes=2, data=data, epochs=1)
    assert found.metric == "accuracy"


def test_arrays_can_be_explored(table: Path) -> None:
    chance = np.random.default_rng(2)
    x = chance.normal(size=(30, 2))
    data = tabla.Data({"x": x, "y": (x[:, 0] > 0).astype(float)}, split=(0.2, 0.2))
    assert tabla.explore("model.t", pes=2, data=data, epochs=1).points[0].metric is not None
    other = tabla.Data({"x": x + 1, "y": (x[:, 0] > 0).astype(float)}, split=(0.2, 0.2))
    assert data.fingerprint != other.fingerprint


def test_the_file_is_read_once(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    plain = dataset.read_table

    def counted(path: Path, *, header: bool) -> Any:
        read.append(path)
        return plain(path, header=header)

    monkeypatch.setattr(dataset, "read_table", counted)
    data = tabla.Data(table, **options())
    build = tabla.compile("model.t", pes=2, effort=0, format="auto12", data=data, epochs=1)
    training = build.train(data, epochs=1)
    build.test(data, weights=training.models)
    data.summary()
    assert read == [table]
    again = pickle.loads(pickle.dumps(data))
    assert again.summary() == data.summary() == data.changed(shuffle=1).summary() and read == [table]


def test_standardisation_sees_the_training_part_alone(table: Path) -> None:
    plain = tabla.Data(table, **{**options(), "standardise": False})
    build = tabla.compile("model.t", pes=2, effort=0)
    stored = build.train(tabla.Data(table, **options()), epochs=1).stored()
    tensors = dataset.tensors_of(build)
    raw = plain.arrays(tensors).arrays
    shares = plain.shares
    assert shares is not None
    rows = shares.indices(40).training
    assert np.array_equal(stored["x.mean"], raw["x"][rows].mean(axis=0))
    assert not np.array_equal(stored["x.mean"], raw["x"].mean(axis=0))


def test_the_summary_is_a_table(table: Path) -> None:
    summary = tabla.Data(table, **options()).summary()
    lines = summary.text().splitlines()
    assert lines[0] == f"{table}: 40 samples (20 training, 10 validation, 10 test)"
    assert lines[1].split() == ["name", "for", "holds", "least", "mean", "greatest", "deviation"]
    assert [row.taken_by for row in summary.rows] == ["x", "y", "x"]
    numbers = np.loadtxt(table, delimiter=",", skiprows=1, usecols=0)
    assert summary.rows[0].least == numbers.min() and summary.rows[0].mean == numbers.mean()
    assert summary.rows[1].holds.startswith("2 classes: long (")
    assert summary.html().count("<tr>") == 4 and "<td" in tabla.Data(table)._repr_html_()


def test_the_summary_of_arrays() -> None:
    summary = tabla.Data((np.eye(3), [1, 0, 1])).summary()
    assert [(row.name, row.holds) for row in summary.rows] == [("X", "numbers of shape (3,)"), ("y", "numbers")]
    assert str(summary).startswith("arrays: 3 samples\n")


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "options beside the object": (
        lambda: tabla.compile("model.t", pes=2, effort=0).train(tabla.Data("t.csv"), split=0.2),
        TypeError,
        "split: the data has its own options",
    ),
    "a text as truth": (lambda: tabla.Data("t.csv", standardise="no"), TypeError, "standardise: 'no'"),  # type: ignore[arg-type]
    "a file that is not there": (lambda: tabla.Data("no.csv").summary(), tabla.TablaError, "cannot read 'no.csv'"),
    "no data": (lambda: tabla.Data(5).summary(), TypeError, "data: 5 does not map"),  # type: ignore[arg-type]
    "an unknown column": (
        lambda: tabla.Data("t.csv", columns={"x": "height"}).summary(),
        tabla.TablaError,
        "has no column 'height'",
    ),
    "a share of everything": (
        lambda: tabla.Data("t.csv", split=1.0).summary(),
        ValueError,
        "leaves no training part",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, table: Path) -> None:
    call, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, tabla.TablaError)


@pytest.mark.parametrize("more", [{"split": (0, 0.25)}, {"split": None, "split_seed": None}])
def test_without_a_test_part_all_samples_are_scored(table: Path, more: dict[str, Any]) -> None:
    build = tabla.compile("model.t", pes=2, effort=0)
    models = build.train(tabla.Data(table, **options()), epochs=1).models
    assert build.test(tabla.Data(table, **{**options(), **more}), weights=models).samples == 40


def test_a_test_part_of_its_own_may_be_data(table: Path) -> None:
    other = tabla.Data(table, columns={"x": "*", "y": "kind"}, classes="y", samples=7)
    data = tabla.Data(table, **{**options(), "split": (0, 0.25), "test": other})
    assert data.summary().parts == {"training": 30, "validation": 10, "test": 7}
    build = tabla.compile("model.t", pes=2, effort=0)
    training = build.train(data, epochs=1)
    assert training.test_samples == build.test(data, weights=training.models).samples == 40
    remarks: list[str] = []
    found = tabla.explore(
        "model.t", pes=2, data=data.changed(split=None, split_seed=None), epochs=1, remark=remarks.append
    )
    assert found.points[0].metric is not None and remarks[0].startswith("split        0,0.2:")


def test_data_is_what_it_was_made_of() -> None:
    x = np.eye(3)
    one, other = tabla.Data({"x": x}, split=[0.1, 0.1]), tabla.Data({"x": x + 1}, split=[0.1, 0.1])
    assert one == one and one != other and len({one, other}) == 2
    assert repr(one) == "Data(<dict>, split=[0.1, 0.1])"
    assert repr(tabla.Data("a.csv", classes="y")) == "Data('a.csv', classes=('y',))"


def test_the_summary_counts_the_samples_that_are_used() -> None:
    labels = [10, 9, 2, 1, 10, 9]
    summary = tabla.Data({"x": np.arange(6.0), "y": labels}, classes="y", samples=5).summary()
    assert summary.samples == 5 and summary.rows[0].greatest == 4.0
    assert summary.rows[1].holds == "4 classes: 1 (1), 2 (1), 9 (1), 10 (2)"
    with pytest.raises(tabla.TablaError, match="'x' has 2 samples and 'y' has 3"):
        tabla.Data({"x": [1.0, 2.0], "y": [1.0, 2.0, 3.0]}).summary()
    with pytest.raises(tabla.TablaError, match="has rows of different lengths"):
        tabla.Data({"x": [[1.0], [2.0, 3.0]]}).summary()
    with pytest.raises(ValueError, match="a tuple of 3 arrays is not"):
        tabla.Data((labels, labels, labels)).summary()  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="this is data already"):
        tabla.Data(tabla.Data("x.csv"))  # type: ignore[arg-type]


def test_an_object_keeps_all_its_options() -> None:
    given = DataOptions(split=0.2, samples=5)
    data = tabla.Data.of_source({"x": [1.0]}, given)
    assert (data.split, data.samples) == (0.2, 5)
    assert tabla.Data.of_source(data, DataOptions()) is data
