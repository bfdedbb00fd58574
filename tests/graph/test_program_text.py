"""What a report shows in place of the compiler's names: the passage of the program, in each notation."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper, numpy_helper, save

from tabla.build.files.costs import StatementCost
from tabla.build.options import Options
from tabla.driver import build

NETWORK = """$size = 3; $error = e;
n = $size; mu = 0.125;
model_input x[n]; model_output y;
model w[n];
gradient g[n] -> w;
iterator i[0:$size];
h = sigmoid(sum[i](w[i] *   // the weights
    x[i]));
e = h - y;
g[i] = $error * (h * (1 - h)) * x[i];
"""
KERNEL = """def gate(float(N) x, float(N) v) -> (y) {
  y(i) = 1.0 / (1.0 + exp(-x(i))) * v(i)  # the gate
}
"""
TILE = """from tabla.tile import *


def dense(X, W):
    I, J = TensorDims(2)
    i, j = TensorIndexes(2)
    W.bind_dims(I, J)
    O = TensorOutput(I)
    O[i] += W[i, j] * X[j]  # a comment
    return O


def layers(X, W, V):
    return dense(dense(X, W), V)
"""


def shown(source: Path | str, **options: object) -> list[StatementCost]:
    return list(build(source, Options(pes=4, **options)).report().costs.statements)  # type: ignore[arg-type]


def test_tabla_shows_the_text_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "network.t"
    file.write_text(NETWORK, encoding="utf-8")
    found = {(cost.line, cost.text) for cost in shown(file)}
    # Not the text that the preprocessor makes.
    assert (10, "g[i] = $error * (h * (1 - h)) * x[i]") in found
    assert (7, "h = sigmoid(sum[i](w[i] * x[i]))") in found
    assert {line for line, _ in found} <= {7, 9, 10}
    assert not any("h.t1" in text or "next" in text for _, text in found)


def test_a_kernel_shows_the_part_that_is_computed(tmp_path: Path) -> None:
    file = tmp_path / "gate.tc"
    file.write_text(KERNEL, encoding="utf-8")
    found = [cost for cost in shown(file, sizes={"N": 6}) if cost.line]
    assert {cost.line for cost in found} == {2}
    assert "y(i) = 1.0 / (1.0 + exp(-x(i))) * v(i)" in {cost.text for cost in found}
    assert all("#" not in cost.text for cost in found)


def test_tile_shows_whole_statements_and_counts_the_calls(tmp_path: Path) -> None:
    file = tmp_path / "layer.py"
    file.write_text(TILE, encoding="utf-8")
    found = [cost for cost in shown(f"{file}:layers", shapes={"X": (3,), "W": (5, 3), "V": (2, 5)}) if cost.line == 9]
    assert [cost.text for cost in found] == ["O[i] += W[i, j] * X[j]"] * 2
    assert [cost.shown for cost in found] == [f"O[i] += W[i, j] * X[j] (part {k} of 2)" for k in (1, 2)]


def test_onnx_shows_the_nodes_with_their_names(tmp_path: Path) -> None:
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="/layer2/MatMul")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", n]) for name, n in (("x", 4), ("y", 2))]
    weights = numpy_helper.from_array(numpy_helper.np.full((4, 2), 0.5, "float32"), "w")
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [weights])
    file = tmp_path / "model.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    assert "/layer2/MatMul: y = MatMul(x, w)" in {cost.text for cost in shown(file)}


def test_moves_name_what_is_moved(tmp_path: Path) -> None:
    file = tmp_path / "network.t"
    file.write_text(NETWORK, encoding="utf-8")
    for cost in shown(file):
        if cost.name.startswith(("move", "copy")):
            assert cost.line is None and "." not in cost.text


@pytest.mark.parametrize("width", [60, 80, 100, 130])
def test_the_table_fits(tmp_path: Path, width: int) -> None:
    file = tmp_path / "network.t"
    file.write_text(NETWORK, encoding="utf-8")
    report = build(file, Options(pes=4)).report()
    assert max(map(len, report.costs.text(width).splitlines())) <= max(width, 74)
    assert all(cost.text in " ".join(report.costs.text(width).split()) for cost in report.costs.statements)
