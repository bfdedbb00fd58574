"""Each pass on texts: ``texts/<pass>/<case>.graph`` is the input, ``<case>.expected.graph`` what the pass makes of it.

The first line of an input is the command that runs the pass, but for the name of the file. ``--update-golden`` writes
the expected texts anew. Whoever adds a pass adds a folder here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.graph import Graph
from tabla.graph.passes.inference import predicting
from tabla.graph.passes.pipeline import PREPARE, all_passes
from tabla.languages.graph_text.reader import read_graph
from tests.graph.graph_strategy import words

TEXTS = Path(__file__).parent / "texts"
EXPECTED = ".expected.graph"
CASES = sorted(path for path in TEXTS.glob("*/*.graph") if not path.name.endswith(EXPECTED))
OTHER_MEANING = {each.name for each in PREPARE.passes} | {predicting.name}
"""The passes that do what the user asks for, which is another meaning. Their own tests say what it is."""


def expected(case: Path) -> Path:
    return case.with_name(case.stem + EXPECTED)


def read(path: Path) -> Graph:
    return read_graph(Source.from_path(path), path.parent).graph


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def test_the_text_after_a_pass(case: Path, command: Callable[..., str], golden: Callable[[str, str], None]) -> None:
    _, tabla, verb, name, *options = case.read_text().partition("\n")[0].split()
    assert (tabla, verb, name) == ("tabla", "pass", case.parent.name)
    golden(str(expected(case)), command("pass", name, str(case), *options))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def test_no_pass_changes_a_word(case: Path) -> None:
    if case.parent.name in OTHER_MEANING:
        return
    before, after, read_format = read(case), read(expected(case)), read_graph(Source.from_path(case)).format
    assert read_format is not None
    for seed in range(10):
        inputs, models = words(before, read_format, seed)
        if case.parent.name in ("flat-gathers", "looked-up-rows", "touched-rows"):  # data decide the positions
            inputs = {name: np.abs(array) % 3 for name, array in inputs.items()}
        old = evaluate_fixed(before, read_format, inputs, models)
        new = evaluate_fixed(after, read_format, inputs, models)
        for (shown, one), (same, other) in zip(before.results, after.results, strict=True):
            assert shown == same
            np.testing.assert_array_equal(old.values[one], new.values[other], err_msg=shown)
        for model, array in old.models.items():
            np.testing.assert_array_equal(array, new.models[model], err_msg=model)


@pytest.mark.parametrize("name", [each.name for each in (*all_passes(), predicting)])
def test_every_pass_has_a_text_that_it_changes(name: str) -> None:
    cases = [case for case in CASES if case.parent.name == name]
    assert any(read(case) != read(expected(case)) for case in cases)


def test_no_text_is_left_over() -> None:
    assert {path for path in TEXTS.rglob("*") if path.is_file()} == {*CASES, *map(expected, CASES)}
    assert {case.parent.name for case in CASES} == {each.name for each in (*all_passes(), predicting)}
