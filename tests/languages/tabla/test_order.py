"""Loops in order: turns that depend on each other, forward and backward, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.commands.cli import main
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.languages.tabla.order import MOST_STATEMENTS
from tabla.languages.tabla.text import program_text
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from tests.graph.runs import evaluate_float
from tests.schedule.agreement import Q6_10, agree, shaped_graph

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "language.md"
BPTT = PAGE.read_text().split("```text file=recurrent.t\n")[1].split("```")[0]


def assignments(text: str) -> list[str]:
    """The assignments of a program, as text."""
    lines = program_text(parse(Source.from_text(text))).splitlines()
    return [line for line in lines if " = " in line]


def fault(text: str) -> TablaError:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text(text))
    return caught.value


def test_a_loop_is_its_turns() -> None:
    """The statements alternate, and a value that is assigned in each turn is that of the turn."""
    head = "model_input x[4][3]; iterator i[0:3];"
    loop = f"{head} iterator t[1:4] in order; s[0][i] = x[0][i]; a[i] = t * x[t][i]; s[t][i] = s[t-1][i] + a[i];"
    turns = "".join(f"a[i] = {t} * x[{t}][i]; s[{t}][i] = s[{t - 1}][i] + a[i];" for t in (1, 2, 3))
    assert assignments(loop) == assignments(f"{head} s[0][i] = x[0][i]; {turns}")


def test_the_last_value_comes_first() -> None:
    text = "model_input x[4]; iterator t[0:3] in  reverse\n order; s[3] = x[3]; s[t] = s[t+1] * x[t];"
    assert assignments(text)[1:] == [f"s[{t}] = s[{t + 1}] * x[{t}];" for t in (2, 1, 0)]


def test_statements_that_do_not_use_the_iterator_end_a_loop() -> None:
    """Two loops along one iterator, with a statement between them."""
    text = "model_input x[3]; iterator t[1:3] in order; s[0] = x[0]; s[t] = s[t-1]*x[t]; c = s[2]; r[t] = s[t] + c;"
    targets = [line.partition(" = ")[0] for line in assignments(text)]
    assert targets == ["s[0]", "s[1]", "s[2]", "c", "r[1]", "r[2]"]


def test_a_group_over_the_iterator_is_no_loop() -> None:
    text = "model_input x[3]; iterator t[0:3] in order; s = sum[t](t * x[t]);"
    assert assignments(text) == ["s = sum[t](t * x[t]);"]


def test_a_group_binds_its_iterator_in_a_loop() -> None:
    text = "model_input x[3]; iterator t[1:3] in order; s[0] = x[0]; s[t] = s[t-1] + sum[t](x[t]);"
    assert assignments(text)[1:] == [f"s[{t}] = s[{t - 1}] + sum[t](x[t]);" for t in (1, 2)]


def test_the_words_are_free_for_names() -> None:
    text = "model_input x; in = 2; order = 3; reverse = 4; y = in * order * reverse * x;"
    assert assignments(text)[-1] == "y = in * order * reverse * x;"


def test_a_value_that_each_turn_changes() -> None:
    """Horner's rule: the same name in every turn."""
    text = "model_input x, c[4]; iterator t[0:3] in reverse order; p = c[3]; p = p * x + c[t];"
    graph = lower(parse(Source.from_text(text)), number_format=Q6_10)
    x, c = 0.75, np.array([0.5, -1.25, 0.375, 2.0])
    found = evaluate_float(graph, {"x": np.array(x), "c": c}, {})
    (tensor,) = (tensor for _, tensor in graph.results)
    assert found.values[tensor] == pytest.approx(np.polyval(c[::-1], x))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "model_input x[3]; iterator t[1:3] in order, u[1:3] in reverse order; s[0] = x[0]; s[t] = s[t-1] + x[u];",
            "this statement runs in order along 't' and along 'u'",
            "a statement runs in order along one iterator; write the turns of the shorter one out",
        ),
        (
            "model_input x[9000]; iterator t[1:9000] in order; s[0] = x[0]; s[t] = s[t-1] + x[t]; y = s[8999];",
            f"the loop along 't' is 8,999 statements, and at most {MOST_STATEMENTS:,} are allowed",
            "a loop in order is written out, turn by turn, so let it have fewer turns",
        ),
        (
            "model_input x[3]; iterator t[0:3] in order; s[t] = s[t-1] + x[t];",
            "'s' is not declared and has no value",
            "a statement reads what was there before it; start with s = ...;",
        ),
        (
            "model_input x[3]; iterator t[1:3]; s[0] = x[0]; s[t] = s[t-1] + x[t];",
            "'s[1]' has no value yet",
            (
                "a statement computes all its elements from what was there before it, not one after the other; "
                "declare the loop as 'iterator t[1:3] in order;'"
            ),
        ),
        (
            "model_input x[3]; iterator t[0:2]; s[2] = x[2]; s[t] = s[t+1] + x[t];",
            "'s[1]' has no value yet",
            (
                "a statement computes all its elements from what was there before it, not one after the other; "
                "declare the loop as 'iterator t[0:2] in reverse order;'"
            ),
        ),
        (
            "model_input x[2][3]; iterator i[0:2], t[1:3]; s[i][0] = x[i][0]; s[i][t] = s[i][t-1] + x[i][t];",
            "'s[0][1]' has no value yet",
            (
                "a statement computes all its elements from what was there before it, not one after the other; "
                "declare the loop as 'iterator t[1:3] in order;'"
            ),
        ),
        (
            "model_input x[3]; iterator t[1:3] in order; s[0] = x[0]; s[t] = s[t-1] + x[t+1];",
            "'x' has the elements 0 to 2",
            "an iterator's end is exclusive: i[0:n] runs from 0 to n-1",
        ),
    ],
)
def test_refused(text: str, message: str, hint: str) -> None:
    """One fault, and not one for each turn or for what reads the loop's values."""
    found = fault(text)
    assert (found.message, found.hint, found.more) == (message, hint, ())


def warned(text: str) -> list[str]:
    """The warnings of the check of a text."""
    return [each.text for each in parse(Source.from_text(text)).warnings]


def test_turns_do_not_lose_the_values_of_each_other() -> None:
    """One statement assigns a value in every turn, and the last value of `d` is read by no other statement."""
    assert warned("model_input x[4]; iterator t[0:4] in order; y = x[t];") == []
    assert warned("model_input x[1]; iterator t[1:4] in order; n = t; y = x[0]*n;") == []
    head = "model_input x[3]; model w; gradient g -> w; mu = 0.5; iterator t[0:2] in reverse order, i[0:2];"
    assert warned(f"{head} d[2] = x[2]; e[t] = d[t+1]*x[t]; d[t] = e[t]*w; g = sum[i](e[i]);") == []


def test_a_statement_behind_a_loop_that_it_may_have_meant_to_be_in() -> None:
    head = "model_input x[4]; iterator t[1:4] in order; b = x[1]; s[0] = x[0]; s[t] = s[t-1]*b + x[t];"
    (said,) = warned(f"{head} b = b*0.5; y = s[3] + b;")
    assert said.startswith("'b' is assigned once, behind the loop along 't', which reads it; ")
    assert warned(f"{head} b = b*0.5 + 0*t; y = s[3] + b;") == []
    assert warned(f"{head} c = b*0.5; y = s[3] + c;") == []


def test_back_propagation_through_time() -> None:
    """The gradients of the program on the page are those of differences of the loss."""
    graph = lower(parse(Source.from_text(BPTT)), number_format=Q6_10)
    generator = np.random.default_rng(5)
    models = {name: generator.normal(size=graph.tensors[name].shape) * 0.6 for name in ("U", "R", "w")}
    inputs = {"x": generator.normal(size=(5, 4)), "y": np.array(0.3)}

    def loss(models: dict[str, np.ndarray]) -> float:
        s = np.tanh(models["U"] @ inputs["x"][0])
        for t in range(1, 5):
            s = np.tanh(models["U"] @ inputs["x"][t] + models["R"] @ s)
        return float((models["w"] @ s - inputs["y"]) ** 2 / 2)

    after = evaluate_float(graph, inputs, models).models
    for name, model in models.items():
        gradient = (model - after[name]) / 0.0625
        for at in np.ndindex(model.shape):
            step = np.zeros(model.shape)
            step[at] = 1e-5
            difference = loss({**models, name: model + step}) - loss({**models, name: model - step})
            assert gradient[at] == pytest.approx(difference / 2e-5, abs=1e-6)


def test_rows_that_are_brought_together_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last state is read where it was made, and not where all states are brought together for the gradient.

    A row that nobody reads is still told.
    """
    (tmp_path / "p.t").write_text(BPTT)
    assert main(["check", "--effort", "0", str(tmp_path / "p.t")]) == 0
    assert "never read" not in capsys.readouterr().err
    (tmp_path / "p.t").write_text(
        BPTT.replace("T - 1][j] * s[T - 1][j]", "T - 2][j] * s[T - 2][j]").replace("s[T - 1]", "s[T - 2]")
    )
    assert main(["check", "--effort", "0", str(tmp_path / "p.t")]) == 0
    assert "s[4][0..7] are never read" in capsys.readouterr().err


@settings(max_examples=5)
@given(st.integers(2, 4), st.integers(1, 5), st.integers(2, 5), st.sampled_from([1, 4]))
def test_the_machine_computes_loops(turns: int, inputs: int, units: int, pes: int) -> None:
    """Recurrent networks of drawn sizes: the cycle model has the words and cycles of evaluation and schedule."""
    text = BPTT.replace("m = 4; n = 8; T = 5;", f"m = {inputs}; n = {units}; T = {turns};")
    agree(shaped_graph(text), template_for(pes=pes), Q6_10, effort=EFFORTS[0], samples=3)
