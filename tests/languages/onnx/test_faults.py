"""Models that cannot be read or compiled: each fault names its node and its cure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import tabla
from tabla.build.options import Options
from tabla.driver import build
from tabla.languages.onnx.names import distinct
from tests.languages.onnx.cases import FIGURES, IMAGE, MATRIX, SMALL, W64, conv, listed, one, pad, shaped
from tests.languages.onnx.models import FORMAT, Case, close, drawn, node, read, refused

REFUSED: dict[str, tuple[Case, str, str]] = {
    "an operator that is missing": (
        one("Selu", alpha=1.5, gamma=1.25),
        r"Selu '/selu': this operator is not there; the node has alpha=1.5, gamma=1.25",
        r"the operators are Abs, Add, .*, Tanh",
    ),
    "a slip of the pen": (one("Cos"), "this operator is not there; the node has no attributes", "the operators are"),
    "a type of cast": (one("Cast", to=8), "a cast to the type 8", "real numbers"),
    "exponents that differ": (one("Pow", "x p", arrays={"p": np.arange(6.0)}), "its exponents differ", "one exponent"),
    "an exponent that is no number": (
        one("Pow", "x p", arrays={"p": np.float32("nan")}), "no finite number", "a finite number"
    ),
    "an exponent that is computed": (
        one("Pow", "x z", of_shapes={"x": (6,), "z": (6,)}), "'z' is an input of the model, and must be", "initialiser"
    ),
    "a shape that is computed": (
        Case(nodes=[node("Relu", "x", "z"), node("Reshape", "x z", "y")]), "'z' is computed for each", "initialiser"
    ),
    "an extent that is an input": (
        one("ConstantOfShape"), "'x' is an input of the model, and must be", "initialiser"
    ),
    "a product over samples": (
        one("MatMul", "w x", arrays={"w": W64}), "sum over the samples of 'x'", "one by one"
    ),
    "samples that meet another axis": (
        one("MatMul", "x z", of_shapes={"x": (6,), "z": (6, 4)}), "axis of the samples is not the first one", "first"
    ),
    "samples that are transposed": (one("Gemm", "x w", arrays={"w": W64}, transA=1), "transA exchanges", "one by one"),
    "the axis of the samples": (one("Softmax", axis=0), "axis 0 is that of the samples", "one by one"),
    "an axis that is none": (one("Softmax", axis=3), "axis 3 of a tensor of 2 axes", "use -2 to 1"),
    "extents that differ": (one("Add", "x b", arrays={"b": drawn(5)}), "do not broadcast together", "equal or 1"),
    "an array for some samples": (
        one("Add", "x b", arrays={"b": drawn(4, 6)}), "first extent is 4 meets the axis of the samples", "must be 1"
    ),
    "inner extents": (one("Gemm", "x w", arrays={"w": drawn(5, 4)}), "6 columns meet 5 rows", "inner extents"),
    "a softmax that evaluators differ about": (one("Softmax", opset=12, **MATRIX), "evaluators differ", "convert"),
    "an old version": (one("Relu", opset=6), "operators of version 6, and the oldest version that is read is 7", "13"),
    "channels that differ": (conv((4, 2, 3, 3)), "3 channels in 1 groups meet weights", "channels of a group"),
    "a window that is too large": (conv((4, 3, 7, 3)), "a window of 7 elements over 6 has no place", "smaller window"),
    "pads for other axes": (conv((4, 3, 3, 3), pads=[1, 1]), "pads has 2 numbers", "give 4"),
    "a rule of padding": (conv((4, 3, 3, 3), auto_pad="SOME"), "auto_pad=SOME is not there", "NOTSET, VALID"),
    "a convolution without channels": (conv((4, 3, 3), {"of_shapes": {"x": (6,)}}), "of 3 axes whose first", "--shape"),
    "a normalisation that learns": (
        one("BatchNormalization", "x s b m v", arrays=FIGURES, training_mode=1, **IMAGE), "samples of a batch", "eval"
    ),
    "a shape that mixes samples": (shaped("Reshape", -1, 4), "does not keep the samples", "first axis"),
    "a shape of other size": (shaped("Reshape", 0, 41), "does not keep the samples", "first axis"),
    "a transposition of samples": (one("Transpose", perm=[1, 0, 2], **MATRIX), "moves the axis of the samples", "one"),
    "samples in a row": (one("Concat", "x x", axis=0), "axis 0 is that of the samples", "one by one"),
    "a mean of all samples": (one("ReduceMean", **SMALL), "reduces over the samples", "name the axes"),
    "a padding of samples": (pad(1, 0, 0, 0, 0, 0, 0, 0), "axis 0 is that of the samples", "one by one"),
    "a reflection that is too long": (pad(0, 0, 0, 5, 0, 0, 0, 0, mode="reflect"), "pads 5 and 0 for 5", "use 0 to 4"),
    "rows that data choose": (one("Gather", "w x", arrays={"w": W64}), "'x' is an input of the model", "make it an"),
    "some of the samples": (one("Gather", "x i", arrays=listed(i=[1])), "axis 0 is that of the samples", "one by"),
    "a row that is not there": (
        one("Gather", "x i", axis=1, arrays={"i": np.array(6)}), "index 6 of an axis of 6 elements", "use -6 to 5"
    ),
    "a table of rows": (
        one("Gather", "x i", axis=1, arrays={"i": np.array([[1]])}), r"its indices have the shape \[1, 1\]", "a list"
    ),
    "a slice of samples": (
        one("Slice", "x s e", arrays=listed(s=[1], e=[9])), "axis 0 is that of the samples", "one by one"
    ),
    "a slice of the first samples": (
        one("Slice", "x s e", arrays=listed(s=[0], e=[2])), "axis 0 is that of the samples", "one by one"
    ),
    "an empty slice": (
        one("Slice", "x s e a", arrays=listed(s=[3], e=[3], a=[1])), "leaves no elements", "take at least one"
    ),
    "a slice without an end": (one("Slice", opset=9, starts=[1, 2], ends=[3]), "do not fit together", "one of each"),
    "sizes that do not add up": (
        Case(nodes=[node("Split", "x s", "y z", axis=1)], arrays=listed(s=[2, 3])),
        r"6 elements do not split into \[2, 3\]", "give 2 sizes",
    ),
    "an infinite weight": (
        one("Add", "x b", arrays={"b": np.full(6, np.inf, dtype=np.float32)}), "no finite numbers", "export"
    ),
    "a constant result": (
        Case(nodes=[node("Relu", "w", "y")], arrays={"w": drawn(6)}), "the result 'y' is the same", "leave it out"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    refused(*REFUSED[name])


def test_a_fault_points_to_the_line_of_its_node() -> None:
    case = Case(nodes=[node("Relu", "x", "h"), node("Selu", "h", "y")])
    with pytest.raises(tabla.TablaError) as caught:
        read(case.proto())
    assert (caught.value.file, caught.value.line, caught.value.column) == ("model.onnx", 2, 1)
    assert "2 | y = Selu(h)" in str(caught.value)


def test_an_operand_that_is_an_input_of_the_model() -> None:
    """A shape without an axis of samples had been told to be left out of --train, where nothing learnt."""
    for operator in ("Reshape", "Squeeze", "Unsqueeze", "Clip"):
        graph = helper.make_graph(
            [helper.make_node(operator, ["x", "s"], ["y"])],
            "g",
            [
                helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 6]),
                helper.make_tensor_value_info("s", TensorProto.INT64, [3]),
            ],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        with pytest.raises(tabla.TablaError) as caught:
            tabla.from_onnx(model)
        assert caught.value.message == f"{operator}: its operand 's' is an input of the model, and must be known before"
        assert caught.value.hint == "make it an initialiser of the model"


MOVED: dict[str, Case] = {
    "a transposition": one("Transpose", perm=[1, 0, 2], **MATRIX),
    "a transposed product": one("Gemm", "x w", arrays={"w": drawn(1, 4)}, transA=1),
    "a product over samples": one("MatMul", "w x", arrays={"w": drawn(4, 1)}),
    "a product behind another axis": one("MatMul", "x w", arrays={"w": drawn(2, 6, 4)}),
    "a row of samples": one("Concat", "x x", axis=0),
    "a reduction": one("ReduceMean", **SMALL),
    "a shape": shaped("Reshape", 2, -1),
    "a new axis": one("Unsqueeze", "x a", arrays=listed(a=[0])),
    "a flat sample": one("Flatten", axis=0, **MATRIX),
    "the rank of another": one("Add", "x b", arrays={"b": drawn(2, 1, 6)}),
    "a sum of two inputs": Case(
        nodes=[node("Add", "x z", "s"), node("Transpose", "s", "y")], shapes={"x": (6,), "z": (6,)}
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_moved_axis_of_samples_names_the_shape_with_which_the_model_is_exact(name: str) -> None:
    case = MOVED[name]
    whole = {each: (1, *shape) for each, shape in case.shapes.items()}
    options = " ".join(f"--shape {each}={','.join(map(str, shape))}" for each, shape in whole.items())
    refused(case, "sample", f"; {options} takes that axis for one of a sample, of extent 1$")
    build = read(case.proto(), shapes=whole, format=FORMAT, effort=0)
    inputs = {each: drawn(*shape) for each, shape in whole.items()}
    results: Any = ReferenceEvaluator(case.proto()).run(None, inputs)
    expected = np.asarray(results[0])
    close(build.evaluate(inputs)["y"].reshape(expected.shape), expected)


def _given(shape: list[Any], kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    graph = helper.make_graph(
        [node("Relu", "x", "y")],
        "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("shape", "given", "own"),
    [
        (["N", 6], None, (6,)),
        ([1, 6], None, (6,)),
        ([32, 6], None, (32, 6)),
        ([32, 6], (6,), (6,)),
        (["N", 3, "T"], (3, 5), (3, 5)),
        (["N", "M"], (2, 5), (2, 5)),
        (["N"], None, ()),
        ([1], None, (1,)),
        ([], None, ()),
    ],
)
def test_the_shape_of_a_sample(shape: list[Any], given: tuple[int, ...] | None, own: tuple[int, ...]) -> None:
    made = read(_given(shape), shapes={} if given is None else {"x": given})
    assert made.lowered.tensors["x"].shape == own


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        (["N", 3, "T"], {}, r"'x' has the shape \[3, \?\] for a sample, and an accelerator has a fixed one"),
        (["N", 3, "T"], {"shapes": {"x": (4, 5)}}, r"--shape x=4,5 does not fit \[\?, 3, \?\]"),
        (["N", 3, "T"], {"shapes": {"x": (5,)}}, r"--shape x=5 does not fit"),
        (["N", 3], {"shapes": {"z": (5,)}}, r"--shape z: the model has no such input"),
        (["N", 3], {"arguments": {"s": 5}}, r"--arg is for Tile functions"),
        (["N", 3], {"keep": ("x",)}, r"--keep is not for models of ONNX"),
        (["N", 3], {"learning_rate": 0.1}, r"--learning-rate: 'model' does not learn"),
        (["N", 3], {"results": ("z",)}, r"--result z: 'model' does not compute it"),
    ],
)
def test_options_that_do_not_fit(shape: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(tabla.TablaError, match=message):
        read(_given(shape), **options)


def test_inputs_of_other_types(tmp_path: Path) -> None:
    assert read(_given(["N", 6], TensorProto.INT64)).evaluate({"x": [[1, -2, 3, 0, 5, 6]]})["y"].max() == 6
    with pytest.raises(tabla.TablaError, match="'x' is no tensor of numbers"):
        read(_given(["N", 6], TensorProto.STRING))


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path, sound = tmp_path / "model.onnx", one("Add", "x b", arrays={"b": drawn(6)}).proto()
    for content, message in (
        (b"", "it has no nodes"),
        (b"\x00\x01 text", "is not a valid ONNX model"),
        (sound.SerializeToString()[:-40], "is not a valid ONNX model|has no nodes"),
    ):
        path.write_bytes(content)
        with pytest.raises(tabla.TablaError, match=message):
            tabla.from_onnx(path)
    with pytest.raises(tabla.TablaError, match="cannot read"):
        tabla.from_onnx(tmp_path / "none.onnx")
    with pytest.raises(TypeError, match="a value of type int is no model of ONNX"):
        tabla.from_onnx(3)  # type: ignore[arg-type]
    sound.graph.node[0].input[0] = "nowhere"
    path.write_bytes(sound.SerializeToString())
    with pytest.raises(tabla.TablaError, match=r"is not a valid ONNX model: .*nowhere"):
        tabla.from_onnx(path)


def test_external_data(tmp_path: Path) -> None:
    """Weights in a file of their own are read from beside the model, and are missed where they are not there."""
    case, path = one("Add", "x b", arrays={"b": drawn(600)}, of_shapes={"x": (600,)}), tmp_path / "model.onnx"
    onnx.save(case.proto(), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    np.testing.assert_array_equal(build(path, Options()).reading.models["b"], case.arrays["b"].astype(np.float64))
    outside = onnx.load(path, load_external_data=False)
    with pytest.raises(tabla.TablaError, match="the numbers of 'b' are not in the model"):
        read(outside)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(tabla.TablaError, match="cannot read the external data of"):
        tabla.from_onnx(path)


def test_names() -> None:
    given = [
        "x",
        "a.b",
        "a b",
        "a,b",
        "w.next",
        "w.mean",
        "w.t3",
        "w.tail",
        "w.old",
        "constant.0",
        "scale.12",
        "my.scale.1",
        "constant.0.weight",
        "input.1",
        "onnx::Gemm_10",
        "/fc/out",
        "é",
        "",
    ]
    assert list(distinct(given, ["x"]).values()) == [
        "x_2", "a.b", "a_b", "a_b_2", "w_next", "w_mean", "w_t3", "w.tail", "w_old", "constant_0", "scale_12",
        "my.scale.1", "constant.0.weight", "input.1", "onnx::Gemm_10", "/fc/out", "_", "__2",
    ]  # fmt: skip


def test_a_name_of_the_tool_takes_no_words_from_an_array() -> None:
    """The factor of LeakyRelu is a constant, which is loaded under a name of the tool's own."""
    x, found = {"x": np.array([[1.0, -1.0, 2.0]])}, []
    for name in ("w", "constant.0"):
        nodes = [node("Mul", f"x {name}", "h"), helper.make_node("LeakyRelu", ["h"], ["y"], alpha=0.25)]
        case = Case(nodes=nodes, arrays={name: np.array([2.0, 3.0, -1.0], np.float32)}, shapes={"x": (3,)})
        found.append(read(case.proto()).evaluate(x)["y"].tolist())
    assert found[0] == found[1] == [[2.0, -0.75, -0.5]]


def test_arrays_have_the_names_of_the_model() -> None:
    arrays = {"fc 1.weight": W64, "w,2": drawn(4), "0": drawn(4)}
    nodes = [node("Relu", "x", "h")]
    nodes += [helper.make_node("Gemm", ["h", "fc 1.weight", "w,2"], ["/out.mean"])]
    nodes += [helper.make_node("Add", ["/out.mean", "0"], ["y"])]
    case = Case(nodes=nodes, arrays=arrays)
    made = read(case.proto(), results=("/out_mean",))
    assert list(made.reading.models) == ["fc_1.weight", "w_2", "0"]
    assert made.evaluate(case.samples()).keys() == {"y", "/out_mean"}


def test_a_name_that_looks_like_a_part() -> None:
    """The program calls parts of a value ``y.1`` and so on; a value of the model may have that name already."""
    nodes = [node("Relu", "input.1", "y.1"), node("Softmax", "y.1", "y")]
    case = Case(nodes=nodes, shapes={"input.1": (6,)}, outputs=("y.1", "y"))
    found = read(case.proto(), format="q8.24").evaluate(case.samples())
    for name, expected in case.expected().items():
        close(found[name], expected)
