"""The task of a single statement, by its way: in the lanes, in the lanes with the tree, or at the root."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tabla.graph.body import MOST_SLOTS, common_reduction
from tabla.graph.graph import (
    FLIPPED,
    Compare,
    Divide,
    Extreme,
    Function,
    Gather,
    Linear,
    Product,
    Read,
    Scatter,
    Statement,
)
from tabla.schedule.mapping.fit import AT_ROOT, Fit
from tabla.schedule.strands.bodies import LaneContext, RootContext, lane_body, root_sum, tested
from tabla.schedule.strands.broadcasts import broadcast, fed_task
from tabla.schedule.strands.extremes import lane_extreme, root_extreme
from tabla.schedule.strands.finish import Delivered, finish, finished_task
from tabla.schedule.strands.gathers import gather
from tabla.schedule.strands.irregular import product, unrolled
from tabla.schedule.strands.loops import Lanes, Loop, nest_of
from tabla.schedule.strands.scans import lane_scans, root_scans
from tabla.schedule.strands.scatters import scatter
from tabla.schedule.strands.site import Extras, Site
from tabla.schedule.strands.strand import Operation, Owner, Strand
from tabla.schedule.strands.tasks import Task
from tabla.schedule.strands.unrolling import written_out
from tabla.templates.template import functions, timing


def name_of(statement: Statement, after: Statement | None = None) -> str:
    """Return the name of a statement's task, for people: its number and target, and those of the function after it.

    Example: ``s3 h.t1 + s4 h``.
    """
    return f"s{statement.id} {statement.target}" + (f" + s{after.id} {after.target}" if after else "")


def lane_task(site: Site, statement: Statement, fit: Fit) -> Task:
    """Return the task of a statement whose outputs arise in the lanes, with the broadcast that feeds them."""
    issue, write, feed = lane_strands(site, statement, fit)
    extras = Extras(produces=(statement.target,))
    return fed_task(site, statement, (issue, write), feed, fit, issue, issue.comment, extras)


def lane_strands(site: Site, statement: Statement, fit: Fit) -> tuple[Strand, Strand, tuple[Strand, ...]]:
    """Return what the lanes issue from cycle 0 on, what they write, and what the root broadcasts to them."""
    lanes = Lanes.of(statement, fit, site.template.lanes)
    outs, reduced = nest_of(statement, lanes, fit)
    loops = (*outs, *reduced)
    context = LaneContext(layout=site.layout, fit=fit, lanes=lanes, loops=loops)
    body = _lane_body(site, statement, context, levels=len(reduced))
    if starts_alone(statement, body, reduced) and not fit.bus:
        shorter = written_out(statement, site.template.body or MOST_SLOTS)
        outs, reduced = nest_of(shorter, lanes, fit)
        loops = (*outs, *reduced)
        body = _lane_body(site, shorter, replace(context, loops=loops), levels=len(reduced))
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
    return issue, write, broadcast(site, statement, fit, loops, len(body))


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSum:
    """What a statement that goes up the tree takes of lanes and root.

    `issue` is the strand of the lanes from cycle 0 on, and `loops` are its loops. `outs` are those over the outputs.
    Lanes take `slots` cycles for each output, and `above` are the operations of the root for it.
    """

    issue: Strand
    loops: tuple[Loop, ...]
    outs: tuple[Loop, ...]
    slots: int
    above: tuple[Operation, ...]


def tree_sum(site: Site, statement: Statement, fit: Fit) -> TreeSum:
    """Return what the lanes and the root do for a statement whose terms are summed by the tree."""
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
    issue = Strand(
        unit="lane_issue",
        start=0,
        body=body,
        counts=_counts(loops),
        reduce=len(reduced),
        comment=name_of(statement),
        sequencers=site.sequencers(fit.span),
    )
    slots = len(body) * math.prod(_counts(reduced))
    return TreeSum(issue=issue, loops=loops, outs=outs, slots=slots, above=above)


def tree_task(site: Site, delivered: Delivered, statement: Statement, fit: Fit, after: Statement | None) -> Task:
    """Return the task of a statement whose terms are summed in the lanes, by the tree, and finished at the root.

    Terms without a summed index are added at the root, beside the tree's word.
    """
    found = tree_sum(site, statement, fit)
    slots, above, counts = found.slots, found.above, _counts(found.outs)
    several = math.prod(counts) > 1
    # The root has as many cycles for an output as the lanes take for it, so its operations must divide that time: if
    # they do not, the lanes slow down.
    interval = len(above) // math.gcd(slots, len(above)) if several else 1
    name = name_of(statement, after)
    issue = replace(found.issue, interval=interval, comment=name)
    root = Strand(
        unit="root_issue",
        start=(slots - 1) * interval + site.up(statement),
        body=above,
        counts=counts,
        interval=slots * interval // len(above) if several else 1,
        comment=name,
    )
    strands, extras = finish(site, delivered, statement, after, root, found.outs)
    feed = broadcast(site, statement, fit, found.loops, len(issue.body) * interval)
    return fed_task(site, statement, (issue, *strands), feed, fit, issue, name, extras)


def root_task(site: Site, delivered: Delivered, statement: Statement, after: Statement | None) -> Task:
    """Return the task of a statement that the root computes by itself."""
    name = name_of(statement, after)
    if isinstance(statement.operation, Linear):
        if not common_reduction(statement):
            return unrolled(site, statement, name)
        return finished_task(site, delivered, statement, after, *sum_strand(site, statement, name=name))
    outs, reduced = nest_of(statement, None, AT_ROOT)
    context = RootContext(layout=site.layout, loops=(*outs, *reduced))
    body: tuple[Operation, ...]
    match statement.operation:
        case Compare(op=op, left=Read() as left, right=Read() as right):
            if site.made.get(left.tensor, -1) < site.made.get(right.tensor, -1):
                # The operand that is made last becomes the addend, which the datapath takes later than a factor.
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
            delivered.left.update({shows} - {""})
            return gather(site, statement, name, shows)
        case Scatter():
            return scatter(site, statement, name)
        case _:
            raise AssertionError(f"statement {statement.id} has operands that are not tensors")
    root = Strand(
        unit="root_issue", start=0, body=body, counts=_counts((*outs, *reduced)), reduce=len(reduced), comment=name
    )
    return finished_task(site, delivered, statement, after, root, outs)


def scan_task(site: Site, delivered: Delivered, statement: Statement, fit: Fit) -> Task:
    """Return the task of a scan (:mod:`tabla.graph.scan`)."""
    name = name_of(statement)
    if isinstance(statement.operation, Product):
        return product(site, statement, name)
    if fit.way == "lane":
        return lane_scans(site, statement, fit, name)
    shows = site.departing.get(statement.target, "")
    delivered.left.update({shows} - {""})
    return root_scans(site, statement, name, leaves=shows)


def sum_strand(site: Site, statement: Statement, shown: str = "", name: str = "") -> tuple[Strand, tuple[Loop, ...]]:
    """Return the root's strand of a sum that fits one body, and the loops of its outputs.

    The words of the tensor `shown` are taken from the result register, all others from memory.
    """
    assert isinstance(statement.operation, Linear)
    outs, reduced = nest_of(statement, None, AT_ROOT)
    context = RootContext(layout=site.layout, loops=(*outs, *reduced), shown=shown)
    ordered, shift = site.early_first(statement.operation.terms), site.shift(statement)
    wide = bool(statement.operation.guard)
    body = tested(statement, root_sum(context, ordered, start="fresh", shift=shift, levels=len(reduced), wide=wide))
    counts = _counts((*outs, *reduced))
    strand = Strand(
        unit="root_issue",
        start=0,
        body=body,
        counts=counts,
        reduce=len(reduced),
        comment=name or name_of(statement),
        owner=Owner(statement=statement.id),
    )
    return strand, outs


def starts_alone(statement: Statement, body: tuple[Operation, ...], reduced: tuple[Loop, ...]) -> bool:
    """Say whether each turn of summed loops repeats an operation for a word that is added once."""
    match statement.operation:
        case Linear(terms=terms):
            return bool(reduced) and len(body) == len(terms) and not all(term.reduce for term in terms)
        case _:
            return False


def _lane_body(site: Site, statement: Statement, context: LaneContext, *, levels: int) -> tuple[Operation, ...]:
    if isinstance(statement.operation, Extreme):
        return tuple(lane_extreme(statement.operation, context))
    return lane_body(statement, context, shift=site.shift(statement), levels=levels)


def _counts(loops: tuple[Loop, ...]) -> tuple[int, ...]:
    return tuple(loop.count for loop in loops)
