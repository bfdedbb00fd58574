"""Levels of effort: what each may spend, that every number of the record is used, and what a user may ask for."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort, effort_of, of_calls
from tabla.schedule.mapping.stage import map_graph
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.mapping.judges import Remembering, estimated
from tests.schedule.mapping.single import legal_of

NETWORK = """
model_input x[16]; model_output y[8]; model w[8][16]; model v[8][8]; gradient g[8][16] -> w; gradient f[8][8] -> v;
iterator i[0:16]; iterator j[0:8]; iterator k[0:8];
h[j] = sigmoid(sum[i](w[j][i]*x[i])); o[k] = sigmoid(sum[j](v[k][j]*h[j])) - y[k];
f[k][j] = o[k]*h[j]; g[j][i] = sum[k](v[k][j]*o[k])*x[i];
"""


def schedules(effort: Effort, pes: int) -> int:
    """How many exact schedules a search of this effort asks for."""
    graph, judge = shaped_graph(NETWORK), Remembering(estimated)
    map_graph(graph, legal_of(graph, Q6_10), template_for(pes), Q6_10, judge=judge, effort=effort)
    return len(judge.seen)


def test_the_default_is_the_record_as_it_is_written() -> None:
    assert EFFORTS[DEFAULT_EFFORT] == Effort() and len(EFFORTS) == 4


def test_a_program_without_updates_gets_a_wider_beam_and_pays_for_memory() -> None:
    own = {"call_beam": 20, "call_fused": 30, "call_received": 5, "call_short": 40}
    effort = Effort(**own, call_block_price=0.5, call_far_block_price=0.7)
    expected = replace(effort, beam=20, fused=30, received=5, short=40, block_price=0.5, far_block_price=0.7)
    assert of_calls(effort) == expected
    assert all(of_calls(each).beam >= each.beam and of_calls(each).fused >= each.fused for each in EFFORTS)


def test_levels() -> None:
    assert [effort_of(level) for level in range(4)] == list(EFFORTS)
    for level in (-1, 4):
        with pytest.raises(TablaError, match=f"there is no effort {level}"):
            effort_of(level)
        with pytest.raises(TablaError, match="use 0 to 3"):
            Options(effort=level)


def test_more_effort_asks_for_more_schedules() -> None:
    asked = [schedules(effort, 16) for effort in EFFORTS]
    assert asked == sorted(asked) and len(set(asked)) == len(asked)


def test_no_effort_schedules_the_estimates_and_nothing_else() -> None:
    assert schedules(EFFORTS[0], 16) <= EFFORTS[0].candidates + EFFORTS[0].fused


@pytest.mark.parametrize("name", ["beam", "homes", "candidates", "fused", "starts", "starts_of_long", "hastened"])
def test_numbers_that_widen_the_search_grow_from_level_to_level(name: str) -> None:
    values = [getattr(effort, name) for effort in EFFORTS]
    assert values == sorted(values)


@pytest.mark.parametrize("name", ["cuts", "promising", "clustered"])
def test_numbers_that_level_0_does_not_use_grow_from_level_1_on(name: str) -> None:
    values = [getattr(effort, name) for effort in EFFORTS[1:]]
    assert values == sorted(values)


def test_no_effort_makes_neither_cuts_nor_changes() -> None:
    none = EFFORTS[0]
    assert (none.roots, none.sequencers, none.starts, none.starts_of_long) == ((), (), 0, 0)


def test_every_number_is_used() -> None:
    """A number that nothing reads would promise what it does not do."""
    room = Path(__file__).resolve().parents[3] / "tabla" / "schedule" / "mapping"
    read = {
        node.attr
        for path in room.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, (ast.Name, ast.Attribute))
        and (node.value.id if isinstance(node.value, ast.Name) else node.value.attr) == "effort"
    }
    assert {field.name for field in fields(Effort)} == read
