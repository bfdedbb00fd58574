"""``tabla formats``: its table against `tabla train`, what it looks at, what it refuses, and the same from Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.graph.format import Format
from tabla.graph.passes.model_guard import largest_guard
from tabla.learn.formats import GUARD
from tests.held_out_data import arrays, order

LOGISTIC = """m = 4;
mu = 0.015625;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
LINEAR = LOGISTIC.replace("sigmoid(sum[i](w[i] * x[i]))", "sum[i](w[i] * x[i])").replace("mu = 0.015625", "mu = 0.125")
DECAYED = LOGISTIC.replace("g[i] = e * x[i]", "g[i] = e * x[i] + 0.002 * w[i]")
COUNT, TESTED, VALIDATED = 60, 12, 15
SPLIT = ("--split", "0.2,0.25", "--split-seed", "4")
FORMATS = ("formats", "model.t", "--data", "data.npz", *SPLIT)
TRAIN = ("train", "model.t", "--engine", "model", "--pes", "1", "--effort", "0", "-q")
ORDER = order(COUNT, TESTED, VALIDATED)
fresh = partial(arrays, COUNT)  # tests change what they get
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with programs and data, and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    Path("decayed.t").write_text(DECAYED)
    Path("linear.t").write_text(LINEAR)
    Path("infer.t").write_text(LOGISTIC.replace("gradient g[m] -> w; ", "").partition("e = h")[0])
    Path("dot.tc").write_text("def dot(float(N) A) -> (B) { B(i) = A(i) }\n")
    data = fresh()
    np.savez("data.npz", **data)
    np.savez("line.npz", x=data["x"], y=data["x"] @ [1, -2, 3, 0.5] + 0.25)
    return command


def record_of(run: Run, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json", "-"))
    return found


def cell_of(record: dict[str, Any], bits: int, guard: int) -> dict[str, Any]:
    (found,) = (c for c in record["cells"] if (c["bits"], c["model_guard"]) == (bits, guard))
    return dict(found)


@pytest.mark.parametrize("patience", [(), ("--patience", "2")])
def test_a_cell_is_what_train_scores(run: Run, patience: tuple[str, ...]) -> None:
    """The simulated accelerator learns in the same format, and its validation score is that of the table."""
    words = ("--epochs", "6", "--shuffle", "3", *patience)
    table = record_of(run, *FORMATS, *words, "--widths", "10,12", "--guards", "0,4")
    assert [(c["bits"], c["model_guard"]) for c in table["cells"]] == [(10, 0), (10, 4), (12, 0), (12, 4)]
    assert (table["samples"], table["validation_samples"], table["metric"]) == (33, VALIDATED, "accuracy")
    for bits, guard in ((10, 4), (12, 0)):
        auto = ("--format", f"auto{bits}", "--model-guard", str(guard))
        trained = record_of(run, *TRAIN, "--data", "data.npz", *SPLIT, *words, *auto)
        kept, cell = trained["kept"], cell_of(table, bits, guard)
        assert cell["format"] == trained["format"] == trained["format_choice"]["format"]
        ours, theirs = trained["accelerator"][kept["accelerator"]], trained["float64"][kept["float64"]]
        assert {name: cell[name] for name in ("loss", "metric")} == {
            name: ours[f"validation_{name}"] for name in ("loss", "metric")
        }
        assert table["float64"]["loss"] == pytest.approx(theirs["validation_loss"], rel=1e-12)
        assert table["float64"]["metric"] == theirs["validation_metric"]
        for name in ("overflows", "updates", "zero_updates", "validation_overflows"):
            assert cell[name] == trained[name]


def test_the_test_part_is_not_looked_at(run: Run) -> None:
    """Other numbers in the test part, which no format of these widths holds, change nothing."""
    words = (*FORMATS, "--epochs", "2", "--widths", "8-11", "--json", "a.json")
    before, data, tested = run(*words), fresh(), ORDER[0]
    first = Path("a.json").read_bytes()
    data["x"][tested] = np.random.default_rng(8).uniform(-1e6, 1e6, (TESTED, 4))
    data["y"][tested] = 7
    np.savez("data.npz", **data)
    assert run(*words) == before and Path("a.json").read_bytes() == first
    data = fresh()
    data["x"][ORDER[1]] *= -1
    np.savez("data.npz", **data)
    assert run(*words) != before, "the validation part decides"
    validation = record_of(run, *FORMATS[:4], "--split", "0,0.25", "--epochs", "2", "--widths", "12")
    assert (validation["samples"], validation["validation_samples"]) == (COUNT - 15, 15)


def test_the_narrowest_and_the_refused(run: Run) -> None:
    words = ("formats", "decayed.t", *FORMATS[2:], "--epochs", "3")
    table, lines = record_of(run, *words), run(*words).splitlines()
    assert [(c["bits"], c["model_guard"]) for c in table["cells"]] == [(b, g) for b in range(8, 19) for g in (0, 4, 8)]
    refused = [c for c in table["cells"] if c["refused"]]
    assert refused and all(c["metric"] is None and c["loss"] is None for c in refused)
    assert {c["bits"] for c in refused if "0.002 rounds to zero in" in c["refused"]} == {8}
    reasons = list(dict.fromkeys(c["refused"] for c in refused))
    for number, reason in enumerate(reasons, 1):
        assert f"[{number}]  {reason}" in lines
        assert sum(f"refused [{number}]" in line for line in lines) > 0
    close = [c for c in table["cells"] if not c["refused"] and c["metric"] >= table["float64"]["metric"] - 0.005]
    first = min(close, key=lambda c: (c["bits"], c["model_guard"]))
    assert table["narrowest"] == {name: first[name] for name in ("bits", "model_guard", "format")}
    guard = f" --model-guard {first['model_guard']}" if first["model_guard"] else ""
    assert lines[-1] == f"narrowest    {first['bits']} bits: --format {first['format']}{guard}"
    assert sum(line.count("*") for line in lines) == len(close) + 1
    # The words of the answer are options of train, which gives the score of the table.
    options = lines[-1].partition(": ")[2].split()
    words = ("train", "decayed.t", *TRAIN[2:], "--data", "data.npz", *SPLIT, "--epochs", "3", *options)
    trained = record_of(run, *words)
    assert trained["accelerator"][-1]["validation_metric"] == first["metric"]


def test_the_greatest_number_of_guard_bits_is_one_that_a_format_takes() -> None:
    largest = max(
        largest_guard(31, Format(integer=width - fraction, fraction=fraction))
        for width in range(8, 33)
        for fraction in range(width - 1)
        if fraction <= 30
    )
    assert GUARD.high == largest == 16


def test_regression_is_counted_in_r2(run: Run) -> None:
    words = ("formats", "linear.t", "--data", "line.npz", *SPLIT, "--epochs", "2", "--widths", "8,16", "--guards", "0")
    table, lines = record_of(run, *words), run(*words).splitlines()
    w = np.zeros(4)
    with np.load("line.npz") as data:
        x, y = data["x"], data["y"]
    for sample in [*ORDER[2]] * 2:
        w -= 0.125 * (w @ x[sample] - y[sample]) * x[sample]
    labels, errors = y[ORDER[1]], x[ORDER[1]] @ w - y[ORDER[1]]
    r2 = 1 - np.sum(errors**2) / np.sum((labels - labels.mean()) ** 2)
    assert table["metric"] == "r2" and table["float64"]["metric"] == pytest.approx(r2)
    assert lines[1] == "validation r2 in points, of 100 at the most"
    assert lines[3].split() == ["float64", f"{100 * r2:.2f}"]
    assert table["narrowest"]["bits"] == 16, "8 bits are too coarse here"


def test_python_mirrors_the_command(run: Run) -> None:
    words = ("--epochs", "2", "--widths", "9-10", "--guards", "4", "--learning-rate", "0.25", "--minibatch", "3")
    found = tabla.formats(
        "model.t", fresh(), split=(0.2, 0.25), split_seed=4, epochs=2, widths=(10, 9), guards=[4], learning_rate=0.25,
        minibatch=3,
    )  # fmt: skip
    assert json.loads(json.dumps(found.as_json())) == record_of(run, *FORMATS, *words)
    assert found.text() + "\n" == run(*FORMATS, *words)
    assert found.narrowest is None or str(found.narrowest.format) == found.as_json()["narrowest"]["format"]
    for wrong, message in (
        ({"metric": "mse"}, "by the metric 'mse'"),
        ({"widths": 12}, "widths: 12 are not whole numbers"),
        ({"widths": ()}, "widths: there is none"),
        ({"widths": (7,)}, "widths: 7 is less than 8"),
        ({"guards": (-1,)}, "guards: -1 is less than 0"),
        ({"guards": (0, 17)}, "guards: 17 is more than 16"),
        ({"epochs": 0}, "epochs: 0 is less than 1"),
    ):
        with pytest.raises(tabla.TablaError, match=message):
            tabla.formats("model.t", fresh(), split=(0.2, 0.25), **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message", "cure", "status"),
    [
        (("model.t", "--data", "data.npz"), "the data has none", "--split 0.2,0.2", 1),
        (("model.t", "--data", "data.npz", "--split", "0.2"), "the data has none", "--split 0.2,0.2", 1),
        (("model.t", "--data", "data.npz", "--split", "0.2,0.001"), "leaves the validation part of 60", "at least", 1),
        (("model.t", "--data", "none.npz", *SPLIT), "cannot read 'none.npz'", "check the path", 1),
        (("model.t", *SPLIT), "--data", "--help", 2),
        (("model.t", "--data", "data.npz", *SPLIT, "--widths", "7"), "7 is less than 8", "--help", 2),
        (("model.t", "--data", "data.npz", *SPLIT, "--widths", "12-9"), "'12-9' holds no number", "--help", 2),
        (("model.t", "--data", "data.npz", *SPLIT, "--guards", "a"), "'a' is not a whole number", "--help", 2),
        (("model.t", "--data", "data.npz", *SPLIT, "--guards", "0-4000000000"), "is more than 16", "--help", 2),
        (("infer.t", "--data", "data.npz", *SPLIT), "'infer.t' has no gradient", "tabla test --format", 1),
        (("dot.tc", "--size", "N=4", "--data", "data.npz", *SPLIT), "'dot.tc' is a kernel", "tabla sim", 1),
        (
            ("decayed.t", "--data", "data.npz", *SPLIT, "--widths", "8", "-D", "mu=0.0001"),
            *("every format is refused; the widest one: with the learning rate 0.0001", "--widths 32", 1),
        ),
        (("linear.t", "--data", "line.npz", *SPLIT, "-D", "mu=9"), "diverges in float64", "--learning-rate", 1),
        (("linear.t", "--data", "line.npz", *SPLIT, "--metric", "accuracy"), "accuracy needs", "use --metric r2,", 1),
        (("linear.t", "--data", "same.npz", *SPLIT), "all labels of the validation part are equal", "--split-seed", 1),
        (("model.t", "--data", "bare.npz", *SPLIT), "'y' is missing", "the program reads", 1),
    ],
)
def test_mistakes(run: Run, words: tuple[str, ...], message: str, cure: str, status: int) -> None:
    data = fresh()
    np.savez("same.npz", x=data["x"], y=np.full(COUNT, 0.3))
    np.savez("bare.npz", x=data["x"])
    said = run("formats", *words, "--epochs", "40", "--json", "out.json", status=status)
    assert said.startswith("error: ") and message in said and cure in said.partition("hint: ")[2], said
    assert not Path("out.json").exists()
