"""What each statement costs the lanes: how many of their slots multiply, and where the other slots are lost.

A *slot* is one lane in one cycle. All figures are for one sample, or, with minibatches, for one step. The figures are
counted from the strands of the finished schedule, so they describe what the hardware does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from tabla.base.layout import folded, laid_out
from tabla.graph.graph import Graph, Statement
from tabla.graph.operations import count_statement, zero_or_one
from tabla.graph.program_text import Locate, Passage, as_it_is, named, passage
from tabla.schedule.mapping.selectors import selects
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Strand
from tabla.templates.template import Template

Way = Literal["local", "broadcast", "reduced", "root", "moved up", "moved down", "copied", "result"]

_STATEMENT = re.compile(r"\bs(\d+) ")
WAYS: dict[Way, str] = {
    "local": "every operand lies in its lane",
    "broadcast": "the bus brings one word at a time to all lanes",
    "reduced": "the tree adds the lanes' sums, one word a cycle",
    "root": "the root does one operation at a time",
    "moved up": "the lanes pass their words up the tree, one lane a cycle",
    "moved down": "the bus brings one word a cycle into the lanes",
    "copied": "two memories of a lane must hold the words",
    "result": "the words leave as results",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementCost:
    """The cost of a statement, of several statements that run as one, or of a move of words between them.

    `way` says how the statement is computed or the words are moved. `cycles` and `root_cycles` are the issue cycles
    that the statement takes from the lanes and from the root. `slots` is `cycles` times the number of PEs. The slots
    are of four kinds: in `multiplies` a lane does a product of the program; in `other` it does something else, such as
    adding, selecting or passing a word on; in `unfilled` the lane has no element of the tensor; in `waiting` the lanes
    wait because the root takes longer than they do.

    `name` is the name in the schedule. `text` is the passage of the program that the statement comes from, and `line`
    is its line in `file`, if one is known. `part` and `parts` count the rows that come from the same passage.
    """

    name: str
    text: str
    line: int | None
    file: str
    way: Way
    cycles: int
    root_cycles: int
    slots: int
    multiplies: int
    other: int
    unfilled: int
    waiting: int
    part: int = 1
    parts: int = 1

    @property
    def shown(self) -> str:
        """What people read as the name: the text of the program, and which part of it this is if there are several."""
        return self.text + (f" (part {self.part} of {self.parts})" if self.parts > 1 else "")

    @property
    def wasted(self) -> int:
        """The slots in which no product of the program is computed."""
        return self.slots - min(self.slots, self.multiplies)

    @property
    def reason(self) -> str:
        """The reasons of the cost, as text for people."""
        found = [WAYS[self.way]]
        if self.unfilled and self.way != "moved up":
            filled = 1 - self.unfilled / (self.slots - self.waiting)
            found.append(f"the statement's rows fill {100 * filled:.0f} % of the lanes")
        if self.waiting:
            found.append(f"{100 * self.waiting / self.slots:.0f} % of the slots wait for the root")
        return "; ".join(found)

    def as_json(self) -> dict[str, Any]:
        """Return the fields, `wasted` and `reason`, as JSON values."""
        return {**asdict(self), "wasted": self.wasted, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The costs of all statements, in the order in which the statements start.

    `period` is the number of cycles from one sample to the next, and `pes` the number of processing elements.
    """

    statements: tuple[StatementCost, ...]
    pes: int
    period: int

    @property
    def idle(self) -> int:
        """The cycles of a sample in which the lanes have no work: the mean over all lanes, rounded down."""
        return (self.period * self.pes - sum(cost.slots for cost in self.statements)) // self.pes

    @property
    def most_wasteful(self) -> StatementCost | None:
        """The statement that wastes the most lane slots; None if there is no statement."""
        return max(self.statements, key=lambda cost: cost.wasted, default=None)

    def text(self, width: int | None = None) -> str:
        """Return the costs as a table for people, what its words mean, and the summary as its last line.

        `width` is the columns of the terminal; None stands for a pipe, where each statement has one line.
        """
        several = len({cost.file for cost in self.statements if cost.file}) > 1
        rows: list[tuple[str, ...]] = [
            ("line", "way", "cycles", "root", "slots", "multiply", "other", "unfilled", "waiting", "statement")
        ]
        for c in self.statements:
            numbers = (c.cycles, c.root_cycles, c.slots, c.multiplies, c.other, c.unfilled, c.waiting)
            place = Passage(text=c.text, line=c.line, file=c.file).place(named=several)
            rows.append((place, c.way, *map(str, numbers), c.shown))
        ways = dict.fromkeys(cost.way for cost in self.statements)
        legend = [folded(f"{way:<12} {WAYS[way]}", width) for way in ways]
        table = laid_out(rows, width, texts=(1, len(rows[0]) - 1))
        return "\n".join([*table, "", *legend, "", folded(self.summary, width)]) + "\n"

    @property
    def headline(self) -> str:
        """The idle cycles and the most wasteful statement, in a few words."""
        idle, worst = f"idle in {self.idle} of {self.period} cycles", self.most_wasteful
        if worst is None or not worst.wasted:
            return idle
        share = 100 * worst.wasted / (self.period * self.pes)
        who, what = (worst.shown, "") if worst.line is None else (f"line {worst.line}", f": {worst.shown}")
        return f"{idle}; {who} wastes the most of their slots, {share:.1f} %{what}"

    @property
    def summary(self) -> str:
        """The headline, followed by the reason of the most wasteful statement."""
        worst = self.most_wasteful
        return f"lanes: {self.headline}" + (f" ({worst.reason})" if worst is not None and worst.wasted else "")


def costs(schedule: Schedule, locate: Locate = as_it_is) -> Costs:
    """Return the cost of every statement of a schedule. `locate` leads from its places in the text to the file."""
    placed = sorted(schedule.placed, key=lambda p: (p.start, p.task.name))
    graph, template = schedule.mapped, schedule.template
    flags = zero_or_one(graph)
    # A statement may be scheduled in several parts; their costs are added.
    tasks: dict[str, list[Placed]] = {}
    for p in placed:
        tasks.setdefault(p.task.name, []).append(p)
    found = [_cost(parts, graph, template, flags, locate) for parts in tasks.values()]
    return Costs(statements=tuple(_counted(found)), pes=template.pes, period=schedule.initiation_interval)


def _counted(found: Sequence[StatementCost]) -> Iterator[StatementCost]:
    """Yield costs with the number of each among those that come from the same passage."""
    parts = Counter((cost.text, cost.line, cost.file) for cost in found)
    seen: Counter[tuple[str, int | None, str]] = Counter()
    for cost in found:
        same = (cost.text, cost.line, cost.file)
        seen[same] += 1
        yield replace(cost, part=seen[same], parts=parts[same])


def _origin(placed: Placed, ours: Sequence[Statement], graph: Graph, locate: Locate) -> Passage:
    """Return the passage of a task. A move of words is told by its name, with what the words are to the user."""
    if ours:
        return passage(ours, locate)
    words = (named(graph, word, locate) if word in graph.tensors else word for word in placed.task.name.split(" "))
    return Passage(text=" ".join(words))


def _cost(
    parts: Sequence[Placed], graph: Graph, template: Template, flags: frozenset[str], locate: Locate
) -> StatementCost:
    groups, pes, placed = max(1, template.roots), template.pes, parts[0]
    strands = [strand for part in parts for strand in part.strands()]
    lanes = [s for s in strands if s.unit == "lane_issue"]
    ours = [graph.statements[int(number)] for number in _STATEMENT.findall(placed.task.name)]
    own = [s for s in ours if not selects(s, graph)]
    multiplies = sum(_parts(s, graph, groups) * count_statement(s, flags).multiplies for s in own)
    origin = _origin(placed, ours, graph, locate)
    cycles = sum(s.length for s in lanes)
    sequencers = template.sequencers
    driven = [(s, pes // sequencers * len(s.sequencers or range(sequencers))) for s in lanes]
    slots = sum(s.length * count for s, count in driven)
    issues = sum(s.iterations * len(s.body) * count for s, count in driven)
    active = groups * sum(_active(s, template.lanes, sequencers) for s in lanes)
    return StatementCost(
        name=placed.task.name,
        text=origin.text,
        line=origin.line,
        file=origin.file,
        way=_way(placed, strands, lanes),
        cycles=cycles,
        root_cycles=sum(s.length for s in strands if s.unit == "root_issue"),
        slots=slots,
        multiplies=multiplies,
        other=active - min(active, multiplies),
        unfilled=issues - active,
        waiting=slots - issues,
    )


def _parts(statement: Statement, graph: Graph, groups: int) -> int:
    """Return how many tap groups work on a statement, each on its part; 1 if all groups do the same work."""
    return groups if statement.crosses or graph.tensors[statement.target].split >= 0 else 1


def _way(placed: Placed, strands: Sequence[Strand], lanes: Sequence[Strand]) -> Way:
    up = any(o.field("base") in ("tree", "array") for s in strands if s.unit == "root_issue" for o in s.body)
    if placed.task.statement < 0:
        if up:
            return "moved up"
        if lanes:
            return "copied"
        return "moved down" if any(s.unit == "lane_write" for s in strands) else "result"
    if not lanes:
        return "root"
    if up:
        return "reduced"
    return "broadcast" if any("bus" in o.fields.values() for s in lanes for o in s.body) else "local"


def _active(strand: Strand, pes: int, sequencers: int) -> int:
    """Return the number of lanes that take part in an operation, summed over all operations that a strand issues."""
    share = pes // sequencers
    total = 0
    for operation in strand.body:
        bounds = operation.addresses
        for block in strand.sequencers or range(sequencers):
            first, end = block * share, (block + 1) * share
            low = np.clip(strand.values(bounds["low"]), first, end) if "low" in bounds else np.array([first])
            high = np.clip(strand.values(bounds["high"]), first, end) if "high" in bounds else np.array([end])
            inside = np.maximum(0, high - low)
            total += int(inside.sum()) * (strand.iterations // len(inside))
    return total
