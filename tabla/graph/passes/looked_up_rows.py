"""Rows of a model that learns are read where they lie: a gather becomes a sum over all rows, of which one counts.

The gradient of a model whose rows samples name is computed for every row, so the model lies in the lanes. A gather runs
at the root, and every word of the model would go up to it in each sample. ``e[k] = U[u][k]`` becomes

    is[r] = u == r
    e[k] = sum[r](is[r] * U[r][k])

in which each lane multiplies its own rows. A sum of one word and zeros is exact, so no word changes. A position that is
no row gives zeros; the evaluation, which knows the gather, refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Ordinal,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
)
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import new_name, with_statements

_ROW = "row."
"""The index of the rows. No name of a program has a dot."""


def _gathers(graph: Graph) -> dict[str, list[Statement]]:
    """Return the statements that gather from each model that learns in the lanes: not from one of which named rows
    change alone, which lies at the root.
    """
    found: dict[str, list[Statement]] = {}
    scattered = {s.operation.kept.tensor for s in graph.statements if isinstance(s.operation, Scatter)}
    learning = graph.updates.keys() - scattered
    for statement in graph.statements:
        if isinstance(statement.operation, Gather) and statement.operation.tensor in learning:
            found.setdefault(statement.operation.tensor, []).append(statement)
    return found


@graph_pass(
    "looked-up-rows",
    "read the rows of a model that learns where they lie",
    condition=Condition(text="a statement gathers from a model that learns", holds=lambda graph: bool(_gathers(graph))),
)
def looked_up_rows(graph: Graph, fmt: Format, pes: int | None) -> Graph:
    """Return the graph without gathers from models that learn, where sums over all rows take fewer slots of `pes`
    lanes than the words of the model that go up to the root.
    """
    if pes is None or fmt.one > fmt.highest:
        return graph
    tensors, replaced = dict(graph.tensors), dict[int, list[Statement]]()
    for model, gathers in _gathers(graph).items():
        lookups = [lookup for gather in gathers if (lookup := _lookup(graph, gather, fmt)) is not None]
        words = sum(gather.points for gather in gathers)
        sums = sum(lookup.gather.points * lookup.row.extent for lookup in lookups)
        if len(lookups) == len(gathers) and sums < pes * (graph.tensors[model].size + words):
            replaced |= {lookup.gather.id: lookup.summed(fmt, tensors) for lookup in lookups}
    if not replaced:
        return graph
    statements = [made for each in graph.statements for made in replaced.get(each.id, [each])]
    return with_statements(replace(graph, tensors=tensors), statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lookup:
    """A gather from `model` along one `axis`, whose index is `row` when all rows are summed."""

    gather: Statement
    model: str
    axis: int
    row: Index
    position: Gathered
    others: tuple[Affine, ...]

    def summed(self, fmt: Format, tensors: dict[str, Tensor]) -> list[Statement]:
        """Return the statement that says which row counts, and the sum. Add the tensor of the first to `tensors`."""
        gather, table, offset = self.gather, self.position.table, self.position.offset
        named = {name for form in (*table.subscripts, offset) for name in form.names}
        indices = (*(index for index in gather.indices if index.name in named), self.row)
        at = tuple(Affine.index(index.name) - index.low for index in indices)
        name = new_name(f"{gather.target}.is", tensors)
        tensors[name] = Tensor(name=name, shape=tuple(each.extent for each in indices), role="value", span=gather.span)
        here = Ordinal(value=Affine.index(self.row.name) - offset, fraction=fmt.fraction, span=gather.span)
        says = Statement(
            id=0,
            target=name,
            write=at,
            indices=indices,
            operation=Compare(op="==", left=table, right=here),
            span=gather.span,
        )
        subscripts = (*self.others[: self.axis], Affine.index(self.row.name), *self.others[self.axis :])
        factors = Read(tensor=name, subscripts=at), Read(tensor=self.model, subscripts=subscripts)
        total = Linear(terms=(Term(factors=factors, reduce=(self.row.name,)),))
        return [says, replace(gather, operation=total, reduced=(self.row,))]


def _lookup(graph: Graph, gather: Statement, fmt: Format) -> _Lookup | None:
    """Return what a gather looks up, if data say one position alone, and all rows are integers of the machine."""
    operation = gather.operation
    assert isinstance(operation, Gather)
    positions = [(axis, each) for axis, each in enumerate(operation.subscripts) if isinstance(each, Gathered)]
    if len(positions) != 1 or gather.constraints:
        return None
    ((axis, position),) = positions
    row = Index(name=_ROW, low=0, high=graph.tensors[operation.tensor].shape[axis])
    low, high = position.offset.bounds(gather.box)
    if -high < fmt.lowest or row.high - 1 - low > fmt.highest:
        return None
    others = tuple(each for each in operation.subscripts if isinstance(each, Affine))
    return _Lookup(gather=gather, model=operation.tensor, axis=axis, row=row, position=position, others=others)
