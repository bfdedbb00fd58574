"""Functions of Tensor Comprehensions and kernels that learn by their options, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Run = Callable[..., str]

TC = """def f(float(M) x, float(M) w) -> (z) { z +=! w(i) * x(i) }
"""
LEARNS = ("--size", "M=3", "--train", "w", "--loss", "cross-entropy", "--learning-rate", "0.5")


@pytest.fixture(name="run")
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(3).uniform(-1, 1, (80, 3))
    np.savez("d.npz", x=x, label=(x @ [1.0, -2.0, 0.5] > 0).astype(float))
    Path("f.tc").write_text(TC, encoding="utf-8")
    return command


def test_the_models_file_alone_predicts_and_is_built(run: Run) -> None:
    run("train", "f.tc", *LEARNS, "--data", "d.npz", "--epochs", "5", "-o", "m.npz")
    Path("f.tc").unlink()
    assert "accuracy" in run("test", "m.npz", "--data", "d.npz")
    run("gen", "m.npz", "--infer", "-o", "b")
    # The file says the sizes, and it keeps the kernel, which is for every format.
    assert "--shape is for Tile functions" in run("gen", "m.npz", "--shape", "x=3", status=1)
    assert "--size: 'f.kernel' is a kernel" in run("gen", "m.npz", "--size", "M=3", status=1)
    run("gen", "m.npz", "--format", "q4.8", "-o", "c")


def test_a_printed_kernel_learns_as_its_function(run: Run) -> None:
    printed = run("gen", "f.tc", "--size", "M=3", "--emit", "kernel")
    assert printed.endswith("return z;\n")
    Path("k.kernel").write_text(printed, encoding="utf-8")
    ours = run("gen", "k.kernel", *LEARNS[2:], "--emit", "kernel")
    assert ours == run("gen", "f.tc", *LEARNS, "--emit", "kernel")
    assert "update w -= 0.5 * d.w;" in ours


def test_formats_and_explore_take_the_options(run: Run) -> None:
    data = ("--data", "d.npz", "--split", "0.2,0.2", "--epochs", "2")
    assert "narrowest" in run("formats", "f.tc", *LEARNS, *data)
    assert "1 on the front" in run("explore", "f.tc", *LEARNS, "--pes", "4")


def test_a_table_learns_the_rows_that_data_choose(run: Run) -> None:
    """Each sample names two of four rows, and the label is the sum of their numbers, which are then in the table."""
    Path("g.tc").write_text(
        "def g(int32(K) row, float(R) table) -> (z) { z +=! table(row(k)) * float(1 + 0 * row(k)) }\n", encoding="utf-8"
    )
    rows, numbers = np.random.default_rng(1).integers(0, 4, (120, 2)), np.array([0.5, -1.0, 2.0, 0.25])
    np.savez("r.npz", row=rows, label=numbers[rows].sum(axis=1))
    options = ("--size", "K=2", "--size", "R=4", "--train", "table", "--loss", "mse", "--learning-rate", "0.25")
    run("train", "g.tc", *options, "--data", "r.npz", "--epochs", "8", "-o", "m.npz")
    with np.load("m.npz") as found:
        np.testing.assert_allclose(found["table"], numbers, atol=0.02)
    np.savez("s.npz", row=rows[:6], label=numbers[rows[:6]].sum(axis=1), table=np.zeros(4))
    assert "every word as in" in run("sim", "g.tc", "--inputs", "s.npz", *options, "--engine", "model")


def test_what_integers_choose_is_all_that_learns(run: Run) -> None:
    Path("g.tc").write_text("def g(float(M) x, float w) -> (z) { z +=! x(i) * float(int32(w)) }\n", encoding="utf-8")
    said = run("gen", "g.tc", *LEARNS, status=1)
    assert "error: 'w' cannot learn: 'z' does not depend on it" in said
    assert "g.tc:1:" in said


def test_data_of_samples_evaluates_a_function_that_learns(run: Run) -> None:
    """The data have an axis of samples, but for what learns, and labels."""
    with np.load("d.npz") as held:
        np.savez("e.npz", w=np.zeros(3), **held)
    options = LEARNS[2:]
    run("eval", "f.tc", "--inputs", "e.npz", *options, "-o", "z.npz")
    with np.load("z.npz") as found:
        assert found["w"].shape == (3,) and found["w"].any()
    assert "every word as in" in run("sim", "f.tc", "--inputs", "e.npz", *options, "--engine", "model")


def test_what_a_tensor_holds_last_has_its_name(run: Run) -> None:
    Path("g.tc").write_text(
        "def g(float(M) x, float(M) w) -> (z) { z +=! w(i) * x(i)  z = z + 1.5 }\n", encoding="utf-8"
    )
    text = run("gen", "g.tc", *LEARNS, "--emit", "kernel")
    assert "\nz = z'1 + 1.5;\n" in text and "= sigmoid(z)" in text


def test_sums_that_are_brought_together_keep_apart_from_others(run: Run) -> None:
    """Derivatives have names such as ``d.w.2``, as the graph's own second tensors have."""
    text = "def g(float(M) x, float(M) w) -> (z) { z +=! w(i) * w(j) * x(i) where j in 0:i }\n"
    Path("g.tc").write_text(text, encoding="utf-8")
    assert "written" in run("gen", "g.tc", *LEARNS, "--pes", "4", "-o", "b")
