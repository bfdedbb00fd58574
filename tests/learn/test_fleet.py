"""Several devices, one model: what the definition says, and that every way of learning gives its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import LostError, TablaError
from tabla.driver import Build
from tabla.graph.evaluate import FixedPlan
from tabla.graph.format import Format
from tabla.graph.words import to_words
from tabla.learn.fleet.devices import devices_of
from tabla.learn.fleet.share import share_of
from tests.linear_program import linear_text

SAMPLES = 27
STEP = 12


@pytest.fixture(autouse=True)
def cycle_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cycle model repeat what the evaluation learns: the Verilog takes seconds to build."""
    monkeypatch.setattr("tabla.learn.train.checking_engine", lambda schedule: ("model", ""))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "line.t"
    path.write_text(linear_text(2))
    return path


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    chance = np.random.default_rng(4)
    x = chance.uniform(-1, 1, (SAMPLES, 2))
    return {"x": x, "y": x @ [0.5, -0.25] + 1}


def compiled(program: Path, **options: Any) -> Build:
    return tabla.compile(program, **{"pes": 4, "minibatch": STEP, "effort": 0, "format": "q4.8", **options})


def by_hand(build: Build, data: Mapping[str, Any], models: Mapping[str, Any], devices: int) -> dict[str, Any]:
    """Learn one epoch by the definition: each device is a program of its own, and Python's integers are added up."""
    own = tabla.compile(
        build.reading.text.original.name,
        **{"pes": 4, "minibatch": STEP // devices, "effort": 0, "format": str(build.format)},
        **{"model_guard": build.options.model_guard, "learning_rate": build.options.learning_rate},
    )
    plan = FixedPlan.of(own.lowered, own.format)
    guards = {name: own.lowered.tensors[name].guard for name in models}
    words = {name: to_words(array, own.format) for name, array in data.items()}
    now = {name: to_words(array, own.format, guard=guards[name]) for name, array in models.items()}
    each = STEP // devices
    for at in range(0, SAMPLES - SAMPLES % STEP, STEP):
        after = []
        for first in range(at, at + STEP, each):
            share = {name: array[first : first + each] for name, array in words.items()}
            plan.load(now)
            after.append(plan.run({n: a[None] if each > 1 else a for n, a in share.items()}).models)
        for name, guard in guards.items():
            low, high = -(1 << own.format.width + guard - 1), (1 << own.format.width + guard - 1) - 1
            flat = [
                max(low, min(high, int(s) + sum(int(a) - int(s) for a in others)))
                for s, *others in zip(now[name].flat, *(a[name].flat for a in after), strict=True)
            ]
            now[name] = np.array(flat, dtype=np.int64).reshape(now[name].shape)
    return now


@pytest.mark.parametrize("guard", [0, 3])
@pytest.mark.parametrize("devices", [2, 3, 12])
def test_training_and_evaluation_are_the_definition(
    program: Path, data: Mapping[str, Any], devices: int, guard: int
) -> None:
    build = compiled(program, model_guard=guard, learning_rate=0.3, results=("h",))
    start = {"w": np.array([0.25, -1.0]), "b": np.array(0.5)}
    expected = by_hand(build, data, start, devices)
    for engine in (None, "model"):
        found = build.train(data, epochs=1, devices=devices, weights=start, engine=engine)
        for name, words in expected.items():
            np.testing.assert_array_equal(found.words[name], words)
    whole = {name: array[: SAMPLES - SAMPLES % STEP] for name, array in data.items()}
    arrays = build.evaluate(whole, weights=start, devices=devices)
    for name in expected:
        np.testing.assert_array_equal(arrays[name], found.models[name])
    assert arrays["h"].shape == build.evaluate(whole, weights=start)["h"].shape


def test_devices_round_for_themselves_and_one_device_is_none(program: Path, data: Mapping[str, Any]) -> None:
    build = compiled(program, learning_rate=0.05)
    alone = build.train(data, epochs=2)
    one, four = build.train(data, epochs=2, devices=1), build.train(data, epochs=2, devices=4)
    assert one.text(unicode=True) == alone.text(unicode=True) and one.as_json() == alone.as_json()
    assert not np.array_equal(four.words["w"], alone.words["w"])
    assert abs(four.words["w"] - alone.words["w"]).max() <= 8


def test_saturated_sums_are_events(program: Path) -> None:
    build = compiled(program, format="q4.8", learning_rate=1, minibatch=4)
    many = {"x": np.zeros((4, 2)), "y": np.full(4, 7.9)}
    # Each device takes b from 0 to 7.9, which is in the range; the sum of four is not.
    found = build.train(many, epochs=1, devices=4, weights={"w": np.zeros(2), "b": np.zeros(())})
    assert found.words["b"] == Format(integer=4, fraction=8).highest
    assert found.events.overflows == 1 and found.events.overflows_by_value == {"b": 1}


@pytest.mark.parametrize(
    ("devices", "options", "said"),
    [
        (5, {}, "a minibatch of 12 samples does not divide among 5 devices.*--minibatch 10 or 15, or --devices 4"),
        (24, {}, "does not divide among 24 devices.*--minibatch 24, or --devices 12"),
        (0, {}, "devices: 0 is less than 1"),
        ("4", {}, "devices: '4' is neither a number nor a list of boards"),
        (["serial:/dev/a", "serial:/dev/a"], {}, "--devices names the board at '/dev/a' twice"),
        (["model"], {}, "'model' does not name a serial line"),
        (["serial:/dev/a"], {"engine": "model"}, "--devices names boards, and --engine another device"),
        (["serial:/dev/a"], {"scheduler": "tcp://x:1"}, "--devices names boards, and --scheduler names workers"),
        (None, {"scheduler": "tcp://x:1"}, "--scheduler names a cluster that plays devices.*add --devices"),
    ],
)
def test_what_cannot_be_shared_is_refused_with_a_cure(
    program: Path, data: Mapping[str, Any], devices: Any, options: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(TablaError, match=f"(?s){said}"):
        compiled(program).train(data, devices=devices, **options)


def test_a_program_without_steps_is_no_fleet(tmp_path: Path) -> None:
    (tmp_path / "p.t").write_text("model_input x[2]; model w[2]; iterator i[0:2]; h = sum[i](w[i] * x[i]);\n")
    build = tabla.compile(tmp_path / "p.t", pes=2, effort=0)
    with pytest.raises(TablaError, match=r"p\.t' has no gradient, so it takes no steps"):
        share_of(build, 2)


class Failing:
    """A machine that fails in its fourth load."""

    def __init__(self, machine: Any, fault: type[TablaError] = TablaError) -> None:
        self.machine, self.fault, self.loads = machine, fault, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.machine, name)

    def load(self, models: Any) -> None:
        """Load models, three times."""
        self.loads += 1
        if self.loads == 4:
            raise self.fault("the line is dead", hint="look at it")
        self.machine.load(models)


def test_boards_share_the_devices_and_one_that_fails_is_named(
    program: Path, data: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The boards are cycle models."""
    from tabla.host.engines.session import session
    from tabla.learn.fleet import devices

    opened: list[str] = []

    def board(schedule: Any, image: Any, place: str, *rest: Any) -> Any:
        opened.append(place)
        return session(schedule, image, "model", *rest)

    monkeypatch.setattr(devices, "session", board)
    build, boards = compiled(program), ["serial:/dev/a", "serial:/dev/b", "serial:/dev/c"]
    found = build.train(data, epochs=1, devices=boards)
    assert opened == boards and found.engine == f"boards {', '.join(boards)}"
    np.testing.assert_array_equal(found.words["w"], build.train(data, epochs=1, devices=3).words["w"])
    real = devices.FleetSession

    def failing(*, workers: Sequence[Any], **rest: Any) -> Any:
        return real(workers=[workers[0], Failing(workers[1]), workers[2]], **rest)

    monkeypatch.setattr(devices, "FleetSession", failing)
    with pytest.raises(TablaError, match=r"device 2 of 3, serial:/dev/b: the line is dead \(3 steps were finished\)"):
        build.train(data, epochs=4, devices=boards)


@pytest.mark.parametrize("lost", [(1,), (0, 2), (0, 1, 2)])
def test_others_take_the_devices_of_a_player_that_is_lost(
    program: Path, data: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch, lost: Sequence[int]
) -> None:
    from tabla.host.engines.session import session
    from tabla.learn.fleet import devices

    monkeypatch.setattr(devices, "session", lambda one, two, place, *rest: session(one, two, "model", *rest))
    build, boards, real = compiled(program), ["serial:/dev/a", "serial:/dev/b", "serial:/dev/c"], devices.FleetSession
    expected = build.train(data, epochs=4, devices=3).words["w"]

    def losing(*, workers: Sequence[Any], **rest: Any) -> Any:
        mixed = [Failing(worker, LostError) if n in lost else worker for n, worker in enumerate(workers)]
        return real(workers=mixed, **rest)

    monkeypatch.setattr(devices, "FleetSession", losing)
    if len(lost) == len(boards):
        with pytest.raises(TablaError, match=r"device \d of 3, serial:/dev/.: the line is dead \(\d steps were"):
            build.train(data, epochs=4, devices=boards)
        return
    found = build.train(data, epochs=4, devices=boards)
    assert found.remark == "; ".join(f"{boards[n]}: the line is dead, and others took its shares" for n in lost)
    np.testing.assert_array_equal(found.words["w"], expected)


def test_one_device_is_no_fleet() -> None:
    assert devices_of(1, None, None) is None and devices_of(None, None, None) is None
    assert devices_of(1, "tcp://x:1", None) is not None
