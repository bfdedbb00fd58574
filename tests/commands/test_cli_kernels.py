"""Kernels (.tc) and the preprocessor, through the commands and through the Python interface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.commands.cli import main
from tabla.host.engines.cocotb_run import available

KERNEL = """$t = float
def scale($t(N) x, $t a) -> (y) {  # not the last one
  y(i) = a * x(i)
}
def mm($t(M,K) A, $t(K,N) B, $t(L) only_sized) -> (C, s) {
  twice(m,n) = 2 * A(m,0) * B(0,n)
  C(m,n) +=! A(m,k) * B(k,n)
  s +=! C(m,n)
}
"""
RANGES = """def mm
  twice(m, n) =
    m in [0, M)
    n in [0, N)
  C(m, n) +=!
    m in [0, M)
    n in [0, N)
    k in [0, K)
  s +=!
    m in [0, M)
    n in [0, N)
"""
SIZES = ("--size", "M=3", "--size", "K=4", "--size", "N=2", "--size", "L=5")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(1)
    (tmp_path / "mm.tc").write_text(KERNEL)
    one = {"A": chance.uniform(-1, 1, (3, 4)), "B": chance.uniform(-1, 1, (4, 2)), "only_sized": np.zeros(5)}
    np.savez(tmp_path / "one.npz", **one)
    np.savez(tmp_path / "three.npz", A=chance.uniform(-1, 1, (3, 3, 4)), B=one["B"], only_sized=np.zeros((3, 5)))
    np.savez(tmp_path / "scale.npz", x=np.asarray([1.0, 2.0]), a=np.asarray(0.5))
    return tmp_path


def load(path: str) -> dict[str, np.ndarray]:
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def bench_passes(build: Path) -> None:
    """Run the written test bench, which must pass. Without Icarus this skips the rest of the test, so call it last."""
    if not available("icarus"):
        pytest.skip("the bench needs cocotb and Icarus Verilog; all before it passed")
    ran = subprocess.run([sys.executable, str(build / "tb/run.py")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("pes", "keep"), [("4", ()), ("16", ("--keep", "B")), ("1", ("--keep", "A,B"))])
def test_evaluation_simulation_and_numpy_agree(folder: Path, pes: str, keep: tuple[str, ...]) -> None:
    words = ("mm.tc", "--inputs", "one.npz", "--pes", pes, "--result", "twice", "-q", *keep)
    assert main(("eval", *words, "-o", "fixed.npz")) == 0
    assert main(("eval", *words, "-o", "real.npz", "--float")) == 0
    assert main(("sim", *words, "-o", "simulated.npz")) == 0
    fixed, real, simulated, given = (load(f"{n}.npz") for n in ("fixed", "real", "simulated", "one"))
    assert list(simulated) == ["C", "s", "twice"] and simulated["s"].shape == ()
    for name in simulated:
        np.testing.assert_array_equal(simulated[name], fixed[name])
    np.testing.assert_allclose(real["C"], given["A"] @ given["B"], rtol=1e-12)
    np.testing.assert_allclose(fixed["C"], real["C"], atol=4 / 1024)


def test_several_calls_with_a_kept_operand(folder: Path) -> None:
    words = ("mm.tc", "--inputs", "three.npz", "--keep", "B", "-q")
    assert main(("sim", *words, "-o", "simulated.npz", "--json", "figures.json")) == 0
    assert main(("eval", *words, "-o", "real.npz", "--float", "--samples", "2")) == 0
    simulated, real, given = load("simulated.npz"), load("real.npz"), load("three.npz")
    assert simulated["C"].shape == (3, 3, 2) and real["C"].shape == (2, 3, 2) and simulated["s"].shape == (3,)
    np.testing.assert_allclose(real["C"], given["A"][:2] @ given["B"], rtol=1e-12)
    np.testing.assert_allclose(simulated["C"], given["A"] @ given["B"], atol=4 / 1024)
    figures = json.loads((folder / "figures.json").read_text())
    assert figures["cycles"]["predicted"] == figures["cycles"]["simulated"] and figures["samples"] == 3


def test_an_input_of_which_only_the_size_is_used_is_not_streamed_and_may_be_missing(folder: Path) -> None:
    given = load("one.npz")
    del given["only_sized"]
    made = tabla.compile("mm.tc", sizes={"L": 5000}, inputs=given, pes=4)
    # 12 words of A and 8 of B are streamed, and none of the 5000.
    assert made.schedule.cycles < 200
    np.testing.assert_array_equal(made.simulate(given).arrays["C"], made.evaluate(given)["C"])
    assert made.evaluate(given, float64=True)["C"].shape == (3, 2)


def test_a_function_by_name(folder: Path) -> None:
    assert main(("sim", "mm.tc:scale", "--inputs", "scale.npz", "-o", "y.npz", "-q")) == 0
    np.testing.assert_array_equal(load("y.npz")["y"], [0.5, 1.0])
    made = tabla.compile("mm.tc:scale", sizes={"N": 2}, pes=4)
    assert made.name == "mm" and made.emit("ast").startswith("def scale(")


def test_gen_writes_a_bench_that_passes(folder: Path) -> None:
    assert main(("gen", "mm.tc", *SIZES, "--keep", "B", "--pes", "4", "-q", "--json", "report.json")) == 0
    manifest = json.loads((folder / "build/mm.json").read_text())
    assert [(t["name"], t["role"]) for t in manifest["tensors"]][:2] == [("A", "input"), ("B", "model")]
    assert main(("check", "mm.tc", "--inputs", "one.npz", "-q")) == 0
    bench_passes(folder / "build")


FAULTS = {
    "a size is missing": (("gen", "mm.tc", *SIZES[:6]), "mm.tc:5:36", "the size 'L' has no value"),
    "no such size": (("gen", "mm.tc", *SIZES, "--size", "Q=1"), "mm.tc:5:5", "'mm' has no size 'Q'"),
    "two values": (("sim", "mm.tc", "--inputs", "one.npz", "--size", "M=9"), "mm.tc:5:16", "the size 'M' is 9"),
    "no such def": (("gen", "mm.tc:mn", *SIZES), "mm.tc:5:5", "there is no function 'mn'"),
    "no such input": (("gen", "mm.tc", *SIZES, "--keep", "C"), None, "--keep C: 'mm' has no such input"),
    "no such value": (("gen", "mm.tc", *SIZES, "--result", "E"), None, "--result E: 'mm' does not compute it"),
    "training": (("train", "mm.tc", *SIZES, "--data", "one.npz"), None, "'mm.tc' is a kernel, so it learns nothing"),
    "rate": (("gen", "mm.tc", *SIZES, "--learning-rate", "0.5"), None, "'mm.tc' does not learn"),
    "unused -D": (("gen", "mm.tc", *SIZES, "-D", "M=3"), None, "-D M: 'mm.tc' does not use $M"),
    "-D in a file that defines it": (("gen", "mm.tc", *SIZES, "-D", "t=float"), "mm.tc:1:1", "'$t'"),
    "sizes of a model": (("gen", "a.t", "--size", "N=3"), None, "--size is for Tensor Comprehensions"),
    "ranges of a model": (("ranges", "a.t"), None, "'a.t' has no ranges to infer"),
    "unused -D of a text": (("preprocess", "mm.tc", "-D", "x=1"), None, "-D x: 'mm.tc' does not use $x"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults(folder: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    words, place, message = FAULTS[case]
    (folder / "a.t").write_text("model_input x[3]; iterator i[0:3]; y = sum[i](x[i]);")
    before = sorted(folder.rglob("*"))
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("error: ") and message in said.err
    assert place is None or f"--> {place}\n" in said.err
    assert sorted(folder.rglob("*")) == before


def test_ranges(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("ranges", "mm.tc:mm")) == 0
    assert capsys.readouterr().out == RANGES
    assert main(("ranges", "mm.tc")) == 0
    assert capsys.readouterr().out == f"def scale\n  y(i) =\n    i in [0, N)\n\n{RANGES}"
    assert main(("ranges", "mm.tc", "--inputs", "one.npz")) == 0
    assert "k in [0, 4)" in capsys.readouterr().out


def test_preprocess(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("preprocess", "mm.tc", "-o", "expanded.tc")) == 0
    assert (folder / "expanded.tc").read_text() == "\n" + KERNEL.partition("\n")[2].replace("$t", "float")
    (folder / "other.txt").write_text("$n ?= 3 ; a comment $n\n$m = !calc($n 2 *)\nsize $m")
    assert main(("preprocess", "other.txt", "--values", "-D", "n=5")) == 0
    assert capsys.readouterr().out == "int $n = 5\nint $m = 10\n"


def test_defines_reach_a_model_by_variable_and_by_constant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.t").write_text("$n ?= 5\nm = $n;\nmodel_input x[m], z[3];\niterator i[0:m];\ny = sum[i](x[i]) * w;")
    assert main(("check", "a.t", "-D", "n=4")) == 1
    said = capsys.readouterr().err
    # The place is that in the file, not that in the text without its definitions.
    assert "--> a.t:5:20\n5 | y = sum[i](x[i]) * w;\n" in said
    (folder / "a.t").write_text("$n ?= 5\nm = $n;\nmodel_input x[m];\niterator i[0:m];\ny = sum[i](x[i]);")
    for words, size in (((), 5), (("-D", "n=4"), 4), (("-D", "m=7"), 7)):
        assert main(("gen", "a.t", "--emit", "ast", *words)) == 0
        assert f"model_input x[{size}];" in capsys.readouterr().out
    assert main(("check", "a.t", "-D", "q=1")) == 1
    assert "-D q: the program sets no such constant" in capsys.readouterr().err


def test_integers_are_integers_in_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "lookup.tc").write_text(
        "def lookup(float(V,D) table, int32(B) at) -> (y, far) {\n"
        "  y(b, d) = table(at(b), d)\n  far(b) = at(b) * 100 - 1\n}\n"
    )
    table, at = np.arange(12).reshape(4, 3) / 4, np.array([3, 0, 3, 1, 2])
    np.savez(folder / "in.npz", table=table, at=at)
    words = ("lookup.tc", "--inputs", "in.npz", "--keep", "table", "--pes", "4", "-q")
    for command in (("sim",), ("eval",), ("eval", "--float")):
        assert main((*command, *words, "-o", "out.npz")) == 0
        np.testing.assert_array_equal(load("out.npz")["y"], table[at])
        np.testing.assert_array_equal(load("out.npz")["far"], at * 100 - 1)
    assert main(("gen", *words, "-o", "lookup")) == 0
    capsys.readouterr()
    outside = "gives position {} on axis 0 of 'table'"
    for wrong, message in ((9, outside.format(9)), (3000, outside.format(3000)), (0.5, "but its array has fractions")):
        np.savez(folder / "in.npz", table=table, at=np.array([3, 0, wrong, 1, 2]))
        for command in ("sim", "eval"):
            assert main((command, *words, "-o", "out.npz")) == 1
            said = capsys.readouterr().err
            assert said.startswith("error: ") and message in said
    bench_passes(folder / "lookup")


def test_integers_that_leave_the_range(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Real numbers saturate. An integer is exact, or there is an error."""
    (folder / "square.tc").write_text("def square(int32(N) A) -> (B) {\n  B(i) = A(i) * A(i)\n}\n")
    words = ("square.tc", "--inputs", "in.npz", "-q", "-o", "out.npz")
    np.savez(folder / "in.npz", A=np.array([181, -181, 0]))
    for command in ("sim", "eval"):
        assert main((command, *words)) == 0
        np.testing.assert_array_equal(load("out.npz")["B"], [32_761, 32_761, 0])
    np.savez(folder / "in.npz", A=np.array([181, -182, 200]))
    capsys.readouterr()
    (folder / "out.npz").unlink()
    for command in ("sim", "eval"):
        assert main((command, *words)) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: the integers of 'B' leave the range of 16 bits, -32,768 to 32,767 (overflows: 2")
        assert "square.tc:2:" in said and not (folder / "out.npz").exists()
    assert main(("eval", *words, "--format", "q16.16")) == 0
