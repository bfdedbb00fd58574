"""Mappings that compute one statement in a given way and everything else at the root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tabla.graph.accesses import spread
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Statement
from tabla.graph.passes.pipeline import legalise
from tabla.schedule.mapping.fit import Fit, fits
from tabla.schedule.mapping.mapping import Mapping, static_tensors
from tabla.schedule.mapping.places import ROOT, Spot
from tabla.schedule.mapping.search import Search, scan_fits
from tabla.templates.template import Template, template_for


def array(pes: int, *, roots: int = 1, sequencers: int = 1) -> Template:
    """An array of one root and one sequencer, if nothing else is asked for."""
    return template_for(pes).with_roots(roots).with_sequencers(sequencers)


def ways(statement: Statement, graph: Graph, pes: int) -> tuple[Fit, ...]:
    """All fits of a statement on so many lanes."""
    if statement.constraints:
        return tuple(scan_fits(statement, graph, pes))
    return tuple(fits(statement, graph, pes, static_tensors(graph)))


def written_at(statement: Statement, fit: Fit) -> Spot:
    """The spot where a statement leaves what it computes."""
    found = spread(statement.write, fit.index) if fit.way == "lane" else None
    return ROOT if found is None else Spot("lane", found[0])


def one_in_its_way(legal: Graph, pes: int) -> Iterator[tuple[Statement, Fit, Mapping]]:
    """For every statement that alone writes its tensor, and each of its fits: the mapping with all others at the root.

    A result that lies in the lanes is copied to the root, from where it leaves.
    """
    graph = legal
    base = Search(legal, array(pes)).at_root()
    model_of = {following: model for model, following in graph.updates.items()}
    for statement in graph.statements:
        if len(list(graph.writers(statement.target))) > 1:
            continue
        for fit in ways(statement, graph, pes):
            chosen = tuple(fit if n == statement.id else each for n, each in enumerate(base.fits))
            home = written_at(statement, fit)
            homes = {**base.homes, model_of.get(statement.target, statement.target): home}
            wanted = {need for each in chosen for need in each.needs} | {(t, ROOT) for _, t in graph.results}
            copies = {
                (tensor, spot)
                for tensor, spot in wanted
                if homes.get(model_of.get(tensor, tensor), homes.get(tensor)) != spot
            }
            yield statement, fit, replace(base, fits=chosen, homes=homes, copies=tuple(sorted(copies)))


def legal_of(graph: Graph, format: Format) -> Graph:
    """The graph after the legalising passes."""
    return legalise(graph, format)
