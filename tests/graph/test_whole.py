"""Whole numbers of real words: `round` and casts of Tile on the machine, over all words of eight bits and on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import shaped
from tabla.graph.verify import verify
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.templates.template import template_for
from tabla.tile import cast, round, update
from tests.languages.tile.meaning import evaluate
from tests.schedule.agreement import agree


def rounded(X: Any) -> Any:
    return round(X)


def truncated(X: Any) -> Any:
    return cast(X, "integer")


@pytest.mark.parametrize("format", ["q2.6", "q4.4", "q7.1", "q6.10", "q16.16", "q8.0"])
@pytest.mark.parametrize(("function", "reference"), [(rounded, np.round), (truncated, np.trunc)])
def test_every_word(format: str, function: Any, reference: Any) -> None:
    fmt = Format.parse(format)
    step = max(1, (fmt.highest - fmt.lowest) // 4001)
    halves = np.arange(fmt.lowest, fmt.highest, max(1, fmt.one // 2))
    ties = halves[:: len(halves) // 2001 * 2 + 1]
    words = np.unique(np.concatenate([np.arange(fmt.lowest, fmt.highest + 1, step), ties, [-1, 1, fmt.highest]]))
    graph = lower(trace(function, {"X": words.shape}), number_format=fmt)
    verify(graph)
    found = evaluate_fixed(graph, fmt, {"X": words}).values[graph.results[0][1]]
    wanted = reference(words / fmt.one) * fmt.one
    assert np.array_equal(found, np.minimum(wanted, fmt.highest).astype(np.int64))


@pytest.mark.parametrize("pes", [1, 4])
@pytest.mark.parametrize("function", [rounded, truncated])
def test_on_the_machine(function: Any, pes: int) -> None:
    fmt = Format.parse("q6.10")
    graph = shaped(lower(trace(function, {"X": (3, 5)}), number_format=fmt), fmt)
    agree(graph, template_for(pes), fmt, samples=4)


def divided(X: Any, Y: Any) -> Any:
    return cast(X, "integer") / cast(Y, "integer")


def test_integers_divide_toward_zero() -> None:
    """All pairs of integers of the format, in words and as the language evaluates them; 0 divides nothing."""
    fmt = Format.parse("q5.6")
    whole = np.arange(-16, 16)
    X, Y = (side.ravel() for side in np.meshgrid(whole, whole[whole != 0]))
    program = trace(divided, {"X": X.shape, "Y": Y.shape})
    graph = lower(program, number_format=fmt)
    verify(graph)
    name = graph.results[0][1]
    found = evaluate_fixed(graph, fmt, {"X": X * fmt.one, "Y": Y * fmt.one})
    wanted = np.trunc(X / Y)
    assert np.array_equal(found.values[name], np.minimum(wanted * fmt.one, fmt.highest))
    # 16 is too much for the format: -16 / -1.
    assert found.counts.overflows == 1
    reals = evaluate(program, {"X": X.astype(float), "Y": Y.astype(float)})
    assert np.array_equal(reals["out0"], wanted)


@pytest.mark.parametrize("pes", [1, 4])
def test_quotients_on_the_machine(pes: int) -> None:
    fmt = Format.parse("q6.10")
    graph = shaped(lower(trace(divided, {"X": (3, 5), "Y": (5,)}), number_format=fmt), fmt)
    agree(graph, template_for(pes), fmt, samples=4)


def test_not_where_float64_takes_the_same_steps() -> None:
    def learns(X: Any, W: Any) -> None:
        update(W, round(X) * W, 0.5)

    with pytest.raises(TablaError, match="round in a program that learns does not run on the machine yet"):
        lower(trace(learns, {"X": (3,), "W": (3,)}), number_format=Format.parse("q6.10"))
