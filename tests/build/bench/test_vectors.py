"""The golden vectors of the test bench: valid for the program, of random words or of the user's, or none at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.bench.vectors import LONGEST, MORE, SAMPLES, SEED, golden, most_samples
from tabla.commands.cli import main
from tabla.learn.runs import words_of_inputs
from tabla.schedule.placing.borders import Border
from tabla.templates.template import timing

ONE_BASED = "def f(float(E) T, int32(N) I) -> (O) { O(i) = T(I(i) - 1) }"
RAMP = "def f(float(E) T, int32(N) I) -> (O) { O(i) = T(I(i) + 9*i) where i in 0:N }"
RAMP_INPUTS = {"T": np.array([0.25, 0.5, 0.75, 1.0]), "I": np.array([1, -9, -15, -27, -33])}


def vectors(text: str, folder: Path, **options: Any) -> dict[str, Any] | None:
    path = folder / "f.tc"
    path.write_text(text)
    build = tabla.compile(path, pes=2, **options)
    return golden(build, None if build.options.inputs is None else lambda: words_of_inputs(build, SEED))


def test_positions_are_drawn_in_their_range(tmp_path: Path) -> None:
    made = vectors(ONE_BASED, tmp_path, sizes={"E": 4, "N": 50})
    assert made is not None
    # Each of the four words of the table is read by some sample.
    outputs = made["outputs"].reshape(SAMPLES, 50)
    assert [len(set(row)) for row in outputs.tolist()] == [4] * SAMPLES


def test_a_run_is_longer_where_that_takes_few_cycles(tmp_path: Path) -> None:
    long, short = (vectors(ONE_BASED, tmp_path, sizes={"E": 4, "N": n}) for n in (3, 1000))
    assert long is not None and short is not None
    # The higher bits of a count of samples are used from 8 samples on.
    assert [case["samples"] for case in long["predicted"]] == [SAMPLES, SAMPLES, MORE, SAMPLES, SAMPLES]
    seen = long["predicted"][2]["seen"]
    assert len(seen["starts"]) == MORE and len(seen["outputs"]) == 3 * MORE
    expected = long["outputs"].tolist()
    assert seen["outputs"][: 3 * SAMPLES] == expected
    assert seen["outputs"][3 * SAMPLES : 6 * SAMPLES] == expected
    assert MORE not in [case["samples"] for case in short["predicted"]]


def test_the_beats_of_the_samples_limit_the_longest_run_too() -> None:
    quick = Border(beats=4, slots=2, release=20, initiation_interval=55)
    assert most_samples(quick, latency=100) == MORE
    slow = Border(beats=609, slots=2, release=20, initiation_interval=55)
    count = most_samples(slow, latency=100)
    ends = [slow.tokens(n, timing())[1][-1] + 100 for n in (count, count + 1)]
    assert ends[0] <= LONGEST < ends[1]
    assert most_samples(slow, latency=LONGEST) == 0


def test_vectors_of_the_inputs_where_no_draw_is_valid(tmp_path: Path) -> None:
    made = vectors(RAMP, tmp_path, inputs=RAMP_INPUTS)
    assert made is not None
    row = [512, 256, 1024, 256, 1024]
    assert made["outputs"].tolist() == row * SAMPLES


def test_no_vectors_and_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vectors(RAMP, tmp_path, sizes={"E": 4, "N": 5}) is None
    out = tmp_path / "out"
    assert main(["gen", str(tmp_path / "f.tc"), "--size", "E=4", "--size", "N=5", "--pes", "2", "-o", str(out)]) == 0
    assert not (out / "tb").exists() and (out / "f.v").exists()
    told = capsys.readouterr().err
    assert "warning: no test bench is written, because random integers give positions outside a tensor" in told
    assert "hint: give valid inputs with --inputs FILE" in told
    np.savez(tmp_path / "inputs.npz", **RAMP_INPUTS)
    command = ["gen", str(tmp_path / "f.tc"), "--inputs", str(tmp_path / "inputs.npz"), "--pes", "2", "-o", str(out)]
    assert main(command) == 0
    assert json.loads((out / "tb" / "golden.json").read_text())["samples"] == SAMPLES
    assert "no test bench" not in capsys.readouterr().err
