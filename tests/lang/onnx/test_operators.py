"""Every operator and attribute: the fixed-point evaluation against the reference evaluator of ONNX."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lang.onnx.cases import CASES, pad
from tests.lang.onnx.models import FORMAT, close, read


def test_a_negative_padding_cuts() -> None:
    """The reference evaluator has no negative paddings."""
    case = pad(0, 0, -1, 2, 0, 1, 0, -2)
    x = case.samples()["x"]
    found = read(case.proto(), format=FORMAT).evaluate({"x": x})["y"]
    close(found, np.pad(x, ((0, 0), (0, 1), (0, 0), (2, 0)))[:, :, 1:, :-2])


@pytest.mark.parametrize("name", CASES)
def test_an_operator(name: str) -> None:
    case = CASES[name]
    found = read(case.proto(), format=FORMAT).evaluate(case.samples())
    for shown, expected in case.expected().items():
        if shown in case.whole or shown in case.texts:
            assert np.array_equal(found[shown], expected)
        else:
            close(found[shown], expected)
