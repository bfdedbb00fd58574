"""Random TABLA programs and random graphs: evaluation and cycle model agree bit for bit, cycles as predicted."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.body import FEW_SHIFTS
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Product
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import largest_guard, with_model_guard
from tabla.graph.passes.pipeline import shaped
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.templates.template import template_for
from tests.draws import draws
from tests.graph.graph_strategy import graphs
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import agree

FORMATS = [Format(integer=6, fraction=10), Format(integer=4, fraction=14), Format(integer=16, fraction=16)]
PES = st.sampled_from([1, 2, 3, 4, 5, 8, 16, 64])
SETTINGS = draws(35, 70)


def lowered(text: str, format: Format) -> Graph:
    """The graph of a text; a constant that the format cannot hold makes no test."""
    try:
        return lower(parse(Source.from_text(text)), number_format=format)
    except TablaError:
        assume(False)
        raise


@SETTINGS
@given(programs(), PES, st.sampled_from(FORMATS), st.integers(0, 2**20))
def test_random_learning_programs(text: str, pes: int, format: Format, seed: int) -> None:
    agree(lowered(text, format), template_for(pes), format, seed=seed)


@draws(18, 35)
@given(
    st.booleans().flatmap(lambda learns: programs(learns=learns)), PES, st.sampled_from(FORMATS), st.integers(0, 2**20)
)
def test_what_the_passes_make_of_random_programs(text: str, pes: int, format: Format, seed: int) -> None:
    agree(shaped(lowered(text, format), format), template_for(pes), format, seed=seed)


@draws(18, 35)
@given(programs(), PES, st.sampled_from(FORMATS), st.integers(2, 5), st.integers(0, 2**20))
def test_random_minibatches(text: str, pes: int, format: Format, size: int, seed: int) -> None:
    agree(minibatched(lowered(text, format), size), template_for(pes), format, seed=seed)


@draws(10, 20)
@given(programs(), PES, st.sampled_from(FORMATS[:2]), st.integers(1, 3), st.integers(0, 2**20), st.data())
def test_random_wide_models(text: str, pes: int, format: Format, size: int, seed: int, data: st.DataObject) -> None:
    graph = lowered(text, format)
    updates = [s.operation for s in graph.statements if s.target in graph.updates.values()]
    most = min((largest_guard(o.shift, format) for o in updates if isinstance(o, Linear)), default=0)
    assume(most > 0)
    guard = data.draw(st.sampled_from([most, 1, (most + 1) // 2]))
    wide = minibatched(with_model_guard(graph, guard, format), size)
    agree(shaped(wide, format), template_for(pes), format, seed=seed)


@SETTINGS
@given(programs(learns=False), PES, st.sampled_from(FORMATS), st.integers(0, 2**20))
def test_random_inference_programs(text: str, pes: int, format: Format, seed: int) -> None:
    agree(lowered(text, format), template_for(pes), format, seed=seed)


def shifts_like_updates(graph: Graph) -> bool:
    """Whether sums with a shift hold at most one word beside their products, added once, as updates do, and shifts are
    no more than the machine has."""
    for statement in graph.statements:
        if isinstance(statement.operation, Linear) and statement.operation.shift:
            words = [t for t in statement.operation.terms if len(t.factors) == 1]
            if len(words) > 1 or any(t.sign < 0 or t.reduce for t in words):
                return False
    shifts = {s.operation.shift for s in graph.statements if isinstance(s.operation, Linear | Product)}
    return len(shifts | {0}) <= FEW_SHIFTS


@SETTINGS
@given(graphs().filter(shifts_like_updates), PES, st.sampled_from(FORMATS), st.integers(0, 2**20))
def test_random_graphs(graph: Graph, pes: int, format: Format, seed: int) -> None:
    agree(graph, template_for(pes), format, seed=seed)
