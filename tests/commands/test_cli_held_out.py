"""``tabla train`` with samples that are held out, and ``tabla test``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tests.held_out_data import arrays, order

LOGISTIC = """m = 4;
mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
COUNT, TESTED, VALIDATED = 40, 8, 6
TRAIN = ("train", "model.t", "--engine", "model", "-q")
PARTS = ("--data", "data.npz", "--split", "0.2,0.15", "--split-seed", "4")
LOSSES = ("loss", "metric")
ORDER = order(COUNT, TESTED, VALIDATED)
fresh = partial(arrays, COUNT)  # tests change what they get
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with programs and data and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    Path("infer.t").write_text(LOGISTIC.split("gradient")[0] + "iterator i[0:m];\nh = sigmoid(sum[i](w[i] * x[i]));\n")
    data = fresh()
    np.savez("data.npz", **data)
    for name, part in zip(("test", "validation", "training"), ORDER, strict=True):
        np.savez(f"{name}.npz", **{key: array[part] for key, array in data.items()})
    return command


def record_of(run: Run, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json", "-"))
    return found


def models(path: str) -> np.ndarray:
    with np.load(path) as archive:
        return np.asarray(archive["w"])


def test_a_split_learns_from_the_rest_and_scores_every_part(run: Run) -> None:
    split = record_of(run, *TRAIN, *PARTS, "--epochs", "3", "-o", "split.npz")
    alone = record_of(run, *TRAIN, "--data", "training.npz", "--epochs", "3", "-o", "alone.npz")
    assert np.array_equal(models("split.npz"), models("alone.npz"))
    assert (split["samples"], split["validation_samples"], split["test_samples"]) == (26, VALIDATED, TESTED)
    assert (alone["samples"], alone["test_samples"]) == (26, 0)
    parts = ORDER
    for who in ("accelerator", "float64"):
        assert len(split[who]) == 4
        for epoch, entry in enumerate(split[who]):
            assert {key: entry[key] for key in ("loss", "metric")} == alone[who][epoch]
            assert entry.keys() == {f"{part}{kind}" for part in ("", "test_", "validation_") for kind in LOSSES}
    # The last entry of float64 is the score of models that numpy finds with the same steps.
    w, data = np.zeros(4), fresh()
    for sample in [*parts[2]] * 3:
        x, y = data["x"][sample], data["y"][sample]
        w -= 0.5 * (1 / (1 + np.exp(-w @ x)) - y) * x
    for part, positions in (("test_", parts[0]), ("validation_", parts[1]), ("", parts[2])):
        h, y = 1 / (1 + np.exp(-data["x"][positions] @ w)), data["y"][positions]
        last = split["float64"][-1]
        assert last[f"{part}loss"] == pytest.approx(np.mean((h - y) ** 2))
        assert last[f"{part}metric"] == np.mean((h >= 0.5) == y)


def test_a_file_of_its_own_is_scored_as_the_split_part(run: Run) -> None:
    words = ("--data", "training.npz", "--test", "test.npz", "--epochs", "2")
    file, split = record_of(run, *TRAIN, *words), record_of(run, *TRAIN, *PARTS, "--epochs", "2")
    for who in ("accelerator", "float64"):
        for ours, theirs in zip(file[who], split[who], strict=True):
            assert ours == {key: value for key, value in theirs.items() if not key.startswith("validation_")}
    assert file["test_confusion"] == split["test_confusion"]
    assert sum(map(sum, file["test_confusion"])) == file["test_samples"] == TESTED


def test_patience_keeps_the_models_with_the_smallest_validation_loss(run: Run) -> None:
    words = (*TRAIN, *PARTS, "--format", "q6.14")
    every = record_of(run, *words, "--epochs", "30")
    losses = [entry["validation_loss"] for entry in every["accelerator"]]
    best = int(np.argmin(losses))
    assert 0 < best < 25, "the data must make the validation loss rise again"
    assert min(losses[best + 1 : best + 4]) > losses[best]
    found = record_of(run, *words, "--epochs", "30", "--patience", "4", "-o", "kept.npz")
    assert found["epochs"] == best + 4 == len(found["accelerator"]) - 1
    assert found["kept"]["accelerator"] == best
    assert found["accelerator"] == every["accelerator"][: best + 5]
    run(*words, "--epochs", str(best), "-o", "best.npz")
    run(*words, "--epochs", str(best + 4), "-o", "last.npz")
    assert np.array_equal(models("kept.npz"), models("best.npz"))
    assert not np.array_equal(models("kept.npz"), models("last.npz"))
    said = run(*words, "--epochs", "30", "--patience", "4")
    assert f"models kept from epoch {best} {found['kept']['float64']}" in " ".join(said.split())


@pytest.mark.parametrize("patience", [(), ("--patience", "2")])
def test_no_choice_and_no_model_depends_on_the_test_part(run: Run, patience: tuple[str, ...]) -> None:
    """Other numbers in the test part change the scores of that part and nothing else."""
    words = (*TRAIN, *PARTS, *patience, "--epochs", "12")
    before = record_of(run, *words, "-o", "before.npz")
    data, part = fresh(), ORDER[0]
    chance = np.random.default_rng(11)
    data["x"][part] = chance.uniform(-9, 9, (TESTED, 4))
    data["y"][part] = chance.integers(0, 2, TESTED)
    np.savez("data.npz", **data)
    after = record_of(run, *words, "-o", "after.npz")
    assert Path("before.npz").read_bytes() == Path("after.npz").read_bytes()
    assert [e["test_loss"] for e in before["accelerator"]] != [e["test_loss"] for e in after["accelerator"]]
    for record in (before, after):
        for key in ("test_confusion", "test_overflows", "test_domain_errors"):
            record.pop(key)
        for who in ("accelerator", "float64"):
            for entry in record[who]:
                assert entry.pop("test_loss") is not None and entry.pop("test_metric") is not None
    assert before == after


def test_the_report_shows_the_parts(run: Run) -> None:
    lines = run(*TRAIN, *PARTS, "--epochs", "3").splitlines()
    assert lines[1] == f"held out: {VALIDATED} samples for validation, {TESTED} samples for test"
    assert any(line.split() == ["●", "training", "▲", "validation", "○", "test", "·", "float64"] for line in lines)
    curve = "".join(lines[3:15])
    assert all(mark in curve for mark in "●▲○·")
    shown = [line.split("  ")[0] for line in lines]
    rows = {"validation mse", "validation accuracy", "test mse at first", "test accuracy at first", "test accuracy"}
    assert rows <= set(shown)
    assert "validation mse at first" not in shown and "training mse" not in shown
    assert "confusion of the test part on the accelerator (rows: label, columns: prediction)" in lines


AMARANTH = ("--engine", "amaranth", "--samples", "6", "--pes", "1")


@pytest.mark.parametrize("engine", [(), ("--engine", "model"), AMARANTH])
def test_models_are_scored_without_a_step(run: Run, engine: tuple[str, ...]) -> None:
    trained = record_of(run, *TRAIN, *PARTS, "--epochs", "2", "-o", "w.npz")
    words = ("test", "model.t", "--weights", "w.npz", "--data", "test.npz", *engine)
    found = record_of(run, *words)
    count = 6 if "--samples" in engine else TESTED
    assert found["schema"] == "tabla-test-1" and found["samples"] == found["simulated"] == count
    w, x, y = models("w.npz"), fresh()["x"][ORDER[0]][:count], fresh()["y"][ORDER[0]][:count]
    h = 1 / (1 + np.exp(-x @ w))
    assert found["float64"]["loss"] == pytest.approx(np.mean((h - y) ** 2))
    assert found["float64"]["metric"] == np.mean((h >= 0.5) == y)
    for who in ("accelerator", "float64"):
        table = np.array(found[who]["confusion"])
        assert table.sum() == count and np.trace(table) / count == found[who]["metric"]
        assert table.sum(axis=1).tolist() == [np.sum(y == 0), np.sum(y == 1)]
    if count == TESTED:
        last = trained["accelerator"][-1]
        assert found["accelerator"] == {
            "loss": last["test_loss"],
            "metric": last["test_metric"],
            "confusion": trained["test_confusion"],
        }
    assert found["cycles"]["predicted"] == found["cycles"]["simulated"] > 0
    assert found["latency"]["predicted"] == found["latency"]["simulated"]
    alone = tabla.compile("infer.t", pes=1 if "--pes" in engine else 16)
    assert found["cycles"]["predicted"] == alone.schedule.cycles, "a program that learns is run as its inference part"
    assert "confusion of the samples on the accelerator" in run(*words)


def test_without_an_engine_only_the_first_samples_are_simulated(run: Run) -> None:
    run(*TRAIN, *PARTS, "--epochs", "1", "-o", "w.npz")
    words = ("test", "model.t", "--weights", "w.npz", "--data", "data.npz")
    assert record_of(run, *words)["simulated"] == 32
    assert run(*words).startswith("model: 40 samples, none learnt from, 16 PEs, q6.10, the first 32 on engine model\n")
    with_engine = record_of(run, *words, "--engine", "model")
    assert with_engine["simulated"] == COUNT
    assert with_engine["accelerator"] == record_of(run, *words)["accelerator"]


def test_inference_programs_predictions_and_residuals_are_scored(run: Run) -> None:
    run(*TRAIN, *PARTS, "--epochs", "2", "-o", "w.npz")
    words = ("--weights", "w.npz", "--data", "test.npz")
    plain = record_of(run, "test", "model.t", *words)
    assert record_of(run, "test", "infer.t", *words)["accelerator"] == plain["accelerator"]
    assert record_of(run, "test", "model.t", "--minibatch", "4", *words)["accelerator"] == plain["accelerator"]
    mean = record_of(run, "test", "model.t", "--predict", "e", "--metric", "mae", *words)
    assert (mean["predict"], mean["metric"], mean["classes"]) == ("e", "mae", None)
    linear = LOGISTIC.replace("h = sigmoid(sum[i](w[i] * x[i]));\ne = h - y;", "e = sum[i](w[i] * x[i]) - y;")
    Path("residual.t").write_text(linear)
    residual = record_of(run, "test", "residual.t", *words)
    x, y = fresh()["x"][ORDER[0]], fresh()["y"][ORDER[0]]
    assert residual["float64"]["loss"] == pytest.approx(np.mean((x @ models("w.npz") - y) ** 2))
    assert residual["accelerator"]["loss"] == pytest.approx(residual["float64"]["loss"], rel=0.01)


def test_strict_scoring(run: Run) -> None:
    Path("wide.t").write_text(LOGISTIC.replace("h = sigmoid(sum[i](w[i] * x[i]))", "h = sigmoid(30 * x[0] + 31)"))
    np.savez("w.npz", w=np.zeros(4))
    words = ("test", "wide.t", "--weights", "w.npz", "--data", "data.npz")
    assert record_of(run, *words)["overflows"] > 0
    assert "error: --strict: there were overflows" in run(*words, "--strict", status=1)


OUTSIDE = {"test": 0, "validation": 1}


def write_linear(part: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Write a linear program, and data whose predictions are large in one held-out part; return data and positions."""
    Path("linear.t").write_text(LOGISTIC.replace("sigmoid(sum[i](w[i] * x[i]))", "sum[i](w[i] * x[i])"))
    data, rows = fresh(), ORDER[OUTSIDE[part]]
    # The noise keeps steps from becoming too small for the format.
    data["y"] = 4 * data["x"] @ [1, -2, 3, 0] + np.random.default_rng(6).normal(0, 1, COUNT)
    data["x"][rows] *= 31
    np.savez("data.npz", **data)
    return data, rows


@pytest.mark.parametrize("part", OUTSIDE)
def test_overflows_of_held_out_samples_are_counted(run: Run, part: str) -> None:
    """Samples of a held-out part whose prediction saturates are counted, apart from the overflows of the steps."""
    data, rows = write_linear(part)
    words = ("train", "linear.t", *TRAIN[2:], *PARTS, "--epochs", "1", "-o", "w.npz")
    found = record_of(run, *words)
    predicted = data["x"][rows] @ models("w.npz")
    outside = int(np.sum((predicted < -32) | (predicted >= 32)))
    assert outside > 0 and np.abs(np.abs(predicted) - 32).min() > 0.1, "no prediction on the edge of the range"
    other = {"test": "validation", "validation": "test"}[part]
    assert found["overflows"] == found[f"{other}_overflows"] == found[f"{part}_domain_errors"] == 0
    assert found[f"{part}_overflows"] == outside
    lines = run(*words).splitlines()
    assert f"{part + ' part':<24}overflows {outside} (h: {outside}), domain errors 0" in lines
    assert f"{other + ' part':<24}overflows 0, domain errors 0" in lines
    narrow = record_of(run, *words, "--format", "q12.20", "--strict")
    assert narrow[f"{part}_overflows"] == 0
    assert narrow["accelerator"][-1][f"{part}_loss"] > 2 * found["accelerator"][-1][f"{part}_loss"]


def test_strict_training_looks_at_the_held_out_samples(run: Run) -> None:
    write_linear("test")
    words = ("train", "linear.t", *TRAIN[2:], *PARTS, "--epochs", "1", "--strict", "--format")
    assert "error: --strict: there were overflows" in run(*words, "q6.24", status=1)
    run(*words, "q12.20")


def test_python_mirrors_the_commands(run: Run) -> None:
    build = tabla.compile("model.t")
    data = fresh()
    trained = build.train(data, epochs=20, engine="model", split=(0.2, 0.15), split_seed=4, patience=3)
    words = record_of(run, *TRAIN, *PARTS, "--epochs", "20", "--patience", "3")
    assert trained.as_json() == json.loads(json.dumps(words)) | {"test_confusion": trained.score.test.confusion}
    other = build.train("training.npz", epochs=20, engine="model", test={k: a[ORDER[0]] for k, a in data.items()})
    assert other.test_samples == TESTED and other.score.test is not None
    tested = build.test("test.npz", weights=trained.models)
    assert tested.accelerator == trained.score.test
    assert build.test("test.npz", weights=dict(trained.models), engine="model").as_json() == tested.as_json()


@pytest.mark.parametrize(
    ("words", "message", "cure"),
    [
        (("--split", "0.01"), "leaves the test part of 40 samples empty", "at least 0.025"),
        (("--split", "0.2", "--test", "test.npz"), "here from both", "--split 0,0.1"),
        (("--split", "0.2", "--patience", "3"), "--patience needs a validation part", "--split 0.2,0.1"),
        (("--patience", "3"), "--patience needs a validation part", "--split 0.2,0.1"),
        (("--split-seed", "3"), "chooses nothing without --split", "--split 0.2"),
        (("--split", "2"), "leaves no training part", "--split 0.2"),
        (("--test", "narrow.npz"), "--test: 'x' has shape (3, 2)", "give (4,) for one sample"),
        (("--test", "bare.npz"), "--test: 'y' is missing", "the program reads x, y"),
        (("--test", "more.npz"), "the test data holds 'z'", "it has x, y"),
        (("--test", "classes.npz"), "sample 2 of 'classes.npz', in the test part, is no", "labels of 0 and 1"),
        (("--test", "none.npz"), "cannot read 'none.npz'", "check the path"),
        (("--test", "big.npz"), "input 'x' holds 99 in sample 1 of 'big.npz', outside the range", "--format q8.10"),
        (("--minibatch", "30", "--split", "0.5"), "do not fill a minibatch of 30", "smaller --minibatch"),
    ],
)
def test_faults(run: Run, words: tuple[str, ...], message: str, cure: str) -> None:
    np.savez("narrow.npz", x=np.zeros((3, 2)), y=np.zeros(3))
    np.savez("bare.npz", x=np.zeros((3, 4)))
    np.savez("more.npz", x=np.zeros((3, 4)), y=np.zeros(3), z=np.zeros(3))
    np.savez("classes.npz", x=np.zeros((3, 4)), y=np.array([0, 2, 1]))
    np.savez("big.npz", x=np.full((3, 4), 99.0), y=np.zeros(3))
    said = run(*TRAIN, "--data", "data.npz", *words, "-o", "w.npz", status=1)
    assert said.startswith("error: ") and message in said and cure in said
    assert not Path("w.npz").exists()


def test_faults_of_scoring(run: Run) -> None:
    np.savez("w.npz", w=np.zeros(4))
    np.savez("short.npz", w=np.zeros(3))
    np.savez("narrow.npz", x=np.zeros((3, 2)), y=np.zeros(3))
    np.savez("bare.npz", x=np.zeros((3, 4)))
    Path("kernel.tc").write_text("def f(float(N) A) -> (B) { B(i) = A(i) }")
    score = ("test", "model.t", "--weights", "w.npz", "--data")
    assert "'x' has shape (3, 2)" in run(*score, "narrow.npz", status=1)
    assert "the data has no label 'y'" in run(*score, "bare.npz", status=1)
    assert "model 'w' has shape (3,)" in run(*score, "test.npz", "--weights", "short.npz", status=1)
    assert "'kernel.tc' is a kernel" in run(
        "test", "kernel.tc", "--size", "N=4", "--weights", "w.npz", "--data", "test.npz", status=1
    )
    assert "score it with tabla test" in run(
        "train", "infer.t", "--weights", "w.npz", "--data", "data.npz", "--split", "0.2", status=1
    )
