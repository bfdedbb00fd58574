"""Tasks of a mapped graph: one for each statement (fused with the function that follows it), each move, each
result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from tabla.ir.body import common_reduction
from tabla.ir.graph import FLIPPED, Compare, Divide, Extreme, Function, Gather, Linear, Product, Read, Statement
from tabla.mapping.fit import AT_ROOT, Fit, without_bus
from tabla.mapping.places import ROOT, Spot
from tabla.strands.bodies import LaneContext, RootContext, lane_body, root_sum, tested
from tabla.strands.extremes import lane_extreme, root_extreme
from tabla.strands.fused import fusions, passed_on, rising, same_elements, substituted
from tabla.strands.gathers import gather
from tabla.strands.irregular import product, unrolled
from tabla.strands.leaving import nest
from tabla.strands.loops import Lanes, Loop, nest_of, trimmed
from tabla.strands.moves import TAKE, down_move, receive, result_tasks, sent_up, twin_copies, up_move
from tabla.strands.scans import lane_scans, root_scans
from tabla.strands.site import Extras, Output, Site, shown_words, task_of
from tabla.strands.strand import Operation, Strand
from tabla.strands.tasks import Shown, Task
from tabla.templates.template import functions, timing


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds all tasks of a site. `received` collects the copies that producers make on their way, `left` the results
    that leave as they are made.
    """

    site: Site
    received: set[tuple[str, Spot]] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    def tasks(self) -> list[Task]:
        """All tasks, in a valid order."""
        site = self.site
        fused, chains, from_tree = fusions(site), passed_on(site), rising(site)
        heard = {fit.bus for fit in site.chosen.fits if fit.as_made}
        out: list[Task] = []
        for statement, fit in zip(site.graph.statements, site.chosen.fits, strict=True):
            if fit.through or statement.id in fused.values() or statement.target in heard:
                continue
            if statement.id in from_tree:
                out.append(self._rising(statement, from_tree[statement.id]))
                continue
            if fit.as_made:
                (maker,) = site.graph.writers(fit.bus)
                out.append(self._as_made(maker, statement, fit))
                continue
            parts = site.parts(statement, fit)
            if before := chains.get(statement.id):
                whole = [*(site.parts(each, fit) for each in before), parts]
                out += [self._chain(together) for together in zip(*whole, strict=True)]
                continue
            after = site.graph.statements[fused[statement.id]] if statement.id in fused else None
            fits = [without_bus(fit) if fit.early else fit, *[fit] * (fit.parts - 1)]
            made = [self._statement(part, each, after) for part, each in zip(parts, fits, strict=True)]
            out += [task.of_part(number) for number, task in enumerate(made)]
        out += twin_copies(site)
        # Words that go up may reach the lanes on the same way.
        for tensor, spot in sorted(site.chosen.copies, key=lambda copy: copy[1] != ROOT):
            if spot not in site.copies(tensor) or (tensor, spot) in self.received:
                continue
            if spot == ROOT:
                task, taken = up_move(site, tensor)
                self.received.update((tensor, each) for each in taken)
                self.left.update(name for name in (task.shows,) if name)
                out.append(task)
            else:
                out.append(down_move(site, tensor, spot))
        return out + result_tasks(site, self.left)

    def _statement(self, statement: Statement, fit: Fit, after: Statement | None) -> Task:
        if statement.constraints:
            return self._scan(statement, fit)
        match fit.way:
            case "lane":
                return self._lane(statement, fit)
            case "tree":
                return self._tree(statement, fit, after)
            case "root":
                return self._root(statement, after)
        assert_never(fit.way)

    # ---- the three ways

    def _lane(self, statement: Statement, fit: Fit) -> Task:
        issue, write, feed = self._lane_strands(statement, fit)
        extras = Extras(produces=(statement.target,))
        return self._fed(statement, (issue, write), feed, fit, issue, issue.comment, extras)

    def _lane_strands(self, statement: Statement, fit: Fit) -> tuple[Strand, Strand, tuple[Strand, ...]]:
        """What the lanes issue from cycle 0 on, what they write, and what the root broadcasts to them."""
        site = self.site
        lanes = Lanes.of(statement, fit, site.template.lanes)
        outs, reduced = nest_of(statement, lanes, fit)
        loops = (*outs, *reduced)
        context = LaneContext(layout=site.layout, fit=fit, lanes=lanes, loops=loops)
        body = _lane_body(site, statement, context, levels=len(reduced))
        name = name_of(statement)
        own = site.sequencers(fit.span)
        issue = Strand(
            unit="lane_issue",
            start=0,
            body=body,
            counts=_counts(loops),
            reduce=len(reduced),
            comment=name,
            sequencers=own,
        )
        period = len(body) * math.prod(_counts(reduced))
        write = site.lane_write(statement, lanes, outs, period - 1 + timing().result, period, name)
        write = replace(write, sequencers=own)
        return issue, write, self._feed(statement, fit, loops, len(body))

    def _tree(self, statement: Statement, fit: Fit, after: Statement | None) -> Task:
        site = self.site
        lanes = Lanes.of(statement, fit, site.template.lanes)
        outs, reduced = nest_of(statement, lanes, fit)
        loops = (*outs, *reduced)
        context = LaneContext(layout=site.layout, fit=fit, lanes=lanes, loops=loops)
        body = _lane_body(site, statement, context, levels=len(reduced))
        top = RootContext(layout=site.layout, loops=outs)
        match statement.operation:
            case Linear(terms=terms):
                start = "array" if statement.crosses else "tree"
                rest = [t for t in site.early_first(terms) if not t.reduce]
                above = tested(statement, root_sum(top, rest, start=start, shift=site.shift(statement), levels=0))
            case Extreme() as extreme:
                above = root_extreme(extreme, top, tree=True)
            case _:
                raise AssertionError(f"statement {statement.id} cannot go up the tree")
        slots = len(body) * math.prod(_counts(reduced))
        several = math.prod(_counts(outs)) > 1
        # The root's slots need a whole interval each of the lanes' time for one output.
        interval = len(above) // math.gcd(slots, len(above)) if several else 1
        name = name_of(statement, after)
        issue = Strand(
            unit="lane_issue",
            start=0,
            body=body,
            counts=_counts(loops),
            interval=interval,
            reduce=len(reduced),
            comment=name,
            sequencers=site.sequencers(fit.span),
        )
        spacing = slots * interval // len(above) if several else 1
        root = Strand(
            unit="root_issue",
            start=(slots - 1) * interval + site.up(statement),
            body=above,
            counts=_counts(outs),
            interval=spacing,
            comment=name,
        )
        strands, extras = self._finish(statement, after, root, outs)
        feed = self._feed(statement, fit, loops, len(body) * interval)
        return self._fed(statement, (issue, *strands), feed, fit, issue, name, extras)

    def _root(self, statement: Statement, after: Statement | None) -> Task:
        site, name = self.site, name_of(statement, after)
        if isinstance(statement.operation, Linear):
            if not common_reduction(statement):
                return unrolled(site, statement, name)
            return self._finished(statement, after, *self._sum(statement, name=name))
        outs, reduced = nest_of(statement, None, AT_ROOT)
        context = RootContext(layout=site.layout, loops=(*outs, *reduced))
        body: tuple[Operation, ...]
        match statement.operation:
            case Compare(op=op, left=Read() as left, right=Read() as right):
                if site.made.get(left.tensor, -1) < site.made.get(right.tensor, -1):
                    # The addend may come later than the factor.
                    op, left, right = FLIPPED[op], right, left
                body = (context.operation({"a": right, "c": left}, negate=1, base="addend", post=op, emit=1),)
            case Function(name=function, operand=Read() as operand):
                body = (context.operation({"c": operand}, base="addend", function=functions()[function].code),)
            case Divide(left=Read() as left, right=Read() as right, unit=unit):
                code = functions()[unit].code
                body = (context.operation({"c": left, "b": right}, base="addend", function=code),)
            case Product(operand=Read()):
                return product(site, statement, name)
            case Extreme() as extreme:
                body = root_extreme(extreme, context)
            case Gather():
                shows = site.departing.get(statement.target, "")
                self.left.update({shows} - {""})
                return gather(site, statement, name, shows)
            case _:
                raise AssertionError(f"statement {statement.id} has operands that are not tensors")
        root = Strand(
            unit="root_issue", start=0, body=body, counts=_counts((*outs, *reduced)), reduce=len(reduced), comment=name
        )
        return self._finished(statement, after, root, outs)

    def _as_made(self, maker: Statement, statement: Statement, fit: Fit) -> Task:
        """A vector of the root, and what lanes make of each word as it comes."""
        site, laws = self.site, timing()
        root, outs = self._sum(maker)
        issue, write, (fetch, _) = self._lane_strands(statement, fit)
        # Whoever takes fewer cycles for a word waits for the other.
        slots = root.length // math.prod(fetch.counts)
        both = math.lcm(slots, fetch.interval)
        wait = both // fetch.interval
        (root, put, *taken), extras = self._finish(maker, None, replace(root, interval=both // slots), outs)
        assert (put.counts, put.interval) == (fetch.counts, both), f"{maker.target} comes in another order"
        put = replace(put, body=(put.body[0].with_fields(to_bus=1),))
        start = put.start + laws.broadcast - laws.operand
        issue = replace(issue, start=start, interval=wait)
        first = start + (write.start - laws.result) * wait + laws.result
        write = replace(write, start=first, interval=write.interval * wait)
        name = f"{name_of(maker)} + {name_of(statement)}"
        extras = replace(extras, produces=(maker.target, statement.target), bus_until=issue.final + laws.operand)
        return task_of(site, name, (root, put, *taken, issue, write), extras, statement=statement.id)

    def _chain(self, chain: Sequence[Statement]) -> Task:
        """Statements of which each takes the words that the one before shows, as they show."""
        site, laws = self.site, timing()
        strands, shown, start, period = [], "", 0, 1
        for statement in chain:
            root, outs = self._sum(statement, shown)
            strands.append(replace(root, start=start, interval=period))
            shown = statement.target
            # Only the first one sums: its words show as far apart as its sums end.
            slots = root.length // math.prod(_counts(outs))
            period *= slots
            start += slots - 1 + laws.result - laws.operand
        last, extras = self._finish(chain[-1], None, strands.pop(), outs)
        name = " + ".join(name_of(statement) for statement in chain)
        return task_of(site, name, [*strands, *last], extras, statement=chain[-1].id)

    def _sum(self, statement: Statement, shown: str = "", name: str = "") -> tuple[Strand, tuple[Loop, ...]]:
        """The root's strand of sums that fit one body, and the loops of its outputs; `shown` is taken from the result
        register.
        """
        assert isinstance(statement.operation, Linear)
        outs, reduced = nest_of(statement, None, AT_ROOT)
        context = RootContext(layout=self.site.layout, loops=(*outs, *reduced), shown=shown)
        ordered, shift = self.site.early_first(statement.operation.terms), self.site.shift(statement)
        body = tested(statement, root_sum(context, ordered, start="fresh", shift=shift, levels=len(reduced)))
        counts = _counts((*outs, *reduced))
        strand = Strand(
            unit="root_issue",
            start=0,
            body=body,
            counts=counts,
            reduce=len(reduced),
            comment=name or name_of(statement),
        )
        return strand, outs

    def _rising(self, statement: Statement, tensor: str) -> Task:
        """A function of words as they come up the tree."""
        site, name = self.site, name_of(statement)
        self.received.add((tensor, ROOT))
        assert isinstance(statement.operation, Function)
        outs, _ = nest_of(statement, None, AT_ROOT)
        take = TAKE.with_fields(function=functions()[statement.operation.name].code)
        root = Strand(unit="root_issue", start=site.word_up, body=(take,), counts=_counts(outs), comment=name)
        strands, extras = self._finish(statement, None, root, outs)
        return task_of(site, name, [sent_up(site, tensor, name), *strands], extras, statement=statement.id)

    def _scan(self, statement: Statement, fit: Fit) -> Task:
        site, name = self.site, name_of(statement)
        if isinstance(statement.operation, Product):
            return product(site, statement, name)
        if fit.way == "lane":
            return lane_scans(site, statement, fit, name)
        shows = site.departing.get(statement.target, "")
        self.left.update(name for name in (shows,) if name)
        return root_scans(site, statement, name, leaves=shows)

    # ---- what they share

    def _finished(self, statement: Statement, after: Statement | None, root: Strand, outs: tuple[Loop, ...]) -> Task:
        """The task of a statement that has the root for itself."""
        strands, extras = self._finish(statement, after, root, outs)
        return task_of(self.site, root.comment, strands, extras, statement=statement.id)

    def _finish(
        self, statement: Statement, after: Statement | None, root: Strand, outs: tuple[Loop, ...]
    ) -> tuple[list[Strand], Extras]:
        """The root strand, the function after it, the write of its results and the lanes that take them at once."""
        site = self.site
        function = ""
        if after is not None:
            assert isinstance(after.operation, Function)
            function = after.operation.name
            last = root.body[-1].with_fields(function=functions()[function].code)
            root = replace(root, body=(*root.body[:-1], last))
        elif isinstance(statement.operation, Function | Divide):
            operation = statement.operation
            function = operation.name if isinstance(operation, Function) else operation.unit
        inner = math.prod(root.counts[len(root.counts) - root.reduce :])
        period = len(root.body) * inner * root.interval
        show = root.start + (len(root.body) * inner - 1) * root.interval + timing().result
        strands, shown = [root], []
        target, write = statement.target, statement.write
        if after is not None:
            renaming = same_elements(statement, after)
            assert renaming is not None
            if site.readers[target] > 1 or site.copies(target):
                plain = Output(loops=outs, interval=period, show=show, register="result")
                strands.append(site.root_write(target, write, plain, root.comment))
                shown.append(Shown(tensor=target, register="result", show=show))
            target, write = after.target, tuple(substituted(w, renaming) for w in after.write)
        register = "result"
        if function:
            register, show = "function", show + site.function_cycles(function)
        output = Output(loops=outs, interval=period, show=show, register=register)
        shows = site.departing.get(target, "")
        leaves = nest(site.graph, target, write, outs) if shows else None
        if shows:
            self.left.add(shows)
        put = site.root_write(target, write, output, root.comment, leaves=bool(shows))
        if site.scalar(target):
            shown.append(Shown(tensor=target, register=register, show=show))
        elif "address" in put.body[0].addresses:
            words = shown_words(put, put.body[0].addresses["address"])
            if words:
                spacing = period if len(words) > 1 else 1
                shown.append(Shown(tensor=target, register=register, show=show, words=words, interval=spacing))
        spot, taken = receive(site, target, write, output)
        if spot is not None:
            self.received.add((target, spot))
        holds = ""
        if taken or target in site.bus_scalars():
            put = replace(put, body=(put.body[0].with_fields(to_bus=1),))
            holds = target if site.scalar(target) else ""
        span = (show, show + (math.prod(_counts(outs)) - 1) * period) if function else None
        made = (statement.target, target) if after is not None else (target,)
        whole = () if leaves is None or leaves.row_major(site.graph.tensors[target].size) else (leaves,)
        extras = Extras(shown=tuple(shown), function=span, holds=holds, produces=made, shows=shows, leaves=whole)
        return [*strands, put, *taken], extras

    def _feed(self, statement: Statement, fit: Fit, loops: tuple[Loop, ...], body: int) -> tuple[Strand, ...]:
        """The root strands that put the words of `fit.bus` on the bus just in time for a lane strand at cycle 0."""
        if not fit.bus:
            return ()
        read = next(r for r in statement.reads if r.tensor == fit.bus)
        bank, at = RootContext(layout=self.site.layout, loops=loops).port(read)
        kept, folded = trimmed(at, loops)
        fetch = Operation(
            fields={"a": "zero", "c": bank, "base": "addend"},
            addresses={"c": replace(at, strides=at.strides[:kept])},
        )
        put = Operation(fields={"source": "result", "to_bus": 1})
        start, name, counts = -self.site.down, f"broadcast {fit.bus}", _counts(loops[:kept])
        every = folded * body
        return (
            Strand(unit="root_issue", start=start, body=(fetch,), counts=counts, interval=every, comment=name),
            Strand(
                unit="root_write",
                start=start + timing().result,
                body=(put,),
                counts=counts,
                interval=every,
                comment=name,
            ),
        )

    def _fed(
        self,
        statement: Statement,
        strands: tuple[Strand, ...],
        feed: tuple[Strand, ...],
        fit: Fit,
        issue: Strand,
        name: str,
        extras: Extras,
    ) -> Task:
        """A task whose lanes take words from the bus: with its feed, and, for a scalar, also without."""
        site, operand = self.site, timing().operand
        if not feed:
            return task_of(site, name, strands, extras, statement=statement.id)
        scalar = site.scalar(fit.bus)
        until = issue.final + operand
        with_feed = replace(extras, bus_until=until, holds=fit.bus if scalar else extras.holds)
        fed = task_of(site, name, (*feed, *strands), with_feed, statement=statement.id)
        if not scalar:
            return fed
        alone = task_of(site, name, strands, extras, statement=statement.id)
        return replace(alone, wants=fit.bus, wants_cycles=(operand, until), fed=fed)


def _lane_body(site: Site, statement: Statement, context: LaneContext, *, levels: int) -> tuple[Operation, ...]:
    if isinstance(statement.operation, Extreme):
        return tuple(lane_extreme(statement.operation, context))
    return lane_body(statement, context, shift=site.shift(statement), levels=levels)


def _counts(loops: tuple[Loop, ...]) -> tuple[int, ...]:
    return tuple(loop.count for loop in loops)


def name_of(statement: Statement, after: Statement | None = None) -> str:
    """How people find a statement again: its number and what it computes."""
    return f"s{statement.id} {statement.target}" + (f" + s{after.id} {after.target}" if after else "")
