"""The tensor language on the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.commands.cli import main

Command = Callable[..., str]
FUSED = """$n ?= 4
func @fused(%K: memref<f32x$n x$n>, %P: memref<f32x$n x3x?>, %A: group<memref<f32x3x3>x?>, %Q: memref<f32x$n x3x?>) {
    %gid = group_id.x : index
    %p = subview %P[0:$n,0:3,%gid] : memref<f32x$n x3>
    %a = load %A[%gid] : memref<f32x3x3>
    %q = subview %Q[0:$n,0:3,%gid] : memref<f32x$n x3>
    %tmp = alloca : memref<f32x$n x3,local>
    %c0 = constant 0.0 : f32
    %c1 = constant 1.0 : f32
    gemm.n.n %c1, %K, %p, %c0, %tmp
    gemm.n.n %c1, %tmp, %a, %c1, %q
}
func @plain(%x: memref<f32x$n>, %y: memref<f32x$n>) {
    %h = constant 0.5 : f32
    %c0 = constant 0.0 : f32
    axpby %h, %x, %c0, %y
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.ir").write_text(FUSED)
    chance = np.random.default_rng(1)
    shapes = {"K": (4, 4), "P": (3, 4, 3), "A": (3, 3, 3), "Q": (3, 4, 3)}
    np.savez("in.npz", **{name: chance.uniform(-1, 1, shape) for name, shape in shapes.items()})
    np.savez("x.npz", x=np.array([0.5, -1.0, 2.0, 0.25]))


def load(path: str) -> dict[str, Any]:
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def test_evaluation_simulation_and_numpy_agree(command: Command) -> None:
    given = load("in.npz")
    expected = given["K"] @ given["P"] @ given["A"] + given["Q"]
    words = ("f.ir:fused", "--inputs", "in.npz", "--pes", "4", "-q")
    command("eval", *words, "--float", "-o", "float.npz")
    command("eval", *words, "-o", "eval.npz")
    command("sim", *words, "--result", "tmp", "-o", "sim.npz")
    assert list(load("float.npz")) == list(load("eval.npz")) == ["Q"] and list(load("sim.npz")) == ["Q", "tmp"]
    np.testing.assert_allclose(load("float.npz")["Q"], expected, rtol=1e-12)
    np.testing.assert_allclose(load("eval.npz")["Q"], expected, atol=5e-3)
    np.testing.assert_array_equal(load("sim.npz")["Q"], load("eval.npz")["Q"])
    np.testing.assert_allclose(load("sim.npz")["tmp"], given["K"] @ given["P"], atol=5e-3)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is missing")
def test_the_kernel_of_the_manual_on_icarus(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Its sizes are 8 and 3, and it takes 26 cycles on 16 PEs, where the bound is 24."""
    chance = np.random.default_rng(2)
    shapes = {"K": (8, 8), "P": (2, 8, 3), "A": (2, 3, 3), "Q": (2, 8, 3)}
    given = {name: chance.uniform(-1, 1, shape) for name, shape in shapes.items()}
    np.savez("wide.npz", **given)
    words = ("f.ir:fused", "-D", "n=8", "--pes", "16")
    command("gen", *words, "-q", "-o", "build", "--json", "r.json")
    report = json.loads(Path("r.json").read_text())
    assert (report["cycles"], report["bound"]) == (26, 24)
    assert main(("sim", *words, "--inputs", "wide.npz", "--engine", "icarus", "-o", "wide.out.npz")) == 0
    told = capsys.readouterr()
    assert "26 predicted = 26 simulated" in told.out + told.err
    np.testing.assert_allclose(load("wide.out.npz")["Q"], given["K"] @ given["P"] @ given["A"] + given["Q"], atol=5e-3)


def test_one_sample_without_an_axis(command: Command) -> None:
    for kind in ((), ("--float",)):
        command("eval", "f.ir:plain", "--inputs", "x.npz", "-q", *kind, "-o", "y.npz")
        np.testing.assert_array_equal(load("y.npz")["y"], load("x.npz")["x"] / 2)


def test_gen_check_and_explore(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("g.ttc").write_text(FUSED)
    command("gen", "g.ttc:@fused", "--pes", "4", "-q", "-o", "build", "--json", "r.json")
    assert json.loads(Path("build/g.json").read_text())["cycles"] == json.loads(Path("r.json").read_text())["cycles"]
    assert main(("check", "f.ir:fused", "-D", "n=6")) == 0
    assert "no errors" in capsys.readouterr().err
    command("explore", "f.ir:plain", "--pes", "2,4", "-q", "-o", "report")
    text = command("gen", "f.ir:plain", "--emit", "kernel", "--keep", "x")
    assert text.startswith("model x[4]: real;") and text == command("gen", "f.ir:plain", "--emit", "ast", "--keep", "x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gen", "f.ir"), "'f.ir' has 2 functions"),
        (("gen", "f.ir:fusd"), "'f.ir' has no function 'fusd'"),
        (("gen", "f.ir:fused", "-D", "k=3"), "-D k: 'f.ir' does not use $k"),
        (("gen", "f.ir:fused", "--size", "n=3"), "--size: 'f.ir' has its sizes in its text"),
        (("gen", "f.ir:fused", "--keep", "k"), "--keep k: '@fused' has no such parameter"),
        (("gen", "f.ir:fused", "--result", "k"), "--result k: the function does not compute it"),
        (("gen", "mlir.ir"), "'mlir.ir' is no text of the Tiny Tensor Compiler's language"),
        (("gen", "other.ir"), "'other.ir' is no text of the Tiny Tensor Compiler's language"),
        (("gen", "f.ir:fused", "--shape", "K=3"), "--shape is for Tile functions"),
        (("eval", "f.ir:fused", "--inputs", "x.npz", "--float", "-o", "y.npz"), "the input holds 'x'"),
        (("eval", "f.ir:plain", "--inputs", "in.npz", "--float", "-o", "y.npz"), "the input holds 'A'"),
    ],
)
def test_what_is_refused(command: Command, words: tuple[str, ...], message: str) -> None:
    Path("other.ir").write_text("define i32 @func (i32 %x) { ret i32 0 }\n")
    Path("mlir.ir").write_text("module { func.func @main() { return } }\n")
    said = command(*words, status=1)
    assert f"error: {message}" in said and "hint: " in said


def test_a_fault_shows_the_text_before_the_preprocessor(capsys: pytest.CaptureFixture[str]) -> None:
    Path("w.ir").write_text("$n = 4\nfunc @f(%x: memref<f32x$n>, %y: memref<f32x3>) {\n    %o = constant 1.0 : f32\n"
                            "    axpby %o, %x, %o, %y\n}\n")  # fmt: skip
    assert main(("check", "w.ir")) == 1
    assert "w.ir:4:5" in capsys.readouterr().err
