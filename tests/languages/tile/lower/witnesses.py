"""One function on arrays: numpy, the language's evaluation, the words of the graph, and the machine's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import shaped
from tabla.graph.verify import verify
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.templates.template import template_for
from tests.languages.tile.meaning import evaluate
from tests.schedule.agreement import agree

Array = np.ndarray[Any, Any]


def evaluated(function: Callable[..., Any], arrays: Mapping[str, Array], **arguments: Any) -> list[Array]:
    """The results in the language's own evaluation."""
    program = trace(function, {name: array.shape for name, array in arrays.items()}, arguments)
    return list(evaluate(program, arrays).values())


def graph_of(function: Callable[..., Any], arrays: Mapping[str, Array], text: str = "q6.10", **arguments: Any) -> Graph:
    """The graph of a function for the shapes of arrays."""
    program = trace(function, {name: array.shape for name, array in arrays.items()}, arguments)
    graph = lower(program, number_format=Format.parse(text))
    verify(graph)
    return graph


def in_words(
    function: Callable[..., Any], arrays: Mapping[str, Array], text: str = "q6.10", **arguments: Any
) -> list[Array]:
    """The results as reals, computed on words. `arrays` hold numbers that words hold."""
    fmt = Format.parse(text)
    graph = graph_of(function, arrays, text, **arguments)
    found = evaluate_fixed(graph, fmt, words_of(arrays, fmt)).values
    return [found[tensor] / fmt.one for _, tensor in graph.results]


def words_of(arrays: Mapping[str, Array], fmt: Format) -> dict[str, Array]:
    """The words of numbers that words hold exactly."""
    words = {name: np.round(array * fmt.one).astype(np.int64) for name, array in arrays.items()}
    for name, array in arrays.items():
        assert np.array_equal(words[name] / fmt.one, array), f"{name} is no array of words"
    return words


def on_the_machine(
    function: Callable[..., Any],
    arrays: Mapping[str, Array],
    text: str = "q6.10",
    *,
    pes: int = 4,
    **arguments: Any,
) -> None:
    """Assert that the cycle model computes the words of the graph for these arrays, and for the same arrays
    once more.
    """
    fmt = Format.parse(text)
    graph = shaped(graph_of(function, arrays, text, **arguments), fmt)
    given = {name: np.stack([words, words]) for name, words in words_of(arrays, fmt).items() if name in graph.tensors}
    agree(graph, template_for(pes), fmt, samples=2, given=given)


def agreed(
    function: Callable[..., Any],
    arrays: Mapping[str, Array],
    expected: list[Array],
    text: str = "q6.10",
    *,
    units: float = 0.5,
    **arguments: Any,
) -> None:
    """Assert that all four witnesses agree. The words may lie `units` in the last place from `expected`."""
    for found, wanted in zip(evaluated(function, arrays, **arguments), expected, strict=True):
        np.testing.assert_allclose(found.astype(float), wanted, rtol=1e-12, atol=1e-12)
        assert found.shape == wanted.shape
    one = Format.parse(text).one
    for found, wanted in zip(in_words(function, arrays, text, **arguments), expected, strict=True):
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max() * one <= units
    on_the_machine(function, arrays, text, **arguments)
