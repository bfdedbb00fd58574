"""Mistakes in CSV and NPZ files, and in the data of ``tabla sim`` and ``tabla eval``."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabla.base.arrays import write_npz
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake, usage

HEADER = "x[0],x[1],x[2],x[3],y\n"
ROW = "0.1,0.2,0.3,0.4,1\n"
TRAIN = "train model.t --engine model --data"
X, Y, W = np.zeros((3, 4)), np.zeros(3), np.zeros(4)


def npz(**arrays: object) -> bytes:
    """Return the content of an .npz file, as numpy writes it."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def npy(array: object) -> bytes:
    """Return the content of an .npy file."""
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def one(name: str, array: object) -> bytes:
    """Return the content of an .npz file whose only array has a name that is no Python name."""
    file = io.BytesIO()
    write_npz(file, {name: np.asarray(array)})
    return file.getvalue()


CSV = {
    "no such file": mistake(f"{TRAIN} no.csv", "cannot read 'no.csv'", "hint: check the path"),
    "nothing": mistake(f"{TRAIN} d.csv", "holds no sample", d_csv=""),
    "a header alone": mistake(f"{TRAIN} d.csv", "holds no sample", d_csv=HEADER),
    "no header": mistake(f"{TRAIN} d.csv", "first line has numbers alone", "--no-header", d_csv=ROW * 3),
    "colons": mistake(f"{TRAIN} d.csv", "is not a name of a program", d_csv=(HEADER + ROW).replace(",", ":")),
    "a word": mistake(
        f"{TRAIN} d.csv", "row 3, column 'y': 'yes' is not a number", d_csv=HEADER + ROW + ROW[:-2] + "yes"
    ),
    "a hole": mistake(f"{TRAIN} d.csv", "row 2, column 'x[3]': the value is missing", d_csv=f"{HEADER}1,1,1,,1\n"),
    "nan": mistake(f"{TRAIN} d.csv", "row 2, column 'x[1]': the value is missing", d_csv=f"{HEADER}1,nan,1,1,1\n"),
    "infinity": mistake(f"{TRAIN} d.csv", "row 2, column 'y': 'inf' is not a finite", d_csv=f"{HEADER}1,1,1,1,inf\n"),
    "a short row": mistake(
        f"{TRAIN} d.csv", "row 3 has 4 values, but the header has 5", d_csv=f"{HEADER}{ROW}1,1,1,1\n"
    ),
    "a column twice": mistake(f"{TRAIN} d.csv", "two columns 'x[0]'", d_csv=HEADER.replace("x[1]", "x[0]") + ROW),
    "a column too few": mistake(
        f"{TRAIN} d.csv", "column 'x[1]' is missing", d_csv=HEADER.replace("x[1],", "") + ROW[4:]
    ),
    "a column too many": mistake(f"{TRAIN} d.csv", "'x' has shape (1, 5)", d_csv="x[4]," + HEADER + "5," + ROW),
    "a stranger": mistake(f"{TRAIN} d.csv", "'z', which the program does not have", d_csv="z," + HEADER + "5," + ROW),
    "no label": mistake(f"{TRAIN} d.csv", "'y' is missing", d_csv="x[0],x[1],x[2],x[3]\n1,2,3,4\n"),
    "large numbers": mistake(
        f"{TRAIN} d.csv",
        "input 'x' holds 1e+09 in row 3 of 'd.csv'",
        "no number format holds it and small numbers as well: divide 'x' by 1,000,000,000",
        d_csv=HEADER + ROW + ROW.replace("0.2", "1e9"),
    ),
    "a large label": mistake(
        f"{TRAIN} d.csv",
        "label 'y' holds 346 in row 3 of 'd.csv'",
        "use --format q10.10, or divide 'y' by 1,000",
        d_csv=HEADER + ROW + ROW.replace(",1\n", ",346\n"),
    ),
    "Latin-1": mistake(
        f"{TRAIN} d.csv",
        "not UTF-8 text: line 2 has the byte 0xe9",
        "iconv",
        d_csv=f"{HEADER}1,1,1,1,caf\xe9".encode("latin1"),
    ),
    "UTF-16": mistake(f"{TRAIN} d.csv", "'d.csv' is not text", "in UTF-8", d_csv=(HEADER + ROW).encode("utf-16")),
    "a workbook": mistake(f"{TRAIN} d.xlsx", "neither .npz nor .csv", d_xlsx="PK"),
}
NPZ = {
    "no such file": mistake(f"{TRAIN} no.npz", "cannot read 'no.npz'", "hint: check the path"),
    "a folder": mistake(f"{TRAIN} .", "'.' is neither .npz nor .csv"),
    "nothing": mistake(f"{TRAIN} d.npz", "it is empty", d_npz=b""),
    "a text": mistake(f"{TRAIN} d.npz", "it is damaged, or has another format", "np.savez", d_npz=HEADER + ROW),
    "half a file": mistake(f"{TRAIN} d.npz", "damaged", d_npz=npz(x=X, y=Y)[:300]),
    "a single array": mistake(f"{TRAIN} d.npz", "a single array without a name", "np.savez", d_npz=npy(X)),
    "Python objects": mistake(
        f"{TRAIN} d.npz", "array 'x' of 'd.npz' holds Python objects", d_npz=npz(x=np.array([{}]))
    ),
    "texts": mistake(f"{TRAIN} d.npz", "array 'y' of 'd.npz' holds <U3, not real", d_npz=npz(x=X, y=["yes"] * 3)),
    "complex numbers": mistake(f"{TRAIN} d.npz", "holds complex128, not real", d_npz=npz(x=X * 1j, y=Y)),
    "nan": mistake(f"{TRAIN} d.npz", "array 'x' of 'd.npz' holds nan at [0, 0]", d_npz=npz(x=X * np.nan, y=Y)),
    "another shape": mistake(
        f"{TRAIN} d.npz", "'x' has shape (3, 5)", "(samples, 4)", d_npz=npz(x=np.zeros((3, 5)), y=Y)
    ),
    "fewer labels": mistake(f"{TRAIN} d.npz", "'y' has 2 samples and 'x' has 3", d_npz=npz(x=X, y=Y[:2])),
    "one label": mistake(f"{TRAIN} d.npz", "has no axis of samples", d_npz=npz(x=X, y=0.0)),
    "no sample": mistake(f"{TRAIN} d.npz", "holds no sample", d_npz=npz(x=X[:0], y=Y[:0])),
    "no label": mistake(f"{TRAIN} d.npz", "'y' is missing in the data", "reads x, y", d_npz=npz(x=X)),
    "a stranger": mistake(f"{TRAIN} d.npz", "'z', which the program does not have", d_npz=npz(x=X, y=Y, z=Y)),
    "a name of blanks": mistake(f"{TRAIN} d.npz", "' ', which the program does not have", d_npz=one(" ", Y)),
}
WEIGHTS = {
    "no model": mistake(f"{TRAIN} data.npz --weights d.npz", "'w[4]' is missing in the weights", d_npz=npz()),
    "another shape": mistake(f"{TRAIN} data.npz --weights d.npz", "model 'w' has shape (3,)", d_npz=npz(w=W[:3])),
    "another model": mistake(f"{TRAIN} data.npz --weights d.npz", "holds 'v'", "it has w", d_npz=npz(w=W, v=W)),
    "samples of models": mistake(
        f"{TRAIN} data.npz --weights d.npz", "has shape (2, 4)", d_npz=npz(w=np.zeros((2, 4)))
    ),
    "nan": mistake(f"{TRAIN} data.npz --weights d.npz", "holds nan at [0]", d_npz=npz(w=W * np.nan)),
    "large numbers": mistake(f"{TRAIN} data.npz --weights d.npz", "model 'w' holds 40, outside", d_npz=npz(w=W + 40)),
    "a damaged file": mistake(f"{TRAIN} data.npz --weights d.npz", "damaged", d_npz=npz(w=W)[:99]),
}


@pytest.mark.parametrize("name", CSV)
def test_csv(refused: Refused, name: str) -> None:
    assert "hint: " in refused(CSV[name])


@pytest.mark.parametrize("name", NPZ)
def test_npz(refused: Refused, name: str) -> None:
    assert "hint: " in refused(NPZ[name])


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(refused: Refused, name: str) -> None:
    assert "hint: " in refused(WEIGHTS[name])


RUNS = {
    "no inputs": usage("{}", "--inputs"),
    "no such inputs": mistake("{} no.npz", "cannot read 'no.npz'"),
    "no model": mistake("{} data.npz", "model 'w[4]' is missing", "--weights", "--seed 0"),
    "no model in a table": mistake("{} data.csv", "model 'w[4]' is missing", "--weights", "--seed 0"),
    "a model twice": mistake("{} in.npz --weights weights.npz", "both hold the model 'w'"),
    "weights with data": mistake("{} data.npz --weights in.npz", "the set of weights holds 'x'"),
    "weights of another shape": mistake("{} data.npz --weights d.npz", "model 'w' has shape (3,)", d_npz=npz(w=W[:3])),
    "no label": mistake("{} d.npz", "'y' is missing", d_npz=npz(x=X, w=W)),
    "a stranger": mistake("{} d.npz", "'z', which the program does not have", d_npz=npz(x=X, y=Y, w=W, z=Y)),
    "no samples": usage("{} in.npz --samples 0", "--samples: 0 is less than 1"),
    "a seed of letters": usage("{} data.npz --seed one", "--seed: 'one' is not a whole number"),
    "a result that is not there": mistake("{} in.npz --result p", "--result p"),
    "steps that do not fill": mistake(
        "{} in.npz --minibatch 3", "20 samples do not fill minibatches of 3", "--samples 18"
    ),
    "a text as output": mistake("{} in.npz -o out.csv", "ends in .npz"),
}


@pytest.mark.parametrize("command", ["eval model.t -o out.npz", "sim model.t -o out.npz"])
@pytest.mark.parametrize("name", RUNS)
def test_runs(refused: Refused, command: str, name: str) -> None:
    wrong = RUNS[name]
    first, *more = wrong.words
    assert first == "{}"
    words = (*command.split(), *(("--inputs", *more) if more else ()))
    assert "hint: " in refused(replace(wrong, words=words))


def test_weights_are_the_models_that_the_inputs_lack(folder: Path) -> None:
    from tabla.commands.cli import main

    weights = np.array([1.0, -1.0, 0.5, 0.25])
    np.savez("w.npz", w=weights)
    with np.load("data.npz") as data:
        np.savez("both.npz", x=data["x"], y=data["y"], w=weights)
    for command in ("eval", "sim"):
        assert main(f"{command} model.t --pes 4 --inputs both.npz -o one.npz -q".split()) == 0
        assert main(f"{command} model.t --pes 4 --inputs data.npz --weights w.npz -o two.npz -q".split()) == 0
        assert Path("one.npz").read_bytes() == Path("two.npz").read_bytes()
