"""The format that is chosen from data: the formats that are tried, and which of them is taken.

What the formats are judged by has tests of its own: test_format_judges.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.build.arrays import steps_of
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.driver import build
from tabla.graph.format import Format, width_of
from tabla.learn.data.dataset import Data
from tabla.learn.format_choice import FormatChoice, Tried, survey
from tabla.learn.options import LearnOptions
from tabla.learn.train import learning_start
from tests.learn.recomputed_format import recomputed

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


@dataclass(frozen=True, kw_only=True)
class Known:
    """A judge that knows the figure of each format, or else takes it for the same as all others."""

    figures: Mapping[str, float] = field(default_factory=dict)
    reference: float = 0.5
    tries: tuple[int, ...] = (0,)
    judged: str = "loss"
    samples: int = 7

    def guards(self, number: Format) -> tuple[int, ...]:
        return self.tries

    def of_format(self, number: Format, guard: int) -> Tried:
        if (figure := self.figures.get(f"{number}, {guard}", 1.0)) < 0:
            raise TablaError(f"no {number}")
        return Tried(format=number, guard=guard, figure=figure, saturated=int(min(10 * figure, 99)))


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
    start = learning_start(made, Data(arrays), LearnOptions())
    steps, count = steps_of(made, start.ready.parts.training.arrays), start.steps
    found = survey(made.lowered, steps, start.models, count=count, epochs=epochs)
    choice = found.choose(width, Known())  # all formats are alike, so the first one is taken
    again = recomputed(made.lowered, steps, start.models, count, epochs, width)
    assert max(each.bits for each in choice.ranges) == again
    assert (choice.format.integer, choice.format.width) == (min(again, width), width)
    return choice


@pytest.mark.parametrize("text", [LOGISTIC, RIDGE, SQUARES])
@pytest.mark.parametrize(("scale", "width"), [(0.3, 10), (1.0, 16), (3.0, 18), (3.0, 32)])
@pytest.mark.parametrize("minibatch", [1, 4])
def test_recomputed(text: str, scale: float, width: int, minibatch: int, make: Make) -> None:
    made = make(text, minibatch)  # type: ignore[call-arg]
    if text is SQUARES and scale == 3.0:
        with pytest.raises(TablaError, match=r"grows without limit"):
            chosen(made, data(300.0), width=width, epochs=29)
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
    assert shown[0] == f"format       {choice.format}, chosen by the loss of 7 samples"
    most = f"h.t1 needs them, up to {ranges['h.t1'].largest:.4g}"
    assert shown[-1] == f"  with {choice.format.integer} integer bits nothing saturates: {most}"
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
    start = learning_start(made, Data(arrays), LearnOptions())
    steps = steps_of(made, start.ready.parts.training.arrays)
    choice = survey(made.lowered, steps, start.models, count=4, epochs=1).choose(24, Known())
    # 8 * 8 * 8 * 8 is the bound of a product of four numbers of at most 8.
    assert choice.format == Format.parse("q14.10") and choice.binding == ("z",)


def test_samples_that_fill_no_step_count(make: Make) -> None:
    made, arrays = make(LOGISTIC, 4), data()  # type: ignore[call-arg]
    whole = {"x": np.concatenate([arrays["x"], [[100.0] * 4]]), "y": np.concatenate([arrays["y"], [0.0]])}
    start = learning_start(made, Data(whole), LearnOptions())
    learnt = {name: array[:COUNT] for name, array in start.ready.parts.training.arrays.items()}
    choice = survey(
        made.lowered,
        steps_of(made, learnt),
        start.models,
        count=start.steps,
        epochs=1,
        part=start.ready.parts.training.arrays,
    ).choose(16, Known())
    assert {each.name: each.bits for each in choice.ranges}["x"] == 8


def tried(judge: Known, make: Make, *, guard: int | None = None) -> FormatChoice:
    """The choice among the formats of 16 bits for a program whose inputs, and nothing else, need four integer bits."""
    made = make(LOGISTIC.replace("0.5", "0.0001"))
    start = learning_start(made, Data(data(7.0)), LearnOptions())
    steps = steps_of(made, start.ready.parts.training.arrays)
    return survey(made.lowered, steps, start.models, count=start.steps, epochs=2).choose(16, judge, guard=guard)


def test_a_format_as_good_as_float64_ends_the_search(make: Make) -> None:
    found = tried(Known(figures={"q4.12, 0": 0.6, "q3.13, 0": 0.5024, "q2.14, 0": 0.1}), make)
    assert [str(each.format) for each in found.tried] == ["q4.12", "q3.13"] and str(found.format) == "q3.13"
    assert found.reference == 0.5 and found.judged == "loss" and found.held_back == 7


def test_else_the_smallest_loss_decides(make: Make) -> None:
    found = tried(Known(figures={"q4.12, 0": 0.6, "q3.13, 0": 0.56, "q2.14, 0": 0.51}), make)
    assert [str(each.format) for each in found.tried] == ["q4.12", "q3.13", "q2.14"] and str(found.format) == "q2.14"


def test_of_equal_losses_the_larger_integer_part_wins_and_then_the_fewest_guard_bits(make: Make) -> None:
    figures = {"q4.12, 4": 0.6, "q4.12, 8": 0.6002, "q3.13, 0": 0.5999, "q2.14, 8": 0.6}
    found = tried(Known(figures=figures, tries=(0, 4, 8)), make)
    assert (str(found.format), found.guard) == ("q4.12", 4) and len(found.tried) == 9


def test_guard_bits_of_the_user_are_the_only_ones(make: Make) -> None:
    found = tried(Known(tries=(0, 4, 8)), make, guard=5)
    assert {each.guard for each in found.tried} == {5} and found.guard == 5


def test_refused_formats_are_shown_and_not_taken(make: Make) -> None:
    found = tried(Known(figures={"q4.12, 0": -1, "q2.14, 0": -1}), make)
    assert str(found.format) == "q3.13" and [each.refused for each in found.tried] == ["no q4.12", "", "no q2.14"]
    assert any("refused: no q4.12" in line for line in found.lines())
    assert found.as_json()["tried"][0] == {  # type: ignore[index]
        "format": "q4.12", "model_guard": 0, "figure": None, "saturated": 0, "refused": "no q4.12",
    }  # fmt: skip
    with pytest.raises(TablaError, match=r"no q2\.14"):
        tried(Known(figures={f"q{integer}.{16 - integer}, 0": -1 for integer in range(2, 17)}), make)


def test_a_format_that_diverges_is_not_taken(make: Make) -> None:
    found = tried(Known(figures={"q4.12, 0": float("inf"), "q3.13, 0": float("inf")}), make)
    assert str(found.format) == "q2.14" and "diverges" in list(found.lines())[2]


def test_values_beyond_all_formats_of_a_width_saturate(make: Make) -> None:
    """One value a thousand times too large for words of 8 bits: all formats are tried, at most eight of them."""
    made = make(LOGISTIC)
    start = learning_start(made, Data({"x": data(100_000.0)["x"], "y": data()["y"]}), LearnOptions())
    steps = steps_of(made, start.ready.parts.training.arrays)
    found = survey(made.lowered, steps, start.models, count=start.steps, epochs=1)
    narrow = found.choose(8, Known())
    assert [each.format.integer for each in narrow.tried] == [8, 7, 6, 5, 4, 3, 2]
    assert max(each.bits for each in narrow.ranges) > 8
    wide = found.choose(16, Known())
    assert [each.format.integer for each in wide.tried] == [16, 14, 12, 10, 8, 6, 4, 2]


def test_a_program_that_does_not_learn_is_tried_until_saturation_makes_it_worse(make: Make) -> None:
    figures = {"q4.12, 0": 0.04, "q3.13, 0": 0.02, "q2.14, 0": 0.3}
    found = tried(Known(figures=figures, reference=-float("inf")), make)
    assert str(found.format) == "q3.13" and found.reference is None and len(found.tried) == 3
    found = tried(Known(figures={**figures, "q3.13, 0": 0.2}, reference=-float("inf")), make)
    assert str(found.format) == "q4.12" and len(found.tried) == 2, "q2.14 saturates even more"
