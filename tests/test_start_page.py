"""The start page: its drawing plays the schedule of the example, and its figures are those that its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tabla
from manual import array
from tabla.templates.template import functions, timing
from tests.pages import DOCS, blocks

PAGE = (DOCS / "index.md").read_text(encoding="utf-8")
DRAWING = (DOCS / "array.svg").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def build() -> tabla.Build:
    return tabla.compile(array.PROGRAM, format=array.FORMAT)


def shown(kind: str) -> list[set[int]]:
    """The cycles in which each part of a kind is lit, counted from the first word of the sample."""
    length = int(data("end")) - int(data("first")) + array.PAUSE
    found = []
    for name in re.findall(rf'<g class="lit {kind} (\w+)">(?!<rect [^>]*/><text class="code")', DRAWING):
        (frames,) = re.findall(rf"@keyframes {name} {{ (.*) }}", DRAWING)
        steps = [(float(at) * length / 100, on == "1") for at, on in re.findall(r"([\d.]+)% { opacity: (\d) }", frames)]
        lit, cycles = steps[0][0] > 0, set()
        on = not lit and steps[0][1]
        for cycle in range(length):
            for at, state in steps:
                if at <= cycle + 0.1:
                    on = state
            if on:
                cycles.add(cycle)
        found.append(cycles)
    return found


def data(name: str) -> str:
    found = re.search(rf'data-{name}="(-?\d+)"', DRAWING)
    assert found
    return found[1]


def test_the_drawing_is_the_one_that_the_schedule_gives() -> None:
    assert array.picture() == DRAWING, "run python -m manual.array"


def test_each_part_is_lit_in_the_cycles_of_the_schedule(build: tabla.Build) -> None:
    """The cycles come from the strands and the latencies of the hardware, and not from the timeline of the reports."""
    schedule, laws = build.schedule, timing()
    first = -int(data("first"))
    assert int(data("end")) + first == schedule.latency

    def cycles(unit: str) -> set[int]:
        return {first + cycle for strand in schedule.units[unit] for cycle in range(strand.start, strand.end)}

    assert shown("lanes") == [cycles("lane_issue")] * 16
    assert shown("writes") == [cycles("lane_write")] * 16
    assert shown("root") == [cycles("root_issue")]
    assert shown("root_writes") == [cycles("root_write")]
    # The wire of the words, and then the lanes. Word n of the 30 inputs goes to lane n % 16; a beat has one word.
    wire, *lanes = shown("stream")
    assert wire == set(range(schedule.beats)) and schedule.beats == 33
    assert lanes == [{lane, lane + 16} for lane in range(16)]
    # The tree has a level of registers for each halving of 16 lanes, and the root takes the sum when it arrives.
    (up,) = (strand for strand in schedule.units["lane_issue"] if strand.body[0].field("up"))
    (taken,) = (strand for strand in schedule.units["root_issue"] if strand.body[0].field("base") == "tree")
    assert shown("tree") == [set(range(first + up.end, first + taken.start))]
    assert taken.start - up.end == 4 * laws.tree_level
    sigmoid = first + taken.start + laws.result
    assert shown("function") == [set(range(sigmoid, sigmoid + functions()["sigmoid"].cycles(18, 11)))]
    (sent,) = (strand for strand in schedule.units["root_write"] if strand.body[0].field("to_bus"))
    (step,) = (strand for strand in schedule.units["lane_issue"] if strand.body[0].field("b") == "bus")
    for lit in shown("bus"):
        assert lit and min(lit) == first + sent.start and max(lit) < first + step.end


def test_the_figures_are_those_that_the_commands_of_the_page_print() -> None:
    (session,) = (block.body for block in blocks(PAGE) if block.kind == "console")
    cycles, right, rate = re.search(r"\| (\d+) cycles \| ([\d.]+) % \| ([\d.]+) million \|", PAGE).groups()  # type: ignore[union-attr]
    assert f"\ncycles       {cycles} per sample, 1.00 times the bound\n" in session
    assert f": {right}% right\n" in session
    samples = int(re.search(r"about ([\d,]+) a second", session)[1].replace(",", ""))  # type: ignore[index]
    assert f"{samples / 1e6:.1f}" == rate
    (code,) = (block.body for block in blocks(PAGE) if block.file == "learn.py")
    assert len([line for line in code.splitlines() if line.strip()]) <= 6


def test_the_drawing_knows_no_motion_for_readers_who_want_none() -> None:
    assert "prefers-reduced-motion" in DRAWING and Path(array.PICTURE).stat().st_size < 60_000
