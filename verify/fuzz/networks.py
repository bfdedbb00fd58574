"""Random networks of ONNX: a row of layers on a vector or on a small image, among them branches that join again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from onnx import NodeProto

from tests.languages.onnx.models import Case, drawn, node

Shape = tuple[int, ...]


@dataclass(kw_only=True)
class _Network:
    """A network that grows: its nodes, its initialisers, and the name and the shape of its last result."""

    draw: st.DrawFn
    shape: Shape
    last: str = "x"
    nodes: list[NodeProto] = field(default_factory=list)
    arrays: dict[str, Any] = field(default_factory=dict)

    def add(self, operator: str, shape: Shape, *operands: str, **attributes: Any) -> None:
        """Add a node that has the last result and `operands`, and makes a result of a shape."""
        result = f"r{len(self.nodes)}"
        self.nodes.append(node(operator, " ".join((self.last, *operands)), result, **attributes))
        self.last, self.shape = result, shape

    def held(self, array: Any) -> str:
        """Add an initialiser and return its name."""
        name = f"w{len(self.arrays)}"
        self.arrays[name] = array
        return name


def _dense(net: _Network) -> None:
    if len(net.shape) > 1:
        net.add("Flatten", (prod(net.shape),))
    (inputs,), outputs = net.shape, net.draw(st.sampled_from((1, 2, 3, 5, 8)))
    if net.draw(st.booleans()):
        net.add("Gemm", (outputs,), net.held(drawn(outputs, inputs)), net.held(drawn(outputs)), transB=1)
    else:
        net.add("MatMul", (outputs,), net.held(drawn(inputs, outputs)))


def _activation(net: _Network) -> None:
    net.add(net.draw(st.sampled_from(("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf"))), net.shape)


def _clip(net: _Network) -> None:
    net.add("Clip", net.shape, net.held(np.float32(-0.5)), net.held(np.float32(0.75)))


def _arithmetic(net: _Network) -> None:
    operator = net.draw(st.sampled_from(("Add", "Sub", "Mul")))
    net.add(operator, net.shape, net.held(drawn(*net.draw(st.sampled_from((net.shape, net.shape[-1:], (1,)))))))


def _residual(net: _Network) -> None:
    before = net.last
    _activation(net)
    net.add(net.draw(st.sampled_from(("Add", "Mul"))), net.shape, before)


def _softmax(net: _Network) -> None:
    net.add("Softmax", net.shape, axis=-1)


def _mean(net: _Network) -> None:
    net.add("ReduceMean", (*net.shape[:-1], 1), axes=[len(net.shape)], keepdims=1)


def _convolution(net: _Network) -> None:
    channels, *sizes = net.shape
    outputs, window = net.draw(st.integers(1, 3)), net.draw(st.integers(1, min(sizes)))
    pads, stride = net.draw(st.integers(0, 1)), net.draw(st.integers(1, 2))
    net.add(
        "Conv",
        (outputs, *((size + 2 * pads - window) // stride + 1 for size in sizes)),
        net.held(drawn(outputs, channels, window, window, scale=0.5)),
        net.held(drawn(outputs)),
        pads=[pads] * 4,
        strides=[stride] * 2,
    )


def _pool(net: _Network) -> None:
    channels, *sizes = net.shape
    window = net.draw(st.integers(1, min(sizes)))
    operator = net.draw(st.sampled_from(("MaxPool", "AveragePool")))
    net.add(operator, (channels, *(size - window + 1 for size in sizes)), kernel_shape=[window, window])


Layer = Callable[[_Network], None]
_ANYWHERE: tuple[Layer, ...] = (_dense, _activation, _clip, _arithmetic, _residual, _softmax, _mean)
_IN_IMAGES = (*_ANYWHERE, _convolution, _convolution, _pool)


@st.composite
def networks(draw: st.DrawFn) -> Case:
    """Draw a network of one to four layers."""
    vector = st.tuples(st.sampled_from((1, 2, 3, 6, 7)))
    image = st.tuples(st.integers(1, 2), st.integers(2, 4), st.integers(2, 4))
    shape: Shape = draw(vector | image)
    net = _Network(draw=draw, shape=shape)
    for _ in range(draw(st.integers(1, 4))):
        draw(st.sampled_from(_IN_IMAGES if len(net.shape) == 3 else _ANYWHERE))(net)
    return Case(
        nodes=net.nodes,
        shapes={"x": shape},
        arrays=net.arrays,
        outputs=(net.last,),
        ranks={net.last: 1 + len(net.shape)},
    )
