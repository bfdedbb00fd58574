"""Only the rows that a sample names are learnt: the update of a model becomes a scatter of those rows.

The gradient of a model whose rows samples name is 0 for all other rows, so an update leaves them as they are. It may
look like this, for a sample that names the rows u and v of U:

    is[r] = u == r                              was[r] = v == r
    g[r][k] = is[r]*a[k] + was[r]*b[k]
    U.next[r][k] = U[r][k] - 1*g[r][k]*2^-3

The statements between the comparisons and the update are computed for the rows u and v alone:

    U.u[k] = U[u][k]                            U.v[k] = U[v][k]
    g.u[k] = last*a[k]                          g.v[k] = same*a[k] + b[k]
    new.u[k] = U.u[k] - 1*g.u[k]*2^-3           new.v[k] = U.v[k] - 1*g.v[k]*2^-3
    U.next[r][k] = scatter(U[r][k], U[u][k], new.u[k], U[v][k], new.v[k])

Here ``same`` is 1 where both are one row, and ``last`` is 1 where they are not. So of the positions that name one row
the last has the whole gradient, and its word is what stays. Those before it change nothing and overflow nowhere, so
events are counted once for each row, as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph import boxes
from tabla.graph.boxes import axes
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Extreme,
    Gather,
    Gathered,
    Graph,
    Index,
    Landing,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
)
from tabla.graph.passes.framework import graph_pass
from tabla.graph.passes.row_chains import Chain, Flags, Positions, chain_of
from tabla.graph.rewrite import copy_of, new_name, with_statements

_ROOT_CYCLES = 40
"""About how many cycles the root takes for a scatter beside its words: fetches of positions, and words on their way."""
_ONE = Constant(value=Fraction(1))


@graph_pass("touched-rows", "learn the rows that a sample names, and leave all others where they are")
def touched_rows(graph: Graph, fmt: Format, pes: int | None, scatters: bool = True) -> Graph:
    """Return the graph with scatters in place of those updates that change named rows alone, where the root takes less
    time for these rows than `pes` lanes take for all rows.
    """
    if pes is None or not scatters or fmt.one > fmt.highest:
        return graph
    for model in graph.updates:
        chains = [
            chain for axis in range(len(graph.tensors[model].shape)) if (chain := chain_of(graph, model, axis, fmt))
        ]
        if chains:
            chain = min(chains, key=lambda each: each.touched)
            if chain.touched + _ROOT_CYCLES < chain.cycles(pes):
                graph = _Rewriting(graph=graph, chain=chain, format=fmt).rewritten()
    return graph


@dataclass(slots=True, kw_only=True)
class _Rewriting:
    """The making of a graph in which a chain is computed for touched rows alone.

    `made` are the new statements, in order. `groups` are the positions, with turns of their own. `known` are tensors
    that several parts ask for, each by what it is.
    """

    graph: Graph
    chain: Chain
    format: Format
    groups: tuple[Positions, ...] = ()
    tensors: dict[str, Tensor] = field(default_factory=dict)
    made: list[Statement] = field(default_factory=list)
    known: dict[tuple[object, ...], Read] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tensors.update(self.graph.tensors)
        self.groups = tuple(group.numbered(number) for number, group in enumerate(self.chain.groups))

    def rewritten(self) -> Graph:
        """Return the graph with a scatter for the update, and the statements that it needs before it."""
        chain = self.chain
        landings = tuple(self._landing(number) for number in range(len(self.groups)))
        turns = tuple(turn for group in self.groups for turn in group.turns)
        last = chain.updates[-1]
        indices, whole = axes(boxes.whole(self.tensors[chain.model].shape))
        kept = Read(tensor=chain.model, subscripts=whole)
        scatter = Scatter(kept=kept, landings=landings, reduce=tuple(turn.name for turn in turns))
        self.made.append(replace(last, write=whole, indices=indices, operation=scatter, reduced=turns))
        gone, updates = chain.zeros.keys(), {update.id for update in chain.updates}
        statements = list[Statement]()
        for statement in self.graph.statements:
            if statement.id == last.id:
                statements += self.made
            elif statement.target not in gone and statement.id not in updates:
                statements.append(statement)
        tensors = {name: tensor for name, tensor in self.tensors.items() if name not in gone}
        return with_statements(replace(self.graph, tensors=tensors), statements)

    def _landing(self, group: int) -> Landing:
        """Return what lands at the positions of a group: the words of the updates for these rows."""
        chain, positions = self.chain, self.groups[group]
        rows = dict[str, str]()
        for statement in chain.sums:
            self._sum(statement, chain.zeros[statement.target][1], group, rows)
        for update in chain.updates:
            self._sum(update, chain.axis, group, rows)
        new = rows[chain.updates[0].target]
        self._keep(new, group)
        others = list(axes(boxes.whole(self.tensors[chain.model].shape))[1])
        del others[chain.axis]
        turns = tuple(Affine.index(turn.name) for turn in positions.turns)
        place = Gathered(table=positions.table, offset=positions.offset)
        return Landing(
            subscripts=(*others[: chain.axis], place, *others[chain.axis :]),
            value=Read(tensor=new, subscripts=(*turns, *others)),
        )

    def _sum(self, statement: Statement, axis: int, group: int, rows: dict[str, str]) -> None:
        """Add a statement of the chain for the rows of a group.

        `rows` has the tensor with these rows for each tensor of the chain of which some are not 0. A statement whose
        words are 0 there is left out, if nothing else writes its tensor.
        """
        assert isinstance(statement.operation, Linear)
        target, terms = statement.target, self._terms(statement, axis, group, rows)
        if not terms and len(self.chain.zeros[target][0]) == 1:
            return
        old, turns = self.tensors[target], self.groups[group].turns
        if target not in rows:
            shape = (*(turn.extent for turn in turns), *old.shape[:axis], *old.shape[axis + 1 :])
            rows[target] = self._tensor(f"{target}.row", shape, old.origin, statement.span, filled=old.filled)
        summed = {name for term in terms for name in term.reduce}
        self._write(
            rows[target],
            (*turns, *statement.indices[:axis], *statement.indices[axis + 1 :]),
            replace(statement.operation, terms=terms) if terms else copy_of(Constant(value=Fraction(0))),
            reduced=tuple(index for index in statement.reduced if index.name in summed),
            span=statement.span,
        )

    def _keep(self, new: str, group: int) -> None:
        """Copy the words of the rows that no update writes from the model."""
        chain, axis = self.chain, self.chain.axis
        shape = self.tensors[chain.model].shape
        written = [tuple((index.low, index.high) for index in update.indices) for update in chain.updates]
        turns = self.groups[group].turns
        for box in boxes.without([boxes.whole(shape)], written):
            indices = list(axes(box)[0])
            del indices[axis]
            own = self._looked_up(chain.model, axis, group)
            at = tuple(Affine.index(index.name) for index in (*turns, *indices))
            self._write(new, (*turns, *indices), copy_of(replace(own, subscripts=at)), span=chain.updates[0].span)

    def _terms(self, statement: Statement, axis: int, group: int, rows: dict[str, str]) -> tuple[Term, ...]:
        """Return the terms of a statement of a chain for the rows of a group; `rows` is that of `_sum`."""
        assert isinstance(statement.operation, Linear)
        row, found = statement.indices[axis].name, list[Term]()
        for term in statement.operation.terms:
            factors = [self._factor(factor, row, group, rows) for factor in term.factors]
            kept = tuple(factor for factor in factors if factor is not None)
            if len(kept) == len(factors):
                found.append(replace(term, factors=kept))
        return tuple(found)

    def _factor(self, factor: Operand, row: str, group: int, rows: dict[str, str]) -> Operand | None:
        """Return a factor for the rows of a group, or None if it is 0 there."""
        if not isinstance(factor, Read) or row not in factor.names:
            return factor
        turns = tuple(Affine.index(turn.name) for turn in self.groups[group].turns)
        axis = factor.subscripts.index(Affine.index(row))
        others = (*factor.subscripts[:axis], *factor.subscripts[axis + 1 :])
        if factor.tensor in self.chain.flags:
            flags = self.chain.flags[factor.tensor]
            return self._counts(group, self.chain.groups.index(flags.positions), flags, factor)
        if factor.tensor in self.chain.zeros:
            tensor = rows.get(factor.tensor)
            return None if tensor is None else Read(tensor=tensor, subscripts=(*turns, *others))
        looked_up = self._looked_up(factor.tensor, axis, group)
        return replace(looked_up, subscripts=(*turns, *others))

    def _looked_up(self, tensor: str, axis: int, group: int) -> Read:
        """Return a tensor with the rows of a group along an axis."""
        key = "rows", tensor, axis, group
        if key not in self.known:
            positions, shape = self.groups[group], self.tensors[tensor].shape
            place = Gathered(table=positions.table, offset=positions.offset)
            indices = [Index(name=f"axis{number}", low=0, high=extent) for number, extent in enumerate(shape)]
            others = [index for number, index in enumerate(indices) if number != axis]
            at = [Affine.index(index.name) for index in others]
            gather = Gather(tensor=tensor, subscripts=(*at[:axis], place, *at[axis:]))
            self.known[key] = self._made(f"{tensor}.rows", (*positions.turns, *others), gather)
        return self.known[key]

    # ---- equal positions

    def _counts(self, group: int, other: int, flags: Flags, read: Read) -> Operand | None:
        """Return whether what comes with a position of another group counts for a position of a group: where both name
        one row, and no later position names it. The result is None if it never does.
        """
        if other > group:
            return None
        last, turns = self._last(group), self.groups[group].turns
        if other == group and not turns:
            return last
        alike = self._alike(group, other)
        if last != _ONE:
            key = "counts", group, other
            if key not in self.known:
                product = Linear(terms=(Term(factors=(alike, last)),))
                both = (*turns, *self._others(other))
                self.known[key] = self._made(f"{self.chain.model}.counts", both, product)
            alike = self.known[key]
        own = tuple(Affine.index(turn.name) for turn in turns)
        return replace(alike, subscripts=(*own, *(read.subscripts[axis] for axis in flags.turns)))

    def _last(self, group: int) -> Operand:
        """Return whether a position of a group is the last that names its row."""
        key, later = ("last", group), range(group + 1, len(self.groups))
        turns = self.groups[group].turns
        if key in self.known or not (later or turns):
            return self.known.get(key, _ONE)
        again = [self._any(self._alike(group, other), group, self._others(other)) for other in later]
        if turns:
            again.append(self._again(group))
        once = again[0]
        if len(again) > 1:
            once = self._made(f"{self.chain.model}.again", turns, Extreme(op="max", operands=tuple(again)))
        self.known[key] = self._made(f"{self.chain.model}.last", turns, Compare(op="<", left=once, right=_ONE))
        return self.known[key]

    def _again(self, group: int) -> Read:
        """Return whether a later position of the same group names the same row."""
        turns, others = self.groups[group].turns, self._others(group)
        order, size = Affine(), 1
        for turn, other in zip(reversed(turns), reversed(others), strict=True):
            order += (Affine.index(other.name) - Affine.index(turn.name)) * size
            size *= turn.extent
        after = Ordinal(value=order, fraction=self.format.fraction)
        later = self._made(
            f"{self.chain.model}.later",
            (*turns, *others),
            Compare(op=">", left=after, right=Constant(value=Fraction(0))),
        )
        both = Linear(terms=(Term(factors=(self._alike(group, group), later)),))
        return self._any(self._made(f"{self.chain.model}.repeats", (*turns, *others), both), group, others)

    def _any(self, flags: Read, group: int, summed: Sequence[Index]) -> Read:
        """Return whether some of the flags over summed indices is 1."""
        if not summed:
            return flags
        most = Extreme(op="max", operands=(flags,), reduce=tuple(index.name for index in summed))
        return self._made(f"{self.chain.model}.any", self.groups[group].turns, most, reduced=tuple(summed))

    def _alike(self, group: int, other: int) -> Read:
        """Return whether positions of two groups are one row."""
        single = not self.groups[group].turns and not self.groups[other].turns
        key = "alike", *(sorted((group, other)) if single else (group, other))
        if key not in self.known:
            others = self._others(other)
            again = self.groups[other].named(others)
            compared = Compare(op="==", left=self._position(self.groups[group]), right=self._position(again))
            self.known[key] = self._made(f"{self.chain.model}.alike", (*self.groups[group].turns, *others), compared)
        return self.known[key]

    def _others(self, group: int) -> tuple[Index, ...]:
        """Return the turns of a group with other names, to stand beside those of the same group."""
        return tuple(replace(turn, name=f"other.{turn.name}") for turn in self.groups[group].turns)

    def _position(self, positions: Positions) -> Read:
        """Return the positions as whole numbers, the offset added."""
        if positions.offset == Affine():
            return positions.table
        terms = (
            Term(factors=(positions.table,)),
            Term(factors=(Ordinal(value=positions.offset, fraction=self.format.fraction),)),
        )
        return self._made(f"{positions.table.tensor}.row", positions.turns, Linear(terms=terms))

    # ---- statements

    def _made(
        self, wanted: str, indices: tuple[Index, ...], operation: Operation, *, reduced: tuple[Index, ...] = ()
    ) -> Read:
        """Add a statement and its tensor, with an axis for each index, and return the read of what it writes."""
        span = self.chain.updates[0].span
        name = self._tensor(wanted, tuple(index.extent for index in indices), "", span)
        self._write(name, indices, operation, reduced=reduced, span=span)
        return Read(tensor=name, subscripts=tuple(Affine.index(index.name) for index in indices))

    def _tensor(self, wanted: str, shape: tuple[int, ...], origin: str, span: Span | None, filled: bool = False) -> str:
        """Add a tensor, and return its name."""
        name = new_name(wanted, self.tensors)
        self.tensors[name] = Tensor(name=name, shape=shape, role="value", origin=origin, span=span, filled=filled)
        return name

    def _write(
        self,
        target: str,
        indices: tuple[Index, ...],
        operation: Operation,
        *,
        reduced: tuple[Index, ...] = (),
        span: Span | None,
    ) -> None:
        """Add a statement that writes an element of a tensor at the values of its indices."""
        at = tuple(Affine.index(index.name) for index in indices)
        self.made.append(
            Statement(id=0, target=target, write=at, indices=indices, operation=operation, reduced=reduced, span=span)
        )
