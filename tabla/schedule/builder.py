"""Tasks of a mapped graph: one for each statement (fused with the function that follows it), each move, and the results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabla.ir.format import Format
from tabla.ir.graph import Affine, Compare, Divide, Function, Graph, Linear, Product, Read, Statement
from tabla.mapping.fit import Fit, common_reduction
from tabla.mapping.places import EVERY, ROOT, Spot
from tabla.mapping.search import Mapping, static_tensors
from tabla.schedule.bodies import LaneContext, RootContext, lane_body, root_sum
from tabla.schedule.layout import SCRATCH, Layout
from tabla.schedule.loops import Lanes, Loop, address, plain, trimmed
from tabla.schedule.regions import Regions, read_ports, write_ports
from tabla.schedule.strands import Address, Operation, Strand
from tabla.schedule.tasks import Access, Port, Scalar, Task
from tabla.templates.template import Template, Timing, functions, timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a root strand yields: the loops and the interval at which words show, first in `show`, and in which register."""

    loops: tuple[Loop, ...]
    interval: int
    show: int
    register: str


class Builder:
    """Builds the tasks of one mapping on an allocated layout."""

    def __init__(self, graph: Graph, mapping: Mapping, layout: Layout, template: Template, format: Format) -> None:
        self.graph, self.mapping, self.layout = graph, mapping, layout
        self.template, self.format = template, format
        self.timing: Timing = timing()
        self.static = static_tensors(graph)
        self.streamed = {t.name for t in graph.tensors.values() if t.role in ("input", "label")}
        self.bus_scalars = {f.bus for f in mapping.fits if f.bus and graph.tensors[f.bus].size == 1}
        self.readers: dict[str, int] = {}
        for statement in graph.statements:
            for tensor in {r.tensor for r in statement.reads}:
                self.readers[tensor] = self.readers.get(tensor, 0) + 1
        for _, tensor in graph.results:
            self.readers[tensor] = self.readers.get(tensor, 0) + 1
        shifts = {0, *(s.operation.shift for s in graph.statements if isinstance(s.operation, Linear))}
        self.shifts = (0, *sorted(shifts - {0}))
        self.moved: set[tuple[str, Spot]] = set()

    # The tree register count, and the distances of decision 3.
    @property
    def _up(self) -> int:
        return 1 + self.template.tree_levels * self.timing.tree_level

    @property
    def _down(self) -> int:
        return self.timing.result + self.timing.broadcast - self.timing.operand

    def tasks(self) -> list[Task]:
        """All tasks, in a valid order."""
        self.regions = Regions(self.layout)
        out: list[Task] = []
        fused = self._fusions()
        for statement, fit in zip(self.graph.statements, self.mapping.fits, strict=True):
            if statement.id in fused.values():
                continue
            after = self.graph.statements[fused[statement.id]] if statement.id in fused else None
            out.append(self._statement(statement, fit, after))
        out += self._twins()
        out += self._moves()
        out += self._results()
        return out

    # ---- fusing a function into the sum that feeds it

    def _fusions(self) -> dict[int, int]:
        """Statement -> the function statement that its root operation feeds directly."""
        found: dict[int, int] = {}
        by_target: dict[str, list[Statement]] = {}
        for statement in self.graph.statements:
            by_target.setdefault(statement.target, []).append(statement)
        for after in self.graph.statements:
            if not isinstance(after.operation, Function) or not isinstance(after.operation.operand, Read):
                continue
            read = after.operation.operand
            writers = by_target.get(read.tensor, [])
            if len(writers) != 1 or writers[0].id in found:
                continue
            before = writers[0]
            alone = self.readers[read.tensor] == 1 and (read.tensor, ROOT) not in self.mapping.copies
            if (
                isinstance(before.operation, Linear)
                and (self.mapping.fits[before.id].way == "tree" or common_reduction(before))
                and self.mapping.fits[before.id].way in ("tree", "root")
                and (alone or self.graph.tensors[read.tensor].size == 1)
                and self._renaming(before, after) is not None
            ):
                found[before.id] = after.id
        return found

    def _renaming(self, before: Statement, after: Statement) -> dict[str, Affine] | None:
        """For each index of `after`, the affine of `before` that it equals, if both run over the same elements."""
        assert isinstance(after.operation, Function) and isinstance(after.operation.operand, Read)
        if len(before.indices) != len(after.indices):
            return None
        names: dict[str, Affine] = {}
        for mine, theirs in zip(after.operation.operand.subscripts, before.write, strict=True):
            if not mine.names and not theirs.names and mine == theirs:
                continue
            if len(mine.names) != 1 or len(theirs.names) != 1:
                return None
            (name,), (other,) = mine.names, theirs.names
            if mine.coefficient(name) != 1 or theirs.coefficient(other) != 1:
                return None
            shift = theirs.constant - mine.constant
            a, b = after.box[name], before.box[other]
            if (a.low, a.high) != (b.low + shift, b.high + shift):
                return None
            names[name] = Affine.make(shift, {other: 1})
        return names if len(names) == len(after.indices) else None

    # ---- statements

    def _statement(self, statement: Statement, fit: Fit, after: Statement | None) -> Task:
        match fit.way:
            case "lane":
                return self._lane(statement, fit)
            case "tree":
                return self._tree(statement, fit, after)
            case "root":
                return self._root(statement, after)

    def _loops(self, statement: Statement, lanes: Lanes | None, bus: str) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
        """(output loops, reduction loops). Output loops on which the bus word depends go first, rows last."""
        riding = {n for r in statement.reads if r.tensor == bus for s in r.subscripts for n in s.names}
        over_lanes = lanes.index.name if lanes else ""
        order = sorted(statement.indices, key=lambda i: (i.name == over_lanes, i.name not in riding))
        outs = tuple(lanes.loop if lanes and i.name == over_lanes else plain(i) for i in order)
        order = sorted(statement.reduced, key=lambda i: i.name == over_lanes)
        reduced = tuple(lanes.loop if lanes and i.name == over_lanes else plain(i) for i in order)
        return outs, reduced

    def _feed(self, statement: Statement, fit: Fit, loops: Sequence[Loop], body: int, interval: int) -> tuple[Strand, ...]:
        """The root strands that put the words of `fit.bus` on the bus just in time for a lane strand at cycle 0."""
        if not fit.bus:
            return ()
        read = next(r for r in statement.reads if r.tensor == fit.bus)
        context = RootContext(layout=self.layout, loops=tuple(loops))
        bank, at = context.port(read)
        kept, folded = trimmed(at, loops)
        at = replace(at, strides=at.strides[:kept])
        counts = tuple(loop.count for loop in loops[:kept])
        every = folded * body * interval
        move = Operation(fields={"a": "zero", "c": bank, "base": "addend"}, addresses={"c": at})
        name = f"broadcast {fit.bus}"
        start = -self._down
        return (
            Strand(unit="root_issue", start=start, body=(move,), counts=counts, interval=every, comment=name),
            Strand(
                unit="root_write", start=start + self.timing.result, counts=counts, interval=every, comment=name,
                body=(Operation(fields={"source": "result", "to_bus": 1}),),
            ),
        )  # fmt: skip

    def _lane(self, statement: Statement, fit: Fit) -> Task:
        lanes = Lanes(index=statement.box[fit.index], offset=fit.offset, pes=self.template.pes)
        outs, reduced = self._loops(statement, lanes, fit.bus)
        loops = (*outs, *reduced)
        context = LaneContext(layout=self.layout, fit=fit, lanes=lanes, loops=loops)
        body = lane_body(statement, context, shift=self._shift(statement), levels=len(reduced))
        issue = Strand(
            unit="lane_issue", start=0, body=body, counts=tuple(x.count for x in loops), reduce=len(reduced),
            comment=self._comment(statement),
        )  # fmt: skip
        period = len(body) * math.prod(x.count for x in reduced)
        place = self.layout.place(statement.target, self.mapping.homes[self.layout.owner(statement.target)])
        fields = {"source": "result", **{f"to_{bank}": 1 for bank in place.banks}}
        write = Strand(
            unit="lane_write", start=period - 1 + self.timing.result, interval=period,
            counts=tuple(x.count for x in outs), comment=self._comment(statement),
            body=(
                Operation(
                    fields=fields,
                    addresses={"address": address(place, statement.write, outs, lanes), **lanes.bounds(outs)},
                ),
            ),
        )  # fmt: skip
        return self._fed_task(statement, (issue, write), self._feed(statement, fit, loops, len(body), 1), fit, issue)

    def _tree(self, statement: Statement, fit: Fit, after: Statement | None) -> Task:
        assert isinstance(statement.operation, Linear)
        lanes = Lanes(index=statement.box[fit.index], offset=fit.offset, pes=self.template.pes)
        outs, reduced = self._loops(statement, lanes, fit.bus)
        loops = (*outs, *reduced)
        context = LaneContext(layout=self.layout, fit=fit, lanes=lanes, loops=loops)
        shift = self._shift(statement)
        body = lane_body(statement, context, shift=shift, levels=len(reduced))
        down = [t for t in statement.operation.terms if not t.reduce]
        root = RootContext(layout=self.layout, loops=outs)
        above = root_sum(root, down, start="tree", shift=shift, levels=0)
        slots = len(body) * math.prod(x.count for x in reduced)
        several = math.prod(x.count for x in outs) > 1
        # The root needs its slots at a whole interval of the lanes' period.
        interval = len(above) // math.gcd(slots, len(above)) if several else 1
        issue = Strand(
            unit="lane_issue", start=0, body=body, counts=tuple(x.count for x in loops), interval=interval,
            reduce=len(reduced), comment=self._comment(statement),
        )  # fmt: skip
        period = slots * interval
        spacing = period // len(above) if several else 1
        start = (slots - 1) * interval + self._up
        strands, extra = self._finish(statement, after, above, outs, start, spacing, levels=0)
        feed = self._feed(statement, fit, loops, len(body), interval)
        return self._fed_task(statement, (issue, *strands), feed, fit, issue, after=after, **extra)

    def _root(self, statement: Statement, after: Statement | None) -> Task:
        outs, reduced = self._loops(statement, None, "")
        context = RootContext(layout=self.layout, loops=(*outs, *reduced))
        match statement.operation:
            case Linear(terms=terms) if common_reduction(statement):
                body = root_sum(context, terms, start="fresh", shift=self._shift(statement), levels=len(reduced))
            case Linear():
                return self._unrolled(statement)
            case Compare(op=op, left=Read() as left, right=Read() as right):
                fields = {"negate": 1, "base": "addend", "post": op, "emit": 1}
                body = (context.operation({"a": right, "c": left}, **fields),)
            case Function(name=name, operand=Read() as operand):
                body = (context.operation({"c": operand}, base="addend", function=functions()[name].code),)
            case Divide(left=Read() as left, right=Read() as right):
                code = functions()["divide"].code
                body = (context.operation({"c": left, "b": right}, base="addend", function=code),)
            case Product(operand=Read()):
                return self._product(statement)
            case _:
                raise AssertionError(f"statement {statement.id} has operands that are not tensors")
        strands, extra = self._finish(statement, after, body, outs, 0, 1, levels=len(reduced), reduced=reduced)
        return self._task(self._name(statement, after), strands, statement=statement, after=after, **extra)

    def _finish(
        self, statement: Statement, after: Statement | None, body: tuple[Operation, ...], outs: tuple[Loop, ...],
        start: int, spacing: int, *, levels: int, reduced: tuple[Loop, ...] = (),
    ) -> tuple[tuple[Strand, ...], dict[str, object]]:  # fmt: skip
        """The root issue strand, the write of its results, and what else leaves with them."""
        last = body[-1]
        function = ""
        if after is not None:
            assert isinstance(after.operation, Function)
            function = after.operation.name
            body = (*body[:-1], last.with_fields(function=functions()[function].code))
        elif isinstance(statement.operation, Function | Divide):
            function = statement.operation.name if isinstance(statement.operation, Function) else "divide"
        issue = Strand(
            unit="root_issue", start=start, body=body, counts=tuple(x.count for x in (*outs, *reduced)),
            interval=spacing, reduce=levels, comment=self._comment(statement, after),
        )  # fmt: skip
        period = len(body) * spacing * math.prod(x.count for x in reduced)
        show = start + (len(body) * math.prod(x.count for x in reduced) - 1) * spacing + self.timing.result
        strands, scalars = [issue], []
        target, write = statement.target, statement.write
        if after is not None:
            renaming = self._renaming(statement, after)
            assert renaming is not None
            if self.readers[statement.target] > 1 or self._copies(statement.target):
                strands.append(self._write(statement.target, write, Output(
                    loops=outs, interval=period, show=show, register="result")))  # fmt: skip
                scalars.append(Scalar(tensor=statement.target, register="result", show=show))
            target, write = after.target, tuple(_substitute(w, renaming) for w in after.write)
        register = "function" if function else "result"
        if function:
            unit = functions()[function]
            show += unit.cycles(self.format.width, self.format.fraction)
        output = Output(loops=outs, interval=period, show=show, register=register)
        strands.append(self._write(target, write, output))
        count = math.prod(x.count for x in outs)
        if self.graph.tensors[target].size == 1:
            scalars.append(Scalar(tensor=target, register=register, show=show))
        bus, holds, received = self._receive(target, write, output)
        if received or target in self.bus_scalars:
            strands[-1] = replace(strands[-1], body=(strands[-1].body[0].with_fields(to_bus=1),))
            holds = target if self.graph.tensors[target].size == 1 else ""
        strands += received
        span = (show, show + (count - 1) * period) if function else None
        return tuple(strands), {"scalars": tuple(scalars), "function": span, "holds": holds, "produces": (target,)}

    def _write(self, target: str, write: Sequence[Affine], output: Output) -> Strand:
        place = self.layout.place(target, ROOT)
        fields = {"source": output.register, "to_memory": 1, "model": int(self.layout.owner(target) != target)}
        at = address(place, write, output.loops)
        return Strand(
            unit="root_write", start=output.show, interval=output.interval, comment=f"{target} to root memory",
            counts=tuple(x.count for x in output.loops), body=(Operation(fields=fields, addresses={"address": at}),),
        )  # fmt: skip

    # ---- words on their way to lanes

    def _copies(self, tensor: str) -> list[Spot]:
        """Spots to which a computed tensor must be copied, home apart."""
        home = self.mapping.homes.get(tensor)
        if tensor in self.static or tensor in self.streamed:
            return []
        return [s for t, s in self.mapping.copies if t == tensor and s != home]

    def _receive(
        self, target: str, write: Sequence[Affine], output: Output
    ) -> tuple[tuple[int, int] | None, str, list[Strand]]:
        """Lane writes that take a one-dimensional result from the bus as the root produces it."""
        wanted = [s for s in self._copies(target) if s != ROOT]
        alone = sum(1 for _ in self.graph.writers(target)) == 1
        if not wanted or not alone or len(output.loops) > 1 or len(write) > 1 or self.layout.owner(target) != target:
            return None, "", []
        if write and (output.loops == () or write[0].coefficient(output.loops[0].name) != 1):
            return None, "", []
        spot = wanted[0]
        low = write[0].constant + output.loops[0].low if write else 0
        high = low + (output.loops[0].count if output.loops else 1)
        start = output.show + self.timing.broadcast
        self.moved.add((target, spot))
        strands = []
        for begin, loops in _pieces(low, high, self.template.pes, spot):
            strands.append(
                self._take(target, spot, begin, loops, (), start + (begin - low) * output.interval, output.interval)
            )
        return None, "", strands

    def _take(
        self, tensor: str, spot: Spot, begin: int, loops: tuple[Loop, ...], others: tuple[Loop, ...], start: int,
        interval: int,
    ) -> Strand:  # fmt: skip
        """A lane_write strand that takes elements from the bus. `loops`: rows?, lanes (spread) or elements (every)."""
        place = self.layout.place(tensor, spot)
        if spot == EVERY:
            nest = (*others, *loops)
            at = address(place, [Affine.make(0, {x.name: 1}) for x in nest], nest) if nest else Address(base=place.base)
            bounds = {"low": Address(base=0, strides=(0,) * len(nest)),
                      "high": Address(base=self.template.pes, strides=(0,) * len(nest))}  # fmt: skip
        else:
            nest, at, bounds = _spread_nest(place.base, place.strides, spot.axis, begin, loops, others, place.pes)
        return Strand(
            unit="lane_write", start=start, interval=interval, counts=tuple(x.count for x in nest),
            comment=f"{tensor} to {spot}",
            body=(
                Operation(
                    fields={"source": "bus", **{f"to_{bank}": 1 for bank in place.banks}},
                    addresses={"address": at, **bounds},
                ),
            ),
        )  # fmt: skip

    def _moves(self) -> list[Task]:
        """Copies that no producer made on its way."""
        out: list[Task] = []
        for tensor, spot in self.mapping.copies:
            if tensor in self.static or tensor in self.streamed or (tensor, spot) in self.moved:
                continue
            home = self.mapping.homes[self.layout.owner(tensor)]
            if spot == home:
                continue
            out.append(self._up_move(tensor, home) if spot == ROOT else self._down_move(tensor, spot))
        return out

    def _others(self, tensor: str, axis: int) -> tuple[Loop, ...]:
        shape = self.graph.tensors[tensor].shape
        return tuple(Loop(name=f"axis{d}", count=n) for d, n in enumerate(shape) if d != axis)

    def _down_move(self, tensor: str, spot: Spot) -> Task:
        """Root to lanes: each word over the bus."""
        shape = self.graph.tensors[tensor].shape
        strands: list[Strand] = []
        start = 0
        source = self.layout.place(tensor, ROOT)
        if spot == EVERY:
            runs: list[tuple[int, tuple[Loop, ...], tuple[Loop, ...]]] = [(0, (), self._others(tensor, -1))]
        else:
            extent = shape[spot.axis]
            runs = [(b, x, self._others(tensor, spot.axis)) for b, x in _pieces(0, extent, self.template.pes, spot)]
        for begin, loops, others in runs:
            take = self._take(tensor, spot, begin, loops, others, start + self._down + self.timing.operand, 1)
            at = _element_address(source.base, source.strides, spot.axis, begin, loops, others, self.template.pes)
            counts = take.counts
            move = Operation(fields={"a": "zero", "c": source.banks[0], "base": "addend"}, addresses={"c": at})
            name = f"{tensor} to the bus"
            strands.append(Strand(unit="root_issue", start=start, body=(move,), counts=counts, comment=name))
            put = Operation(fields={"source": "result", "to_bus": 1})
            strands.append(
                Strand(unit="root_write", start=start + self.timing.result, body=(put,), counts=counts, comment=name)
            )
            strands.append(take)
            start += take.iterations
        return self._task(f"move {tensor} to {spot}", tuple(strands), produces=(tensor,))

    def _up_move(self, tensor: str, home: Spot) -> Task:
        """Lanes to root: one lane a cycle passes its word up the tree."""
        place, target = self.layout.place(tensor, home), self.layout.place(tensor, ROOT)
        shape = self.graph.tensors[tensor].shape
        strands: list[Strand] = []
        start = 0
        for begin, loops in _pieces(0, shape[home.axis], self.template.pes, home):
            others = self._others(tensor, home.axis)
            nest, at, bounds = _spread_nest(place.base, place.strides, home.axis, begin, loops, others, place.pes)
            counts = tuple(x.count for x in nest)
            bank = place.banks[0]
            send = Operation(fields={"a": bank}, addresses={bank: at, **bounds})
            name = f"{tensor} up the tree"
            strands.append(Strand(unit="lane_issue", start=start, body=(send,), counts=counts, comment=name))
            take = Operation(fields={"a": "zero", "base": "tree"})
            up = start + self._up
            strands.append(Strand(unit="root_issue", start=up, body=(take,), counts=counts, comment=name))
            to = _element_address(target.base, target.strides, home.axis, begin, loops, others, place.pes)
            write = Operation(fields={"source": "result", "to_memory": 1}, addresses={"address": to})
            strands.append(
                Strand(unit="root_write", start=up + self.timing.result, body=(write,), counts=counts, comment=name)
            )
            start += strands[-1].iterations
        return self._task(f"move {tensor} to root", tuple(strands), produces=(tensor,))

    def _twins(self) -> list[Task]:
        """Copies within the lanes of streamed tensors that clash in `data`."""
        out = []
        for (tensor, spot), twin in sorted(self.layout.twins.items()):
            source = self.layout.place(tensor, spot)
            loops = (Loop(name="word", count=source.words),)
            bounds = {"low": Address(base=0, strides=(0,)), "high": Address(base=self.template.pes, strides=(0,))}
            read = {"data": Address(base=source.base, strides=(1,), window=True), **bounds}
            name = f"{tensor} to interim"
            op = Operation(fields={"a": "data", "half": "all"}, addresses=read)
            put = Operation(
                fields={"source": "result", "to_interim": 1},
                addresses={"address": Address(base=twin.base, strides=(1,)), **bounds},
            )
            counts = (loops[0].count,)
            strands = (
                Strand(unit="lane_issue", start=0, body=(op,), counts=counts, comment=name),
                Strand(unit="lane_write", start=self.timing.result, body=(put,), counts=counts, comment=name),
            )
            out.append(self._task(f"copy {name}", strands))
        return out

    def _results(self) -> list[Task]:
        """Results leave from root memory, row-major, in the order of `graph.results`."""
        out = []
        for shown, tensor in self.graph.results:
            place = self.layout.place(tensor, ROOT)
            counts = (place.words,) if place.words > 1 else ()
            at = Address(base=place.base, strides=(1,) * len(counts), window=place.banks[0] == "data")
            move = Operation(fields={"a": "zero", "c": place.banks[0], "base": "addend"}, addresses={"c": at})
            put = Operation(fields={"source": "result", "to_output": 1})
            strands = (
                Strand(unit="root_issue", start=0, body=(move,), counts=counts, comment=f"result {shown}"),
                Strand(
                    unit="root_write", start=self.timing.result, body=(put,), counts=counts, comment=f"result {shown}"
                ),
            )
            out.append(self._task(f"result {shown}", strands))
        return out

    # ---- what one strand cannot hold

    def _unrolled(self, statement: Statement) -> Task:
        """A sum of sums over different indices: for each output element, a strand for each sum, back to back."""
        assert isinstance(statement.operation, Linear)
        groups: dict[tuple[str, ...], list[int]] = {}
        for n, term in enumerate(statement.operation.terms):
            groups.setdefault(tuple(sorted(term.reduce)), []).append(n)
        strands: list[Strand] = []
        start = 0
        ordered = sorted(groups.items(), key=lambda g: (len(g[0]), g[1]))
        for point in _points([plain(i) for i in statement.indices]):
            for position, (names, members) in enumerate(ordered):
                reduced = tuple(plain(i) for i in statement.reduced if i.name in names)
                fixed = tuple(
                    Loop(name=i.name, count=1, low=point[i.name]) for i in statement.indices
                )
                terms = [replace(statement.operation.terms[n], reduce=()) for n in members]
                if reduced:
                    # Every point adds: no term of this group is an addend of the start value.
                    terms = [replace(t, reduce=names) for t in terms]
                context = RootContext(layout=self.layout, loops=(*fixed, *reduced))
                body = root_sum(
                    context, terms, start="fresh" if position == 0 else "accumulator",
                    shift=self._shift(statement), levels=len(reduced), emit=position == len(ordered) - 1,
                )  # fmt: skip
                strand = Strand(
                    unit="root_issue", start=start, body=body, reduce=len(reduced),
                    counts=tuple(x.count for x in (*fixed, *reduced)), comment=self._comment(statement),
                )  # fmt: skip
                strands.append(strand)
                start = strand.end
            output = Output(loops=fixed, interval=1, show=start - 1 + self.timing.result, register="result")
            strands.append(self._write(statement.target, statement.write, output))
        return self._task(self._name(statement, None), tuple(strands), statement=statement)

    def _product(self, statement: Statement) -> Task:
        """A running product: step t reads what step t-1 wrote; enough outputs between hide the latency."""
        assert isinstance(statement.operation, Product) and isinstance(statement.operation.operand, Read)
        steps = tuple(plain(i) for i in statement.reduced)
        outs = tuple(plain(i) for i in statement.indices)
        loops = (*steps, *outs)
        place = self.layout.place(statement.target, SCRATCH)
        linear = Affine.make(0, {})
        total = 1
        for index in reversed(statement.reduced):
            step = Affine.make(-index.low * total, {index.name: total})
            linear = Affine.make(
                linear.constant + step.constant, {**dict(linear.coefficients), **dict(step.coefficients)}
            )
            total *= index.extent
        run = tuple(Affine.make(-i.low, {i.name: 1}) for i in statement.indices)
        before = address(place, (*run, linear), loops)
        context = RootContext(layout=self.layout, loops=loops)
        bank, at = context.port(statement.operation.operand)
        wait = self.timing.result + self.timing.memory_write
        between = math.prod(x.count for x in outs)
        interval = -(-wait // between)
        body = Operation(
            fields={"a": "memory", "b": bank, "half": "all", "emit": 1}, addresses={"a": before, "b": at}
        )
        counts = tuple(x.count for x in loops)
        name = self._comment(statement)
        issue = Strand(unit="root_issue", start=0, body=(body,), counts=counts, interval=interval, comment=name)
        put = Operation(
            fields={"source": "result", "to_memory": 1}, addresses={"address": replace(before, base=before.base + 1)}
        )
        write = Strand(
            unit="root_write", start=self.timing.result, body=(put,), counts=counts, interval=interval, comment=name
        )
        # The last step of each output, from the scratch words to the tensor's own place.
        final = Affine.make(total, {})
        copy = Operation(
            fields={"a": "zero", "c": "memory", "base": "addend"},
            addresses={"c": address(place, (*run, final), outs)},
        )
        # One cycle past the write of the last word, so that no address is read while it is written.
        begin = max(issue.end, write.end - between + 1)
        begin = max(begin, write.start + (math.prod(counts) - between) * interval + (between - 1) * (interval - 1) + 1)
        out_counts = tuple(x.count for x in outs)
        fetch = Strand(unit="root_issue", start=begin, body=(copy,), counts=out_counts, comment=name)
        done = self._write(
            statement.target, statement.write,
            Output(loops=outs, interval=1, show=begin + self.timing.result, register="result"),
        )  # fmt: skip
        return self._task(self._name(statement, None), (issue, write, fetch, done), statement=statement)

    # ---- putting a task together

    def _shift(self, statement: Statement) -> int:
        assert isinstance(statement.operation, Linear | Compare)
        return self.shifts.index(statement.operation.shift) if isinstance(statement.operation, Linear) else 0

    @staticmethod
    def _name(statement: Statement, after: Statement | None) -> str:
        return f"s{statement.id} {statement.target}" + (f" + s{after.id} {after.target}" if after else "")

    def _comment(self, statement: Statement, after: Statement | None = None) -> str:
        return self._name(statement, after)

    def _fed_task(
        self, statement: Statement, strands: tuple[Strand, ...], feed: tuple[Strand, ...], fit: Fit, issue: Strand,
        after: Statement | None = None, **extra: object,
    ) -> Task:  # fmt: skip
        """A task whose lanes take a word from the bus: with its own feed, and, for a scalar, also without."""
        name = self._name(statement, after)
        operand = self.timing.operand
        if not feed:
            return self._task(name, strands, statement=statement, after=after, **extra)
        uses = (operand, issue.end - 1 + operand)
        scalar = self.graph.tensors[fit.bus].size == 1
        alone = self._task(name, strands, statement=statement, after=after, **extra)
        both = (*feed, *strands)
        fed = self._task(
            name, both, statement=statement, after=after, raw_bus=uses, holds=fit.bus if scalar else "", **extra
        )
        if not scalar:
            return fed
        return replace(alone, wants=fit.bus, wants_cycles=uses, fed=fed)

    def _task(
        self, name: str, strands: tuple[Strand, ...], *, statement: Statement | None = None,
        after: Statement | None = None, raw_bus: tuple[int, int] | None = None, **extra: object,
    ) -> Task:  # fmt: skip
        """Shift to start at 0, and list every access."""
        zero = min(s.start for s in strands)
        moved = tuple(s.at(s.start - zero) for s in strands)
        reads: list[Access] = []
        writes: list[Access] = []
        ports: list[Port] = []
        arrivals: list[int] = []
        uses: list[int] = []
        for n, strand in enumerate(moved):
            for slot, operation in enumerate(strand.body):
                for generator, memory in read_ports(strand.unit, operation):
                    access = self.regions.access(memory, strand, slot, operation.addresses[generator])
                    reads.append(access)
                    tensor = access.key[0][0]
                    if strand.unit == "root_issue" and strand.iterations == 1 and self.graph.tensors[tensor].size == 1:
                        cycle = strand.start + slot * strand.interval + self.timing.operand
                        ports.append(
                            Port(tensor=tensor, strand=n, slot=slot, port=generator, cycle=cycle, access=len(reads) - 1)
                        )
                done = set()
                for generator, memory in write_ports(strand.unit, operation):
                    access = self.regions.access(memory, strand, slot, operation.addresses[generator])
                    if access.key not in done:
                        writes.append(access)
                        done.add(access.key)
                if strand.unit == "root_write" and operation.field("to_bus"):
                    arrivals.append(strand.start + self.timing.broadcast)
                    uses.append(strand.end - strand.interval + self.timing.broadcast)
                if strand.unit == "lane_write" and operation.field("source") == "bus":
                    uses.append(strand.end - strand.interval)
        if raw_bus is not None:
            uses.append(raw_bus[1] - zero)
        changes: dict[str, object] = dict(extra)
        changes["scalars"] = tuple(replace(s, show=s.show - zero) for s in extra.get("scalars", ()))  # type: ignore[attr-defined]
        if (span := extra.get("function")) is not None:
            changes["function"] = (span[0] - zero, span[1] - zero)  # type: ignore[index]
        changes.setdefault("produces", (statement.target,) if statement else ())
        return Task(
            name=name, strands=moved, reads=tuple(reads), writes=tuple(writes), ports=tuple(ports),
            bus=(min(arrivals), max(uses)) if arrivals else None,
            statement=statement.id if statement else -1, **changes,  # type: ignore[arg-type]
        )  # fmt: skip


def _substitute(subscript: Affine, renaming: dict[str, Affine]) -> Affine:
    constant, coefficients = subscript.constant, dict[str, int]()
    for name, c in subscript.coefficients:
        other = renaming[name]
        constant += c * other.constant
        for inner, k in other.coefficients:
            coefficients[inner] = coefficients.get(inner, 0) + c * k
    return Affine.make(constant, coefficients)


def _points(loops: Sequence[Loop]) -> list[dict[str, int]]:
    points: list[dict[str, int]] = [{}]
    for loop in loops:
        points = [{**p, loop.name: loop.low + n} for p in points for n in range(loop.count)]
    return points


def _pieces(low: int, high: int, pes: int, spot: Spot) -> list[tuple[int, tuple[Loop, ...]]]:
    """Elements [low, high) in order as loop nests: (first element, loops named `row` and `lane`, or `element`)."""
    if spot == EVERY:
        return [(low, (Loop(name="axis0", count=high - low, low=low),) if high - low > 1 or low else ())]
    out: list[tuple[int, tuple[Loop, ...]]] = []
    at = low
    while at < high:
        lane = at % pes
        rows = (high - at) // pes
        if lane == 0 and rows >= 1:
            loops = (Loop(name="row", count=rows), Loop(name="lane", count=pes)) if rows > 1 else (
                Loop(name="lane", count=pes),
            )  # fmt: skip
            out.append((at, loops))
            at += rows * pes
        else:
            count = min(pes - lane, high - at)
            out.append((at, (Loop(name="lane", count=count),)))
            at += count
    return out


def _spread_nest(
    base: int, strides: Sequence[int], axis: int, begin: int, loops: tuple[Loop, ...], others: tuple[Loop, ...], pes: int
) -> tuple[tuple[Loop, ...], Address, dict[str, Address]]:
    """Loops (rows, other axes, lanes), the lane memory's address and the one active lane."""
    rows, lane = loops[:-1], loops[-1]
    nest = (*rows, *others, lane)
    steps = [strides[axis]] * len(rows) + [strides[int(x.name[4:])] for x in others] + [0]
    first = begin % pes
    one = tuple([0] * (len(nest) - 1) + [1])
    at = Address(base=base + (begin // pes) * strides[axis], strides=tuple(steps))
    return nest, at, {"low": Address(base=first, strides=one), "high": Address(base=first + 1, strides=one)}


def _element_address(
    base: int, strides: Sequence[int], axis: int, begin: int, loops: tuple[Loop, ...], others: tuple[Loop, ...], pes: int
) -> Address:
    """The root's address of the same elements under the same nest."""
    if not loops:
        return Address(base=base, strides=tuple(strides[int(x.name[4:])] for x in others))
    rows = loops[:-1]
    steps = [strides[axis] * pes] * len(rows) + [strides[int(x.name[4:])] for x in others] + [strides[axis]]
    return Address(base=base + begin * strides[axis], strides=tuple(steps))
