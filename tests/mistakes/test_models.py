"""Mistakes with models of ONNX, as the commands read them."""

from __future__ import annotations

import pytest

from tests.languages.onnx.cases import one
from tests.languages.onnx.models import drawn
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import Mistake, mistake

SOUND = one("Add", "x b", arrays={"b": drawn(6)}).proto().SerializeToString()
LEARNS = "check m.onnx --train b --loss mse --learning-rate 0.1"


def model(words: str, *says: str, content: bytes = SOUND) -> Mistake:
    """Return a mistake with the model ``m.onnx``."""
    return mistake(words, *says, m_onnx=content)


MODELS = {
    "no file": mistake("check n.onnx", "cannot read 'n.onnx'", "check the path"),
    "a text": model("check m.onnx", "'m.onnx' is not a valid ONNX model", content=b"a text\n"),
    "half a file": model("check m.onnx", "'m.onnx'", content=SOUND[: len(SOUND) // 2]),
    "an operator that is missing": model(
        "check m.onnx", "Selu '/selu': this operator is not there", " --> m.onnx:1:1", "the operators are Abs, Add",
        content=one("Selu").proto().SerializeToString(),
    ),
    "a size": model("check m.onnx --size N=4", "--size is not for models of ONNX"),
    "an input with a slip": model("check m.onnx --shape z=6", "--shape z: the model has no such input", "x"),
    "another shape": model("check m.onnx --shape x=7", "--shape x=7 does not fit [?, 6]"),
    "a rate alone": model("check m.onnx --learning-rate 1", "'m' does not learn", "--train"),
    "no loss": model("check m.onnx --train b --learning-rate 1", "needs a loss", "--loss cross-entropy or --loss mse"),
    "no rate": model("check m.onnx --train b --loss mse", "needs a learning rate", "--learning-rate"),
    "a loss with a slip": model(f"{LEARNS} --loss msq", "there is no loss 'msq'"),
    "an initialiser with a slip": model(f"{LEARNS} --train c", "--train c: the model has no such initialiser", "b"),
    "what a program says itself": mistake("check model.t --train w", "--train is for kernels (.tc, .kernel)"),
    "a function by option": mistake("check layer.py:double --shape I=4 --loss mse", "--loss is for kernels"),
    "data of another shape": model(
        "eval m.onnx --inputs data.npz -o out.npz", "the input holds 'y', which the program does not have"
    ),
    "training without learning": model(
        "train m.onnx --data data.npz", "'m.onnx' does not learn as it is", "--train NAME,NAME"
    ),
    "a result with a slip": model("check m.onnx --result z", "--result z: 'm' does not compute it"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model(name: str, refused: Refused) -> None:
    refused(MODELS[name])
