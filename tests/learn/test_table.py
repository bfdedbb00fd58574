"""Tables: files of commas, semicolons and tabs, data frames, and which columns a tensor takes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.base.table import Frame, Table, frame_table, read_table
from tabla.learn.data.gathered import Gathering
from tabla.learn.data.preparation import Preparation

NAMED = "sepal,petal width (cm),species\n1,2.5,setosa\n-3e1,4,virginica\n"
COLUMNS = {"x": ("petal width (cm)", "sepal"), "y": ("species",)}


def arrays(
    made: Table,
    columns: dict[str, tuple[str, ...]] | None,
    texts: Collection[str],
    shapes: dict[str, tuple[int, ...]],
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a program in which ``y`` is the label."""
    gathering = Gathering(
        inputs={name: shape for name, shape in shapes.items() if name != "y"},
        labels={"y": shapes["y"]} if "y" in shapes else {},
        texts=texts,
        stored=Preparation(),
        missing="error",
        unknown="zeros",
        categories={},
        samples=100,
        training_rows=np.arange,
        fits=True,
        whole=False,
    )
    return gathering.of_table(made, columns or {}).arrays


def table(tmp_path: Path, text: str) -> Table:
    path = tmp_path / "d.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n\n"])
def test_named_columns(tmp_path: Path, delimiter: str, ends: str) -> None:
    found = arrays(table(tmp_path, NAMED.replace(",", delimiter).replace("\n", ends)), COLUMNS, ["y"], {"x": (2,)})
    assert found["x"].tolist() == [[2.5, 1], [4, -30]]
    assert found["y"].tolist() == ["setosa", "virginica"]


def test_empty_lines_are_rows_of_the_file_and_no_samples(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("\na,b\n1,2\n\n\n3,x\n")
    table = read_table(tmp_path / "d.csv")
    assert [table.samples.place(k) for k in range(len(table))] == [f"row {n} of {table.origin}" for n in (3, 6)]
    with pytest.raises(TablaError, match="row 6, column 'b': 'x' is not a number"):
        table.numbers(1)


def test_quotes_blanks_and_commas_in_names(tmp_path: Path) -> None:
    found = arrays(
        table(tmp_path, '"a, b" , "c ""d""", e\n 1 , 2, " three "\n'), {"x": ("a, b", 'c "d"'), "y": ("e",)}, ["y"], {}
    )
    assert (found["x"].tolist(), found["y"].tolist()) == ([[1, 2]], ["three"])


def test_a_decimal_comma_beside_semicolons(tmp_path: Path) -> None:
    assert arrays(table(tmp_path, "a;b\n1,5;-2\n2.5;1,0e1\n"), {"x": ("a", "b")}, [], {})["x"].tolist() == [
        [1.5, -2],
        [2.5, 10],
    ]
    with pytest.raises(TablaError, match="row 2, column 'a': '1,5,0' is not a number"):
        arrays(table(tmp_path, "a;b\n1,5,0;2\n"), {"x": ("a",)}, [], {})
    with pytest.raises(TablaError, match="row 2, column 'a': '1,5' has a decimal comma"):
        arrays(table(tmp_path, "a\tb\n1,5\t2\n"), {"x": ("a",)}, [], {})


def test_a_first_line_of_numbers_is_probably_no_header(tmp_path: Path) -> None:
    text = "5.1,3.5,0\n4.9,3.0,1\n"
    for columns in ({"x": ("*",)}, {"x": ("c0", "c1"), "y": ("c2",)}, None):
        with pytest.raises(TablaError, match="the first line has numbers alone") as fault:
            arrays(table(tmp_path, text), columns, (), {"x": (2,), "y": ()})
        assert fault.value.hint is not None and "--no-header" in fault.value.hint and "c0 to c2" in fault.value.hint
    found = arrays(read_table(tmp_path / "d.csv", header=False), {"x": ("*",), "y": ("c2",)}, (), {"x": (2,), "y": ()})
    assert (found["x"].tolist(), found["y"].tolist()) == ([[5.1, 3.5], [4.9, 3.0]], [0, 1])
    assert read_table(tmp_path / "d.csv", header=False).samples.place(0).startswith("row 1 of ")


@pytest.mark.parametrize("header", ["0,1,2", "1,2,3"])
def test_columns_that_were_counted_are_a_header(tmp_path: Path, header: str) -> None:
    """pandas writes a frame without names so."""
    names = header.split(",")
    found = arrays(table(tmp_path, f"{header}\n7,8,9\n"), {"x": ("*",), "y": (names[2],)}, (), {"x": (2,), "y": ()})
    assert found["x"].tolist() == [[7, 8]]


def test_years_that_somebody_names_are_a_header(tmp_path: Path) -> None:
    made = table(tmp_path, "2019,2020,2021\n7,8,9\n")
    assert arrays(made, {"x": ("*",), "y": ("2021",)}, (), {"x": (2,), "y": ()})["x"].tolist() == [[7, 8]]
    with pytest.raises(TablaError, match="the first line has numbers alone"):
        arrays(table(tmp_path, "7,7,9\n7,8,9\n"), {"x": ("*",), "y": ("9",)}, (), {"x": (2,), "y": ()})


def test_points_that_may_separate_thousands(tmp_path: Path) -> None:
    with pytest.raises(TablaError, match=r"row 3, column 'a': '1\.234' may be one or a thousand") as fault:
        arrays(table(tmp_path, "a;b\n2,5;1\n1.234;2\n"), {"x": ("a", "b")}, (), {"x": (2,)})
    assert fault.value.hint == "write 1234 for thousands, or 1,234"


def test_all_other_columns(tmp_path: Path) -> None:
    found = arrays(table(tmp_path, "y,b,a,c\n1,2,3,4\n"), {"x": ("a", "*"), "y": ("y",)}, [], {"y": ()})
    assert (found["x"].tolist(), found["y"].tolist()) == ([[3, 2, 4]], [1])


def test_shapes_of_the_program(tmp_path: Path) -> None:
    made = table(tmp_path, "a,b,c,d\n1,2,3,4\n5,6,7,8\n")
    shaped = arrays(made, {"x": tuple("abcd"), "s": ("d",), "v": ("a",)}, [], {"x": (2, 2), "s": (), "v": (1,)})
    assert shaped["x"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert (shaped["s"].shape, shaped["v"].shape) == ((2,), (2, 1))


def test_header_of_subscripts_with_named_classes(tmp_path: Path) -> None:
    found = arrays(table(tmp_path, "x[1];x[0];y\n1;2;no\n3;4;yes\n"), None, ["y"], {})
    assert (found["x"].tolist(), found["y"].tolist()) == ([[2, 1], [4, 3]], ["no", "yes"])


@pytest.mark.parametrize(
    ("text", "columns", "texts", "message", "cure"),
    [
        (NAMED, {"x": ("sepel",)}, (), "has no column 'sepel'", "it has sepal, petal width (cm), species"),
        (NAMED, {"x": ("sepal",)}, (), "'x' takes 1 of the columns, but the program declares 'x[2]'", "--classes x"),
        (NAMED, {"x": ("sepal", "species")}, (), "the 2 columns of 'x' are 3 numbers with their", "'x[3]'"),
        (NAMED, None, (), "column 'petal width (cm)' is not a name of a program", "--columns x=sepal,petal"),
        ("a,a\n1,2\n", {"x": ("a", "a")}, (), "has two columns 'a'", "a name of its own"),
        ("a,b\n1,\n", {"y": ("b",)}, ("y",), "row 2, column 'b': the class is missing", "--missing drop"),
        ("a,b\n1,2\n", {"y": ("a", "b")}, ("y",), "'y' has 2 columns, but classes are named in one", "one column"),
        ("y[0],y[1]\n1,2\n", None, ("y",), "'y' has 2 columns, but classes are named in one", "--classes"),
        ("a\n1\nnan\n", {"y": ("a",)}, (), "row 3, column 'a': the label is missing ('nan')", "--missing drop"),
        ("a\n1\n-inf\n", {"y": ("a",)}, (), "row 3, column 'a': '-inf' is not a finite number", "finite"),
    ],
)
def test_faults(
    tmp_path: Path,
    text: str,
    columns: dict[str, tuple[str, ...]] | None,
    texts: tuple[str, ...],
    message: str,
    cure: str,
) -> None:
    with pytest.raises(TablaError) as fault:
        arrays(table(tmp_path, text), columns, texts, {"x": (2,), "y": ()})
    assert message in fault.value.message
    assert fault.value.hint is not None and cure in fault.value.hint


class Columns:
    """An object with the three members of a data frame that are asked for."""

    def __init__(self, **columns: object) -> None:
        self.columns, self._all = list(columns), columns

    def __getitem__(self, name: str) -> object:
        return self._all[name]

    def to_numpy(self) -> object:
        return np.stack([np.asarray(column) for column in self._all.values()], axis=1)


def test_data_frames() -> None:
    frame = Columns(a=[1, 2], b=[0.5, 1.5], kind=["p", "q"])
    assert isinstance(frame, Frame) and not isinstance({"a": 1}, Frame) and not isinstance(np.zeros(3), Frame)
    found = arrays(frame_table(frame), {"x": ("b", "a"), "y": ("kind",)}, ["y"], {"x": (2,)})
    assert (found["x"].tolist(), found["y"].tolist()) == ([[0.5, 1], [1.5, 2]], ["p", "q"])
    for wrong, message in (
        (Columns(a=[1, float("nan")]), "the data frame: row 1, column 'a': the value is missing"),
        (Columns(a=[None, 2]), "the data frame: row 0, column 'a': the value is missing"),
    ):
        with pytest.raises(TablaError, match=message):
            arrays(frame_table(wrong), {"x": ("a",)}, [], {})
    with pytest.raises(TablaError, match="row 0, column 'a': the class is missing"):
        arrays(frame_table(Columns(a=[None, "p"])), {"y": ("a",)}, ["y"], {})


def test_a_data_frame_of_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed, and nothing needs it")
    frame = pandas.DataFrame({"a": [1, 2], 7: [3.5, None], "kind": pandas.Categorical(["q", "p"])})
    assert isinstance(frame, Frame)
    found = arrays(frame_table(frame), {"x": ("a",), "y": ("kind",)}, ["y"], {"x": ()})
    assert (found["x"].tolist(), found["y"].tolist()) == ([1, 2], ["q", "p"])
    with pytest.raises(TablaError, match="row 1, column '7': the value is missing"):
        arrays(frame_table(frame), {"x": ("7",)}, [], {})
    double = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(TablaError, match="the data frame has two columns 'a'"):
        frame_table(double)
