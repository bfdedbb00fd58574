"""How a layout is found: banks such that no operation's words clash, then a base address for every place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from tabla.graph.graph import Extreme, Graph, Product, Statement
from tabla.graph.scan import scan_of
from tabla.schedule.mapping.fit import Fit, without_bus
from tabla.schedule.mapping.mapping import Mapping, static_tensors
from tabla.schedule.mapping.places import ROOT, Bank, Place, Spot
from tabla.schedule.strands.bodies import Clash, LaneContext, lane_body
from tabla.schedule.strands.extremes import lane_extreme
from tabla.schedule.strands.fused import rising
from tabla.schedule.strands.layout import Depths, Key, Layout, scratch
from tabla.schedule.strands.loops import Lanes, plain
from tabla.schedule.strands.results import results_from_tree
from tabla.schedule.strands.scans import refuse_clashes
from tabla.schedule.strands.uses import Uses


def lay_out(uses: Uses) -> Layout | None:
    """Return the layout of a mapping; None if two banks for each tensor are not enough.

    A tensor has no place at the root if nobody reads a word of it there: a function takes its words as they come up the
    tree, or its words leave as they are made.
    """
    banked = _banked(uses)
    if banked is None:
        return None
    from_tree = rising(uses)
    left = {*uses.departing.values(), *results_from_tree(uses, frozenset(from_tree.values()))}
    gone = {(tensor, ROOT) for tensor in (*from_tree.values(), *uses.unread_at_root(left))}
    return _allocated(replace(banked, places={k: p for k, p in banked.places.items() if k not in gone}))


def _first_layout(uses: Uses) -> Layout:
    """Choose banks by role: streamed words in `data`, loaded ones in `model`, computed ones in `interim`.

    The root has two memories: `data` for streamed words and `memory` for all others.
    """
    graph, mapping = uses.graph, uses.chosen
    static = static_tensors(graph)
    keys = {(uses.graph.owner(tensor), spot) for tensor, spot in (*mapping.homes.items(), *mapping.copies)}
    places = {}
    for tensor, spot in sorted(keys):
        banks = (_bank(graph, mapping, tensor, spot, static),)
        record = graph.tensors[tensor]
        guard = record.guard if mapping.homes.get(tensor) == spot else 0
        places[(tensor, spot)] = Place(
            tensor=tensor, spot=spot, shape=record.shape, pes=uses.lanes(spot), banks=banks, guard=guard
        )
    places.update((place_key(place), place) for place in _partial_words(uses))
    return Layout(graph=graph, places=places)


def place_key(place: Place) -> Key:
    """Return the key under which a layout has a place."""
    return place.tensor, place.spot


def _bank(graph: Graph, mapping: Mapping, tensor: str, spot: Spot, static: frozenset[str]) -> Bank:
    record = graph.tensors[tensor]
    if record.role in ("input", "label"):
        return "data"
    if spot == ROOT:
        return "memory"
    if tensor in static or (tensor, spot) in mapping.updated:
        return "model"
    return "interim"


def _partial_words(uses: Uses) -> Iterator[Place]:
    """Yield the places of the partial words of products, which the root multiplies one after the other."""
    for statement in uses.graph.statements:
        if isinstance(statement.operation, Product):
            steps = prod(index.extent for index in statement.reduced)
            found = scan_of(statement)
            # A scan has one run of partial words for all outputs of a row.
            rows = (i.extent for i in statement.indices if found is None or i != found.index)
            yield Place(
                tensor=statement.target,
                spot=scratch(statement.id),
                shape=(*rows, steps + 1),
                pes=uses.template.lanes,
                banks=("memory",),
            )


def _banked(uses: Uses) -> Layout | None:
    """Give second banks to tensors until no operation of the lanes needs two words of one bank."""
    layout = _first_layout(uses)
    for statement, fit in zip(uses.graph.statements, uses.chosen.fits, strict=True):
        # A further bank takes no choice from the statements before, so they need not be tried again.
        while fit.way != "root" and (clash := _clash(uses, layout, statement, fit)) is not None:
            # The first tensor that has one bank gets a second: a model is then loaded to both, a computed word written
            # to both.
            wider = (layout.widened(tensor, spot) for tensor, spot in clash.keys)
            widened = next((each for each in wider if each is not None), None)
            if widened is None:
                return None
            layout = widened
    return layout


def _clash(uses: Uses, layout: Layout, statement: Statement, fit: Fit) -> Clash | None:
    """Return the clash of a statement's words in the lanes; None if no operation needs two words of one bank."""
    try:
        _generate(uses, layout, statement, fit)
    except Clash as clash:
        return clash
    return None


def _generate(uses: Uses, layout: Layout, statement: Statement, fit: Fit) -> None:
    """Generate the body of a statement in the lanes. Raises `Clash` if words of one operation lie in one bank."""
    if statement.constraints:
        refuse_clashes(statement, fit, layout, uses.template.lanes)
        return
    lanes = Lanes.of(statement, fit, uses.template.lanes)
    loops = tuple(lanes.loop if i.name == fit.index else plain(i) for i in (*statement.indices, *statement.reduced))
    for each in (fit, without_bus(fit)) if fit.early else (fit,):
        context = LaneContext(layout=layout, fit=each, lanes=lanes, loops=loops)
        if isinstance(statement.operation, Extreme):
            lane_extreme(statement.operation, context)
        else:
            lane_body(statement, context, shift=0, levels=len(statement.reduced))


def _allocated(layout: Layout) -> Layout:
    """Give every place a base address. A place in two banks has one address, so both banks advance together."""
    used: dict[str, int] = {"model": 0, "data": 0, "interim": 0, "root data": 0, "root memory": 0}

    def based(place: Place) -> Place:
        names = [f"root {b}" if place.spot.kind == "root" else b for b in place.banks]
        base = max(used[n] for n in names)
        used.update(dict.fromkeys(names, base + place.words))
        return replace(place, base=base)

    order = _order(layout)
    based_places = {key: based(layout.places[key]) for key in order}
    twins = {key: based(layout.twins[key]) for key in sorted(layout.twins)}
    depths = Depths(
        model=used["model"],
        data=used["data"],
        interim=used["interim"],
        root_data=used["root data"],
        root_memory=used["root memory"],
    )
    # The places keep the order in which they were found, because the stream follows it.
    return replace(layout, places={key: based_places[key] for key in layout.places}, twins=twins, depths=depths)


def _order(layout: Layout) -> list[Key]:
    """Return the order in which places get their addresses.

    Places in two banks come first. Both banks are then filled to the same address, so that no gap opens. Among places
    of as many banks the models come first, because a dump goes through all addresses up to that of the last model.
    Where values in two banks have more words than the models in one bank, as with large minibatches, all models come
    before them: the gap is then smaller than what the dump would go through.
    """
    models = {name for name, tensor in layout.graph.tensors.items() if tensor.role == "model"}
    lanes = {key: place for key, place in layout.places.items() if key[1].kind == "lane"}
    between = sum(place.words for key, place in lanes.items() if key[0] not in models and len(place.banks) > 1)
    single = sum(place.words for key, place in lanes.items() if key[0] in models and len(place.banks) == 1)
    if single < between:
        return sorted(layout.places, key=lambda k: (k[0] not in models, -len(layout.places[k].banks), k))
    return sorted(layout.places, key=lambda k: (-len(layout.places[k].banks), k[0] not in models, k))
