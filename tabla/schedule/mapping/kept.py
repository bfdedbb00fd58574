"""Copies of models in the lanes that the root's update keeps.

A model whose home is the root, but which lanes multiply, is as a rule sent over the bus in every sample. If the lanes
keep a copy from sample to sample, then the update sends each new word there as it makes it, and no operation of the
root is needed for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tabla.graph.body import common_reduction
from tabla.graph.graph import Linear, Statement
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.fit import Fit, without_bus
from tabla.schedule.mapping.mapping import Mapping, word_by_word
from tabla.schedule.mapping.places import EVERY, ROOT, Spot


def with_kept_copies(mapping: Mapping, effort: Effort) -> Mapping:
    """Return a mapping in which lanes keep copies of all models that they can; `mapping` itself if there are none.

    Of a model that comes over the bus, every lane gets a copy.
    """
    changed = mapping
    for model in mapping.graph.updates:
        changed = next(kept_copies(changed, model, effort), changed)
    return changed


def keeping(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each model whose home is the root, the mappings in which lanes keep one copy of it."""
    for model in mapping.graph.updates:
        yield from kept_copies(mapping, model, effort)


def kept_copies(mapping: Mapping, model: str, effort: Effort) -> Iterator[Mapping]:
    """Yield the mappings in which lanes keep one copy of a model, the smallest first."""
    if mapping.homes.get(model) != ROOT or any(name == model for name, _ in mapping.kept):
        return
    spots = {spot for name, spot in mapping.copies if name == model and spot != ROOT}
    if any(fit.bus == model for fit in mapping.fits):
        spots.add(EVERY)
    for spot in sorted(spots, key=lambda spot: (spot == EVERY, spot)):
        if _can_be_kept(mapping, model, spot, effort):
            fits = tuple(without_bus(fit) if fit.bus == model and spot == EVERY else fit for fit in mapping.fits)
            copies = tuple(sorted({*mapping.copies, (model, spot)}))
            yield replace(mapping, fits=fits, copies=copies, kept=tuple(sorted({*mapping.kept, (model, spot)})))


def _can_be_kept(mapping: Mapping, model: str, spot: Spot, effort: Effort) -> bool:
    """Say whether the update of a model makes its words in an order in which the lanes of a spot can take them."""
    graph = mapping.graph
    record = graph.tensors[model]
    writers = list(graph.writers(graph.updates[model]))
    if len(writers) != 1 or record.guard or (spot == EVERY and record.size > effort.most_kept):
        return False
    statement = writers[0]
    fit = mapping.fits[statement.id]
    if not word_by_word(statement.write, statement, record.shape) or statement.constraints:
        return False
    if fit.through or not isinstance(statement.operation, Linear):
        return False
    if fit.way == "lane" or not common_reduction(statement):
        return False
    return spot == EVERY or _in_one_row(mapping, statement, fit, spot)


def _in_one_row(mapping: Mapping, statement: Statement, fit: Fit, spot: Spot) -> bool:
    """Say whether the words of a spread axis come lane by lane in whole rows, or within one row."""
    lanes, extent = spot.span.lanes or mapping.template.lanes, mapping.graph.tensors[statement.target].shape[spot.axis]
    return fit.parts == 1 and not fit.bus and (extent % lanes == 0 or extent <= lanes)
