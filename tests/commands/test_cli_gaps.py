"""Tables as people have them, from the command line: texts, gaps, no header, series, and values that do not fit."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.logistic_program import LOGISTIC
from tests.passengers import passengers

Run = Callable[..., str]
PROGRAM = LOGISTIC.replace("m = 4", "m = 8").replace("0.5", "0.0625")
COLUMNS = ("--columns", "x=class,sex,age,fare,port", "y=survived", "--classes", "y", "--standardise")
TRAIN = ("train", "p.t", "--data", "p.csv", *COLUMNS, "--engine", "model", "-q")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("p.t").write_text(PROGRAM)
    Path("p.csv").write_text(passengers())
    Path("new.csv").write_text(passengers(30, seed=5))
    return command


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("missing", ["mean", "drop"])
def test_from_a_table_with_texts_and_gaps_to_predictions(run: Run, missing: str) -> None:
    said = run(*TRAIN, "--missing", missing, "--split", "0.2", "--epochs", "4", "-o", "w.npz")
    with_gaps = sum(not row["age"] or row["port"] == "?" for row in rows("p.csv"))
    if missing == "mean":
        ages, ports = (sum(row[name] in ("", "?") for row in rows("p.csv")) for name in ("age", "port"))
        assert f"missing cells filled    age {ages}, port {ports}\n" in said
    else:
        assert f"rows left out           {with_gaps} of 300, in which a cell is missing\n" in said
    shown = run("show", "w.npz")
    assert "categories of x  sex: female, male; port: C, Q, S\n" in shown
    assert "missing values" in shown
    tested = json.loads(run("test", "w.npz", "--data", "new.csv", "-q", "--json", "-"))
    assert tested["accelerator"]["metric"] > 0.7
    run("predict", "w.npz", "--data", "new.csv", "-q", "-o", "out.csv")
    predicted, given = rows("out.csv"), rows("new.csv")
    empty = [not row["age"] or row["port"] == "?" for row in given]
    assert any(empty) and len(predicted) == len(given)
    assert [row["survived"] == row["h"] == "" for row in predicted] == [missing == "drop" and gap for gap in empty]
    kept = [
        (row["survived"], guess["survived"]) for row, guess in zip(given, predicted, strict=True) if guess["survived"]
    ]
    assert np.mean([one == other for one, other in kept]) == pytest.approx(tested["accelerator"]["metric"])


def test_predictions_need_no_label_and_no_order_of_columns(run: Run) -> None:
    run(*TRAIN, "--missing", "mean", "--epochs", "2", "-o", "w.npz")
    run("predict", "w.npz", "--data", "new.csv", "-q", "-o", "out.csv")
    table = rows("new.csv")
    with Path("other.csv").open("w", newline="", encoding="utf-8") as file:
        names = ("port", "fare", "sex", "class", "survived", "age")
        writer = csv.DictWriter(file, names, extrasaction="ignore", delimiter="|")
        writer.writeheader()
        writer.writerows({**row, "survived": ""} for row in table)
    run("predict", "w.npz", "--data", "other.csv", "-q", "-o", "same.csv")
    assert Path("same.csv").read_text() == Path("out.csv").read_text()


def test_unknown_categories_are_counted(run: Run) -> None:
    run(*TRAIN, "--missing", "mean", "--epochs", "1", "-o", "w.npz")
    Path("far.csv").write_text(Path("new.csv").read_text().replace(",S,", ",Southampton,"))
    count = sum(row["port"] == "Southampton" for row in rows("far.csv"))
    said = run("predict", "w.npz", "--data", "far.csv", "-q")
    assert f"unknown categories      port {count}, taken for none\n" in said
    tested = json.loads(run("test", "w.npz", "--data", "far.csv", "-q", "--json", "-"))
    assert tested["unknown_categories"] == {"port": count}
    refused = run("predict", "w.npz", "--data", "far.csv", "--unknown", "error", status=1)
    assert "column 'port': 'Southampton' is none of the categories C, Q, S" in refused


def test_a_table_without_a_header(run: Run) -> None:
    chance = np.random.default_rng(3).normal(size=(40, 3))
    text = "\n".join(f"{a:.3f},{b:.3f},{int(a > b)}" for a, b, _ in chance) + "\n"
    Path("bare.csv").write_text(text)
    words = ("train", "p.t", "-D", "m=2", "--engine", "model", "-q", "--columns", "x=*", "y=c2")
    refused = run(*words, "--data", "bare.csv", status=1)
    assert "--no-header takes the line as a sample and calls the columns c0 to c2" in refused
    said = run(*words, "--data", "bare.csv", "--no-header", "-o", "w.npz")
    assert said.startswith("p: 40 samples")
    # The models know that their table had no header.
    assert "40 samples" in run("test", "p.t", "-D", "m=2", "--weights", "w.npz", "--data", "bare.csv", "-q")


def test_the_last_rows_of_a_series(run: Run) -> None:
    lines = ["t,y", *(f"{k / 40},{int(k >= 30)}" for k in range(40))]
    Path("series.csv").write_text("\n".join(lines) + "\n")
    words = ("train", "p.t", "-D", "m=1", "--engine", "model", "-q", "--columns", "x=t", "y=y", "--data", "series.csv")
    record = json.loads(run(*words, "--split-last", "0.25", "--epochs", "1", "--metric", "accuracy", "--json", "-"))
    assert (record["samples"], record["test_samples"]) == (30, 10)
    assert record["test_confusion"][0] == [0, 0], "all rows of the test part are the last ones, which are 1"


def test_a_value_that_does_not_fit_names_its_column(run: Run) -> None:
    text = Path("p.csv").read_text().replace("?", "S")
    lines = text.splitlines()
    cells = lines[6].split(",")
    cells[6] = "9999.5"  # the name has a comma
    lines[6] = ",".join(cells)
    Path("p.csv").write_text("\n".join(lines) + "\n")
    where = "in row 7 of 'p.csv', column 'fare' (9999.5 before it was standardised), outside the range of q4.10"
    for more in ((), ("--split", "0.3"), ("--split", "0.3", "--shuffle", "1")):
        said = run(*TRAIN, "--missing", "mean", "--format", "q4.10", *more, status=1)
        assert where in said, said
    assert "use --format q" in said and "--saturate" in said and "--standardise" not in said
    plain = tuple(word for word in TRAIN if word != "--standardise")
    said = run(*plain, "--missing", "mean", "--format", "q4.10", status=1)
    assert "input 'x' holds 9999.5 in row 7 of 'p.csv', column 'fare', outside" in said and "--standardise" in said
