"""Writing ONNX models layer by layer, with random weights of the scale that trained ones have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

OPSET, FILE_VERSION = 17, 9


class Layers:
    """A model in the making. Each method adds a node and returns the name of its result.

    The input is called ``x``; `shape` is the shape of one sample. Weights are drawn from a normal distribution with the
    variance 1 / (terms of a sum), and biases with the deviation 0.1. The same calls draw the same numbers.
    """

    def __init__(self, shape: Sequence[int], seed: int = 0) -> None:
        self._shape = tuple(shape)
        self._chance = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._arrays: list[onnx.TensorProto] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of any operator with one result."""
        result = f"t{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [result], **attributes))
        return result

    def constant(self, values: ArrayLike, kind: type[np.generic] = np.int64) -> str:
        """Return the name of a new initialiser with given values."""
        name = f"w{len(self._arrays)}"
        self._arrays.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def weights(self, *shape: int, deviation: float) -> str:
        """Return the name of a new initialiser with random values."""
        return self.constant(self._chance.normal(scale=deviation, size=shape), np.float32)

    def dense(self, x: str, wide: int, outputs: int) -> str:
        """Add a fully connected layer with a bias, of `wide` inputs."""
        weights = self.weights(outputs, wide, deviation=wide**-0.5)
        return self.add("Gemm", x, weights, self.weights(outputs, deviation=0.1), transB=1)

    def linear(self, x: str, wide: int, outputs: int) -> str:
        """Add a matrix product and a bias, along the last axis of `wide` elements."""
        product = self.add("MatMul", x, self.weights(wide, outputs, deviation=wide**-0.5))
        return self.add("Add", product, self.weights(outputs, deviation=0.1))

    def convolution(
        self,
        x: str,
        channels: int,
        outputs: int,
        kernel: Sequence[int],
        *,
        stride: int = 1,
        pads: int | None = None,
        groups: int = 1,
    ) -> str:
        """Add a convolution with a bias.

        `pads` is the number of zeros at each end of each axis. None stands for those that keep the size of the map,
        divided by the stride.
        """
        place: dict[str, Any] = {"auto_pad": "SAME_UPPER"}
        if pads is not None:
            place = {"pads": [pads] * (2 * len(kernel))}
        terms = channels // groups * int(np.prod(kernel))
        weights = self.weights(outputs, channels // groups, *kernel, deviation=terms**-0.5)
        bias = self.weights(outputs, deviation=0.1)
        strides = [stride] * len(kernel)
        return self.add("Conv", x, weights, bias, kernel_shape=list(kernel), strides=strides, group=groups, **place)

    def relu(self, x: str) -> str:
        """Add a rectifier."""
        return self.add("Relu", x)

    def halved(self, x: str, axes: int = 2) -> str:
        """Add the maximum over windows of two elements along each axis of the map."""
        return self.add("MaxPool", x, kernel_shape=[2] * axes, strides=[2] * axes)

    def mean(self, x: str) -> str:
        """Add the mean of each channel, and drop the axes of the map."""
        return self.add("Flatten", self.add("GlobalAveragePool", x), axis=1)

    def model(self, result: str, name: str) -> onnx.ModelProto:
        """Return the checked model that returns `result`."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *self._shape])
        y = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self._nodes, name, [x], [y], self._arrays)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FILE_VERSION)
        whole = onnx.shape_inference.infer_shapes(made)
        onnx.checker.check_model(whole)
        return whole

    def write(self, result: str, file: Path) -> None:
        """Write the model that returns `result`; its name is that of the file."""
        onnx.save(self.model(result, file.stem), str(file))
