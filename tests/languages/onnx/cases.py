"""A small model for every operator and attribute, by a name that says what is special about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.languages.onnx.models import ML, Case, drawn, node


def one(operator: str, inputs: str = "x", *, opset: int = 17, arrays: Any = None, **about: Any) -> Case:
    """Return a model of one node. What begins with ``of_`` is about the case, all else are attributes."""
    known = {name.removeprefix("of_"): about.pop(name) for name in list(about) if name.startswith("of_")}
    return Case(nodes=[node(operator, inputs, "y", **about)], opset=opset, arrays=arrays or {}, **known)


def listed(**lists: list[int]) -> dict[str, Any]:
    """Return arrays of integers by name."""
    return {name: np.array(each, dtype=np.int64) for name, each in lists.items()}


POSITIVE: dict[str, Any] = {"of_low": 0.1, "of_high": 4.0}
MATRIX: dict[str, Any] = {"of_shapes": {"x": (4, 6)}}
W46, W64, B4 = drawn(4, 6, scale=0.5), drawn(6, 4, scale=0.5), drawn(4)

LAYERS = {
    "Gemm": one("Gemm", "x w b", arrays={"w": W64, "b": B4}),
    "Gemm transB alpha beta": one("Gemm", "x w b", arrays={"w": W46, "b": B4}, transB=1, alpha=0.5, beta=-2.0),
    "Gemm without bias": one("Gemm", "x w", arrays={"w": W64}, opset=11),
    "Gemm with one bias": one("Gemm", "x w b", arrays={"w": W64, "b": np.float32(0.5)}),
    "Gemm with a row of biases": one("Gemm", "x w b", arrays={"w": W64, "b": B4[None]}, opset=7),
    "MatMul": one("MatMul", "x w", arrays={"w": W64}),
    "MatMul of matrices": one("MatMul", "x w", arrays={"w": W64}, **MATRIX),
    "MatMul from the left": one("MatMul", "w x", arrays={"w": W46[None]}, of_shapes={"x": (6, 3)}),
    "MatMul with a vector": one("MatMul", "x w", arrays={"w": W64[:, 0]}, **MATRIX),
    "MatMul of two inputs": one("MatMul", "x z", of_shapes={"x": (3, 4), "z": (4, 2)}),
    "MatMul of stacks": one("MatMul", "x w", arrays={"w": drawn(1, 2, 6, 3)}, of_shapes={"x": (2, 4, 6)}),
    "MatMul of one for a stack": one("MatMul", "x w", arrays={"w": drawn(1, 1, 6, 3)}, of_shapes={"x": (2, 4, 6)}),
}
ELEMENTWISE = {
    "Add of a row": one("Add", "x b", arrays={"b": drawn(6)}),
    "Add of a number": one("Add", "x b", arrays={"b": np.float32(0.7)}),
    "Add of two inputs": one("Add", "x z", of_shapes={"x": (4, 6), "z": (1, 6)}),
    "Sub from a row": one("Sub", "b x", arrays={"b": drawn(1, 6)}, opset=7),
    "Mul of channels": one("Mul", "x b", arrays={"b": drawn(4, 1)}, **MATRIX),
    "Mul with itself": one("Mul", "x x"),
    "Div by a row": one("Div", "x b", arrays={"b": drawn(6) + 3}),
    "Div by a number": one("Div", "x b", arrays={"b": np.float32(3.0)}),
    "Div of a number": one("Div", "b x", arrays={"b": np.float32(3.0)}, **POSITIVE),
    "Relu": one("Relu"),
    "LeakyRelu": one("LeakyRelu"),
    "LeakyRelu alpha": one("LeakyRelu", alpha=0.3),
    "Clip": one("Clip", "x a b", arrays={"a": np.float32(-0.5), "b": np.float32(1.25)}),
    "Clip from above": one("Clip", "x _ b", arrays={"b": np.float32(0.25)}, opset=13),
    "Clip by attributes": one("Clip", opset=7, min=-1.0, max=0.5),
    "Clip from below by an attribute": one("Clip", opset=10, min=0.0),
    "Sigmoid": one("Sigmoid", of_low=-8.0, of_high=8.0),
    "Tanh": one("Tanh", of_low=-4.0, of_high=4.0),
    "Sqrt": one("Sqrt", **POSITIVE),
    "Exp": one("Exp"),
    "Log": one("Log", **POSITIVE),
    "Neg": one("Neg"),
    "Abs": one("Abs"),
    "Erf": one("Erf"),
    **{
        f"Pow {power}": one("Pow", "x p", arrays={"p": np.float32(power)}, **(POSITIVE if power in (0.5, -1) else {}))
        for power in (0.5, 0, 1, 2, 3, 4, -1)
    },
    **{
        f"Pow {power}": one("Pow", "x p", arrays={"p": np.float32(power)}, of_low=0.75, of_high=1.5)
        for power in (10, -2, 1.5, -0.5, 0.7)
    },
    "Pow with an array": one("Pow", "x p", arrays={"p": np.array([2], dtype=np.int64)}),
    "Pow with exponents for each column": one("Pow", "x p", arrays={"p": np.full(6, 2.0)}),
    "Mul by equal numbers": one("Mul", "x b", arrays={"b": np.full(6, 1e-4)}, of_low=-30.0, of_high=30.0),
    "Div by equal numbers": one("Div", "x b", arrays={"b": np.full((4, 1), 300.0)}, **MATRIX),
    "Max with equal numbers that widen": one(
        "Max", "x b", arrays={"b": np.full((4, 6), 0.25)}, of_shapes={"x": (1, 6)}
    ),
    "Identity": one("Identity"),
    "Dropout": one("Dropout", opset=7),
    "Dropout ratio": one("Dropout", opset=10, ratio=0.25),
    "Dropout seed": one("Dropout", seed=3),
    "Cast saturate": one("Cast", opset=19, to=1, saturate=0),
    "Cast round_mode": one("Cast", opset=25, to=1, round_mode="down"),
    "Cast to integers": one("Cast", to=7, of_whole=("y",), of_low=-9.0, of_high=9.0),
    "Dropout with a ratio": one("Dropout", "x r", arrays={"r": np.float32(0.3)}),
    "PRelu": one("PRelu", "x a", arrays={"a": drawn(4, 1)}, **MATRIX),
    "Elu": one("Elu", alpha=0.75),
    "HardSigmoid": one("HardSigmoid", alpha=0.3, of_low=-4.0, of_high=4.0),
    "HardSigmoid beta": one("HardSigmoid", beta=0.25, of_low=-4.0, of_high=4.0),
    "Softplus": one("Softplus", of_low=-8.0, of_high=8.0, of_count=50),
    "Gelu": one("Gelu", opset=20, of_low=-8.0, of_high=8.0, of_count=50),
    "Gelu approximate": one("Gelu", opset=20, approximate="tanh", of_low=-8.0, of_high=8.0, of_count=50),
    "HardSwish": one("HardSwish", of_low=-4.0, of_high=4.0),
    "Reciprocal": one("Reciprocal", **POSITIVE),
    "Max": one("Max", "x a b", arrays={"a": drawn(6), "b": np.float32(0.1)}),
    "Min": one("Min", "x a", arrays={"a": drawn(6)}),
    "Sum": one("Sum", "x a x", arrays={"a": drawn(6)}),
    "Cast": one("Cast", to=1),
    "Cast to integers and back": Case(
        nodes=[node("Mul", "x three", "t"), node("Cast", "t", "i", to=7), node("Cast", "i", "y", to=1)],
        arrays={"three": np.float32(3)},
    ),
}
CLASSES = {
    "Softmax": one("Softmax", of_low=-6.0, of_high=6.0),
    "Softmax of rows": one("Softmax", axis=1, **MATRIX),
    "Softmax before version 13": one("Softmax", opset=12),
    "Softmax before version 13, axis": one("Softmax", opset=9, axis=2, **MATRIX),
    "LogSoftmax": one("LogSoftmax", axis=1, of_low=-6.0, of_high=6.0),
    "LogSoftmax of columns": one("LogSoftmax", axis=1, **MATRIX),
    "ArgMax": one("ArgMax", axis=1, keepdims=0, of_whole=("y",)),
    "ArgMax of rows": one("ArgMax", axis=-1, of_whole=("y",), opset=11, **MATRIX),
    "ArgMax of columns": one("ArgMax", axis=1, keepdims=0, select_last_index=1, of_whole=("y",), **MATRIX),
}
IMAGE: dict[str, Any] = {"of_shapes": {"x": (3, 6, 7)}}
LINE: dict[str, Any] = {"of_shapes": {"x": (4, 9)}}
SMALL: dict[str, Any] = {"of_shapes": {"x": (2, 4, 5)}}


def conv(weights: tuple[int, ...], about: Any = IMAGE, **attributes: Any) -> Case:
    """Return a convolution with weights of a shape, and with a bias."""
    arrays = {"w": drawn(*weights, scale=0.3), "b": drawn(weights[0])}
    return one("Conv", "x w b", arrays=arrays, **about, **attributes)


WINDOWS = {
    "Conv": conv((4, 3, 3, 3)),
    "Conv with pads": conv((4, 3, 3, 3), pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
    "Conv with uneven pads": conv((2, 3, 2, 3), pads=[0, 2, 1, 1]),
    "Conv with strides": conv((4, 3, 3, 2), strides=[2, 3]),
    "Conv with dilations": conv((4, 3, 2, 3), dilations=[3, 2], pads=[1, 0, 1, 0]),
    "Conv of two groups": conv((6, 2, 2, 2), {"of_shapes": {"x": (4, 4, 4)}}, group=2),
    "Conv of channels": conv((3, 1, 3, 3), group=3, pads=[1, 1, 1, 1]),
    "Conv of channels, doubled": conv((6, 1, 2, 2), group=3),
    "Conv SAME_UPPER": conv((2, 3, 2, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    "Conv SAME_LOWER": conv((2, 3, 2, 4), auto_pad="SAME_LOWER"),
    "Conv VALID": conv((2, 3, 2, 4), auto_pad="VALID"),
    "Conv of points": one("Conv", "x w", arrays={"w": drawn(4, 3, 1, 1)}, **IMAGE),
    "Conv of a line": conv((5, 4, 3), LINE, pads=[1, 1]),
    "Conv of a line, all attributes": conv((6, 2, 3), LINE, group=2, dilations=[2], strides=[2], pads=[2, 1]),
    "Conv of a line, causal": conv((2, 4, 3), LINE, pads=[2, 0]),
    "MaxPool": one("MaxPool", kernel_shape=[2, 2], strides=[2, 2], **IMAGE),
    # With strides of 1 the reference evaluator mixes up paddings that differ.
    "MaxPool that overlaps": one("MaxPool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 1], **IMAGE),
    "MaxPool of negative numbers": one(
        "MaxPool", kernel_shape=[3, 3], pads=[1] * 4, of_low=-3.0, of_high=-1.0, **IMAGE
    ),
    "MaxPool with dilations": one("MaxPool", kernel_shape=[2, 2], dilations=[2, 3], **IMAGE),
    "MaxPool ceil_mode": one("MaxPool", kernel_shape=[2, 2], strides=[4, 2], ceil_mode=1, **IMAGE),
    "MaxPool of a line": one("MaxPool", kernel_shape=[3], strides=[3], **LINE),
    "MaxPool storage_order": one("MaxPool", kernel_shape=[2, 2], storage_order=1, **IMAGE),
    "MaxPool SAME_UPPER": one("MaxPool", kernel_shape=[2, 3], strides=[2, 2], auto_pad="SAME_UPPER", **IMAGE),
    "AveragePool": one("AveragePool", kernel_shape=[2, 3], **IMAGE),
    "AveragePool with strides": one("AveragePool", kernel_shape=[3, 3], strides=[2, 2], opset=7, **IMAGE),
    "AveragePool with pads": one("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], **IMAGE),
    "AveragePool with pads that count": one(
        "AveragePool", kernel_shape=[3, 3], pads=[1, 1, 0, 1], count_include_pad=1, **IMAGE
    ),
    "AveragePool ceil_mode": one("AveragePool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, **IMAGE),
    "AveragePool SAME_LOWER": one("AveragePool", kernel_shape=[2, 3], auto_pad="SAME_LOWER", **IMAGE),
    "AveragePool of a line": one("AveragePool", kernel_shape=[4], strides=[2], pads=[1, 1], **LINE),
    "AveragePool with dilations": one("AveragePool", kernel_shape=[3], dilations=[2], opset=19, **LINE),
    "GlobalAveragePool": one("GlobalAveragePool", **IMAGE),
    "GlobalAveragePool of a line": one("GlobalAveragePool", **LINE),
    "GlobalMaxPool": one("GlobalMaxPool", **IMAGE),
}
FIGURES = {
    name: drawn(3, seed=seed) ** 2 + 0.2 if name == "v" else drawn(3, seed=seed) for seed, name in enumerate("sbmv")
}
REDUCTIONS = {
    "BatchNormalization": one("BatchNormalization", "x s b m v", arrays=FIGURES, **IMAGE),
    "BatchNormalization epsilon": one(
        "BatchNormalization", "x s b m v", arrays=FIGURES, epsilon=0.01, momentum=0.5, of_shapes={"x": (3,)}
    ),
    "BatchNormalization training_mode": one(
        "BatchNormalization", "x s b m v", arrays=FIGURES, training_mode=0, of_shapes={"x": (3,)}
    ),
    "ReduceMean": one("ReduceMean", axes=[1], **SMALL),
    "ReduceMean of all axes": one("ReduceMean", axes=[1, 2, -1], keepdims=0, opset=13, **SMALL),
    "ReduceMean by an operand": one("ReduceMean", "x a", arrays={"a": np.array([2])}, opset=18, **SMALL),
    "ReduceMean of nothing": one("ReduceMean", noop_with_empty_axes=1, opset=18, **SMALL),
    "ReduceSum": one("ReduceSum", "x a", arrays={"a": np.array([-1, 1])}, **SMALL),
    "ReduceSum before version 13": one("ReduceSum", axes=[3], keepdims=0, opset=12, **SMALL),
    "ReduceMax": one("ReduceMax", axes=[2], **SMALL),
    "ReduceMax keepdims": one("ReduceMax", axes=[2], keepdims=0, **SMALL),
    "ReduceMin before version 18": one("ReduceMin", axes=[-1], **SMALL),
    **{
        f"{name} of nothing": one(name, noop_with_empty_axes=1, opset=18, **SMALL)
        for name in ("ReduceSum", "ReduceMax", "ReduceMin")
    },
    "ReduceMin": one("ReduceMin", "x a", arrays={"a": np.array([1])}, keepdims=0, opset=18, **SMALL),
}


def shaped(operator: str, *numbers: int, opset: int = 17, about: Any = SMALL, **attributes: Any) -> Case:
    """Return a node whose second operand is a list of integers."""
    return one(operator, "x s", arrays={"s": np.array(numbers)}, opset=opset, **about, **attributes)


def pad(*pads: int, about: Any = SMALL, **attributes: Any) -> Case:
    """Return a padding in the version of attributes or, with an operand for the number, in that of operands."""
    return shaped("Pad", *pads, about=about, **attributes)


MOVES = {
    "Reshape": shaped("Reshape", 0, 5, 8),
    "Reshape to rows": shaped("Reshape", -1, 40),
    "Reshape one sample": shaped("Reshape", -1, 8, 5),
    "Reshape with 0": shaped("Reshape", 0, 0, -1),
    "Reshape with allowzero": shaped("Reshape", -1, 2, 20, allowzero=1),
    "Flatten": one("Flatten", **SMALL),
    "Flatten axis": one("Flatten", axis=-3, **SMALL),
    "Flatten before a product": Case(
        nodes=[node("Flatten", "x", "f"), node("Gemm", "f w b", "y", transB=1)],
        shapes={"x": (2, 3, 2)}, arrays={"w": drawn(4, 12, scale=0.3), "b": B4},
    ),
    "Reshape by the shape": Case(
        nodes=[
            node("Shape", "x", "s"), node("Gather", "s zero", "n", axis=0), node("Unsqueeze", "n zeros", "n1"),
            node("Concat", "n1 rest", "target", axis=0), node("Reshape", "x target", "y"),
        ],
        shapes={"x": (2, 4, 5)},
        arrays={"zero": np.array(0), "zeros": np.array([0]), "rest": np.array([-1])},
    ),
    "Squeeze": shaped("Squeeze", 2, about={"of_shapes": {"x": (3, 1, 5)}}),
    "Squeeze all": one("Squeeze", "x", of_shapes={"x": (3, 1, 5)}),
    "Squeeze before version 13": one("Squeeze", axes=[1], opset=11, of_shapes={"x": (1, 5)}),
    "Unsqueeze": shaped("Unsqueeze", 1, -1),
    "Unsqueeze before version 13": one("Unsqueeze", axes=[2], opset=11, **SMALL),
    "Transpose": one("Transpose", perm=[0, 3, 1, 2], **SMALL),
    "Transpose of matrices": one("Transpose", perm=[0, 2, 1], **MATRIX),
    "Concat": one("Concat", "x z x", axis=1, of_shapes={"x": (2, 3), "z": (4, 3)}),
    "Concat of the last axis": one("Concat", "x z", axis=-1, of_shapes={"x": (2, 3), "z": (2, 1)}),
    "Concat with an array": one("Concat", "x w", axis=2, arrays={"w": drawn(1, 2, 4)}, of_shapes={"x": (2, 3)},
                                of_count=1),
    "Pad": pad(0, 0, 1, 2, 0, 1, 0, 1),
    "Pad with a number": Case(
        nodes=[node("Pad", "x s v", "y")], shapes={"x": (3, 4)},
        arrays={"s": np.array([0, 1, 2, 0, 0, 1]), "v": np.float32(-1.5)},
    ),
    "Pad by attributes": one("Pad", opset=10, pads=[0, 1, 0, 1], value=2.5),
    "Pad of some axes": Case(
        nodes=[node("Pad", "x s _ a", "y")], shapes={"x": (3, 4)}, opset=18,
        arrays={"s": np.array([1, 2]), "a": np.array([-1])},
    ),
    "Pad reflect": pad(0, 0, 1, 3, 0, 1, 2, 0, mode="reflect"),
    "Pad edge": pad(0, 1, 0, 3, 0, 0, 2, 1, mode="edge"),
    "Pad wrap": pad(0, 0, 2, 1, 0, 2, 0, 4, mode="wrap", opset=19),
}  # fmt: skip
ROWS3, ROWS1 = drawn(3, 6, scale=0.6), drawn(1, 6, scale=0.6)
BOTH: dict[str, Any] = {"outputs": ("label", "scores"), "whole": ("label",)}


def classifier(rows: Any, *intercepts: float, about: Any = BOTH, **attributes: Any) -> Case:
    """Return a linear classifier with its two results."""
    coefficients = [float(each) for each in np.asarray(rows).ravel()]
    made = node(
        "LinearClassifier", "x", "label scores", domain=ML, coefficients=coefficients, intercepts=list(intercepts),
        **attributes,
    )  # fmt: skip
    return Case(nodes=[made], **about)


def learned(operator: str, *, of_low: float = -2.0, **attributes: Any) -> Case:
    """Return a node of the domain for machine learning."""
    return Case(nodes=[node(operator, "x", "y", domain=ML, **attributes)], low=of_low)


COEFFICIENTS = [float(each) for each in ROWS3.ravel()]
TEXTS: dict[str, Any] = {"outputs": ("label", "scores"), "texts": ("label",)}
MACHINE_LEARNING = {
    "LinearClassifier": classifier(ROWS3, 0.1, -0.2, 0.3, classlabels_ints=[0, 1, 2], post_transform="NONE"),
    "LinearClassifier SOFTMAX": classifier(
        ROWS3, 0.1, -0.2, 0.3, classlabels_ints=[4, 7, -1], post_transform="SOFTMAX", multi_class=1
    ),
    "LinearClassifier LOGISTIC": classifier(
        ROWS3, 0.1, -0.2, 0.3, about=TEXTS, classlabels_strings=["a", "b", "c"], post_transform="LOGISTIC"
    ),
    "LinearClassifier of two labels": classifier(
        np.concatenate([-ROWS1, ROWS1]), -0.3, 0.3, classlabels_ints=[3, 8], post_transform="LOGISTIC"
    ),
    **{
        f"LinearClassifier of one row {transform}": classifier(
            ROWS1, 0.3, about=TEXTS, classlabels_strings=["no", "yes"], post_transform=transform
        )
        for transform in ("NONE", "LOGISTIC", "SOFTMAX")
    },
    "LinearRegressor": learned(
        "LinearRegressor", coefficients=COEFFICIENTS[:6], intercepts=[0.5], post_transform="NONE", targets=1
    ),
    "LinearRegressor of three": learned(
        "LinearRegressor", coefficients=COEFFICIENTS, intercepts=[0.5, 1.0, -1.0], post_transform="NONE", targets=3
    ),
    "Normalizer L1": learned("Normalizer", norm="L1"),
    "Normalizer L2": learned("Normalizer", norm="L2"),
    "Normalizer MAX": learned("Normalizer", norm="MAX"),
    "Normalizer of probabilities": Case(
        nodes=[node("Softmax", "x", "p"), node("Normalizer", "p", "y", domain=ML, norm="L1")]
    ),
    "Scaler": learned("Scaler", offset=[1.0, -1.0, 0.5, 0.0, 2.0, 0.25], scale=[0.5, 2.0, 1.0, 1.5, 0.1, 3.0]),
    "Scaler with one number": learned("Scaler", offset=[0.5], scale=[0.25]),
    "Scaler that the array computes": Case(
        nodes=[node("Relu", "x", "h"), node("Scaler", "h", "y", domain=ML, offset=[0.5], scale=[-1.5])]
    ),
    "Scaler of an input with two readers": Case(
        nodes=[node("Scaler", "x", "h", domain=ML, offset=[0.5], scale=[1.5]), node("Add", "h x", "y")]
    ),
    "ArrayFeatureExtractor of labels": Case(
        nodes=[
            node("ArgMax", "x", "p", axis=1, keepdims=0), node("ArrayFeatureExtractor", "names p", "l", domain=ML),
            node("Reshape", "l s", "c"), node("Cast", "c", "y", to=7),
        ],
        arrays={"names": np.array([5, 3, 9, 2, 0, 7]), "s": np.array([-1])}, whole=("y",),
    ),
    "ArrayFeatureExtractor of features": Case(
        nodes=[node("ArrayFeatureExtractor", "x i", "y", domain=ML)], arrays={"i": np.array([4, 0, 5])}
    ),
    "Where": Case(
        nodes=[node("Greater", "x z", "c"), node("Where", "c x zero", "y")],
        shapes={"x": (6,), "z": (6,)}, arrays={"zero": np.float32(0)},
    ),
    **{
        f"Cast of {name}": Case(
            nodes=[node(name, "x z", "c"), node("Cast", "c", "y", to=1)], shapes={"x": (6,), "z": (6,)}
        )
        for name in ("Equal", "Less", "LessOrEqual", "GreaterOrEqual")
    },
}  # fmt: skip
KNOWN = {
    "Constant": Case(nodes=[node("Constant", "", "c", value_floats=[1.0, 2.0, -1.0]), node("Add", "x c", "y")],
                     shapes={"x": (3,)}),
    **{
        f"Constant {name}": Case(nodes=[node("Constant", "", "c", **{name: value}), node("Mul", "x c", "y")])
        for name, value in (
            ("value", numpy_helper.from_array(drawn(6))), ("value_float", 0.5),
        )
    },
    **{
        f"Constant {name}": Case(nodes=[node("Constant", "", "a", **{name: value}), node("ReduceSum", "x a", "y")])
        for name, value in (("value_int", 1), ("value_ints", [-1]))
    },
    "ConstantOfShape value": Case(
        nodes=[
            node("ConstantOfShape", "s", "c", value=numpy_helper.from_array(np.array([0.75], np.float32))),
            node("Mul", "x c", "y"),
        ],
        arrays=listed(s=[1, 6]),
    ),
    "a constant that is computed": Case(
        nodes=[node("Sqrt", "w", "r"), node("Mul", "x r", "y")], arrays={"w": np.abs(drawn(6))}
    ),
    "one array twice": Case(
        nodes=[node("Add", "x w", "t"), node("Mul", "t w", "y")], arrays={"w": drawn(1, 6)}
    ),
    "a result twice": Case(nodes=[node("Relu", "x", "y"), node("Identity", "y", "z")], outputs=("y", "z")),
    "an input as a result": Case(nodes=[node("Relu", "x", "y"), node("Identity", "x", "z")], outputs=("z", "y")),
}  # fmt: skip

PARTS = {
    "Slice": one("Slice", "x s e a", arrays=listed(s=[1, 0], e=[-1, 9], a=[1, -1]), **MATRIX),
    "Slice with steps": one("Slice", "x s e a p", arrays=listed(s=[-1, 1], e=[-9, 6], a=[1, 2], p=[-1, 2]), **MATRIX),
    "Slice of all samples": one("Slice", "x s e", arrays=listed(s=[0, 2], e=[2**63 - 1, 4])),
    "Slice before version 10": one("Slice", opset=9, starts=[1], ends=[3], axes=[1]),
    "Gather of a row": one("Gather", "x i", arrays={"i": np.array(-1)}, axis=1, **MATRIX),
    "Gather of columns": one("Gather", "x i", arrays=listed(i=[5, 3, 1, 1, 2, 0]), axis=2, **MATRIX),
    "Split": Case(nodes=[node("Split", "x s", "y z", axis=1)], arrays=listed(s=[2, 4]), outputs=("y", "z")),
    "Split in halves": Case(nodes=[node("Split", "x", "y z", axis=-1)], outputs=("y", "z")),
    "Split num_outputs": Case(nodes=[node("Split", "x", "y z", axis=1, num_outputs=2)], outputs=("y", "z"), opset=18),
    "Split before version 13": Case(
        nodes=[node("Split", "x", "y z", axis=1, split=[5, 1])], outputs=("y", "z"), opset=11
    ),
}
# What PyTorch writes of `x.view(x.size(0), -1)` in its releases, and of `x.new_full(...)` and `w.expand(...)`.
EXPORTED = {
    "view by Gather": Case(
        nodes=[
            node("Shape", "x", "s"), node("Gather", "s zero", "n", axis=0), node("Unsqueeze", "n zeros", "u"),
            node("Concat", "u rest", "t", axis=0), node("Reshape", "x t", "y"),
        ],
        shapes={"x": (2, 3)}, arrays={"zero": np.array(0), **listed(zeros=[0], rest=[-1])},
    ),
    "view by Gather before version 13": Case(
        nodes=[
            node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Unsqueeze", "n", "u", axes=[0]),
            node("Concat", "u rest", "t", axis=0), node("Reshape", "x t", "y"),
        ],
        shapes={"x": (2, 3)}, arrays={"zero": np.array(0), **listed(rest=[-1])}, opset=11,
    ),
    "view by Slice": Case(
        nodes=[
            node("Shape", "x", "s"), node("Slice", "s zeros ones", "n"), node("Concat", "n rest", "t", axis=0),
            node("Reshape", "x t", "y"),
        ],
        shapes={"x": (2, 3)}, arrays=listed(zeros=[0], ones=[1], rest=[-1]),
    ),
    "view by products": Case(
        nodes=[
            node("Shape", "x", "n", start=0, end=1), node("Shape", "x", "s", start=1),
            node("ReduceProd", "s", "p", axes=[0]), node("Concat", "n p", "t", axis=0), node("Reshape", "x t", "y"),
        ],
        shapes={"x": (2, 3)},
    ),
    "an array in the shape of a sample": Case(
        nodes=[node("Shape", "x", "s"), node("Expand", "w s", "e"), node("Mul", "x e", "y")],
        arrays={"w": np.array([[0.75]], np.float32)}, count=1,
    ),
}  # fmt: skip
TABLES: Sequence[dict[str, Case]] = (
    *(LAYERS, ELEMENTWISE, CLASSES, WINDOWS, REDUCTIONS),
    *(MOVES, MACHINE_LEARNING, KNOWN, PARTS, EXPORTED),
)
CASES = {name: case for table in TABLES for name, case in table.items()}
