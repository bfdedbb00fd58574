"""``tabla.toml``: who reads it, what comes first, and what it may not say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabla.commands.cli import main
from tabla.commands.settings import PROGRAM_COMMANDS, complete, read_settings
from tests.logistic_program import LOGISTIC

Run = Callable[..., str]
SETTINGS = """# A comment with epochs = 9 in it.
file = "p.t"
data = "d.csv"
epochs = 3
split = [0.25]
standardise = true
classes = ["y"]
pes = 2
format = "q5.9"

[columns]
x = ["a", "b"]
y = ["kind"]

[defines]
m = 2

[train]
output = "p.npz"
seed = 4

[test]
weights = "p.npz"

[predict]
weights = "p.npz"
"""
MODEL = ("--engine", "model", "-q")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with settings, a program and a table."""
    monkeypatch.chdir(tmp_path)
    Path("p.t").write_text(LOGISTIC)
    Path("tabla.toml").write_text(SETTINGS)
    chance = np.random.default_rng(2).normal(size=(40, 2)) * [3, 1]
    lines = ["a,kind,b", *(f"{a:.3f},{'yes' if a > b else 'no'},{b:.3f}" for a, b in chance)]
    Path("d.csv").write_text("\n".join(lines) + "\n")
    return command


def record(run: Run, *words: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(run(*words, *MODEL, "--json", "-"))
    return found


LONG = (
    *(
        "train",
        "p.t",
        "--data",
        "d.csv",
        "--epochs",
        "3",
        "--split",
        "0.25",
        "--standardise",
        "--classes",
        "y",
        "--seed",
        "4",
    ),
    *("--pes", "2", "--format", "q5.9", "--columns", "x=a,b", "y=kind", "-D", "m=2"),
)


def test_the_settings_are_what_the_options_would_be(run: Run) -> None:
    short = record(run, "train")
    assert Path("p.npz").is_file(), "the models are written where the settings say"
    Path("tabla.toml").unlink()
    assert record(run, *LONG) == short


def test_the_command_line_comes_first(run: Run) -> None:
    assert record(run, "train", "--epochs", "1", "--format", "q6.8")["format"] == "q6.8"
    found = record(run, "train", "--split-last", "0.1")
    assert found["test_samples"] == 4, "the split of the settings is not in the way"
    run("train", "--weights", "p.npz", *MODEL)  # nor is their seed


def test_the_file_that_it_names_may_be_named(run: Run) -> None:
    assert record(run, "train", "./p.t") == record(run, "train")


def test_other_files_and_folders_do_not_read_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("other.t").write_text(LOGISTIC)
    assert "the following arguments are required: --data" in run("train", "other.t", status=2)
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    assert "the following arguments are required: FILE, --data" in run("train", status=2)
    Path("tabla.toml").write_text("broken = ")
    Path("p.t").write_text(LOGISTIC)
    said = run("check", "p.t", status=1)  # whether it names p.t is not known
    assert "this is no TOML" in said


def test_the_first_line_says_so(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == "tabla.toml gives file, pes, format, defines"
    assert "no errors" in said.err


def test_models_tell_their_format_and_columns_themselves(run: Run) -> None:
    run("train", *MODEL)
    text = SETTINGS.replace("q5.9", "q8.4").replace('x = ["a", "b"]', 'x = ["b", "a"]')
    Path("tabla.toml").write_text(text)
    tested = json.loads(run("test", "--data", "d.csv", *MODEL, "--json", "-"))
    assert tested["format"] == "q5.9"
    Path("tabla.toml").unlink()
    words = ("test", "p.t", "-D", "m=2", "--pes", "2", "--weights", "p.npz", "--data", "d.csv")
    assert json.loads(run(*words, *MODEL, "--json", "-")) == tested
    Path("tabla.toml").write_text(text)
    assert json.loads(run("test", "--data", "d.csv", *MODEL, "--format", "q6.8", "--json", "-"))["format"] == "q6.8"


def test_predictions_need_the_new_data_alone(run: Run) -> None:
    said = run("predict", "--data", "d.csv", status=1)
    assert "'p.npz' is not there yet" in said and "tabla.toml:26:1" in said and "tabla train writes it" in said
    run("train", *MODEL)
    run("predict", "--data", "d.csv", "-q", "-o", "out.csv")
    assert Path("out.csv").read_text().startswith("kind,h\n")


def test_a_table_of_a_command_comes_before_the_keys_above(run: Run) -> None:
    Path("tabla.toml").write_text(SETTINGS.replace("seed = 4", "seed = 4\nepochs = 1"))
    assert record(run, "train")["epochs"] == 1


def test_gen_takes_what_has_a_meaning_for_it(run: Run) -> None:
    assert "q5.9" in run("gen", "-q", "-o", "build")
    Path("tabla.toml").write_text(SETTINGS.replace("q5.9", "auto12"))
    assert "chosen by the loss" in run("gen", "-q", "-o", "build")


def test_show_says_where_a_value_comes_from(run: Run) -> None:
    said = run("show")
    assert "epochs           3  (tabla.toml:4)\n" in said
    assert "train.output     p.npz  (tabla.toml:19)\n" in said
    assert "columns          x = a, b; y = kind  (tabla.toml:11)\n" in said
    assert said.endswith("no models yet: tabla train learns them\n")
    run("train", *MODEL)
    both = run("show", "p.npz")
    assert "models of p.npz, which come before tabla.toml in what they tell\n" in both and "SHA-256" in both
    assert both == run("show")
    Path("tabla.toml").unlink()
    assert run("show", "p.npz") == both.partition("tell\n")[2]
    assert "no tabla.toml in this folder" in run("show", status=1)


@pytest.mark.parametrize(
    ("old", "new", "message", "place", "cure"),
    [
        ("epochs = 3", "epoch = 3", "there is no option 'epoch'", "4:1", "did you mean 'epochs'?"),
        ("epochs = 3", "split-seed = 3", "there is no option 'split-seed'", "4:1", "did you mean 'split_seed'?"),
        ("epochs = 3", "colour = 3", "there is no option 'colour'", "4:1", "tabla train --help"),
        ("epochs = 3", 'output = "w.npz"', "there is no option 'output'", "4:1", "such as [train]"),
        ("epochs = 3", "epochs = 0", "epochs: 0 is less than 1", "4:1", "use 1 or more"),
        ("epochs = 3", 'epochs = "3x"', "'3x' is not a whole number", "4:1", "1 or more"),
        ("epochs = 3", "epochs = true", "epochs: True is not a whole number", "4:1", "use 1 or more"),
        ("epochs = 3", "epochs = ", "this is no TOML", "4:10", "quotes"),
        ("epochs = 3", "epochs = 3\nepochs = 4", "this is no TOML: Cannot overwrite", "5:11", "quotes"),
        ("split = [0.25]", "split = [0.5, 0.6]", "leaves no training part", "5:1", "--split 0.2"),
        ("split = [0.25]", 'missing = "median"', "no treatment of missing values 'median'", "5:1", "use error or mean"),
        (
            "standardise = true",
            'standardise = "yes"',
            "standardise: 'yes' is not a truth value",
            "6:1",
            "True or False",
        ),
        ('classes = ["y"]', "classes = 1", "classes: 1 is no list of names", "7:1", "['y']"),
        ('x = ["a", "b"]', "x = 5", "columns['x']: 5 is no list of names", "11:2", "['sepal', 'petal']"),
        ('file = "p.t"', "file = 5", "file: 5 is not the path of a file", "2:1", "quotes"),
        ("seed = 4", "sead = 4", "tabla train has no option 'sead'", "20:1", "did you mean 'seed'?"),
        ("seed = 4", "widths = 4", "tabla train has no option 'widths'", "20:1", "tabla train --help"),
        (
            "[defines]\nm = 2",
            "[training]\nepochs = 2",
            "there is no option 'training'",
            "15:2",
            "did you mean 'train'?",
        ),
    ],
)
def test_what_is_refused(run: Run, old: str, new: str, message: str, place: str, cure: str) -> None:
    assert SETTINGS.count(old) == 1
    Path("tabla.toml").write_text(SETTINGS.replace(old, new))
    said = run("train", status=1)
    assert said.startswith("error: ") and message in said, said
    assert f" --> tabla.toml:{place}\n" in said, said
    assert cure in said.partition("hint: ")[2], said
    assert not Path("p.npz").exists()


def test_a_column_that_is_wrong_in_the_settings(run: Run) -> None:
    Path("tabla.toml").write_text(SETTINGS.replace('"b"]', '"c"]'))
    assert "has no column 'c'" in run("train", status=1)


@pytest.mark.parametrize("command", PROGRAM_COMMANDS)
def test_every_command_of_a_program_may_leave_it_out(run: Run, command: str) -> None:
    from argparse import Namespace

    from tabla.commands.cli import _parsed

    parsed = _parsed([command])
    assert isinstance(parsed, Namespace) and parsed.file is None
    if command in ("test", "predict"):
        np.savez("p.npz", w=np.zeros(2))
    assert "file" in complete(parsed) and parsed.file == "p.t"


def test_a_folder_without_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_settings() is None
    Path("tabla.toml").mkdir()
    assert read_settings() is None
