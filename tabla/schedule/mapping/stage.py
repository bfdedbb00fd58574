"""The mapping stage: from a legal graph and a template to the best mapping that the search finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import legalise
from tabla.graph.work import multiplies
from tabla.schedule.mapping.addends import with_products
from tabla.schedule.mapping.candidates import candidates, roots_to_try, side_by_side
from tabla.schedule.mapping.capacity import LARGEST_PLACE, largest_tensor
from tabla.schedule.mapping.divided_rows import with_divided_rows
from tabla.schedule.mapping.effort import Effort, of_calls
from tabla.schedule.mapping.groups import Group, all_judged
from tabla.schedule.mapping.improve import improved
from tabla.schedule.mapping.judge import Judge
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.partition import cuts, partition
from tabla.schedule.mapping.refined_axes import with_refined_axes
from tabla.schedule.mapping.row_axes import Division
from tabla.schedule.mapping.row_divisions import divisions
from tabla.schedule.mapping.search import Search
from tabla.schedule.mapping.selectors import GROUP, cut_axes
from tabla.schedule.mapping.starts import chosen, with_promise
from tabla.templates.template import Template


def map_graph(
    graph: Graph, legal: Graph, template: Template, format: Format, *, judge: Judge, effort: Effort
) -> Mapping:
    """Return the best mapping that the search finds.

    `graph` is the program before the legalising passes; its size decides how far the search goes. `judge` schedules a
    mapping exactly. Raises `TablaError` for a program of which no mapping can be scheduled.

    Candidates by an estimate are judged for one root, for several sequencers side by side, and for each way to cut the
    graph between several roots. The first candidate of each is judged before the others, which are left out where it is
    hopeless. Changes then go on from the best of them. Axes are refined where some statement could run at the root
    alone, or reads a whole map, and where that makes the schedule of one root better.
    """
    effort = effort if graph.updates else of_calls(effort)
    one = template.with_roots(1).with_sequencers(max(1, template.sequencers))
    groups = [_with_one_root(graph, legal, one, judge, effort)]
    if (refined := with_refined_axes(legal, one.lanes)) is not None:
        made = Group(candidates(refined, one, effort), judge, effort, patient=True)
        if made.found and made.found[0].merit(effort) < groups[0].found[0].merit(effort):
            legal, groups = refined, [made]
    groups += [Group([mapping], judge, effort) for mapping in side_by_side(legal, template, effort)]
    for roots in roots_to_try(template, effort):
        for part in _parts(graph, legal, one.with_roots(roots), format, effort):
            groups.append(Group(candidates(part, one.with_roots(roots), effort), judge, effort))
    starts = [with_promise(found, judge, effort) for found in all_judged(groups, effort)]
    if not effort.starts:
        return min((start for group in starts for start in group), key=lambda start: start.merit).found.mapping
    # A network that is divided between groups has many more statements than its text.
    written = graph if graph.updates else min((group[0] for group in starts), key=lambda start: start.merit).graph
    worth = chosen(starts, len(written.statements), multiplies(graph, format), effort)
    ends = [improved(start.found, judge, effort) for start in worth]
    return min(ends, key=lambda end: end.merit(effort)).mapping


def _parts(graph: Graph, legal: Graph, template: Template, format: Format, effort: Effort) -> Iterator[Graph]:
    """Yield what a tap group runs of a program that is cut between several roots, for each cut that is tried.

    Of the ways to divide rows of maps, those are tried that a quick estimate puts first.
    """
    for cut in cuts(legal, template.roots)[: effort.cuts]:
        yield with_products(partition(legal, cut, template.roots), format)
    if graph.updates or not format.holds(1):
        return
    quick, found = replace(effort, beam=effort.quick_beam), list[tuple[float, Graph]]()
    for division in divisions(graph, template.roots, template.lanes):
        if (part := _divided(graph, division, template, format)) is not None:
            estimates = [mapping.estimate for mapping in Search(part, template, effort=quick).candidates(1)]
            found += [(estimate, part) for estimate in estimates]
    yield from (part for _, part in sorted(found, key=itemgetter(0))[: effort.cuts])


def _divided(graph: Graph, division: Division, template: Template, format: Format) -> Graph | None:
    """Return what a tap group runs of a program of which rows of maps are divided; None if it cannot be cut so."""
    roots = template.roots
    try:
        divided = legalise(with_divided_rows(graph, division, roots, format), format, pes=template.pes)
    except TablaError:
        return None  # The machine cannot run the statements that pass rows on.
    divided = with_refined_axes(divided, template.lanes, GROUP) or divided
    needed = cut_axes(divided)
    chosen_cut = next((cut for cut in cuts(divided, roots) if needed <= cut.axes), None)
    return None if chosen_cut is None else partition(divided, chosen_cut, roots)


def _with_one_root(graph: Graph, legal: Graph, template: Template, judge: Judge, effort: Effort) -> Group:
    """Return the candidates of one root. If none can be scheduled, everything is computed at the root."""
    made = Group(candidates(legal, template, effort), judge, effort, patient=True)
    made = made if made.found else Group([Search(legal, template, effort=effort).at_root()], judge, effort)
    if not made.found:
        raise TablaError(
            f"the program is too large: it needs a memory of more than {LARGEST_PLACE:,} words",
            *largest_tensor(graph),
            hint="use more PEs, or smaller sizes",
        )
    return made
