"""The examples: each trains with the command and the format that its text states, and is as good as float64 on data
that it has not seen.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.commands.cli import main
from tabla.examples.catalogue import EXAMPLES, Example, held_out_ratings, ratings
from tabla.learn.data.split import split_of

pytest.importorskip("sklearn", reason="the data sets come with scikit-learn")

# For each example, on its test part, the least accuracy, or the largest ratio of the last loss to the first one.
GOALS = {"linear": 0.6, "logistic": 0.98, "svm": 0.98, "recommender": 0.12, "backprop": 0.97, "backprop2": 0.95}


def command_of(example: Example) -> list[str]:
    found = re.search(r"^// Run: +tabla (.*)$", example.program.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return shlex.split(found[1])


def test_every_program_is_in_the_catalogue() -> None:
    folder = Path(__file__).resolve().parent.parent.parent / "examples"
    assert {p.stem for p in folder.glob("*.t")} == set(EXAMPLES) == set(GOALS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_states_its_data_and_its_format(name: str) -> None:
    example = EXAMPLES[name]
    text, command = example.program.read_text(encoding="utf-8"), command_of(example)
    assert command[:2] == ["train", f"{name}.t"]
    assert command[command.index("--data") + 1] == example.data
    assert f"// Data:   {example.data}" in text
    stated = re.search(r"^// Format: (q\d+\.\d+)", text, re.MULTILINE)
    used = command[command.index("--format") + 1] if "--format" in command else "q6.10"
    assert stated and stated[1] == used
    assert len([line for line in text.splitlines() if line.split("//")[0].strip()]) <= 20


# The network with two hidden layers trains for half a minute.
LONG = ("backprop2",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in EXAMPLES]
)
def test_trains_beside_float64(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["examples", name]) == 0
    capsys.readouterr()
    assert main([*command_of(EXAMPLES[name]), "--engine", "model", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    ours, theirs = record["accelerator"][-1], record["float64"][-1]
    if record["metric"] == "accuracy":
        assert abs(ours["test_metric"] - theirs["test_metric"]) <= 0.01
        assert ours["test_metric"] >= GOALS[name]
    else:
        assert abs(ours["test_loss"] - theirs["test_loss"]) <= 0.02 * theirs["test_loss"]
        assert ours["test_loss"] <= GOALS[name] * record["accelerator"][0]["test_loss"]
    assert record["loss"] == ("hinge" if name == "svm" else "mse")
    assert record["cycles"]["predicted"] == record["cycles"]["simulated"]
    assert record["latency"]["predicted"] == record["latency"]["simulated"]
    assert record["overflows"] == record["domain_errors"] == 0


def sizes() -> Iterator[object]:
    """Every example on every size. The longest search is slow on all sizes but one."""
    for name, pes in product(EXAMPLES, [1, 4, 16, 64]):
        marks = [pytest.mark.slow] if name in LONG and pes not in (1, 16) else []
        yield pytest.param(name, pes, id=f"{name}-{pes}", marks=marks)


@pytest.mark.parametrize(("name", "pes"), list(sizes()))
def test_every_word_at_every_size(name: str, pes: int) -> None:
    """`simulate` compares every word with the evaluation, and raises an AssertionError for a difference."""
    build = tabla.compile(EXAMPLES[name].program, pes=pes, format="q6.12")
    arrays = EXAMPLES[name].arrays()
    done = build.simulate(arrays, engine="model", samples=12, seed=3)
    assert done.cycles_predicted == done.cycles_simulated == build.report().cycles >= build.report().bound
    assert done.latency_predicted == done.latency_simulated


def test_ratings_are_the_same_every_time() -> None:
    first, second, tested = ratings(), ratings(), held_out_ratings()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert first["r"].mean() == pytest.approx(0.48, abs=0.02)
    assert tested["r"].mean() == pytest.approx(0.12, abs=0.02)
    assert not (first["r"] * tested["r"]).any(), "no rating is both learnt from and held out"
    assert not first["y"][first["r"] == 0].any() and not tested["y"][tested["r"] == 0].any()


@pytest.mark.parametrize("name", ["linear", "logistic", "svm", "backprop"])
def test_the_scale_comes_from_the_samples_that_are_learnt_from(name: str) -> None:
    arrays, command = EXAMPLES[name].arrays(), command_of(EXAMPLES[name])
    split = split_of(command[command.index("--split") + 1], None)
    assert split is not None
    rows = split.indices(len(arrays["x"]))
    learnt, held_out = arrays["x"][rows.training], arrays["x"][rows.test]
    assert np.allclose(learnt.mean(axis=0), 0) and np.allclose(learnt.std(axis=0), 1)
    assert not np.allclose(held_out.mean(axis=0), 0)
