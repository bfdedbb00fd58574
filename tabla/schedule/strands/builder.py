"""All tasks of a mapped graph: one for each statement, or for several that share a task, each move, and each result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from tabla.graph.graph import Function, Statement
from tabla.schedule.mapping.fit import Fit, without_bus
from tabla.schedule.mapping.places import ROOT
from tabla.schedule.strands.finish import Delivered, finish
from tabla.schedule.strands.fused import fusions, passed_on, rising
from tabla.schedule.strands.joined import joined_task
from tabla.schedule.strands.moves import TAKE, down_move, sent_up, twin_copies, up_move
from tabla.schedule.strands.results import result_tasks
from tabla.schedule.strands.single import lane_strands, lane_task, name_of, root_task, scan_task, sum_strand, tree_task
from tabla.schedule.strands.site import Site, task_of
from tabla.schedule.strands.strand import Owner, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import functions, timing


@dataclass(frozen=True, slots=True)
class Builder:
    """The building of all tasks of a site; `delivered` grows with every task."""

    site: Site
    delivered: Delivered = field(default_factory=Delivered)

    def tasks(self) -> list[Task]:
        """Return all tasks: those of the statements in the order of the graph, then twins, moves and results.

        The order says nothing about time: the scheduler finds from footprints which task must wait for which.
        """
        site, delivered = self.site, self.delivered
        fused, chains, from_tree = fusions(site), passed_on(site), rising(site)
        # A vector that lanes take as the root makes it has its task with the statement that takes it.
        taken_as_made = {fit.bus for fit in site.chosen.fits if fit.as_made}
        out: list[Task] = []
        for statement, fit in zip(site.graph.statements, site.chosen.fits, strict=True):
            if fit.through or statement.id in fused.values() or statement.target in taken_as_made:
                continue
            if statement.id in from_tree:
                out += self._function_of_tree(statement, from_tree[statement.id])
                continue
            if fit.as_made:
                (maker,) = site.graph.writers(fit.bus)
                out.append(self._as_made(maker, statement, fit))
                continue
            parts = site.parts(statement, fit)
            before = chains.get(statement.id, ())
            if before and site.chosen.fits[before[0].id].way == "tree":
                out.append(joined_task(site, delivered, (*before, statement)))
                continue
            if before:
                whole = [*(site.parts(each, fit) for each in before), parts]
                made = [self._chain(together) for together in zip(*whole, strict=True)]
                out += [task.of_part(number) for number, task in enumerate(made)]
                continue
            after = site.graph.statements[fused[statement.id]] if statement.id in fused else None
            fits = [without_bus(fit) if fit.early else fit, *[fit] * (fit.parts - 1)]
            made = [self._statement(part, each, after) for part, each in zip(parts, fits, strict=True)]
            out += [task.of_part(number) for number, task in enumerate(made)]
        out += twin_copies(site)
        # Moves to the root come first: the words that go up the tree may reach the lanes on the same way.
        for tensor, spot in sorted(site.chosen.copies, key=lambda copy: copy[1] != ROOT):
            if spot not in site.copies(tensor) or (tensor, spot) in delivered.received:
                continue
            if spot == ROOT:
                task, taken = up_move(site, tensor)
                delivered.received.update((tensor, each) for each in taken)
                delivered.left.update({task.shows} - {""})
                out.append(task)
            else:
                out.append(down_move(site, tensor, spot))
        return out + result_tasks(site, delivered.left)

    def _statement(self, statement: Statement, fit: Fit, after: Statement | None) -> Task:
        """Return the task of one statement, with the function `after` it."""
        if statement.constraints:
            return scan_task(self.site, self.delivered, statement, fit)
        match fit.way:
            case "lane":
                return lane_task(self.site, statement, fit)
            case "tree":
                return tree_task(self.site, self.delivered, statement, fit, after)
            case "root":
                return root_task(self.site, self.delivered, statement, after)
        assert_never(fit.way)

    def _as_made(self, maker: Statement, statement: Statement, fit: Fit) -> Task:
        """Return the task of a vector that the root makes and of the statement that lanes compute from each word.

        The root puts each word on the bus as it shows; the lanes issue when it has reached them.
        """
        site, laws = self.site, timing()
        root, outs = sum_strand(site, maker)
        issue, write, (fetch, _) = lane_strands(site, statement, fit)
        # Root and lanes need one rate: whichever takes fewer cycles for a word waits for the other.
        slots = root.length // math.prod(fetch.counts)
        both = math.lcm(slots, fetch.interval)
        wait = both // fetch.interval
        root = replace(root, interval=both // slots)
        (root, put, *taken), extras = finish(site, self.delivered, maker, None, root, outs)
        assert (put.counts, put.interval) == (fetch.counts, both), f"{maker.target} comes in another order"
        put = replace(put, body=(put.body[0].with_fields(to_bus=1),))
        root, put, *taken = (replace(s, owner=Owner(statement=maker.id)) for s in (root, put, *taken))
        start = put.start + laws.broadcast - laws.operand
        issue = replace(issue, start=start, interval=wait)
        first = start + (write.start - laws.result) * wait + laws.result
        write = replace(write, start=first, interval=write.interval * wait)
        name = f"{name_of(maker)} + {name_of(statement)}"
        extras = replace(extras, produces=(maker.target, statement.target), bus_until=issue.final + laws.operand)
        return task_of(site, name, (root, put, *taken, issue, write), extras, statement=statement.id)

    def _chain(self, chain: Sequence[Statement]) -> Task:
        """Return the task of a chain at the root: each statement takes the words of the one before as they show."""
        site, laws = self.site, timing()
        strands, shown, start, period = [], "", 0, 1
        for statement in chain:
            root, outs = sum_strand(site, statement, shown)
            strands.append(replace(root, start=start, interval=period))
            shown = statement.target
            # Only the first statement sums: its words show as far apart as its sums end.
            slots = root.length // math.prod(loop.count for loop in outs)
            period *= slots
            start += slots - 1 + laws.result - laws.operand
        last, extras = finish(site, self.delivered, chain[-1], None, strands.pop(), outs)
        name = " + ".join(name_of(statement) for statement in chain)
        return task_of(site, name, [*strands, *last], extras, statement=chain[-1].id)

    def _function_of_tree(self, statement: Statement, tensor: str) -> Iterator[Task]:
        """Yield the tasks of a function whose operands, a tensor of the lanes, come up the tree."""
        site, name = self.site, name_of(statement)
        self.delivered.received.add((tensor, ROOT))
        assert isinstance(statement.operation, Function)
        take = TAKE.with_fields(function=functions()[statement.operation.name].code)
        for part, (send, outs) in enumerate(sent_up(site, statement, tensor, name)):
            counts = tuple(loop.count for loop in outs)
            root = Strand(unit="root_issue", start=site.word_up, body=(take,), counts=counts, comment=name)
            strands, extras = finish(site, self.delivered, statement, None, root, outs)
            yield task_of(site, name, [send, *strands], extras, statement=statement.id).of_part(part)
