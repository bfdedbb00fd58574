"""Data files: the arrays that are read, and an error for every fault in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tabla.base.arrays import read_arrays, real_array, refuse_strangers, write_npz
from tabla.base.source import TablaError
from tabla.build.arrays import initial_models, stack_samples, take_models


@given(array=arrays_of.arrays(np.float64, st.sampled_from([(), (3,), (2, 4), (5, 2, 2)]), elements=st.floats(-9, 9)))
def test_npz_there_and_back(array: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("npz") / "a.npz"
    with path.open("wb") as file:
        # The names are parameters of numpy's own writer, and one has a prime.
        write_npz(file, {"file": array, "args": array, "y'": array})
    found = read_arrays(path)
    assert found.keys() == {"file", "args", "y'"}
    assert all(np.array_equal(a, array) and a.shape == array.shape for a in found.values())


def test_npz_is_the_same_every_time(tmp_path: Path) -> None:
    for name in "ab":
        with (tmp_path / name).open("wb") as file:
            write_npz(file, {"x": np.arange(3.0)})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"\xef\xbb\xbfx[1], x[0],y',t[0][0],t[0][1]\r\n1,2,3,4,5\r\n\r\n6,7,8,9,-1e1\r\n")
    found = read_arrays(path)
    assert {name: array.tolist() for name, array in found.items()} == {
        "x": [[2, 1], [7, 6]],
        "y'": [3, 8],
        "t": [[[4, 5]], [[9, -10]]],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no sample"),
        ("x\n", "holds no sample"),
        ("1,2\n3,4\n", "column '1' is not a name"),
        ("x[i]\n3\n", "column 'x\\[i\\]' is not a name"),
        ("x,x\n3,4\n", "two columns 'x'"),
        ("x[0],x\n3,4\n", "different numbers of subscripts"),
        ("x[0],x[2]\n3,4\n", "column 'x\\[1\\]' is missing"),
        ("x[0],x[999999999]\n3,4\n", "column 'x\\[1\\]' is missing"),
        ("x[1][0],x[0][99999999999999999999]\n3,4\n", "column 'x\\[0\\]\\[0\\]' is missing"),
        ("x" + "[0]" * 70 + "\n3\n", "more than 32 subscripts"),
        ("x,y\n3\n", "row 2 has 1 values, but the header has 2"),
        ("x,y\n3,4\n3,four\n", "row 3, column 'y': 'four' is not a number"),
        ("x,y\n3,\n", "row 2, column 'y': the value is missing"),
        ("x,y\n3,nan\n", "row 2, column 'y': the value is missing \\('nan'\\)"),
    ],
)
def test_csv_faults(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text)
    with pytest.raises(TablaError, match=message):
        read_arrays(path)


def test_npz_faults(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("x = 1")
    np.savez(tmp_path / "words.npz", x=np.array(["a"]))
    np.savez(tmp_path / "object.npz", x=np.array([{}], dtype=object))
    np.savez(tmp_path / "nan.npz", x=np.array([1, np.inf]))
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    (tmp_path / "empty.npz").write_text("")
    np.savez_compressed(tmp_path / "whole.npz", x=np.arange(99.0))
    whole = bytearray((tmp_path / "whole.npz").read_bytes())
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    whole[80] ^= 255
    (tmp_path / "altered.npz").write_bytes(whole)
    for name, message in {
        "empty": "not an .npz file: it is empty",
        "cut": "not an .npz file: it is damaged",
        "altered": "array 'x' of .* cannot be read: the file is damaged",
        "text": "not an .npz file: it is damaged, or has another format",
        "words": "not real numbers",
        "object": "array 'x' of .* holds Python objects, not numbers",
        "nan": "holds inf at",
        "one": "a single array without a name",
        "none": "cannot read",
    }.items():
        with pytest.raises(TablaError, match=message):
            read_arrays(tmp_path / f"{name}.npz")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2], [3]], "'x' has rows of different lengths"),
        ([1, None], "'x' holds object, not real numbers"),
        ([1 + 2j], "'x' holds complex128"),
        ([[1, float("nan")]], r"'x' holds nan at \[0, 1\]"),
    ],
)
def test_arrays_given_in_python(values: object, message: str) -> None:
    with pytest.raises(TablaError, match=message):
        real_array(values, "'x'")  # type: ignore[arg-type]
    assert real_array([True, 2], "'x'").dtype == np.float64


def test_samples_have_a_leading_axis_or_not() -> None:
    shapes = {"x": (2,), "y": ()}
    one = stack_samples({"x": np.zeros(2), "y": np.zeros(())}, shapes)
    assert (one.count, one.stacked, one.arrays["x"].shape) == (1, False, (1, 2))
    many = stack_samples({"x": np.zeros((5, 2)), "y": np.zeros(5)}, shapes)
    assert (many.count, many.stacked, many.arrays["y"].shape) == (5, True, (5,))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((5, 3), (5,), r"'x' has shape \(5, 3\)"),
        ((5, 2), (4,), "'x' has 5 samples and 'y' has 4|'y' has 4 samples and 'x' has 5"),
        ((5, 2), (), "'y' has no axis of samples, but 'x' has one"),
        ((0, 2), (0,), "no sample"),
        ((1, 1, 2), (1,), "'x' has shape"),
        (None, (5,), "'x\\[2\\]' is missing"),
    ],
)
def test_samples_that_do_not_fit(x: tuple[int, ...] | None, y: tuple[int, ...], message: str) -> None:
    arrays = {"y": np.zeros(y)} | ({} if x is None else {"x": np.zeros(x)})
    with pytest.raises(TablaError, match=message):
        stack_samples(arrays, {"x": (2,), "y": ()})


def test_models() -> None:
    with pytest.raises(TablaError, match=r"model 'w\[2\]' is missing in the weights"):
        take_models({}, {"w": (2,)}, "the weights")
    with pytest.raises(TablaError, match=r"model 'w' has shape \(3,\)"):
        take_models({"w": np.zeros(3)}, {"w": (2,)}, "the weights")
    with pytest.raises(TablaError, match="holds 'v'"):
        refuse_strangers({"v": np.zeros(3)}, ["w"], "the weights")


def test_initial_models() -> None:
    shapes = {"b": (), "w": (9,), "v": (8, 16)}
    first, again, other = initial_models(shapes, 1), initial_models(shapes, 1), initial_models(shapes, 2)
    assert not first["w"].any()
    assert not first["b"].any()
    assert np.array_equal(first["v"], again["v"])
    assert not np.array_equal(first["v"], other["v"])
    assert 0.4 < np.abs(first["v"]).max() <= 0.5
    with pytest.raises(TablaError, match="model 'w\\[100000\\]\\[100000\\]' is too large"):
        initial_models({"w": (100_000, 100_000)}, 1)
