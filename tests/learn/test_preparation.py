"""Standardising and classes: fitted to some samples, applied to all, kept beside the models."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tabla.base.arrays import write_npz
from tabla.base.origin import Origin
from tabla.base.source import TablaError
from tabla.graph.prediction import Prediction
from tabla.learn.data.classes import class_name
from tabla.learn.data.preparation import Preparation, fitted, separated

SHAPES = {"x": (2,), "y": (), "t": (3,)}


def fit(
    arrays: dict[str, object], rows: list[int], classes: tuple[str, ...] = (), standardise: str = ""
) -> Preparation:
    found = {name: np.asarray(array) for name, array in arrays.items()}
    return fitted(Preparation(), found, np.array(rows), SHAPES, classes=classes, standardise=tuple(standardise))


def test_standardising_looks_at_the_rows_alone() -> None:
    x = np.array([[1.0, 5.0], [3.0, 5.0], [100.0, -7.0]])
    made = fit({"x": x}, [0, 1], standardise="x")
    assert made.apply({"x": x}, SHAPES, Origin().place)["x"].tolist() == [[-1, 0], [1, 0], [98, -12]]
    single = made.apply({"x": x[1]}, SHAPES, Origin().place)["x"]
    assert single.tolist() == [1, 0]


def test_equal_numbers_are_only_moved() -> None:
    """0.1 three times has a standard deviation of 1e-17 in float64, by which nothing should be divided."""
    x = np.full((3, 2), 0.1)
    assert x.std(axis=0).any()
    found = fit({"x": x}, [0, 1, 2], standardise="x").apply({"x": x}, SHAPES, Origin().place)["x"]
    assert np.abs(found).max() < 1e-16


@pytest.mark.parametrize(
    ("labels", "names", "encoded"),
    [
        (["no", "yes", "no"], ("no", "yes"), [0, 1, 0]),
        ([7, 3, 7], ("3", "7"), [1, 0, 1]),
        ([10.0, 9.0, 9.0], ("9", "10"), [1, 0, 0]),
        (["10", "9.0", "+9"], ("9", "10"), [1, 0, 0]),
        (["b", "10", "b"], ("10", "b"), [1, 0, 1]),
        ([True, False, True], ("False", "True"), [1, 0, 1]),
    ],
)
def test_two_classes_of_a_scalar(labels: list[object], names: tuple[str, ...], encoded: list[int]) -> None:
    made = fit({"y": labels}, [0, 1, 2], classes=("y",))
    assert made.classes == {"y": names}
    found = made.apply({"y": np.asarray(labels)}, SHAPES, Origin().place)["y"]
    assert found.tolist() == encoded and found.dtype == np.float64


def test_rows_with_a_single_1() -> None:
    labels = np.array(["c", "a", "b", "a"])
    made = fit({"t": labels}, [0, 1, 2], classes=("t",))
    found = made.apply({"t": labels}, SHAPES, Origin().place)["t"]
    assert found.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert made.apply({"t": np.array("b")}, SHAPES, Origin().place)["t"].tolist() == [0, 1, 0]
    # Labels that have that shape already stay as they are.
    assert made.apply({"t": found}, SHAPES, Origin().place)["t"] is found


@pytest.mark.parametrize(
    ("name", "labels", "message", "cure"),
    [
        ("y", ["a", "b", "c"], "has 3 classes of 'y' (a, b, c), but the program declares 'y'", "declare 'y[3]'"),
        ("y", ["a", "a", "a"], "has 1 class of 'y' (a), but", "another --split-seed"),
        ("t", ["a", "b", "a"], "has 2 classes of 't' (a, b), but the program declares 't[3]'", "every class"),
        ("t", ["a", "", "b"], "a label is missing", "remove the sample"),
        ("t", [1.0, float("nan"), 2.0], "a label is missing", "remove the sample"),
        ("t", [None, "a", "b"], "a label is missing", "remove the sample"),
    ],
)
def test_classes_that_do_not_fit(name: str, labels: list[object], message: str, cure: str) -> None:
    with pytest.raises(TablaError) as fault:
        fit({name: np.array(labels, dtype=object)}, [0, 1, 2], classes=(name,))
    assert message in fault.value.message
    assert fault.value.hint is not None and cure in fault.value.hint


def test_an_unknown_class() -> None:
    made = fit({"y": ["a", "b", "c"]}, [0, 1], classes=("y",))
    with pytest.raises(TablaError, match="sample 3 has the class 'c', which the training part") as fault:
        made.apply({"y": np.array(["a", "b", "c"])}, SHAPES, Origin().place)
    assert fault.value.hint is not None and "the classes of 'y' are a, b;" in fault.value.hint
    assert "--split-seed" in fault.value.hint
    # Classes that were learnt, and lie beside the models, come before those of a finished model.
    model = Preparation(classes={"y": ("c", "d"), "t": ("e", "f", "g")}, finished=frozenset({"y", "t"}))
    assert made.before(model).finished == {"t"} and made.before(model).classes["y"] == ("a", "b")


def test_names_of_classes() -> None:
    texts = [" a ", "007", "-3.", "2.50", 4, np.float64(4), "1e3", "Größe"]
    assert [class_name(text) for text in texts] == ["a", "7", "-3", "2.50", "4", "4", "1e3", "Größe"]
    assert class_name("12345678901234567890") == "12345678901234567890"


def test_what_lies_beside_the_models_is_used_again() -> None:
    data = {"x": np.array([[1.0, 2.0], [3.0, 8.0]]), "t": np.array(["b", "a", "c"])}
    made = fitted(
        Preparation(columns={"x": ("first column", "2")}),
        {"x": data["x"]},
        np.arange(2),
        SHAPES,
        classes=(),
        standardise=("x",),
    )
    made = fitted(made, {"t": data["t"]}, np.arange(3), SHAPES, classes=("t",), standardise=())
    file = io.BytesIO()
    write_npz(file, {"w": np.ones(2), **made.stored()})
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        models, found = separated(dict(archive))
    assert list(models) == ["w"]
    assert (found.classes, found.columns) == ({"t": ("a", "b", "c")}, {"x": ("first column", "2")})
    assert np.array_equal(found.apply(data, SHAPES, "")["x"], made.apply(data, SHAPES, "")["x"])
    # What is stored already is not fitted anew.
    again = fitted(found, {"x": data["x"] * 9}, np.arange(2), SHAPES, classes=("t",), standardise=("x",))
    assert again.means["x"] is found.means["x"] and again.deviations["x"] is found.deviations["x"]


def test_half_of_what_lies_beside_models() -> None:
    with pytest.raises(TablaError, match=r"'x\.deviation' is missing beside the models"):
        separated({"w": np.zeros(2), "x.mean": np.zeros(2)})


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"x.mean": np.zeros(3), "x.deviation": np.ones(3)}, "'x.mean' beside the models has shape (3,)"),
        ({"x.mean": np.zeros(2), "x.deviation": np.ones(())}, "'x.deviation' beside the models has shape ()"),
        ({"x.mean": np.zeros(2), "x.deviation": np.zeros(2)}, "'x.deviation' beside the models is not above 0"),
        ({"y.classes": np.array(["a", "b", "c"])}, "there are 3 classes of 'y' beside the models"),
        ({"t.classes": np.array(["a", "b"])}, "there are 2 classes of 't' beside the models"),
    ],
)
def test_what_lies_beside_models_of_another_program(beside: dict[str, np.ndarray], message: str) -> None:
    _, made = separated(beside)
    with pytest.raises(TablaError) as fault:
        made.apply({"x": np.zeros((3, 2)), "y": np.zeros(3)}, SHAPES, Origin().place)
    assert message in fault.value.message and "for this program" in (fault.value.hint or "")
    # Names that the program does not have are refused elsewhere.
    _, strange = separated({"w.mean": np.zeros(3), "w.deviation": np.ones(3), "w.classes": np.array(["a"])})
    assert strange.apply({"w": np.zeros(2)}, SHAPES, Origin().place)["w"].tolist() == [0, 0]


def test_margins_take_signs() -> None:
    made = Preparation(classes={"y": ("a", "b")})
    made.check_prediction(Prediction(name="h", tensor="h", label="y"))
    made.check_prediction(Prediction(name="h", tensor="h", label="t", margin=True))
    with pytest.raises(TablaError, match="multiplies 'h' by labels of -1 and 1"):
        made.check_prediction(Prediction(name="h", tensor="h", label="y", margin=True))
