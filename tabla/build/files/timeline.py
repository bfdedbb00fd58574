"""The rows of the schedule page: what each unit, function, the bus and the streams do in which cycles of a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tabla.base.source import Source, Span
from tabla.build.files.causes import Reason
from tabla.build.files.idle import REASONS, Wait, waits
from tabla.graph.graph import Statement
from tabla.graph.program_text import Locate, as_it_is, told
from tabla.schedule.placing.output_port import port_latency
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.leaving import words_per_write
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.streams import streamed
from tabla.templates.instructions import kind_of
from tabla.templates.template import FunctionUnit, functions, timing

SHORT: dict[Reason, str] = {"lanes": "results", "output": "words out", "ring": "place"}
"""Reasons in a word, where the reason itself is none: the words that fit into a bar."""

ABOUT: dict[str, str] = {
    "stream": "Words of the sample come in and are put into the memories that hold them.",
    "lanes": "All lanes of the row do this at once, each with words of its own.",
    "writes": "The lanes put what they have computed into their memories.",
    "tree": "The adders sum what the lanes have computed, level by level.",
    "root": "The root does this: it multiplies and adds single values.",
    "root_writes": "The root puts a value into its memory, or sends it to the bus or out.",
    "function": "The function unit computes the function, in steps of a cycle.",
    "bus": "The bus holds a value of the root for all lanes.",
    "output": "Results leave the array.",
}
"""What a bar means, by the kind of its row."""
MOST_LINES = 300
"""The most lines of a program that the page shows. Of longer programs it shows those that bars come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Cycles [start, end) in which a row is taken.

    `span` is the place in the program that it comes from, `loops` its loop nest in words (empty: it is none). `task` is
    the number of the placed task, and `strand` the strand of it (-1: none, as on the stream).
    """

    start: int
    end: int
    name: str
    span: Span | None = None
    loops: str = ""
    task: int = -1
    strand: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the page: a unit, the bus, a pipeline of the function unit, or a stream. Its bars are in order.

    `kind` names its colour, `unit` is the unit's name in the schedule (empty: it is no unit).
    """

    name: str
    kind: str
    bars: tuple[Bar, ...]
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The rows of a sample, and every idle cycle of its lanes. Cycles count from the sample's token."""

    schedule: Schedule
    rows: tuple[Row, ...]
    waits: tuple[Wait, ...]
    locate: Locate = as_it_is

    @property
    def lanes(self) -> tuple[Row, ...]:
        """Return the rows of those sequencers of the lanes that have work."""
        return tuple(row for row in self.rows if row.unit.startswith("lane_issue") and row.bars)

    @property
    def idle(self) -> dict[Reason, int]:
        """Return the idle cycles of a sample by reason, summed over the sequencers, the largest number first."""
        found: dict[Reason, int] = {}
        for wait in self.waits:
            found[wait.reason] = found.get(wait.reason, 0) + wait.end - wait.first
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def text(self) -> str:
        """Return a sentence that says how long the lanes wait, and for what."""
        cycles, rows = self.schedule.cycles, len(self.lanes)
        if not rows:
            return "The lanes have no work in this program: everything is done at the root."
        idle = sum(self.idle.values())
        whole = f"{cycles * rows} cycles of {rows} sequencers" if rows > 1 else f"{cycles} cycles"
        if not idle:
            return f"The lanes work in all {whole}."
        parts = ", ".join(f"{count} for {REASONS[reason]}" for reason, count in self.idle.items())
        return f"In {idle} of {whole} the lanes wait: {parts}."

    def as_json(self) -> dict[str, Any]:
        """Return what the script of the page draws, as JSON values.

        Names and lines of the program are stored once. A bar is (start, end, name, line, loops); a wait is (row, first,
        end, reason, row and bar that it waits for, samples to that bar). A number of -1 stands for none.
        """
        names, lines = _Numbers(), _Numbers()

        @cache
        def shown(name: str) -> str:
            return told(name, self.schedule.mapped, self.locate)

        rows = [
            {
                "name": row.name,
                "kind": row.kind,
                "bars": [
                    [
                        bar.start,
                        bar.end,
                        names.of(shown(bar.name)),
                        -1 if bar.span is None else lines.of(_line(self.locate(bar.span))),
                        names.of(bar.loops) if bar.loops else -1,
                    ]
                    for bar in row.bars
                ],
            }
            for row in self.rows
        ]
        places = self._places()
        found = [
            [self._number(wait.unit), wait.first, wait.end, wait.reason, *_target(wait, places)] for wait in self.waits
        ]
        ends = [bar.end for row in self.rows for bar in row.bars]
        starts = [bar.start for row in self.rows for bar in row.bars]
        return {
            "cycles": self.schedule.cycles,
            "first": min([0, *starts]),
            "end": max([self.schedule.cycles, *ends, *(wait.end for wait in self.waits)]),
            "names": names.all,
            "program": _program(self.rows, self.locate),
            "about": ABOUT,
            "sources": lines.all,
            "rows": rows,
            "waits": found,
            "reasons": {
                reason: {"kind": style(reason), "reason": words, "short": SHORT.get(reason, reason)}
                for reason, words in REASONS.items()
            },
        }

    def _number(self, unit: str) -> int:
        return next(number for number, row in enumerate(self.rows) if row.unit == unit)

    def _places(self) -> dict[tuple[str, int, int], tuple[int, int]]:
        """Return the row and the bar of each strand. The bars of the bus and the functions have keys of their own."""
        found: dict[tuple[str, int, int], tuple[int, int]] = {}
        for number, row in enumerate(self.rows):
            kind = "strand" if row.unit else row.kind
            for position, bar in enumerate(row.bars):
                found.setdefault((kind, bar.task, bar.strand), (number, position))
        return found


def style(reason: Reason) -> str:
    """Return the colour of a reason: that of the row of the same name, except that waiting lanes are not working."""
    return "own" if reason == "lanes" else reason


def timeline(schedule: Schedule, locate: Locate = as_it_is) -> Timeline:
    """Return the rows and the waits of a schedule. `locate` leads from its places in the text to those in the file."""
    units = list(_units(schedule))
    lanes = sum(row.unit.startswith("lane") for row in units)
    units.insert(lanes, _tree(schedule))
    rows = [_stream(schedule), *units, *_functions(schedule), _bus(schedule), _output(schedule)]
    kept = tuple(row for row in rows if row.bars or row.unit.startswith("lane_issue"))
    return Timeline(schedule=schedule, rows=kept, waits=waits(schedule), locate=locate)


class _Numbers:
    """Numbers things in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self._known: dict[Any, int] = {}

    def of(self, thing: Any) -> int:
        """Return the number of a thing."""
        if thing not in self._known:
            self._known[thing] = len(self.all)
            self.all.append(thing)
        return self._known[thing]


def _target(wait: Wait, places: dict[tuple[str, int, int], tuple[int, int]]) -> tuple[int, int, int]:
    if wait.task < 0:
        row, bar = places.get(("stream", -1, -1), (-1, -1)) if wait.reason in ("stream", "ring") else (-1, -1)
        return row, bar, 1 if row >= 0 else 0
    for kind in (wait.reason, "strand"):
        if (wait_place := places.get((kind, wait.task, wait.strand))) is not None:
            return *wait_place, wait.samples
    return -1, -1, 0


def _line(span: Span) -> tuple[str, int, str]:
    line = span.source.line_column(span.start)[0]
    return Path(span.source.name).name, line, span.source.line(line).strip()


def _program(rows: Sequence[Row], locate: Locate) -> list[dict[str, Any]]:
    """Return the text of each file that bars come from: its name, and its lines with their numbers.

    A long file has only the lines that bars come from and their neighbours.
    """
    used: dict[Source, set[int]] = {}
    for row in rows:
        for bar in row.bars:
            if bar.span is not None:
                span = locate(bar.span)
                used.setdefault(span.source, set()).add(span.source.line_column(span.start)[0])
    found = []
    for source, numbers in used.items():
        whole = range(1, source.text.rstrip("\n").count("\n") + 2)
        near = {number + away for number in numbers for away in (-1, 0, 1)}
        kept = [number for number in whole if len(whole) <= MOST_LINES or number in near][:MOST_LINES]
        text = [[number, source.line(number).rstrip()] for number in kept]
        found.append({"file": Path(source.name).name, "text": text})
    return found


def _units(schedule: Schedule) -> Iterable[Row]:
    """Return a row for each unit: the lanes and their writes by sequencer, the root and its writes."""
    statements = {statement.target: statement for statement in schedule.mapped.statements}
    bars: dict[str, list[Bar]] = {unit: [] for unit in schedule.units}
    for number, placed in enumerate(schedule.placed):
        for position, strand in enumerate(placed.strands()):
            moved = [footprint.key[0][0] for footprint in placed.task.reads]
            bar = Bar(
                start=strand.start,
                end=strand.end,
                name=strand.comment,
                span=_span(schedule, strand, placed.task.statement, [statements[t] for t in moved if t in statements]),
                loops=_loops(strand),
                task=number,
                strand=position,
            )
            for unit in strand.units(schedule.template.sequencers):
                bars[unit].append(bar)
    for unit, found in bars.items():
        kind, name = _unit(schedule, unit)
        yield Row(name=name, kind=kind, bars=tuple(sorted(found, key=lambda bar: bar.start)), unit=unit)


def _unit(schedule: Schedule, unit: str) -> tuple[str, str]:
    """Return the colour and the name of a unit's row."""
    template = schedule.template
    root = "root" if template.roots <= 1 else f"{template.roots} roots"
    lanes = "lanes"
    if template.sequencers > 1:
        first = int(unit.rpartition("_")[2]) * template.lanes_per_sequencer if unit.startswith("lane") else 0
        lanes = f"lanes {first}–{first + template.lanes_per_sequencer - 1}"
    return {
        "lane_issue": ("lanes", lanes),
        "lane_write": ("writes", f"{lanes}, write"),
        "root_issue": ("root", root),
        "root_write": ("root_writes", f"{root}, write"),
    }[kind_of(unit)]


def _span(schedule: Schedule, strand: Strand, statement: int, moved: Sequence[Statement]) -> Span | None:
    """Return where a strand comes from: its statement, or for a move the statement that makes what is moved."""
    number = strand.owner.statement if strand.owner.statement >= 0 else statement
    if number >= 0:
        return schedule.mapped.statements[number].span
    return next((maker.span for maker in moved), None)


def _loops(strand: Strand) -> str:
    counts = " × ".join(map(str, strand.counts)) or "1"
    parts = [f"loops {counts}"]
    if len(strand.body) > 1:
        parts.append(f"{len(strand.body)} operations a turn")
    if strand.interval > 1:
        parts.append(f"one every {strand.interval} cycles")
    return ", ".join(parts)


def _stream(schedule: Schedule) -> Row:
    """Return the row of the beats of a sample, which come as late as they may: just in time for the token."""
    laws, bars = timing(), []
    at = 1 - schedule.beats - laws.ready - laws.front
    for (tensor, _), strand in zip(streamed(schedule.layout), schedule.stream_sample, strict=True):
        end, span = at + strand.iterations, schedule.mapped.tensors[tensor].span
        goal = "the root" if strand.body[0].field("to_root_data") else "the lanes"
        turns = f"{strand.iterations} beat{'s' if strand.iterations > 1 else ''}"
        bars.append(Bar(start=at, end=end, name=f"{tensor} to {goal}", span=span, loops=turns))
        at += strand.iterations
    return Row(name="stream", kind="stream", bars=tuple(bars))


def _tree(schedule: Schedule) -> Row:
    """Return the row of the tree: a bar for each strand whose sums go up, from the first sum to the last one.

    Sums of several strands may be on their way at the same time, on different levels.
    """
    way, bars = schedule.template.tree_levels * timing().tree_level, []
    for number, placed in enumerate(schedule.placed):
        for position, strand in enumerate(placed.strands()):
            slots = [slot for slot, operation in enumerate(strand.body) if operation.field("up")]
            if strand.unit != "lane_issue" or not slots or not way:
                continue
            sums = [strand.cycles(slot)[strand.last()] for slot in slots]
            bar = Bar(
                start=1 + min(int(cycles[0]) for cycles in sums),
                end=1 + max(int(cycles[-1]) for cycles in sums) + way,
                name=strand.comment,
                span=_span(schedule, strand, placed.task.statement, ()),
                task=number,
                strand=position,
            )
            bars.append(bar)
    return Row(name="tree", kind="tree", bars=tuple(sorted(bars, key=lambda bar: (bar.start, bar.end))))


def _functions(schedule: Schedule) -> Iterable[Row]:
    """Return a row for each pipeline of the function unit that the program uses."""
    laws, word = timing(), schedule.format
    by_code = {unit.code: unit for unit in functions().values()}
    rows: dict[str, list[tuple[FunctionUnit, Bar]]] = {}
    for number, placed in enumerate(schedule.placed):
        for position, strand in enumerate(placed.strands()):
            for slot, operation in enumerate(strand.body):
                code = operation.field("function")
                if strand.unit != "root_issue" or not isinstance(code, int) or code == 0:
                    continue
                used = by_code[code]
                cycles = strand.cycles(slot)[strand.last()] + laws.result
                bar = Bar(
                    start=int(cycles[0]),
                    end=int(cycles[-1]) + used.cycles(word.width, word.fraction),
                    name=f"{used.name}: {strand.comment}",
                    span=_span(schedule, strand, placed.task.statement, ()),
                    task=number,
                    strand=position,
                )
                rows.setdefault(used.kind, []).append((used, bar))
    for found in rows.values():
        name = ", ".join(dict.fromkeys(used.name for used, _ in found))
        bars = sorted((bar for _, bar in found), key=lambda bar: bar.start)
        yield Row(name=name, kind="function", bars=tuple(bars))


def _bus(schedule: Schedule) -> Row:
    """Return the row of the bus: a task's words, from the root's first write until the last one has been used.

    The bus has registers on its way to the lanes; the cycles are those of the end at the root.
    """
    way, bars = timing().broadcast, []
    for number, placed in enumerate(schedule.placed):
        if placed.task.bus:
            first, last = (cycle + placed.start - way for cycle in placed.task.bus)
            strands = list(enumerate(placed.strands()))
            sent = [(n, s) for n, s in strands if any(o.field("to_bus") for o in s.body)]
            position, strand = (sent or strands)[0]
            span = _span(schedule, strand, placed.task.statement, ())
            name = placed.task.holds or strand.comment
            bars.append(Bar(start=first, end=last + 1, name=name, span=span, task=number, strand=position))
    bars.sort(key=lambda bar: bar.start)
    return Row(name="bus", kind="bus", bars=tuple(bars))


def _output(schedule: Schedule) -> Row:
    """Return the row of the output port, whose words leave at once if the host takes them at once."""
    bars, free = [], 0
    latency = port_latency(words_per_write(schedule.mapped, schedule.template), schedule.port_words)
    sent = [
        (strand.cycles(slot), number, position, strand)
        for number, placed in enumerate(schedule.placed)
        for position, strand in enumerate(placed.strands())
        for slot, operation in enumerate(strand.body)
        if operation.field("to_output")
    ]
    each = schedule.beats_out // max(1, sum(len(cycles) for cycles, *_ in sent))
    for cycles, number, position, strand in sorted(sent, key=lambda item: int(item[0][0])):
        shown = cycles + latency
        start = max(free, int(shown[0]))
        free = max(start + each * len(cycles), int(shown[-1]) + each)
        span = _span(schedule, strand, schedule.placed[number].task.statement, ())
        bars.append(Bar(start=start, end=free, name=strand.comment, span=span, task=number, strand=position))
    return Row(name="words out", kind="output", bars=tuple(bars))
