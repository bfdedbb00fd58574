"""Every kernel compiles. Its ranges and results are those of the interpreter of loops, and the machine's words are
those of the evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tc import Function, infer
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate
from tabla.languages.tc.lower import lower
from tabla.languages.tc.ranges import Domain
from tests.corpus.kernels import KERNELS, Kernel, array_of
from tests.corpus.loops import Array, Result, run
from tests.corpus.sample import sampled
from tests.languages.tc.references import REFERENCES
from tests.languages.tc.test_programs import PROGRAMS, unit_of
from tests.schedule.agreement import agree

WIDE = Format.parse("q12.20")


def sizes_of(function: Function, inputs: dict[str, np.ndarray[Any, Any]]) -> dict[str, int]:
    return bind_sizes(function, {name: array.shape for name, array in inputs.items()})


def in_loops(text: str, function: Function, inputs: dict[str, np.ndarray[Any, Any]]) -> Result:
    arrays = {name: array_of(array) for name, array in inputs.items()}
    return run(text, function.name, arrays, sizes_of(function, inputs))


def check_against_loops(text: str, function: Function, inputs: dict[str, np.ndarray[Any, Any]]) -> None:
    expected = in_loops(text, function, inputs)
    found = evaluate(function, inputs)
    assert list(found) == list(function.results)
    for name, array in found.items():
        check_array(array, expected.arrays[name], 2e-5)
    steps = infer(function, sizes_of(function, inputs)).steps
    ranges = [
        {name: (interval.low.at({}), interval.high.at({})) for name, interval in step.intervals.items()}
        for step in steps
        if isinstance(step, Domain)
    ]
    assert ranges == expected.ranges


def check_array(found: np.ndarray[Any, Any], expected: Array, within: float) -> None:
    assert found.shape == tuple(high - low for low, high in expected.ranges)
    lows = [low for low, _ in expected.ranges]
    for at, value in expected.values.items():
        here = found[tuple(i - low for i, low in zip(at, lows, strict=True))]
        np.testing.assert_allclose(float(here), float(value), rtol=within, atol=within)


def test_there_are_enough() -> None:
    assert len(KERNELS) >= 105 and len(REFERENCES) >= 90


@pytest.mark.parametrize("name", KERNELS)
def test_ranges_and_results_are_those_of_loops(name: str) -> None:
    kernel = KERNELS[name]
    function, inputs = kernel.function, kernel.draw(1)
    check_against_loops(kernel.text, function, inputs)
    expected = in_loops(kernel.text, function, inputs)
    graph = lower(function, sizes_of(function, inputs), number_format=WIDE)
    whole = {name for name, tensor in function.tensors.items() if tensor.scalar.integral}
    words = {k: (v.astype(np.float64) * (1 if k in whole else WIDE.one)).astype(np.int64) for k, v in inputs.items()}
    values = evaluate_fixed(graph, WIDE, words).values
    for name, tensor in graph.results:
        check_array(values[tensor] / (1 if name in whole else WIDE.one), expected.arrays[name], 2e-3)


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_programs_are_loops_too(name: str) -> None:
    text = PROGRAMS[name].read_text(encoding="utf-8")
    check_against_loops(text, unit_of(name).function(), REFERENCES[name].draw(1))


@pytest.mark.parametrize("name", sampled(KERNELS))
def test_the_machine_computes_the_words_of_the_evaluation(name: str) -> None:
    kernel = KERNELS[name]
    template = Options(pes=4).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    draws = [kernel.draw(seed) for seed in (1, 2)]
    function = kernel.function
    graph = run_passes(lower(function, sizes_of(function, draws[0]), number_format=words), words)
    agree(graph, template, words, samples=2, given=integers(kernel, draws))


def integers(kernel: Kernel, draws: list[dict[str, np.ndarray[Any, Any]]]) -> dict[str, np.ndarray[Any, Any]]:
    """The inputs of the draws that are integers, since they may be positions. Reals may be any words."""
    names = [name for name in draws[0] if kernel.function.tensors[name].scalar.integral]
    return {name: np.stack([draw[name] for draw in draws]).astype(np.int64) for name in names}
