"""The inputs of the builds: texts, models of ONNX, and data, all made from constants and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from verify.programs import TEXTS

Arrays = dict[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A model with the input ``x`` and one result. Their shapes are those of a sample."""

    nodes: tuple[onnx.NodeProto, ...]
    shape: tuple[int, ...]
    result: tuple[int, ...]
    arrays: Arrays

    def write(self, path: Path) -> None:
        """Write the model. Its result is that of the last node."""
        graph = helper.make_graph(
            list(self.nodes),
            path.stem,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["samples", *self.shape])],
            [helper.make_tensor_value_info(self.nodes[-1].output[0], TensorProto.FLOAT, ["samples", *self.result])],
            [_initialiser(name, array) for name, array in self.arrays.items()],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def write_inputs(folder: Path) -> None:
    """Write all inputs into a folder."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name, network in _networks(np.random.default_rng(0)).items():
        network.write(folder / f"{name}.onnx")
    for name, arrays in _data(np.random.default_rng(1)).items():
        np.savez(folder / f"{name}.npz", **arrays)  # type: ignore[arg-type]
    (folder / "table.csv").write_text(_table(np.random.default_rng(2)), encoding="utf-8", newline="\n")


def _initialiser(name: str, array: npt.NDArray[np.float64]) -> onnx.TensorProto:
    kind = np.int64 if name.endswith("shape") else np.float32
    return numpy_helper.from_array(array.astype(kind), name)


def _networks(draw: np.random.Generator) -> dict[str, Network]:
    """Return a dense network, a convolutional one with pooling, a grouped convolution, a softmax, and a fault."""
    dense = {"w1": draw.normal(size=(6, 5)) / 3, "b1": draw.normal(size=6) / 3, "w2": draw.normal(size=(3, 6)) / 3}
    mlp = (
        helper.make_node("Gemm", ["x", "w1", "b1"], ["hidden"], transB=1),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("Gemm", ["active", "w2", "b2"], ["scores"], transB=1),
        helper.make_node("Softmax", ["scores"], ["probabilities"], axis=1),
    )
    conv = (
        helper.make_node("Conv", ["x", "kernel", "bias"], ["planes"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["planes", "scale", "shift", "mean", "variance"], ["normal"]),
        helper.make_node("Relu", ["normal"], ["active"]),
        helper.make_node("MaxPool", ["active"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Reshape", ["pooled", "shape"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w", "b"], ["scores"]),
    )
    planes = {"kernel": draw.normal(size=(2, 1, 3, 3)) / 3, "bias": draw.normal(size=2) / 3, "scale": np.ones(2) * 1.25}
    planes |= {"shift": np.ones(2) / 8, "mean": np.ones(2) / 16, "variance": np.ones(2) / 2}
    planes |= {"shape": np.array([-1, 8.0]), "w": draw.normal(size=(8, 2)) / 3, "b": np.zeros(2)}
    grouped = (
        helper.make_node("Conv", ["x", "kernel"], ["y"], kernel_shape=[3], group=2, strides=[2]),
        helper.make_node("GlobalAveragePool", ["y"], ["average"]),
        helper.make_node("Tanh", ["average"], ["z"]),
    )
    return {
        "mlp": Network(nodes=mlp, shape=(5,), result=(3,), arrays={**dense, "b2": np.array([0.125, 0, -0.125])}),
        "conv": Network(nodes=conv, shape=(1, 4, 4), result=(2,), arrays=planes),
        "grouped": Network(nodes=grouped, shape=(4, 7), result=(4, 1), arrays={"kernel": draw.normal(size=(4, 2, 3))}),
        "softmax": Network(
            nodes=(helper.make_node("Softmax", ["x"], ["p"], axis=2),), shape=(2, 4), result=(2, 4), arrays={}
        ),
        "unknown": Network(nodes=(helper.make_node("Det", ["x"], ["d"]),), shape=(2, 2), result=(), arrays={}),
    }


def _data(draw: np.random.Generator) -> dict[str, Arrays]:
    """Return the arrays of each file of data."""
    x = np.round(draw.uniform(-1, 1, (40, 3)), 3)
    five = draw.uniform(-1, 1, (40, 5))
    return {
        "functions": {"x": draw.uniform(0.5, 2, (20, 3)), "y": draw.uniform(-1, 1, 20)},
        "domain": {"x": draw.uniform(-2, 2, (20, 3)), "y": draw.uniform(-30, 30, 20)},
        "three": {"x": x, "y": x @ [0.5, -1, 0.25]},
        "kinds": {"x": x, "y": np.eye(3)[draw.integers(0, 3, 40)]},
        "ordinals": {"x": np.sin(np.arange(80.0)).reshape(20, 4)},
        "infer": {"x": x},
        "weights": {"w": np.array([0.5, -0.25, 1.0])},
        "variables": {"x": five, "y": five @ [0.5, -1, 0.25, 1, -0.5]},
        "images": {"In": draw.uniform(-1, 1, (4, 5, 4))},
        "products": {"A": draw.uniform(-1, 1, (3, 3, 4)), "B": draw.uniform(-1, 1, (4, 2))},
        "lookup": {"table": np.arange(12).reshape(4, 3) / 4, "at": np.array([3, 0, 3, 1, 2])},
        "outside": {"table": np.arange(12).reshape(4, 3) / 4, "at": np.array([3, 0, 9, 1, 2])},
        "extremes": {"X": draw.uniform(-1, 1, (3, 4)), "M": np.array([1.0, 0, 1, 1])},
        "layers": {"X": draw.uniform(-1, 1, (10, 4)), "W": draw.uniform(-1, 1, (3, 4))},
        "learn": {"X": draw.uniform(-1, 1, (40, 4)), "Y": draw.uniform(-1, 1, (40, 2))},
        "mlp": {"x": five, "label": np.eye(3)[(five[:, 0] > 0.3).astype(int) + (five[:, 1] > 0)]},
        "conv": {"x": draw.uniform(-1, 1, (5, 1, 4, 4))},
        "grouped": {"x": draw.uniform(-1, 1, (5, 4, 7))},
        "softmax": {"x": draw.uniform(-2, 2, (5, 2, 4))},
    }


def _table(draw: np.random.Generator) -> str:
    """Return a table of measurements of three kinds, as large as people measure."""
    kinds = draw.integers(0, 3, 60)
    x = np.round(100 + 40 * np.eye(3)[kinds] + draw.normal(0, 12, (60, 3)), 2)
    rows = [f"{a},{b},7,{c},{('bee', 'cat', 'ant')[kind]}" for (a, b, c), kind in zip(x, kinds, strict=True)]
    return "\n".join(["length,width (cm),unused,height,kind", *rows]) + "\n"
