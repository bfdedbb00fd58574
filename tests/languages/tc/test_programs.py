"""The programs of ``tests/programs/tc`` against numpy, and their inferred ranges as golden texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.languages.tc import Unit, parse, ranges_text
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate
from tests.languages.tc.naive import rebased, run
from tests.languages.tc.references import REFERENCES
from tests.languages.tc.test_evaluate import elements

PROGRAMS = {path.stem: path for path in sorted((Path(__file__).parents[2] / "programs" / "tc").glob("*.tc"))}
# They need SciPy, which is no dependency of ours.
SPECIAL = {"gelu_exact"}


def unit_of(name: str) -> Unit:
    return parse(Source.from_text(PROGRAMS[name].read_text(encoding="utf-8"), f"{name}.tc"))


def test_there_are_many_and_all_have_a_reference() -> None:
    assert len(PROGRAMS) >= 80
    assert PROGRAMS.keys() - SPECIAL == REFERENCES.keys()


@pytest.mark.parametrize("name", REFERENCES)
def test_against_numpy(name: str) -> None:
    function = unit_of(name).function()
    for seed in range(2):
        inputs = REFERENCES[name].draw(seed)
        found = evaluate(function, inputs)
        expected = REFERENCES[name].results(**inputs)
        assert len(found) == len(expected) == len(function.results)
        for result, array in zip(function.results, expected, strict=True):
            assert found[result].shape == np.shape(array), result
            np.testing.assert_allclose(found[result], array, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", ["conv1d", "causal_attention", "mlp3", "transposed_convolution", "argmin", "concat"])
def test_point_by_point(name: str) -> None:
    function = unit_of(name).function()
    inputs = REFERENCES[name].draw(3)
    sizes = bind_sizes(function, {tensor: array.shape for tensor, array in inputs.items()})
    expected = run(function, {tensor: elements(array) for tensor, array in inputs.items()}, sizes)
    for result, array in evaluate(function, inputs).items():
        points = rebased(expected[result])
        np.testing.assert_allclose([array[at] for at in points], list(points.values()), rtol=1e-9)


def test_ranges(golden: Callable[[str, str], None]) -> None:
    text = "\n".join(f"# {name}.tc\n{ranges_text(unit_of(name))}" for name in PROGRAMS)
    golden("tc/ranges.txt", text)


def test_special_functions() -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-2, 2, 9)
    found = evaluate(unit_of("gelu_exact").function(), {"In": x})["O"]
    np.testing.assert_allclose(found, x * special.ndtr(x), rtol=1e-9)
