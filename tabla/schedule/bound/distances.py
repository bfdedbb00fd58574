"""The fewest cycles from statement to statement, by the places where words are made and wanted.

A root may take its own result at once from the result register. Lanes receive a root's word over the bus. A lane
reads its own result from its memory. A lane's word reaches the root through the tree, and other lanes by way of the
root. Only memories reach over to the next sample. Functions are evaluated at the roots. All of these are laws of the
machine (decision 3); a way of a statement is a :class:`tabla.schedule.bound.choice.Choice`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tabla.graph.graph import Compare, Divide, Function, Graph, Linear, Read, Statement, Term
from tabla.graph.scan import scan_of
from tabla.graph.work import multiplicity
from tabla.schedule.bound.choice import APART, Choice, Way
from tabla.schedule.bound.groups import Groups
from tabla.schedule.bound.latencies import Latencies, Pinned
from tabla.schedule.bound.products import Slots
from tabla.templates.template import Template, timing

NEVER = 1 << 40
"""More cycles than any schedule takes. It stands for what cannot be."""
LATE = timing().late_operand - timing().operand
"""How many cycles later a word may come that is only added."""


@dataclass(frozen=True, slots=True)
class Times:
    """Cycles at a root, and cycles in the lanes."""

    root: int
    lane: int

    @property
    def least(self) -> int:
        """The distance when the place has not been chosen: the minimum over the places."""
        return min(self.root, self.lane)

    def after(self, cycles: int) -> Times:
        """Return the times so many cycles later."""
        return Times(self.root + cycles, self.lane + cycles)

    def later(self, other: Times) -> Times:
        """Return the larger time at each place."""
        return Times(max(self.root, other.root), max(self.lane, other.lane))

    def sooner(self, other: Times) -> Times:
        """Return the smaller time at each place."""
        return Times(min(self.root, other.root), min(self.lane, other.lane))


NOW = Times(0, 0)
UNREACHABLE = Times(NEVER, NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ways:
    """Cycles from an operand, by its place, to the result of a statement, for each way of the statement."""

    root: Times = UNREACHABLE
    lane: Times = UNREACHABLE
    tree: Times = UNREACHABLE

    def sooner(self, other: _Ways) -> _Ways:
        """Return the smaller time of each way and place."""
        return _Ways(
            root=self.root.sooner(other.root), lane=self.lane.sooner(other.lane), tree=self.tree.sooner(other.tree)
        )


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances on one template in one format, for all schedules that agree on the `choices` and the `groups`."""

    latencies: Latencies
    slots: Slots
    groups: Groups
    choices: Mapping[int, Choice] = field(default_factory=dict)
    _known: dict[tuple[int, str, Pinned, str | None], _Ways] = field(default_factory=dict)

    @staticmethod
    def anyhow(latencies: Latencies, graph: Graph) -> Distances:
        """Return the distances for all schedules of a graph: nothing is chosen."""
        template = latencies.template
        return Distances(latencies, Slots(template), Groups(graph=graph, count=max(1, template.roots)))

    # ---- moves

    @property
    def template(self) -> Template:
        """The array whose wires and units the distances are counted on."""
        return self.latencies.template

    @property
    def operation(self) -> int:
        """Cycles from an operation's operands to its result."""
        return timing().multiply + timing().accumulate + timing().round

    @property
    def memory(self) -> int:
        """Cycles from a result through a memory to an operand."""
        return timing().memory_write + timing().memory_read

    @property
    def up(self) -> int:
        """How many cycles later a sum is the root's result than it would be the lane's: the tree of one group."""
        return 1 + self.template.tree_levels * timing().tree_level

    def word_up(self, statement: Statement, tensor: str) -> int:
        """Cycles from a word as a lane's result to the same word as an operand of a statement at the root.

        A lane that alone is active in its slot sends its word up as it makes it. A model's word goes through a memory
        besides, because it is for the next sample. A word that is only added joins the statement's own operation, as
        the tree's word: its result is there as soon as the word would be.
        """
        if tensor in self.groups.graph.updates:
            return self.up + self.memory
        return self.up - (self.operation - LATE) if joins(statement, tensor) else self.up

    @property
    def across(self) -> int:
        """How many cycles later a sum of all groups is each root's result than it would be the lane's."""
        return self.up + self.template.array_levels * timing().tree_level

    def arrival(self, statement: Statement, tensor: str, made: Times) -> Times:
        """Return when a word of a tensor can be an operand of a statement, given when it can be a result."""
        root = min(made.root, made.lane + self.word_up(statement, tensor))
        return Times(root, min(made.root + timing().broadcast, made.lane + self.memory))

    def arrival_of_last(self, statement: Statement, tensor: str, first: Times, last: Times, words: int) -> Times:
        """Return when the last of so many words can be an operand, given when the first and the last can be results.

        A lane that sends a sum up as it makes it has to sum it alone. So the last word comes no sooner than the first
        would after another operation, unless all other sums are made after the first.
        """
        arrival = self.arrival(statement, tensor, last)
        maker = next(self.groups.graph.writers(tensor), None)
        if maker is None or self.template.sequencers > 1 or tensor in self.groups.graph.updates:
            return arrival
        terms = math.prod(index.extent for index in maker.reduced)
        sums = -(-words // max(1, self.template.roots)) - 1
        later = first.lane + self.word_up(statement, tensor) + min(self.memory + self.operation, sums * terms)
        return Times(max(arrival.root, min(last.root, later)), arrival.lane)

    def required(self, statement: Statement, tensor: str, wanted: Times) -> Times:
        """Return the cycles from a result to some end, given those from an operand to the end: `arrival` backwards."""
        root = min(wanted.root, timing().broadcast + wanted.lane)
        return Times(root, min(self.word_up(statement, tensor) + wanted.root, self.memory + wanted.lane))

    def kept(self, model: Times) -> Times:
        """Return the times of a model, given those of its update, or the other way round, in the sample beside it.

        A root has to go through its memory. A lane does so within a sample, too, and that is counted elsewhere.
        """
        return Times(model.root + self.memory, model.lane)

    # ---- statements

    def made(self, statement: Statement, arrival: Mapping[str, Times], pinned: Pinned, issue: int = 0) -> Times:
        """Return when the result can be there, given when its operands can.

        Of a sum over `pinned` indices one term is asked for. The operation issues at least `issue` cycles later.
        """
        ways = [(at.after(issue), self._ways(statement, name, pinned)) for name, at in arrival.items()]
        root = max((_taken(at, way.root) for at, way in ways), default=0)
        lane = max((_taken(at, way.lane) for at, way in ways), default=0)
        tree = max((_taken(at, way.tree) for at, way in ways), default=0)
        match self.way(statement):
            case "root":
                return Times(root, NEVER)
            case "lane":
                return Times(NEVER, lane)
            case "tree":
                return Times(tree, NEVER)
        return Times(min(root, tree), lane)

    def wanted(self, statement: Statement, tensor: str, result: Times, floor: Times, issue: int = 0) -> Times:
        """Return the cycles from an operand of a statement to some end, given those from its result to the end.

        Of a sum the operand is the last term. No operand is nearer to the end than `floor`, by the place where the
        statement multiplies. The operation issues at least `issue` cycles later.
        """
        way = self.way(statement)
        ways = self._ways(statement, tensor, frozenset(index.name for index in statement.reduced))

        def least(root: int, lane: int, tree: int) -> int:
            ends = {
                "root": max(root + issue + result.root, floor.root),
                "lane": max(lane + issue + result.lane, floor.lane),
                "tree": max(tree + issue + result.root, floor.lane),
            }
            return min(ends.values()) if way is None else ends[way]

        at_root = least(ways.root.root, ways.lane.root, ways.tree.root)
        return self.required(statement, tensor, Times(at_root, least(ways.root.lane, ways.lane.lane, ways.tree.lane)))

    def multiplied(self, statement: Statement, term: Term, result: Times, floor: Times) -> Times:
        """Return the cycles from a factor of a term to some end: NEVER at a place where the term is not multiplied."""
        root = max(self.operation + result.root, floor.root)
        lane = max(self.operation + result.lane, floor.lane)
        tree = max(self.operation + self.up_the_tree(statement, term) + result.root, floor.lane)
        match self.way(statement):
            case "root":
                return Times(root, NEVER)
            case "lane":
                return Times(NEVER, lane)
            case "tree" if term.reduce:
                return Times(NEVER, tree)
        # A term without a summed index may join at the root, beside what comes from the tree.
        return Times(root, min(lane, tree))

    def issued(self, term: Term, arrival: Times) -> Times:
        """Return when an operation can issue, given when its word can be an operand: a word only added comes late."""
        laws = timing()
        return arrival if len(term.factors) == 2 or term.reduce else arrival.after(laws.operand - laws.late_operand)

    def choice(self, statement: Statement) -> Choice | None:
        """Return how a statement is computed, if that is chosen."""
        return self.choices.get(statement.id)

    def slots_of(self, statement: Statement, term: Term, pinned: Pinned) -> int:
        """Return the issue slots of a term (:func:`tabla.schedule.bound.products.turns_of`)."""
        return self.slots.of(statement, term, pinned, self.choice(statement), self.along(statement)).slots

    def issue(self, statement: Statement, tensor: str, pinned: Pinned) -> int:
        """Return the cycles from first to last use of a tensor's words
        (:meth:`tabla.schedule.bound.products.Slots.issue`).
        """
        return self.slots.issue(statement, tensor, pinned, self.choice(statement), self.along(statement))

    def share(self, statement: Statement, tensor: str, pinned: Pinned) -> int:
        """Return the whole cycles that these uses take of all units
        (:meth:`tabla.schedule.bound.products.Slots.share`).
        """
        return self.slots.share(statement, tensor, pinned, self.choice(statement), self.along(statement))

    def way(self, statement: Statement) -> Way | None:
        """Return the way of a statement, if it is chosen."""
        choice = self.choice(statement)
        return choice.way if choice else None

    def along(self, statement: Statement) -> str | None:
        """Return the index along which groups divide a statement, if it is known
        (:mod:`tabla.schedule.bound.groups`).
        """
        return self.groups.along.get(statement.id)

    def with_groups(self, groups: Groups) -> Distances:
        """Return the distances for those schedules that share models among groups in this way."""
        return replace(self, groups=groups)

    def with_choice(self, statement: Statement, choice: Choice) -> Distances:
        """Return the distances for those schedules that make one more choice."""
        return replace(self, choices={**self.choices, statement.id: choice})

    def _ways(self, statement: Statement, tensor: str, pinned: Pinned) -> _Ways:
        key = statement.id, tensor, pinned & {index.name for index in statement.reduced}, self.along(statement)
        if key not in self._known:
            self._known[key] = self._found(statement, tensor, key[2])
        return self._known[key]

    def _found(self, statement: Statement, tensor: str, pinned: Pinned) -> _Ways:
        cycles = self.latencies.after(statement, pinned)[tensor]
        anywhere = Times(cycles, cycles)
        if scan_of(statement) is not None:
            return _Ways(root=anywhere, lane=anywhere)
        match statement.operation:
            case Linear(terms=terms):
                found = _Ways()
                for term in terms:
                    if any(isinstance(factor, Read) and factor.tensor == tensor for factor in term.factors):
                        found = found.sooner(self._term(statement, term, pinned))
                return found
            case Compare():
                return _Ways(root=Times(cycles, NEVER), lane=Times(NEVER, self.operation))
            case Function() | Divide():
                return _Ways(root=Times(cycles, NEVER))
            case _:
                return _Ways(root=anywhere, lane=anywhere)

    def _term(self, statement: Statement, term: Term, pinned: Pinned) -> _Ways:
        """Return the ways of a term. An operand of several terms of a sum waits for the last of them."""
        laws = timing()
        summed = multiplicity(statement, frozenset(term.reduce) - pinned)
        late = laws.late_operand - laws.operand if len(term.factors) == 1 and term.sign > 0 and not term.reduce else 0
        root = self.operation - late + summed - 1
        return _Ways(
            root=Times(root, NEVER),
            lane=Times(NEVER, self.operation + summed - 1),
            # A term without a summed index may join at the root.
            tree=Times(NEVER if term.reduce else root, self.operation + self.up_the_tree(statement, term, summed)),
        )

    def up_the_tree(self, statement: Statement, term: Term, summed: int = 1) -> int:
        """Return how many cycles later a sum over lanes is a result than one term in a lane would be."""
        template, along = self.template, self.along(statement)
        group = self.up + -(-summed // template.lanes) - 1
        array = self.across + -(-summed // template.pes) - 1
        return min(group, array) if along in (None, APART) else array if along in term.reduce else group


def joins(statement: Statement, tensor: str) -> bool:
    """Whether a statement adds, or compares, words of a tensor that it does not multiply."""
    match statement.operation:
        case Linear(terms=terms):
            plain = [t for t in terms if len(t.factors) == 1 and t.sign > 0 and not t.reduce]
            return any(isinstance(t.factors[0], Read) and t.factors[0].tensor == tensor for t in plain)
        case Function() | Divide():
            return False
    return True


def _taken(at: Times, after: Times) -> int:
    return min(at.root + after.root, at.lane + after.lane)
