"""The table of networks: the models that it writes, how rows are compared and recorded, and a row that is measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from benchmarks.networks.__main__ import main
from benchmarks.networks.measure import PERCEPTRON, RECORD, NetworkRow, measure, record, recorded
from benchmarks.networks.problems import NETWORKS, Network
from benchmarks.networks.yardstick import work
from tabla.build.options import Options
from tabla.driver import build

BY_NAME = {network.name: network for network in NETWORKS}
ROW = NetworkRow(
    name="lenet",
    cycles=1000,
    bound=500,
    block_rams=100,
    processor_seconds=9.0,
    yardsticks=10.0,
    megabytes=100.0,
    written_megabytes=5.0,
)
# The multiply-adds of a sample, and the weights with biases, that the papers of the networks or simple sums give.
SIZES = {
    "perceptron": (784 * 128 + 128 * 10, 101_770),
    "autoencoder": (264_192, 265_864),
    "lenet": (416_520, 61_706),
    "cifar": (2_811_904, 33_834),
    "keywords": (2_656_768, 22_604),
    "grouped": (64 * 10 * 10 * 16 * 9, 64 * 16 * 9 + 64),
    "resnet": (12_501_632, 77_706),
    "mobilenet": (7_489_664, 210_850),
}


def multiply_adds(model: onnx.ModelProto) -> int:
    """Count the multiply-adds of convolutions and fully connected layers, those with zeros at borders too."""
    shapes = {
        value.name: [axis.dim_value for axis in value.type.tensor_type.shape.dim]
        for value in (*model.graph.value_info, *model.graph.output)
    }
    weights = {array.name: list(array.dims) for array in model.graph.initializer}
    total = 0
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            outputs = np.prod(shapes[node.output[0]][2:], dtype=int)
            total += int(outputs * np.prod(weights[node.input[1]], dtype=int))
    return total


@pytest.mark.parametrize("name", SIZES)
def test_a_network_has_the_published_size(name: str, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    BY_NAME[name].write(file)
    model = onnx.load(str(file))
    words = sum(int(np.prod(array.dims, dtype=int)) for array in model.graph.initializer)
    assert (multiply_adds(model), words) == SIZES[name]


@pytest.mark.parametrize("name", BY_NAME)
def test_a_network_is_the_same_each_time_and_is_read(name: str, tmp_path: Path) -> None:
    first, second = tmp_path / "model.onnx", tmp_path / "again" / "model.onnx"
    second.parent.mkdir()
    BY_NAME[name].write(first)
    BY_NAME[name].write(second)
    assert first.read_bytes() == second.read_bytes()
    assert build(str(first), Options()).sample.results


def test_the_yardstick_is_the_one_of_the_recorded_ratios() -> None:
    assert work() == 35_516_451_488


def test_a_change_is_reported_from_two_percent_on_and_of_time_from_fifteen() -> None:
    same = replace(ROW, cycles=1020, block_rams=98, yardsticks=11.5)
    assert same.changes(ROW) == ()
    assert replace(ROW, cycles=1021).changes(ROW) == ("cycles 1,000 -> 1,021 (+2%)",)
    assert replace(ROW, block_rams=97).changes(ROW) == ("block rams 100 -> 97 (-3%)",)
    assert replace(ROW, yardsticks=11.6).changes(ROW) == ("yardsticks 10.0 -> 11.6 (+16%)",)


def test_aims_are_multiples_of_the_perceptron() -> None:
    network = Network(name="lenet", write=BY_NAME["lenet"].write, most=4.0)
    assert replace(ROW, yardsticks=4.0 * PERCEPTRON).missed(network) == ()
    assert replace(ROW, yardsticks=4.1 * PERCEPTRON).missed(network) == ("times > 4",)
    assert replace(ROW, megabytes=501.0).missed(network) == ("MB > 500",)
    assert "MISSED MB > 500" in replace(ROW, megabytes=501.0).line(network)
    assert replace(ROW, yardsticks=1e6).missed(replace(network, most=None)) == ()


def test_a_record_keeps_other_rows_and_the_order_of_the_table(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    record(replace(ROW, name="mobilenet"), BY_NAME, file)
    record(ROW, BY_NAME, file)
    record(replace(ROW, cycles=7), BY_NAME, file)
    assert list(recorded(file)) == ["lenet", "mobilenet"]
    assert recorded(file)["lenet"] == replace(ROW, cycles=7)
    assert recorded(tmp_path / "nothing.json") == {}


def test_the_record_is_of_networks_of_the_table() -> None:
    assert set(recorded(RECORD)) == set(BY_NAME)


def test_a_row_is_measured(tmp_path: Path) -> None:
    network = BY_NAME["grouped"]
    row = measure(network, runs=1, effort=0)
    network.write(tmp_path / "grouped.onnx")
    made = build(str(tmp_path / "grouped.onnx"), Options(pes=64, effort=0))
    assert (row.cycles, row.bound) == (made.schedule.cycles, made.bound.cycles)
    assert 64 <= row.block_rams <= 1000
    assert 0.5 < row.processor_seconds < 100 and 0.5 < row.yardsticks < 100
    assert 40 < row.megabytes < 2000 and 1 < row.written_megabytes < 50


def test_a_network_that_is_not_there_is_a_fault_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--only", "nonsense"], ["--runs", "0"], ["--record", "--effort", "0"]):
        with pytest.raises(SystemExit) as fault:
            main(words)
        assert fault.value.code == 2
    assert "there is no network nonsense" in capsys.readouterr().err
