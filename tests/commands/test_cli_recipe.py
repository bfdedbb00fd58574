"""What ``tabla train -o`` says of the models beside them, and what ``tabla test`` makes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.commands.cli import main
from tabla.learn.data.recipe import NAME, ModelRecipe, recipe_in
from tests.languages.onnx.models import Case, drawn, node

TEXT = """m = 4; mu = 0.125;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
Command = Callable[..., str]
DATA = ("--data", "data.npz", "--pes", "1", "--effort", "0")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Command:
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(5)
    x = chance.uniform(-4, 4, (40, 4))
    Path("model.t").write_text(TEXT)
    Path("infer.t").write_text(TEXT.replace("gradient g[m] -> w; ", "").partition("e = h")[0])
    np.savez("data.npz", x=x, y=(x @ [1, -2, 3, 0] > 0).astype(float))
    np.savez("inputs.npz", x=x)
    return command


def recipe(name: str) -> dict[str, Any]:
    with np.load(name) as archive:
        found: dict[str, Any] = json.loads(str(archive[NAME][()]))
    return found


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """Run a command; return what it prints and what it remarks."""
    assert main(words) == 0
    said = capsys.readouterr()
    return said.out, said.err


def test_the_models_are_scored_in_the_format_in_which_they_learnt(
    run: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    run(
        "train",
        "model.t",
        *DATA,
        "--epochs",
        "2",
        "--format",
        "q4.4",
        "--model-guard",
        "4",
        "-o",
        "a.npz",
        "--json",
        "a.json",
    )
    kept = recipe("a.npz")
    assert kept.pop("program") == {
        "name": "model", "sha256": hashlib.sha256(TEXT.encode()).hexdigest(), "text": TEXT, "defines": {},
        "notation": ".t",
    }  # fmt: skip
    assert kept.pop("how") == {
        "learning_rate": None, "minibatch": 1, "epochs": 2, "samples": 40, "predict": "h", "label": "y",
        "metric": "accuracy", "tool": f"tabla {tabla.__version__}",
    }  # fmt: skip
    assert kept == {
        "schema": "tabla-recipe", "version": 1, "format": "q4.4", "model_guard": 4, "saturate": False,
        "classes": {"count": 2, "low": 0.0, "threshold": 0.5},
    }  # fmt: skip
    out, remarks = told(capsys, "test", "model.t", "--weights", "a.npz", *DATA, "--json", "t.json")
    found, learnt = json.loads(Path("t.json").read_text()), json.loads(Path("a.json").read_text())
    assert found["format"] == "q4.4" and "q4.4" in out.splitlines()[0] and "note" not in remarks
    assert found["accelerator"]["metric"] == learnt["accelerator"][-1]["metric"]
    assert found["accelerator"]["loss"] == learnt["accelerator"][-1]["loss"]


def test_a_format_of_the_user_wins_and_is_told(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "--epochs", "1", "--format", "q4.4", "-o", "a.npz")
    out, remarks = told(capsys, "test", "model.t", "--weights", "a.npz", *DATA, "--format", "q6.10")
    assert "q6.10" in out.splitlines()[0]
    assert "note: the models of 'a.npz' were learnt in q4.4, and are scored in q6.10\n" in remarks
    assert not told(capsys, "test", "model.t", "--weights", "a.npz", *DATA, "--format", "q4.4")[1].count("note")


def test_a_file_that_does_not_tell_its_format(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("plain.npz", w=np.array([1, -2, 3, 0.0]))
    _, remarks = told(capsys, "test", "model.t", "--weights", "plain.npz", *DATA)
    assert (
        "note: 'plain.npz' does not tell in which number format its models were learnt; they are scored in q6.10, and"
        " --format names another one\n"
    ) in remarks
    assert not told(capsys, "test", "model.t", "--weights", "plain.npz", *DATA, "--format", "q6.10")[1].count("note")


def test_data_outside_of_a_chosen_format_saturates_again(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "--epochs", "1", "--format", "q2.6", "--saturate", "-o", "a.npz")
    assert recipe("a.npz")["saturate"] is True
    out, _ = told(capsys, "test", "model.t", "--weights", "a.npz", *DATA)
    assert "numbers outside of q2.6" in out


@pytest.mark.parametrize("name", ["eval", "sim"])
def test_whatever_reads_models_passes_over_it(run: Command, name: str) -> None:
    run("train", "model.t", *DATA, "--epochs", "1", "--format", "q4.8", "-o", "a.npz")
    with np.load("a.npz") as archive:
        plain = {key: archive[key] for key in archive.files if key != NAME}
        together = {key: archive[key] for key in archive.files} | {"x": np.load("inputs.npz")["x"]}
    np.savez("plain.npz", **plain)
    np.savez("both.npz", **together)
    said = [
        run(name, "infer.t", *words, "--pes", "1", "--format", "q4.8", "-q", "-o", "o.npz") + str(np.load("o.npz")["h"])
        for words in (
            ("--inputs", "inputs.npz", "--weights", "a.npz"),
            ("--inputs", "inputs.npz", "--weights", "plain.npz"),
            ("--inputs", "both.npz"),
        )
    ]
    assert said[0] == said[1] == said[2]


def test_learning_goes_on_from_it(run: Command) -> None:
    run("train", "model.t", *DATA, "--epochs", "1", "-o", "a.npz")
    run("train", "model.t", *DATA, "--epochs", "1", "--weights", "a.npz", "-o", "b.npz")
    build = tabla.compile("model.t", pes=1, effort=0)
    with np.load("a.npz") as archive:
        arrays = {key: archive[key] for key in archive.files}
    trained = build.train("data.npz", epochs=1, weights=arrays)
    assert NAME not in trained.models and recipe("b.npz")["format"] == "q6.10"
    with np.load("b.npz") as archive:
        assert all(np.array_equal(archive[name], array) for name, array in trained.stored().items())
    assert build.test("data.npz", weights=arrays).format == "q6.10"


def test_a_board_takes_the_file_as_it_is(run: Command) -> None:
    run("train", "model.t", *DATA, "--epochs", "1", "-o", "a.npz")
    run("gen", "model.t", "--pes", "1", "--effort", "0", "-q", "-o", "built")
    from tabla.host.runtime import connect

    with np.load("a.npz") as archive, connect("built", "model") as board:
        models = {key: archive[key] for key in archive.files}
        board.load(models)
        assert np.array_equal(board.models()["w"], models["w"])


def test_fields_of_later_versions_are_ignored() -> None:
    text = json.dumps({"schema": "tabla-recipe", "version": 7, "format": "q3.5", "places": {"w": 3}})
    assert recipe_in({NAME: np.array(text)}, "it") == ModelRecipe(format="q3.5")
    assert recipe_in({"w": np.zeros(3)}, "it") is None


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "3", '{"schema": "other", "format": "q3.5"}', '{"schema": "tabla-recipe"}', "[" * 100_000,
        '{"schema": "tabla-recipe", "format": "auto"}', '{"schema": "tabla-recipe", "format": 3}',
        '{"schema": "tabla-recipe", "format": "q3.5", "model_guard": -1}',
    ],
)  # fmt: skip
def test_what_is_no_recipe_is_refused(text: str) -> None:
    with pytest.raises(TablaError, match=r"the array 'tabla\.recipe' of 'm\.npz' is no recipe"):
        recipe_in({NAME: np.array(text)}, "'m.npz'")


def test_a_file_of_models_predicts_by_itself(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """The program, its constants, the format and the classes come from the file; the program's own file is gone."""
    run("train", "model.t", *DATA, "-D", "mu=0.25", "--format", "q4.6", "-o", "a.npz")
    with_file, _ = told(capsys, "predict", "model.t", "--weights", "a.npz", "--data", "inputs.npz", "-o", "one.csv")
    Path("model.t").unlink()
    alone, _ = told(capsys, "predict", "a.npz", "--data", "inputs.npz", "-o", "two.csv")
    assert alone == with_file and alone.startswith("40 samples predicted, q4.6")
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert told(capsys, "test", "a.npz", "--data", "data.npz")[0].startswith("model: 40 samples, none learnt from")


def test_a_changed_program_is_named(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "-o", "a.npz")
    assert "has changed" not in told(capsys, "predict", "model.t", "--weights", "a.npz", "--data", "inputs.npz")[1]
    Path("model.t").write_text(TEXT + "// another line\n")
    remarks = told(capsys, "predict", "model.t", "--weights", "a.npz", "--data", "inputs.npz")[1]
    assert "warning: 'model.t' has changed since the models of 'a.npz' were learnt\n" in remarks


def test_what_a_file_of_models_cannot_do(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "-o", "a.npz")
    np.savez("bare.npz", w=np.zeros(4))
    cases = {
        ("predict", "bare.npz", "--data", "inputs.npz"): "'bare.npz' does not keep the program of its models",
        ("predict", "a.npz", "--weights", "a.npz", "--data", "inputs.npz"): "the models are named twice",
        ("predict", "a.npz", "--data", "inputs.npz", "-o", "a.npz"): "the command reads this file",
        ("show", "inputs.t"): "neither .npz nor .csv",
    }
    for words, message in cases.items():
        assert main(words) == 1
        assert message in capsys.readouterr().err, words


def test_other_constants_than_those_of_learning_are_told(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "-D", "mu=0.25", "-o", "a.npz")
    words = ("--data", "inputs.npz", "-D")
    assert main(("predict", "a.npz", *words, "mu=0.5")) == 1
    said = capsys.readouterr().err
    assert "error: -D mu=0.5 changes the program that 'a.npz' keeps, which has learnt with -D mu=0.25\n" in said
    assert main(("predict", "a.npz", *words, "m=4")) == 1
    assert "-D m=4 changes the program that 'a.npz' keeps, which has learnt without it" in capsys.readouterr().err
    assert told(capsys, "predict", "a.npz", *words, "mu=0.25")[1].count("note:") == 0
    remarks = told(capsys, "predict", "model.t", "--weights", "a.npz", *words, "mu=0.5")[1]
    assert "note: the models of 'a.npz' were learnt with -D mu=0.25, and are used with -D mu=0.5\n" in remarks


@pytest.mark.parametrize("use", ["predict", "test"])
@pytest.mark.parametrize(
    "words", [("--learning-rate", "0.5"), ("--minibatch", "4"), ("--model-guard", "2"), ("--runtime-rate",)]
)
def test_options_of_learning_have_no_effect(
    run: Command, capsys: pytest.CaptureFixture[str], use: str, words: tuple[str, ...]
) -> None:
    run("train", "model.t", *DATA, "-o", "a.npz")
    plain = told(capsys, use, "a.npz", "--data", "data.npz")
    asked = told(capsys, use, "a.npz", "--data", "data.npz", *words)
    assert asked[0] == plain[0] and "no effect" not in plain[1]
    assert f"note: {' '.join(words)} has no effect: nothing learns here\n" in asked[1]


def test_show_says_how_models_were_learnt(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "--standardise", "--epochs", "3", "--learning-rate", "0.25", "-o", "a.npz")
    lines = dict(line.split(maxsplit=1) for line in told(capsys, "show", "a.npz")[0].splitlines() if line[0] != " ")
    assert lines["models"] == "w[4]" and lines["format"] == "q6.10" and lines["epochs"] == "3"
    assert lines["program"].startswith("model -D mu=0.25, SHA-256 ") and lines["standardised"] == "x"
    np.savez("bare.npz", w=np.zeros(4))
    assert "not told" in told(capsys, "show", "bare.npz")[0]


def test_the_metric_of_the_training_is_that_of_the_test(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, "--epochs", "1", "--metric", "mae", "-o", "a.npz")
    out, remarks = told(capsys, "test", "model.t", "--weights", "a.npz", *DATA)
    assert "mae" in out and "accuracy" not in out and "metric" not in remarks
    out, remarks = told(capsys, "test", "model.t", "--weights", "a.npz", *DATA, "--metric", "accuracy")
    assert "accuracy" in out
    assert "note: the models were learnt with the metric mae, and are scored by accuracy\n" in remarks


def test_a_constant_of_the_program_may_not_be_another_one(run: Command) -> None:
    """The text in the file has its constants; others would be another program."""
    Path("sized.t").write_text(TEXT.replace("m = 4;", "m = $m;"))
    run("train", "sized.t", "-D", "m=4", *DATA, "--epochs", "1", "-o", "a.npz")
    assert "accuracy" in run("test", "a.npz", *DATA, "-D", "m=4")
    said = run("test", "a.npz", *DATA, "-D", "m=3", status=1)
    assert "-D m=3 changes the program that 'a.npz' keeps, which has learnt with -D m=4" in said and "hint:" in said


def test_a_training_predicts(run: Command) -> None:
    """In the units of the data, and with the names of the classes."""
    x = np.random.default_rng(1).normal(5, 3, (30, 4))
    data = {"x": x, "y": np.where(x.sum(axis=1) > 20, "high", "low")}
    build = tabla.compile("model.t", pes=1, effort=0)
    training = build.train(data, classes=["y"], standardise=True, epochs=2)
    found = training.predict({"x": x})
    expected = build.predict({"x": x}, weights=training.stored())
    assert set(found) == {"h", "y"} and set(found["y"]) <= {"high", "low"}
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


LEARNT = ("--epochs", "2", "--format", "q4.6", "--minibatch", "2", "--learning-rate", "0.25", "--model-guard", "2")
SPLIT = ("--data", "data.npz", "--split", "0.2,0.2", "--epochs", "1")
GIVEN = ("--minibatch", "2", "--learning-rate", "0.25")


def test_formats_are_compared_by_a_models_file_alone(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """The program, its learning rate, its minibatch and the first models are those of the file."""
    run("train", "model.t", *DATA, *LEARNT, "-o", "a.npz")
    words = ("--widths", "10", "--guards", "0")
    alone, remarks = told(capsys, "formats", "a.npz", *SPLIT, *words)
    assert remarks == ""
    assert alone == told(capsys, "formats", "model.t", "--weights", "a.npz", *GIVEN, *SPLIT, *words)[0]
    fresh = told(capsys, "formats", "model.t", *GIVEN, *SPLIT, *words)[0]
    assert fresh == told(capsys, "formats", "a.npz", "--seed", "0", *SPLIT, *words)[0] != alone
    remarks = told(capsys, "formats", "a.npz", "--minibatch", "4", *SPLIT, *words)[1]
    assert (
        remarks == "note: the models of 'a.npz' were learnt with --minibatch 2, and are compared with --minibatch 4\n"
    )


def test_formats_are_compared_by_the_value_and_the_metric_of_the_first_models(
    run: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """`h` alone would be compared with the label; `e` is what was asked for when the models were learnt."""
    run("train", "model.t", *DATA, "--epochs", "1", "--predict", "e", "--metric", "r2", "-o", "a.npz")
    words = (*SPLIT, "--widths", "10", "--guards", "0", "--weights", "a.npz")
    kept = told(capsys, "formats", "model.t", *words)[0]
    assert "validation r2 in points" in kept
    assert kept == told(capsys, "formats", "model.t", *words, "--predict", "e", "--metric", "r2")[0]
    assert kept != told(capsys, "formats", "model.t", *words, "--predict", "h", "--metric", "r2")[0]
    run("train", "model.t", *DATA, "--epochs", "1", "--metric", "mae", "-o", "b.npz")
    assert "validation accuracy" in told(capsys, "formats", "b.npz", *words[:-2])[0]


def test_arrays_are_compared_by_a_models_file_alone(run: Command) -> None:
    """With the format of the models, which have the guard bits; the commands that it prints make these arrays."""
    run("train", "model.t", *DATA, *LEARNT, "-o", "a.npz")

    def points(*words: str) -> list[dict[str, Any]]:
        run("explore", *words, "--pes", "1,2", "--workers", "1", "--json", "out.json")
        found: list[dict[str, Any]] = json.loads(Path("out.json").read_text())["points"]
        return found

    alone = points("a.npz", *SPLIT)
    named = points("model.t", "--format", "q4.6", "--model-guard", "2", "--weights", "a.npz", *GIVEN, *SPLIT)
    assert {each["format"] for each in alone} == {"q4.6"} and {each["minibatch"] for each in alone} == {2}
    assert [each["metric"] for each in alone] == [each["metric"] for each in named]
    for each in alone:
        words = each["command"].split()
        assert words[:3] == ["tabla", "gen", "a.npz"]
        run(*words[1:], "--json", "gen.json", "-o", "b")
        assert json.loads(Path("gen.json").read_text())["cycles"] == each["cycles"]


@pytest.mark.parametrize("infer", [(), ("--infer",)])
def test_a_models_file_is_built(run: Command, infer: tuple[str, ...]) -> None:
    run("train", "model.t", *DATA, *LEARNT, "-o", "a.npz")
    weights = ("--weights", "a.npz") if infer else ("--format", "q4.6", "--model-guard", "2", *GIVEN)
    run("gen", "a.npz", *infer, "--pes", "1", "-o", "alone")
    run("gen", "model.t", *infer, *weights, "--pes", "1", "-o", "named")
    assert Path("alone/model.v").read_bytes() == Path("named/model.v").read_bytes()


def test_learning_goes_on_from_a_models_file(run: Command, capsys: pytest.CaptureFixture[str]) -> None:
    run("train", "model.t", *DATA, *LEARNT, "-o", "a.npz")
    run("train", "a.npz", *DATA, "--epochs", "1", "-o", "alone.npz")
    asked = ("--format", "q4.6", "--model-guard", "2", *GIVEN, "--weights", "a.npz")
    run("train", "model.t", *DATA, *asked, "--epochs", "1", "-o", "named.npz")
    with np.load("alone.npz") as alone, np.load("named.npz") as named:
        assert sorted(alone) == sorted(named)
        assert all(np.array_equal(alone[name], named[name]) for name in alone)
    said = run("train", "a.npz", *DATA, "-D", "m=9", status=1)
    assert "-D m=9 changes the program that 'a.npz' keeps" in said
    remarks = told(capsys, "train", "a.npz", *DATA, "-D", "mu=0.5", "--epochs", "1")[1]
    assert "learnt with --learning-rate 0.25, and are trained with --learning-rate 0.5\n" in remarks
    np.savez("bare.npz", w=np.zeros(4))
    assert "'bare.npz' does not keep the program of its models" in run("train", "bare.npz", *DATA, status=1)


TILE = """from tabla.tile import *


def layer(x, W, b, y):
    i, j = TensorIndexes(2)
    z = TensorOutput(3)
    z[i] += W[i, j] * x[j]
    h = sigmoid(z + b)
    e = h - y
    loss = TensorOutput()
    loss[()] += e[i] * e[i]
    dW, db = gradient(loss, [W, b])
    update(W, dW, 0.125)
    update(b, db, 0.125)
"""


def several() -> None:
    """Write data with a label of three elements, which are 0 or 1."""
    chance = np.random.default_rng(7)
    x = chance.normal(size=(40, 4))
    np.savez("data.npz", x=x, y=(x @ chance.normal(size=(4, 3)) > 0).astype(float))
    np.savez("new.npz", x=x[:6])


@pytest.mark.parametrize(
    "kind", [pytest.param("tile", marks=pytest.mark.slow), "onnx", pytest.param("kernel", marks=pytest.mark.slow)]
)
def test_a_models_file_holds_every_notation(run: Command, kind: str) -> None:
    """A program that is no text of TABLA is kept as its graph, so nothing of Python is run again."""
    several()
    match kind:
        case "tile":
            Path("layer.py").write_text(TILE)
            program = ("layer.py:layer", *(f"--shape={each}" for each in ("x=4", "W=3,4", "b=3", "y=3")))
        case "onnx":
            Path("net.onnx").write_bytes(network())
            program = ("net.onnx", "--loss", "mse", "--learning-rate", "0.125")
            with np.load("data.npz") as data:
                np.savez("data.npz", x=data["x"], label=data["y"])
        case _:
            Path("model.kernel").write_text(run("gen", "model.t", "--emit", "kernel"))
            with np.load("data.npz") as data:
                np.savez("data.npz", x=data["x"], y=data["y"][:, 0])
            program = ("model.kernel",)
    array = ("--pes", "2", "--effort", "0")
    form = ("--format", "q4.8", "--saturate", "--model-guard", "2")
    run("train", *program, "--data", "data.npz", *array, *form, "--epochs", "2", "-o", "a.npz")
    given = [word for word in program if not word.startswith("--learning")]
    run("predict", *given[: 5 if kind == "tile" else 1], "--weights", "a.npz", "--data", "new.npz", "-o", "named.csv")
    for name in ("layer.py", "net.onnx", "model.kernel", "model.t"):
        Path(name).unlink(missing_ok=True)  # the program is in the file of the models
    run("predict", "a.npz", "--data", "new.npz", "-o", "alone.csv")
    assert Path("alone.csv").read_bytes() == Path("named.csv").read_bytes()
    header = Path("alone.csv").read_text().splitlines()[0].split(",")
    assert len(header) == (2 if kind == "kernel" else 6)
    assert "mse" in run("test", "a.npz", "--data", "data.npz", "--metric", "mse")
    assert "the text is in the file" in run("show", "a.npz")
    run("gen", "a.npz", "--infer", *array, "-o", "predicts")
    run("gen", "a.npz", *array, "-o", "learns")
    run("train", "a.npz", "--data", "data.npz", *array, "--epochs", "1", "--minibatch", "4", "-o", "b.npz")
    if kind != "kernel":
        said = run("formats", "a.npz", "--data", "data.npz", "--split", "0.2,0.2", status=1)
        assert "'a.npz' keeps its program as a graph in q4.8, which is for no other format" in said
    with np.load("b.npz") as after, np.load("a.npz") as before:
        assert any((after[name] != before[name]).any() for name in before if not name.startswith("tabla."))


def network() -> bytes:
    nodes = [node("Gemm", "x w b", "z", transB=1), node("Sigmoid", "z", "h")]
    case = Case(nodes=nodes, shapes={"x": (4,)}, arrays={"w": drawn(3, 4), "b": drawn(3)}, outputs=("h",))
    content: bytes = case.proto().SerializeToString()
    return content
