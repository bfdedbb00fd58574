"""Copies of models that lanes keep: which can be kept, and that machines with them compute the same words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tabla.graph.graph import Graph
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.pipeline import legalise
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.schedule.mapping.kept import keeping, kept_copies, with_kept_copies
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.places import EVERY, ROOT, Spot
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.templates.template import Template, template_for
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph

EFFORT = EFFORTS[DEFAULT_EFFORT]
# Samples may lie in lanes. Both updates are then summed by the tree, and every lane needs both models.
LAYER = """mu = 1; model_input x[{n}]; model_output y[{m}]; model w[{m}][{n}], v[{m}];
gradient g[{m}][{n}] -> w, k[{m}] -> v; iterator i[0:{n}]; iterator j[0:{m}];
h[j] = sum[i](w[j][i] * x[i]) + v[j]; e[j] = h[j] - y[j]; g[j][i] = e[j] * x[i]; k[j] = e[j];"""


def layer(n: int, m: int, samples: int = 6) -> Graph:
    return minibatched(shaped_graph(LAYER.format(n=n, m=m)), samples)


def array(pes: int) -> Template:
    return template_for(pes).with_roots(1).with_sequencers(1)


def at_the_root(graph: Graph, pes: int) -> list[Mapping]:
    """The best mappings whose models have their homes at the root."""
    search = Search(legalise(graph, Q6_10), array(pes), effort=EFFORT, kept=True)
    return [m for m in search.candidates(40) if all(m.homes[model] == ROOT for model in graph.updates)]


def changes(graph: Graph, pes: int) -> Iterator[tuple[Mapping, Mapping]]:
    for mapping in at_the_root(graph, pes):
        for change in keeping(mapping, EFFORT):
            yield mapping, change


@pytest.mark.parametrize(("n", "m", "pes"), [(8, 4, 4), (5, 6, 4), (6, 3, 8)])
def test_words_and_cycles_are_as_predicted(n: int, m: int, pes: int) -> None:
    graph, spots = layer(n, m), set[Spot]()
    for _, change in changes(graph, pes):
        schedule = schedule_mapping(graph, change, Q6_10)
        assert schedule is not None
        check(schedule)
        agree_on(schedule)
        spots |= {spot for _, spot in change.kept}
    assert EVERY in spots


def test_the_root_sends_no_model_that_lanes_keep() -> None:
    graph = layer(8, 4)
    for mapping, change in changes(graph, 4):
        ((model, _),) = change.kept
        before, after = (schedule_mapping(graph, each, Q6_10) for each in (mapping, change))
        assert before is not None and after is not None
        sent = [sum(f"{model} to the bus" in s.comment or s.comment == f"broadcast {model}" for s in made.strands)
                for made in (before, after)]  # fmt: skip
        assert sent[0] > sent[1] == 0


def test_only_models_at_the_root_of_few_words_are_kept() -> None:
    mapping = at_the_root(layer(8, 4), 4)[0]
    kept = with_kept_copies(mapping, EFFORT)
    assert kept.kept and not any(list(kept_copies(kept, model, EFFORT)) for model, _ in kept.kept)
    away = replace(mapping, homes={**mapping.homes, "w": Spot("lane", 0)})
    assert not list(kept_copies(away, "w", EFFORT))
    small = replace(EFFORT, most_kept=31)
    assert all(spot != EVERY for change in kept_copies(mapping, "w", small) for _, spot in change.kept)


def test_words_of_a_spread_axis_come_in_whole_rows_or_in_one() -> None:
    spots = {(n, spot.axis) for n in (3, 8, 10) for _, c in changes(layer(n, 4), 4) for m, spot in c.kept if m == "w"}
    assert {(3, 1), (8, 1)} <= spots and (10, 1) not in spots


def test_the_checker_wants_every_kept_copy_updated() -> None:
    """A mapping that claims a kept copy which no strand writes is refused."""
    graph = layer(8, 4)
    _, change = next(changes(graph, 4))
    schedule = schedule_mapping(graph, change, Q6_10)
    assert schedule is not None
    strands = tuple(s for s in schedule.strands if not (s.unit == "lane_write" and ".next to " in s.comment))
    assert len(strands) < len(schedule.strands)
    with pytest.raises(ScheduleFault, match="is not updated"):
        check(replace(schedule, strands=strands))
