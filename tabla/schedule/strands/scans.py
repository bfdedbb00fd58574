"""Scans of sums and extremes: the accumulator goes on from output to output, and each of its words is a result.

A row of outputs has up to four strands, one for each *stretch* of outputs (:mod:`tabla.graph.scan` has the terms):

* outputs that take no point yet;
* the first output that takes points;
* outputs that take one point more than the output before;
* outputs for which no point is left.

These strands follow each other without a gap, because any other operation would overwrite the accumulator.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tabla.graph.graph import Affine, Extreme, Linear, Operand, Statement
from tabla.graph.rewrite import operand_at, substituted, with_operands
from tabla.graph.scan import Scan, scan_of
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.strands.bodies import LaneContext, RootContext, lane_sum, root_sum
from tabla.schedule.strands.extremes import scan_extreme
from tabla.schedule.strands.layout import Layout
from tabla.schedule.strands.leaving import Nest, nest
from tabla.schedule.strands.loops import Lanes, Loop
from tabla.schedule.strands.site import Extras, Output, Site, task_of
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Outputs of a scan that one strand makes.

    `statement` is the scan with its indices replaced by the strand's own. `outs` are the loops over the outputs, and
    `summed` is the loop over the points that each output takes, if there are several. With `fresh`, the accumulator
    begins anew; else it goes on. With `adds`, there are points to take.
    """

    statement: Statement
    outs: tuple[Loop, ...]
    summed: tuple[Loop, ...]
    fresh: bool
    adds: bool

    def body(self, context: LaneContext | RootContext, shift: int) -> tuple[Operation, ...]:
        """Return the body of the strand. Raises `Clash` if words of one operation lie in one bank of a lane."""
        match self.statement.operation:
            case Linear(terms=terms):
                chosen = [t for t in terms if (self.adds if t.reduce else self.fresh)]
                start, levels = "fresh" if self.fresh else "accumulator", len(self.summed)
                if isinstance(context, RootContext):
                    return root_sum(context, chosen, start=start, shift=shift, levels=levels)
                return lane_sum(context, chosen, start=start, shift=shift, levels=levels)
            case Extreme(operands=operands) as extreme:
                return scan_extreme(extreme, operands if self.adds else (), context, fresh=self.fresh)
            case operation:
                raise AssertionError(f"a scan of {type(operation).__name__} cannot keep an accumulator")

    def counts(self, rows: tuple[Loop, ...]) -> tuple[int, ...]:
        """Return the turns of the strand's loops; `rows` is the loop over a row of lanes, if it runs in the lanes."""
        return tuple(loop.count for loop in (*rows, *self.outs, *self.summed))


def stretches(statement: Statement, at: Mapping[str, int]) -> Iterator[Stretch]:
    """Yield the stretches of one row of outputs, in order; `at` has the values of the other indices."""
    found = scan_of(statement)
    assert found is not None
    fixed = {name: Affine(constant=value) for name, value in at.items()}
    step, point = found.index.name, found.summed.name
    steps = Affine.make(0, {step: found.sign})

    def stretch(low: int, high: int, *, fresh: bool, adds: bool) -> Iterator[Stretch]:
        if low < high:
            taken = Affine.make(found.sign * found.offset, {step: found.sign})
            moved = _moved(statement, {**fixed, step: steps, point: taken})
            yield Stretch(statement=moved, outs=(_loop(step, low, high),), summed=(), fresh=fresh, adds=adds)

    yield from stretch(found.steps.start, found.begin, fresh=True, adds=False)
    if found.begin < found.steps.stop:
        yield _first(statement, found, fixed)
    yield from stretch(found.begin + 1, found.done, fresh=False, adds=True)
    yield from stretch(max(found.begin + 1, found.done), found.steps.stop, fresh=False, adds=False)


def _first(statement: Statement, found: Scan, fixed: Mapping[str, Affine]) -> Stretch:
    """Return the stretch of the first output that takes points; it may take several at once."""
    points, point = found.first, found.summed.name
    at = {**fixed, found.index.name: Affine(constant=found.sign * found.begin)}
    if len(points) > 1:
        at[point] = Affine.make(0, {point: found.sign})
        loops: tuple[Loop, ...] = (_loop(point, points.start, points.stop),)
    else:
        at[point] = Affine(constant=found.sign * points.start)
        loops = ()
    return Stretch(statement=_moved(statement, at), outs=(), summed=loops, fresh=True, adds=True)


def _loop(name: str, low: int, high: int) -> Loop:
    return Loop(name=name, count=high - low, low=low)


def _moved(statement: Statement, at: Mapping[str, Affine]) -> Statement:
    """Return a statement whose write and operation have some indices replaced; only a body is made of it."""

    def operand(word: Operand) -> Operand:
        return operand_at(word, at)

    write = tuple(substituted(subscript, at) for subscript in statement.write)
    return replace(statement, write=write, operation=with_operands(statement.operation, operand))


def root_scans(site: Site, statement: Statement, name: str, *, leaves: str) -> Task:
    """Return the task of a scan at the root, its rows one after the other.

    If `leaves` names a result, its words go out as they are made.
    """
    strands: list[Strand] = []
    nests: list[Nest] = []
    start = 0
    for at in _rows(statement, ""):
        for stretch in stretches(statement, at):
            context = RootContext(layout=site.layout, loops=(*stretch.outs, *stretch.summed))
            body = stretch.body(context, site.shift(statement))
            issue = Strand(
                unit="root_issue",
                start=start,
                body=body,
                counts=stretch.counts(()),
                reduce=len(stretch.summed),
                comment=name,
            )
            period = _period(stretch, body)
            show = start + period - 1 + timing().result
            output = Output(loops=stretch.outs, interval=period if stretch.outs else 1, show=show, register="result")
            write = stretch.statement.write
            strands += [issue, site.root_write(statement.target, write, output, name, leaves=bool(leaves))]
            nests.append(nest(site.graph, statement.target, write, stretch.outs))
            start = issue.end
    extras = Extras(produces=(statement.target,), shows=leaves, leaves=tuple(nests) if leaves else ())
    return task_of(site, name, strands, extras, statement=statement.id)


def lane_scans(site: Site, statement: Statement, fit: Fit, name: str) -> Task:
    """Return the task of a scan in the lanes: as many rows at a time as there are lanes."""
    lanes = Lanes.of(statement, fit, site.template.lanes)
    strands: list[Strand] = []
    start = 0
    for at in _rows(statement, fit.index):
        for row in range(lanes.loop.count):
            here = replace(lanes.loop, count=1, low=lanes.loop.low + row)
            for stretch in stretches(statement, at):
                context = LaneContext(
                    layout=site.layout, fit=fit, lanes=lanes, loops=(here, *stretch.outs, *stretch.summed)
                )
                body = stretch.body(context, site.shift(statement))
                issue = Strand(
                    unit="lane_issue",
                    start=start,
                    body=body,
                    counts=stretch.counts((here,)),
                    reduce=len(stretch.summed),
                    comment=name,
                    sequencers=site.sequencers(fit.span),
                )
                period = _period(stretch, body)
                show = start + period - 1 + timing().result
                put = site.lane_write(stretch.statement, lanes, (here, *stretch.outs), show, period, name)
                strands += [issue, replace(put, sequencers=issue.sequencers)]
                start = issue.end
    return task_of(site, name, strands, Extras(produces=(statement.target,)), statement=statement.id)


def refuse_clashes(statement: Statement, fit: Fit, layout: Layout, pes: int) -> None:
    """Raise `Clash` if words of one operation of a scan in the lanes lie in one bank."""
    lanes = Lanes.of(statement, fit, pes)
    for stretch in stretches(statement, next(_rows(statement, fit.index))):
        loops = (lanes.loop, *stretch.outs, *stretch.summed)
        stretch.body(LaneContext(layout=layout, fit=fit, lanes=lanes, loops=loops), 0)


def _period(stretch: Stretch, body: tuple[Operation, ...]) -> int:
    """Return the cycles from one output of a stretch to the next."""
    return len(body) * math.prod(loop.count for loop in stretch.summed)


def _rows(statement: Statement, over: str) -> Iterator[dict[str, int]]:
    """Yield the values of the indices that count rows: all but the scanned one, and but `over`, which runs over lanes.

    Rows come in the order of the target's axes.
    """
    found = scan_of(statement)
    assert found is not None
    box = statement.box
    names = [name for subscript in statement.write for name in subscript.names if name not in (over, found.index.name)]
    for values in itertools.product(*(range(box[name].low, box[name].high) for name in names)):
        yield dict(zip(names, values, strict=True))
