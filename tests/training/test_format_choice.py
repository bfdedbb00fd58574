"""The format that is chosen from data: held against a recomputation, and against what must or must not change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabla.driver import build
from tabla.ir.format import Format, width_of
from tabla.learning import learning_start
from tabla.options import Options
from tabla.runs import steps_of
from tabla.source import TablaError
from tabla.stages import Stages
from tabla.training.format_choice import FormatChoice, survey
from tests.training.recomputed_format import recomputed

COUNT, FEATURES = 48, 4
LOGISTIC = """
m = 4; mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
RIDGE = """
m = 4; mu = 0.0625;
model_input x[m]; model_output y; model w[m], b; gradient g[m] -> w, gb -> b; iterator i[0:m];
e = sum[i](w[i] * x[i]) + b - y;
g[i] = e * x[i] + 0.01 * w[i];
gb = e;
"""
SQUARES = """
m = 4; mu = 0.125;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
n = sum[i](x[i] * x[i]);
e = sum[i](w[i] * x[i]) - y;
g[i] = e * x[i] * n;
"""
Make = Callable[[str], Stages]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that reads a program in a format of wide words."""

    def made(text: str, minibatch: int = 1) -> Stages:
        file = tmp_path / "model.t"
        file.write_text(text)
        return build(file, Options(format="q16.16", minibatch=minibatch))

    return made


def data(scale: float = 1.0, seed: int = 5) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    x = chance.uniform(-scale, scale, (COUNT, FEATURES))
    return {"x": x, "y": (x @ [1, -2, 3, 0.5] > 0).astype(float)}


def chosen(made: Stages, arrays: dict[str, np.ndarray], *, width: int = 16, epochs: int = 2) -> FormatChoice:
    start = learning_start(made, arrays)
    steps, count = steps_of(made, start.ready.parts.training.arrays), start.steps
    found = survey(made.lowered, steps, start.models, count=count, epochs=epochs)
    choice = found.choose(width, largest_guard=lambda number: 8)
    again = recomputed(made.lowered, steps, start.models, count, epochs, width)
    assert (choice.format.integer, choice.format.fraction, choice.guard) == again
    return choice


@pytest.mark.parametrize("text", [LOGISTIC, RIDGE, SQUARES])
@pytest.mark.parametrize(("scale", "width"), [(0.3, 10), (1.0, 16), (3.0, 18), (3.0, 32)])
@pytest.mark.parametrize("minibatch", [1, 4])
def test_recomputed(text: str, scale: float, width: int, minibatch: int, make: Make) -> None:
    made = make(text, minibatch)  # type: ignore[call-arg]
    if text is SQUARES and scale == 3.0:
        with pytest.raises(TablaError, match=r"no format of \d+ bits holds|grows without limit"):
            chosen(made, data(30.0), width=width, epochs=9)
        return
    choice = chosen(made, data(scale), width=width)
    assert choice.format.width == width and choice.binding


def test_scaled_inputs_move_the_point(make: Make) -> None:
    """Inputs of a program whose widest values are the inputs themselves: each doubling takes a bit of the fraction."""
    made = make(LOGISTIC.replace("0.5", "0.0001"))
    widths = [chosen(made, {**data(), "x": data()["x"] * 2**k}).format.integer for k in (4, 5, 6)]
    assert widths == [widths[0], widths[0] + 1, widths[0] + 2]


def test_the_order_of_features_does_not_matter(make: Make) -> None:
    made, order = make(RIDGE), [2, 0, 3, 1]
    arrays = data()
    first = chosen(made, arrays)
    second = chosen(made, {**arrays, "x": arrays["x"][:, order]})
    assert first.format == second.format
    assert [r.bits for r in first.ranges] == [r.bits for r in second.ranges]


def test_what_binds_and_on_what_basis(make: Make) -> None:
    choice = chosen(make(LOGISTIC), {"x": data()["x"] * 100, "y": data()["y"]}, width=24)
    ranges = {each.name: each for each in choice.ranges}
    assert ranges["x"].basis == "proven" and ranges["x"].bound == ranges["x"].largest
    assert ranges["w"].basis == "measured" and ranges["w"].need == 2 * ranges["w"].largest
    assert ranges["h"].basis == "proven" and ranges["h"].bits == 2
    assert choice.binding == ("h.t1",)
    shown = list(choice.lines())
    assert shown[0] == f"format       {choice.format}, chosen from 2 epochs of 48 samples in float64"
    assert [line.split()[0] for line in shown[1:] if "<- binds" in line] == ["h.t1"]
    assert choice.as_json()["binding"] == ["h.t1"]


def test_the_least_format_that_holds_a_value(make: Make) -> None:
    """A bound on the edge: 2^(I-1) - 2^-F is held, and half a place more is not."""
    made = make(SQUARES.replace("g[i] = e * x[i] * n;", "g[i] = e * 0.001;"))
    # The error is y at first, and counts twice.
    edge = {"x": np.full((4, 4), 0.5), "y": np.full(4, 4 - 2.0**-13)}
    assert chosen(made, edge).format == Format.parse("q4.12")
    assert chosen(made, {**edge, "y": np.full(4, 4 - 2.0**-14)}).format == Format.parse("q5.11")


@pytest.mark.parametrize(
    ("text", "width"), [("auto", 16), ("auto8", 8), ("auto32", 32), ("q6.10", None), ("autox", None)]
)
def test_the_words_of_the_option(text: str, width: int | None) -> None:
    assert width_of(text) == width


@pytest.mark.parametrize("text", ["auto7", "auto33", "auto0", "auto99999"])
def test_widths_that_no_word_has(text: str) -> None:
    with pytest.raises(TablaError, match="there are no words of"):
        width_of(text)


def test_every_step_of_a_running_product_has_room(make: Make) -> None:
    declared = "m = 4; mu = 0.5; model_input x[m]; model_output y; model w; gradient g -> w; iterator i[0:m];"
    made = make(f"{declared} z = pi[i](x[i]); g = w * z - y;")
    arrays = {"x": np.tile([8.0, 8.0, 8.0, 0.002], (4, 1)), "y": np.zeros(4)}
    start = learning_start(made, arrays)
    steps = steps_of(made, start.ready.parts.training.arrays)
    choice = survey(made.lowered, steps, start.models, count=4, epochs=1).choose(24)
    # 8 * 8 * 8 * 8 is the bound of a product of four numbers of at most 8.
    assert choice.format == Format.parse("q14.10") and choice.binding == ("z",)


def test_samples_that_fill_no_step_count(make: Make) -> None:
    made, arrays = make(LOGISTIC, 4), data()  # type: ignore[call-arg]
    whole = {"x": np.concatenate([arrays["x"], [[100.0] * 4]]), "y": np.concatenate([arrays["y"], [0.0]])}
    start = learning_start(made, whole)
    learnt = {name: array[:COUNT] for name, array in start.ready.parts.training.arrays.items()}
    choice = survey(
        made.lowered,
        steps_of(made, learnt),
        start.models,
        count=start.steps,
        epochs=1,
        part=start.ready.parts.training.arrays,
    ).choose(16)
    assert {each.name: each.bits for each in choice.ranges}["x"] == 8
