"""Mistakes of ``tabla test``, and of the options of ``tabla train`` for held-out samples and tables."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tabla.base.arrays import write_npz
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake, usage

TEST = "test model.t --data data.npz --weights"
TRAIN = "train model.t --engine model --data"
CODED = "x[0],x[1],x[2],x[3],y\n1,2,3,4,no\n1,2,3,5,yes\n1,2,2,5,no\n"


def npz(**arrays: object) -> bytes:
    """Return an .npz file; two underscores in a keyword stand for the dot in the name of an array."""
    file = io.BytesIO()
    write_npz(file, {name.replace("__", "."): np.asarray(array) for name, array in arrays.items()})
    return file.getvalue()


W = np.zeros(4)
SCORING = {
    "no weights": mistake("test model.t --data data.npz", "'model.t' brings no models", "--weights"),
    "no data": usage("test model.t --weights weights.npz", "--data"),
    "no such weights": mistake(f"{TEST} no.npz", "cannot read 'no.npz'", "hint: check the path"),
    "the data as weights": mistake(f"{TEST} data.npz", "the set of weights holds 'x'", "it has w"),
    "weights of another shape": mistake(f"{TEST} v.npz", "model 'w' has shape (3,)", v_npz=npz(w=W[:3])),
    "a scale of another shape": mistake(
        f"{TEST} v.npz",
        "'x.mean' beside the models has shape (3,), but the program declares 'x[4]'",
        "for this program",
        v_npz=npz(w=W, x__mean=W[:3], x__deviation=W[:3] + 1),
    ),
    "half a scale": mistake(f"{TEST} v.npz", "'x.deviation' is missing", "tabla train -o", v_npz=npz(w=W, x__mean=W)),
    "too many classes": mistake(
        f"{TEST} v.npz", "there are 3 classes of 'y' beside the models", v_npz=npz(w=W, y__classes=["a", "b", "c"])
    ),
    "other classes": mistake(
        f"{TEST} v.npz", "has the class '1', which the training part", "a, b", v_npz=npz(w=W, y__classes=["a", "b"])
    ),
    "data without labels": mistake(
        "test model.t --weights weights.npz --data d.csv",
        "no label 'y'",
        "tabla eval",
        d_csv="x[0],x[1],x[2],x[3]\n1,2,3,4\n",
    ),
    "no samples": usage(f"{TEST} weights.npz --samples 0", "--samples: 0 is less than 1"),
    "an unknown engine": usage(f"{TEST} weights.npz --engine steam", "unknown engine 'steam'"),
    "a metric that does not fit": mistake(
        "test model.t --weights weights.npz --data d.csv --metric accuracy",
        "accuracy needs labels",
        d_csv="x[0],x[1],x[2],x[3],y\n1,2,3,4,0.5\n",
    ),
    "a prediction that is not there": mistake(f"{TEST} weights.npz --predict p", "no such value"),
    "a kernel": mistake("test kernel.tc --size N=4 --data data.npz --weights weights.npz", "is a kernel", "tabla sim"),
    "JSON into a folder": mistake(f"{TEST} weights.npz --json .", "'.' is a folder"),
}
HELD_OUT = {
    "no shares": usage(f"{TRAIN} data.npz --split", "--split"),
    "shares in words": mistake(f"{TRAIN} data.npz --split half", "is not one or two numbers", "--split 0.2"),
    "a share of per cent": mistake(f"{TRAIN} data.npz --split 20", "no share from 0 to 1", "--split 0.2"),
    "three shares": mistake(f"{TRAIN} data.npz --split 0.2,0.2,0.2", "has 3 shares"),
    "an empty part": mistake(f"{TRAIN} data.npz --split 0.01", "the test part of 20 samples empty", "at least 0.05"),
    "two test parts": mistake(f"{TRAIN} data.npz --split 0.2 --test data.npz", "from both", "leave one of them out"),
    "a seed of nothing": mistake(f"{TRAIN} data.npz --split-seed 3", "chooses nothing without --split"),
    "no patience": usage(f"{TRAIN} data.npz --split 0.2,0.2 --patience 0", "--patience: 0 is less than 1"),
    "patience without a validation part": mistake(f"{TRAIN} data.npz --split 0.2 --patience 3", "--split 0.2,0.1"),
    "a test part of models": mistake(f"{TRAIN} data.npz --test in.npz", "the test data holds 'w'"),
}
TABLES = {
    "columns without a name": usage(f"{TRAIN} data.csv --columns sepal", "'sepal' is not NAME=COLUMN,COLUMN,..."),
    "a name without columns": usage(f"{TRAIN} data.csv --columns x=", "'x=' is not NAME=COLUMN,COLUMN,..."),
    "a name twice": mistake(f"{TRAIN} data.csv --columns x=a x=b", "names 'x' twice"),
    "a model from columns": mistake(f"{TRAIN} data.csv --columns w=a", "no input or label 'w'", "it has x, y"),
    "a column that is not there": mistake(f"{TRAIN} data.csv --columns x=a", "no column 'a'", "it has x[0], x[1]"),
    "columns of arrays": mistake(f"{TRAIN} data.npz --columns x=a", "is no table", "leave --columns out"),
    "classes of an input": mistake(f"{TRAIN} data.npz --classes x", "no label 'x'", "its labels are y"),
    "a single class": mistake(
        f"{TRAIN} d.csv --classes y", "has 1 class of 'y' (no)", d_csv=CODED.replace("yes", "no")
    ),
    "three classes": mistake(
        f"{TRAIN} d.csv --classes y", "has 3 classes of 'y'", "declare 'y[3]'", d_csv=CODED + "1,2,3,4,perhaps\n"
    ),
    "a class that is missing": mistake(
        f"{TRAIN} d.csv --classes y", "row 3, column 'y': the class is missing", d_csv=CODED.replace("yes", "")
    ),
    "names without the option": mistake(f"{TRAIN} d.csv", "'no' is not a number", "--classes", d_csv=CODED),
    "a negative order": usage(f"{TRAIN} data.npz --shuffle -1", "--shuffle: -1 is less than 0"),
}


@pytest.mark.parametrize("name", SCORING)
def test_scoring(refused: Refused, name: str) -> None:
    assert "hint: " in refused(SCORING[name])


@pytest.mark.parametrize("name", HELD_OUT)
def test_held_out(refused: Refused, name: str) -> None:
    assert "hint: " in refused(HELD_OUT[name])


@pytest.mark.parametrize("name", TABLES)
def test_tables(refused: Refused, name: str) -> None:
    assert "hint: " in refused(TABLES[name])
