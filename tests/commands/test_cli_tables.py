"""Data as people have it: tables with named columns, classes by name, standardising, and pairs in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.learn.data.split import split_of

PROGRAM = """m = 3; classes = 3; mu = 0.125;
model_input x[m]; model_output y[classes]; model w[classes][m], b[classes];
gradient g[classes][m] -> w, gb[classes] -> b;
iterator i[0:m]; iterator k[0:classes];
h[k] = sigmoid(sum[i](w[k][i] * x[i]) + b[k]);
e[k] = h[k] - y[k];
g[k][i] = e[k] * x[i];
gb[k] = e[k];
"""
SCALAR = """m = 3; mu = 0.25;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
LINEAR = SCALAR.replace("sigmoid(sum[i](w[i] * x[i]))", "sum[i](w[i] * x[i])").replace("0.25", "0.0625")
MARGIN = """model_input x[3]; model_output y; model w[3]; gradient g[3] -> w; iterator i[0:3];
h = sum[i](w[i] * x[i]);
d = (y * h < 1) * y;
g[i] = -d * x[i];
"""
COUNT = 60
NAMES = ["bee", "cat", "ant"]
SPLIT = ("--split", "0.2,0.1", "--split-seed", "2")
TRAIN = ("train", "model.t", "--engine", "model", "-q", "--epochs", "3")
TABLE = ("--data", "d.csv", "--columns", "x=length,width (cm),height", "y=kind", "--classes", "y")
Run = Callable[..., str]


def numbers() -> tuple[np.ndarray, np.ndarray]:
    """The measurements, as large as people measure, and the number of the kind of each sample."""
    chance = np.random.default_rng(8)
    kind = chance.integers(0, 3, COUNT)
    x = np.round(100 + 40 * np.eye(3)[kind] + chance.normal(0, 12, (COUNT, 3)), 2)
    return x, kind


def parts() -> Any:
    split = split_of("0.2,0.1", 2)
    assert split is not None
    return split.indices(COUNT)


def standard() -> np.ndarray:
    """The measurements, standardised by the training part."""
    x, rows = numbers()[0], parts().training
    return (x - x[rows].mean(axis=0)) / x[rows].std(axis=0)


def one_hot() -> np.ndarray:
    # In sorted order the kinds are ant, bee and cat.
    return np.eye(3)[[{"ant": 0, "bee": 1, "cat": 2}[NAMES[k]] for k in numbers()[1]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with programs and a table and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("model", PROGRAM), ("scalar", SCALAR), ("linear", LINEAR), ("margin", MARGIN)):
        Path(f"{name}.t").write_text(text)
    x, kind = numbers()
    rows = [f"{a},{b},7,{c},{NAMES[k]},{k},{a + b}" for (a, b, c), k in zip(x, kind, strict=True)]
    Path("d.csv").write_text("\n".join(["length,width (cm),unused,height,kind,number,size", *rows]) + "\n")
    np.savez("d.npz", x=standard(), y=one_hot())
    return command


def record_of(run: Run, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json", "-"))
    return found


def loaded(path: str) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def test_a_table_is_what_its_arrays_are(run: Run) -> None:
    """Standardising by the training part and one-hot labels in sorted order, made here by numpy, give the same run."""
    table = record_of(run, *TRAIN, *TABLE, *SPLIT, "--standardise", "-o", "table.npz")
    arrays = record_of(run, *TRAIN, "--data", "d.npz", *SPLIT, "-o", "arrays.npz")
    assert table.pop("classes") == ["ant", "bee", "cat"] and arrays.pop("classes") == ["0", "1", "2"]
    assert table == arrays
    found, plain = loaded("table.npz"), loaded("arrays.npz")
    assert plain.keys() == {"w", "b", "tabla.recipe"}
    beside = {"x.mean", "x.deviation", "y.classes", "x.columns", "y.columns"}
    assert found.keys() == {"w", "b", *beside, "tabla.recipe"}
    assert np.array_equal(found["w"], plain["w"]) and np.array_equal(found["b"], plain["b"])
    rows = numbers()[0][parts().training]
    assert np.array_equal(found["x.mean"], rows.mean(axis=0)) and np.array_equal(found["x.deviation"], rows.std(axis=0))
    assert found["x.columns"].tolist() == ["length", "width (cm)", "height"]
    said = run(*TRAIN, *TABLE, *SPLIT, "--standardise")
    assert [line.split()[0] for line in said.splitlines() if line.startswith("  ")][-3:] == ["ant", "bee", "cat"]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters(run: Run, delimiter: str) -> None:
    words = (*TRAIN, *TABLE, "--standardise", "-o")
    run(*words, "first.npz")
    Path("d.csv").write_text(
        Path("d.csv").read_text().replace(",", delimiter).replace(".", "," if delimiter == ";" else ".")
    )
    run(*words, "second.npz")
    assert Path("first.npz").read_bytes() == Path("second.npz").read_bytes()


def test_the_next_command_uses_what_lies_beside_the_models(run: Run) -> None:
    run(*TRAIN, *TABLE, *SPLIT, "--standardise", "-o", "w.npz")
    data, test = loaded("d.npz"), parts().test
    np.savez("t.npz", x=data["x"][test], y=data["y"][test])
    lines = Path("d.csv").read_text().splitlines()
    Path("t.csv").write_text("\n".join([lines[0], *(lines[1 + k] for k in test)]) + "\n")
    run(*TRAIN, "--data", "d.npz", *SPLIT, "-o", "plain.npz")
    # test: columns, classes and the scale are those of the models
    table = record_of(run, "test", "model.t", "--weights", "w.npz", "--data", "t.csv")
    arrays = record_of(run, "test", "model.t", "--weights", "plain.npz", "--data", "t.npz")
    assert table.pop("classes") == ["ant", "bee", "cat"] and arrays.pop("classes")
    assert table == arrays
    # eval and sim: the same results as of the standardised arrays
    for command in (("eval",), ("sim", "--engine", "model")):
        run(*command, "model.t", "--inputs", "t.csv", "--weights", "w.npz", "--result", "h", "-o", "a.npz", "-q")
        run(*command, "model.t", "--inputs", "t.npz", "--weights", "plain.npz", "--result", "h", "-o", "b.npz", "-q")
        assert np.array_equal(loaded("a.npz")["h"], loaded("b.npz")["h"])
    # train: it starts from the models, and does not fit anew to data of another mean
    Path("t.csv").write_text("\n".join([lines[0], *lines[1:20]]) + "\n")
    run(*TRAIN, "--data", "t.csv", "--weights", "w.npz", "--standardise", "-o", "more.npz")
    more, before = loaded("more.npz"), loaded("w.npz")
    assert more.keys() == before.keys() and not np.array_equal(more["w"], before["w"])
    kept = [name for name in before if "." in name and not name.startswith("tabla.")]
    assert {"x.mean", "y.classes"} <= set(kept)
    assert all(np.array_equal(more[name], before[name]) for name in kept)


def test_classes_of_integers_and_of_a_scalar(run: Run) -> None:
    words = (
        "--data",
        "d.csv",
        "--columns",
        "x=length,width (cm),height",
        "y=number",
        "--classes",
        "y",
        "--standardise",
    )
    found = record_of(run, *TRAIN, *words, "-o", "w.npz")
    assert found["classes"] == ["0", "1", "2"] == loaded("w.npz")["y.classes"].tolist()
    x, kind = numbers()
    two = kind < 2
    np.savez("two.npz", x=(x / 100 - 1)[two], y=np.array(["off", "on"])[kind[two]])
    np.savez("coded.npz", x=(x / 100 - 1)[two], y=kind[two])
    scalar = ("train", "scalar.t", "--engine", "model", "--epochs", "2", "--data")
    named = record_of(run, *scalar, "two.npz", "--classes", "y", "-o", "named.npz")
    coded = record_of(run, *scalar, "coded.npz", "-o", "coded_w.npz")
    assert named.pop("classes") == ["off", "on"] and coded.pop("classes") == ["0", "1"]
    assert named == coded and np.array_equal(loaded("named.npz")["w"], loaded("coded_w.npz")["w"])


def test_labels_are_standardised_if_asked(run: Run) -> None:
    words = (
        "train",
        "linear.t",
        "--data",
        "d.csv",
        "--columns",
        "x=length,width (cm),height",
        "y=size",
        "--engine",
        "model",
    )
    assert "label 'y' holds" in run(*words, "--standardise", status=1)
    found = record_of(run, *words, "--standardise", "--standardise-labels", "--metric", "r2", *SPLIT)
    assert found["float64"][-1]["test_metric"] > 0.8
    assert found["float64"][0]["loss"] == pytest.approx(1), "labels of deviation 1, and models of 0"


def test_shuffling_permutes_the_training_part_after_the_split(run: Run) -> None:
    shuffled = record_of(run, *TRAIN, "--data", "d.npz", *SPLIT, "--shuffle", "5", "-o", "shuffled.npz")
    plain = record_of(run, *TRAIN, "--data", "d.npz", *SPLIT, "-o", "plain.npz")
    assert shuffled["accelerator"][0] == pytest.approx(plain["accelerator"][0])
    assert not np.array_equal(loaded("shuffled.npz")["w"], loaded("plain.npz")["w"])
    data, rows = loaded("d.npz"), parts().training
    order = rows[np.random.default_rng(5).permutation(len(rows))]
    np.savez("order.npz", x=data["x"][order], y=data["y"][order])
    run(*TRAIN, "--data", "order.npz", "-o", "ordered.npz")
    assert np.array_equal(loaded("shuffled.npz")["w"], loaded("ordered.npz")["w"])


@pytest.mark.parametrize("what", ["numbers", "labels"])
def test_nothing_is_fitted_to_the_held_out_parts(run: Run, what: str) -> None:
    words = (*TRAIN, *TABLE, *SPLIT, "--standardise", "--shuffle", "1", "--patience", "2", "--format", "q12.10", "-o")
    run(*words, "before.npz")
    lines = Path("d.csv").read_text().splitlines()
    for k in parts().test:
        cells = lines[1 + k].split(",")
        cells[:3] = ["-900", "800", "3"] if what == "numbers" else cells[:3]
        cells[4] = "ant" if what == "labels" else cells[4]
        lines[1 + k] = ",".join(cells)
    Path("d.csv").write_text("\n".join(lines) + "\n")
    run(*words, "after.npz")
    assert Path("before.npz").read_bytes() == Path("after.npz").read_bytes()


def test_pairs_and_data_frames_in_python(run: Run) -> None:
    run(*TRAIN, *TABLE, *SPLIT, "--standardise", "-o", "w.npz")
    expected, (x, kind) = loaded("w.npz"), numbers()
    y, build = np.array(NAMES)[kind], tabla.compile("model.t")
    wanted: dict[str, Any] = {"classes": "y", "standardise": True, "split": (0.2, 0.1), "split_seed": 2, "epochs": 3}
    for data in ((x, y), (x.tolist(), y.tolist()), {"x": x, "y": y}):
        found = build.train(data, engine="model", **wanted)
        assert np.array_equal(found.models["w"], expected["w"])
        tested = build.test((x[parts().test], y[parts().test]), weights=found.models)
        assert tested.accelerator == found.score.test and tested.metric.classes is not None
        assert tested.metric.classes.names() == ("ant", "bee", "cat")
    h = build.evaluate((x, y), weights=found.models, float64=True)
    assert np.array_equal(h["w"], build.evaluate("d.csv", weights=expected, float64=True)["w"])
    pandas = pytest.importorskip("pandas", reason="pandas is not installed, and nothing needs it")
    frame = pandas.read_csv("d.csv")
    found = build.train(frame, engine="model", columns={"x": ["length", "width (cm)", "height"], "y": "kind"}, **wanted)
    assert found.stored().keys() == expected.keys()
    assert all(np.array_equal(array, expected[name]) for name, array in found.stored().items())
    pair = build.train((frame[["length", "width (cm)", "height"]], frame["kind"]), engine="model", **wanted)
    assert np.array_equal(pair.models["w"], expected["w"])
    assert build.test(frame, weights=found.models).accelerator == build.test("d.csv", weights="w.npz").accelerator


@pytest.mark.parametrize(
    ("words", "message", "cure"),
    [
        (("--columns", "x=length,width,height", "y=kind"), "has no column 'width'", "width (cm)"),
        (("--columns", "x=length", "y=kind", "--classes", "y"), "'x' takes 1 of the columns", "name 3 columns"),
        (
            ("--columns", "x=length,height,unused", "y=kind"),
            "row 2, column 'kind': 'ant' is not a number",
            "--classes y",
        ),
        (("--columns", "z=length"), "the program has no input or label 'z'", "it has x, y"),
        (("--columns", "x=length", "x=height"), "names 'x' twice", "once"),
        (("--classes", "x"), "--classes: the program has no label 'x'", "its labels are y"),
        (
            ("--columns", "x=length,height,kind", "y=kind", "--classes", "y"),
            "are 5 numbers with their categories (kind 3)",
            "'x[5]'",
        ),
        ((), "column 'width (cm)' is not a name of a program", "--columns x=sepal,petal y=species"),
        (
            ("--columns", "x=length,width (cm),height", "y=unused", "--classes", "y"),
            "has 1 class of 'y' (7)",
            "every",
        ),
        (
            ("--columns", "x=length,width (cm),height", "y=size", "--classes", "y"),
            "but the program declares 'y[3]'",
            "declare",
        ),
        (
            (*TABLE[2:], "--standardise", "--test", "other.csv"),
            "row 3 of 'other.csv' has the class 'dog'",
            "ant, bee",
        ),
        ((*TABLE[2:], "--standardise", "--split", "0.97"), "but the program declares 'y[3]'", "--split-seed"),
    ],
)
def test_faults_of_tables(run: Run, words: tuple[str, ...], message: str, cure: str) -> None:
    header, first, second = Path("d.csv").read_text().splitlines()[:3]
    Path("other.csv").write_text("\n".join([header, first, second.replace(second.split(",")[4], "dog")]) + "\n")
    said = run(*TRAIN, "--data", "d.csv", *words, "-o", "w.npz", status=1)
    assert said.startswith("error: ") and message in said and cure in said.partition("hint: ")[2], said
    assert not Path("w.npz").exists()


def test_a_value_out_of_range_is_named_by_its_row(run: Run) -> None:
    """The row is that of the user's file, in every part of a split and after shuffling."""
    lines = Path("d.csv").read_text().splitlines()
    words = ("--columns", "x=length,width (cm),height", "y=kind", "--classes", "y", *SPLIT, "--shuffle", "1")
    for row in (parts().training[20], parts().validation[2], parts().test[5]):
        cells = lines[row + 1].split(",")
        changed = [*lines[: row + 1], ",".join(["-999999", *cells[1:]]), *lines[row + 2 :]]
        Path("far.csv").write_text("\n".join(changed) + "\n")
        said = run(*TRAIN, "--data", "far.csv", *words, "--format", "q12.10", status=1)
        assert (
            f"input 'x' holds -999999 in row {row + 2} of 'far.csv', column 'length', outside the range of q12.10"
            in said
        )
        assert changed[row + 1].startswith("-999999"), "the header is row 1"


def test_faults_of_arrays_and_margins(run: Run) -> None:
    x, kind = numbers()
    np.savez("coded.npz", x=x / 100, y=kind)
    said = run(*TRAIN, "--data", "coded.npz", status=1)
    assert "'y' has shape (60,) in the data, but the program declares 'y[3]'" in said and "add --classes y" in said
    assert "is no table" in run(*TRAIN, "--data", "coded.npz", "--columns", "x=a", status=1)
    signs = ("train", "margin.t", "--data", "coded.npz", "--classes", "y", "--engine", "model")
    np.savez("coded.npz", x=x / 100, y=kind > 0)
    assert "makes them 0 and 1" in run(*signs, status=1)
    np.savez("w.npz", w=np.zeros(3))
    assert "makes them 0 and 1" in run("test", *signs[1:], "--weights", "w.npz", status=1)
    assert "argument --columns: 'x' is not NAME=COLUMN" in run(*TRAIN, "--data", "d.csv", "--columns", "x", status=2)
    build = tabla.compile("model.t")
    for data, message in (
        ((x, kind, x), "a tuple of 3 arrays is not"),
        ((x[:5], kind), "'y' has 60 samples and 'x' has 5|'x' has 5 samples and 'y' has 60"),
    ):
        with pytest.raises(tabla.TablaError, match=message):
            build.train(data, classes="y", engine="model")  # type: ignore[arg-type]
    Path("two.t").write_text(PROGRAM.replace("model_input x[m];", "model_input x[m]; model_input z;"))
    with pytest.raises(ValueError, match="programs with one input and one label"):
        tabla.compile("two.t").train((x, kind), engine="model")
