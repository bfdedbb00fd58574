"""Guard bits in the graph: what is marked, how many there may be, and what the marks keep passes from doing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Operand, Read
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import with_model_guard
from tabla.graph.passes.pipeline import shaped
from tabla.graph.rewrite import with_operands
from tabla.graph.text import graph_text
from tabla.graph.verify import GraphFault, verify
from tabla.graph.words import to_real, to_words
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower

Q4_8 = Format(integer=4, fraction=8)
DECAY = "mu = {mu}; model_input x; model w[3], v; gradient g[3] -> w; iterator i[0:3]; g[i] = w[i] + x*v;"


def graph_of(text: str, format: Format = Q4_8) -> Graph:
    return lower(parse(Source.from_text(text)), number_format=format)


def test_only_models_that_learn_are_wide() -> None:
    graph = with_model_guard(graph_of(DECAY.format(mu=0.25)), 5, Q4_8)
    assert {name: tensor.guard for name, tensor in graph.tensors.items() if tensor.guard} == {"w": 5, "w.next": 5}
    assert "w.next[axis0] = stored(w[axis0]) - 1*g[axis0]*2^-2" in graph_text(graph)


def test_without_guard_bits_no_mark_is_left() -> None:
    graph = with_model_guard(graph_of(DECAY.format(mu=0.25)), 0, Q4_8)
    assert not any(read.stored for statement in graph.statements for read in statement.reads)
    assert "stored" not in graph_text(graph)


@pytest.mark.parametrize(
    ("format", "mu", "largest"),
    [
        (Q4_8, "0.25", 10),
        (Q4_8, "1", 8),
        (Q4_8, "2", 7),
        (Q4_8, "0.001", 12),
        (Format(integer=16, fraction=12), "0.001", 4),
        (Format(integer=16, fraction=16), "0.5", 0),
    ],
)
def test_an_error_names_the_largest_number(format: Format, mu: str, largest: int) -> None:
    graph = graph_of(DECAY.format(mu=mu), format)
    with_model_guard(graph, largest, format)
    with pytest.raises(TablaError, match=rf"--model-guard {largest + 1}: .* at most {largest} guard bits"):
        with_model_guard(graph, largest + 1, format)


def test_a_program_that_updates_nothing_takes_none() -> None:
    with pytest.raises(TablaError, match="updates no model"):
        with_model_guard(graph_of("model_input x; model w; h = w*x;"), 1, Q4_8)


@pytest.mark.parametrize("size", [1, 3])
def test_the_own_word_is_another_one_than_the_stored(size: int) -> None:
    """``w - 1*w`` is 0 in words. In a wide model it is not: the guard bits stay."""
    text = "mu = 1; model_input x; model w[3]; gradient g[3] -> w; iterator i[0:3]; g[i] = w[i];"
    graph = minibatched(with_model_guard(graph_of(text), 4, Q4_8), size)
    made = shaped(graph, Q4_8)
    verify(made)
    (update,) = made.writers("w.next")
    assert isinstance(update.operation, Linear) and update.operation.guard == 4
    assert [read.stored for read in update.reads] == [True, False]
    unmarked = replace(update, operation=with_operands(update.operation, _plain))
    with pytest.raises(GraphFault, match="not by adding to the stored word"):
        verify(replace(made, statements=tuple(unmarked if s is update else s for s in made.statements)))


def _plain(operand: Operand) -> Operand:
    return replace(operand, stored=False) if isinstance(operand, Read) else operand


@given(st.sampled_from([Q4_8, Format(integer=2, fraction=6), Format(integer=5, fraction=13)]), st.data())
def test_values_there_and_back(format: Format, data: st.DataObject) -> None:
    """Every stored integer has a value that a float64 holds, and that is stored as the same integer again."""
    guard = data.draw(st.integers(0, min(format.width, 32 - format.width)))
    low, high = -(1 << (format.width + guard - 1)), (1 << (format.width + guard - 1)) - 1
    ends = st.sampled_from([low, low + 1, -1, 0, 1, high - 1, high])
    stored = np.array(data.draw(st.lists(ends | st.integers(low, high), min_size=1)), dtype=np.int64)
    values = to_real(stored, format, guard=guard)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(to_words(values, format, guard=guard), stored)
    # Dropping the guard bits rounds the value half up.
    np.testing.assert_array_equal(stored >> guard, np.floor(values * format.one + 0.5).astype(np.int64))


def test_marks_may_be_lost_in_a_text() -> None:
    """The text of a graph without guard bits has no marks. The pass finds the old words again."""
    graph = graph_of(DECAY.format(mu=0.25))
    plain = with_model_guard(graph, 0, Q4_8)
    assert plain != graph and with_model_guard(plain, 3, Q4_8) == with_model_guard(graph, 3, Q4_8)


@pytest.mark.parametrize("guard", [0, 1, 8])
def test_values_outside_the_range_are_refused_as_ever(guard: int) -> None:
    for value in (8.0, -8.01, 7.9999):
        with pytest.raises(TablaError, match=r"outside the range of q4.8"):
            to_words([value], Q4_8, "w", guard=guard)
