"""What newcomers give: numbers that are not finite, axes and extents that do not fit, and files of other tools."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from sklearn import linear_model

import tabla
from tabla.languages.onnx.values import LARGEST
from tabla.templates.template import limits
from tests.languages.onnx.cases import COEFFICIENTS, FIGURES, IMAGE, LINE, listed, one
from tests.languages.onnx.models import ML, Case, drawn, node, read, refused

NAN, INFINITE = float("nan"), float("inf")


def padded(number: float) -> Case:
    """Return a padding with a number."""
    return Case(nodes=[node("Pad", "x s v", "y")], arrays={**listed(s=[0, 1, 0, 1]), "v": np.float32(number)})


def scaled(**about: Any) -> Case:
    """Return a scaler of the domain for machine learning."""
    return Case(nodes=[node("Scaler", "x", "y", domain=ML, **about)])


REFUSED: dict[str, tuple[Case, str, str]] = {
    "a slope that is no number": (one("LeakyRelu", alpha=NAN), "'alpha' has numbers that are not finite", "export"),
    "an infinite slope": (one("Elu", alpha=INFINITE), "'alpha' has numbers that are not finite", "export"),
    "a limit that is no number": (
        one("Clip", "x a", arrays={"a": np.float32(NAN)}), "'a' is no finite number", "finite number"
    ),
    "an infinite padding": (padded(-INFINITE), "'v' is no finite number", "finite number"),
    "a scaler that is no number": (scaled(offset=[NAN], scale=[1.0]), "'offset' has numbers", "export"),
    "coefficients that are no numbers": (
        Case(nodes=[node("LinearRegressor", "x", "y", domain=ML, coefficients=[NAN, *COEFFICIENTS[1:6]])]),
        "'coefficients' has numbers that are not finite", "export",
    ),
    "a variance below 0": (
        one("BatchNormalization", "x s b m v", arrays={**FIGURES, "v": np.array([1.0, -1, 1])}, **IMAGE),
        "a variance with epsilon is not above 0", "export",
    ),
    "a variance that is no number": (
        one("BatchNormalization", "x s b m v", arrays={**FIGURES, "v": np.array([1.0, NAN, 1])}, **IMAGE),
        "its operands have numbers that are not finite", "export",
    ),
    "texts in an array": (
        Case(nodes=[node("Add", "x b", "y")], arrays={"b": np.array(["a"] * 6, dtype=object)}),
        "'b' holds texts, which are no numbers", "export",
    ),
    "places that are no integers": (
        one("Gather", "x i", axis=1, arrays={"i": np.array([0.5])}), "'i' holds no integers", "int64"
    ),
    "extents that are no integers": (
        one("Reshape", "x s", arrays={"s": np.array([-1.0, 6.0])}), "'s' holds no integers", "int64"
    ),
    "an extent below -1": (one("Reshape", "x s", arrays=listed(s=[-1, -2, -3])), "an extent below -1", "from 1 on"),
    "a new axis twice": (one("Unsqueeze", "x s", arrays=listed(s=[1, 1])), r"\[1, 1\] name one of them twice", "once"),
    "a new axis too far": (
        one("Unsqueeze", "x s", arrays=listed(s=[9])), r"axes \[9\] of a result of 3 axes", "use -3 to 2"
    ),
    "an axis that goes twice": (
        one("Squeeze", "x s", arrays=listed(s=[1, -2]), of_shapes={"x": (1, 6)}), "name one of them twice", "once"
    ),
    "a mean over an axis twice": (one("ReduceMean", axes=[1, 1]), "name one of them twice", "once"),
    "an axis of a padding": (
        Case(nodes=[node("Pad", "x s _ a", "y")], arrays=listed(s=[1, 2], a=[7]), opset=18),
        r"axes \[7\] of a tensor of 2 axes", "at most once",
    ),
    "a count of parts": (
        Case(nodes=[node("Split", "x", "y z", axis=1, num_outputs=3)], opset=18), "num_outputs=3 and 2 res", "equal"
    ),
    "a maximum of paddings": (
        one("MaxPool", kernel_shape=[2], pads=[3, 3], **LINE), "a window lies in the padding alone", "pad less"
    ),
    "a mean of paddings": (
        one("AveragePool", kernel_shape=[2], pads=[0, 2], **LINE), "a window lies in the padding alone", "pad less"
    ),
    "a quotient of integers": (
        Case(nodes=[node("ArgMax", "x", "p", axis=1), node("Div", "p b", "y")], arrays={"b": np.array(2)}),
        "it divides integers", "cast to float first",
    ),
    "a power of integers": (
        Case(nodes=[node("ArgMax", "x", "p", axis=1), node("Pow", "p b", "y")], arrays={"b": np.float32(-1)}),
        "it divides integers", "cast to float first",
    ),
    "a mean of integers": (
        Case(nodes=[node("Cast", "x", "i", to=7), node("ReduceMean", "i", "y", axes=[1])]),
        "it divides integers", "cast to float first",
    ),
    "no features": (
        Case(nodes=[node("ArrayFeatureExtractor", "x i", "y", domain=ML)], arrays=listed(i=[])),
        r"features \[\] of 6", "use 0 to 5",
    ),
    "a padding without end": (
        one("AveragePool", kernel_shape=[2], pads=[0, 2**62], count_include_pad=1, **LINE),
        "windows of 2 elements in 4,611", "the limit of both is 8,388,608",
    ),
    "a result without end": (
        one("Pad", "x s", arrays=listed(s=[0, 0, 0, 2**40])), "its result has 1,099,511,", "holds 8,388,608"
    ),
    "an approximation": (one("Gelu", opset=20, approximate="fast"), "approximate=fast is not there", "none, tanh"),
    "a quotient of arrays that is infinite": (
        Case(nodes=[node("Div", "w v", "d"), node("Add", "x d", "y")], arrays={"w": drawn(6), "v": np.zeros(6)}),
        "'d' has elements that are no finite numbers", "export",
    ),
    "quantised numbers": (
        one("QuantizeLinear", "x s z", arrays={"s": np.float32(0.1), "z": np.uint8(3)}), "is not there", "operators are"
    ),
    "a recurrent layer": (
        Case(nodes=[node("LSTM", "x w r", "y", hidden_size=3)], shapes={"x": (2, 6)},
             arrays={"w": drawn(1, 12, 6), "r": drawn(1, 12, 3)}),
        "is not there; the node has hidden_size=3", "operators are",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    case, message, hint = REFUSED[name]
    fault = refused(case, message, hint)
    assert fault.line == len(case.nodes) and fault.file == "model.onnx"


def test_a_mean_that_counts_its_padding_may_have_nothing_else() -> None:
    case = one("AveragePool", kernel_shape=[2], pads=[2, 0], count_include_pad=1, **LINE)
    found = read(case.proto()).evaluate(case.samples())["y"]
    assert not found[:, :, 0].any() and found[:, :, 2].any()


def test_an_infinite_limit_is_none() -> None:
    case = one("Clip", "x a b", arrays={"a": np.float32(-INFINITE), "b": np.float32(INFINITE)})
    found = read(case.proto(), format="q8.24").evaluate(case.samples())["y"]
    np.testing.assert_allclose(found, case.samples()["x"], atol=2**-23)


def _branches() -> ModelProto:
    """Return a model with an `If`. Its condition is known, and its branches are graphs."""
    case = Case(nodes=[node("Relu", "x", "y")], arrays={"c": np.array(True)})
    proto = case.proto()
    inner = helper.make_graph(list(proto.graph.node), "inner", [], list(proto.graph.output))
    proto.graph.node[0].CopyFrom(helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner))
    return proto


def _newer() -> ModelProto:
    proto = one("Relu").proto()
    proto.opset_import[0].version = onnx.defs.onnx_opset_version() + 1
    return proto


def _without_results() -> ModelProto:
    proto = one("Relu").proto()
    del proto.graph.output[:]
    return proto


def _of_a_function() -> ModelProto:
    proto = one("LeakyRelu", alpha=0.5).proto()
    proto.graph.node[0].attribute[0].ref_attr_name = "slope"
    return proto


def _twice() -> ModelProto:
    proto = one("Relu").proto()
    proto.graph.node.append(proto.graph.node[0])
    return proto


def _cycle() -> ModelProto:
    return Case(nodes=[node("Add", "x b", "a"), node("Relu", "a", "b")], outputs=("b",)).proto()


def _complex() -> ModelProto:
    proto = one("Add", "x b", arrays={"b": drawn(6)}).proto()
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.ones(6, np.complex64), "b"))
    return proto


def _sequence() -> ModelProto:
    proto = one("Relu").proto()
    proto.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None))
    return proto


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (_branches, r"If: this operator is not there; the node has .*then_branch=\.\.\.", "the operators are"),
        (_newer, r"has operators of version \d+, and the package onnx here knows them up to", "an older version"),
        (_without_results, "'model.onnx' has no results", "name the results"),
        (_of_a_function, "the attribute 'alpha' stands for 'slope' of a function", "export"),
        (_twice, "is not a valid ONNX model: .*'y'", "export it anew"),
        (_cycle, "is not a valid ONNX model: .*topologically sorted", "export it anew"),
        (_complex, "the tensor 'b' has numbers of type complex64", "float32"),
        (_sequence, "the input 'x' is no tensor", "tensors of numbers"),
    ],
)
def test_models_that_cannot_be_read(make: Any, message: str, hint: str) -> None:
    with pytest.raises(tabla.TablaError, match=message) as caught:
        _ = read(make()).lowered
    assert hint in (caught.value.hint or "")


def test_an_input_without_end() -> None:
    with pytest.raises(tabla.TablaError, match="'x' has 4,611,686,018,427,387,904 elements, the largest array holds"):
        read(one("Split", axis=1, of_shapes={"x": (2**62,)}).proto())


def test_the_largest_tensor_fills_the_largest_array() -> None:
    assert limits().pes * limits().memory_words == LARGEST


def test_a_constant_reduced_over_an_empty_list_of_axes() -> None:
    nodes = [node("ReduceSum", "w", "s", keepdims=0), node("Mul", "x s", "y")]
    nodes[0].attribute.append(helper.make_attribute("axes", [], attr_type=onnx.AttributeProto.INTS))
    case = Case(nodes=nodes, arrays={"w": np.array([0.25, 0.5])}, opset=11)
    found = read(case.proto(), format="q8.24").evaluate(case.samples())["y"]
    np.testing.assert_allclose(found, case.samples()["x"] * 0.75, atol=2**-16)


def test_names_that_mean_something_in_verilog() -> None:
    case = Case(
        nodes=[node("Add", "module always", "endmodule"), node("Mul", "endmodule wire", "reg")],
        shapes={"module": (6,)}, arrays={"always": drawn(6), "wire": drawn(6)}, outputs=("reg",),
    )  # fmt: skip
    samples = {name: array[:2] for name, array in case.samples().items()}
    made = read(case.proto(), format="q8.24", pes=4, effort=0)
    np.testing.assert_allclose(made.simulate(samples).arrays["reg"], case.expected()["reg"][:2], atol=2**-16)
    assert "always" in made.reading.models


def test_inputs_that_are_results_and_inputs_that_nothing_reads() -> None:
    case = Case(nodes=[node("Relu", "x", "y")], shapes={"x": (6,), "z": (3,)}, outputs=("x", "y"))
    x = case.samples()["x"]
    found = read(case.proto(), format="q8.24").evaluate({"x": x})
    np.testing.assert_allclose(found["x"], x, atol=2**-24)
    assert set(found) == {"x", "y"}


def test_fewer_labels_than_positions() -> None:
    nodes = [
        node("ArgMax", "x", "p", axis=1, keepdims=0), node("ArrayFeatureExtractor", "names p", "y", domain=ML),
    ]  # fmt: skip
    made = read(Case(nodes=nodes, arrays={"names": np.array([5, 3])}).proto())
    with pytest.raises(tabla.TablaError, match="'y' has the position 5, and the model has 2 labels for it") as caught:
        made.evaluate({"x": np.arange(6.0)[None]})
    assert "a label for each class" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "a\nb"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    """`write` names its files after the program. The name "../x" would put a file outside of the folder."""
    with pytest.raises(tabla.TablaError, match=r"name: .* cannot name files") as caught:
        tabla.from_onnx(one("Relu").proto(), name=name)
    assert "name='model'" in (caught.value.hint or "")
    with pytest.raises(tabla.TablaError, match=r"name: .* cannot name files"):
        tabla.from_sklearn(linear_model.Ridge().fit(np.eye(3), np.arange(3)), name=name)
