"""Build folders for the tests of the runtime, and what the evaluation says of their programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tabla
from tabla.build.arrays import model_reals, steps_of, without_steps, words_of
from tabla.driver import Build
from tabla.graph.evaluate import FixedPlan
from tabla.host.runtime.folder import BuildFolder, Prediction
from tests.linear_program import linear_text

ROOT = Path(__file__).resolve().parents[3]
LINEAR = linear_text(2)
KERNEL = "def scale(float(N) a, float(N) b, int32 k) -> (c, d) { c(n) = a(n) * b(n)\n d = k + k }\n"
PROGRAMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # several copies, guard bits, a minibatch, results for each sample
    "batch": ("line.t", LINEAR, {"minibatch": 4, "model_guard": 4, "results": ("h", "gw"), "bus_width": 64}),
    # words of 18 bits in containers of 32, one result
    "wide": ("line.t", LINEAR, {"format": "q6.12", "results": ("h",), "bus_width": 64}),
    # bytes, four containers a beat, no result
    "narrow": ("line.t", LINEAR, {"format": "q4.4", "bus_width": 32}),
    # the network of the wines, a wide bus
    "backprop": (
        "backprop.t",
        (ROOT / "examples/backprop.t").read_text(encoding="utf-8"),
        {"results": ("h",), "bus_width": 128, "pes": 8},
    ),
    # no models, integers, several inputs
    "kernel": ("scale.tc", KERNEL, {"sizes": {"N": 3}, "bus_width": 32}),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """A build and its folder, with models and samples, and the results and the models that must come of them."""

    build: Build
    folder: Path
    models: Mapping[str, Any]
    samples: Mapping[str, Any]
    results: Mapping[str, Any]
    trained: Mapping[str, Any]


def made(name: str, home: Path, count: int = 24) -> Made:
    """Compile a program, write its folder, and evaluate samples at random."""
    file, text, options = PROGRAMS[name]
    home.mkdir()
    (home / file).write_text(text, encoding="utf-8")
    build = tabla.compile(home / file, **{"pes": 4, "effort": 0, "bus": "axi", **options})
    build.write(home / "out")
    chance = np.random.default_rng(3)
    tensors = build.sample.tensors.values()
    integers = build.reading.integers

    def drawn(t: Any, *shape: int) -> Any:
        if t.name in integers:
            return chance.integers(-9, 9, (*shape, *t.shape)).astype(float)
        return chance.uniform(-1, 1, (*shape, *t.shape))

    models = {t.name: drawn(t) for t in tensors if t.role == "model"}
    samples = {t.name: drawn(t, count) for t in tensors if t.role in ("input", "label")}
    plan = FixedPlan.of(build.lowered, build.format)
    plan.load(words_of(build, models))
    shown = dict(build.lowered.results)
    ran = plan.run(steps_of(build, words_of(build, samples)), list(shown.values()), count // build.lowered.samples)
    words = without_steps(build, {name: ran.kept[tensor] for name, tensor in shown.items()})
    results = {name: build.result_type(name).to_reals(array) for name, array in words.items()}
    return Made(
        build=build,
        folder=home / "out",
        models=models,
        samples=samples,
        results=results,
        trained=model_reals(build, ran.models) if build.reading.trainable else {},
    )


def held(case: Made, models: Mapping[str, Any]) -> dict[str, Any]:
    """The results of all samples with these models, which no sample changes."""
    build = case.build
    shown = dict(build.lowered.results)
    steps = steps_of(build, words_of(build, case.samples))
    plan, parts = FixedPlan.of(build.lowered, build.format), list[dict[str, Any]]()
    for step in range(len(next(iter(steps.values())))):
        plan.load(words_of(build, models))
        kept = plan.run({name: array[step : step + 1] for name, array in steps.items()}, list(shown.values()), 1).kept
        parts.append(without_steps(build, {name: kept[tensor] for name, tensor in shown.items()}))
    whole = {name: np.concatenate([part[name] for part in parts]) for name in shown}
    return {name: build.result_type(name).to_reals(array) for name, array in whole.items()}


def prediction_of(case: Made) -> Prediction:
    """What the folder says of predictions."""
    found = BuildFolder.open(case.folder).prediction
    assert found is not None
    return found


def hold_prediction(accelerator: Any, case: Made, **more: Any) -> None:
    """Predict between two runs, without the inputs that no result needs: the models stay, and the words are those of
    the evaluation.
    """
    hold(accelerator, case)
    needed = {name: case.samples[name] for name in prediction_of(case).inputs}
    found, expected = accelerator.predict(needed, **more), held(case, case.trained)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
    for name, array in accelerator.models().items():
        np.testing.assert_array_equal(array, case.trained[name])
    hold(accelerator, case)


def hold(accelerator: Any, case: Made) -> None:
    """Load, run in two parts, and read the models: every word is that of the evaluation."""
    accelerator.load(case.models)
    count = len(next(iter(case.samples.values())))
    size = case.build.lowered.samples
    cut = count // 3 // size * size
    parts = [accelerator.run({n: a[at] for n, a in case.samples.items()}) for at in (slice(cut), slice(cut, None))]
    assert set(parts[0]) == set(case.results)
    for name, expected in case.results.items():
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), expected)
    models = accelerator.models()
    for name, expected in case.trained.items():
        assert models[name].shape == expected.shape
        np.testing.assert_array_equal(models[name], expected)
