"""The programs, models and data of the builds that `verify.builds` makes, the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KERNELS = """
def mm(float(M,K) a, float(K,N) b) -> (c) { c(m,n) +=! a(m,k) * b(k,n) }
def mean(float(N) x) -> (o) { o() +=! x(i) / N }
def conv(float(H,W) x, float(KH,KW) w) -> (y) { y(i,j) +=! x(i+r,j+s) * w(r,s) }
def soft(float(N) x) -> (m, e, s, p) {
  m() max=! x(i)
  e(i) = exp(x(i) - m())
  s() +=! e(i)
  p(i) = e(i) / s()
}
"""
TILE = """
from tabla.tile import *

def layer(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    n, m = TensorDims(2)
    i, j = TensorIndexes(2)
    w.bind_dims(n, m)
    h = TensorOutput(n)
    h[i] += w[i, j] * x[j]
    return sigmoid(h + b)

def pooled(x: Tensor) -> Tensor:
    n = TensorDim()
    i, j = TensorIndexes(2)
    x.bind_dims(n)
    o = TensorOutput(n // 2)
    o[i] >= x[2 * i + j]
    o.add_constraint(j < 2)
    return o
"""
LEARNER = """
m = $size;
mu = 0.05;
model_input x[m];
model_output y;
model w[m];
model u;
gradient g[m] -> w;
gradient gu -> u;
iterator i[0:m];
h = sum[i](w[i] * x[i]) + u;
p = sigmoid(h);
e = p - y;
g[i] = e * x[i];
gu = e;
"""
FAULTY = """
m = 4;
model_input x[m];
model w[m];
iterator i[0:m];
h = sum[i](w[i] * z[i]);
"""
RECORDS = """
class Base<int n> { int Size = n; bits<4> Code = n; }
multiclass Pair<int n> { def Low : Base<n>; def High : Base<!add(n, 1)>; }
foreach k = [1, 3] in defm P#k : Pair<k>;
"""


def write_inputs(folder: Path) -> None:
    """Write all inputs into a folder."""
    texts = {
        "kernels.tc": KERNELS,
        "layers.py": TILE,
        "learner.t": LEARNER,
        "faulty.t": FAULTY,
        "records.td": RECORDS,
    }
    for name, text in texts.items():
        (folder / name).write_text(text.lstrip(), encoding="utf-8")
    chance = np.random.default_rng(7)
    np.savez(folder / "mm.npz", a=chance.uniform(-1, 1, (4, 6)), b=chance.uniform(-1, 1, (6, 3)))
    np.savez(folder / "row.npz", x=chance.uniform(-1, 1, (5, 8)))
    rows = chance.normal(size=(40, 4))
    labels = (rows @ [1.0, -2.0, 0.5, 0.25] > 0).astype(int)
    lines = [
        "x[0],x[1],x[2],x[3],y",
        *(",".join([*(f"{v:.4f}" for v in r), str(y)]) for r, y in zip(rows, labels, strict=True)),
    ]
    (folder / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, model in _models(chance).items():
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())


def _models(chance: np.random.Generator) -> dict[str, onnx.ModelProto]:
    """Return small networks by name."""

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(chance.uniform(-0.5, 0.5, shape).astype(np.float32), name)

    def node(kind: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
        return helper.make_node(kind, inputs.split(), [output], **attributes)

    dense = [
        node("Gemm", "x w1 b1", "h", transB=1),
        node("Relu", "h", "r"),
        node("Gemm", "r w2 b2", "z", transB=1),
        node("Softmax", "z", "y", axis=1),
    ]
    convolved = [
        node("Conv", "x k c", "h", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", "h", "r"),
        node("MaxPool", "r", "q", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "q g", "y", kernel_shape=[3, 3], group=4),
    ]
    return {
        "dense": _model(
            dense, (1, 8), (1, 3), [weights("w1", 6, 8), weights("b1", 6), weights("w2", 3, 6), weights("b2", 3)]
        ),
        "convolved": _model(
            convolved, (1, 1, 8, 8), (1, 4, 2, 2), [weights("k", 4, 1, 3, 3), weights("c", 4), weights("g", 4, 1, 3, 3)]
        ),
    }


def _model(
    nodes: list[onnx.NodeProto], given: tuple[int, ...], made: tuple[int, ...], initialisers: list[onnx.TensorProto]
) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, given)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, made)]
    graph = helper.make_graph(nodes, "network", inputs, outputs, initialisers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
