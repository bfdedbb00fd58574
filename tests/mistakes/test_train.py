"""Mistakes of ``tabla train``: its options, its data and its weights."""

from __future__ import annotations

import pytest

from tests.logistic_program import LOGISTIC
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake, usage

TRAIN = "train model.t --engine model"
INFERENCE = LOGISTIC[: LOGISTIC.index("gradient")] + "iterator i[0:m];\nh = sum[i](w[i] * x[i]);\n"

OPTIONS = {
    "no data": usage(TRAIN, "--data"),
    "no epochs": usage(f"{TRAIN} --data data.npz --epochs 0", "--epochs: 0 is less than 1"),
    "half an epoch": usage(f"{TRAIN} --data data.npz --epochs 1.5", "--epochs: '1.5' is not a whole number"),
    "a negative seed": usage(f"{TRAIN} --data data.npz --seed -1", "--seed: -1 is less than 0"),
    "seed and weights": usage(f"{TRAIN} --data data.npz --seed 1 --weights weights.npz", "only one of them can be"),
    "no samples": usage(f"{TRAIN} --data data.npz --samples 0", "--samples: 0 is less than 1"),
    "an unknown engine": usage("train model.t --data data.npz --engine steam", "unknown engine 'steam'", "cxxrtl"),
    "an unknown metric": usage(f"{TRAIN} --data data.npz --metric roc", "--metric", "accuracy"),
    "a rate that is no number": usage(f"{TRAIN} --data data.npz --learning-rate nan", "'nan' is not a number"),
    "a rate without end": usage(f"{TRAIN} --data data.npz --learning-rate inf", "'inf' is not a number"),
    "a rate of nothing": mistake(f"{TRAIN} --data data.npz --learning-rate 0", "rate"),
    "a metric that does not fit": mistake(
        f"{TRAIN} --data d.csv --metric accuracy",
        "accuracy needs labels",
        "--metric mse",
        d_csv="x[0],x[1],x[2],x[3],y\n1,2,3,4,0.5\n",
    ),
    "a prediction that is not there": mistake(f"{TRAIN} --data data.npz --predict p", "no such value", "h"),
    "a minibatch larger than the data": mistake(f"{TRAIN} --data data.npz --minibatch 99", "minibatch of 99"),
    "a kernel": mistake("train kernel.tc --size N=4 --data data.npz", "is a kernel", "tabla sim"),
    "a model that does not learn": mistake(
        "train m.t --engine model --data data.npz", "has no gradient", "--weights", m_t=INFERENCE
    ),
    "models into a text": mistake(f"{TRAIN} --data data.npz -o w.csv", "ends in .npz"),
    "models into no folder": mistake(f"{TRAIN} --data data.npz -o no/w.npz", "there is no folder 'no'"),
    "JSON into a folder": mistake(f"{TRAIN} --data data.npz --json .", "'.' is a folder"),
}
WEIGHTS = {
    "no such file": mistake(f"{TRAIN} --data data.npz --weights no.npz", "cannot read 'no.npz'"),
    "the data": mistake(f"{TRAIN} --data data.npz --weights data.npz", "the set of weights holds 'x'", "it has w"),
    "data and models": mistake(f"{TRAIN} --data data.npz --weights in.npz", "the set of weights holds 'x'"),
    "the program": mistake(f"{TRAIN} --data data.npz --weights model.t", "'model.t' is neither .npz nor .csv"),
    "models in the data": mistake(f"{TRAIN} --data in.npz", "'w', which the program does not have"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(refused: Refused, name: str) -> None:
    assert "hint: " in refused(OPTIONS[name])


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(refused: Refused, name: str) -> None:
    assert "hint: " in refused(WEIGHTS[name])
