"""Programs of C++ and of the tensor language in Verilog: Icarus computes the words of the evaluation, as predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabla.commands.cli import main
from tabla.host.engines.cocotb_run import available

PROGRAMS = Path(__file__).parents[1] / "programs"
CPP = {
    "reductions:argmax_value": {"I": (3, 4), "X": (4,)},
    "convolutions:complex_conv_2d": {"I": (1, 5, 6, 2, 2), "K": (3, 2, 2, 2, 1)},
    "layers:perceptron": {"X": (3,), "W1": (4, 3), "B1": (4,), "W2": (2, 4), "B2": (2,)},
    "layers:polynomial": {"A": (4,)},
}
ARGUMENTS = {
    "convolutions:complex_conv_2d": ("--arg", "s=2,3", "--arg", "d=1,2"),
    "layers:polynomial": ("--arg", "c=0.5,-1,2"),
}
TENSOR = {
    "manual": {"K": (4, 4), "P": (4, 3), "A": (3, 3), "Q": (4, 3)},
    "running": {"A": (4, 3, 2), "v": (5,)},
    "recurrence": {"x": (6,)},
    "chosen": {"x": (6,), "y": (6,)},
}


def simulate(program: str, shapes: dict[str, tuple[int, ...]], *options: str) -> None:
    """Run two samples on Icarus. The command fails if a word or a cycle is not as it should be."""
    if not available("icarus"):
        pytest.skip("Icarus is not installed")
    chance = np.random.default_rng(5)
    np.savez("in.npz", **{name: chance.uniform(-1, 1, (2, *shape)) for name, shape in shapes.items()})
    words = (program, "--inputs", "in.npz", "--pes", "4", "--effort", "0", "-q", *options)
    assert main(("sim", *words, "--engine", "icarus", "-o", "sim.npz")) == 0
    assert main(("eval", *words, "-o", "eval.npz")) == 0
    with np.load("sim.npz") as found, np.load("eval.npz") as expected:
        assert list(found) == list(expected)
        for name in found:
            np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CPP)
def test_functions_of_cpp(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file, _, function = name.partition(":")
    shapes = [f"--shape={each}={','.join(map(str, shape))}" for each, shape in CPP[name].items()]
    path = PROGRAMS / "tile_cpp" / f"{file}.cpp"
    simulate(f"{path}:{function}", CPP[name], *shapes, *ARGUMENTS.get(name, ()))


@pytest.mark.slow
@pytest.mark.parametrize("name", TENSOR)
def test_functions_of_the_tensor_language(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = PROGRAMS / "tinytc" / "kernels.ir"
    shapes = dict(TENSOR[name])
    if name == "manual":
        del shapes["K"]
        np.savez("w.npz", K=np.full((4, 4), 0.25))
        simulate(f"{path}:{name}", shapes, "--weights", "w.npz")
        return
    simulate(f"{path}:{name}", shapes)
