"""The mappings that are worth an exact schedule: the best ones by an estimate, for each array that is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tabla.ir.legal import Legal
from tabla.mapping.changes import at_hand
from tabla.mapping.clusters import divisors, spread_out
from tabla.mapping.effort import Effort
from tabla.mapping.joined import all_joined
from tabla.mapping.kept import with_kept_copies
from tabla.mapping.mapping import Mapping, operands_of_functions
from tabla.mapping.places import ALL, ROOT
from tabla.mapping.search import Search
from tabla.templates.template import Template


def candidates(legal: Legal, template: Template, effort: Effort) -> list[Mapping]:
    """Return the best mappings by the estimates.

    Each statement may use all lanes. On an array with several sequencers there are further mappings, whose clusters
    have lanes of their own.
    """
    whole = Search(legal, template, effort=effort).candidates(effort.candidates)
    if operands_of_functions(legal.graph):
        fused = Search(legal, template, effort=effort, fused=True)
        whole = distinct([*whole, *fused.candidates(effort.fused)])
    whole = [*whole, *_with_kept_copies(legal, template, effort, whole)]
    if not effort.starts:  # otherwise changes end with chains
        whole = distinct([*whole, *(all_joined(mapping) for mapping in whole)])
    if template.sequencers == 1:
        return whole
    widths = divisors(template.sequencers)
    return distinct([*whole, *in_own_lanes(legal, template, effort.candidates, widths, effort)])


def _with_kept_copies(legal: Legal, template: Template, effort: Effort, others: Sequence[Mapping]) -> Iterator[Mapping]:
    """Yield mappings in which lanes keep copies of models whose home is the root: of `others`, and of a search that
    expects them.
    """
    if not any(mapping.homes[model] == ROOT for mapping in others for model in legal.graph.updates):
        return
    expected = Search(legal, template, effort=effort, kept=True).candidates(effort.kept)
    for mapping in distinct([*others, *expected]):
        changed = with_kept_copies(mapping, effort)
        if changed.kept:
            yield changed


def in_own_lanes(legal: Legal, template: Template, most: int, widths: Sequence[int], effort: Effort) -> list[Mapping]:
    """Return mappings whose clusters have lanes of their own.

    For each number in `widths` there are mappings that give every cluster at least so many sequencers. Each of the
    `most` best mappings by the estimate is taken as it is, and with inputs and labels in the lanes, because the bus
    would bring these to one cluster at a time.
    """
    found = Search(legal, template, effort=effort, clustered=True).candidates(most)
    return distinct(
        spread_out(mapping, least=least) for each in found for mapping in (each, at_hand(each)) for least in widths
    )


def side_by_side(legal: Legal, template: Template, effort: Effort) -> Iterator[Mapping]:
    """Yield mappings with clusters in lanes of their own, if the user names no number of sequencers."""
    if template.sequencers or template.roots > 1:
        return
    for sequencers in effort.sequencers:
        if template.pes % sequencers or template.pes // sequencers < effort.least_lanes:
            continue
        array = template.with_roots(1).with_sequencers(sequencers)
        for mapping in in_own_lanes(legal, array, effort.clustered, (1,), effort):
            if any(fit.span != ALL for fit in mapping.fits):
                yield mapping


def roots_to_try(template: Template, effort: Effort) -> tuple[int, ...]:
    """Return the numbers of roots to try beside one: the template's own number, or those of the effort."""
    if template.sequencers > 1:
        return ()
    if template.roots:
        return (template.roots,) if template.roots > 1 else ()
    return tuple(n for n in effort.roots if template.pes % n == 0 and template.pes // n >= effort.least_lanes)


def distinct(mappings: Iterable[Mapping]) -> list[Mapping]:
    """Return each mapping once, the first of those that compute the same way."""
    found: list[Mapping] = []
    for mapping in mappings:
        if all((m.fits, m.homes, m.kept) != (mapping.fits, mapping.homes, mapping.kept) for m in found):
            found.append(mapping)
    return found
