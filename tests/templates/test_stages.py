"""The stage table, and that records, data sheets and hardware tell the same story."""

from __future__ import annotations

import ast
import re
from inspect import cleandoc
from pathlib import Path

import pytest

from tabla.hw.control import EXTREME_WIRES, MAC_WIRES, MacControl
from tabla.hw.group import Group
from tabla.hw.lane import Lane
from tabla.hw.root import Root
from tabla.hw.sequencer import Sequencer
from tabla.templates.stages import stage_cycle, stages, wanted
from tabla.templates.template import timing


def test_stages_are_the_latencies_added_up() -> None:
    law = timing()
    assert stage_cycle("issue", "address") == stage_cycle("write", "word") == 0
    assert stage_cycle("issue", "operand") == law.memory_read
    assert stage_cycle("issue", "product") == law.memory_read + law.multiply
    assert stage_cycle("issue", "sum") == law.memory_read + law.multiply + law.accumulate
    assert stage_cycle("issue", "result") == stage_cycle("issue", "sum") + law.round
    assert stage_cycle("write", "done") == law.memory_write


def test_no_two_stages_share_a_cycle_and_no_wire_is_wanted_twice() -> None:
    for path in ("issue", "write"):
        cycles = [stage.cycle for stage in stages(path)]
        assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))
        for wires in ([w for s in stages(path) for w in s.lane], [w for s in stages(path) for w in s.root]):
            assert len(wires) == len(set(wires))


def test_an_unknown_wire_is_refused() -> None:
    with pytest.raises(KeyError, match="no wire 'half_lane0' of root_issue"):
        wanted("root_issue", "half_lane0")


def test_the_data_sheet_of_the_lane_is_the_table() -> None:
    # Python 3.13 takes the indentation off docstrings; `cleandoc` does so on the others.
    sheet_text = cleandoc(Lane.__doc__ or "")
    rows = re.findall(r"^ *\*([tc])\*(?: ([+-]) (\d+))? +(.*(?:\n {11}.*)*)", sheet_text, re.MULTILINE)
    assert len(rows) == 10
    sheet = set()
    for start, sign, cycles, text in rows:
        path = {"t": "issue", "c": "write"}[start]
        inputs = re.sub(r"\*\*.*?\*\*", "", text).replace("stream_to_...", "stream_to_data")
        for wire in re.findall(r"(?<!`)`(\w+)`(?!`)", inputs):
            assert wanted(f"lane_{path}", wire) == int(f"{sign}{cycles or 0}"), wire
            sheet.add(wire)
    table = {wire for path in ("issue", "write") for stage in stages(path) for wire in stage.lane}
    # `take` is formed in the lane; the sheet explains `through` in its text and writes `stream_to_...` for all three.
    assert table - sheet == {"take", "through", "stream_to_model", "stream_to_interim"}


def test_the_hardware_has_the_latencies_of_the_table() -> None:
    assert wanted("lane_issue", "inverted") == Lane.ACCUMULATED
    assert stage_cycle("issue", "result") == Lane.RESULT == Root.RESULT
    assert wanted("root_issue", "function_code") == Root.RESULT
    # Decoding takes as long as the addresses take after the fields.
    assert MacControl.LATENCY == Sequencer.VALUES - Sequencer.FIELDS
    assert all(wanted("lane_write", wire) == -1 for wire in Group.EARLY)
    assert all(wanted("lane_issue", wire) <= wanted("lane_issue", "emit") for wire in (*MAC_WIRES, *EXTREME_WIRES))


def test_no_cycle_of_an_issue_is_a_number_in_the_datapath() -> None:
    """The lanes' drive and the root take every cycle from the table: no delay but a register of 1 is written out."""
    for name in ("drive", "root"):
        path = Path(__file__).parents[2] / "hw" / f"{name}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("delayed", "at"):
                numbers = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
                assert all(number == 1 for number in numbers), f"{path.name}:{node.lineno}"
