"""Chains that begin with a sum of the tree: the root computes what follows while lanes sum the next word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.base.source import Source
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import legalise, shaped
from tabla.languages.tc import parse
from tabla.languages.tc.lower import lower
from tabla.schedule.check import check
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.schedule.mapping.joined import all_joined, joined
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.schedule.strands.joined import _rhythm
from tabla.schedule.strands.regions import TooLarge
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import hold_schedule, need
from tests.schedule.agreement import Q6_10, agree_on

EFFORT = EFFORTS[DEFAULT_EFFORT]
LAYER = """def layer(float(M,N) W, float(N) x, float(M) b, float(M) c) -> (y) {{
  y(i) +=! W(i, j) * x(j)
  {rest}
}}"""
CHAINS = {
    "bias": "y(i) = y(i) + b(i)",
    "bias and relu": "y(i) = max(y(i) + b(i), 0.0)",
    "scaled": "y(i) = y(i) * c(i)",
    "scaled and moved": "y(i) = b(i) - y(i) * c(i)",
    "compared": "y(i) = y(i) < b(i) ? 1.0 : 0.0",
    "smallest": "y(i) = min(y(i), b(i)) * c(i)",
}


def layer(rest: str, n: int) -> Graph:
    kernel = parse(Source.from_text(LAYER.format(rest=CHAINS[rest]))).function()
    return shaped(lower(kernel, sizes={"M": 5, "N": n}, keep=("W", "b", "c"), number_format=Q6_10), Q6_10)


def mappings(graph: Graph, pes: int) -> list[Mapping]:
    # Samples that overlap would fill the cycles that a chain saves.
    template = replace(template_for(pes), samples_overlap=False).with_roots(1).with_sequencers(1)
    return Search(legalise(graph, Q6_10), template, effort=EFFORT).candidates(20)


@pytest.mark.parametrize("rest", CHAINS)
@pytest.mark.parametrize("n", [24, 36])
def test_words_and_cycles_are_as_predicted(rest: str, n: int) -> None:
    graph, found = layer(rest, n), []
    for mapping in mappings(graph, 4):
        for change in joined(mapping, EFFORT):
            before, after = schedule_mapping(graph, mapping, Q6_10), schedule_mapping(graph, change, Q6_10)
            if after is not None:
                assert before is not None
                check(after)
                agree_on(after)
                found.append((after.cycles - before.cycles, after.latency - before.latency))
    assert found and min(cycles for cycles, _ in found) <= 0 and min(latency for _, latency in found) < 0


def test_a_chain_needs_cycles_between_two_sums() -> None:
    """Four words on four lanes are summed in one cycle each, so the root has none to spare."""
    graph = layer("bias", 4)
    made = [all_joined(mapping) for mapping in mappings(graph, 4)]
    assert all(schedule_mapping(graph, change, Q6_10) is None for change in made if any(f.through for f in change.fits))


def test_the_rhythm_has_few_slots() -> None:
    """An addend may come after 4 cycles, a factor after 5; both numbers must divide by the interval, as the sums do."""
    assert (_rhythm([True], 8).slots, _rhythm([True], 8).interval) == (2, 4)
    assert (_rhythm([False], 10).slots, _rhythm([False], 10).interval) == (2, 5)
    assert _rhythm([True, True], 9).slots == 9
    assert _rhythm([False], 9).places == (3, 8)
    for spacing in (1, 4, 5):
        with pytest.raises(TooLarge):
            _rhythm([False], spacing)
    with pytest.raises(TooLarge):
        _rhythm([True], 67)


@pytest.mark.slow
def test_a_chain_in_verilator() -> None:
    need("verilator")
    graph = layer("bias and relu", 24)
    made = (schedule_mapping(graph, change, Q6_10) for m in mappings(graph, 4) for change in joined(m, EFFORT))
    hold_schedule(next(schedule for schedule in made if schedule is not None), "verilator", samples=2)
