"""Memories of which lanes and operands have different words, through the Verilog: every word, result and cycle."""

from __future__ import annotations

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tabla.program.encode import encode
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import Template, template_for
from tests.end_to_end.algorithms import hold_schedule, need
from tests.schedule.test_needed import MAPS

Q6_10 = Format(integer=6, fraction=10)
LONG = """def long(float(2,2060) A, float(2) s) -> (B, C) {
  B(c,i) = A(c,i) * s(c)
  C(c) +=! B(c,i) * B(c,i)
}"""
"""Memories of a block RAM and a few words, which lie in LUTs."""


def graph_of(text: str, shapes: dict[str, tuple[int, ...]], *keep: str) -> Graph:
    function = parse(Source.from_text(text)).function()
    return run_passes(lower(function, bind_sizes(function, shapes), number_format=Q6_10, keep=keep), Q6_10)


def scheduled(graph: Graph, template: Template) -> Schedule:
    return schedule_graph(graph, template, Q6_10, EFFORTS[0])


def test_lanes_without_words() -> None:
    need("icarus")
    schedule = scheduled(graph_of(MAPS, {"A": (3, 90), "W": (3, 3), "s": (90,)}, "W"), template_for(8))
    lanes = encode(schedule).parameters.needed["interim"]
    assert lanes[0] and not lanes[7]
    hold_schedule(schedule, "icarus", samples=1)


def test_a_block_and_a_few_words() -> None:
    need("icarus")
    schedule = scheduled(graph_of(LONG, {"A": (2, 2060), "s": (2,)}), template_for(4))
    assert 1024 < encode(schedule).parameters.interim_depth < 1040
    hold_schedule(schedule, "icarus", samples=1)
