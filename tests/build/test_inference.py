"""The inference build of a program: its words, its first words, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tabla
from tabla.base.source import TablaError
from tabla.build.arrays import shapes_of, words_of
from tabla.build.inference import chosen_prediction, inference_of
from tabla.driver import Build
from tabla.graph.evaluate import FixedPlan
from tabla.host.engines.cocotb_run import available
from tabla.host.engines.session import session
from tabla.program.host import Host
from tabla.program.image_file import image_of, image_record
from tabla.program.protocol import fingerprint
from tabla.sim.model.cycle_model import CycleModel

EXAMPLES = Path(tabla.__file__).parent / "examples"
RESIDUAL = """\
m = 5;
mu = 0.25;
model_input  x[m];
model_output y;
model        w[m];
gradient     g[m] -> w;
iterator     i[0:m];
e = {};
g[i] = e * x[i];
"""
MOMENTUM = """\
m = 6;
mu = 0.5;
model_input  x[m], c;
model_output y;
model        w[m], v[m];
gradient     g[m] -> w, gv[m] -> v;
iterator     i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = c * (h - y);
gv[i] = e * x[i] + v[i];
g[i] = v[i];
"""
"""The prediction reads neither `c` nor `v`."""


def _program(folder: Path, text: str, **options: Any) -> Build:
    path = folder / "program.t"
    path.write_text(text, encoding="utf-8")
    return tabla.compile(path, **{"pes": 4, "format": "q4.12", **options})


def _drawn(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, NDArray[np.float64]]:
    chance = np.random.default_rng(seed)
    return {name: chance.uniform(-1, 1, shape) for name, shape in shapes.items()}


def _first_step(build: Build, models: Mapping[str, Any], samples: Mapping[str, Any], count: int) -> NDArray[np.int64]:
    """The words of the prediction before any update, each sample from the same models, by the whole graph."""
    graph, prediction = chosen_prediction(build, None)
    plan, kept = FixedPlan.of(graph, build.format), []
    for sample in range(count):
        plan.load(words_of(build, models))
        run = plan.run({name: array[sample : sample + 1] for name, array in samples.items()}, [prediction.tensor])
        kept.append(run.kept[prediction.tensor][0])
    return np.array(kept)


@pytest.mark.parametrize("name", ["linear", "logistic", "svm", "backprop", "backprop2"])
@pytest.mark.parametrize(
    "options", [{"pes": 4}, {"pes": 8, "pes_per_pu": 2, "minibatch": 4}, {"pes": 2, "sequencers": 2}]
)
def test_the_words_are_those_of_the_program_before_an_update(name: str, options: dict[str, Any]) -> None:
    """Minibatches, several roots and sequencers change no word, and no load is needed."""
    defines = {} if name.startswith("back") else {"m": 6}
    build = tabla.compile(EXAMPLES / f"{name}.t", format="q6.12", defines=defines, effort=0, **options)
    models = _drawn(shapes_of(build.sample, "model"), 1)
    samples = words_of(
        build,
        {
            n: a
            for n, a in _drawn({n: (8, *s) for n, s in shapes_of(build.sample, "input", "label").items()}, 2).items()
        },
    )
    made = inference_of(build, None, models)
    own = {n: samples[n] for n in shapes_of(made.sample, "input")}
    assert not shapes_of(made.sample, "label") and not made.lowered.updates
    size = made.lowered.samples
    steps = {n: a.reshape(-1, *((size,) if size > 1 else ()), *a.shape[1:]) for n, a in own.items()}
    with session(made.schedule, made.image, "model", made.module, None) as machine:
        (words,) = machine.run(steps, 8 // size).values()
    assert np.array_equal(words.reshape(8, -1), _first_step(build, models, samples, 8).reshape(8, -1))


@pytest.mark.parametrize("sum_first", [True, False])
def test_a_difference_from_the_label_predicts_what_is_subtracted(sum_first: bool, tmp_path: Path) -> None:
    parts = ("sum[i](w[i] * x[i])", "y") if sum_first else ("y", "sum[i](w[i] * x[i])")
    build = _program(tmp_path, RESIDUAL.format(" - ".join(parts)))
    weights, rows = np.linspace(-1, 1, 5), np.random.default_rng(3).uniform(-1, 1, (20, 5))
    made = build.inference({"w": weights})
    found = made.evaluate({"x": rows})["e"]
    assert np.max(np.abs(found - rows @ weights)) < 2**-9
    assert np.array_equal(found, build.predict({"x": rows}, weights={"w": weights})["e"])


def test_what_the_prediction_does_not_read_is_not_there(tmp_path: Path) -> None:
    """Neither labels, nor inputs and models of learning alone; files and data may have them."""
    build = _program(tmp_path, MOMENTUM)
    weights = _drawn(shapes_of(build.sample, "model"), 4)
    made = build.inference(weights)
    assert shapes_of(made.sample, "input", "label", "model") == {"x": (6,), "w": (6,)}
    assert made.report().cycles < build.report().cycles
    rows = np.random.default_rng(5).uniform(-1, 1, (3, 6))
    data = {"x": rows, "y": np.zeros(3), "c": np.ones(3)}
    assert np.array_equal(made.evaluate(data)["h"], build.predict(data, weights=weights)["h"])
    assert np.array_equal(made.predict({"x": rows})["h"], build.predict(data, weights=weights)["h"])


def test_a_program_with_guard_bits_and_a_loaded_rate_reads_the_nearest_words(tmp_path: Path) -> None:
    build = _program(tmp_path, MOMENTUM, model_guard=4, runtime_rate=True)
    weights = _drawn(shapes_of(build.sample, "model") | {"mu": ()}, 6) | {"mu": np.array(0.25)}
    made = build.inference(weights)
    assert not made.image.parameters.model_guard and "mu" not in made.sample.tensors
    rows = np.random.default_rng(7).uniform(-1, 1, (3, 6))
    plain = _program(tmp_path, MOMENTUM)
    del weights["mu"]
    assert np.array_equal(made.evaluate({"x": rows})["h"], plain.predict({"x": rows}, weights=weights)["h"])


@pytest.mark.parametrize(
    "options",
    [
        {"pes": 1},
        {"pes": 4},
        {"pes": 8, "pes_per_pu": 2},
        {"pes": 4, "sequencers": 2, "pes_per_pu": 2},
        {"minibatch": 3},
    ],
)
def test_the_first_words_are_those_of_a_load(options: dict[str, Any]) -> None:
    """The cycle model loads the same words over the stream, and knows nothing of first words."""
    build = tabla.compile(EXAMPLES / "backprop.t", effort=0, **{"pes": 4, **options})
    models = _drawn(shapes_of(build.sample, "model"), 8)
    made = inference_of(build, None, models)
    host, empty = Host(made.schedule), inference_of(build, None, {})
    machine = CycleModel(empty.image)
    machine.load(host.load_beats(words_of(made, {n: models[n] for n in shapes_of(made.sample, "model")})))
    first = made.image.first
    assert first is not None and empty.image.first is None
    for name, lanes in first.lanes.items():
        assert np.array_equal(np.array(lanes).T, machine.path.memories[name]), name
    for words, root in zip(first.roots, machine.path.roots, strict=True):
        assert list(words) == list(root.memories["memory"])


ENGINES = ["icarus", "cxxrtl", "amaranth", pytest.param("verilator", marks=pytest.mark.slow)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", [{"pes": 4, "pes_per_pu": 2}, {"pes": 4, "sequencers": 2, "format": "q8.16"}])
def test_the_hardware_runs_without_a_load(engine: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Groups of lanes share a module in Verilog and have words of their own; words over 18 bits lie in two memories."""
    if engine in ("icarus", "verilator") and not available(engine):
        pytest.skip(f"{engine} is missing")
    build = _program(tmp_path, MOMENTUM, effort=0, **options)
    weights = {name: array[::-1].copy() for name, array in _drawn(shapes_of(build.sample, "model"), 9).items()}
    made = build.inference(weights)
    rows = words_of(made, {"x": np.random.default_rng(10).uniform(-1, 1, (4, 6))})
    expected = words_of(made, {"x": made.evaluate({"x": rows["x"] / made.format.one})["h"]})["x"]
    with session(made.schedule, made.image, engine, made.module, None) as machine:
        assert np.array_equal(machine.run(rows, 4)["h"], expected)


def test_other_models_make_another_fingerprint_and_images_keep_their_first_words(tmp_path: Path) -> None:
    build = _program(tmp_path, MOMENTUM)
    images = [build.inference(_drawn(shapes_of(build.sample, "model"), seed)).image for seed in (1, 2)]
    assert len({*map(fingerprint, (*images, build.inference().image))}) == 3
    assert image_of(image_record(images[0])) == images[0]
    assert image_of(image_record(images[0])).first == images[0].first
    assert "first" not in image_record(build.image)


def test_a_minibatch_of_a_kernel_changes_no_word(tmp_path: Path) -> None:
    """A program that is written without updates takes several samples together, too."""
    path = tmp_path / "norm.tc"
    path.write_text("def norm(float(N) x) -> (y) { y +=! x(n) * x(n) }\n", encoding="utf-8")
    rows = np.random.default_rng(11).uniform(-1, 1, (12, 6))
    made = [tabla.compile(path, pes=4, sizes={"N": 6}, minibatch=size) for size in (1, 3, 4)]
    words = [build.simulate({"x": rows}).arrays["y"] for build in made]
    assert words[0].shape == (12,)
    assert all(np.array_equal(each, words[0]) for each in words)


@pytest.mark.parametrize(
    ("text", "predict", "weights", "message"),
    [
        (MOMENTUM, "e", {}, "'e' reads the label 'y', so it predicts nothing"),
        (MOMENTUM, "z", {}, "--predict z: the program computes no such value"),
        (MOMENTUM, None, {"v": np.zeros(6)}, r"the predictions read the model 'w\[6\]', which is not among the models"),
        (MOMENTUM, None, {"w": np.zeros(5), "v": np.zeros(6)}, r"'w\[6\]', which is with shape \(5,\)"),
        (MOMENTUM, None, {"w": np.zeros(6), "u": np.zeros(6)}, "'u'"),
        (
            "m = 2; model_input x[m]; model w[m]; iterator i[0:m]; gradient g[m] -> w; mu = 1; g[i] = x[i];",
            None,
            {},
            "no value of the program is compared with a label",
        ),
    ],
)
def test_what_is_refused(text: str, predict: str | None, weights: dict[str, Any], message: str, tmp_path: Path) -> None:
    build = _program(tmp_path, text)
    with pytest.raises(TablaError, match=message) as fault:
        build.inference(weights or None, predict=predict).check()
    assert fault.value.hint


def test_an_inference_build_does_not_learn(tmp_path: Path) -> None:
    build = _program(tmp_path, MOMENTUM)
    with pytest.raises(TablaError, match="is built for inference, so it learns nothing"):
        build.inference().train({"x": np.zeros((4, 6)), "y": np.zeros(4), "c": np.zeros(4)})


@pytest.mark.parametrize("engine", ENGINES)
def test_models_that_learnt_in_eight_bits_give_the_words_of_predict(engine: str, tmp_path: Path) -> None:
    """q6.2 has two fraction bits, so every rounding shows."""
    if engine in ("icarus", "verilator") and not available(engine):
        pytest.skip(f"{engine} is missing")
    rows = np.random.default_rng(12).uniform(-1, 1, (12, 6))
    data = {"x": rows, "y": (rows.sum(axis=1) > 0).astype(float), "c": np.ones(12)}
    build = _program(tmp_path, MOMENTUM, format="q6.2", effort=0)
    training = build.train(data, epochs=2)
    made = build.inference(training.stored())
    expected = training.predict({"x": rows})["h"]
    assert len(np.unique(expected)) > 2
    assert np.array_equal(made.simulate({"x": rows}, engine=engine).arrays["h"], expected)
