"""Which lanes a cluster of statements gets in arrays with several sequencers."""

from __future__ import annotations

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.legalise.materialise import materialise
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.schedule.mapping.candidates import clusters, divisors, spread_out
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.places import ALL, Span
from tabla.schedule.mapping.search import Search
from tabla.templates.template import template_for
from tests.schedule.bank import bank

Q6_10 = Format(integer=6, fraction=10)


def mapped(text: str, pes: int, sequencers: int) -> tuple[Graph, Mapping]:
    legal = materialise(lower(parse(Source.from_text(text)), number_format=Q6_10), Q6_10)
    template = template_for(pes).with_roots(1).with_sequencers(sequencers)
    return legal, Search(legal, template).candidates(1)[0]


def test_independent_models_are_clusters() -> None:
    graph, mapping = mapped(bank(8), 16, 4)
    found = clusters(mapping)
    assert len(found) == 8
    assert sorted(s for cluster in found for s in cluster) == [
        s.id for s, fit in zip(graph.statements, mapping.fits, strict=True) if fit.index
    ]


@pytest.mark.parametrize(("sequencers", "lanes"), [(2, 8), (4, 4), (16, 4)])
def test_clusters_keep_few_lanes_busy_for_a_short_time(sequencers: int, lanes: int) -> None:
    """Vectors of four words take four lanes, or the least there are."""
    _, mapping = mapped(bank(8), 16, sequencers)
    spread = spread_out(mapping, least=1)
    spans = [fit.span for fit in spread.fits if fit.index]
    assert {span.lanes for span in spans} == {lanes}
    # Eight models: each place is used as often as the others, by whole clusters.
    loads = {span: len({c for c in clusters(mapping) if spread.fits[c[0]].span == span}) for span in spans}
    assert len(loads) == 16 // lanes and len(set(loads.values())) == 1


def test_tensors_lie_with_their_statements() -> None:
    graph, mapping = mapped(bank(8), 16, 4)
    spread = spread_out(mapping, least=1)
    owner = {n: m for m, n in graph.updates.items()}
    for statement, fit in zip(graph.statements, spread.fits, strict=True):
        if fit.way == "lane":
            assert spread.homes[owner.get(statement.target, statement.target)].span == fit.span
        for tensor, spot in fit.needs:
            if spot.kind == "lane":
                assert spot.span == fit.span
                assert spread.homes.get(tensor) == spot or (tensor, spot) in spread.copies


def test_a_shared_input_is_copied_to_every_cluster_that_reads_it() -> None:
    text = """
model_input x[4]; model_output a[4], b[4]; model p[4], q[4]; gradient g[4] -> p, h[4] -> q; iterator i[0:4];
g[i] = (p[i] * x[i] - a[i]) * x[i];
h[i] = (q[i] * x[i] < b[i]) * x[i];
"""
    _, mapping = mapped(text, 8, 2)
    spread = spread_out(mapping, least=1)
    spans = {spot.span for tensor, spot in spread.copies if tensor == "x" and spot.kind == "lane"}
    assert spans == {Span(first=0, lanes=4), Span(first=4, lanes=4)}


def test_all_sequencers_together_is_the_mapping_itself() -> None:
    _, mapping = mapped(bank(8), 16, 4)
    assert spread_out(mapping, least=4) == mapping
    assert all(fit.span == ALL for fit in mapping.fits)


def test_divisors() -> None:
    assert divisors(12) == [1, 2, 3, 4, 6, 12]
