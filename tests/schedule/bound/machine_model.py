"""The machine as a solver sees it: the fewest cycles of a sample for tiny programs on tiny arrays.

The model is written from the machine's description (decision 3) and from nothing of `tabla.schedule.bound`. It has an
array of some lanes in lockstep under one sequencer, with one root. It leaves out everything that only slows the machine
down: ports and sizes of memories, the write-back units, the generators' strides, the number of loops. So its best
initiation interval is at most that of any real schedule. What it keeps:

- **Ways.** Every statement is computed in one way: at the root; in lanes over one of its output indices, element i in
  lane ``i mod lanes``; over lanes along a summed index, with the tree adding the lanes; or whole in every lane.
- **Units.** The lanes issue one operation a cycle, and the root issues one. The operations of one sample lie within a
  initiation interval on each of the two (decision 3, 3.11), in any order.
- **Sums.** An operation multiplies two words and adds the product to the accumulator. While a unit sums, it does no
  other operation. Words that are only added come for nothing with any operation of the sum.
- **Latencies.** They are those of `Timing`: operand multiplexers, result register, memories, bus and tree.
- **Moves.** A word of a lane reaches the root, or other lanes by way of the root, through the tree: a slot of the lanes
  and one of the root. A word may go up in the slot in which it is made if it is alone in that slot. The bus takes a
  word of the root to all lanes for nothing.
- **Functions** are evaluated at the root. A function takes no slot if the root makes its operand.
- **Models** reach the next sample through memories only. A lane that has overwritten a word can read it no more, unless
  an operation copied it.
- **Borders.** A beat brings as many words as there are lanes; one word of the results leaves in a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from ortools.sat.python import cp_model

from tabla.graph.format import Format
from tabla.graph.graph import Function, Graph, Index, Linear, Read, Statement, Term
from tabla.templates.template import Template, functions, timing

Way = tuple[Literal["root", "lane", "tree"], str]
Element = tuple[str, tuple[int, ...]]
Point = dict[str, int]
ANY = -1
"""The lane of a word that every lane has."""


class NotModelled(Exception):
    """The program has something that the model does not know."""


@dataclass(frozen=True, kw_only=True)
class Best:
    """What the solver found: the model's best initiation interval lies from `least` to `most`, and is `most`
    if they are equal.
    """

    least: int
    most: int


@dataclass(kw_only=True)
class _Made:
    """One way in which an element can be made: in a lane or at the root, if `chosen`.

    `time` is the issue of its last operation, and `extra` what a function takes after that. `alone` is set where the
    element has a slot of its own in the lanes.
    """

    chosen: cp_model.IntVar
    at_root: bool
    lane: int = ANY
    time: cp_model.IntVar
    extra: int = 0
    alone: cp_model.IntVar | None = None
    copied: cp_model.IntVar | None = None
    ups: dict[bool, _Up] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Up:
    """A word on its way from a lane to the root, if `taken`: sent in slot `sent`, taken by the root in slot `root`.

    `early`: of a model, the word goes up in the sample that makes it.
    """

    taken: cp_model.IntVar
    sent: cp_model.IntVar
    root: cp_model.IntVar
    early: cp_model.IntVar


def best_period(graph: Graph, template: Template, format: Format, *, most: int, below: int, work: float) -> Best:
    """Return the fewest cycles of a sample in the model, given that `most` are enough, as far as the solver comes.

    The solver first asks whether fewer than `below` cycles can be, which is easier to rule out than to find the fewest.
    `work` limits each of its two runs in the solver's deterministic seconds. Raises `NotModelled` for what the model
    does not know, and `AssertionError` if `most` are not enough.
    """
    fewer = _Machine(graph, template, format, below - 1).solved(work) if below > 1 else None
    if fewer is not None:
        return fewer
    found = _Machine(graph, template, format, most).solved(work, least=below)
    assert found is not None, "the machine is faster than its model"
    return found


class _Machine:
    def __init__(self, graph: Graph, template: Template, format: Format, most: int) -> None:
        if template.roots > 1 or template.sequencers > 1:
            raise NotModelled("several roots or sequencers")
        self.graph, self.format, self.lanes, self.most = graph, format, template.pes, most
        self.levels, self.laws = template.tree_levels, timing()
        # From one issue to the issue that takes its result: forwarded, through a memory, over the bus, and over the bus
        # into a memory.
        self.forwarded = self.laws.result - self.laws.operand
        self.stored = self.laws.result + self.laws.memory_write
        self.late = self.laws.late_operand - self.laws.operand
        self.bus = self.forwarded + self.laws.broadcast
        self.bus_stored = self.stored + self.laws.broadcast
        self.up = 1 + self.levels
        self.m = cp_model.CpModel()
        self.horizon = 2 * most + 60
        self.blocks: dict[int, list[_Block]] = {}
        self.own: dict[Element, tuple[cp_model.IntVar, cp_model.IntVar]] = {}
        self.initiation_interval = self.m.new_int_var(1, most, "period")
        self.begins = {unit: self.m.new_int_var(-self.horizon, self.horizon, unit) for unit in ("lanes", "root")}
        self.m.add(self.begins["lanes"] == 0)
        self.busy: dict[str, list[cp_model.IntervalVar]] = {"lanes": [], "root": []}
        self.always = self.m.new_constant(1)
        self.made: dict[Element, list[_Made]] = {}
        self.models = {following: model for model, following in graph.updates.items()}
        for statement in graph.statements:
            self._statement(statement)
        for statement in graph.statements:
            self._needs_of(statement)
        self._borders()

    # ---- variables

    def _flag(self) -> cp_model.IntVar:
        return self.m.new_bool_var("")

    def _slot(self, unit: str, there: cp_model.IntVar) -> cp_model.IntVar:
        """A cycle in which a unit issues one operation of a sample, if it is there."""
        at = self.m.new_int_var(-self.horizon, self.horizon, "")
        self.busy[unit].append(self.m.new_optional_fixed_size_interval_var(at, 1, there, ""))
        self._within(unit, at, there)
        return at

    def _within(self, unit: str, at: cp_model.IntVar, there: cp_model.IntVar) -> None:
        self.m.add(at >= self.begins[unit]).only_enforce_if(there)
        self.m.add(at <= self.begins[unit] + self.initiation_interval - 1).only_enforce_if(there)

    def _sum(self, unit: str, operations: int, there: cp_model.IntVar) -> list[cp_model.IntVar]:
        """The cycles of the operations of a sum, during which the unit does nothing else; its end is the last entry."""
        if operations == 1:
            return [self._slot(unit, there)]
        first, last = (self.m.new_int_var(-self.horizon, self.horizon, "") for _ in range(2))
        size, end = self.m.new_int_var(operations, self.horizon, ""), self.m.new_int_var(-9999, 9999, "")
        self.busy[unit].append(self.m.new_optional_interval_var(first, size, end, there, ""))
        self.m.add(end == last + 1)
        self._within(unit, first, there)
        self._within(unit, last, there)
        cycles = [self.m.new_int_var(-self.horizon, self.horizon, "") for _ in range(operations)]
        for at in cycles:
            self.m.add(at >= first).only_enforce_if(there)
            self.m.add(at <= last).only_enforce_if(there)
        self.m.add_all_different(cycles)
        return [*cycles, last]

    # ---- what is made, and when

    def _statement(self, statement: Statement) -> None:
        if statement.constraints:
            raise NotModelled("constraints")
        match statement.operation:
            case Function():
                self._function(statement)
                return
            case Linear():
                pass
            case _:
                raise NotModelled(type(statement.operation).__name__)
        ways = list(self._ways(statement))
        chosen = {way: self._flag() for way in ways}
        self.m.add_exactly_one(chosen.values())
        self.blocks[statement.id] = []
        for way, literal in chosen.items():
            self._in_way(statement, way, literal)

    def _ways(self, statement: Statement) -> Iterator[Way]:
        yield ("root", "")
        yield ("lane", "")
        for index in statement.indices:
            yield ("lane", index.name)
        for index in statement.reduced:
            yield ("tree", index.name)

    def _in_way(self, statement: Statement, way: Way, literal: cp_model.IntVar) -> None:
        """The sums of a statement in one way: a block for each output, or for each row of outputs in lanes."""
        kind, over = way
        rows: dict[tuple[int, ...], list[Point]] = {}
        for point in _points(statement.indices):
            at = tuple(value // self.lanes if name == over else value for name, value in point.items())
            rows.setdefault(at, []).append(point)
        for outputs in rows.values():
            match kind:
                case "root":
                    self._block(statement, way, outputs, literal, "root")
                case "tree":
                    self._block(statement, way, outputs, literal, "tree")
                case "lane" if not over:
                    self._block(statement, way, outputs, literal, "lanes")
                case "lane":
                    self._row(statement, way, outputs, literal)

    def _row(self, statement: Statement, way: Way, outputs: list[Point], literal: cp_model.IntVar) -> None:
        """A row of outputs in lanes: together, or some each in a slot of its own, to be sent up as it is made."""
        if len(outputs) == 1:
            self._block(statement, way, outputs, literal, "lanes", alone=literal)
            return
        together, flags = self._flag(), []
        for point in outputs:
            alone, with_others = self._flag(), self._flag()
            self.m.add_bool_or([alone, with_others, literal.Not()])
            self.m.add_at_most_one([alone, with_others])
            self.m.add_implication(alone, literal)
            self.m.add_implication(with_others, together)
            self._block(statement, way, [point], alone, "lanes", alone=alone)
            flags.append(with_others)
        self.m.add_implication(together, literal)
        self._block(statement, way, outputs, together, "lanes", flags=flags)

    def _block(
        self,
        statement: Statement,
        way: Way,
        outputs: list[Point],
        there: cp_model.IntVar,
        unit: str,
        alone: cp_model.IntVar | None = None,
        flags: list[cp_model.IntVar] | None = None,
    ) -> None:
        lane_terms, root_terms = _split(statement, way)
        counted = _counted(statement)
        if unit == "tree":
            rows = self._operations(statement, [t for t in lane_terms if t in counted], way[1])
            others = self._operations(statement, [t for t in root_terms if t in counted], "")
            in_lanes = self._sum("lanes", max(1, len(rows)), there)
            at_root = self._sum("root", max(1, len(others)), there)
            taken = self.m.new_int_var(-self.horizon, self.horizon, "")
            self.m.add(taken == in_lanes[-1] + self.up)
            # The tree's word is the start value of one of the root's operations: the sum ends no sooner.
            self.m.add(at_root[-1] >= taken).only_enforce_if(there)
            if len(others) <= 1:
                self.m.add(at_root[-1] == taken).only_enforce_if(there)
            block = _Block(
                there=there, outputs=outputs, lanes=in_lanes, root=at_root, rows=rows, others=others, way=way
            )
            last = at_root[-1]
        else:
            operations = self._operations(statement, counted, "")
            cycles = self._sum(unit, max(1, len(operations)), there)
            last = cycles[-1]
            block = (
                _Block(there=there, outputs=outputs, root=cycles, others=operations, way=way)
                if unit == "root"
                else _Block(there=there, outputs=outputs, lanes=cycles, rows=operations, way=way)
            )
        self.blocks[statement.id].append(block)
        for number, point in enumerate(outputs):
            at_root = unit != "lanes"
            lane = ANY if at_root or not way[1] else point[way[1]] % self.lanes
            made = _Made(chosen=flags[number] if flags else there, at_root=at_root, lane=lane, time=last, alone=alone)
            block.made.append(made)
            self.made.setdefault(_element(statement, point), []).append(made)

    def _operations(
        self, statement: Statement, terms: list[Term], over: str
    ) -> list[tuple[Term, tuple[tuple[str, int], ...]]]:
        """The operations of one output: each term at each of its summed points; over lanes a row of points is one."""
        found = []
        for term in terms:
            box = [statement.box[name] for name in term.reduce]
            seen = set()
            for point in _points(box):
                row = tuple((n, v // self.lanes if n == over else v) for n, v in point.items())
                if row not in seen:
                    seen.add(row)
                    found.append((term, row))
        return found

    def _function(self, statement: Statement) -> None:
        """A function follows the root's operation that makes its operand, or has an operation of its own."""
        operation = statement.operation
        assert isinstance(operation, Function)
        latency = functions()[operation.name].cycles(self.format.width, self.format.fraction)
        for point in _points(statement.indices):
            operand = operation.operand
            element, riding = _element(statement, point), []
            if isinstance(operand, Read):
                for made in self.made.get(_read(operand, point), []):
                    if made.at_root and not made.extra:
                        riding.append(made.chosen)
                        found = _Made(chosen=made.chosen, at_root=True, time=made.time, extra=latency)
                        self.made.setdefault(element, []).append(found)
            own = self._flag()
            self.m.add_exactly_one([own, *riding])
            at = self._slot("root", own)
            self.own[element] = (own, at)
            self.made.setdefault(element, []).append(_Made(chosen=own, at_root=True, time=at, extra=latency))

    # ---- what waits for what

    def _needs_of(self, statement: Statement) -> None:
        operation = statement.operation
        if isinstance(operation, Function):
            if isinstance(operation.operand, Read):
                for point in _points(statement.indices):
                    there, at = self.own[_element(statement, point)]
                    self._at_root(_read(operation.operand, point), there, at, 0)
            return
        assert isinstance(operation, Linear)
        counted = _counted(statement)
        for block in self.blocks[statement.id]:
            lane_terms, _ = _split(statement, block.way)
            for made, point in zip(block.made, block.outputs, strict=True):
                for term in operation.terms:
                    for inner in _points([statement.box[name] for name in term.reduce]):
                        self._term(statement, block, made, term, {**point, **inner}, counted, lane_terms)

    def _term(
        self,
        statement: Statement,
        block: _Block,
        made: _Made,
        term: Term,
        point: Point,
        counted: list[Term],
        lane_terms: list[Term],
    ) -> None:
        """The operands of one term at one point come before the operation that takes them."""
        kind, over = block.way
        in_lanes = kind == "lane" or (kind == "tree" and term in lane_terms)
        cycles, operations = (block.lanes, block.rows) if in_lanes else (block.root, block.others)
        at = cycles[-1]
        if term in counted:
            key = tuple((n, point[n] // self.lanes if kind == "tree" and n == over else point[n]) for n in term.reduce)
            at = cycles[operations.index((term, key))]
        plain = len(term.factors) == 1 and term.sign > 0 and not term.reduce
        for factor in term.factors:
            if not isinstance(factor, Read):
                continue
            element = _read(factor, point)
            if in_lanes:
                lane = made.lane if kind == "lane" else point[over] % self.lanes
                self._in_lane(element, lane, made.chosen, at)
            else:
                self._at_root(element, made.chosen, at, self.late if plain else 0, joins=plain)

    def _sources(self, element: Element) -> tuple[list[_Made], bool]:
        """The ways in which an element is made, and whether the sample before makes it."""
        name, place = element
        following = self.graph.updates.get(name)
        if following is not None:
            return self.made.get((following, place), []), True
        return self.made.get(element, []), False

    def _at_root(
        self, element: Element, there: cp_model.IntVar, at: cp_model.IntVar, late: int, *, joins: bool = False
    ) -> None:
        sources, before = self._sources(element)
        for made in sources:
            both = [there, made.chosen]
            if made.at_root:
                if before:
                    self.m.add(at + self.initiation_interval >= made.time + self.stored + made.extra).only_enforce_if(
                        both
                    )
                else:
                    self.m.add(at >= made.time + self.forwarded - late + made.extra).only_enforce_if(both)
                continue
            up = self._sent_up(made, before, joins)
            self.m.add_bool_or([up.taken, *(each.Not() for each in both)])
            if before:
                self.m.add(at + self.initiation_interval >= up.root + self.stored).only_enforce_if([*both, up.early])
                both.append(up.early.Not())
            if joins:
                # The tree's word is the start value of the operation itself.
                self.m.add(at >= up.sent + self.up).only_enforce_if(both)
            else:
                self.m.add(at >= up.root + self.forwarded - late).only_enforce_if(both)

    def _in_lane(self, element: Element, lane: int, there: cp_model.IntVar, at: cp_model.IntVar) -> None:
        sources, before = self._sources(element)
        for made in sources:
            both = [there, made.chosen]
            if made.at_root:
                if before:
                    self.m.add(
                        at + self.initiation_interval >= made.time + self.bus_stored + made.extra
                    ).only_enforce_if(both)
                else:
                    self.m.add(at >= made.time + self.bus + made.extra).only_enforce_if(both)
            elif made.lane in (ANY, lane) or self.lanes == 1:
                if before:
                    self.m.add(at + self.initiation_interval >= made.time + self.stored).only_enforce_if(both)
                    self._not_overwritten(made, at, both)
                else:
                    self.m.add(at >= made.time + self.stored).only_enforce_if(both)
            else:
                up = self._sent_up(made, before, False)
                self.m.add_bool_or([up.taken, *(each.Not() for each in both)])
                if before:
                    self.m.add(at + self.initiation_interval >= up.root + self.bus_stored).only_enforce_if(
                        [*both, up.early]
                    )
                    both.append(up.early.Not())
                self.m.add(at >= up.root + self.bus).only_enforce_if(both)

    def _not_overwritten(self, made: _Made, at: cp_model.IntVar, both: list[cp_model.IntVar]) -> None:
        """A lane reads a model's word before it is overwritten, or an operation has copied it."""
        if made.copied is None:
            made.copied = self._flag()
            self._slot("lanes", made.copied)
        self.m.add(at <= made.time + self.laws.result - 1).only_enforce_if([*both, made.copied.Not()])

    def _sent_up(self, made: _Made, before: bool, joins: bool) -> _Up:
        """A word goes up once for all who take it; where it joins an operation of the root it takes no slot there."""
        if joins in made.ups:
            return made.ups[joins]
        taken, early, sent = self._flag(), self._flag(), self.m.new_int_var(-self.horizon, self.horizon, "")
        self.m.add_implication(taken, made.chosen)
        again = self._flag()
        if made.alone is not None:
            self.m.add_bool_or([again, made.alone, taken.Not()])
            self.m.add(sent == made.time).only_enforce_if([taken, again.Not()])
        else:
            self.m.add_bool_or([again, taken.Not()])
        slot = self._slot("lanes", again)
        self.m.add(sent == slot).only_enforce_if(again)
        if before:
            # Without another slot it goes up as it is made, in the sample that makes it.
            self.m.add_bool_or([early, again, taken.Not()])
            self.m.add(slot + self.initiation_interval >= made.time + self.stored).only_enforce_if([again, early.Not()])
            self.m.add(slot >= made.time + self.stored).only_enforce_if([again, early])
        else:
            self.m.add(slot >= made.time + self.stored).only_enforce_if(again)
        root = self.m.new_int_var(-self.horizon, self.horizon, "") if joins else self._slot("root", taken)
        self.m.add(root == sent + self.up).only_enforce_if(taken)
        made.ups[joins] = _Up(taken=taken, sent=sent, root=root, early=early)
        return made.ups[joins]

    def _borders(self) -> None:
        """Words in and out."""
        read = {
            element[0:2]
            for statement in self.graph.statements
            for element in _all_reads(statement)
            if self.graph.tensors[element[0]].role in ("input", "label")
        }
        self.m.add(self.initiation_interval * self.lanes >= len(read))
        self.m.add(
            self.initiation_interval >= sum(self.graph.tensors[t].size for t in {t for _, t in self.graph.results})
        )

    def solved(self, work: float, least: int = 1) -> Best | None:
        """The fewest cycles from `least` on, or how far the solver came; None if no initiation interval is
        long enough.
        """
        for intervals in self.busy.values():
            self.m.add_no_overlap(intervals)
        self.m.add(self.initiation_interval >= least)
        self.m.minimize(self.initiation_interval)
        solver = cp_model.CpSolver()
        solver.parameters.max_deterministic_time = work
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        status = solver.solve(self.m)
        if status == cp_model.INFEASIBLE:
            return None
        found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        return Best(
            least=round(solver.best_objective_bound), most=round(solver.objective_value) if found else self.most
        )


@dataclass(kw_only=True)
class _Block:
    """A sum, or a row of sums side by side, of a statement in one way."""

    there: cp_model.IntVar
    outputs: list[Point]
    way: Way
    lanes: list[cp_model.IntVar] = field(default_factory=list)
    root: list[cp_model.IntVar] = field(default_factory=list)
    rows: list[tuple[Term, tuple[tuple[str, int], ...]]] = field(default_factory=list)
    others: list[tuple[Term, tuple[tuple[str, int], ...]]] = field(default_factory=list)
    made: list[_Made] = field(default_factory=list)


def _points(indices: Iterable[Index]) -> Iterator[Point]:
    box = list(indices)
    for values in product(*(range(index.low, index.high) for index in box)):
        yield dict(zip((index.name for index in box), values, strict=True))


def _element(statement: Statement, point: Point) -> Element:
    return statement.target, tuple(subscript.at(point) for subscript in statement.write)


def _read(read: Read, point: Point) -> Element:
    return read.tensor, tuple(subscript.at(point) for subscript in read.subscripts)


def _all_reads(statement: Statement) -> Iterator[Element]:
    for point in _points([*statement.indices, *statement.reduced]):
        yield from (_read(read, point) for read in statement.reads)


def _split(statement: Statement, way: Way) -> tuple[list[Term], list[Term]]:
    """The terms that lanes sum, and those that join at the root, of a sum over lanes."""
    operation = statement.operation
    assert isinstance(operation, Linear)
    lanes = [term for term in operation.terms if way[0] == "tree" and way[1] in term.reduce]
    return lanes, [term for term in operation.terms if term not in lanes]


def _counted(statement: Statement) -> list[Term]:
    """The terms of which every point takes an operation: products of two words; if there is none, the widest."""
    operation = statement.operation
    assert isinstance(operation, Linear)
    outs = {index.name for index in statement.indices}
    products = [
        term for term in operation.terms if all(isinstance(f, Read) for f in term.factors) and len(term.factors) == 2
    ]
    for term in products:
        names = frozenset[str]().union(*(f.names for f in term.factors if isinstance(f, Read)))
        if not outs | set(term.reduce) <= names:
            raise NotModelled("a product that is the same for several points")
    return products or [max(operation.terms, key=lambda term: len(term.reduce))]
