"""Results that leave from a root memory, or on their way up the tree, in tasks of their own.

Results that leave in the very operation that makes them are in :mod:`tabla.schedule.strands.leaving`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from tabla.schedule.mapping.places import ROOT
from tabla.schedule.strands.leaving import shown_as
from tabla.schedule.strands.loops import Loop
from tabla.schedule.strands.site import Extras, Site, task_of
from tabla.schedule.strands.spread import LANE_LOOP, ROW_LOOP, axis_of, pieces, written_boxes
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.schedule.strands.uses import Uses
from tabla.templates.template import timing


def result_from_tree(uses: Uses, tensor: str) -> str:
    """Return the name of the result that a tensor of the lanes is, if its words can leave straight from the tree.

    The name is empty unless one statement writes the tensor, nobody else reads it at the root, and the pieces of its
    spread axis follow each other in the row-major order of the result.
    """
    shown, axis = shown_as(uses.graph, tensor), uses.home(tensor).axis
    if not shown or uses.wanted_at_root(tensor):
        return ""
    shape, boxes = uses.graph.tensors[tensor].shape, written_boxes(uses, tensor)
    whole = boxes == [tuple((0, n) for n in shape)]
    first = all(n == 1 for n in shape[:axis])
    lanes = uses.lanes(uses.home(tensor))
    return shown if whole and (first or len(pieces(0, shape[axis], lanes)) == 1) else ""


def results_from_tree(uses: Uses, rising: frozenset[str]) -> set[str]:
    """Return the names of all results that leave straight from the tree.

    `rising` has the tensors whose words functions take as they come up the tree; no move of their own brings these to
    the root.
    """
    moved = (t for t, spot in uses.chosen.copies if spot == ROOT and ROOT in uses.copies(t) and t not in rising)
    return {name for tensor in moved if (name := result_from_tree(uses, tensor))}


def row_major(nest: Sequence[Loop], axis: int) -> list[int]:
    """Return the levels of a piece's nest in row-major order; its loops over rows and lanes make up `axis`."""

    def key(level: int) -> tuple[int, int]:
        name = nest[level].name
        return (axis, 1) if name == LANE_LOOP else (axis, 0) if name == ROW_LOOP else (axis_of(nest[level]), 0)

    return sorted(range(len(nest)), key=key)


def reordered(at: Address, order: Sequence[int]) -> Address:
    """Return an address generator with its loop levels in another order."""
    return replace(at, strides=tuple(at.strides[k] for k in order))


def result_tasks(site: Site, left: Container[str]) -> list[Task]:
    """Return the tasks of the results that leave from a root memory, row-major, in the order of `graph.results`.

    Results whose names are in `left` leave as they are made and need no task.
    """
    out = []
    for shown, tensor in site.graph.results:
        if shown in left:
            continue
        place = site.layout.place(tensor, ROOT)
        counts = (place.words,) if place.words > 1 else ()
        at = Address(base=place.base, strides=(1,) * len(counts), window=place.banks[0] == "data")
        fetch = Operation(fields={"a": "zero", "c": place.banks[0], "base": "addend"}, addresses={"c": at})
        put = Operation(fields={"source": "result", "to_output": 1})
        name = f"result {shown}"
        strands = (
            Strand(unit="root_issue", start=0, body=(fetch,), counts=counts, comment=name),
            Strand(unit="root_write", start=timing().result, body=(put,), counts=counts, comment=name),
        )
        out.append(task_of(site, name, strands, Extras(shows=shown)))
    return out
