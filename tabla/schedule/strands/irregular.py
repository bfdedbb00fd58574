"""Statements that one strand cannot hold: sums over different indices, and products. Both are computed at the root."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tabla.graph.graph import Affine, Linear, Product, Read, Statement
from tabla.graph.scan import Scan, scan_of
from tabla.schedule.mapping.places import Place
from tabla.schedule.strands.bodies import RootContext, root_sum, tested
from tabla.schedule.strands.layout import scratch
from tabla.schedule.strands.loops import Loop, address, plain
from tabla.schedule.strands.site import Extras, Output, Site, task_of
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing


def _points(loops: Sequence[Loop]) -> Iterator[tuple[Loop, ...]]:
    """Yield every point of a nest of loops, as loops of one turn."""
    if not loops:
        yield ()
        return
    for rest in _points(loops[1:]):
        for n in range(loops[0].count):
            yield (Loop(name=loops[0].name, count=1, low=loops[0].low + n), *rest)


def unrolled(site: Site, statement: Statement, name: str) -> Task:
    """Return the task of a statement whose terms are summed over different indices.

    Each output element has a strand for each set of summed indices. These strands follow each other without a gap and
    share the accumulator, so that the whole is rounded once.
    """
    assert isinstance(statement.operation, Linear)
    groups: dict[tuple[str, ...], list[int]] = {}
    for n, term in enumerate(statement.operation.terms):
        groups.setdefault(tuple(sorted(term.reduce)), []).append(n)
    ordered = sorted(groups.items(), key=lambda g: (len(g[0]), g[1]))
    strands: list[Strand] = []
    start = 0
    for fixed in _points([plain(i) for i in statement.indices]):
        for position, (names, members) in enumerate(ordered):
            loops = (*fixed, *(plain(i) for i in statement.reduced if i.name in names))
            body = root_sum(
                RootContext(layout=site.layout, loops=loops),
                [statement.operation.terms[n] for n in members],
                start="fresh" if position == 0 else "accumulator",
                shift=site.shift(statement),
                levels=len(names),
                emit=position == len(ordered) - 1,
                wide=bool(statement.operation.guard),
            )
            if position == len(ordered) - 1:
                body = tested(statement, body)
            strand = Strand(
                unit="root_issue",
                start=start,
                body=body,
                reduce=len(names),
                counts=tuple(x.count for x in loops),
                comment=name,
            )
            strands.append(strand)
            start = strand.end
        output = Output(loops=fixed, interval=1, show=start - 1 + timing().result, register="result")
        strands.append(site.root_write(statement.target, statement.write, output, name))
    return task_of(site, name, strands, Extras(produces=(statement.target,)), statement=statement.id)


def product(site: Site, statement: Statement, name: str) -> Task:
    """Return the task of a product over indices, scan or not.

    Each step of a product is rounded, so step t reads from the root's memory the partial word that step t - 1 wrote.
    Other outputs are multiplied in between, which hides the latency. Each output, or each row of a scan, has a run of
    partial words of its own. Word 0 of a run is what the product begins with: 1 (the integer 1 in a product of
    integers), loaded with the models, or the initial word, which every sample copies there. Step t writes word t + 1.
    """
    assert isinstance(statement.operation, Product) and isinstance(statement.operation.operand, Read)
    laws = timing()
    found = scan_of(statement)
    steps = tuple(plain(i) if found is None else replace(plain(i), count=found.taken) for i in statement.reduced)
    rows = [i for i in statement.indices if found is None or i != found.index]
    outs = tuple(plain(i) for i in rows)
    loops = (*steps, *outs)
    place = site.layout.place(statement.target, scratch(statement.id))
    constant, coefficients, total = 0, dict[str, int](), 1
    for index in reversed(statement.reduced):
        constant -= index.low * total
        coefficients[index.name] = total
        total *= index.extent
    run = tuple(Affine.make(-i.low, {i.name: 1}) for i in rows)
    before = address(place, (*run, Affine.make(constant, coefficients)), loops)
    bank, at = RootContext(layout=site.layout, loops=loops).source(statement.operation.operand)
    between = math.prod(x.count for x in outs)
    interval = -(-(laws.result + laws.memory_write) // between)
    fields: dict[str, str | int] = {"a": "memory", "b": bank, "half": "all", "shift": site.shift(statement), "emit": 1}
    step = Operation(fields=fields, addresses={"a": before, "b": at})
    put = Operation(
        fields={"source": "result", "to_memory": 1}, addresses={"address": replace(before, base=before.base + 1)}
    )
    counts = tuple(x.count for x in loops)
    first = _initial_words(site, statement, place, run, outs, name)
    after = max((max(s.end, s.start + laws.result + laws.memory_write) for s in first[:1]), default=0)
    issue = Strand(unit="root_issue", start=after, body=(step,), counts=counts, interval=interval, comment=name)
    start = after + laws.result
    write = Strand(unit="root_write", start=start, body=(put,), counts=counts, interval=interval, comment=name)
    extras = Extras(produces=(statement.target,))
    if found is not None:
        begin = max(issue.end, write.final + laws.memory_write)
        taken = _taken(site, statement, found, outs, run, begin, name)
        return task_of(site, name, (*first, issue, write, *taken), extras, statement=statement.id)
    copy = _copy(address(place, (*run, Affine.make(total, {})), outs))
    # The last partial words are written `interval` cycles apart and fetched one a cycle, so the last of them decides
    # when the fetches may begin.
    last = write.final
    begin = last + laws.memory_write - (between - 1)
    begin = max(begin, issue.end, last - (between - 1) * interval + laws.memory_write)
    fetch = Strand(unit="root_issue", start=begin, body=(copy,), counts=tuple(x.count for x in outs), comment=name)
    output = Output(loops=outs, interval=1, show=max(begin + laws.result, write.end), register="result")
    fetch = fetch.at(output.show - laws.result)
    done = site.root_write(statement.target, statement.write, output, name)
    return task_of(site, name, (*first, issue, write, fetch, done), extras, statement=statement.id)


def _copy(at: Address) -> Operation:
    """Return the operation whose result is a word of the root's memory."""
    return Operation(fields={"a": "zero", "c": "memory", "base": "addend"}, addresses={"c": at})


def _taken(
    site: Site,
    statement: Statement,
    found: Scan,
    outs: tuple[Loop, ...],
    run: tuple[Affine, ...],
    begin: int,
    name: str,
) -> tuple[Strand, ...]:
    """Return the strands that copy the outputs of a scan of products from its partial words, from cycle `begin` on.

    There are up to three ranges of outputs: those that take no point yet, those that take one point more each, and
    those for which no point is left.
    """
    place, index = site.layout.place(statement.target, scratch(statement.id)), found.index
    more = Affine.make(found.offset - found.points.start + 1, {index.name: 1})
    least = min(max(index.low, -more.constant), index.high)
    most = min(max(least, len(found.points) + 1 - more.constant), index.high)
    strands: list[Strand] = []
    all_of_them = Affine(constant=len(found.points))
    parts = ((index.low, least, Affine()), (least, most, more), (most, index.high, all_of_them))
    for low, high, position in parts:
        if low == high:
            continue
        loops = (*outs, Loop(name=index.name, count=high - low, low=low))
        fetch = Strand(
            unit="root_issue",
            start=begin,
            body=(_copy(address(place, (*run, position), loops)),),
            counts=tuple(loop.count for loop in loops),
            comment=name,
        )
        output = Output(loops=loops, interval=1, show=begin + timing().result, register="result")
        strands += [fetch, site.root_write(statement.target, statement.write, output, name)]
        begin = fetch.end
    return tuple(strands)


def _initial_words(
    site: Site, statement: Statement, place: Place, run: tuple[Affine, ...], outs: tuple[Loop, ...], name: str
) -> tuple[Strand, ...]:
    """Return the strands that copy the initial words into word 0 of each run of partial words; none without them."""
    assert isinstance(statement.operation, Product)
    if statement.operation.initial is None:
        return ()
    assert isinstance(statement.operation.initial, Read)
    bank, at = RootContext(layout=site.layout, loops=outs).source(statement.operation.initial)
    fetch = Operation(fields={"a": "zero", "c": bank, "base": "addend"}, addresses={"c": at})
    to = address(place, (*run, Affine()), outs)
    put = Operation(fields={"source": "result", "to_memory": 1}, addresses={"address": to})
    counts = tuple(x.count for x in outs)
    return (
        Strand(unit="root_issue", start=0, body=(fetch,), counts=counts, comment=name),
        Strand(unit="root_write", start=timing().result, body=(put,), counts=counts, comment=name),
    )
