"""Every operator and attribute: the fixed-point evaluation against the reference evaluator of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabla
from tabla.languages.onnx import inference
from tabla.languages.onnx.call import Operator
from tabla.languages.onnx.model import Given, Model, Node
from tabla.languages.onnx.operators import OPERATORS
from tests.languages.onnx.cases import CASES, FIGURES, IMAGE, one, pad
from tests.languages.onnx.models import FORMAT, close, read


def test_a_negative_padding_cuts() -> None:
    """The reference evaluator has no negative paddings."""
    case = pad(0, 0, -1, 2, 0, 1, 0, -2)
    x = case.samples()["x"]
    found = read(case.proto(), format=FORMAT).evaluate({"x": x})["y"]
    close(found, np.pad(x, ((0, 0), (0, 1), (0, 0), (2, 0)))[:, :, 1:, :-2])


ELSEWHERE = {
    ("ZipMap", "classlabels_int64s"): "tests/languages/onnx/test_converted.py, with an evaluator of its own",
    ("ZipMap", "classlabels_strings"): "tests/languages/onnx/test_converted.py, with an evaluator of its own",
    ("BatchNormalization", "spatial"): "below; the reference evaluator fails in versions before 9",
    ("Gemm", "transA"): "it exchanges the axis of the samples, and is refused (tests/languages/onnx/test_faults.py)",
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


@pytest.mark.parametrize("operator", ["Mul", "Div", "Max", "Pow"])
def test_equal_elements_are_a_scalar(operator: str) -> None:
    """A constant means the same in every shape: it scales, and no word of it is held."""
    number = {"Mul": 0.0001, "Div": 100.0, "Max": -1000.0, "Pow": 2.0}[operator]
    x = {"x": np.array([[-32.0, -1.5, 0.25, 1.0, 20.5, 31.75]])}
    found = []
    for shape in ((), (1,), (6,), (1, 6)):
        case = one(operator, "x b", arrays={"b": np.full(shape, number)})
        made = read(case.proto(), format="q6.10")
        assert not made.reading.models
        found.append(made.evaluate(x)["y"])
    for other in found[1:]:
        np.testing.assert_array_equal(np.ravel(other), np.ravel(found[0]))
    with np.errstate(divide="ignore"):
        real = {"Mul": x["x"] * number, "Div": x["x"] / number, "Max": x["x"], "Pow": x["x"] ** 2}[operator]
    assert np.abs(np.clip(real, -32, 32 - 2**-10) - found[0]).max() <= 2**-10


def test_numbers_that_round_to_zero_are_named() -> None:
    case = one("Mul", "x b", arrays={"b": np.array([0.0001, 0.0, 0.5, -0.0002, 0.001, 3.0])})
    text = "'b': 2 of 6 numbers round to zero; the smallest step of q6.10 is 0.0009765625"
    assert text in read(case.proto(), format="q6.10").warnings
    assert not read(case.proto(), format="q8.24").warnings
