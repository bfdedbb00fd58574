"""The ways to compute a statement on the array, and where each way needs the operands.

* `root`: the root computes the statement; it needs every operand at the root. This way always exists, but for sums
  over all tap groups.
* `lane`: an output index runs over the lanes. Operands that mention the index lie spread along it; the others come over
  the bus or lie in every lane.
* `tree`: a summed index runs over the lanes and the tree adds. Terms without the index are added at the root.

Example: ``h[j] = sum[i](w[j][i] * x[i])``. In the way `lane` with j over lanes, each lane needs a row of w, and x comes
word by word over the bus. In the way `tree` with i over lanes, each lane needs a column of w and its own words of x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tabla.graph.accesses import spread
from tabla.graph.body import common_reduction
from tabla.graph.graph import Compare, Extreme, Graph, Index, Linear, Operation, Read, Statement, operands_of
from tabla.schedule.mapping.places import ALL, EVERY, ROOT, Span, Spot

Way = Literal["root", "lane", "tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One way to compute a statement.

    Where the statement is computed, and from what:

    * `way`, `index`, `offset`: the kind, and the index that runs over lanes. Value i of the index is in lane
      ``(i + offset) mod P``.
    * `span`: the lanes that compute; P is their number.
    * `needs`: the spots at which operands must lie.
    * `bus`: the tensor whose words come over the bus, if there is one.
    * `shared`: the root adds or compares words of that tensor itself, too.

    In what order it is computed:

    * `parts`: the number of strands that share the slowest loop. Each may fill a gap that the whole would not.
    * `rows_first`: rows of lanes are the slowest loop of the outputs, not the fastest.
    * `through`: the results of the root are written nowhere. The one statement that reads them takes them from the
      result register as they show.

    How the words of `bus` come. As a rule the root broadcasts them just in time.

    * `early`: so many turns of the slowest loop are a first part that finds its words copied in every lane.
    * `as_made`: the words come as the root makes them, without a broadcast of their own.
    """

    way: Way
    index: str = ""
    offset: int = 0
    needs: tuple[tuple[str, Spot], ...] = ()
    bus: str = ""
    shared: bool = False
    span: Span = ALL
    parts: int = 1
    through: bool = False
    early: int = 0
    rows_first: bool = False
    as_made: bool = False

    def text(self) -> str:
        """Return the fit as one line, for people."""
        over = f" {self.index} over lanes{str(self.span).removeprefix(' of lanes')}" if self.index else ""
        made = " as it is made" if self.as_made else f", {self.early} turns before" if self.early else ""
        bus = f", {self.bus} over the bus{made}" if self.bus else ""
        parts = f", in {self.parts} parts" if self.parts > 1 else ""
        through = ", passed on in the result register" if self.through else ""
        return f"{self.way}{over}{bus}{parts}{through}"


AT_ROOT = Fit(way="root")
"""The plain way: the root computes the statement in one part."""


def without_bus(fit: Fit) -> Fit:
    """Return a fit that needs a copy in every lane of the tensor that came over the bus.

    The root needs it no more, unless it reads the tensor itself.
    """
    needs = {*(need for need in fit.needs if need != (fit.bus, ROOT) or fit.shared), (fit.bus, EVERY)}
    return replace(fit, bus="", needs=tuple(sorted(needs)), early=0, as_made=False)


def _over_bus(tensor: str, operands: Operation) -> bool:
    """Say whether a tensor can come over the bus: as an addend, as a factor beside a local one, or in a comparison."""
    match operands:
        case Linear(terms=terms):
            uses = [t for t in terms if any(isinstance(f, Read) and f.tensor == tensor for f in t.factors)]
            if len(uses) != 1:
                return False
            others = [f for f in uses[0].factors if not (isinstance(f, Read) and f.tensor == tensor)]
            if len(uses[0].factors) == 2:
                return len(others) == 1 and isinstance(others[0], Read)
            return uses[0].sign > 0 and not uses[0].reduce
        case Compare(left=left, right=right):
            return [isinstance(o, Read) and o.tensor == tensor for o in (left, right)].count(True) == 1
        case Extreme(operands=words, reduce=reduce, initial=initial):
            # Only a start value can come over the bus: a comparison takes its word from the lane's memory.
            uses_of = [isinstance(o, Read) and o.tensor == tensor for o in operands_of(operands)]
            first = (
                initial
                if reduce or initial is not None
                else next((w for w, u in zip(words, uses_of, strict=True) if u), None)
            )
            return (
                uses_of.count(True) == 1
                and isinstance(first, Read)
                and first.tensor == tensor
                and (len(words) > 1 or initial is not None)
            )
        case _:
            return False


def lane_reads(
    operation: Operation,
    reads: tuple[Read, ...],
    index: str,
    target: tuple[int, int] | None,
    graph: Graph,
    pes: int,
    static: frozenset[str],
) -> tuple[int, tuple[tuple[str, Spot], ...], str] | None:
    """Return the offset, the needs and the tensor on the bus of a statement whose `index` runs over `pes` lanes.

    `reads` are its operands, `target` is the axis and offset of the index in what it writes, and `static` has the
    tensors that never change. The result is None if the index cannot run over lanes: some operand mentions the index
    otherwise than plus a constant, or two of them would need one element in different lanes.
    """
    needs: set[tuple[str, Spot]] = set()
    offsets = [] if target is None else [target[1]]
    free: list[str] = []
    for read in reads:
        if any(index in s.names for s in read.subscripts):
            found = spread(read.subscripts, index)
            if found is None:
                return None
            offsets.append(found[1])
            needs.add((read.tensor, Spot("lane", found[0])))
        else:
            free.append(read.tensor)
    if not offsets or len({o % pes for o in offsets}) > 1:
        return None
    bus = ""
    # The largest operand that does not mention the index takes the bus; the others, and constants, lie in every lane.
    able = {t for t in free if t not in static and free.count(t) == 1 and _over_bus(t, operation)}
    if able:
        bus = min(able, key=lambda t: (-graph.tensors[t].size, t))
        needs.add((bus, ROOT))
    needs |= {(t, EVERY) for t in free if t != bus}
    return offsets[0], tuple(sorted(needs)), bus


def _tree(index: Index, found: tuple[int, tuple[tuple[str, Spot], ...], str], root: set[tuple[str, Spot]]) -> Fit:
    """Return the fit of a statement that goes up the tree: what `lane_reads` says, and what the `root` reads itself."""
    offset, needs, bus = found
    every = tuple(sorted({*needs, *root}))
    return Fit(way="tree", index=index.name, offset=offset, needs=every, bus=bus, shared=(bus, ROOT) in root)


def read_from_bus(statement: Statement, fit: Fit) -> Read:
    """Return what the lanes take over the bus.

    Where a tree's sum has terms that the root adds alone, those may read the same tensor at other positions.
    """
    operation, reads = statement.operation, statement.reads
    if fit.way == "tree" and isinstance(operation, Linear):
        reads = tuple(f for t in operation.terms if t.reduce for f in t.factors if isinstance(f, Read))
    elif fit.way == "tree" and isinstance(operation, Extreme):
        reads = tuple(o for o in operation.operands if isinstance(o, Read))
    return next(read for read in reads if read.tensor == fit.bus)


def fits(statement: Statement, graph: Graph, pes: int, static: frozenset[str], *, sequencers: int = 1) -> Iterator[Fit]:
    """Yield all ways to compute a statement without constraints, the root last.

    `pes` is the number of lanes. The tensors in `static` never change while samples run, so they may lie anywhere at no
    cost. With several sequencers the tree only adds, so that an extreme cannot go up the tree.
    """
    operation = statement.operation
    plain = isinstance(operation, Linear | Compare | Extreme) and common_reduction(statement)
    if plain and not statement.crosses:
        for index in statement.indices:
            target = spread(statement.write, index.name)
            if target is None:
                continue
            found = lane_reads(operation, statement.reads, index.name, target, graph, pes, static)
            if found is not None:
                yield Fit(way="lane", index=index.name, offset=found[0], needs=found[1], bus=found[2])
    if plain and isinstance(operation, Extreme) and sequencers == 1:
        for index in statement.reduced:
            reads = tuple(o for o in operation.operands if isinstance(o, Read))
            found = lane_reads(replace(operation, initial=None), reads, index.name, None, graph, pes, static)
            if found is not None:
                first = {(operation.initial.tensor, ROOT)} if isinstance(operation.initial, Read) else set()
                yield _tree(index, found, first)
    if plain and isinstance(operation, Linear):
        for index in statement.reduced:
            up = [t for t in operation.terms if index.name in t.reduce]
            down = [t for t in operation.terms if not t.reduce]
            if not up or len(up) + len(down) != len(operation.terms):
                continue
            if (operation.shift or operation.guard) and any(len(t.factors) == 1 for t in down):
                # A single word, added beside the tree's sum, would need a shift of its own, or is wider than a factor.
                continue
            up_reads = tuple(f for t in up for f in t.factors if isinstance(f, Read))
            found = lane_reads(Linear(terms=tuple(up)), up_reads, index.name, None, graph, pes, static)
            if found is not None:
                yield _tree(index, found, {(f.tensor, ROOT) for t in down for f in t.factors if isinstance(f, Read)})
    if statement.crosses:
        # Only the tree reaches the sum over all groups.
        return
    yield Fit(way="root", needs=tuple(sorted((tensor, ROOT) for tensor in statement.sources)))
