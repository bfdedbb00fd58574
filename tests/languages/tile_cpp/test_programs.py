"""C++ functions against numpy: in float64, in words, and in the words of the machine."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tile import Program
from tabla.languages.tile.lower import lower
from tabla.languages.tile_cpp.trace import load, trace
from tests.languages.tile.meaning import evaluate
from tests.languages.tile_cpp.references import REFERENCES, TUTORIAL, Reference, traced, tutorial
from tests.schedule.agreement import agree

WIDE = Format.parse("q12.20")


def check(program: Program, reference: Reference) -> None:
    """Compare the meaning in float64, and that of wide words, with numpy."""
    arrays = reference.draw(3)
    expected = reference.expected(arrays)
    found = evaluate(program, arrays)
    assert list(found) == [f"out{number}" for number in range(len(expected))]
    for value, array in zip(found.values(), expected, strict=True):
        assert value.shape == array.shape
        np.testing.assert_allclose(value, array, rtol=1e-7, atol=1e-9)
    graph = lower(program, number_format=WIDE)
    words = {name: np.floor(array * WIDE.one + 0.5).astype(np.int64) for name, array in arrays.items()}
    values = evaluate_fixed(graph, WIDE, words).values
    for (_, tensor), array in zip(graph.results, expected, strict=True):
        np.testing.assert_allclose(values[tensor] / WIDE.one, array, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_function_means_what_numpy_says(name: str) -> None:
    check(traced(name), REFERENCES[name])


def test_there_are_enough() -> None:
    assert len(REFERENCES) >= 40


@pytest.mark.parametrize("name", REFERENCES)
def test_the_machine_computes_the_words_of_the_evaluation(name: str) -> None:
    template = Options(pes=4).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(traced(name), number_format=words), words), template, words, samples=2)


@pytest.mark.parametrize("name", TUTORIAL)
def test_the_tutorial_means_what_it_says(name: str) -> None:
    file = load(Source.from_text(tutorial()[name], "t.cpp"))
    check(trace(file, file.function(None), TUTORIAL[name].shapes), TUTORIAL[name])


def test_the_tutorial_is_whole() -> None:
    assert set(tutorial()) == {*TUTORIAL, "avg_0", "complex_conv_2d"}


def test_the_mean_of_the_tutorial_is_refused() -> None:
    """It makes a single value and writes one for each column."""
    file = load(Source.from_text(tutorial()["avg_0"], "t.cpp"))
    with pytest.raises(TablaError, match="'Sum' has 0 dimensions and 1 subscripts") as caught:
        trace(file, file.function("avg"), {"I": (3, 4)})
    assert (caught.value.line, caught.value.column) == (6, 3)
    assert caught.value.hint == "write () for the single value, or make it as TensorOutput(Y)"


def test_the_last_example_of_the_tutorial_is_refused() -> None:
    """It has the escapes of a formatted page, one name for two things, and four names for nothing."""
    with pytest.raises(TablaError) as caught:
        load(Source.from_text(tutorial()["complex_conv_2d"], "t.cpp"))
    faults = [caught.value, *caught.value.more]
    assert [fault.message for fault in faults] == [
        "a backslash before a sign",
        "'K' is declared twice",
        *(f"'{name}' is not declared" for name in ("Y0", "Y1", "k0", "k1")),
    ]
    assert [fault.line for fault in faults] == [4, 10, 32, 32, 36, 36]
    assert faults[1].labels[1].span.line == 3
    assert faults[2].hint == "if 'Y' is a vector, its element is Y[0]"


def test_a_page_and_its_python_say_the_same() -> None:
    """The C++ of an example and its Python are the same program."""
    from tabla.languages.tile import load as load_python
    from tabla.languages.tile import trace as trace_python
    from tabla.languages.tile.text import program_text
    from tests.languages.tile.references import PROGRAMS

    for name in ("sum_over_axis", "max_over_axis", "matmul", "skip", "csum", "conv_1d"):
        shapes = TUTORIAL[name].shapes
        file = load(Source.from_text(tutorial()[name], "t.cpp"))
        python = trace_python(load_python(PROGRAMS / "seed.py", name), shapes)
        assert program_text(trace(file, file.function(name), shapes)) == program_text(python)


def test_names_of_the_page_are_all_there() -> None:
    """Each function of the tutorial's reference is one of C++, too."""
    from tabla import tile
    from tabla.languages.tile_cpp.library import FUNCTIONS, OUTPUT

    python_only = {"Tensor", "TensorDim", "TensorDims", "TensorIndex", "TensorIndexes", OUTPUT, "DType"}
    refused = {"Placeholder", "TensorLens"}
    assert set(tile.__all__) - python_only - refused <= set(FUNCTIONS)
    assert all(re.match(rf"{name}\(", function.form) for name, function in FUNCTIONS.items())
