"""Running sums and extremes on the machine: words as evaluated, one a cycle, wherever they begin and end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.legalise.index_set_splitting import MOST_SCANS, scans_kept, split_index_sets
from tabla.graph.passes.legalise.materialise import materialise
from tabla.graph.scan import scan_of
from tabla.graph.verify import verify
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.bound import quick
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import template_for
from tests.draws import draws
from tests.schedule.agreement import agree, agree_on
from tests.schedule.strands.scans import KINDS, Shape, scan_graph

Q6_10 = Format(integer=6, fraction=10)
SHAPES = st.builds(
    Shape,
    kind=st.sampled_from(KINDS),
    rows=st.integers(1, 6),
    outputs=st.integers(2, 7),
    points=st.integers(1, 7),
    low=st.integers(0, 2),
    sign=st.sampled_from([1, -1]),
    offset=st.integers(-9, 9),
    last=st.booleans(),
)


@draws(40, 120)
@given(shape=SHAPES, pes=st.sampled_from([1, 2, 4, 16]), seed=st.integers(0, 2**20))
def test_words_and_cycles(shape: Shape, pes: int, seed: int) -> None:
    graph = scan_graph(shape)
    verify(graph)
    agree(graph, template_for(pes), Q6_10, seed=seed)


@draws(25, 60)
@given(shape=SHAPES, pes=st.sampled_from([2, 3, 4]), sequencers=st.booleans(), seed=st.integers(0, 2**20))
def test_every_way(shape: Shape, pes: int, sequencers: bool, seed: int) -> None:
    """Not the fastest mapping alone, but all that the search proposes: at the root, and rows over the lanes."""
    graph = scan_graph(shape)
    template = replace(template_for(pes), sequencers=2 if sequencers and pes % 2 == 0 else 1).with_roots(1)
    whole = materialise(split_index_sets(graph, Q6_10), Q6_10)
    for mapping in Search(whole, template).candidates(8):
        made = schedule_mapping(graph, mapping, Q6_10)
        assert made is not None
        check(made)
        agree_on(made, seed=seed)


def test_lanes_take_rows() -> None:
    whole = materialise(scan_graph(Shape(rows=6)), Q6_10)
    array = template_for(4).with_roots(1).with_sequencers(1)
    ways = {mapping.fits[0].way for mapping in Search(whole, array).candidates(8)}
    assert ways == {"lane", "root"}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["words", "max"])
def test_a_word_a_cycle(kind: str, sign: int) -> None:
    graph = scan_graph(Shape(kind=kind, outputs=200, points=200, sign=sign))
    alone = replace(graph, statements=graph.statements[:1], results=(("y", "y"),))
    schedule = schedule_graph(alone, template_for(16), Q6_10)
    assert schedule.cycles == quick(alone, schedule.template, Q6_10).terms["stream"] == 200
    assert max(len(strands) for strands in schedule.units.values()) == 2


def test_a_product_runs_on_in_the_steps_of_the_longest() -> None:
    graph = scan_graph(Shape(kind="product", outputs=50, points=50))
    alone = replace(graph, statements=graph.statements[:1], results=(("y", "y"),))
    schedule = agree(alone, template_for(4), Q6_10)
    # Eight cycles a step: the result goes through the memory. Then every word leaves.
    assert schedule.cycles <= 8 * 50 + 2 * 50 + 8
    assert max(len(strands) for strands in schedule.units.values()) <= 4


def test_a_product_from_the_end_does_not() -> None:
    graph = scan_graph(Shape(kind="product", sign=-1))
    assert scan_of(graph.statements[0]) is None
    agree(graph, template_for(4), Q6_10)


def test_rows_follow_each_other() -> None:
    graph = scan_graph(Shape(rows=6, outputs=40, points=40))
    alone = replace(graph, statements=graph.statements[:1], results=(("y", "y"),))
    assert agree(alone, template_for(4), Q6_10).cycles == 240


def test_every_output_out_of_range_counts() -> None:
    graph = scan_graph(Shape(kind="words", outputs=8, points=8))
    graph = replace(graph, statements=graph.statements[:1], results=(("y", "y"),))
    schedule = schedule_graph(graph, template_for(4), Q6_10)
    inputs = {"x": np.full((1, 1, 8), 9 * Q6_10.one), "c": np.zeros((1, 1), dtype=np.int64)}
    models = {name: np.zeros(graph.tensors[name].shape, dtype=np.int64) for name in ("w", "m")}
    expected = evaluate_fixed(graph, Q6_10, {name: words[0] for name, words in inputs.items()}, models)
    host = Host(schedule)
    with CycleModel(encode(schedule), strict=True) as machine:
        machine.load(host.load_beats(models))
        found = machine.run(host.sample_beats(inputs), 1)
    assert found.counters.root_overflows == expected.counts.overflows == 5


def test_too_many_rows_become_boxes() -> None:
    """Strands do not grow with the number of rows: boxes take all of them at once."""
    assert scans_kept(scan_graph(Shape(rows=MOST_SCANS, outputs=3, points=3)))
    graph = scan_graph(Shape(rows=MOST_SCANS + 1, outputs=3, points=3))
    assert not scans_kept(graph)
    agree(graph, template_for(4), Q6_10)


def test_what_does_not_run_on() -> None:
    graph = scan_graph(Shape(kind="products"))
    statement = graph.statements[0]
    assert scan_of(statement) is not None
    band = (*statement.constraints, statement.constraints[0])
    for other in (replace(statement, constraints=()), replace(statement, constraints=band), graph.statements[1]):
        assert scan_of(other) is None


def test_the_checker_refuses_a_foreign_accumulator() -> None:
    graph = scan_graph(Shape(kind="words", outputs=9, points=9))
    graph = replace(graph, statements=graph.statements[:1], results=(("y", "y"),))
    schedule = schedule_graph(graph, template_for(4), Q6_10)
    strands = [s for s in schedule.strands if s.unit == "root_issue"]
    later = [s.at(s.start + 1) if s is strands[1] else s for s in schedule.strands]
    with pytest.raises(ScheduleFault, match="goes on with"):
        check(replace(schedule, strands=tuple(later), initiation_interval=schedule.initiation_interval + 1))
    alone = [s for s in schedule.strands if s is not strands[0]]
    with pytest.raises(ScheduleFault, match="another sample"):
        check(replace(schedule, strands=tuple(alone)))
