"""Every operator and attribute: the fixed-point evaluation against the reference evaluator of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabla
from tabla.lang.onnx import inference
from tabla.lang.onnx.call import Operator
from tabla.lang.onnx.model import Given, Model, Node
from tabla.lang.onnx.operators import OPERATORS
from tests.lang.onnx.cases import CASES, FIGURES, IMAGE, one, pad
from tests.lang.onnx.models import FORMAT, close, read


def test_a_negative_padding_cuts() -> None:
    """The reference evaluator has no negative paddings."""
    case = pad(0, 0, -1, 2, 0, 1, 0, -2)
    x = case.samples()["x"]
    found = read(case.proto(), format=FORMAT).evaluate({"x": x})["y"]
    close(found, np.pad(x, ((0, 0), (0, 1), (0, 0), (2, 0)))[:, :, 1:, :-2])


ELSEWHERE = {
    ("ZipMap", "classlabels_int64s"): "tests/lang/onnx/test_converted.py, with an evaluator of its own",
    ("ZipMap", "classlabels_strings"): "tests/lang/onnx/test_converted.py, with an evaluator of its own",
    ("BatchNormalization", "spatial"): "below; the reference evaluator fails in versions before 9",
    ("Gemm", "transA"): "it exchanges the axis of the samples, and is refused (tests/lang/onnx/test_faults.py)",
}
"""What has no case: the reference evaluator does not have it, or it is refused."""


def test_every_operator_and_every_attribute_has_a_case() -> None:
    nodes = [each for case in CASES.values() for each in case.nodes]
    there = {(each.op_type, attribute.name) for each in nodes for attribute in each.attribute}
    known = {(each.name, attribute) for each in OPERATORS.values() for attribute in each.attributes}
    assert known - there == set(ELSEWHERE)
    assert {each.name for each in OPERATORS.values()} - {each.op_type for each in nodes} == {"ZipMap"}


def test_a_normalisation_of_version_7() -> None:
    """In version 7 `spatial` is 1 where each channel has its figures, and 0 where each element has. 0 is refused."""
    case = CASES["BatchNormalization"]
    found = []
    for about in ({"opset": 7, "spatial": 1}, {"opset": 17}):
        own = one("BatchNormalization", "x s b m v", arrays=FIGURES, **IMAGE, **about)
        found.append(read(own.proto(), format=FORMAT).evaluate(case.samples())["y"])
    assert np.array_equal(*found)
    other = one("BatchNormalization", "x s b m v", arrays=FIGURES, opset=7, spatial=0, **IMAGE)
    with pytest.raises(tabla.TablaError, match="spatial=0 is not there"):
        read(other.proto())


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda each: each.name)
def test_an_operator_refuses_what_it_does_not_know(operator: Operator) -> None:
    """An attribute that is missing is named, and operands of any number and rank give a result or an error."""
    with pytest.raises(tabla.TablaError, match=rf"{operator.name} '/n': the attribute 'odd' is not there") as caught:
        inference(alone(operator, ("x",), (3,), odd=1), {})
    assert "the attributes that are there: " in (caught.value.hint or "") and caught.value.line == 1
    for shape in ((), (3,), (2, 3, 4)):
        for count in range(1, 4):
            try:
                inference(alone(operator, ("x",) * count, shape), {})
            except tabla.TablaError as fault:
                assert fault.hint


def alone(operator: Operator, inputs: tuple[str, ...], shape: tuple[int, ...], **attributes: Any) -> Model:
    """Return a model of one node. The package onnx would not let all of them pass."""
    made = Node(
        operator=operator.name, inputs=inputs, outputs=("y",), attributes=attributes, domain=operator.domain, name="/n"
    )
    given = Given(name="x", shape=(None, *shape), kind="float")
    return Model.make("model", [given], ["y"], [made], {}, opset=17, file="model.onnx")


@pytest.mark.parametrize("name", CASES)
def test_an_operator(name: str) -> None:
    case = CASES[name]
    found = read(case.proto(), format=FORMAT).evaluate(case.samples())
    for shown, expected in case.expected().items():
        if shown in case.whole or shown in case.texts:
            assert np.array_equal(found[shown], expected)
        else:
            close(found[shown], expected)
