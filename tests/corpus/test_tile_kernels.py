"""Every Tile kernel computes what numpy says, and the machine's words are those of the evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tile import Program, trace
from tabla.languages.tile.lower import lower
from tests.corpus.sample import sampled
from tests.corpus.tile_kernels import TILE_KERNELS
from tests.languages.tile.meaning import evaluate
from tests.schedule.agreement import agree

WIDE = Format.parse("q12.20")


def program_of(name: str) -> Program:
    kernel = TILE_KERNELS[name]
    return trace(kernel.function, kernel.shapes, {})


def close(found: Any, expected: Any, within: float) -> None:
    assert np.shape(found) == np.shape(expected)
    found, expected = (np.asarray(array, np.float64) for array in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=within, atol=within)


def test_there_are_enough() -> None:
    assert len(TILE_KERNELS) >= 35


@pytest.mark.parametrize("name", TILE_KERNELS)
def test_the_results_are_those_of_numpy(name: str) -> None:
    kernel, program, inputs = TILE_KERNELS[name], program_of(name), TILE_KERNELS[name].draw(1)
    results = kernel.results(**inputs)
    expected = results if isinstance(results, tuple) else (results,)
    found = evaluate(program, inputs)
    assert len(found) == len(expected)
    for array, result in zip(found.values(), expected, strict=True):
        close(array, result, 1e-9)
    graph = lower(program, number_format=WIDE)
    words = {name: np.floor(array * WIDE.one + 0.5).astype(np.int64) for name, array in inputs.items()}
    values = evaluate_fixed(graph, WIDE, words).values
    for (_, tensor), result in zip(graph.results, expected, strict=True):
        close(values[tensor] / WIDE.one, result, 2e-3)


@pytest.mark.parametrize("name", sampled(TILE_KERNELS))
def test_the_machine_computes_the_words_of_the_evaluation(name: str) -> None:
    template = Options(pes=4).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(program_of(name), number_format=words), words), template, words, samples=2)
