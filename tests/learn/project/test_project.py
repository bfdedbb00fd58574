"""New projects: what is read from a table, the program that fits it, and that its line says what the gradient is."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.driver import build
from tabla.learn.project.facts import facts_of
from tabla.learn.project.programs import Model, Outline, program_text
from tabla.learn.project.project import Project, new_project

New = Callable[..., Project]


def table(names: str, *columns: Any) -> str:
    return "\n".join([names, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n"


CHANCE = np.random.default_rng(7)
A, B = CHANCE.normal(size=(2, 60)).round(3)
KINDS = np.where(A > 0.3, "red", np.where(B > 0, "green", "blue"))


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> New:
    """Return a function that makes a project of the text of a table."""
    monkeypatch.chdir(tmp_path)

    def made(text: str, label: str | None = None, model: str | None = None, name: str = "made") -> Project:
        Path("d.csv").write_text(text)
        return new_project(Path(name), Path("d.csv"), label, None if model is None else Model.read(model), build)

    return made


@pytest.mark.parametrize(
    ("label", "values", "about"),
    [
        ("price", A + 2 * B, "linear regression: it learns 'price' from 2 columns"),
        ("kind", KINDS, "softmax regression: it learns 'kind' (blue, green, red) from 2 columns"),
        ("kind", A > 0, "logistic regression: it learns 'kind' (False, True) from 2 columns"),
        ("kind", (A > 0).astype(int), "logistic regression: it learns 'kind' (0, 1) from 2 columns"),
        ("stars", np.arange(60) % 5 + 1, "softmax regression: it learns 'stars' (1, 2, 3, 4, 5) from 2 columns"),
        ("count", np.arange(60) % 30 + 1, "linear regression: it learns 'count' from 2 columns"),
    ],
)
def test_the_label_says_which_model_fits(new: New, label: str, values: Any, about: str) -> None:
    made = new(table(f"a,b,{label}", A, B, values), label)
    assert made.about == about
    assert set(made.files) == {"made.t", "tabla.toml", "README.md"}


def test_a_table_without_a_label_is_learnt_itself(new: New) -> None:
    made = new(table("a,b,kind", A, B, KINDS))
    assert made.about.startswith("an autoencoder with a hidden layer of 2")
    assert "m = 5;" in made.files["made.t"] and "n = 2;" in made.files["made.t"]
    assert 'y = ["a", "b", "kind"]' in made.files["tabla.toml"]


def test_columns_that_no_model_reads_are_left_out(new: New) -> None:
    names = [f"Name {k}" for k in range(60)]
    days = [f"2024-01-{k % 28 + 1:02d}" for k in range(60)]
    mixed = [k if k % 3 == 0 else f"t{k % 4}" for k in range(60)]
    text = table(
        "id,same,name,day,none,code,a,label",
        range(1, 61), ["x"] * 60, names, days, [""] * 60, mixed, A, B,
    )  # fmt: skip
    made = new(text, "label")
    assert {each.column: each.reason for each in made.left_out} == {
        "id": "it counts the rows",
        "same": "it is 'x' in all rows",
        "name": "it has 60 different texts in 60 rows",
        "day": "'2024-01-01' is a date, and no number",
        "none": "all its values are missing",
        "code": "it has texts among its numbers, such as 't1'",
    }
    assert 'x = ["a"]' in made.files["tabla.toml"]
    assert '# "name" is left out: it has 60 different texts in 60 rows.' in made.files["tabla.toml"]


def test_gaps_a_missing_header_and_rare_classes_are_provided_for(new: New) -> None:
    holes = ["" if k % 7 == 0 else value for k, value in enumerate(A)]
    rare = ["rare" if k == 0 else kind for k, kind in enumerate(KINDS)]
    made = new(table("a,b,kind", holes, B, rare), "kind")
    assert 'missing = "mean"' in made.files["tabla.toml"]
    assert "split_seed = " not in made.files["tabla.toml"] or "every class" in made.files["tabla.toml"]
    bare = new(table("a,b,c", A, B, A + B).partition("\n")[2], "c2")
    assert "no_header = true" in bare.files["tabla.toml"] and bare.columns == ("c0", "c1", "c2")
    assert facts_of(Path("d.csv"), None).header is False


@pytest.mark.parametrize(
    ("text", "label", "model", "message", "cure"),
    [
        (table("a,b,kind", A, B, KINDS), "king", None, "has no column 'king'", "did you mean 'kind'?"),
        (table("a,b,kind", A, B, KINDS), "kind", "linear", "'kind' has 3 classes", "--model softmax"),
        (table("a,b,kind", A, B, KINDS), "kind", "logistic", "'kind' is 3 classes", "--model softmax"),
        (table("a,b", A, B), "b", "softmax", "'b' is a number", "--model linear"),
        (table("a,b", A, B), None, "linear", "predicts a label, and none is named", "--label"),
        (table("a,b", A, B), "b", "autoencoder", "an autoencoder has no label", "leave --label out"),
        (table("a,b", A, ["yes"] * 60), "b", None, "column 'b' is 'yes' in all rows", "another column"),
        (table("a,b", A, [f"n{k}" for k in range(60)]), "b", None, "60 different texts in 60 rows", "--label"),
        (
            table("a,b", A, ["1,5"] + ["2"] * 59).replace("1,5", '"1,5"'),
            "b",
            None,
            "'1,5' has a decimal comma",
            "point",
        ),
        (table("a,b", A[:3], B[:3]), "b", None, "has 3 rows", "larger table"),
        (table("id,b", range(60), B), "b", None, "no column that a model could read (id: it counts", "add columns"),
        (table("a,b", ["x", *A[1:]], B), "b", None, "row 2, column 'a': 'x' is not a number", "--categories"),
        (table("a,b", [f'"{k},000"' for k in range(1, 61)], B), "b", None, "'1,000' has a thousands", "write 1000"),
        (table("a,b", A, [f"2024-01-{k % 28 + 1:02d}" for k in range(60)]), "b", None, "is a date", "days since"),
    ],
)
def test_what_is_refused(new: New, text: str, label: str | None, model: str | None, message: str, cure: str) -> None:
    with pytest.raises(TablaError) as fault:
        new(text, label, model)
    assert message in fault.value.message
    assert fault.value.hint is not None and cure in fault.value.hint


@pytest.mark.parametrize("name", ["a b", "-x", "x.t", "é'"])
def test_names_that_no_project_has(new: New, name: str) -> None:
    with pytest.raises(TablaError, match="is no name of a project"):
        new(table("a,b", A, B), "b", name=name)


@pytest.mark.parametrize("text", ["forest", "linear:3", "network:0", "network:x", "network:5000"])
def test_models_that_there_are_not(text: str) -> None:
    with pytest.raises(TablaError, match=r"there is no model|is no size") as fault:
        Model.read(text)
    assert fault.value.hint is not None and "network:32" in fault.value.hint


HEADS = [
    ("linear", 0, False),
    ("linear", 3, False),
    ("logistic", 0, False),
    ("logistic", 3, False),
    ("softmax", 0, False),
    ("softmax", 3, False),
    ("linear", 2, True),
]


def loss(head: str, hidden: int, models: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray, *, tanh: bool) -> float:
    """Return the loss of a sample, as the comments of the program have it, computed apart from the program."""
    values = x
    if hidden:
        sums = models["w1"] @ x + models["b1"]
        values = np.tanh(sums) if tanh else np.maximum(sums, 0)
    w, b = (models["w2"], models["b2"]) if hidden else (models["w"], models["b"])
    z = w @ values + b
    if head == "softmax":
        return float(np.log(np.exp(z).sum()) - (y * z).sum())
    if head == "logistic":
        return float(math.log(1 + math.exp(z)) - y * z)
    return float(0.5 * np.square(z - y).sum())


@pytest.mark.parametrize(("head", "hidden", "autoencodes"), HEADS)
def test_the_gradient_is_that_of_the_loss(head: str, hidden: int, autoencodes: bool) -> None:
    """One step changes every model by -mu times the derivative, which differences of the loss give, too."""
    outline = Outline(
        title="t",
        data="d.csv",
        head=head,
        hidden=hidden,
        elements=("a", "b", "c"),
        label="y",
        classes={"logistic": ("n", "p"), "softmax": ("n", "p", "q")}.get(head, ()),
        learning_rate="0.25",
        autoencodes=autoencodes,
    )
    made = build(Source.from_text(program_text(outline), "t.t"), Options(pes=4, format="q8.24", effort=0))
    chance = np.random.default_rng(3)
    shapes = {tensor.name: tensor.shape for tensor in made.sample.tensors.values() if tensor.role == "model"}
    models = {name: chance.normal(size=shape) for name, shape in shapes.items()}
    x = chance.normal(size=3)
    y = x if autoencodes else np.eye(3)[1] if head == "softmax" else np.array(1.0)
    after = made.evaluate({"x": x[None], "y": y[None], **models}, float64=True)
    for name, before in models.items():
        for place in np.ndindex(before.shape):
            step = np.zeros(before.shape)
            step[place] = 1e-6
            ends = [loss(head, hidden, {**models, name: before + s * step}, x, y, tanh=autoencodes) for s in (1, -1)]
            slope = (ends[0] - ends[1]) / 2e-6
            assert (before - after[name])[place] / 0.25 == pytest.approx(slope, abs=1e-5), (name, place)
    assert all("//" in line for line in program_text(outline).splitlines() if line)
